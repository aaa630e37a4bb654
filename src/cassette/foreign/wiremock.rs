//! Mappings of WireMock, as its recorder writes them.

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{base64, fields, refused, with_query};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::form;
use crate::text::tree::Tree;

/// A file with one mapping, or with several.
fn mappings(file: &Tree) -> &[Tree] {
    file.get("mappings").filter(|it| matches!(it, Tree::List(_))).unwrap_or(file).each()
}

pub(super) fn is_it(file: &Tree) -> bool {
    let is_mapping = |it: &Tree| {
        let has_address = |it: &Tree| it.members().iter().any(|(name, _)| name.starts_with("url"));
        it.get("request").is_some_and(has_address) && it.get("response").is_some()
    };
    !mappings(file).is_empty() && mappings(file).iter().all(is_mapping)
}

pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    mappings(file).iter().collect()
}

pub(super) fn exchange(mapping: &Tree) -> Result<Exchange> {
    let sides = ["request", "response"].map(|side| mapping.get(side).unwrap_or(&Tree::Null));
    let [request, response] = sides;
    let method = request.text_of("method").unwrap_or("GET");
    if method == "ANY" {
        return Err(refused("a mapping answers any method").with_hint(A_PATTERN));
    }
    let headers = response.members_of("headers").iter().map(|(name, value)| (name, value));
    Ok(Exchange {
        method: method.to_owned(),
        url: address(request)?,
        asked: HttpMessage { headers: asked_headers(request), body: asked_body(request)? },
        status: response.get("status").and_then(Tree::count).unwrap_or(200),
        reason: response.text_of("statusMessage").unwrap_or_default().to_owned(),
        answered: HttpMessage { headers: fields(headers), body: answered_body(response)? },
        ..Exchange::default()
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
    let parameters = request.members_of("queryParameters").iter();
    let parameters = parameters.map(|(name, value)| Some((name, value.text_of("equalTo")?)));
    let parameters: Option<Vec<_>> = parameters.collect();
    let parameters = parameters
        .ok_or_else(|| refused("a parameter of a mapping is a pattern").with_hint(A_PATTERN))?;
    Ok(with_query(path, &form::encoded(parameters.into_iter())))
}

/// The fields with a known value.
fn asked_headers(request: &Tree) -> Headers {
    let known = request.members_of("headers").iter();
    let mut headers = fields(known.filter_map(|(name, it)| Some((name, it.get("equalTo")?))));
    let is_json = request.items_of("bodyPatterns").iter().any(|it| it.get("equalToJson").is_some());
    if is_json && !headers.contains("content-type") {
        headers.append("content-type", "application/json");
    }
    headers
}

fn asked_body(request: &Tree) -> Result<Bytes> {
    let Some(pattern) = request.items_of("bodyPatterns").first() else {
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
