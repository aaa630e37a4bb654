//! TLS to the live server.

use std::error::Error as StdError;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::fault::{ServerFault, found};
use super::location::Speaks;
use crate::serve::server::ClientTrust;

/// What connects.
pub(super) type Connector = HttpsConnector<HttpConnector>;

/// Whose word is taken for the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// That of those whom this machine, the environment or the client names.
    Known,
    /// There is nobody.
    Nobody,
}

/// Why TLS did not come about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TlsFault {
    /// Nobody who is trusted vouches for the server's certificate.
    Untrusted,
    /// There is nobody who is trusted.
    NobodyTrusted,
    /// The server's certificate is not valid.
    Certificate(CertificateError),
    /// It does not speak TLS.
    NotTls,
    /// It could not be agreed upon.
    Other(Error),
}

impl Trust {
    /// The fault in the light of who is trusted.
    pub(super) fn explained(self, fault: TlsFault) -> ServerFault {
        ServerFault::Tls(match fault {
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
            error if is_of_authority(error) => Self::Untrusted,
            Error::InvalidCertificate(why) => Self::Certificate(why.clone()),
            Error::InvalidMessage(_) => Self::NotTls,
            other => Self::Other(other.clone()),
        })
    }

    /// Whether nobody vouches for the server whom retape trusts: its client might trust others.
    pub(super) fn is_distrust(&self) -> bool {
        matches!(self, Self::Untrusted | Self::NobodyTrusted)
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
            Self::Certificate(why) => write!(f, "its TLS certificate was refused: {why}"),
            Self::NotTls => f.write_str("it does not speak TLS there; is it `http://`?"),
            Self::Other(why) => write!(f, "TLS could not be agreed upon: {why}"),
        }
    }
}

/// What connects to a server that is spoken to like that, for a client that trusts whom it says: over what the
/// server prefers, and over HTTP/1.1 alone.
pub(super) fn connectors(
    tcp: &HttpConnector,
    speaks: Speaks,
    client: Option<&ClientTrust>,
) -> ([Connector; 2], Trust) {
    let verifier = match speaks {
        Speaks::Tls => Verifier::of(client),
        Speaks::Plain | Speaks::PriorKnowledge => Verifier::trusting(Vec::new()),
    };
    let trust = verifier.trust();
    let config = ClientConfig::builder_with_provider(Arc::clone(&verifier.provider))
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let builder = || HttpsConnectorBuilder::new().with_tls_config(config.clone()).https_or_http();
    let any = builder().enable_all_versions().wrap_connector(tcp.clone());
    let http1 = builder().enable_http1().wrap_connector(tcp.clone());
    ([any, http1], trust)
}

/// The variables that name certificates to trust, as the common runtimes know them.
pub const BUNDLES: [&str; 12] = [
    // OpenSSL, Python's `ssl` and httpx, Go, Ruby, rustls
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "WEBSOCKET_CLIENT_CA_BUNDLE",
    "PERL_LWP_SSL_CA_FILE",
];

/// The files that they name in the environment of this process.
pub fn bundles() -> Vec<PathBuf> {
    let named = BUNDLES.iter().filter_map(std::env::var_os);
    let mut named: Vec<PathBuf> = named.map(PathBuf::from).collect();
    named.sort_unstable();
    named.dedup();
    named
}

/// Takes the certificates that the client of a recording would take.
///
/// # Rationale
///
/// To most clients a certificate that they were told to trust is enough where a server shows it. webpki refuses it if
/// it may sign others, as those of `openssl req -x509` may.
#[derive(Debug)]
struct Verifier {
    /// Nothing if each certificate is taken.
    known: Option<KnownCertificates>,
    /// It is named, never taken from the process: another crate of the user's build may have installed one, or none.
    provider: Arc<CryptoProvider>,
}

#[derive(Debug)]
struct KnownCertificates {
    certificates: Vec<CertificateDer<'static>>,
    /// What they have signed. Nothing if there are none.
    signed: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    /// Trusts whom this machine, the environment and the client trust. If there is nobody, a request will say so.
    fn of(client: Option<&ClientTrust>) -> Self {
        let said = client.map_or(&b""[..], |ClientTrust(said)| said.as_bytes());
        if said == b"anyone" {
            return Self { known: None, provider: provider() };
        }
        let mut certificates = rustls_native_certs::load_native_certs().certs;
        let own = said.split(|byte| *byte == b',').filter_map(|one| STANDARD.decode(one).ok());
        certificates.extend(own.map(CertificateDer::from));
        for file in bundles() {
            let found = CertificateDer::pem_file_iter(file).into_iter().flatten();
            certificates.extend(found.filter_map(Result::ok));
        }
        Self::trusting(certificates)
    }

    fn trusting(certificates: Vec<CertificateDer<'static>>) -> Self {
        let provider = provider();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        let signed =
            WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
        Self {
            known: Some(KnownCertificates { certificates, signed: signed.build().ok() }),
            provider,
        }
    }

    fn trust(&self) -> Trust {
        match &self.known {
            Some(KnownCertificates { signed: None, .. }) => Trust::Nobody,
            _ => Trust::Known,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        let Some(signed) = &known.signed else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        match signed.verify_server_cert(shown, between, name, ocsp, now) {
            Err(why) if is_of_authority(&why) && known.certificates.contains(shown) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, shown, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, shown, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a server shows a certificate that may sign others. The type of that error is not at hand.
fn is_of_authority(why: &Error) -> bool {
    matches!(why, Error::InvalidCertificate(why @ CertificateError::Other(_))
        if why.to_string().contains("CaUsedAsEndEntity"))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
