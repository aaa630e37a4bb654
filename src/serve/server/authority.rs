//! The authority that vouches for every host while a command runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::error::{Error, Kind, Result};
use crate::serve::lock;
use crate::text::words::shown;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ClientHello;

/// What TLS in the name of a host is agreed upon with.
#[derive(Clone)]
struct Issued {
    /// With a client that offers a protocol that we speak.
    named: Arc<ServerConfig>,
    /// With any other, to which no protocol is named. Servers that know no ALPN serve them by HTTP/1.
    unnamed: Arc<ServerConfig>,
}

/// The protocols that a client may choose from, the best first.
const PROTOCOLS: [&[u8]; 3] = [b"h2", b"http/1.1", b"http/1.0"];

/// An authority of its own, made for one run. Its key never leaves the process, so that nobody who comes
/// by its certificate can speak for another host.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The hosts have one key: to make one takes longer than to sign.
    key: KeyPair,
    issued: Mutex<HashMap<String, Issued>>,
}

impl Authority {
    pub(super) fn new() -> Result<Self> {
        let failed = |error| Error::new(Kind::Io("make a certificate")).because(error);
        let key = KeyPair::generate().map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(of_authority(), key).map_err(failed)?;
        let key = KeyPair::generate().map_err(failed)?;
        Ok(Self { issuer, key, issued: Mutex::default() })
    }

    /// Its certificate.
    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        self.issuer.der()
    }

    /// What TLS in the name of a host is agreed upon with; nothing if it cannot have a certificate.
    pub(super) fn config(&self, host: &str, hello: &ClientHello<'_>) -> Option<Arc<ServerConfig>> {
        let known = lock(&self.issued).get(host).cloned();
        let issued = match known {
            Some(issued) => issued,
            None => {
                let issued = self.issue(host)?;
                lock(&self.issued).insert(host.to_owned(), issued.clone());
                issued
            }
        };
        let is_spoken =
            hello.alpn().is_some_and(|mut offered| offered.any(|it| PROTOCOLS.contains(&it)));
        Some(if is_spoken { issued.named } else { issued.unnamed })
    }

    fn issue(&self, host: &str) -> Option<Issued> {
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let mut params = CertificateParams::new([name.to_owned()]).ok()?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.key, &*self.issuer).ok()?;
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).ok()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .ok()?
            .with_no_client_auth();
        let unnamed = config.with_single_cert(vec![certificate.der().clone()], key).ok()?;
        let mut named = unnamed.clone();
        named.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Some(Issued { named: Arc::new(named), unnamed: Arc::new(unnamed) })
    }
}

shown!(Debug: Authority, _ => "Authority");

fn of_authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "retape, for this run");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}
