//! TLS to the live server.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use hyper_rustls::builderstates::WantsProtocols1;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{CertificateError, ClientConfig, ConfigBuilder, Error, WantsVerifier};

use super::fault::{Fault, found};
use super::location::Speaks;

/// What connects.
pub(super) type Connector = HttpsConnector<HttpConnector>;

/// Whose word is taken for the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// That of the authorities that this machine, or `SSL_CERT_FILE` and `SSL_CERT_DIR`, name.
    Known,
    /// Nobody's.
    Nobody,
}

/// Why TLS did not come about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TlsFault {
    /// Nobody who is trusted vouches for the server's certificate.
    Untrusted,
    /// There is nobody who is trusted.
    NobodyTrusted,
    /// The server shows the certificate of an authority, as `openssl req -x509` makes it.
    OfAuthority,
    /// The server's certificate is not valid.
    Certificate(CertificateError),
    /// It does not speak TLS.
    NotTls,
    /// It could not be agreed upon.
    Other(Error),
}

impl Trust {
    /// The fault in the light of who is trusted.
    pub(super) fn explained(self, fault: TlsFault) -> Fault {
        Fault::Tls(match fault {
            TlsFault::Untrusted if self == Self::Nobody => TlsFault::NobodyTrusted,
            fault => fault,
        })
    }
}

impl TlsFault {
    /// What TLS says of it, if that is why there is no connection.
    pub(super) fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        Some(match found::<Error>(error)? {
            // An authority that is known has the name of the one that signed it, and did not.
            Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            ) => Self::Untrusted,
            // webpki's error, whose type is not at hand.
            Error::InvalidCertificate(why @ CertificateError::Other(_))
                if why.to_string().contains("CaUsedAsEndEntity") =>
            {
                Self::OfAuthority
            }
            Error::InvalidCertificate(why) => Self::Certificate(why.clone()),
            Error::InvalidMessage(_) => Self::NotTls,
            other => Self::Other(other.clone()),
        })
    }
}

/// The way out that there is for a server with a certificate of one's own.
const TRUST: &str = "`SSL_CERT_FILE=FILE.pem` names certificates to trust";

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untrusted => write!(
                f,
                "its TLS certificate is not trusted, as no known authority signed it; {TRUST}"
            ),
            Self::NobodyTrusted => {
                write!(f, "no TLS certificates to trust can be read on this machine; {TRUST}")
            }
            Self::OfAuthority => f.write_str(
                "its TLS certificate is one for authorities, not for servers; \
                 `openssl req -x509 -addext basicConstraints=CA:FALSE` makes one for servers",
            ),
            Self::Certificate(why) => write!(f, "its TLS certificate was refused: {why}"),
            Self::NotTls => f.write_str("it does not speak TLS there; is it `http://`?"),
            Self::Other(why) => write!(f, "TLS could not be agreed upon: {why}"),
        }
    }
}

/// What connects to a server that is spoken to like that.
pub(super) fn connector(tcp: HttpConnector, speaks: Speaks) -> (Connector, Trust) {
    let (builder, trust) = builder(speaks);
    (builder.enable_all_versions().wrap_connector(tcp), trust)
}

/// The same, for HTTP/1.1 alone.
pub(super) fn connector_of_http1(tcp: HttpConnector, speaks: Speaks) -> (Connector, Trust) {
    let (builder, trust) = builder(speaks);
    (builder.enable_http1().wrap_connector(tcp), trust)
}

fn builder(speaks: Speaks) -> (HttpsConnectorBuilder<WantsProtocols1>, Trust) {
    let (tls, trust) = match speaks {
        Speaks::Tls => trusting(),
        Speaks::Plain | Speaks::PriorKnowledge => (trusting_nobody(), Trust::Nobody),
    };
    (HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http(), trust)
}

/// Trusts whom this machine trusts. If there is nobody, a request will say so.
fn trusting() -> (ClientConfig, Trust) {
    match tls().with_native_roots() {
        Ok(tls) => (tls.with_no_client_auth(), Trust::Known),
        Err(_) => (trusting_nobody(), Trust::Nobody),
    }
}

fn trusting_nobody() -> ClientConfig {
    tls().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
}

/// The provider of the cryptography is named, never taken from the process: another crate of the
/// user's build may have installed one, or none.
fn tls() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions")
}
