//! An interaction in the words of the old one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bytes::Bytes;

use super::body::{DecodedBody, same_until_left, settled};
use super::settle::{Render, Settle};
use crate::cassette::{Body, End, Headers, Interaction, Interim, Outcome, Request, Response};
use crate::compare::alignment::{self, FieldMeaning, KnownText, Script, View};
use crate::identity::is_epoch;
use crate::message::telling;
use crate::text::json::Text as Json;
use crate::text::multipart::{ANY_BOUNDARY, boundary, with_boundary};

/// A new interaction beside the old one, if there is one. What was going on when it was asked stays new.
pub(super) fn told(old: Option<&View<'_>>, new: &View<'_>, settle: Settle<'_>) -> Interaction {
    let request = request(old, new, settle);
    settle.times.are_asked();
    let boundaries = [&new.interaction.request, &request].map(|it| boundary_of(&it.headers));
    let outcome = match &new.interaction.outcome {
        Outcome::Response(now) => {
            let mut response = response(old, new, now, settle);
            if let [Some(now), Some(told)] = &boundaries {
                echo_boundary(&mut response, [now, told]);
            }
            Outcome::Response(response)
        }
        Outcome::Nothing(end) => Outcome::Nothing(*end),
    };
    Interaction { after: new.interaction.after.clone(), request, outcome }
}

fn request(old: Option<&View<'_>>, new: &View<'_>, settle: Settle<'_>) -> Request {
    let now = &new.interaction.request;
    let before = old.map(|old| &old.interaction.request);
    let path = match before {
        Some(before) => settle.target(&before.path, &now.path),
        None => settle.named(&now.path).into_owned(),
    };
    let mut headers = fields(before.map(|before| &before.headers), &now.headers, settle);
    // The body of a request is in one piece.
    let bodies = |view: &View<'_>| {
        [&view.interaction.request.body, &view.asked.text].map(|bytes| Body::Whole(bytes.clone()))
    };
    let (olds, news) = (old.map(bodies), bodies(new));
    fn said<'a>(view: &'a View<'_>, [wire, readable]: &'a [Body; 2]) -> DecodedBody<'a> {
        let coding = view.interaction.request.headers.get("content-encoding");
        DecodedBody { wire, readable, script: &view.asked, coding }
    }
    let before = old.zip(olds.as_ref()).map(|(old, bodies)| said(old, bodies));
    let said = said(new, &news);
    let body = settled(before, said, settle, (&mut headers, End::Complete)).bytes();
    let before = old.map(|old| &old.interaction.request.headers);
    let body = with_boundary_of(before, &mut headers, body);
    if let Some(old) = old.map(|old| &old.interaction.request) {
        same_words(&old.headers, &mut headers, |_| true);
        if old.body == body {
            keep_digests(&old.headers, &mut headers);
        }
    }
    Request { method: now.method.clone(), path, headers, body }
}

/// Fields of an answer that list a set.
const SETS: [&str; 5] = [
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-expose-headers",
    "allow",
    "vary",
];

/// Fields that say the same words in another order are told as they were: some clients list sets, such as what
/// they can do (`user-agent: … m/b,E,Z`).
fn same_words(old: &Headers, headers: &mut Headers, may_be_set: impl Fn(&str) -> bool) {
    let words = |value: &Bytes| {
        let words = value.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::to_vec);
        let mut words: Vec<Vec<u8>> = words.collect();
        words.sort_unstable();
        words
    };
    for (name, value) in headers.iter_mut().filter(|(name, _)| may_be_set(name)) {
        let before = old.get_all(name).next();
        if let Some(before) = before.filter(|before| words(before) == words(value)) {
            value.clone_from(before);
        }
    }
}

fn boundary_of(headers: &Headers) -> Option<String> {
    Some(boundary(headers.get("content-type")?)?.into_owned())
}

/// A server that says again how it was asked says the delimiter as it is told in the request.
fn echo_boundary(response: &mut Response, [now, told]: [&str; 2]) {
    if now == told || now.len() != told.len() {
        return;
    }
    let echoed = |bytes: &mut Bytes| {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.contains(now));
        *bytes = text.map_or_else(|| bytes.clone(), |text| text.replace(now, told).into());
    };
    match &mut response.body {
        Body::Whole(bytes) => echoed(bytes),
        Body::Stream(chunks) => chunks.iter_mut().for_each(|chunk| echoed(&mut chunk.bytes)),
    }
    response.headers.iter_mut().for_each(|(_, value)| echoed(value));
}

/// A body whose parts stand between the delimiters of before, if there was one.
fn with_boundary_of(old: Option<&Headers>, headers: &mut Headers, body: Bytes) -> Bytes {
    let Some(new) = boundary_of(headers) else { return body };
    let settled = old.and_then(boundary_of).unwrap_or_else(|| new.clone());
    let named = with_boundary(&with_boundary(&body, ANY_BOUNDARY, &settled), &new, &settled);
    let mut media = headers.get("content-type").unwrap_or_default().to_owned();
    let at = media.to_ascii_lowercase().find("boundary").unwrap_or_default() + "boundary".len();
    if let Some(from) = media.get(at..).and_then(|rest| rest.find(&*new)) {
        media.replace_range(at + from..at + from + new.len(), &settled);
    }
    headers.set("content-type", media);
    announce(headers, body.len(), named.len());
    named.into()
}

fn response(
    old: Option<&View<'_>>,
    new: &View<'_>,
    now: &Response,
    settle: Settle<'_>,
) -> Response {
    let before = old.and_then(|old| old.interaction.response());
    let mut headers = fields(before.map(|before| &before.headers), &now.headers, settle);
    if let Some(before) = before {
        let is_set = |name: &str| SETS.iter().any(|set| name.eq_ignore_ascii_case(set));
        same_words(&before.headers, &mut headers, is_set);
    }
    let (old_readable, readable) = (before.map(Response::readable), now.readable());
    let old_script = old.and_then(|old| old.answered.as_ref());
    let old = before.zip(old_readable.as_deref()).zip(old_script);
    fn said<'a>(it: &'a Response, readable: &'a Body, script: &'a Script) -> DecodedBody<'a> {
        DecodedBody { wire: &it.body, readable, script, coding: it.headers.get("content-encoding") }
    }
    let old = old.map(|((it, readable), script)| said(it, readable, script));
    let lefts = before.and_then(|before| before.left_of_cut().zip(now.left_of_cut()));
    let body = match &new.answered {
        Some(script) => {
            let new = said(now, &readable, script);
            match (old, lefts) {
                (Some(old), Some((was, is))) if same_until_left((old, was), (new, is)) => {
                    old.wire.clone()
                }
                _ => settled(old, new, settle, (&mut headers, now.end)),
            }
        }
        None => now.body.clone(),
    };
    let same = before.filter(|before| before.body.bytes() == body.bytes());
    if let Some(before) = same {
        keep_digests(&before.headers, &mut headers);
    }
    // Who has heard all may leave a moment before the end.
    let is_complete =
        now.end == End::ClientClosed && same.is_some_and(|it| it.end == End::Complete);
    Response {
        ms: before.unwrap_or(now).ms,
        status: now.status,
        reason: now.reason.clone(),
        headers,
        body,
        interim: interim(before.map_or(&[], |before| &before.interim), &now.interim, settle),
        trailers: fields(before.map(|before| &before.trailers), &now.trailers, settle),
        frames: now.frames.clone(),
        left: match (before.and_then(|before| before.left), now.left) {
            (Some(was), Some(_)) => Some(was),
            (was, _) if same.is_some_and(|before| left_alike(before, now)) => was,
            (_, is) => is,
        },
        end: if is_complete { End::Complete } else { now.end },
    }
}

/// Whether of two clients that were sent the same, one left a moment before the other was sent the end.
fn left_alike(before: &Response, now: &Response) -> bool {
    /// What is sent within so many milliseconds is on its way when a client leaves.
    const MOMENT: u64 = 500;
    let is_moment = |response: &Response| {
        let last = response.body.chunks().last().map_or(response.ms, |last| last.ms);
        response.left.is_none_or(|left| last.saturating_sub(left) <= MOMENT)
    };
    is_moment(before) && is_moment(now)
}

impl Response {
    /// When its client left, if the server was still speaking when it was not read on.
    fn left_of_cut(&self) -> Option<u64> {
        self.left.filter(|_| self.end == End::ClientClosed)
    }
}

/// What is said before an answer, beside what was said there.
fn interim(before: &[Interim], now: &[Interim], settle: Settle<'_>) -> Vec<Interim> {
    let before = before.iter().map(Some).chain(std::iter::repeat(None));
    let settled = now.iter().zip(before).map(|(now, before)| Interim {
        ms: before.unwrap_or(now).ms,
        status: now.status,
        headers: fields(before.map(|before| &before.headers), &now.headers, settle),
    });
    settled.collect()
}

/// Fields that tell of one transfer and not of what is transferred.
const OF_TRANSFER: [&str; 10] = [
    "age",
    "cf-ray",
    "date",
    "expires",
    "last-modified",
    "server-timing",
    "x-amz-cf-id",
    "x-amzn-trace-id",
    "x-runtime",
    "x-timer",
];

/// What comes last in the names of fields that say how long an answer took.
const TOOK: [&str; 7] = [
    "duration-ms",
    "latency-ms",
    "process-time",
    "processing-ms",
    "processing-time",
    "response-time",
    "service-time",
];

/// What the names of fields hold that say a digest of the body: `etag`, `content-md5`, `x-amz-checksum-crc32`.
const OF_BODY: [&str; 7] = ["checksum", "crc32", "digest", "etag", "hash", "md5", "sha256"];

/// Fields that say an `ETag` again.
const OF_ETAG: [&str; 3] = ["if-match", "if-none-match", "if-range"];

/// Whether both are numbers, or neither is: what is left is no number where there is no limit any more. A number of
/// seconds is no time.
fn are_written_alike(old: &[u8], new: &[u8]) -> bool {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.trim().parse::<f64>().ok();
    match (number(old), number(new)) {
        (Some(old), Some(new)) => is_epoch(&old.to_string()) == is_epoch(&new.to_string()),
        (None, None) => true,
        _ => false,
    }
}

/// A digest of what is told as it was is told as it was.
fn keep_digests(old: &Headers, headers: &mut Headers) {
    for (name, value) in headers.iter_mut() {
        let name = name.to_ascii_lowercase();
        let text = |value| std::str::from_utf8(value).unwrap_or_default();
        let before =
            old.get_all(&name).next().filter(|_| OF_BODY.iter().any(|it| name.contains(it)));
        if let Some(before) = before.filter(|before| form(text(before)) == form(text(value))) {
            value.clone_from(before);
        }
    }
}

/// How a digest is written: weak, quoted, by which algorithm (`sha-256=…`).
fn form(digest: &str) -> (bool, bool, Option<&str>) {
    const LONGEST: usize = 12;
    // What Base64 ends with names none.
    let algorithm = digest.trim_end_matches('=').split_once('=').map(|(algorithm, _)| algorithm);
    let algorithm = algorithm.filter(|it| it.len() <= LONGEST && !it.contains('"'));
    (digest.starts_with("W/"), digest.ends_with('"'), algorithm)
}

/// The `ETag` of an answer.
pub(super) fn etag(interaction: &Interaction) -> Option<&Bytes> {
    interaction.response()?.headers.get_all("etag").next()
}

/// Each `ETag` of a recording that is told in other words. What is one before and now, and is told as several, or the
/// other way round, is told as it is: it says when a thing was another one.
pub(super) fn told_etags(all: &mut [(&Interaction, &mut Interaction)]) -> HashMap<Bytes, Bytes> {
    let both = |(new, told): &(&Interaction, &mut Interaction)| {
        Some((etag(new)?.clone(), etag(told)?.clone()))
    };
    let pairs: HashSet<(Bytes, Bytes)> = all.iter().filter_map(both).collect();
    let mut counts: [HashMap<&Bytes, usize>; 2] = Default::default();
    for (now, old) in &pairs {
        *counts[0].entry(now).or_default() += 1;
        *counts[1].entry(old).or_default() += 1;
    }
    let are_one = |(now, old): &(Bytes, Bytes)| counts[0][now] == 1 && counts[1][old] == 1;
    for it in all.iter_mut() {
        if let (Some(pair), Outcome::Response(told)) =
            (both(it).filter(|it| !are_one(it)), &mut it.1.outcome)
        {
            let mut fields = told.headers.iter_mut();
            let etag = fields.find(|(name, _)| name.eq_ignore_ascii_case("etag"));
            etag.into_iter().for_each(|(_, value)| value.clone_from(&pair.0));
        }
    }
    let told = all.iter().filter_map(both).filter(|(now, old)| now != old);
    told.collect()
}

/// The client comes back with an `ETag` that is told as it was. By what it is in the new recording.
pub(super) fn same_etags(old: &HashMap<Bytes, Bytes>, request: &mut Request) {
    for (name, value) in request.headers.iter_mut() {
        let is_etag = OF_ETAG.iter().any(|of| of.eq_ignore_ascii_case(name));
        if let Some(old) = old.get(value).filter(|_| is_etag) {
            value.clone_from(old);
        }
    }
}

/// New fields, with the old values where they may stay.
fn fields(old: Option<&Headers>, new: &Headers, settle: Settle<'_>) -> Headers {
    let none = Headers::new();
    let fields = alignment::fields(old.unwrap_or(&none), new);
    let settled = fields.map(|(name, value, old)| {
        let field = FieldMeaning::of(&name.to_ascii_lowercase());
        let text = |value| std::str::from_utf8(value).ok().map(|text| KnownText::new(text, field));
        let settled = match (old, old.and_then(|old| text(old)), text(value)) {
            (Some(old), ..)
                if is_of_transfer(&name.to_ascii_lowercase(), value)
                    && are_written_alike(old, value) =>
            {
                old.clone()
            }
            (Some(told), Some(old), Some(new)) if is_challenge_again(name, old.text, new.text) => {
                told.clone()
            }
            (_, Some(old), Some(new)) => {
                let quoted = quoted_as(old.text, new.text);
                let new = KnownText::new(quoted.as_deref().unwrap_or(new.text), new.field);
                json(old.text, new.text, settle)
                    .unwrap_or_else(|| settle.text(old, new).into_owned())
                    .into()
            }
            (.., Some(new)) => settle.named(new.text).into_owned().into(),
            _ => value.clone(),
        };
        (name, settled)
    });
    let mut settled: Vec<_> = settled.collect();
    // Fields of different names mean the same in any order, and some clients have them in a random one.
    let mut names: Vec<&str> = settled.iter().map(|(name, _)| &**name).collect();
    let before: Vec<&str> = old.into_iter().flat_map(Headers::iter).map(|(name, _)| name).collect();
    let mut olds = before.clone();
    names.sort_unstable();
    olds.sort_unstable();
    if names == olds {
        let place = |name: &str| before.iter().position(|other| *other == name);
        settled.sort_by_key(|(name, _)| place(name));
    }
    settled.into_iter().collect()
}

/// Whether a server asks for the same login by digest. It draws two of its parameters anew each time (RFC 7616,
/// section 3.3).
fn is_challenge_again(name: &str, old: &str, new: &str) -> bool {
    let without = |text: &str, drawn: &str| {
        let (before, rest) = text.split_once(drawn)?;
        let (_, behind) = rest.split_once('"')?;
        Some(format!("{before}{behind}"))
    };
    let asked = |text: &str| {
        let text = without(text, " nonce=\"")?;
        Some(without(&text, " opaque=\"").unwrap_or(text))
    };
    let is_by_digest =
        |text: &str| text.get(..7).is_some_and(|it| it.eq_ignore_ascii_case("Digest "));
    let is_challenge = ["www-authenticate", "proxy-authenticate"]
        .iter()
        .any(|challenge| name.eq_ignore_ascii_case(challenge));
    is_challenge && is_by_digest(old) && asked(old).is_some() && asked(old) == asked(new)
}

/// The value of a field that is JSON, as those in which clients say how the request before went, value by value.
fn json(old: &str, new: &str, settle: Settle<'_>) -> Option<String> {
    let scripts =
        [old, new].map(|text| Script::of_message(Bytes::copy_from_slice(text.as_bytes())));
    let [before, now] = &scripts;
    let is_json = |text: &str| Json::parse_container(text.as_bytes()).is_some();
    let ([before], [now]) = (&before.records[..], &now.records[..]) else { return None };
    let render = Render { settle, new, out: String::new() };
    (is_json(old) && is_json(new)).then(|| render.record(Some((old, before)), now))
}

/// A field with its secrets in quotes where they were: whether one needs them is a matter of its letters.
fn quoted_as(old: &str, new: &str) -> Option<String> {
    const BEGIN: &str = "[redacted:";
    let pieces = |text: &str| -> Vec<(bool, Range<usize>)> {
        let found = text.match_indices(BEGIN).filter_map(|(start, _)| {
            let end = start + text[start..].find(']')? + 1;
            let is_quoted = text[..start].ends_with('"') && text[end..].starts_with('"');
            let quotes = usize::from(is_quoted);
            Some((is_quoted, start - quotes..end + quotes))
        });
        found.collect()
    };
    let (olds, news) = (pieces(old), pieces(new));
    if olds.len() != news.len() || olds.iter().zip(&news).all(|(old, new)| old.0 == new.0) {
        return None;
    }
    let (mut quoted, mut rest) = (String::new(), 0);
    for ((was_quoted, _), (_, range)) in olds.into_iter().zip(news) {
        let secret = new[range.clone()].trim_matches('"');
        let quote = if was_quoted { "\"" } else { "" };
        quoted.extend([&new[rest..range.start], quote, secret, quote]);
        rest = range.end;
    }
    quoted.push_str(&new[rest..]);
    Some(quoted)
}

fn is_of_transfer(name: &str, value: &[u8]) -> bool {
    let is_number = || value.first().is_some_and(u8::is_ascii_digit);
    OF_TRANSFER.contains(&name)
        || (TOOK.iter().any(|end| name.ends_with(end)) && is_number())
        || (telling::is_limit(name) && (name.contains("remaining") || name.contains("reset")))
}

/// An announced length that was right before is right afterwards.
pub(super) fn announce(headers: &mut Headers, before: usize, now: usize) {
    let announced = headers.get("content-length").and_then(|length| length.trim().parse().ok());
    if before != now && announced == Some(before) {
        headers.set("content-length", now.to_string());
    }
}
