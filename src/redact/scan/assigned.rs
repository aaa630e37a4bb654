//! `NAME=value`, `NAME: value`, `NAME := value` and `x["NAME"] = value` in prose.

use super::REACH;
use crate::redact::name::{self, Known, Tells};
use crate::redact::rule::Notes;
use crate::redact::value;
use crate::text::escape;

/// The most white space between a name, a mark and a value.
const BLANK: usize = 8;

/// Where a value begins.
pub(super) enum Begin {
    At(usize),
    Nowhere,
    /// It has not come yet.
    Later,
}

/// Whether something is assigned to a telling name by the `=` or `:` at this place.
pub(in crate::redact) fn is_assigned(text: &[u8], mark: usize, known: Known) -> bool {
    name_before(text, mark, known).is_some()
}

/// The name before a `=` or `:` if it tells, and what it tells.
pub(super) fn name_before(text: &[u8], mark: usize, known: Known) -> Option<(&str, Tells)> {
    let from = mark.saturating_sub(REACH);
    let before = &text[from..mark];
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut before = &before[..before.len() - blank];
    if known == Known::Composed && text[mark] == b'=' {
        before = without_brackets(before.strip_suffix(b":").unwrap_or(before).trim_ascii_end());
    }
    let length = before.iter().rev().take_while(|byte| is_of_name(**byte)).count();
    if length == 0 || blank > BLANK {
        return None;
    }
    let (around, name) = before.split_at(before.len() - length);
    // The letter of an escape such as `\n` is none of the name's.
    let escape =
        usize::from(around.ends_with(b"\\") && name.first().is_some_and(|c| escape::is_letter(*c)));
    let name = str::from_utf8(&name[escape..]).ok()?;
    let tells = match name::assigned(name) {
        Tells::Nothing if known == Known::Composed => name::composed(name),
        tells => tells,
    };
    (tells != Tells::Nothing).then_some((name, tells))
}

/// `os.environ["NAME"]` up to the end of the name.
fn without_brackets(before: &[u8]) -> &[u8] {
    let inner =
        before.strip_suffix(b"]").and_then(|it| it.strip_suffix(b"\"").or(it.strip_suffix(b"'")));
    inner.map_or(before, |inner| inner.strip_suffix(b"\\").unwrap_or(inner))
}

/// Where the value behind a `=` or `:` begins.
pub(super) fn begin(text: &[u8], mark: usize) -> Begin {
    let mut at = mark + 1;
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    at += text[at..].iter().take(BLANK).take_while(blank).count();
    let escapes = text[at..].iter().take(BLANK).take_while(|byte| **byte == b'\\').count();
    at += escapes;
    let is_quoted = matches!(text.get(at), Some(b'"' | b'\''));
    at += usize::from(is_quoted);
    match text.get(at) {
        None => Begin::Later,
        // `==`, `=>`, and references to what holds a value.
        Some(b'=' | b'$' | b'%') => Begin::Nowhere,
        Some(byte) if ends(*byte) || (escapes > 0 && !is_quoted) => Begin::Nowhere,
        Some(_) => Begin::At(at),
    }
}

/// The end of a value that begins at `start` and has no end before `from`.
pub(super) fn end(text: &[u8], start: usize, from: usize) -> Option<usize> {
    let next = |from: usize| text[from..].iter().position(|byte| ends(*byte)).map(|at| from + at);
    let end = next(from)?;
    let is_scheme = text[end] == b' ' && value::is_scheme(&text[start..end]);
    if is_scheme { next(end + 1) } else { Some(end) }
}

/// How much of a value's beginning is no secret, and the secret, if there is one.
pub(super) fn secret<'t>(
    spelled: &'t str,
    (name, tells): (&str, Tells),
    notes: &Notes<'_>,
) -> Option<(usize, &'t str)> {
    let skipped = value::behind_scheme(spelled);
    let mut secret = spelled[skipped..].trim_end_matches(['.', ':', '?', '!']);
    if !secret.contains('[') {
        secret = secret.trim_end_matches(']');
    }
    let is_secret = match tells {
        Tells::Secret => value::is_assigned(secret),
        _ => notes.may_be_secret(name, secret) && !secret.contains('['),
    };
    (is_secret || value::is_placeholder(secret)).then_some((skipped, secret))
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a value is over before this byte.
const fn ends(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b'|')
        || matches!(byte, b'<' | b'>' | b'(' | b')' | b'{' | b'}')
}
