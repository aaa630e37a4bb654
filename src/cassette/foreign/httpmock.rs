//! What httpmock recorded: YAML documents with `when` and `then`.

use bytes::Bytes;

use super::exchange::{Exchange, Message};
use super::{base64, refused};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::percent;
use crate::text::tree::Tree;

/// A file with one document, or with several.
fn documents(file: &Tree) -> &[Tree] {
    match file {
        Tree::List(documents) => documents,
        one => std::slice::from_ref(one),
    }
}

pub(super) fn is_it(file: &Tree) -> bool {
    let is_mock = |it: &Tree| it.get("when").is_some() && it.get("then").is_some();
    !documents(file).is_empty() && documents(file).iter().all(is_mock)
}

pub(super) fn read(file: &Tree) -> Result<Vec<Exchange>> {
    documents(file).iter().map(exchange).collect()
}

fn exchange(mock: &Tree) -> Result<Exchange> {
    let empty = Tree::Null;
    let when = mock.get("when").unwrap_or(&empty);
    let then = mock.get("then").unwrap_or(&empty);
    let Some(path) = when.text_of("path") else {
        return Err(refused("a mock has no `path`")
            .with_hint("a cassette says what was asked, not a pattern of it"));
    };
    let pairs = pairs(when.get("query_param"));
    let pair = |(name, value): &(String, String)| {
        format!("{}={}", percent::encoded(name), percent::encoded(value))
    };
    let query = pairs.iter().map(pair).collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    let origin = match when.text_of("host") {
        Some(host) => format!("{}://{host}", when.text_of("scheme").unwrap_or("http")),
        None => String::new(),
    };
    Ok(Exchange {
        at: None,
        method: when.text_of("method").unwrap_or("GET").to_owned(),
        url: format!("{origin}{path}{mark}{query}"),
        asked: Message { headers: headers(when), body: body(when)? },
        status: then.get("status").and_then(Tree::count).unwrap_or(200),
        reason: String::new(),
        answered: Message { headers: headers(then), body: body(then)? },
        frames: Vec::new(),
    })
}

fn headers(side: &Tree) -> Headers {
    let pairs = pairs(side.get("header"));
    pairs.into_iter().map(|(name, value)| (name, value.into_bytes())).collect()
}

fn pairs(list: Option<&Tree>) -> Vec<(String, String)> {
    let items = list.map_or(&[][..], Tree::items).iter();
    let pair = |item: &Tree| {
        let part = |name| item.get(name).and_then(Tree::words).map(|text| text.into_owned());
        Some((part("name").or_else(|| part("key"))?, part("value")?))
    };
    items.filter_map(pair).collect()
}

fn body(side: &Tree) -> Result<Bytes> {
    match (side.text_of("body_base64"), side.get("body"), side.get("json_body")) {
        (Some(text), ..) => base64(text),
        (None, Some(Tree::Text(text)), _) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        (None, Some(value), _) | (None, None, Some(value)) => Ok(value.to_json().into()),
        (None, None, None) => Ok(Bytes::new()),
    }
}
