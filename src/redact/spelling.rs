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
    let of_json = [
        json_escaped,
        json_escaped_ascii,
        json_escaped_slashes,
        json_escaped_by_php,
        json_escaped_by_go,
        json_escaped_by_dotnet,
    ];
    for escape in of_json {
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
    all.extend(MARKUP.map(|names| in_markup(value, names).into_bytes()));
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

/// As Python writes it by itself.
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

fn json_escaped_slashes(value: &str) -> String {
    json_escaped(value).replace('/', "\\/")
}

fn json_escaped_by_php(value: &str) -> String {
    json_escaped_ascii(value).replace('/', "\\/")
}

fn json_escaped_by_go(value: &str) -> String {
    let escaped = json_escaped(value).replace('&', "\\u0026");
    escaped.replace('<', "\\u003c").replace('>', "\\u003e")
}

/// As `System.Text.Json` writes it.
fn json_escaped_by_dotnet(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' | '&' | '\'' | '+' | '<' | '>' | '`' => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            _ if c.is_control() => push_escape(c, &mut out),
            _ if c.is_ascii() => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
    out
}

/// How `"` and `'` are written in XML and HTML: as they are in texts, by name or number in attributes.
const MARKUP: [[&str; 2]; 5] = [
    ["\"", "'"],
    ["&quot;", "&apos;"],
    ["&quot;", "&#39;"],
    ["&quot;", "&#x27;"],
    ["&#34;", "&#39;"],
];

fn in_markup(value: &str, [double, single]: [&str; 2]) -> String {
    let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', double).replace('\'', single)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_as_servers_of_any_language_write_it() {
        let found = spellings("a+b/c&<é\"'");

        for written in [
            r#"a+b/c&<é\"'"#,
            r#"a+b/c&<\u00e9\"'"#,
            r#"a+b\/c&<é\"'"#,
            r#"a+b\/c&<\u00e9\"'"#,
            r#"a+b/c\u0026\u003cé\"'"#,
            r"a\u002Bb/c\u0026\u003C\u00E9\u0022\u0027",
            "a+b/c&amp;&lt;é\"'",
            "a+b/c&amp;&lt;é&quot;&#39;",
            "a%2Bb%2Fc%26%3C%C3%A9%22%27",
        ] {
            assert!(found.contains(written.as_bytes()), "{written}");
        }
        // Most have nothing to escape.
        assert!(spellings("sk-abcdef0123456789").len() < 16);
    }
}
