//! The HTTP of the client: it knows nothing of retape but a base address.

use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::heard::{Broken, Heard};
use super::mint;
use crate::message::sse::{Content, Decoder};

/// A client of an agent server.
#[derive(Debug)]
pub(super) struct Client {
    base: String,
    key: String,
    http: Http<HttpConnector, Full<Bytes>>,
}

impl Client {
    /// A client of the server at an address, with an API key of its own.
    pub(super) fn new(base: String) -> Self {
        let http = Http::builder(TokioExecutor::new()).build(HttpConnector::new());
        Self { base, key: format!("sk-demo-{}", mint::uuid()), http }
    }

    /// The secret that it sends.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Asks, and gives the data of each event as soon as it has come.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        mut each: impl FnMut(&str),
    ) -> Result<Heard, Broken> {
        let asked = format!("{method} {path}");
        let broken = |source: Box<dyn std::error::Error + Send + Sync>| Broken::Transport {
            asked: asked.clone(),
            source,
        };
        let request = self.request(method, path, body).map_err(|error| broken(error.into()))?;
        let answer = self.http.request(request).await.map_err(|error| broken(error.into()))?;
        let (head, mut body) = answer.into_parts();
        let mut whole = BytesMut::new();
        let mut decoder = Decoder::new();
        let mut events = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| broken(error.into()))?;
            let Some(bytes) = frame.data_ref() else { continue };
            whole.extend_from_slice(bytes);
            for item in decoder.push(bytes) {
                if let Content::Event { data, .. } = item.content {
                    events += 1;
                    each(&data);
                }
            }
        }
        Ok(Heard { asked, status: head.status.as_u16(), body: whole.freeze(), events })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Request<Full<Bytes>>, http::Error> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, format!("Bearer {}", self.key));
        match body {
            Some(body) => request
                .header(CONTENT_TYPE, "application/json")
                .body(Full::new(body.to_string().into())),
            None => request.body(Full::default()),
        }
    }
}
