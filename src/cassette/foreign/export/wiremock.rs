//! Mappings of WireMock.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use serde_json::{Map, Value, json};

use super::{LossCounts, lose, lose_of_answer};
use crate::cassette::placeholder::OPENING;
use crate::cassette::{
    Body, Cassette, Headers, Interaction, Media, Name, Outcome, Request, Response, target, text,
};

/// One file with all mappings.
pub(super) fn write(cassettes: &[(Name, Cassette)], lost: &mut LossCounts) -> String {
    let mut mappings = Vec::new();
    for (name, cassette) in cassettes {
        let sockets = cassette.interactions.iter().filter(|it| it.is_socket());
        sockets.for_each(|_| lose(lost, "WebSockets"));
        let answered = cassette.interactions.iter().filter(|it| !it.is_socket());
        let asked: Vec<(&Interaction, Value)> =
            answered.map(|it| (it, request(&it.request, lost))).collect();
        let mut repeats: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, (_, request)) in asked.iter().enumerate() {
            repeats.entry(request.to_string()).or_default().push(number);
        }
        for (number, (interaction, request)) in asked.into_iter().enumerate() {
            let mut mapping = json!({"response": response(&interaction.outcome, lost)});
            let same = repeats.get(&request.to_string()).filter(|same| same.len() > 1);
            if let Some(same) = same {
                in_turn(&mut mapping, name, same, number);
            }
            mapping["request"] = request;
            mappings.push(mapping);
        }
    }
    format!("{:#}\n", json!({"mappings": mappings}))
}

/// The same request gets one answer after the other; the last one stays.
fn in_turn(mapping: &mut Value, cassette: &Name, same: &[usize], number: usize) {
    let state = |before: usize| match before {
        0 => "Started".to_owned(),
        before => format!("answer {}", before + 1),
    };
    let before = same.partition_point(|it| *it < number);
    mapping["scenarioName"] = json!(format!("{cassette}, request {}", same[0] + 1));
    mapping["requiredScenarioState"] = json!(state(before));
    if before + 1 < same.len() {
        mapping["newScenarioState"] = json!(state(before + 1));
    }
}

fn request(request: &Request, lost: &mut LossCounts) -> Value {
    let (origin, path) = target::split(&request.path);
    let mut pattern = json!({"method": request.method, "url": path});
    if let Some(host) = origin.parse::<Uri>().ok().as_ref().and_then(Uri::host) {
        pattern["host"] = json!({"equalTo": host});
    }
    if path.contains(OPENING) {
        lose(lost, "secrets in addresses: nothing matches them (requests)");
    }
    if let Some(body) = body_pattern(request, lost) {
        pattern["bodyPatterns"] = json!([body]);
    }
    pattern
}

fn body_pattern(request: &Request, lost: &mut LossCounts) -> Option<Value> {
    if request.body.is_empty() {
        return None;
    }
    let body = request.readable();
    let Ok(plain) = std::str::from_utf8(&body) else {
        return Some(json!({"binaryEqualTo": STANDARD.encode(&request.body)}));
    };
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(plain) {
        // As a value, numbers might change.
        let pattern = if plain.contains(OPENING) { any_secret(value) } else { json!(plain) };
        return Some(json!({"equalToJson": pattern}));
    }
    let is_multipart = Media::of_headers(&request.headers) == Media::Multipart;
    if plain.contains(OPENING) || is_multipart {
        lose(lost, "bodies with a secret or a boundary: any matches (requests)");
        return None;
    }
    Some(json!({"equalTo": plain}))
}

/// A text with a secret matches any text.
fn any_secret(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains(OPENING) => json!("${json-unit.any-string}"),
        Value::Array(items) => items.into_iter().map(any_secret).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, any_secret(value)));
            Value::Object(members.collect())
        }
        other => other,
    }
}

fn response(outcome: &Outcome, lost: &mut LossCounts) -> Value {
    let response = match outcome {
        Outcome::Response(response) => response,
        // The connection is closed with no answer.
        Outcome::Nothing(_) => return json!({"fault": "EMPTY_RESPONSE"}),
    };
    lose_of_answer(response, lost);
    let mut told = json!({"status": response.status, "headers": fields(&response.headers)});
    if let Some(reason) = &response.reason {
        told["statusMessage"] = json!(reason);
    }
    let bytes = response.body.bytes();
    match std::str::from_utf8(&bytes) {
        Ok("") => {}
        Ok(text) => told["body"] = json!(text),
        Err(_) => told["base64Body"] = json!(STANDARD.encode(&bytes)),
    }
    if let Some(pieces) = pieces(response) {
        told["chunkedDribbleDelay"] = pieces;
    }
    told
}

/// WireMock cuts a body into pieces of one length.
fn pieces(response: &Response) -> Option<Value> {
    let Body::Stream(chunks) = &response.body else { return None };
    let (first, last) = (chunks.first()?, chunks.last()?);
    // Times that somebody has edited may go back.
    let time = last.ms.saturating_sub(first.ms);
    (time > 0).then(|| json!({"numberOfChunks": chunks.len(), "totalDuration": time}))
}

/// The fields; one that is repeated has a list of values.
fn fields(headers: &Headers) -> Value {
    let mut fields = Map::new();
    for (name, _) in headers.iter() {
        let mut values: Vec<Value> = headers.get_all(name).map(|it| json!(text(it))).collect();
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        fields.insert(name.to_owned(), value);
    }
    Value::Object(fields)
}
