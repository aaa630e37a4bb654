//! Recorded answers, made ready to be sent.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::ext::ReasonPhrase;
use tokio::time::Instant;

use super::Pace;
use super::body::{Ending, Played};
use crate::cassette::{self, Body, End, Headers, Interaction, Outcome};
use crate::correlate::{Echo, Origins, Renamed, Scope};
use crate::server::{
    ADDRESSES, Answer, Flushed, Place, Rewriter, announced, full, may_hold, may_hold_origins,
    no_answer,
};

/// A recorded answer, made ready to be sent any number of times.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are answers, and each box is one more place in memory to go to"
)]
pub(super) enum Ready {
    Answer(Prepared),
    Nothing(End),
}

#[derive(Debug)]
pub(super) struct Prepared {
    status: StatusCode,
    reason: Option<ReasonPhrase>,
    headers: HeaderMap,
    trailers: Option<HeaderMap>,
    ms: u64,
    body: Body,
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
    pub(super) pace: Pace,
    pub(super) begun: Instant,
    pub(super) accept_encoding: Option<&'a HeaderValue>,
    /// What the client's own identifiers are this time.
    pub(super) renamed: &'a Renamed,
}

impl Ready {
    pub(super) fn of(interaction: &Interaction, upstream: &str, origins: &Origins) -> Self {
        match &interaction.outcome {
            Outcome::Nothing(end) => Self::Nothing(*end),
            Outcome::Response(response) => Self::Answer(Prepared::of(response, upstream, origins)),
        }
    }

    /// The client-minted identifiers that come back in it.
    pub(super) fn echoed(&self) -> impl Iterator<Item = (Scope, &str)> {
        let prepared = match self {
            Self::Nothing(_) => None,
            Self::Answer(prepared) => Some(prepared),
        };
        prepared
            .into_iter()
            .flat_map(|prepared| prepared.echoes.iter().chain(&prepared.echoed).map(Echo::value))
    }

    pub(super) async fn send(&self, wanted: Wanted<'_>) -> Answer {
        match self {
            Self::Nothing(end) => no_answer(*end, &unanswered(*end, wanted.upstream)),
            Self::Answer(prepared) => {
                let due = wanted.pace.due(prepared.ms);
                if !due.is_zero() {
                    tokio::time::sleep_until(wanted.begun + due).await;
                }
                prepared.answer(&wanted)
            }
        }
    }
}

impl Prepared {
    fn of(response: &cassette::Response, upstream: &str, origins: &Origins) -> Self {
        let mut headers = header_map(&response.headers);
        let ending = if response.end == End::Complete { Ending::Whole } else { Ending::Cut };
        if !response.body.is_empty() {
            correct_length(&mut headers, &response.body, ending);
        }
        let reason =
            response.reason.as_ref().and_then(|reason| reason.as_bytes().to_vec().try_into().ok());
        let origin = upstream.as_bytes();
        let addressed = !origin.is_empty()
            && (ADDRESSES.iter().any(|name| headers.contains_key(name))
                || (may_hold_origins(&headers) && may_hold(&response.body.bytes(), upstream)));
        let echoed = response.headers.iter().flat_map(|(_, value)| Echo::in_field(value, origins));
        Self {
            echoes: Echo::all(&response.readable().bytes(), origins),
            echoed: echoed.collect(),
            status: StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY),
            reason,
            headers,
            trailers: (!response.trailers.is_empty()).then(|| header_map(&response.trailers)),
            ms: response.ms,
            body: response.body.clone(),
            ending,
            addressed,
        }
    }

    fn answer(&self, wanted: &Wanted<'_>) -> Answer {
        let mut headers = self.headers.clone();
        let mut body = None;
        let renamed = !wanted.renamed.is_empty();
        if renamed || !accepts(&headers, wanted.accept_encoding) {
            body = self.decoded(&mut headers);
        }
        if renamed {
            rename_fields(&mut headers, wanted.renamed);
            let recorded = body.unwrap_or_else(|| self.body.clone());
            let length = recorded.len();
            let named = wanted.renamed.body(recorded, &self.echoes);
            if named.len() != length {
                correct_length(&mut headers, &named, self.ending);
            }
            body = Some(named);
        }
        wanted.place.keep_below(&mut headers);
        if self.addressed {
            let rewriter = Rewriter::new(wanted.upstream, &wanted.place.address());
            rewriter.fields(&mut headers, &ADDRESSES);
            if may_hold_origins(&headers) {
                let plain = body.as_ref().unwrap_or(&self.body);
                let replaced = rewritten(plain, rewriter);
                if replaced.len() != plain.len() {
                    correct_length(&mut headers, &replaced, self.ending);
                }
                body = Some(replaced);
            }
        }
        let body = body.as_ref().unwrap_or(&self.body);
        let mut answer = Response::new(self.framed(&headers, body, wanted));
        *answer.status_mut() = self.status;
        *answer.headers_mut() = headers;
        if let Some(reason) = &self.reason {
            answer.extensions_mut().insert(reason.clone());
        }
        answer
    }

    /// The body without its coding, for a client that does not take it.
    fn decoded(&self, headers: &mut HeaderMap) -> Option<Body> {
        let body = self.body.decoded(headers.get(CONTENT_ENCODING)?.to_str().ok()?)?;
        headers.remove(CONTENT_ENCODING);
        correct_length(headers, &body, self.ending);
        Some(body)
    }

    /// The body in the framing of the recording: a length where it was announced, chunks elsewhere.
    fn framed(
        &self,
        headers: &HeaderMap,
        body: &Body,
        wanted: &Wanted<'_>,
    ) -> crate::server::AnswerBody {
        let length = announced(headers);
        let plain = self.ending == Ending::Whole && self.trailers.is_none();
        match body {
            Body::Whole(bytes) if plain && length.is_some() => full(bytes.clone()),
            Body::Whole(bytes) => {
                let played =
                    Played::new(wanted.begun, vec![(Duration::ZERO, bytes.clone())], self.ending);
                self.finished(played, length)
            }
            Body::Stream(chunks) => {
                let pace = wanted.pace;
                let timed =
                    chunks.iter().map(|chunk| (pace.due(chunk.ms), chunk.bytes.clone())).collect();
                self.finished(Played::new(wanted.begun, timed, self.ending), length)
            }
        }
    }

    fn finished(&self, played: Played, length: Option<u64>) -> crate::server::AnswerBody {
        let played = played.with_trailers(self.trailers.clone());
        let played = match length {
            Some(length) => played.with_length(length),
            None => played,
        };
        Flushed::new(played).boxed_unsync()
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

/// The fields for hyper, their values in one buffer: a map is cloned for each answer, and each buffer
/// of its own would be another place in memory to go to.
fn header_map(headers: &Headers) -> HeaderMap {
    let values: Vec<&[u8]> = headers.iter().map(|(_, value)| value.as_ref()).collect();
    let mut values = Bytes::from(values.concat());
    let fields = headers.iter().filter_map(|(name, value)| {
        let value = values.split_to(value.len());
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_maybe_shared(value).ok()?))
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
