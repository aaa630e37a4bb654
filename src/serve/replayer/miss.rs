//! The answer to a request that nothing recorded answers.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use hyper::ext::ReasonPhrase;
use serde_json::{Value, json};

use crate::serve::server::{Answer, OURS, full};
use crate::text::percent;

/// A status that no server sends and no SDK retries, so that a test which expects a 404 cannot pass
/// by a miss.
pub const MISS: u16 = 470;

/// SDKs that retry by themselves ask this field first.
pub const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The status of gRPC by which a client is told that it asked for what cannot be had: none is tried again.
const FAILED_PRECONDITION: HeaderValue = HeaderValue::from_static("9");

/// A longer explanation is cut short in a header field, in characters.
const LONGEST: usize = 2048;

/// An answer that explains itself, as JSON for clients that ask for it, else as text. `details` is an
/// object with what programs want to know.
pub fn miss_answer(asked: &HeaderMap, explanation: &str, details: Value) -> Answer {
    let media = asked.get(CONTENT_TYPE).filter(|it| it.as_bytes().starts_with(GRPC.as_bytes()));
    if media.is_some() {
        return miss_of_grpc(explanation);
    }
    let accept = asked.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    let (media_type, body) = if accept.contains("json") || accept.contains("event-stream") {
        let mut error = details;
        error.as_object_mut().map(|error| error.remove("explanation"));
        error["type"] = "retape_miss".into();
        // SDKs look for what went wrong there.
        error["message"] = explanation.into();
        ("application/json", json!({"error": error}).to_string())
    } else {
        ("text/plain; charset=utf-8", format!("{explanation}\n"))
    };
    let mut answer = Response::new(full(body));
    *answer.status_mut() = StatusCode::from_u16(MISS).expect("it has three digits");
    answer.extensions_mut().insert(ReasonPhrase::from_static(b"Not Recorded"));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(OURS, HeaderValue::from_static("miss"));
    headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    answer
}

/// The media types of gRPC begin so.
const GRPC: &str = "application/grpc";

/// A client of gRPC looks at nothing else where the status of HTTP is another one. All of it is in the header
/// ([Trailers-Only](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)).
fn miss_of_grpc(explanation: &str) -> Answer {
    let begins: String = explanation.chars().take(LONGEST).collect();
    let message = percent::encoded_but(&begins, " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~");
    let mut answer = Response::new(full(""));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    headers.insert(OURS, HeaderValue::from_static("miss"));
    headers.insert("grpc-status", FAILED_PRECONDITION);
    headers.extend(HeaderValue::try_from(message).ok().map(|it| (GRPC_MESSAGE, it)));
    answer
}

const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
