//! Whether a value is a secret, by itself or by the name beside it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use super::super::name::{self, Tells};
use super::super::rule::{Notes, Rule};
use super::super::{letters, scan, value};

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
