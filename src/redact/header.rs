//! Secrets in header fields.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::apply::edit_fields;
use super::name::{self, Tells};
use super::rule::{Notes, Rule};
use super::{url, value};
use crate::cassette::Headers;
use crate::cassette::splice::Edit;

/// Fields that every request has and that hold no secret.
const PLAIN: [&str; 6] =
    ["host", "accept", "content-type", "content-length", "accept-encoding", "connection"];

/// Whether a field is one of those that hold no secret.
pub(super) fn is_plain(name: &str) -> bool {
    PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(name))
}

/// Applies the rules to each field.
pub(super) fn redact(headers: &mut Headers, notes: &mut Notes<'_>) {
    edit_fields(headers, |name, value| match is_plain(name) {
        true => Vec::new(),
        false => find(name, value, notes),
    });
}

fn find(name: &str, bytes: &Bytes, notes: &mut Notes<'_>) -> Vec<Edit> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if is("cookie") || is("set-cookie") {
        if !notes.applies(Rule::Cookies) {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(bytes);
        // Offsets into a text that was mended would be off: all of it goes.
        return match std::str::from_utf8(bytes) {
            Ok(text) if is("cookie") => cookies(text, notes),
            Ok(text) => set_cookie(text, notes),
            Err(_) => whole(&text, bytes.len(), "cookie", notes),
        };
    }
    let own = &notes.redactor.own;
    if is(PROTOCOLS) && notes.applies(Rule::Headers) && !own.is_header(name) {
        return str::from_utf8(bytes).map(|text| protocols(text, notes)).unwrap_or_default();
    }
    let telling = || {
        own.is_header(name)
            || own.is_no_secret(name)
            || name::header(name)
            || (notes.applies(Rule::Names) && tells(name, bytes, notes))
    };
    if notes.applies(Rule::Headers) && telling() {
        return credential(&name.to_ascii_lowercase(), bytes, notes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if is("location") || is("content-location") || is("referer") => {
            url::find(text, notes)
        }
        Ok(text) if text.trim_start().starts_with(['{', '[']) && notes.applies(Rule::Nested) => {
            super::body::find_in_text(bytes, notes)
        }
        // `<https://…>; rel="next"`, and other texts with addresses, or with names beside their values.
        Ok(text)
            if text.contains("://")
                || (notes.applies(Rule::Texts) && text.contains([':', '='])) =>
        {
            super::scan::find(bytes, notes)
        }
        _ => Vec::new(),
    }
}

/// Whether a field that is none of the usual ones holds a credential.
fn tells(name: &str, value: &Bytes, notes: &Notes<'_>) -> bool {
    let tells = name::composed(name);
    let is_key = notes.applies(Rule::Keys) && name::is_key(name);
    let may_be = |value| {
        let name = name.to_ascii_lowercase();
        notes.may_be_secret(&name, value) || (is_key && notes.may_be_key(value))
    };
    match tells {
        Tells::Secret => true,
        Tells::Nothing | Tells::Secrets | Tells::Holder if !is_key => false,
        _ => str::from_utf8(value).is_ok_and(may_be),
    }
}

/// A credential, with the scheme before it kept.
fn credential(name: &str, bytes: &Bytes, notes: &mut Notes<'_>) -> Vec<Edit> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return whole(&String::from_utf8_lossy(bytes), bytes.len(), name, notes);
    };
    let start = value::behind_scheme(text);
    let secret = text[start..].trim_end();
    let Some(with) = notes.replacement(name, secret) else { return Vec::new() };
    note_basic(name, text, secret, notes);
    if start == 0 {
        note_parts(name, secret, notes);
    }
    vec![Edit::new(start..start + secret.len(), with)]
}

/// Behind a scheme that is not known stands the key, which may stand elsewhere: `Key …`, `auth token=…`.
fn note_parts(name: &str, secret: &str, notes: &mut Notes<'_>) {
    let parts = secret.split([' ', ',', ';', '=', ':', '!', '"']);
    parts.filter(|part| *part != secret && value::is_credential(part)).for_each(|part| {
        notes.note(name, part);
    });
}

/// The password within `Basic …` may stand elsewhere; where there is none, the user is a key.
fn note_basic(name: &str, text: &str, secret: &str, notes: &mut Notes<'_>) {
    let is_basic = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic "));
    if !is_basic {
        return;
    }
    let Ok(plain) = STANDARD.decode(secret) else { return };
    if let Some((user, password)) = String::from_utf8_lossy(&plain).split_once(':') {
        let key = if password.is_empty() { user } else { password };
        notes.note(name, key);
    }
}

/// The only field that a page can send with a WebSocket: where a service wants a key, it stands among the
/// names of protocols.
const PROTOCOLS: &str = "sec-websocket-protocol";

/// `token, KEY`, `chat, api-key.KEY`, `chat, KEY`: what a protocol with a telling name has behind it, and what
/// looks generated, as no name of a protocol does.
fn protocols(text: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let (mut edits, mut before) = (Vec::new(), "");
    for item in text.split(',').map(str::trim) {
        let found = key_among_protocols(before, item, notes);
        // What is a key names none behind it.
        before = if found.is_some() { "" } else { item };
        if let Some((name, secret)) = found
            && let Some(with) = notes.replacement(name, secret)
        {
            let start = secret.as_ptr().addr() - text.as_ptr().addr();
            edits.push(Edit::new(start..start + secret.len(), with));
        }
    }
    edits
}

/// The key in the name of a protocol, behind the protocol `before`, with what it is called.
fn key_among_protocols<'t>(
    before: &'t str,
    item: &'t str,
    notes: &Notes<'_>,
) -> Option<(&'t str, &'t str)> {
    let dots = item.match_indices('.').filter(|_| !value::is_placeholder(item));
    let within = dots.map(|(at, _)| (&item[..at], &item[at + 1..]));
    let mut named = within.chain([(before, item)]);
    let tells = |(name, secret): &(&str, &str)| match notes.field(name) {
        Tells::Secret | Tells::Secrets => true,
        Tells::Perhaps => notes.may_be_secret(name, secret),
        Tells::Nothing | Tells::Holder => false,
    };
    named.find(tells).or_else(|| value::may_be_credential(item).then_some((PROTOCOLS, item)))
}

fn whole(text: &str, length: usize, name: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let with = notes.replacement(name, text);
    with.map(|with| Edit::new(0..length, with)).into_iter().collect()
}

/// The edits for what a server says back of the field `cookie`, as it is spelled in JSON: each cookie is a secret, as in
/// the header.
pub(super) fn echoed_cookies(
    name: &str,
    spelled: &str,
    notes: &mut Notes<'_>,
) -> Option<Vec<Edit>> {
    let is_cookie = name.eq_ignore_ascii_case("cookie") && spelled.contains('=');
    (is_cookie && !spelled.contains('\\')).then(|| cookies(spelled, notes))
}

/// `a=1; b=2`: all values go.
fn cookies(text: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut start = 0;
    let mut edits = Vec::new();
    for part in text.split_inclusive(';') {
        edits.extend(cookie(part.trim_end_matches(';'), start, notes));
        start += part.len();
    }
    edits
}

/// `a=1; Path=/`: the value goes, the attributes stay. A proxy may have joined several by commas.
fn set_cookie(text: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let pair = text.split(';').next().unwrap_or_default();
    let mut edits: Vec<Edit> = cookie(pair, 0, notes).into_iter().collect();
    for (comma, _) in text.match_indices(',').filter(|(comma, _)| *comma > pair.len()) {
        let pair = text[comma + 1..].split(';').next().unwrap_or_default();
        // That of a date has none.
        let name = pair.split_once('=').map(|(name, _)| name.trim());
        let is_name = |name: &str| !name.is_empty() && !name.contains([' ', ',', '"']);
        if name.is_some_and(is_name) {
            edits.extend(cookie(pair, comma + 1, notes));
        }
    }
    edits
}

fn cookie(pair: &str, offset: usize, notes: &mut Notes<'_>) -> Option<Edit> {
    let (name, value) = pair.split_once('=').unwrap_or(("cookie", pair));
    let name = name.trim();
    let secret = value.trim();
    let quoted = secret.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let secret = quoted.unwrap_or(secret);
    let start = offset + secret.as_ptr().addr() - pair.as_ptr().addr();
    let with = notes.replacement(name, secret)?;
    Some(Edit::new(start..start + secret.len(), with))
}
