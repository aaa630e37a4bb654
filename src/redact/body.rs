//! Secrets in bodies: forms, JSON, streams of JSON, and anything else.

use std::ops::Range;

use super::rule::{Notes, Rule};
use super::{graphql, json, scan, url, value};
use crate::cassette::Media;
use crate::cassette::splice::{self, Edit};
use crate::text::json::{Places, Text};
use crate::text::multipart::{self, Part};
use crate::text::sse;

/// The edits that take the secrets out of a body that can be read.
pub(super) fn find(body: &[u8], content_type: Option<&str>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let kind = content_type.unwrap_or_default();
    match Media::of(content_type) {
        Media::Multipart if notes.applies(Rule::Multipart) => match multipart::parts(kind, body) {
            Some(parts) => in_parts(body, &parts, notes),
            None => find_in_text(body, notes),
        },
        media => plain(body, media, notes),
    }
}

fn plain(body: &[u8], media: Media, notes: &mut Notes<'_>) -> Vec<Edit> {
    match std::str::from_utf8(body) {
        Ok(form) if media == Media::Form && notes.applies(Rule::Form) => {
            url::pairs(form, 0..form.len(), notes)
        }
        _ => find_in_text(body, notes),
    }
}

fn in_parts(body: &[u8], parts: &[Part<'_>], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut done = 0;
    for part in parts {
        edits.extend(between(body, done..part.range.start, notes));
        let found = in_part(part, notes).into_iter();
        edits.extend(found.map(|edit| edit.shifted(part.range.start)));
        done = part.range.end;
    }
    edits.extend(between(body, done..body.len(), notes));
    edits
}

fn between(body: &[u8], range: Range<usize>, notes: &mut Notes<'_>) -> impl Iterator<Item = Edit> {
    let found = find_in_text(&body[range.clone()], notes).into_iter();
    found.map(move |edit| edit.shifted(range.start))
}

/// A field with a telling name goes as a whole, whatever it holds; any other is a body of its own.
fn in_part(part: &Part<'_>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let content = String::from_utf8_lossy(part.body);
    let secret = content[value::behind_scheme(&content)..].trim();
    let name = part.name.as_deref().filter(|name| url::tells(name, secret, notes));
    let Some(name) = name else {
        return plain(part.body, Media::of(part.content_type), notes);
    };
    let Some(with) = notes.replacement(name, secret) else { return Vec::new() };
    let start = secret.as_ptr().addr() - content.as_ptr().addr();
    let range = match std::str::from_utf8(part.body) {
        Ok(_) => start..start + secret.len(),
        // Offsets into a text that was mended would be off: all of it goes.
        Err(_) => 0..part.body.len(),
    };
    vec![Edit::new(range, with)]
}

/// The edits that take the secrets out of a text, in order.
pub(super) fn find_in_text(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    if !notes.redactor.may_tell(text) {
        return Vec::new();
    }
    match Text::parse_container(text) {
        Some(json) => json::find(json, notes),
        None => splice::in_order(lines(text, notes)),
    }
}

/// The same for a text that counts only if it is an object or an array. The `query` beside it says what its members
/// are passed on as.
pub(super) fn find_in_json(text: &[u8], query: Option<&str>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let called = |json| query.map(|query| graphql::called_in(query, json, notes));
    if let Some(json) = Text::parse_container(text)
        && let Some(called) = called(json).filter(|called| !called.is_empty())
    {
        return json::find_called(json, called, notes);
    }
    if !notes.redactor.may_tell(text) {
        return Vec::new();
    }
    Text::parse_container(text).map(|json| json::find(json, notes)).unwrap_or_default()
}

/// A text with a JSON value in each line (NDJSON), in each `data:` line (SSE), or in no line. Lines
/// that are none are put together: the data of one event, or a JSON text that is cut short.
fn lines(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut run = Places::default();
    let mut in_data = false;
    for line in sse::event_lines(text) {
        let data = line.data(text);
        let is_data = data.is_some();
        let said = data.unwrap_or(line.content);
        let start = said.start;
        let content = text[said].trim_ascii_end();
        if is_data != in_data || (is_data && content.is_empty()) {
            edits.extend(finish(&mut run, notes));
            in_data = is_data;
        }
        // Spares trying the long first line of a text that is cut short.
        let is_closed = matches!(content.last(), Some(b'}' | b']'));
        match is_closed.then(|| Text::parse_container(content)).flatten() {
            Some(json) if notes.redactor.may_tell(content) => {
                let found = json::find(json, notes);
                edits.extend(found.into_iter().map(|edit| edit.shifted(start)));
            }
            Some(_) => {}
            None => {
                run.push(content, start);
                // A line break that is none of the bytes there.
                run.push(b"\n", start + content.len());
            }
        }
    }
    edits.extend(finish(&mut run, notes));
    edits
}

fn finish(run: &mut Places, notes: &mut Notes<'_>) -> Vec<Edit> {
    let run = std::mem::take(run);
    if !notes.redactor.may_tell(&run.text) {
        return Vec::new();
    }
    let found = match Text::parse_container(&run.text) {
        Some(json) => json::find(json, notes),
        None => scan::find(&run.text, notes),
    };
    json::outside(&run, found).collect()
}
