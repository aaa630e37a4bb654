//! The forward proxy: what a client asks of any host comes through us.

use std::io::{self, Cursor};

use rustls::AlertDescription;
use rustls::pki_types::CertificateDer;
use rustls::server::Acceptor;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;

use super::authority::Authority;
use super::listen::Handler;
use super::via::{Connection, Handshake, Tunnel, Via, origin};
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
    handler: &impl Handler,
) -> Option<(Box<dyn Connection>, Via)> {
    let Tunnel { authority, session, proxy } = tunnel;
    if proxy.rule(&authority) == HostRule::Passed {
        if let Ok(mut server) = TcpStream::connect(&authority).await {
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
        return None;
    }
    let secure = origin("https", &authority);
    let Ok(first) = client.read_u8().await else {
        handler.handshake(&secure, Handshake::Left);
        return None;
    };
    // It is to be read once more.
    let (rest, client) = tokio::io::split(client);
    let client = tokio::io::join(Cursor::new([first]).chain(rest), client);
    if first != HANDSHAKE {
        return Some((Box::new(client), Via { origin: origin("http", &authority), session }));
    }
    let host = authority.rsplit_once(':').map_or(&*authority, |(host, _)| host);
    match secured(client, &proxy, host).await {
        Ok(client) => Some((client, Via { origin: secure, session })),
        Err(came) => {
            handler.handshake(&secure, came);
            None
        }
    }
}

/// Agrees upon TLS with a client, in the name of a host.
async fn secured(
    client: impl Connection + 'static,
    proxy: &Proxy,
    host: &str,
) -> Result<Box<dyn Connection>, Handshake> {
    let hello = LazyConfigAcceptor::new(Acceptor::default(), client).await;
    let hello = hello.map_err(|error| failed(&error))?;
    let Some(config) = proxy.authority.config(host, &hello.client_hello()) else {
        return Err(Handshake::Failed("its name can stand in no certificate".to_owned()));
    };
    let client = hello.into_stream(config).await.map_err(|error| failed(&error))?;
    Ok(Box::new(client))
}

/// What a client says that does not trust a certificate. Libraries differ in which.
const DISTRUST: [AlertDescription; 6] = [
    AlertDescription::UnknownCA,
    AlertDescription::BadCertificate,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateRevoked,
];

fn failed(error: &io::Error) -> Handshake {
    match error.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(rustls::Error::AlertReceived(alert)) if DISTRUST.contains(alert) => {
            Handshake::Distrusted
        }
        Some(cause) => Handshake::Failed(cause.to_string()),
        // Some close the connection without a word.
        None => Handshake::Left,
    }
}
