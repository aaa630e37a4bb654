//! An interaction in the words of the old one.

use bytes::Bytes;

use super::body::{self, Said};
use super::settle::Settle;
use crate::cassette::{Body, Headers, Interaction, Outcome, Request, Response};
use crate::compare::alignment::{self, Field, Said as Text, Script, View};

/// A new interaction beside the old one. What was going on when it was asked stays new.
pub(super) fn both(old: &View<'_>, new: &View<'_>, settle: Settle<'_>) -> Interaction {
    let request = request(Some(old), new, settle);
    let outcome = match (&old.interaction.outcome, &new.interaction.outcome) {
        (Outcome::Response(before), Outcome::Response(now)) => {
            let mut response =
                response((Some((before, &old.answered)), now), &new.answered, settle);
            response.ms = before.ms;
            Outcome::Response(response)
        }
        (_, Outcome::Response(now)) => {
            Outcome::Response(response((None, now), &new.answered, settle))
        }
        (_, Outcome::Nothing(end)) => Outcome::Nothing(*end),
    };
    Interaction { after: new.interaction.after.clone(), request, outcome }
}

/// A new interaction that has none beside it.
pub(super) fn alone(new: &View<'_>, settle: Settle<'_>) -> Interaction {
    let outcome = match &new.interaction.outcome {
        Outcome::Response(now) => Outcome::Response(response((None, now), &new.answered, settle)),
        Outcome::Nothing(end) => Outcome::Nothing(*end),
    };
    let request = request(None, new, settle);
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
    let [wire, readable] = [&now.body, &new.asked.text].map(whole);
    let said = Said { wire: &wire, readable: &readable, script: &new.asked };
    let body = match old {
        Some(old) => {
            let [wire, readable] = [&old.interaction.request.body, &old.asked.text].map(whole);
            let before = Said { wire: &wire, readable: &readable, script: &old.asked };
            body::both(before, said, settle, &mut headers)
        }
        None => body::alone(said, settle, &mut headers),
    };
    Request { method: now.method.clone(), path, headers, body: body.bytes() }
}

/// The body of a request, which is in one piece.
fn whole(bytes: &Bytes) -> Body {
    Body::Whole(bytes.clone())
}

/// An answer, and what it says.
type Answer<'a> = (&'a Response, &'a Option<Script>);

fn response(
    (old, now): (Option<Answer<'_>>, &Response),
    script: &Option<Script>,
    settle: Settle<'_>,
) -> Response {
    let mut headers = fields(old.map(|(old, _)| &old.headers), &now.headers, settle);
    let readable = now.readable();
    let body = match (old, script) {
        (Some((before, Some(old))), Some(new)) => {
            let old_readable = before.readable();
            let old = Said { wire: &before.body, readable: &old_readable, script: old };
            let new = Said { wire: &now.body, readable: &readable, script: new };
            body::both(old, new, settle, &mut headers)
        }
        (_, Some(new)) => {
            let new = Said { wire: &now.body, readable: &readable, script: new };
            body::alone(new, settle, &mut headers)
        }
        (_, None) => now.body.clone(),
    };
    let trailers = fields(old.map(|(old, _)| &old.trailers), &now.trailers, settle);
    Response {
        ms: now.ms,
        status: now.status,
        reason: now.reason.clone(),
        headers,
        body,
        trailers,
        end: now.end,
    }
}

/// Fields that tell of one transfer and not of what is transferred.
const OF_TRANSFER: [&str; 14] = [
    "age",
    "cf-ray",
    "date",
    "expires",
    "last-modified",
    "openai-processing-ms",
    "server-timing",
    "x-amz-cf-id",
    "x-amzn-trace-id",
    "x-envoy-upstream-service-time",
    "x-process-time",
    "x-response-time",
    "x-runtime",
    "x-timer",
];

/// New fields, with the old values where they may stay.
fn fields(old: Option<&Headers>, new: &Headers, settle: Settle<'_>) -> Headers {
    let none = Headers::new();
    let fields = alignment::fields(old.unwrap_or(&none), new);
    let settled = fields.map(|(name, value, old)| {
        let field = Field::of(name);
        let text = |value| std::str::from_utf8(value).ok().map(|text| Text { text, field });
        let settled = match (old, old.and_then(|old| text(old)), text(value)) {
            (Some(old), ..) if is_of_transfer(&name.to_ascii_lowercase()) => old.clone(),
            (_, Some(old), Some(new)) => settle.text(old, new).into_owned().into(),
            (.., Some(new)) => settle.named(new.text).into_owned().into(),
            _ => value.clone(),
        };
        (name, settled)
    });
    settled.collect()
}

fn is_of_transfer(name: &str) -> bool {
    OF_TRANSFER.contains(&name)
        || (name.contains("ratelimit") && (name.contains("remaining") || name.contains("reset")))
}

/// An announced length that was right before is right afterwards.
pub(super) fn announce(headers: &mut Headers, before: usize, now: usize) {
    let announced = headers.get("content-length").and_then(|length| length.trim().parse().ok());
    if before != now && announced == Some(before) {
        headers.set("content-length", now.to_string());
    }
}
