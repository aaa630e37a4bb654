//! Whether a value is a secret, by itself or by the name beside it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::super::name::{self, Tells};
use super::super::rule::{Notes, Rule};
use super::super::{Secrets, body, letters, scan, value};
use super::{RuleKind, Within, edits};

/// Whether a value has figures or letters in both cases, as words have not, or letters in no order of words.
pub(super) fn is_mixed(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let cases = count(u8::is_ascii_uppercase).min(count(u8::is_ascii_lowercase));
    count(u8::is_ascii_digit) >= 3 || cases >= 3 || letters::are_random(value)
}

/// Whether a value stands in documentation for one.
pub(super) fn is_sample(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let words = ["example", "your-", "your_", "${", "{{"];
    let is_named = lower.split_once('<').is_some_and(|(_, name)| name.contains('>'));
    is_named || words.iter().any(|word| lower.contains(word)) || is_filled_in(lower.as_bytes())
}

/// Whether a good part of a value only fills it: `sk-xxxxxxxx`. By chance, letters stand together so too, but few
/// of many.
fn is_filled_in(value: &[u8]) -> bool {
    let runs = value.chunk_by(|one, other| one == other);
    let filling = runs.filter(|run| run.len() >= 4 && b"x.*".contains(&run[0])).flatten().count();
    filling > 0 && filling * 8 >= value.len()
}

pub(super) fn is_basic(value: &str) -> bool {
    let plain = STANDARD.decode(value).or_else(|_| STANDARD_NO_PAD.decode(value));
    plain.is_ok_and(|plain| {
        plain.contains(&b':') && plain.iter().all(|byte| (0x20..0x7f).contains(byte))
    })
}

/// Whether a value is as only a machine writes it, and no identifier that people know things by.
pub(super) fn is_random(name: Option<&str>, secret: &str, notes: &Notes<'_>) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Those of things are shorter than keys; contracts and accounts of a block chain have addresses.
    let is_id = is_hex(secret) && secret.len() < 32;
    let is_base58 =
        || secret.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte));
    let is_address = secret.strip_prefix("0x").is_some_and(is_hex)
        || (matches!(secret.len(), 43 | 44) && is_base58());
    let tells_so =
        name.is_none_or(|name| !matches!(tells(name, notes), Tells::Nothing | Tells::Holder));
    tells_so
        && !is_id
        && !is_address
        && !is_sample(secret)
        && !value::is_made_of_words(secret)
        && value::is_credential(secret)
}

/// Whether a value is Base64 of a text in which a rule finds a secret. In JSON, what has a name that says little may
/// be a place in a list, which the server gave out for the next page.
pub(super) fn is_packed(value: &str, notes: &Notes<'_>) -> bool {
    let letters = without_breaks(value);
    // It may be cut short.
    let whole = || URL_SAFE_NO_PAD.decode(&letters[..letters.len() / 4 * 4]);
    let Ok(plain) = URL_SAFE_NO_PAD.decode(&letters).or_else(|_| whole()) else { return false };
    let Some(text) = plain.utf8_chunks().next().map(|chunk| chunk.valid()) else { return false };
    let text = text.as_bytes();
    let is_json = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    let rules = if is_json { notes.redactor.by_strong_names() } else { notes.redactor.untold() };
    let secrets = &mut Secrets::default();
    let mut notes = Notes { redactor: &rules, side: notes.side, secrets };
    // Base64 within it is not looked into: what is in one another would be read again and again.
    let looks = |notes: &mut Notes<'_>| {
        edits(&Within::of(text), text.len(), |kind| kind != RuleKind::Packed, notes)
    };
    !body::find_in_text(text, &mut notes).is_empty() || !looks(&mut notes).is_empty()
}

/// How much Base64 a text begins with, also in lines as a string of JSON has them, and with slashes as PHP has them.
pub(super) fn end_of_base64(text: &[u8]) -> usize {
    let (mut before, mut is_padded) = (0, false);
    let goes_on = |byte: &&u8| {
        let is_break = before == b'\\' && matches!(byte, b'n' | b'r' | b'/');
        let is_letter = byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
        let is_part = is_letter && !is_padded && before != b'\\';
        is_padded |= **byte == b'=';
        before = **byte;
        is_break || is_part || matches!(byte, b'=' | b'\\')
    };
    let begun = text.iter().take_while(goes_on).count();
    // A backslash behind it belongs to what comes next.
    text[..begun].iter().rposition(|byte| *byte != b'\\').map_or(0, |last| last + 1)
}

/// Base64 in the letters of addresses, without what is none of it.
fn without_breaks(spelled: &str) -> String {
    let mut letters = String::with_capacity(spelled.len());
    let mut is_escaped = false;
    for c in spelled.chars() {
        match c {
            '+' => letters.push('-'),
            '/' => letters.push('_'),
            'n' | 'r' if is_escaped => {}
            '\\' | '=' => {}
            c => letters.push(c),
        }
        is_escaped = c == '\\';
    }
    letters
}

/// What a name beside a value tells.
fn tells(name: &str, notes: &Notes<'_>) -> Tells {
    match name::field(name) {
        Tells::Nothing if notes.applies(Rule::Names) => name::composed(name),
        tells => tells,
    }
}

/// Whether a value is a secret because of the name beside it, and no word.
pub(super) fn is_said(name: &str, secret: &str, notes: &Notes<'_>) -> bool {
    let tells_so = match tells(name, notes) {
        Tells::Secret | Tells::Secrets => value::is_assigned(&secret.replace('[', "(")),
        Tells::Perhaps => notes.may_be_secret(name, secret),
        Tells::Holder | Tells::Nothing => false,
    };
    tells_so && !is_asked_for(name) && !is_sample(secret) && !scan::is_code(secret)
}

/// Whether a call of that name asks for a secret: what is in its brackets is what that is called.
fn is_asked_for(name: &str) -> bool {
    const ASKING: [&str; 12] = [
        "get", "has", "read", "fetch", "find", "load", "delete", "remove", "list", "is", "lookup",
        "describe",
    ];
    let name = name.rsplit('.').next().unwrap_or(name);
    let rest = ASKING.iter().find_map(|verb| name.strip_prefix(verb));
    rest.is_some_and(|rest| {
        rest.starts_with(|first: char| first == '_' || first.is_ascii_uppercase())
    })
}

/// Whether a value is a secret because of the name beside it.
pub(super) fn is_named(name: &str, secret: &str, notes: &Notes<'_>) -> bool {
    match tells(name, notes) {
        Tells::Secret | Tells::Secrets => !value::is_plain_setting(secret) && !secret.contains(' '),
        Tells::Perhaps => notes.may_be_secret(name, secret),
        Tells::Holder | Tells::Nothing => false,
    }
}
