//! A session that answers in the client's own process, as a `tower` service.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::SizeHint;
use http_body_util::BodyExt as _;

use super::Session;
use super::hub::Hub;
use crate::serve::lock;
use crate::serve::server::{AnswerBody, Cut, Polled, problem};
use crate::text::words::shown;

/// Answers requests in the place of a client's transport: a `tower` service.
///
/// A request goes through no port and keeps its address, so the client needs no other base address. The
/// session answers it from the cassette, or asks its upstream and records. A request that nothing recorded
/// answers gets status 470 with the explanation, as it does over a port.
///
/// The body of a request is read whole before it is answered. Answers stream. A WebSocket needs a
/// connection: ask for it at [`Session::url`].
///
/// # Example: a client that is built on a service
///
/// ```
/// # use std::error::Error;
/// use http_body_util::{BodyExt, Empty};
/// use retape::{Mode, Session};
/// use tower_service::Service as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn Error>> {
/// let session = Session::builder("openai/rest").mode(Mode::Replay).start().await?;
/// let mut transport = session.service();
///
/// let request = http::Request::get("https://api.openai.com/v1/models").body(Empty::<&[u8]>::new())?;
/// let answer = transport.call(request).await?;
///
/// assert_eq!(answer.status(), 200);
/// assert!(answer.into_body().collect().await?.to_bytes().starts_with(b"{\"object\": \"list\""));
/// session.finish().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Service {
    hub: Arc<Hub>,
}

impl Session {
    /// What answers in the place of a client's transport, in this process.
    pub fn service(&self) -> Service {
        Service { hub: Arc::clone(&self.hub) }
    }
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let hub = Arc::clone(&self.hub);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let answer = match body.collect().await {
                Ok(body) => hub.ask(head, body.to_bytes()).await,
                Err(_) => problem(StatusCode::BAD_REQUEST, "request", "its body broke off"),
            };
            Ok(answer.map(|body| Body(Mutex::new(body))))
        })
    }
}

/// The body of an answer, as it comes. It fails where the recorded answer was cut short.
// Clients want one that threads can share. Nobody locks it.
pub struct Body(Mutex<AnswerBody>);

impl Body {
    fn read(&self) -> std::sync::MutexGuard<'_, AnswerBody> {
        lock(&self.0)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let body = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.read().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.read().size_hint()
    }
}

shown!(Debug: Body, _ => "Body {{ .. }}");
