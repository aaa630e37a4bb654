//! vcrpy, pytest-recording and pydantic-ai (YAML or JSON), and VCR for Ruby and Betamax, which are alike.

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{base64, fields, joined, refused, sides};
use crate::error::Result;
use crate::text::tree::Tree;

/// Where the interactions stand.
const INTERACTIONS: [&str; 2] = ["interactions", "http_interactions"];

fn interactions(file: &Tree) -> Option<&Tree> {
    INTERACTIONS.iter().find_map(|name| file.get(name))
}

/// Whether it is VCR's for Ruby, or Betamax's.
pub(super) fn is_ruby(file: &Tree) -> bool {
    file.get(INTERACTIONS[1]).is_some() && is_it(file)
}

pub(super) fn is_it(file: &Tree) -> bool {
    match interactions(file) {
        Some(Tree::List(items)) => {
            items.iter().all(|it| it.get("request").is_some_and(|it| it.get("uri").is_some()))
        }
        _ => false,
    }
}

pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    interactions(file).map_or(&[][..], Tree::items).iter().collect()
}

pub(super) fn exchange(interaction: &Tree) -> Result<Exchange> {
    let missing = "an interaction has no `request` or no `response`";
    let (request, response) = sides(interaction, missing)?;
    let status = response.get("status");
    let code = status.and_then(|status| status.get("code")).or_else(|| response.get("status_code"));
    let reason = status.and_then(|status| status.text_of("message"));
    Ok(Exchange {
        at: interaction.text_of("recorded_at").map(str::to_owned),
        method: request.text_of("method").unwrap_or("GET").to_owned(),
        url: request.text_of("uri").unwrap_or_default().to_owned(),
        asked: message(request)?,
        // Some recorders wrote the number as a text.
        status: code.and_then(Tree::words).and_then(|code| code.parse().ok()).unwrap_or_default(),
        reason: reason.unwrap_or_default().to_owned(),
        answered: message(response)?,
        ..Exchange::default()
    })
}

pub(super) fn message(side: &Tree) -> Result<HttpMessage> {
    let headers = side.members_of("headers").iter().map(|(name, value)| (name, value));
    Ok(HttpMessage { headers: fields(headers), body: body_of(side)? })
}

/// The body. `parsed_body` is how pydantic-ai keeps JSON: its serializer dumps it when it is played.
/// `content` is how older versions kept the answers of httpx.
fn body_of(side: &Tree) -> Result<Bytes> {
    match side.get("parsed_body") {
        Some(parsed) if *parsed != Tree::Null => Ok(parsed.to_python_json().into()),
        _ => body(side.get("body").or_else(|| side.get("content")).unwrap_or(&Tree::Null)),
    }
}

fn body(tree: &Tree) -> Result<Bytes> {
    Ok(match tree {
        Tree::Null => Bytes::new(),
        Tree::Text(text) => Bytes::copy_from_slice(text.as_bytes()),
        Tree::Bytes(bytes) => Bytes::copy_from_slice(bytes),
        Tree::Number(number) => Bytes::copy_from_slice(number.as_bytes()),
        // What was sent piece by piece.
        Tree::List(pieces) => joined(pieces.iter().map(body))?,
        Tree::Object(_) => return of_object(tree),
        Tree::Bool(_) => return Err(refused("a body is neither text nor bytes")),
    })
}

/// A body with its encoding, or a Python object that had it: a `BytesIO` (its `state` begins with the
/// content) or an iterator (its `args` are the pieces). Nothing of them is executed.
fn of_object(tree: &Tree) -> Result<Bytes> {
    if let Some(text) = tree.text_of("base64_string") {
        return base64(text);
    }
    let inner = tree.get("string").or_else(|| tree.get("state")?.items().first());
    match inner.or_else(|| tree.get("args")?.items().first()) {
        Some(inner) => body(inner),
        None if tree.members().is_empty() || tree.get("encoding").is_some() => Ok(Bytes::new()),
        // aiohttp was given JSON as a value.
        None => Ok(tree.to_python_json().into()),
    }
}
