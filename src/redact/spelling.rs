//! The ways in which a value is written.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::value;
use crate::text::json::push_escape;
use crate::text::percent::encoded_but;

/// Each of them once.
pub(super) fn spellings(value: &str) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::from([value.as_bytes().to_vec()]);
    for escape in [json_escaped, json_escaped_ascii, json_escaped_slashes] {
        let mut spelled = value.to_owned();
        for _ in 0..3 {
            spelled = escape(&spelled);
            all.insert(spelled.clone().into_bytes());
        }
    }
    for kept in ["-._~", "-._~!'()*", "*-._", "-._~:/@!$'()*,;"] {
        let upper = encoded_but(value, kept);
        for encoded in [lower_hex(&upper), upper.replace("%20", "+"), upper] {
            all.insert(encoded.into_bytes());
        }
    }
    if !value::is_placeholder(value) {
        all.extend(in_base64(value.as_bytes()));
    }
    all
}

/// As it stands in a JSON string.
pub(super) fn json_escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '"' | '\\') || c.is_control() {
            push_escape(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

/// As Python writes it.
fn json_escaped_ascii(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in json_escaped(value).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// As PHP writes it.
fn json_escaped_slashes(value: &str) -> String {
    json_escaped(value).replace('/', "\\/")
}

fn lower_hex(encoded: &str) -> String {
    let mut digits = 0;
    let lower = encoded.chars().map(|c| {
        digits = if c == '%' { 2 } else { i32::max(digits - 1, -1) };
        if c != '%' && digits >= 0 { c.to_ascii_lowercase() } else { c }
    });
    lower.collect()
}

/// The base64 of a value where it begins at any of the three places within a group of bytes, without
/// the letters that depend on its neighbours.
fn in_base64(value: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let whole = [STANDARD.encode(value), STANDARD_NO_PAD.encode(value)];
    let aligned = (0..3).flat_map(move |before| {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        let skip = [0, 2, 3][before];
        let keep = bytes.len() * 8 / 6;
        [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
            .map(|text| text[skip..keep].to_owned())
    });
    whole.into_iter().chain(aligned).map(String::into_bytes).collect::<Vec<_>>().into_iter()
}
