//! What a test runner changes of a recording before it is saved.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use serde_json::{Map, Value};

use super::gateway::Gateway;
use crate::cassette::{Headers, Request};
use crate::error::{Error, Result};
use crate::serve::recorder::Change;

/// Makes the changes that a JSON text asks for. If one of them cannot be made, none is.
pub(super) fn make(gateway: &Gateway, text: &[u8]) -> Result<()> {
    let changes = read(text)?;
    if changes.is_empty() {
        return Ok(());
    }
    let mut told = Vec::new();
    for (_, tape) in gateway.tapes() {
        told.extend(tape.told()?.into_iter().map(|take| (Arc::clone(&tape), take)));
    }
    if changes.iter().any(|(number, _)| *number >= told.len()) {
        return Err(refused("numbers of what `interactions` says is `recorded`, from 0"));
    }
    for (number, change) in changes {
        let (tape, take) = &told[number];
        tape.change(*take, change);
    }
    Ok(())
}

/// The changes in a JSON text, by the numbers of the interactions; none if there is no text, or `null`.
fn read(text: &[u8]) -> Result<Vec<(usize, Change)>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let all = serde_json::from_slice::<Option<Vec<Map<String, Value>>>>(text);
    let all = all.map_err(|source| refused("a list of JSON objects").because(source))?;
    all.iter().flatten().map(change).collect()
}

fn change(told: &Map<String, Value>) -> Result<(usize, Change)> {
    let number = told.get("interaction").and_then(Value::as_u64);
    let number = number.and_then(|number| usize::try_from(number).ok());
    let number = number.ok_or_else(|| refused("objects with a number `interaction`"))?;
    if told.get("drop") == Some(&Value::Bool(true)) {
        return Ok((number, Change::Drop));
    }
    let request = told.get("request").map(request).transpose()?;
    let response = told.get("response").map(response).transpose()?;
    Ok((number, Change::To { request, response }))
}

fn request(told: &Value) -> Result<Request> {
    let (mut headers, body) = (headers(told)?, body(told)?);
    // What a test runner sees and says is not compressed.
    headers.remove("content-encoding");
    if headers.contains("content-length") {
        headers.set("content-length", body.len().to_string());
    }
    let (method, path) = (text(told, "method")?.to_owned(), text(told, "url")?.to_owned());
    Ok(Request { method, path, headers, body })
}

fn response(told: &Value) -> Result<(u16, Headers, Bytes)> {
    let status = told["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.ok_or_else(|| refused("a `status` in each answer"))?;
    Ok((status, headers(told)?, body(told)?))
}

fn headers(told: &Value) -> Result<Headers> {
    let fields = told["headers"].as_array().into_iter().flatten();
    let pair = |field: &Value| {
        Some((field.get(0)?.as_str()?.to_owned(), field.get(1)?.as_str()?.to_owned()))
    };
    let pairs: Option<Vec<_>> = fields.map(pair).collect();
    let pairs = pairs.ok_or_else(|| refused("pairs of texts in `headers`"))?;
    let mut headers = Headers::new();
    for (name, value) in pairs {
        headers.append(name.to_ascii_lowercase(), value);
    }
    Ok(headers)
}

fn body(told: &Value) -> Result<Bytes> {
    let body = BASE64.decode(text(told, "body")?);
    body.map(Bytes::from).map_err(|source| refused("each `body` as Base64").because(source))
}

fn text<'v>(told: &'v Value, name: &str) -> Result<&'v str> {
    told[name].as_str().ok_or_else(|| refused("texts `method`, `url` and `body`"))
}

fn refused(expected: &'static str) -> Error {
    Error::setting("changes", "this body", expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_changes_nothing_says_so_in_several_ways() {
        for nothing in ["", "null", "[]"] {
            assert!(read(nothing.as_bytes()).expect("changes").is_empty(), "{nothing}");
        }
        assert!(read(b"{}").is_err());
        assert!(read(br#"[{"drop": true}]"#).is_err());
        let dropped = read(br#"[{"interaction": 3, "drop": true}]"#).expect("changes");
        assert!(matches!(dropped[..], [(3, Change::Drop)]));
    }
}
