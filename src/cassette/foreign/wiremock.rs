//! Mappings of WireMock, as its recorder writes them.

use bytes::Bytes;

use super::exchange::{Exchange, Message};
use super::{base64, refused};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::percent;
use crate::text::tree::Tree;

/// A file with one mapping, or with several.
fn mappings(file: &Tree) -> &[Tree] {
    match file.get("mappings") {
        Some(Tree::List(mappings)) => mappings,
        _ => std::slice::from_ref(file),
    }
}

pub(super) fn is_it(file: &Tree) -> bool {
    let is_mapping = |it: &Tree| {
        let has_address = |it: &Tree| it.members().iter().any(|(name, _)| name.starts_with("url"));
        it.get("request").is_some_and(has_address) && it.get("response").is_some()
    };
    !mappings(file).is_empty() && mappings(file).iter().all(is_mapping)
}

pub(super) fn read(file: &Tree) -> Result<Vec<Exchange>> {
    let read = |(number, mapping)| exchange(mapping).map_err(|error| error.in_interaction(number));
    mappings(file).iter().enumerate().map(read).collect()
}

fn exchange(mapping: &Tree) -> Result<Exchange> {
    let empty = Tree::Null;
    let request = mapping.get("request").unwrap_or(&empty);
    let response = mapping.get("response").unwrap_or(&empty);
    let method = request.text_of("method").unwrap_or("GET");
    if method == "ANY" {
        return Err(refused("a mapping answers any method").with_hint(A_PATTERN));
    }
    let fields = response.get("headers").map_or(&[][..], Tree::members).iter();
    let fields = fields.filter_map(|(name, value)| Some((name, value.words()?.into_owned())));
    Ok(Exchange {
        at: None,
        method: method.to_owned(),
        url: address(request)?,
        asked: Message { headers: asked_headers(request), body: asked_body(request)? },
        status: response.get("status").and_then(Tree::count).unwrap_or(200),
        reason: response.text_of("statusMessage").unwrap_or_default().to_owned(),
        answered: Message {
            headers: fields.map(|(name, value)| (name, value.into_bytes())).collect(),
            body: answered_body(response)?,
        },
        frames: Vec::new(),
    })
}

const A_PATTERN: &str = "a cassette says what was asked, not a pattern of it: import what WireMock recorded, not what was written by hand";

fn address(request: &Tree) -> Result<String> {
    if let Some(url) = request.text_of("url") {
        return Ok(url.to_owned());
    }
    let Some(path) = request.text_of("urlPath") else {
        return Err(refused("the address of a mapping is a pattern").with_hint(A_PATTERN));
    };
    let parameters = request.get("queryParameters").map_or(&[][..], Tree::members).iter();
    let parameters: Option<Vec<String>> = parameters
        .map(|(name, value)| {
            let value = percent::encoded(value.text_of("equalTo")?);
            Some(format!("{}={value}", percent::encoded(name)))
        })
        .collect();
    let parameters = parameters
        .ok_or_else(|| refused("a parameter of a mapping is a pattern").with_hint(A_PATTERN))?;
    let mark = if parameters.is_empty() { "" } else { "?" };
    Ok(format!("{path}{mark}{}", parameters.join("&")))
}

/// The fields with a known value.
fn asked_headers(request: &Tree) -> Headers {
    let fields = request.get("headers").map_or(&[][..], Tree::members).iter();
    let known = |value: &Tree| value.text_of("equalTo").map(|text| text.to_owned().into_bytes());
    let mut headers: Headers =
        fields.filter_map(|(name, value)| Some((name, known(value)?))).collect();
    let is_json = request.get("bodyPatterns").map_or(&[][..], Tree::items).iter();
    if is_json.into_iter().any(|it| it.get("equalToJson").is_some())
        && !headers.contains("content-type")
    {
        headers.append("content-type", "application/json");
    }
    headers
}

fn asked_body(request: &Tree) -> Result<Bytes> {
    let Some(pattern) = request.get("bodyPatterns").and_then(|it| it.items().first()) else {
        return Ok(Bytes::new());
    };
    let of = |name| pattern.get(name);
    match of("equalTo").or_else(|| of("equalToJson")).or_else(|| of("equalToXml")) {
        Some(Tree::Text(text)) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        Some(value) => Ok(value.to_json().into()),
        None => match pattern.text_of("binaryEqualTo") {
            Some(text) => base64(text),
            None => Err(refused("the body of a mapping is a pattern").with_hint(A_PATTERN)),
        },
    }
}

fn answered_body(response: &Tree) -> Result<Bytes> {
    if let Some(text) = response.text_of("base64Body") {
        return base64(text);
    }
    if let Some(value) = response.get("jsonBody") {
        return Ok(value.to_json().into());
    }
    if response.get("bodyFileName").is_some() {
        return Err(refused("a body stands in a file of its own (`bodyFileName`)")
            .with_hint("record the mappings with bodies in them: `extractBodyCriteria` left out"));
    }
    Ok(Bytes::copy_from_slice(response.text_of("body").unwrap_or_default().as_bytes()))
}
