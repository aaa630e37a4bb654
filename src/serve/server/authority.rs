//! The authority that vouches for every host while a command runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::error::{Error, Kind, Result};
use crate::serve::lock;
use crate::text::words::shown;

/// An authority of its own, made for one run. Its key never leaves the process, so that nobody who comes
/// by its certificate can speak for another host.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The hosts have one key: to make one takes longer than to sign.
    key: KeyPair,
    issued: Mutex<HashMap<String, TlsAcceptor>>,
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

    /// What agrees upon TLS in the name of a host; nothing if it cannot have a certificate.
    pub(super) fn acceptor(&self, host: &str) -> Option<TlsAcceptor> {
        let mut issued = lock(&self.issued);
        if let Some(acceptor) = issued.get(host) {
            return Some(acceptor.clone());
        }
        let acceptor = self.issue(host)?;
        issued.insert(host.to_owned(), acceptor.clone());
        Some(acceptor)
    }

    fn issue(&self, host: &str) -> Option<TlsAcceptor> {
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
        let mut config = config.with_single_cert(vec![certificate.der().clone()], key).ok()?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Some(TlsAcceptor::from(Arc::new(config)))
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
