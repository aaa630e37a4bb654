//! Applying rules and found secrets to the parts of an interaction.

use super::rule::{Notes, Rule, Side};
use super::secrets::Searcher;
use super::{Redactor, Secrets, body, header, url};
use crate::cassette::splice::{Edit, in_order, splice};
use crate::cassette::{Body, Cassette, Frame, Headers, Media, Outcome, Peer, Request, Response};

/// Applies the rules to a request, and replaces what they found wherever else it stands in it.
pub(super) fn request(redactor: &Redactor, request: &mut Request, secrets: &mut Secrets) {
    let own = rules(redactor, request);
    if !own.is_empty() {
        known(redactor, request, &own.searcher());
    }
    secrets.extend(own);
}

/// Applies the rules to a request and gives what they found.
pub(super) fn rules(redactor: &Redactor, request: &mut Request) -> Secrets {
    let mut own = rules_of_head(redactor, request);
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    let content_type = content_type(&request.headers);
    edit_request_body(request, |text| body::find(text, content_type.as_deref(), &mut notes));
    own
}

/// Applies the rules to all of a request but its body, and gives what they found.
pub(super) fn rules_of_head(redactor: &Redactor, request: &mut Request) -> Secrets {
    let mut own = Secrets::default();
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    edit_text(&mut request.path, |text| target(text, &mut notes));
    header::redact(&mut request.headers, &mut notes);
    own
}

/// Replaces secrets that were found, wherever they stand in a request.
pub(super) fn known(redactor: &Redactor, request: &mut Request, searcher: &Searcher) {
    if redactor.applies(Rule::Values) && !searcher.is_empty() {
        known_in_request(searcher, request);
    }
}

/// Applies the rules to an answer.
pub(super) fn response(redactor: &Redactor, response: &mut Response, secrets: &mut Secrets) {
    let mut notes = Notes { redactor, side: Side::Response, secrets };
    header::redact(&mut response.headers, &mut notes);
    header::redact(&mut response.trailers, &mut notes);
    let content_type = content_type(&response.headers);
    edit_body(&mut response.headers, &mut response.body, |text| {
        body::find(text, content_type.as_deref(), &mut notes)
    });
}

/// Applies the rules to a frame of a WebSocket, which is read like a body.
fn frame(redactor: &Redactor, frame: &mut Frame, secrets: &mut Secrets) {
    let side = if frame.from == Peer::Client { Side::Request } else { Side::Response };
    let mut notes = Notes { redactor, side, secrets };
    edit_frame(frame, |text| body::find(text, None, &mut notes));
}

fn edit_frame(frame: &mut Frame, find: impl FnOnce(&[u8]) -> Vec<Edit>) {
    if let Some(message) = frame.message() {
        let edits = in_order(find(message));
        if !edits.is_empty() {
            let (ms, edited) = (frame.ms, splice(message, &edits).into());
            *frame = frame.clone().saying(ms, edited);
        }
    }
}

/// Applies the rules to all interactions, and replaces what they found in any of them in all of them.
pub(super) fn cassette(redactor: &Redactor, cassette: &mut Cassette) {
    let mut secrets = Secrets::default();
    for interaction in &mut cassette.interactions {
        request(redactor, &mut interaction.request, &mut secrets);
        if let Outcome::Response(answer) = &mut interaction.outcome {
            response(redactor, answer, &mut secrets);
            answer.frames.iter_mut().for_each(|it| frame(redactor, it, &mut secrets));
        }
    }
    if let Some(range) = url::userinfo(&cassette.recorded.upstream) {
        cassette.recorded.upstream.replace_range(range.start..=range.end, "");
    }
    if !redactor.applies(Rule::Values) || secrets.is_empty() {
        return;
    }
    let searcher = secrets.searcher();
    cassette.recorded.server.iter_mut().for_each(|server| known_in_text(&searcher, server));
    known_in_text(&searcher, &mut cassette.recorded.upstream);
    for interaction in &mut cassette.interactions {
        known_in_request(&searcher, &mut interaction.request);
        if let Outcome::Response(answer) = &mut interaction.outcome {
            known_in_response(&searcher, answer);
            for frame in &mut answer.frames {
                edit_frame(frame, |text| searcher.edits_of_body(text));
            }
        }
    }
}

pub(super) fn target(target: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    if target.contains(['?', '@']) { url::find(target, notes) } else { Vec::new() }
}

/// Applies edits to a text in place.
pub(super) fn edit_text(text: &mut String, find: impl FnOnce(&str) -> Vec<Edit>) {
    let edits = find(text);
    if !edits.is_empty() {
        *text = String::from_utf8_lossy(&splice(text.as_bytes(), &edits)).into_owned();
    }
}

fn content_type(headers: &Headers) -> Option<String> {
    headers.get("content-type").map(str::to_owned)
}

fn known_in_request(searcher: &Searcher, request: &mut Request) {
    known_in_text(searcher, &mut request.path);
    known_in_headers(searcher, &mut request.headers);
    edit_request_body(request, |text| searcher.edits_of_body(text));
}

fn known_in_response(searcher: &Searcher, response: &mut Response) {
    response.reason.iter_mut().for_each(|reason| known_in_text(searcher, reason));
    known_in_headers(searcher, &mut response.headers);
    known_in_headers(searcher, &mut response.trailers);
    edit_body(&mut response.headers, &mut response.body, |text| searcher.edits_of_body(text));
}

fn known_in_text(searcher: &Searcher, text: &mut String) {
    edit_text(text, |text| searcher.edits(text.as_bytes()));
}

fn known_in_headers(searcher: &Searcher, headers: &mut Headers) {
    for (_, value) in headers.iter_mut() {
        let edits = searcher.edits(value);
        if !edits.is_empty() {
            *value = splice(value, &edits).into();
        }
    }
}

fn edit_request_body(request: &mut Request, find: impl FnOnce(&[u8]) -> Vec<Edit>) {
    if request.body.is_empty() {
        return;
    }
    let mut body = Body::Whole(std::mem::take(&mut request.body));
    edit_body(&mut request.headers, &mut body, find);
    request.body = body.bytes();
}

/// Applies edits to what a body says. A compressed body with a secret in it is stored as what it
/// says; one without stays as it is.
fn edit_body(headers: &mut Headers, body: &mut Body, find: impl FnOnce(&[u8]) -> Vec<Edit>) {
    let wire = body.bytes();
    let plain = headers
        .get("content-encoding")
        .filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"))
        .and_then(|coding| body.decoded(coding))
        // What only says that it is compressed is looked at as it is.
        .filter(|plain| !plain.is_empty());
    let lines = (Media::of_headers(headers) == Media::Amazon)
        .then(|| plain.as_ref().unwrap_or(body).lines_of_amazon())
        .flatten();
    let said = lines.as_ref().or(plain.as_ref());
    let edits = in_order(find(&said.map_or_else(|| wire.clone(), Body::bytes)));
    if edits.is_empty() {
        return;
    }
    if plain.is_some() {
        headers.remove("content-encoding");
    }
    if let Some(mut lines) = lines {
        lines.splice(&edits);
        *body = lines.into_amazon();
    } else {
        *body = plain.unwrap_or_else(|| std::mem::take(body));
        body.splice(&edits);
    }
    let announced = headers.get("content-length").and_then(|length| length.trim().parse().ok());
    if announced == Some(wire.len()) && body.len() != wire.len() {
        headers.set("content-length", body.len().to_string());
    }
}
