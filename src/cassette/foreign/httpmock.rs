//! What httpmock recorded: YAML documents with `when` and `then`.

use std::borrow::Cow;

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{base64, fields, refused, with_query};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::form;
use crate::text::tree::Tree;

pub(super) fn is_it(file: &Tree) -> bool {
    let is_mock = |it: &Tree| it.get("when").is_some() && it.get("then").is_some();
    !file.each().is_empty() && file.each().iter().all(is_mock)
}

/// A file has one document, or several.
pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    file.each().iter().collect()
}

pub(super) fn exchange(mock: &Tree) -> Result<Exchange> {
    let [when, then] = ["when", "then"].map(|side| mock.get(side).unwrap_or(&Tree::Null));
    let Some(path) = when.text_of("path") else {
        return Err(refused("a mock has no `path`")
            .with_hint("a cassette says what was asked, not a pattern of it"));
    };
    let query = pairs(when.items_of("query_param"));
    let query = query.filter_map(|(name, value)| Some((name, value.words()?)));
    let origin = match when.text_of("host") {
        Some(host) => format!("{}://{host}", when.text_of("scheme").unwrap_or("http")),
        None => String::new(),
    };
    Ok(Exchange {
        method: when.text_of("method").unwrap_or("GET").to_owned(),
        url: with_query(&(origin + path), &form::encoded(query)),
        asked: HttpMessage { headers: headers(when), body: body(when)? },
        status: then.get("status").and_then(Tree::count).unwrap_or(200),
        answered: HttpMessage { headers: headers(then), body: body(then)? },
        ..Exchange::default()
    })
}

fn headers(side: &Tree) -> Headers {
    fields(pairs(side.items_of("header")))
}

fn pairs(items: &[Tree]) -> impl Iterator<Item = (Cow<'_, str>, &Tree)> {
    items.iter().filter_map(|item| {
        let name = |name| item.get(name).and_then(Tree::words);
        Some((name("name").or_else(|| name("key"))?, item.get("value")?))
    })
}

fn body(side: &Tree) -> Result<Bytes> {
    match (side.text_of("body_base64"), side.get("body"), side.get("json_body")) {
        (Some(text), ..) => base64(text),
        (None, Some(Tree::Text(text)), _) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        (None, Some(value), _) | (None, None, Some(value)) => Ok(value.to_json().into()),
        (None, None, None) => Ok(Bytes::new()),
    }
}
