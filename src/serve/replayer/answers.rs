//! Recorded answers, made ready to be sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, SET_COOKIE, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::ext::ReasonPhrase;

use tokio::time::Instant;

use super::body::{Ending, Played, Sent};
use super::chunking::Chunking;
use super::meanwhile::Hold;
use super::pace::Clock;
use super::resume::Point;
use super::shelf::{Filling, Label, Laid, Shelf};
use super::spoil::Blow;
use super::stored::Stored;
use crate::cassette::{self, Body, Cassette, Chunk, End, Large, Media, Outcome, large, target};
use crate::identity::{Echo, MadeUp, Renamed, Scope};
use crate::redact::{Unveiled, Veiled, sums_of_body};
use crate::serve::server::{
    ADDRESSES, Answer, AnswerBody, Early, NamedServers, ServerPlace, announced, full, header_map,
    is_well_known, may_hold_origins, media_of, names, no_answer,
};

/// Recorded answers, made ready to be sent any number of times.
#[derive(Debug)]
pub(super) struct Answers {
    shelf: Shelf,
    /// What few answers have, by their numbers.
    special: HashMap<usize, Special>,
    /// Of all others.
    plain: Veiled,
}

/// What an answer has that is not the same each time, or that few have.
#[derive(Debug, Default)]
struct Special {
    /// How it ended, if there was no answer.
    nothing: Option<End>,
    /// What came before it.
    interim: Vec<(u64, StatusCode, HeaderMap)>,
    /// A body that is large or comes in pieces.
    body: Option<Body>,
    /// Where it is, if it is not held in memory.
    large: Option<Large>,
    reason: Option<ReasonPhrase>,
    /// When the client left while it came.
    left: Option<u64>,
    trailers: Option<HeaderMap>,
    ending: Ending,
    /// Whether an address of a server may stand in the head or stands in the body.
    addressed: bool,
    /// Whether it stands in the body, without its coding.
    names_servers: bool,
    is_well_known: bool,
    /// Where client-minted identifiers come back in the body, without its coding.
    echoes: Vec<Echo>,
    /// Those in the head.
    echoed: Vec<Echo>,
    /// The placeholders in it.
    veiled: Veiled,
    /// Whether the client that was recorded had not asked for the coding of the body: the server sends it so to all.
    has_own_coding: bool,
}

/// What an answer is to be like this time.
pub(super) struct Wanted<'a> {
    pub(super) upstream: &'a str,
    /// The addresses of all servers by their names.
    pub(super) beside: &'a BTreeMap<String, String>,
    pub(super) place: ServerPlace<'a>,
    pub(super) clock: Clock,
    pub(super) chunking: Chunking,
    /// The header of the request.
    pub(super) headers: &'a HeaderMap,
    /// Where what came before it is said.
    pub(super) early: Option<&'a Early>,
    /// What the client's own identifiers are this time.
    pub(super) renamed: &'a Renamed,
    /// What its own secrets are.
    pub(super) unveiled: &'a Unveiled,
    /// What holds it back.
    pub(super) hold: Option<Hold>,
    /// The event behind which the client goes on with it.
    pub(super) behind: Option<Point>,
    /// What this run has shown to be made up by the client.
    pub(super) shown: Option<MadeUp>,
    /// What goes wrong with it.
    pub(super) blow: Option<Blow>,
}

impl Answers {
    /// Makes the answers of a cassette ready. Small bodies move to where they are sent from.
    pub(super) fn of(
        cassette: &mut Cassette,
        made_up: &MadeUp,
        beside: &BTreeMap<String, String>,
    ) -> Self {
        let mut filling = Filling::default();
        let mut all_special = HashMap::new();
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let (origin, path) = target::split(&interaction.request.path);
            let upstream = if origin.is_empty() { &cassette.recorded.upstream } else { origin };
            let servers =
                NamedServers { own: upstream, beside, is_well_known: is_well_known(path) };
            let special = match &interaction.outcome {
                Outcome::Nothing(end) => {
                    let label = Label { special: true, ..Label::default() };
                    filling.put(label, (None, &HeaderMap::new()), b"");
                    Some(Special { nothing: Some(*end), ..Special::default() })
                }
                Outcome::Response(response) => {
                    let large = large::of(&cassette.larges, &response.body.bytes());
                    let asked = interaction.request.headers.get(ACCEPT_ENCODING.as_str());
                    let mut special =
                        put(&mut filling, response, (servers, made_up), large.map(|it| it.1));
                    if let Some(special) = &mut special {
                        special.has_own_coding = !accepts(&header_map(&response.headers), asked);
                    }
                    special
                }
            };
            all_special.extend(special.map(|special| (number, special)));
        }
        let shelf = filling.finish();
        for (number, interaction) in cassette.interactions.iter_mut().enumerate() {
            if let Outcome::Response(cassette::Response { body: Body::Whole(body), .. }) =
                &mut interaction.outcome
                && Shelf::takes(body)
            {
                *body = shelf.get(number).body();
            }
        }
        Self { shelf, special: all_special, plain: Veiled::default() }
    }

    /// The client-minted identifiers that come back in an answer.
    pub(super) fn echoed(&self, number: usize) -> impl Iterator<Item = (Scope, &str)> {
        let special = self.special.get(&number).into_iter();
        special.flat_map(|special| special.echoes.iter().chain(&special.echoed).map(Echo::value))
    }

    /// The placeholders in an answer.
    pub(super) fn veiled(&self, number: usize) -> &Veiled {
        self.special.get(&number).map_or(&self.plain, |special| &special.veiled)
    }

    /// The answer of an interaction, when it is due.
    pub(super) async fn send(&self, number: usize, mut wanted: Wanted<'_>) -> Answer {
        let laid = self.shelf.get(number);
        let special = if laid.label.special { self.special.get(&number) } else { None };
        let plain = wanted.shown.is_some().then(Special::default);
        let special = special.or(plain.as_ref());
        if let Some(end) = special.and_then(|special| special.nothing) {
            if let Some(mut hold) = wanted.hold.take() {
                hold.end().await;
            }
            return no_answer(end, &unanswered(end, wanted.upstream));
        }
        for (ms, status, headers) in special.iter().flat_map(|special| &special.interim) {
            wait_until(wanted.clock.due(*ms)).await;
            wanted.early.iter().for_each(|early| early.say(*status, &wanted.fields(headers)));
        }
        let head = u64::from(laid.label.ms);
        let unheard = special.and_then(|special| special.left).filter(|left| *left < head);
        let stays = unheard.map(|left| Instant::now() + leaving(left));
        wait_until(wanted.clock.due(head).or(stays)).await;
        let mut hold = wanted.hold.take();
        let is_large = special.is_some_and(|special| special.large.is_some());
        let is_sent_at_once = laid.label.in_one || is_large;
        if let Some(hold) = hold.as_mut().filter(|hold| is_sent_at_once || hold.holds_head())
            && hold.whole().await.is_err()
        {
            return no_answer(End::ServerClosed, &unanswered(End::ServerClosed, wanted.upstream));
        }
        Ready { laid, special }.answer(&wanted, hold)
    }
}

impl Answers {
    /// The body of an answer as it is to be by now.
    pub(super) fn body(&self, number: usize, wanted: &Wanted<'_>) -> Body {
        let plain = Special::default();
        let special = Some(self.special.get(&number).unwrap_or(&plain));
        let ready = Ready { laid: self.shelf.get(number), special };
        ready.told(&mut ready.laid.headers(), wanted).into_owned()
    }
}

#[cfg(feature = "wiremock")]
impl Answers {
    /// The answer of an interaction, without what came before it.
    pub(super) fn at_once(&self, number: usize, wanted: &Wanted<'_>) -> Answer {
        let plain = Special::default();
        let special = self.special.get(&number).unwrap_or(&plain);
        match special.nothing {
            Some(end) => no_answer(end, &unanswered(end, wanted.upstream)),
            None => {
                Ready { laid: self.shelf.get(number), special: Some(special) }.answer(wanted, None)
            }
        }
    }
}

impl Wanted<'_> {
    /// The fields of a head as they are to be this time.
    fn fields(&self, headers: &HeaderMap) -> HeaderMap {
        let mut headers = headers.clone();
        rename_fields(&mut headers, self.renamed);
        unveil_fields(&mut headers, self.unveiled);
        self.place.keep_below(&mut headers);
        let outward = self.place.outward(self.upstream, self.beside);
        outward.iter().for_each(|outward| outward.fields(&mut headers));
        headers
    }
}

async fn wait_until(due: Option<Instant>) {
    if let Some(due) = due {
        tokio::time::sleep_until(due).await;
    }
}

/// Puts an answer on the shelf. What does not stand there is given back.
fn put(
    filling: &mut Filling,
    response: &cassette::Response,
    (servers, made_up): (NamedServers<'_>, &MadeUp),
    large: Option<&Large>,
) -> Option<Special> {
    let mut headers = header_map(&response.headers);
    // What only ever is between two peers no cassette needs to say.
    headers.remove(TRANSFER_ENCODING);
    if announced(&headers).is_none() && response.body.is_empty() {
        headers.remove(CONTENT_LENGTH);
    }
    if !response.body.is_empty() {
        correct_length(&mut headers, &response.body, Ending::of(response.end));
    }
    let mut special = Special::of(response, &headers, servers, made_up);
    special.large = large.cloned();
    let is_special = special.is_any(&headers);
    let is_whole = special.ending == Ending::Whole && special.trailers.is_none();
    let label = Label {
        ms: u32::try_from(response.ms).unwrap_or(u32::MAX),
        status: response.status,
        in_one: is_whole && announced(&headers).is_some(),
        special: is_special,
    };
    let body = special.body.is_none().then(|| response.body.bytes());
    filling.put(label, (names(&response.headers), &headers), &body.unwrap_or_default());
    is_special.then_some(special)
}

/// An answer that is due.
struct Ready<'a> {
    laid: Laid<'a>,
    special: Option<&'a Special>,
}

impl Ready<'_> {
    fn answer(&self, wanted: &Wanted<'_>, mut hold: Option<Hold>) -> Answer {
        let mut headers = self.laid.headers();
        let body = self.told(&mut headers, wanted);
        let blow = wanted.blow.as_ref();
        let large = self.special.and_then(|special| special.large.as_ref());
        let spoiled = blow.filter(|_| large.is_none());
        let spoiled = spoiled.and_then(|blow| blow.spoiled(&body, media_of(&headers)));
        // What it has waited for may have brought names.
        let named = hold.as_mut().filter(|_| self.laid.label.in_one && large.is_none());
        let other = spoiled.or_else(|| named.and_then(Hold::named));
        if let Some(body) = &other {
            correct_length(&mut headers, body, Ending::Whole);
        }
        let body = other.as_ref().unwrap_or(&body);
        let mut answer = Response::new(self.framed(&headers, body, wanted, hold));
        answer.extensions_mut().extend(self.laid.spelling.clone());
        if let Some(breaks) = blow.and_then(Blow::breaks) {
            answer.extensions_mut().insert(breaks);
        }
        *answer.status_mut() =
            StatusCode::from_u16(self.laid.label.status).unwrap_or(StatusCode::BAD_GATEWAY);
        *answer.headers_mut() = headers;
        if let Some(reason) = self.special.and_then(|special| special.reason.clone()) {
            answer.extensions_mut().insert(reason);
        }
        answer
    }

    /// The body as it is to be this time, whatever goes wrong with it.
    fn told(&self, headers: &mut HeaderMap, wanted: &Wanted<'_>) -> Cow<'_, Body> {
        let recorded = match self.special.and_then(|special| special.body.as_ref()) {
            Some(body) => Cow::Borrowed(body),
            None => Cow::Owned(Body::Whole(self.laid.body())),
        };
        let changed = self.special.and_then(|it| it.apply(&recorded, headers, wanted));
        let body = changed.map_or(recorded, Cow::Owned);
        match wanted.behind.as_ref().and_then(|point| point.rest(&body)) {
            Some(rest) => Cow::Owned(rest),
            None => body,
        }
    }

    /// The body in the framing of the recording: a length where it was announced, chunks elsewhere.
    fn framed(
        &self,
        headers: &HeaderMap,
        body: &Body,
        wanted: &Wanted<'_>,
        hold: Option<Hold>,
    ) -> AnswerBody {
        // What is held back is counted in recorded pieces.
        let chunking = if hold.is_some() { Chunking::Recorded } else { wanted.chunking };
        let blow = wanted.blow.as_ref();
        let ending = match blow {
            Some(blow) if blow.breaks_off() => Ending::Cut,
            _ => self.special.map_or(Ending::Whole, |special| special.ending),
        };
        let trailers = self.special.and_then(|special| special.trailers.clone());
        if let Some(large) = self.special.and_then(|special| special.large.as_ref()) {
            let stored = Stored::of(large, ending, trailers, announced(headers));
            return AnswerBody::streamed(stored);
        }
        // Over HTTP/2 an answer without a body ends with its header: gRPC takes an empty frame behind that for a
        // broken stream. Over HTTP/1.1 no chunks are still chunks.
        let is_chunked = wanted.early.is_some() || hold.is_some() || trailers.is_some();
        let timed: Vec<(Option<Instant>, Bytes)> = match body {
            Body::Whole(bytes) if self.laid.label.in_one && wanted.blow.is_none() => {
                return full(bytes.clone());
            }
            Body::Whole(bytes) if bytes.is_empty() && !is_chunked && ending == Ending::Whole => {
                return full("");
            }
            Body::Whole(bytes) => vec![(None, bytes.clone())],
            Body::Stream(chunks) => {
                let pieces = in_pieces(headers, chunks, chunking);
                let left = self.special.and_then(|special| special.left);
                let unheard = left.and_then(|left| pieces.iter().position(|(ms, _)| *ms > left));
                let due = |(ms, bytes)| (wanted.clock.due(ms), bytes);
                let mut timed: Vec<_> = pieces.into_iter().map(due).collect();
                if let (Some(at), Some(left)) = (unheard, left) {
                    timed[at].0.get_or_insert_with(|| Instant::now() + leaving(left));
                }
                timed
            }
        };
        let streamed = matches!(body, Body::Stream(_)).then(|| media_of(headers));
        let timed = match blow {
            Some(blow) => blow.pieces(timed, streamed),
            None => timed,
        };
        let is_apart = chunking != Chunking::Recorded || matches!(blow, Some(Blow::Drip(..)));
        AnswerBody::streamed(Played {
            chunks: timed.into_iter(),
            trailers,
            ending,
            hold,
            length: announced(headers),
            apart: is_apart.then_some(Sent::Yes),
            ..Played::default()
        })
    }
}

impl Special {
    fn of(
        response: &cassette::Response,
        headers: &HeaderMap,
        servers: NamedServers<'_>,
        made_up: &MadeUp,
    ) -> Self {
        let reason = response.reason.as_ref();
        let names_servers =
            may_hold_origins(headers) && servers.may_stand_in(&response.readable().bytes());
        let addressed = names_servers || servers.may_stand_in_fields(headers);
        let echoed = response.headers.iter().flat_map(|(_, value)| Echo::in_field(value, made_up));
        let is_laid = matches!(&response.body, Body::Whole(bytes) if Shelf::takes(bytes));
        Self {
            nothing: None,
            interim: response.interim.iter().filter_map(interim).collect(),
            large: None,
            body: (!is_laid).then(|| response.body.clone()),
            reason: reason.and_then(|reason| reason.as_bytes().to_vec().try_into().ok()),
            left: response.left,
            trailers: (!response.trailers.is_empty()).then(|| header_map(&response.trailers)),
            ending: Ending::of(response.end),
            addressed,
            names_servers,
            is_well_known: servers.is_well_known,
            echoes: Echo::all(&response.readable().bytes(), made_up),
            echoed: echoed.collect(),
            veiled: Veiled::of(response),
            has_own_coding: false,
        }
    }

    /// Whether the answer has anything of this, or depends on who asks.
    fn is_any(&self, headers: &HeaderMap) -> bool {
        let asked = [CONTENT_ENCODING, SET_COOKIE];
        self.body.is_some()
            || self.large.is_some()
            || self.reason.is_some()
            || !self.interim.is_empty()
            || self.trailers.is_some()
            || self.left.is_some()
            || self.ending == Ending::Cut
            || self.addressed
            || !(self.echoes.is_empty() && self.echoed.is_empty())
            || !self.veiled.is_empty()
            || asked.iter().chain(&ADDRESSES).any(|name| headers.contains_key(name))
    }

    /// The head as it is to be this time, and the body, if it is another.
    fn apply(&self, recorded: &Body, headers: &mut HeaderMap, wanted: &Wanted<'_>) -> Option<Body> {
        let mut body = None;
        let renamed = !wanted.renamed.is_empty();
        let coding = headers.get(CONTENT_ENCODING).cloned();
        // What is spoiled is an event, not a piece of what is compressed.
        let asked = wanted.headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let is_accepted = wanted.blow.is_none() && (self.has_own_coding || accepts(headers, asked));
        let unveiled = !wanted.unveiled.is_empty();
        let names_us = self.names_servers && wanted.place.origin.is_some();
        let changes = renamed || unveiled || names_us;
        if changes || !is_accepted {
            body = self.decoded(recorded, headers);
        }
        if renamed {
            rename_fields(headers, wanted.renamed);
            let plain = body.unwrap_or_else(|| recorded.clone());
            let lines = is_of_amazon(headers).then(|| plain.lines_of_amazon()).flatten();
            let is_lines = lines.is_some();
            let plain = lines.unwrap_or(plain);
            let shown = wanted.shown.as_ref();
            let shown = shown.map(|shown| Echo::all(&plain.bytes(), shown)).unwrap_or_default();
            let named = wanted.renamed.body(plain, &[&self.echoes[..], &shown].concat());
            body = Some(if is_lines { named.into_amazon() } else { named });
        }
        if unveiled {
            unveil_fields(headers, wanted.unveiled);
            body = Some(wanted.unveiled.body(body.unwrap_or_else(|| recorded.clone())));
        }
        wanted.place.keep_below(headers);
        let outward = || wanted.place.outward(wanted.upstream, wanted.beside);
        if let Some(outward) = self.addressed.then(outward).flatten() {
            outward.fields(headers);
            if self.names_servers && !headers.contains_key(CONTENT_ENCODING) {
                let rewriter = outward.body(self.is_well_known).clone();
                body = Some(rewriter.body(body.as_ref().unwrap_or(recorded)));
            }
        }
        let coding = coding.filter(|_| is_accepted && !headers.contains_key(CONTENT_ENCODING));
        if let Some(encoded) =
            coding.and_then(|coding| self.encoded(body.as_ref()?, coding, headers))
        {
            body = Some(encoded);
        }
        if let Some(body) = body.as_ref().filter(|body| body.bytes() != recorded.bytes()) {
            correct_length(headers, body, self.ending);
            sums_of_body(headers.keys().map(HeaderName::as_str)).iter().for_each(|name| {
                headers.remove(name);
            });
        }
        body
    }

    /// A body that was changed in the coding that it had.
    fn encoded(&self, plain: &Body, coding: HeaderValue, headers: &mut HeaderMap) -> Option<Body> {
        let end = if self.ending == Ending::Whole { End::Complete } else { End::ServerClosed };
        let encoded = plain.encoded(coding.to_str().ok()?, end)?;
        headers.insert(CONTENT_ENCODING, coding);
        Some(encoded)
    }

    /// The body without its coding, for a client that does not take it.
    fn decoded(&self, recorded: &Body, headers: &mut HeaderMap) -> Option<Body> {
        let body = recorded.decoded(headers.get(CONTENT_ENCODING)?.to_str().ok()?)?;
        headers.remove(CONTENT_ENCODING);
        Some(body)
    }
}

/// Whether a body is a stream in Amazon's framing, in which nothing can be exchanged as it is.
fn is_of_amazon(headers: &HeaderMap) -> bool {
    media_of(headers) == Media::Amazon
}

/// How long a client is waited for that left so many milliseconds after its request when it was recorded. One
/// that stays gets what came then.
fn leaving(left: u64) -> Duration {
    Duration::from_millis(left.saturating_add(left.min(5000)).saturating_add(500))
}

/// When each piece of a stream came, and its bytes.
fn in_pieces(headers: &HeaderMap, chunks: &[Chunk], chunking: Chunking) -> Vec<(u64, Bytes)> {
    let is_plain = !headers.contains_key(CONTENT_ENCODING) && announced(headers).is_none();
    let is_events = is_plain && media_of(headers) == Media::EventStream;
    let recorded: Vec<Bytes> = chunks.iter().map(|chunk| chunk.bytes.clone()).collect();
    match chunking.cut(&recorded, is_events) {
        Some(pieces) => pieces.into_iter().map(|(at, bytes)| (chunks[at].ms, bytes)).collect(),
        None => chunks.iter().map(|chunk| (chunk.ms, chunk.bytes.clone())).collect(),
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

/// What came before an answer, unless no client could read it.
fn interim(said: &cassette::Interim) -> Option<(u64, StatusCode, HeaderMap)> {
    Some((said.ms, StatusCode::from_u16(said.status).ok()?, header_map(&said.headers)))
}

fn rename_fields(headers: &mut HeaderMap, renamed: &Renamed) {
    for value in headers.values_mut() {
        let named = value.to_str().ok().and_then(|text| renamed.text(text));
        if let Some(Ok(named)) = named.map(HeaderValue::try_from) {
            *value = named;
        }
    }
}

fn unveil_fields(headers: &mut HeaderMap, unveiled: &Unveiled) {
    for value in headers.values_mut() {
        if let Some(Ok(shown)) =
            unveiled.text(value.as_bytes()).map(|it| HeaderValue::from_bytes(&it))
        {
            *value = shown;
        }
    }
}

/// Whether a client takes the recorded coding. One that says nothing is given what was recorded.
fn accepts(headers: &HeaderMap, accept_encoding: Option<&str>) -> bool {
    let coding = headers.get(CONTENT_ENCODING).and_then(|coding| coding.to_str().ok());
    let (Some(coding), Some(accepted)) = (coding, accept_encoding) else { return true };
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
    if !headers.contains_key(CONTENT_LENGTH) {
        return;
    }
    let there = match body {
        Body::Whole(bytes) => large::length(bytes),
        Body::Stream(_) => body.len() as u64,
    };
    // A length that cannot be read is none: `2, 2`.
    let announced = announced(headers).unwrap_or(there);
    let length = match ending {
        Ending::Whole => there,
        Ending::Cut => announced.max(there + 1),
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_stays_waits_twice_as_long_or_five_seconds_more() {
        let told = [0, 1000, 60_000].map(|left| leaving(left).as_millis());
        assert_eq!(told, [500, 2500, 65_500]);
        assert!(leaving(u64::MAX) >= leaving(60_000));
    }
}
