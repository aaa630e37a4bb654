//! `NAME=value`, `NAME: value`, `NAME := value` and `x["NAME"] = value` in prose.

use super::REACH;
use crate::cassette::placeholder::OPENING;
use crate::redact::name::{self, Known, Tells};
use crate::redact::rule::Notes;
use crate::redact::value;
use crate::text::escape;

/// The most white space between a name, a mark and a value.
const BLANK: usize = 8;

/// A value is judged by so much of its beginning.
const JUDGED: usize = 256;

/// What a value ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Any sign that is in few words.
    Word,
    /// Behind a quote: that quote.
    Quote(u8),
    /// In a line of YAML: a comma and a semicolon are a part of the value.
    Line,
}

/// Where a value begins, and what it ends with.
pub(super) enum Begin {
    At(usize, Ends),
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

/// Where the value behind a `=` or `:` begins. The name begins at `name`.
pub(super) fn begin(text: &[u8], name: usize, mark: usize) -> Begin {
    let mut at = mark + 1;
    at += text[at..].iter().take(BLANK).take_while(|byte| is_blank(**byte)).count();
    let is_line = text[mark] == b':' && at > mark + 1 && begins_line(text, name);
    if text[mark] == b':'
        && let Some(begin) = in_block(text, at)
    {
        return begin;
    }
    let escapes = text[at..].iter().take(BLANK).take_while(|byte| **byte == b'\\').count();
    at += escapes;
    let quote = text.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    at += usize::from(quote.is_some());
    if let Some(quote) = quote.filter(|_| escapes == 0) {
        match text[at..] {
            // `"""value"""`, or the beginning of it.
            [second, third, ..] if second == quote && third == quote => at += 2,
            [second] if second == quote => return Begin::Later,
            _ => {}
        }
    }
    match text.get(at) {
        None => Begin::Later,
        // `==`, `=>`, and references to what holds a value.
        Some(b'=' | b'$' | b'%') => Begin::Nowhere,
        Some(byte) if is_end(*byte) && !(quote.is_some() && b"(,;&|".contains(byte)) => {
            Begin::Nowhere
        }
        Some(_) if escapes > 0 && quote.is_none() => Begin::Nowhere,
        Some(_) => {
            Begin::At(at, quote.map_or(if is_line { Ends::Line } else { Ends::Word }, Ends::Quote))
        }
    }
}

/// Whether a name is the first in its line, which may stand in a string.
fn begins_line(text: &[u8], name: usize) -> bool {
    let before = &text[name.saturating_sub(REACH)..name];
    let line = match memchr::memrchr(b'\n', before) {
        Some(end) => &before[end + 1..],
        None if name > REACH => return false,
        None => before,
    };
    let escape = memchr::memmem::rfind(line, b"\\n").map_or(0, |at| at + 2);
    matches!(line[escape..].trim_ascii(), b"" | b"-")
}

/// Where a value begins that YAML has on the next line: behind `|`, `>-` and the like.
fn in_block(text: &[u8], mark: usize) -> Option<Begin> {
    let rest = text[mark..].strip_prefix(b"|").or_else(|| text[mark..].strip_prefix(b">"))?;
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    if rest.is_empty() {
        return Some(Begin::Later);
    }
    let rest = rest.strip_prefix(b"\n")?;
    let indent = rest.iter().take(REACH).take_while(|byte| is_blank(**byte)).count();
    match rest.get(indent) {
        None => Some(Begin::Later),
        Some(byte) if indent == 0 || is_end(*byte) => Some(Begin::Nowhere),
        Some(_) => Some(Begin::At(text.len() - rest.len() + indent, Ends::Line)),
    }
}

/// The end of a value that begins at `start` and has no end before `from`.
pub(super) fn end(text: &[u8], start: usize, ends: Ends, from: usize) -> Option<usize> {
    let is_end = |byte: u8| match ends {
        Ends::Word => is_end(byte),
        Ends::Quote(quote) => byte <= b' ' || byte == quote || byte == b'\\',
        Ends::Line => is_end(byte) && !matches!(byte, b',' | b';'),
    };
    let next = |from: usize| text[from..].iter().position(|byte| is_end(*byte)).map(|at| from + at);
    let end = next(from)?;
    let is_scheme = text[end] == b' ' && value::is_scheme(&text[start..end]);
    if is_scheme { next(end + 1) } else { Some(end) }
}

/// Where in what was assigned the secret stands, if there is one.
pub(super) fn secret<'t>(
    spelled: &'t [u8],
    (name, tells): (&str, Tells),
    ends: Ends,
    notes: &Notes<'_>,
) -> Option<(usize, &'t str)> {
    let is_quoted = matches!(ends, Ends::Quote(_));
    let judged = trimmed(text_of(&spelled[..spelled.len().min(JUDGED)])?);
    let skipped = value::behind_scheme(judged);
    let judged = &judged[skipped..];
    let is_secret = match tells {
        // In quotes a bracket is a sign like any other, and no code.
        Tells::Secret if is_quoted && !judged.contains(OPENING) => {
            value::is_assigned(&judged.replace('[', "("))
        }
        Tells::Secret => value::is_assigned(judged),
        _ => notes.may_be_secret(name, judged) && !judged.contains('['),
    };
    if !is_secret && !value::is_placeholder(judged) {
        return None;
    }
    Some((skipped, trimmed(&text_of(spelled)?[skipped..])))
}

/// What is no text ends a value.
fn text_of(spelled: &[u8]) -> Option<&str> {
    spelled.utf8_chunks().next().map(|chunk| chunk.valid())
}

/// A value without what ends a sentence or a list.
fn trimmed(value: &str) -> &str {
    let value = value.trim_end_matches(['.', ':', '?', '!', ',', ';']);
    if value.contains('[') { value } else { value.trim_end_matches(']') }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a value is over before this byte.
const fn is_end(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b'|')
        || matches!(byte, b'<' | b'>' | b'(' | b')' | b'{' | b'}')
}
