//! What bare hyper does: as little as can be done.

use std::convert::Infallible;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::served::Served;

type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// Answers every request with the same JSON.
pub fn fixed(body: &'static [u8]) -> Served {
    serve(move |request| async move {
        let _ = request.into_body().collect().await;
        let body = Full::new(Bytes::from_static(body)).map_err(|never| match never {});
        typed("application/json", body.boxed_unsync())
    })
}

/// Answers every request with the same bytes, which are no text.
pub fn binary(body: Bytes) -> Served {
    serve(move |request| {
        let body = body.clone();
        async move {
            let _ = request.into_body().collect().await;
            let body = Full::new(body).map_err(|never| match never {});
            typed("application/octet-stream", body.boxed_unsync())
        }
    })
}

/// Answers every request with the same stream, a chunk for each event.
pub fn stream(events: Vec<Bytes>) -> Served {
    serve(move |request| {
        let events = events.clone();
        async move {
            let _ = request.into_body().collect().await;
            let frames = events.into_iter().map(|event| Ok(Frame::data(event)));
            let body = StreamBody::new(futures_util::stream::iter(frames));
            typed("text/event-stream", body.boxed_unsync())
        }
    })
}

/// Opens WebSockets, and answers whatever comes over one with the same frame.
pub fn sockets(frame: &'static [u8]) -> Served {
    const OPENED: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    accept(move |mut stream| async move {
        let mut buffer = [0; 4096];
        let mut answer = OPENED;
        while let Ok(1..) = stream.read(&mut buffer).await {
            if stream.write_all(std::mem::replace(&mut answer, frame)).await.is_err() {
                return;
            }
        }
    })
}

/// Passes on the bytes of both sides.
pub fn tunnel(upstream: SocketAddr) -> Served {
    accept(move |mut stream| async move {
        let mut to = TcpStream::connect(upstream).await.expect("the origin listens");
        let _ = to.set_nodelay(true);
        let _ = copy_bidirectional(&mut stream, &mut to).await;
    })
}

/// Passes every request on, and the answer back as it comes.
pub fn proxy(upstream: SocketAddr) -> Served {
    proxy_with(upstream, |_| {})
}

/// The same, and appends what passes to a file, before it passes.
pub fn proxy_with_tee(upstream: SocketAddr) -> Served {
    let file = Arc::new(tempfile::tempfile().expect("there is room"));
    proxy_with(upstream, move |bytes| {
        let mut file: &File = &file;
        file.write_all(bytes).expect("there is room");
    })
}

fn proxy_with(
    upstream: SocketAddr,
    note: impl Fn(&[u8]) + Clone + Send + Sync + 'static,
) -> Served {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    let client: Client<HttpConnector, Body> = Client::builder(TokioExecutor::new()).build(tcp);
    let noted = move |body: Incoming, head: String| {
        note(head.as_bytes());
        let note = note.clone();
        let frame = move |frame: Frame<Bytes>| {
            frame.data_ref().into_iter().for_each(|bytes| note(bytes));
            frame
        };
        body.map_frame(frame).boxed_unsync()
    };
    serve(move |request| {
        let (client, noted) = (client.clone(), noted.clone());
        let head = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        let mut request = request.map(|body| noted(body, head));
        let uri = format!("http://{upstream}{}", request.uri());
        *request.uri_mut() = Uri::try_from(uri).expect("it was one without the address");
        async move {
            let response = client.request(request).await.expect("the origin answers");
            let head = format!("{} {:?}", response.status(), response.headers());
            response.map(|body| noted(body, head))
        }
    })
}

fn serve<A, F>(answer: A) -> Served
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    accept(move |stream| {
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answer = answer(request);
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        async move { _ = connection.await }
    })
}

fn accept<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Served
where
    F: Future<Output = ()> + Send + 'static,
{
    Served::start("bare", async move || {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve(stream));
            }
        });
        (address, accepting)
    })
}

fn typed(media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
