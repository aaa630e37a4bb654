//! Recorded answers, made ready to be sent.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::ext::ReasonPhrase;

use super::body::{Ending, Played};
use super::laid::{Laid, Shelf};
use super::pace::Clock;
use crate::cassette::{self, Body, Chunk, End, Headers, Interaction, Outcome};
use crate::correlate::{Echo, Origins, Renamed, Scope};
use crate::server::{
    ADDRESSES, Answer, AnswerBody, Place, Rewriter, announced, full, may_hold, may_hold_origins,
    no_answer,
};

/// A recorded answer, made ready to be sent any number of times.
#[derive(Debug)]
pub(super) enum Ready {
    Answer(Prepared),
    Nothing(End),
}

/// # Rationale
///
/// It fills one line of memory, and what most answers do not have stands elsewhere: in a large cassette
/// each line that is looked at is one that no cache holds.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Prepared {
    laid: Laid,
    special: Option<Box<Special>>,
    ms: u32,
    status: StatusCode,
    /// Whether the body goes out in one piece behind its length.
    in_one: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Ready>() == 64, "one line of memory");

/// What an answer has that is not the same each time, or that few have.
#[derive(Debug)]
struct Special {
    /// A body that is large or comes in pieces.
    body: Option<Body>,
    reason: Option<ReasonPhrase>,
    trailers: Option<HeaderMap>,
    ending: Ending,
    /// Whether the server's own address stands in the head or the body.
    addressed: bool,
    /// Where client-minted identifiers come back in the body, without its coding.
    echoes: Vec<Echo>,
    /// Those in the head.
    echoed: Vec<Echo>,
}

/// What an answer is to be like this time.
pub(super) struct Wanted<'a> {
    pub(super) upstream: &'a str,
    pub(super) place: Place<'a>,
    pub(super) clock: Clock,
    pub(super) accept_encoding: Option<&'a HeaderValue>,
    /// What the client's own identifiers are this time.
    pub(super) renamed: &'a Renamed,
}

impl Ready {
    /// Makes an answer ready. What is small is laid out on the shelf, that of the interaction as well.
    pub(super) fn of(
        interaction: &mut Interaction,
        upstream: &str,
        origins: &Origins,
        shelf: &mut Shelf,
    ) -> Self {
        match &mut interaction.outcome {
            Outcome::Nothing(end) => Self::Nothing(*end),
            Outcome::Response(response) => {
                Self::Answer(Prepared::of(response, upstream, origins, shelf))
            }
        }
    }

    /// The client-minted identifiers that come back in it.
    pub(super) fn echoed(&self) -> impl Iterator<Item = (Scope, &str)> {
        let special = match self {
            Self::Nothing(_) => None,
            Self::Answer(prepared) => prepared.special.as_deref(),
        };
        special
            .into_iter()
            .flat_map(|special| special.echoes.iter().chain(&special.echoed).map(Echo::value))
    }

    pub(super) async fn send(&self, wanted: Wanted<'_>) -> Answer {
        match self {
            Self::Nothing(end) => no_answer(*end, &unanswered(*end, wanted.upstream)),
            Self::Answer(prepared) => {
                if let Some(due) = wanted.clock.due(prepared.ms.into()) {
                    tokio::time::sleep_until(due).await;
                }
                prepared.answer(&wanted)
            }
        }
    }
}

impl Prepared {
    fn of(
        response: &mut cassette::Response,
        upstream: &str,
        origins: &Origins,
        shelf: &mut Shelf,
    ) -> Self {
        let mut headers = header_map(&response.headers);
        if !response.body.is_empty() {
            correct_length(&mut headers, &response.body, Ending::of(response.end));
        }
        let special = Special::of(response, &headers, upstream, origins);
        let is_special = special.is_any(&headers);
        let is_announced = announced(&headers).is_some();
        let laid = match &mut response.body {
            Body::Whole(bytes) if Shelf::takes(bytes) => {
                let laid = shelf.put(headers, bytes);
                *bytes = laid.body();
                laid
            }
            _ => shelf.put(headers, b""),
        };
        Self {
            laid,
            ms: u32::try_from(response.ms).unwrap_or(u32::MAX),
            status: StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY),
            in_one: is_announced && special.ending == Ending::Whole && special.trailers.is_none(),
            special: is_special.then(|| Box::new(special)),
        }
    }

    fn answer(&self, wanted: &Wanted<'_>) -> Answer {
        let mut headers = self.laid.headers();
        let special = self.special.as_deref();
        let small;
        let recorded = match special.and_then(|special| special.body.as_ref()) {
            Some(body) => body,
            None => {
                small = Body::Whole(self.laid.body());
                &small
            }
        };
        let changed = special.and_then(|special| special.apply(recorded, &mut headers, wanted));
        let body = changed.as_ref().unwrap_or(recorded);
        let mut answer = Response::new(self.framed(&headers, body, wanted));
        *answer.status_mut() = self.status;
        *answer.headers_mut() = headers;
        if let Some(reason) = special.and_then(|special| special.reason.clone()) {
            answer.extensions_mut().insert(reason);
        }
        answer
    }

    /// The body in the framing of the recording: a length where it was announced, chunks elsewhere.
    fn framed(&self, headers: &HeaderMap, body: &Body, wanted: &Wanted<'_>) -> AnswerBody {
        let timed = match body {
            Body::Whole(bytes) if self.in_one => return full(bytes.clone()),
            Body::Whole(bytes) => vec![(None, bytes.clone())],
            Body::Stream(chunks) => {
                let timed = |chunk: &Chunk| (wanted.clock.due(chunk.ms), chunk.bytes.clone());
                chunks.iter().map(timed).collect()
            }
        };
        let special = self.special.as_deref();
        let ending = special.map_or(Ending::Whole, |special| special.ending);
        let trailers = special.and_then(|special| special.trailers.clone());
        let played = Played::new(timed, ending).with_trailers(trailers);
        let played = match announced(headers) {
            Some(length) => played.with_length(length),
            None => played,
        };
        AnswerBody::streamed(played)
    }
}

impl Special {
    fn of(
        response: &cassette::Response,
        headers: &HeaderMap,
        upstream: &str,
        origins: &Origins,
    ) -> Self {
        let reason = response.reason.as_ref();
        let addressed = !upstream.is_empty()
            && (ADDRESSES.iter().any(|name| headers.contains_key(name))
                || (may_hold_origins(headers) && may_hold(&response.body.bytes(), upstream)));
        let echoed = response.headers.iter().flat_map(|(_, value)| Echo::in_field(value, origins));
        let is_laid = matches!(&response.body, Body::Whole(bytes) if Shelf::takes(bytes));
        Self {
            body: (!is_laid).then(|| response.body.clone()),
            reason: reason.and_then(|reason| reason.as_bytes().to_vec().try_into().ok()),
            trailers: (!response.trailers.is_empty()).then(|| header_map(&response.trailers)),
            ending: Ending::of(response.end),
            addressed,
            echoes: Echo::all(&response.readable().bytes(), origins),
            echoed: echoed.collect(),
        }
    }

    /// Whether the answer has anything of this, or depends on who asks.
    fn is_any(&self, headers: &HeaderMap) -> bool {
        let asked = [CONTENT_ENCODING, SET_COOKIE];
        self.body.is_some()
            || self.reason.is_some()
            || self.trailers.is_some()
            || self.ending == Ending::Cut
            || self.addressed
            || !(self.echoes.is_empty() && self.echoed.is_empty())
            || asked.iter().chain(&ADDRESSES).any(|name| headers.contains_key(name))
    }

    /// The head as it is to be this time, and the body, if it is another.
    fn apply(&self, recorded: &Body, headers: &mut HeaderMap, wanted: &Wanted<'_>) -> Option<Body> {
        let mut body = None;
        let renamed = !wanted.renamed.is_empty();
        if renamed || !accepts(headers, wanted.accept_encoding) {
            body = self.decoded(recorded, headers);
        }
        if renamed {
            rename_fields(headers, wanted.renamed);
            let plain = body.unwrap_or_else(|| recorded.clone());
            let length = plain.len();
            let named = wanted.renamed.body(plain, &self.echoes);
            if named.len() != length {
                correct_length(headers, &named, self.ending);
            }
            body = Some(named);
        }
        wanted.place.keep_below(headers);
        if self.addressed {
            let rewriter = Rewriter::new(wanted.upstream, &wanted.place.address());
            rewriter.fields(headers, &ADDRESSES);
            if may_hold_origins(headers) {
                let plain = body.as_ref().unwrap_or(recorded);
                let replaced = rewritten(plain, rewriter);
                if replaced.len() != plain.len() {
                    correct_length(headers, &replaced, self.ending);
                }
                body = Some(replaced);
            }
        }
        body
    }

    /// The body without its coding, for a client that does not take it.
    fn decoded(&self, recorded: &Body, headers: &mut HeaderMap) -> Option<Body> {
        let body = recorded.decoded(headers.get(CONTENT_ENCODING)?.to_str().ok()?)?;
        headers.remove(CONTENT_ENCODING);
        correct_length(headers, &body, self.ending);
        Some(body)
    }
}

/// What is said of a server that gave no answer then. Whether it would now is not known.
fn unanswered(end: End, upstream: &str) -> String {
    let what = match end {
        End::Timeout => "did not answer in time",
        End::Unreachable => "could not be reached",
        _ => "did not answer",
    };
    format!("`{upstream}` {what} when this was recorded")
}

/// The fields for hyper. What HTTP does not allow is left out.
fn header_map(headers: &Headers) -> HeaderMap {
    let fields = headers.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value).ok()?))
    });
    let mut map = HeaderMap::with_capacity(headers.len());
    fields.for_each(|(name, value)| {
        map.append(name, value);
    });
    map
}

fn rename_fields(headers: &mut HeaderMap, renamed: &Renamed) {
    for value in headers.values_mut() {
        let named = value.to_str().ok().and_then(|text| renamed.text(text));
        if let Some(Ok(named)) = named.map(HeaderValue::try_from) {
            *value = named;
        }
    }
}

/// Whether a client takes the recorded coding. One that says nothing is given what was recorded.
fn accepts(headers: &HeaderMap, accept_encoding: Option<&HeaderValue>) -> bool {
    let coding = headers.get(CONTENT_ENCODING).and_then(|coding| coding.to_str().ok());
    let (Some(coding), Some(accepted)) =
        (coding, accept_encoding.and_then(|value| value.to_str().ok()))
    else {
        return true;
    };
    let weight = |name: &str| {
        accepted.split(',').find_map(|item| {
            let (item, parameters) = item.split_once(';').unwrap_or((item, ""));
            let refused =
                parameters.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            item.trim().eq_ignore_ascii_case(name).then_some(!refused)
        })
    };
    coding.eq_ignore_ascii_case("identity")
        || weight(coding).or_else(|| weight("*")).unwrap_or(false)
}

/// Announces the right length, where one is announced: somebody may have edited the cassette.
/// That of a body that is cut short stays beyond what there is of it.
fn correct_length(headers: &mut HeaderMap, body: &Body, ending: Ending) {
    let Some(announced) = announced(headers) else { return };
    let length = match ending {
        Ending::Whole => body.len() as u64,
        Ending::Cut => announced.max(body.len() as u64 + 1),
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// The body with the server's address replaced by ours.
fn rewritten(body: &Body, mut rewriter: Rewriter) -> Body {
    match body {
        Body::Whole(bytes) => Body::Whole(rewriter.whole(bytes).unwrap_or_else(|| bytes.clone())),
        Body::Stream(chunks) => {
            let mut chunks = chunks.clone();
            chunks.iter_mut().for_each(|chunk| chunk.bytes = rewriter.push(chunk.bytes.clone()));
            let held = rewriter.finish();
            if let Some(last) = chunks.last_mut().filter(|_| !held.is_empty()) {
                last.bytes = [last.bytes.as_ref(), held.as_ref()].concat().into();
            }
            Body::Stream(chunks)
        }
    }
}
