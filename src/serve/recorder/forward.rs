//! Passing a request on and its answer back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, ORIGIN, REFERER, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::ext::{ReasonPhrase, on_informational};
use hyper::upgrade::OnUpgrade;
use tokio::sync::oneshot;

use super::coming::Coming;
use super::end_to_end::{of_request, of_response, recorded};
use super::expected::{Expected, Gate, Unwanted};
use super::fault::ServerFault;
use super::interim::{Count, Interim};
use super::prompt::{AT_ONCE, IN_TIME, PromptBody, came};
use super::recoded::Recoded;
use super::relay;
use super::sent::{Abandoned, Sent};
use super::take::Take;
use super::tape::Tape;
use super::tee::{Answered, Rewritten};
use super::upstream::{Outgoing, Upstream};
use crate::cassette::coding::Live;
use crate::cassette::{self, Body, End};
use crate::serve::recording::Patience;
use crate::serve::server::{
    Answer, AnswerBody, Cut, KeptPlace, Outward, READ_WHOLE, Rewriter, ServerPlace, announced,
    cut_after, full, is_well_known, may_hold_origins, may_name_us, spelled,
};
use crate::serve::websocket::Compression;

/// Fields that name a resource by its address: where it is to be copied or moved to (RFC 4918, section 10.3), and
/// from where.
const ADDRESSES_NAMED: [HeaderName; 3] = [
    HeaderName::from_static("destination"),
    HeaderName::from_static("x-ms-copy-source"),
    HeaderName::from_static("x-amz-copy-source"),
];

/// Sends requests to a live server and records what comes of them.
#[derive(Debug, Clone)]
pub struct Recorder {
    upstream: Arc<Upstream>,
    /// The addresses exchanged last: most clients see us at one place.
    exchanged: Arc<Mutex<Option<Arc<Exchanged>>>>,
    patience: Patience,
    /// Where it is recorded, if it is.
    tape: Option<Arc<Tape>>,
    /// What stands before its paths in a cassette: nothing if it is the first server.
    origin: Arc<str>,
    /// All servers by their names, the first one by the empty name.
    beside: Arc<BTreeMap<String, String>>,
}

/// What is replaced by what for a client that sees us at that address, if it does.
#[derive(Debug)]
struct Exchanged {
    /// Where the client sees us.
    place: KeptPlace,
    inward: Option<Rewriter>,
    /// For where a page comes from, which has no path: with the session that the request names, and without.
    pages: [Option<Rewriter>; 2],
    outward: Option<Outward>,
}

/// The body of a request: still arriving, or read already.
#[derive(Debug)]
pub enum RequestBody {
    /// Still arriving.
    Arriving(Incoming),
    /// Read already.
    Whole(Bytes),
    /// None: it asks for a WebSocket, which is the client's end of the connection.
    Upgrade(OnUpgrade),
}

/// What the server said, or why it said nothing.
type ServerResult = Result<Response<Answered>, ServerFault>;

impl Exchanged {
    fn new(place: ServerPlace<'_>, upstream: &Upstream, beside: &BTreeMap<String, String>) -> Self {
        let page = ServerPlace { session: "", server: "", ..place };
        Self {
            place: place.kept(),
            inward: place.inward(upstream.origin(), beside),
            pages: [place, page].map(|it| it.page(&upstream.page_origin())),
            outward: place.outward(upstream.origin(), beside),
        }
    }

    /// Whether it is for a client that sees us there. Many requests come from one place.
    fn is_of(&self, place: ServerPlace<'_>) -> bool {
        self.place.place() == place
    }
}

impl Recorder {
    /// Records to `tape`, or only passes on. `origin` stands before the paths of a server that is not the
    /// first one, `beside` are all servers by their names.
    pub fn new(
        upstream: Arc<Upstream>,
        patience: Patience,
        tape: Option<Arc<Tape>>,
        origin: &str,
        beside: Arc<BTreeMap<String, String>>,
    ) -> Self {
        Self { upstream, exchanged: Arc::default(), patience, tape, origin: origin.into(), beside }
    }

    /// Sends a request on and returns the answer as it comes. `place` is where the client sees us,
    /// `target` what it asks the server for.
    pub async fn forward(
        &self,
        head: &http::request::Parts,
        target: &str,
        body: RequestBody,
        place: ServerPlace<'_>,
    ) -> Answer {
        let exchanged = self.exchanged(place);
        let told = match self.ask(head, target, body, (place, &exchanged)).await {
            Ok(told) => told,
            Err(answer) => return answer,
        };
        let response = match told.await {
            Ok(Ok(response)) => response,
            Ok(Err(fault)) => return fault.answer(self.upstream.origin()),
            Err(_) => return ServerFault::Interrupted.answer(self.upstream.origin()),
        };
        answer(response, (place, target), exchanged.outward.clone()).await
    }

    /// Sends a request on. What is needed only until then takes no room while the server thinks.
    async fn ask(
        &self,
        head: &http::request::Parts,
        target: &str,
        body: RequestBody,
        (place, exchanged): (ServerPlace<'_>, &Exchanged),
    ) -> Result<oneshot::Receiver<ServerResult>, Answer> {
        let Exchanged { inward, pages, outward, .. } = exchanged;
        let replaced = inward.clone().and_then(|inward| inward.whole(target.as_bytes()));
        let target = replaced.map_or_else(
            || target.to_owned(),
            |target| String::from_utf8_lossy(&target).into_owned(),
        );
        let gate = Gate::before(head, &body);
        let mut headers = of_request(&head.headers, gate.as_ref());
        let (body, upgrade) = match body {
            RequestBody::Upgrade(client) => {
                relay::ask(&mut headers);
                (RequestBody::Whole(Bytes::new()), Some(client))
            }
            body => (body, None),
        };
        if let Some(inward) = inward {
            inward.fields(&mut headers, &[REFERER]);
            inward.fields(&mut headers, &ADDRESSES_NAMED);
        }
        // A server takes what changes something, and WebSockets, only from its own pages.
        pages.iter().flatten().for_each(|page| page.fields(&mut headers, &[ORIGIN, REFERER]));
        let seen = place.origin.map_or("", |(_, authority)| authority);
        let known = ["", seen, self.upstream.host()];
        let host = head.headers.get(HOST);
        // The client names neither whom it asks nor the server: it means what it says.
        if let Some(host) = host.filter(|host| known.iter().all(|known| **host != **known)) {
            headers.insert(HOST, host.clone());
        }
        self.upstream.authorize(&mut headers);
        let within = inward.as_ref().filter(|_| may_name_us(&head.headers));
        let body = match prepared(body, &mut headers, within).await {
            Ok(body) => body,
            Err(answer) => return Err(answer),
        };
        // Whether the length can be announced again hung on how fast the body came.
        let said = if upgrade.is_some() { relay::recorded(&headers) } else { recorded(&headers) };
        let take = self.tape.as_ref().map(|tape| {
            tape.take(cassette::Request {
                headers: said,
                ..cassette::Request::of(head.method.as_str(), format!("{}{target}", self.origin))
            })
        });
        let early = head.extensions.get().cloned();
        let (outward_too, count) = (outward.clone(), Count::default());
        let interim = Interim {
            early,
            gate,
            take: take.clone(),
            outward: outward_too,
            place: place.kept(),
            count,
        };
        let request = self.request(head, &target, headers, (body, within.cloned()), interim);
        let Ok(request) = request else {
            // Nobody is to wait for an answer at the end.
            self.fail(take.as_deref(), &ServerFault::Target).await;
            return Err(ServerFault::Target.answer(self.upstream.origin()));
        };
        let outward = outward.as_ref().map(|outward| outward.own().clone());
        let addresses = inward.clone().zip(outward).map(<[Rewriter; 2]>::from);
        Ok(self.exchange(Box::new(request), upgrade, take, addresses))
    }

    fn exchanged(&self, place: ServerPlace<'_>) -> Arc<Exchanged> {
        let mut last = self.exchanged.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(exchanged) if exchanged.is_of(place) => Arc::clone(exchanged),
            _ => {
                let exchanged = Exchanged::new(place, &self.upstream, &self.beside);
                Arc::clone(last.insert(Arc::new(exchanged)))
            }
        }
    }

    fn request(
        &self,
        head: &http::request::Parts,
        target: &str,
        mut headers: HeaderMap,
        (body, within): (Outgoing, Option<Rewriter>),
        interim: Interim,
    ) -> Result<Request<Outgoing>, http::Error> {
        // Where a method means nothing by a body, hyper sends one of unknown length only if that is said.
        let means_none = matches!(head.method, Method::GET | Method::HEAD);
        if means_none && body.size_hint().exact().is_none() && !headers.contains_key(CONTENT_LENGTH)
        {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let gate = interim.gate.clone();
        let body = match gate.clone() {
            Some(gate) => Expected::new(body, gate).boxed_unsync(),
            None => body,
        };
        let body = Sent::new(body, interim.take.clone(), within, self.patience.rest);
        let progress = body.progress();
        let mut request = Request::builder()
            .method(head.method.clone())
            .uri(self.upstream.uri_of(target)?)
            .body(body.boxed_unsync())?;
        *request.headers_mut() = headers;
        // hyper keeps the case of the names as the client wrote them beside the head.
        *request.extensions_mut() = head.extensions.clone();
        gate.into_iter().for_each(|gate| _ = request.extensions_mut().insert(gate));
        progress.into_iter().for_each(|it| _ = request.extensions_mut().insert(it));
        request.extensions_mut().insert(interim.count.clone());
        on_informational(&mut request, move |said| interim.hear(said.status(), said.headers()));
        Ok(request)
    }

    /// The exchange runs on a task of its own: it goes on if the client leaves.
    fn exchange(
        &self,
        request: Box<Request<Outgoing>>,
        upgrade: Option<OnUpgrade>,
        take: Option<Arc<Take>>,
        addresses: Option<[Rewriter; 2]>,
    ) -> oneshot::Receiver<ServerResult> {
        let (recorder, patience) = (self.clone(), self.patience);
        let gate = request.extensions().get::<Gate>().cloned();
        let before = request.extensions().get::<Count>().cloned().unwrap_or_default();
        let (mut tell, told) = oneshot::channel();
        // What is not recorded is not waited for either when the client has left.
        let grace = take.as_ref().map_or(Duration::ZERO, |_| patience.grace);
        tokio::spawn(async move {
            // A task is moved several times before it is begun.
            let sent = Box::pin(recorder.upstream.send(request, patience));
            let outcome = tokio::select! {
                biased;
                // Also where the server has gone since.
                () = before.full() => Err(ServerFault::NoEnd),
                outcome = sent => outcome,
                () = left_for(grace, &mut tell, take.as_deref()) => Err(ServerFault::Abandoned),
            };
            // What the server does behind its back is not what the client has met.
            let has_left =
                |fault: &ServerFault| tell.is_closed() && *fault != ServerFault::OutOfFiles;
            let outcome = outcome
                .map_err(|fault| if has_left(&fault) { ServerFault::Abandoned } else { fault });
            if let (Ok(_), Some(take)) = (&outcome, &take) {
                take.written().await;
            }
            let outcome = outcome.map(|response| match upgrade {
                Some(client) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                    opened(response, client, (take.clone(), addresses))
                }
                _ => noted(response, take.clone(), patience, gate.map(Gate::answered)),
            });
            if let Err(fault) = &outcome {
                recorder.fail(take.as_deref(), fault).await;
            }
            // If nobody waits any more the answer is dropped here, and reads on for the grace time.
            let _ = tell.send(outcome);
        });
        told
    }

    /// What was to be asked is recorded whole, before the client is told and may stop sending it.
    async fn fail(&self, take: Option<&Take>, fault: &ServerFault) {
        if let Some(take) = take {
            let _ = tokio::time::timeout(self.patience.rest, take.closed()).await;
            if *fault == ServerFault::OutOfFiles {
                return take.out_of_files();
            }
            if let Some(tape) = self.tape.as_ref().filter(|_| fault.is_distrust()) {
                tape.note_distrust();
            }
            take.fail(fault.end(), fault.message(self.upstream.origin()));
        }
    }
}

async fn answer(
    response: Response<Answered>,
    (place, target): (ServerPlace<'_>, &str),
    outward: Option<Outward>,
) -> Answer {
    let (mut head, body) = response.into_parts();
    place.keep_below(&mut head.headers);
    let Some(outward) = outward else { return Response::from_parts(head, body.streamed()) };
    outward.fields(&mut head.headers);
    let outward = outward.body(is_well_known(target)).clone();
    // The length that the answer to a `HEAD` announces is not that of its body.
    if body.is_end_stream() || !may_hold_origins(&head.headers) {
        return Response::from_parts(head, body.streamed());
    }
    if announced(&head.headers).is_none_or(|length| length > READ_WHOLE) {
        body.write();
        return replaced_as_it_comes(head, body, outward);
    }
    match Box::pin(came(body, AT_ONCE)).await {
        PromptBody::Whole(bytes) => {
            let bytes = replaced(&head.headers, bytes, outward);
            head.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            Response::from_parts(head, full(bytes))
        }
        PromptBody::Cut(bytes) => {
            let came = bytes.len() as u64;
            let bytes = replaced(&head.headers, bytes, outward);
            // As much is missing as before: longer addresses do not make it whole.
            if let Some(announced) = announced(&head.headers) {
                let length = announced.saturating_sub(came) + bytes.len() as u64;
                head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
            }
            Response::from_parts(head, cut_after(bytes))
        }
        PromptBody::Slowly(body) => replaced_as_it_comes(head, body, outward),
    }
}

/// An answer in whose body addresses are replaced piece by piece. It stays as it is if nothing here compresses
/// so.
fn replaced_as_it_comes(
    mut head: http::response::Parts,
    body: impl http_body::Body<Data = Bytes, Error = Cut> + Send + Unpin + 'static,
    outward: Rewriter,
) -> Answer {
    let body = match head.headers.get(CONTENT_ENCODING) {
        None => AnswerBody::streamed(Rewritten::new(body, outward)),
        Some(coding) => match Recoded::new(body, coding, outward) {
            Ok(recoded) => AnswerBody::streamed(recoded),
            Err(body) => return Response::from_parts(head, AnswerBody::streamed(body)),
        },
    };
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, body)
}

/// A body with other addresses; as it is if there are none in it.
fn replaced(headers: &HeaderMap, bytes: Bytes, outward: Rewriter) -> Bytes {
    let replaced = match headers.get(CONTENT_ENCODING) {
        None => outward.whole(&bytes),
        Some(coding) => recoded(coding, &bytes, outward),
    };
    replaced.unwrap_or(bytes)
}

/// A compressed body with other addresses; nothing if there is none in it, or if nothing here compresses so.
fn recoded(coding: &HeaderValue, bytes: &[u8], outward: Rewriter) -> Option<Bytes> {
    let coding = coding.to_str().ok()?;
    let replaced = outward.whole(&Live::new(coding)?.whole(bytes)?)?;
    Some(Body::Whole(replaced).encoded(coding, End::Complete)?.bytes())
}

/// Waits until nobody has waited for the answer for that long.
async fn left_for<T>(grace: Duration, tell: &mut oneshot::Sender<T>, take: Option<&Take>) {
    tell.closed().await;
    take.iter().for_each(|take| take.leave());
    tokio::time::sleep(grace).await;
}

/// Writes the head of an answer down and lets its body be written down as it is read.
fn noted(
    response: Response<Incoming>,
    take: Option<Arc<Take>>,
    patience: Patience,
    unwanted: Option<Unwanted>,
) -> Response<Answered> {
    let (mut head, body) = response.into_parts();
    head.headers = of_response(&head.headers);
    if let Some(take) = &take {
        let reason = head.extensions.get::<ReasonPhrase>();
        let reason = reason.map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned());
        take.head(head.status.as_u16(), reason.as_deref(), spelled(&head, &head.headers));
    }
    if unwanted.as_ref().is_some_and(Unwanted::is_unsent) {
        // hyper closes the connection of a request that was not read to its end.
        head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    // The answer goes out as HTTP/1.1, whatever it came in as.
    let spoken = std::mem::replace(&mut head.version, http::Version::HTTP_11);
    let coming = Coming::new(body, head.extensions.remove(), head.extensions.remove());
    Response::from_parts(head, Answered::new(coming, spoken, take, patience, unwanted))
}

/// Writes the head of an answer down that opens a WebSocket, and lets it begin.
fn opened(
    mut response: Response<Incoming>,
    client: OnUpgrade,
    (take, addresses): (Option<Arc<Take>>, Option<[Rewriter; 2]>),
) -> Response<Answered> {
    let server = hyper::upgrade::on(&mut response);
    let (mut head, _) = response.into_parts();
    head.headers = of_response(&head.headers);
    head.version = http::Version::HTTP_11;
    if let Some(take) = &take {
        let noted = relay::noted(head.headers.clone());
        take.head(head.status.as_u16(), None, spelled(&head, &noted));
        take.write();
    }
    let compression = Compression::of_answer(&head.headers);
    tokio::spawn(relay::relay((client, server), compression, (take, addresses)));
    relay::agree(&mut head.headers);
    Response::from_parts(head, Answered::nothing())
}

/// A request body with our address replaced by the server's, and its length corrected.
async fn prepared(
    body: RequestBody,
    headers: &mut HeaderMap,
    inward: Option<&Rewriter>,
) -> Result<Outgoing, Answer> {
    let bytes = match (body, inward) {
        (RequestBody::Arriving(body), Some(inward)) if !body.is_end_stream() => {
            if announced(headers).is_none() {
                return Ok(outgoing(Rewritten::new(body, inward.clone())));
            }
            match came(body, IN_TIME).await {
                PromptBody::Whole(bytes) => bytes,
                PromptBody::Cut(_) => return Err(ServerFault::Abandoned.answer("")),
                // Not every server takes a request that does not say how long it is.
                PromptBody::Slowly(body) => return Ok(outgoing(body)),
            }
        }
        (RequestBody::Arriving(body), _) => return Ok(outgoing(body)),
        (RequestBody::Whole(bytes), _) => bytes,
        (RequestBody::Upgrade(_), _) => Bytes::new(),
    };
    let Some(replaced) = inward.and_then(|inward| inward.clone().whole(&bytes)) else {
        return Ok(outgoing(Full::new(bytes)));
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(replaced.len()));
    Ok(outgoing(Full::new(replaced)))
}

fn outgoing(body: impl http_body::Body<Data = Bytes> + Send + 'static) -> Outgoing {
    body.map_err(|_| Abandoned).boxed_unsync()
}
