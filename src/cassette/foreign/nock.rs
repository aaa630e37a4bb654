//! What nock recorded.

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{fields, joined, refused};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::tree::Tree;

pub(super) fn is_it(file: &Tree) -> bool {
    let is_definition = |it: &Tree| it.get("scope").is_some() && it.get("path").is_some();
    !file.items().is_empty() && file.items().iter().all(is_definition)
}

pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    file.items().iter().collect()
}

pub(super) fn exchange(definition: &Tree) -> Result<Exchange> {
    let part = |name| definition.text_of(name).unwrap_or_default();
    let headers = definition.get("rawHeaders").or_else(|| definition.get("headers"));
    let answered = header(headers);
    // What was compressed, or no text, stands there in hexadecimal digits.
    let is_binary = definition.get("responseIsBinary") == Some(&Tree::Bool(true))
        || answered.contains("content-encoding");
    Ok(Exchange {
        method: definition.text_of("method").unwrap_or("GET").to_owned(),
        url: format!("{}{}", part("scope"), part("path")),
        asked: HttpMessage {
            headers: header(definition.get("reqheaders")),
            body: body(definition.get("body"), false)?,
        },
        status: definition.get("status").and_then(Tree::count).unwrap_or(200),
        answered: HttpMessage {
            body: body(definition.get("response"), is_binary)?,
            headers: answered,
        },
        ..Exchange::default()
    })
}

fn body(value: Option<&Tree>, is_binary: bool) -> Result<Bytes> {
    Ok(match value {
        None | Some(Tree::Null) => Bytes::new(),
        Some(Tree::Text(digits)) if is_binary => hexadecimal(digits)?,
        Some(Tree::List(pieces)) if is_binary => {
            joined(pieces.iter().filter_map(Tree::text).map(hexadecimal))?
        }
        Some(Tree::Text(text)) => Bytes::copy_from_slice(text.as_bytes()),
        Some(value) => value.to_json().into(),
    })
}

fn hexadecimal(digits: &str) -> Result<Bytes> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    bytes.map(Bytes::from).ok_or_else(|| refused("a body is not hexadecimal"))
}

/// Names and values in turn, or an object of them.
fn header(tree: Option<&Tree>) -> Headers {
    let (pairs, members) = tree.map_or_else(Default::default, |it| (it.items(), it.members()));
    let pairs = pairs.chunks_exact(2).map(|it| (it[0].text().unwrap_or_default(), &it[1]));
    fields(pairs.chain(members.iter().map(|(name, value)| (name.as_str(), value))))
}
