//! A server that speaks HTTP/2, with TLS or without, under a test's control to the frame; and
//! certificates for it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use http::{HeaderMap, Request, Response};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Whoever signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A server on a free port; stopped when it is dropped.
pub struct Secure {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    runtime: Option<Runtime>,
}

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Heard {
    /// The number of the connection.
    pub connection: usize,
    pub head: Request<()>,
    pub body: Bytes,
}

/// The other side of a stream.
pub type Reply = SendResponse<Bytes>;

/// What a script does with the connection next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    KeepAlive,
    /// Says that it takes no more requests.
    GoAway,
    /// Leaves without a word.
    Close,
}

/// How a connection begins.
#[derive(Clone)]
enum Begin {
    Plainly,
    WithTls(TlsAcceptor),
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Writes the certificate to trust.
    pub fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.0.pem()).unwrap();
    }

    /// The certificate to trust, as a transport tells it.
    pub fn told(&self) -> String {
        STANDARD.encode(self.0.der())
    }

    /// TLS for a server of these names that speaks these protocols.
    pub fn acceptor(&self, names: &[&str], protocols: &[&str]) -> TlsAcceptor {
        let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &self.0).unwrap();
        Self::accepting(leaf.der(), &key, protocols)
    }

    /// TLS for a server that shows the certificate of the authority itself.
    pub fn itself(name: &str) -> (Self, TlsAcceptor) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let tls = Self::accepting(issuer.der(), issuer.key(), &["h2"]);
        (Self(issuer), tls)
    }

    fn accepting(shown: &CertificateDer<'_>, key: &KeyPair, protocols: &[&str]) -> TlsAcceptor {
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let shown = vec![shown.clone().into_owned()];
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(shown, key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Secure {
    /// Speaks HTTP/2 in TLS.
    pub fn start<F>(
        tls: TlsAcceptor,
        script: impl Fn(Heard, Reply) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Then> + Send + 'static,
    {
        Self::speak(Begin::WithTls(tls), script)
    }

    /// Speaks HTTP/2 without TLS.
    pub fn plain<F>(script: impl Fn(Heard, Reply) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Then> + Send + 'static,
    {
        Self::speak(Begin::Plainly, script)
    }

    /// Leaves what is said in TLS to the script.
    pub fn raw<F>(
        tls: TlsAcceptor,
        script: impl Fn(tokio_rustls::server::TlsStream<TcpStream>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let script = Arc::new(script);
        Self::listen(Arc::default(), move |stream| {
            let (tls, script) = (tls.clone(), Arc::clone(&script));
            async move {
                if let Ok(stream) = tls.accept(stream).await {
                    script(stream).await;
                }
            }
        })
    }

    fn speak<F>(begin: Begin, script: impl Fn(Heard, Reply) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Then> + Send + 'static,
    {
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (note, script) = (Arc::clone(&heard), Arc::new(script));
        let connections = Arc::new(AtomicUsize::new(0));
        Self::listen(heard, move |stream| {
            let (begin, note, script) = (begin.clone(), Arc::clone(&note), Arc::clone(&script));
            let connections = Arc::clone(&connections);
            async move {
                let number = || connections.fetch_add(1, Ordering::SeqCst);
                match begin {
                    Begin::Plainly => converse(stream, number(), note, script).await,
                    Begin::WithTls(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            converse(stream, number(), note, script).await;
                        }
                    }
                }
            }
        })
    }

    fn listen<F>(
        heard: Arc<Mutex<Vec<Heard>>>,
        connected: impl Fn(TcpStream) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connected(stream));
            }
        });
        Self { address, heard, runtime: Some(runtime) }
    }

    /// `localhost:4000`
    pub fn authority(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// What was asked so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// The connections on which a path was asked for.
    pub fn connections_of(&self, path: &str) -> Vec<usize> {
        let heard = self.heard();
        let of_path = heard.iter().filter(|heard| heard.head.uri().path() == path);
        of_path.map(|heard| heard.connection).collect()
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

async fn converse<F>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    number: usize,
    note: Arc<Mutex<Vec<Heard>>>,
    script: Arc<impl Fn(Heard, Reply) -> F + Send + Sync + 'static>,
) where
    F: Future<Output = Then> + Send + 'static,
{
    let Ok(mut connection): Result<Connection<_, Bytes>, _> = h2::server::handshake(stream).await
    else {
        return;
    };
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    loop {
        tokio::select! {
            asked = connection.accept() => {
                let Some(Ok((request, reply))) = asked else { return };
                let (note, script, tell) = (Arc::clone(&note), Arc::clone(&script), tell.clone());
                tokio::spawn(async move {
                    let heard = Heard::read(number, request).await;
                    note.lock().unwrap().push(heard.clone());
                    let _ = tell.send(script(heard, reply).await);
                });
            }
            Some(then) = told.recv() => match then {
                Then::KeepAlive => {}
                Then::GoAway => connection.graceful_shutdown(),
                Then::Close => return,
            },
        }
    }
}

impl Heard {
    async fn read(connection: usize, request: Request<h2::RecvStream>) -> Self {
        let (head, mut stream) = request.into_parts();
        let mut body = Vec::new();
        while let Some(Ok(piece)) = stream.data().await {
            let _ = stream.flow_control().release_capacity(piece.len());
            body.extend_from_slice(&piece);
        }
        Self { connection, head: Request::from_parts(head, ()), body: body.into() }
    }
}

/// The head of an answer.
pub fn head(status: u16, fields: &[(&str, &str)]) -> Response<()> {
    let mut builder = Response::builder().status(status);
    for (name, value) in fields {
        builder = builder.header(*name, *value);
    }
    builder.body(()).unwrap()
}

/// Answers with JSON.
pub fn json(mut reply: Reply, status: u16, body: &str) {
    let fields =
        [("content-type", "application/json"), ("content-length", &body.len().to_string())];
    let mut stream = reply.send_response(head(status, &fields), false).unwrap();
    stream.send_data(Bytes::copy_from_slice(body.as_bytes()), true).unwrap();
}

/// Fields for the end of a body.
pub fn fields(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
    });
    pairs.collect()
}
