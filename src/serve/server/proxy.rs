//! The forward proxy: what a client asks of any host comes through us.

use std::io::Cursor;

use rustls::pki_types::CertificateDer;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::authority::Authority;
use super::via::{Connection, Tunnel, Via, origin};
use crate::config::{HostRule, Hosts};
use crate::error::Result;

/// A forward proxy: the hosts that it leaves alone, and the authority that vouches for the others.
#[derive(Debug)]
pub struct Proxy {
    hosts: Hosts,
    authority: Authority,
}

impl Proxy {
    /// A proxy with an authority of its own.
    ///
    /// # Errors
    ///
    /// If there is no randomness for its key.
    pub fn new(hosts: Hosts) -> Result<Self> {
        Ok(Self { hosts, authority: Authority::new()? })
    }

    /// What is done with a host.
    pub fn rule(&self, authority: &str) -> HostRule {
        self.hosts.rule(authority)
    }

    /// The certificate of the authority.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.authority.certificate()
    }
}

/// The first byte of a client that begins with TLS.
const HANDSHAKE: u8 = 0x16;

/// Opens a tunnel whose client has been told that it may speak. Nothing is given back where there is
/// nothing to answer: what passes untouched is over by then.
pub(super) async fn open(
    tunnel: Tunnel,
    mut client: impl Connection + 'static,
) -> Option<(Box<dyn Connection>, Via)> {
    let Tunnel { authority, session, proxy } = tunnel;
    if proxy.rule(&authority) == HostRule::Passed {
        if let Ok(mut server) = TcpStream::connect(&authority).await {
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
        return None;
    }
    let first = client.read_u8().await.ok()?;
    // It is to be read once more.
    let (rest, client) = tokio::io::split(client);
    let client = tokio::io::join(Cursor::new([first]).chain(rest), client);
    if first != HANDSHAKE {
        return Some((Box::new(client), Via { origin: origin("http", &authority), session }));
    }
    let host = authority.rsplit_once(':').map_or(&*authority, |(host, _)| host);
    let acceptor = proxy.authority.acceptor(host)?;
    let client = acceptor.accept(client).await.ok()?;
    Some((Box::new(client), Via { origin: origin("https", &authority), session }))
}
