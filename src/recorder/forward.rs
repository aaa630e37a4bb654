//! Passing a request on and its answer back.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_LOCATION, LINK, LOCATION, ORIGIN, REFERER};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use tokio::sync::oneshot;

use super::end_to_end::{of_request, of_response, recorded};
use super::take::Take;
use super::tape::Tape;
use super::tee::{Answered, Rewritten, Sent};
use super::upstream::{Outgoing, Patience, Upstream};
use crate::cassette::{self, End};
use crate::server::{
    Answer, Cut, Flushed, Place, Rewriter, cut_after, full, may_hold_origins, no_answer,
};

/// A JSON body up to this size whose length was announced is read whole, so that the length can be
/// announced again after addresses were replaced in it.
const WHOLE_JSON: u64 = 1024 * 1024;

/// Sends requests to a live server and records what comes of them.
#[derive(Debug, Clone)]
pub struct Recorder {
    upstream: Upstream,
    patience: Patience,
    /// Where it is recorded, if it is.
    tape: Option<Arc<Tape>>,
}

/// The body of a request: still arriving, or read already.
#[derive(Debug)]
pub enum Asked {
    /// Still arriving.
    Arriving(Incoming),
    /// Read already.
    Whole(Bytes),
}

impl Recorder {
    /// Records to `tape`, or only passes on.
    pub fn new(upstream: Upstream, patience: Patience, tape: Option<Arc<Tape>>) -> Self {
        Self { upstream, patience, tape }
    }

    /// Sends a request on and returns the answer as it comes. `place` is where the client sees us,
    /// `target` what it asks the server for.
    pub async fn forward(
        &self,
        head: &http::request::Parts,
        target: &str,
        body: Asked,
        place: Place<'_>,
    ) -> Answer {
        let inward = Rewriter::new(&place.address(), self.upstream.origin());
        let target = inward.clone().whole(target.as_bytes()).map_or_else(
            || target.to_owned(),
            |target| String::from_utf8_lossy(&target).into_owned(),
        );
        let mut headers = of_request(&head.headers);
        inward.fields(&mut headers, &[ORIGIN, REFERER]);
        let body = match prepared(body, &mut headers, &inward).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let take = self.tape.as_ref().map(|tape| {
            tape.take(cassette::Request {
                method: head.method.as_str().to_owned(),
                path: target.clone(),
                headers: recorded(&headers),
                body: Bytes::new(),
            })
        });
        let request = self.request(head, &target, headers, body, take.clone());
        let Ok(request) = request else {
            return no_answer(End::Unreachable, self.upstream.origin());
        };
        self.exchange(request, take, place).await
    }

    fn request(
        &self,
        head: &http::request::Parts,
        target: &str,
        headers: HeaderMap,
        body: Asked,
        take: Option<Arc<Take>>,
    ) -> Result<Request<Outgoing>, http::Error> {
        let body = match body {
            Asked::Arriving(body) => Sent::new(body, take).boxed_unsync(),
            Asked::Whole(bytes) => Sent::new(Full::new(bytes), take).boxed_unsync(),
        };
        let mut request = Request::builder()
            .method(head.method.clone())
            .uri(self.upstream.uri_of(target)?)
            .body(body)?;
        *request.headers_mut() = headers;
        // hyper keeps the case of the names as the client wrote them beside the head.
        *request.extensions_mut() = head.extensions.clone();
        Ok(request)
    }

    /// The exchange runs on a task of its own: it goes on if the client leaves.
    async fn exchange(
        &self,
        request: Request<Outgoing>,
        take: Option<Arc<Take>>,
        place: Place<'_>,
    ) -> Answer {
        let (upstream, patience) = (self.upstream.clone(), self.patience);
        let (tell, told) = oneshot::channel();
        tokio::spawn(async move {
            let outcome = upstream.send(request, patience).await;
            let outcome = outcome.map(|response| noted(response, take.clone(), patience));
            if let (Err(end), Some(take)) = (&outcome, &take) {
                take.end(*end);
            }
            // If nobody waits any more the answer is dropped here, and reads on for the grace time.
            let _ = tell.send(outcome);
        });
        match told.await {
            Ok(Ok(response)) => self.answer(response, place).await,
            Ok(Err(end)) => no_answer(end, self.upstream.origin()),
            Err(_) => no_answer(End::Interrupted, self.upstream.origin()),
        }
    }

    async fn answer(&self, response: Response<Answered>, place: Place<'_>) -> Answer {
        let (mut head, body) = response.into_parts();
        let outward = Rewriter::new(self.upstream.origin(), &place.address());
        outward.fields(&mut head.headers, &[LOCATION, CONTENT_LOCATION, LINK]);
        place.keep_below(&mut head.headers);
        if !may_hold_origins(&head.headers) {
            return Response::from_parts(head, Flushed::new(body).boxed_unsync());
        }
        let body = Rewritten::new(body, outward);
        match announced(&head.headers) {
            None => Response::from_parts(head, Flushed::new(body).boxed_unsync()),
            Some(length) if length <= WHOLE_JSON => {
                let (bytes, end) = body.collect().await;
                if let Err(Cut) = end {
                    return Response::from_parts(head, cut_after(bytes));
                }
                head.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
                Response::from_parts(head, full(bytes))
            }
            Some(_) => {
                head.headers.remove(CONTENT_LENGTH);
                Response::from_parts(head, Flushed::new(body).boxed_unsync())
            }
        }
    }
}

/// Writes the head of an answer down and lets its body be written down as it is read.
fn noted(
    response: Response<Incoming>,
    take: Option<Arc<Take>>,
    patience: Patience,
) -> Response<Answered> {
    let (mut head, body) = response.into_parts();
    head.headers = of_response(&head.headers);
    if let Some(take) = &take {
        let reason = head.extensions.get::<ReasonPhrase>();
        let reason = reason.map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned());
        take.head(head.status.as_u16(), reason.as_deref(), &head.headers);
    }
    // The answer goes out as HTTP/1.1, whatever it came in as.
    head.version = http::Version::HTTP_11;
    Response::from_parts(head, Answered::new(body, take, patience))
}

/// A request body in which our address may stand, with it replaced and its length corrected.
async fn prepared(
    body: Asked,
    headers: &mut HeaderMap,
    inward: &Rewriter,
) -> Result<Asked, Answer> {
    let small = announced(headers).is_some_and(|length| length <= WHOLE_JSON);
    let body = match body {
        Asked::Arriving(body) if small && may_hold_origins(headers) => {
            let limited = Limited::new(body, WHOLE_JSON as usize);
            let Ok(bytes) = limited.collect().await else {
                return Err(no_answer(End::ClientClosed, ""));
            };
            Asked::Whole(bytes.to_bytes())
        }
        body => body,
    };
    let Asked::Whole(bytes) = &body else { return Ok(body) };
    let Some(replaced) = inward.clone().whole(bytes).filter(|_| may_hold_origins(headers)) else {
        return Ok(body);
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(replaced.len()));
    Ok(Asked::Whole(replaced))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
