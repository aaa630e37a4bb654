//! What the server answers with.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

use crate::cassette::End;
use crate::text::words::shown;

/// An answer whose body may stream.
pub type Answer = Response<AnswerBody>;

/// A body that may stream, and may be cut short on purpose.
#[derive(Debug)]
pub struct AnswerBody(BodyForm);

#[derive(Debug)]
enum BodyForm {
    /// In one piece: most are, and need no place of their own in memory.
    Full(Full<Bytes>),
    Streamed(UnsyncBoxBody<Bytes, Cut>),
}

impl AnswerBody {
    /// A body that comes in pieces.
    pub fn streamed(body: impl Body<Data = Bytes, Error = Cut> + Send + Unpin + 'static) -> Self {
        Self(BodyForm::Streamed(body.boxed_unsync()))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match &mut self.0 {
            BodyForm::Full(body) => {
                Pin::new(body).poll_frame(context).map_err(|never| match never {})
            }
            BodyForm::Streamed(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyForm::Full(body) => body.is_end_stream(),
            BodyForm::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyForm::Full(body) => body.size_hint(),
            BodyForm::Streamed(body) => body.size_hint(),
        }
    }
}

/// What a body gives when it is polled.
pub type Polled<E = Cut> = Poll<Option<Result<Frame<Bytes>, E>>>;

/// The body ends here although it was not complete: the connection is closed without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut;

shown!(Display: Cut, _ => "the answer was cut short");

impl std::error::Error for Cut {}

/// What becomes of the connection of an answer that breaks off on purpose. It stands among the extensions
/// of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// It is closed, and nothing of the answer is sent.
    Unanswered,
    /// It is reset, and nothing of the answer is sent.
    ResetUnanswered,
    /// It is reset where the body ends, or is cut.
    Reset,
}

/// A body in one piece, with its length announced.
pub fn full(bytes: impl Into<Bytes>) -> AnswerBody {
    AnswerBody(BodyForm::Full(Full::new(bytes.into())))
}

/// These bytes, and then the connection is cut.
pub fn cut_after(bytes: Bytes) -> AnswerBody {
    AnswerBody::streamed(CutAfter(Some(bytes)))
}

struct CutAfter(Option<Bytes>);

impl Body for CutAfter {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled {
        Poll::Ready(Some(self.0.take().map(Frame::data).ok_or(Cut)))
    }
}

/// The field by which an answer of retape's own is told from the server's.
pub const OURS: HeaderName = HeaderName::from_static("retape-error");

/// What it says where the server cannot be reached.
const UNREACHABLE: &str = "unreachable";

/// An answer of retape's own, in the form that SDKs show: `{"error": {"type": …, "message": …}}`.
pub fn problem(status: StatusCode, kind: &'static str, message: &str) -> Answer {
    let error =
        serde_json::json!({"error": {"type": format!("retape_{kind}"), "message": message}});
    let mut answer = Response::new(full(error.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer.headers_mut().insert(OURS, HeaderValue::from_static(kind));
    answer
}

/// Why the server gave no answer.
#[derive(Debug, Clone)]
pub struct NoAnswer(pub String);

/// The answer where the server gave none, with the reason in words; it goes with it as [`NoAnswer`]. A connection
/// that the server closed is closed.
pub fn no_answer(end: End, message: &str) -> Answer {
    let (status, kind) = match end {
        End::Timeout => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
        End::Unreachable => (StatusCode::BAD_GATEWAY, UNREACHABLE),
        _ => (StatusCode::BAD_GATEWAY, "no_answer"),
    };
    let mut answer = problem(status, kind, message);
    answer.extensions_mut().insert(NoAnswer(message.to_owned()));
    if end == End::ServerClosed {
        answer.extensions_mut().insert(Breaks::Unanswered);
    }
    answer
}

/// What a client gets that named the server by itself: of one that cannot be reached, no answer.
pub fn as_from_server(mut answer: Answer) -> Answer {
    if answer.headers().get(OURS).is_some_and(|it| it == UNREACHABLE) {
        answer.extensions_mut().insert(Breaks::Unanswered);
    }
    answer
}
