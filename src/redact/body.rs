//! Secrets in bodies, by what their `content-type` says of them.

use std::ops::Range;

use super::notes::Notes;
use super::{Rule, text, url, value};
use crate::cassette::Media;
use crate::cassette::splice::Edit;
use crate::text::multipart::{self, Part};

/// The edits that take the secrets out of a body that can be read.
pub(super) fn find(body: &[u8], content_type: Option<&str>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let kind = content_type.unwrap_or_default();
    match Media::of(content_type) {
        Media::Multipart if notes.applies(Rule::Multipart) => match multipart::parts(kind, body) {
            Some(parts) => in_parts(body, &parts, notes),
            None => text::find(body, notes),
        },
        media => plain(body, media, notes),
    }
}

fn plain(body: &[u8], media: Media, notes: &mut Notes<'_>) -> Vec<Edit> {
    match std::str::from_utf8(body) {
        Ok(form) if media == Media::Form && notes.applies(Rule::Form) => {
            url::pairs(form, 0..form.len(), notes)
        }
        _ => text::find(body, notes),
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
    let found = text::find(&body[range.clone()], notes).into_iter();
    found.map(move |edit| edit.shifted(range.start))
}

/// A field with a telling name goes as a whole, whatever it holds; any other is a body of its own.
fn in_part(part: &Part<'_>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let content = String::from_utf8_lossy(part.body);
    let secret = content[value::behind_scheme(&content)..].trim();
    let name = part.name.as_deref().filter(|name| url::tells(name, secret));
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
