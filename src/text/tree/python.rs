//! Words and JSON as Python has them.

use super::Tree;
use crate::text::json::push_escape;

/// A word without quotes, as PyYAML resolves it. A date stays a text.
pub(super) fn plain(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Tree::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Tree::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Tree::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Tree::Number("NaN".to_owned()),
        _ => {}
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return Tree::Text(text.to_owned());
    }
    let number = whole(text).or_else(|| float(text));
    number.map_or_else(|| Tree::Text(text.to_owned()), Tree::Number)
}

fn signed(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

fn whole(text: &str) -> Option<String> {
    let (sign, digits) = signed(text);
    let digits = digits.to_owned();
    let of_radix = |digits: &str, radix| {
        let plain = digits.replace('_', "");
        i128::from_str_radix(&plain, radix).ok().filter(|_| digits.is_ascii())
    };
    let value = if let Some(binary) = digits.strip_prefix("0b") {
        of_radix(binary, 2)?.to_string()
    } else if let Some(hexadecimal) = digits.strip_prefix("0x") {
        of_radix(hexadecimal, 16)?.to_string()
    } else if digits.len() > 1 && digits.starts_with('0') {
        of_radix(&digits, 8)?.to_string()
    } else if digits.contains(':') {
        sixties(&digits)?.to_string()
    } else {
        let plain = digits.replace('_', "");
        let is_whole = digits.starts_with(|first: char| first.is_ascii_digit())
            && plain.bytes().all(|digit| digit.is_ascii_digit());
        is_whole.then_some(plain)?
    };
    let sign = if value == "0" { "" } else { sign };
    Some(format!("{sign}{value}"))
}

/// `1:30` is ninety.
fn sixties(digits: &str) -> Option<u128> {
    let mut parts = digits.split(':');
    let first =
        parts.next().filter(|first| first.starts_with(|c: char| ('1'..='9').contains(&c)))?;
    let mut sum: u128 = first.replace('_', "").parse().ok()?;
    for part in parts {
        let value = part.parse::<u128>().ok().filter(|value| *value < 60 && part.len() <= 2)?;
        sum = sum.checked_mul(60)?.checked_add(value)?;
    }
    Some(sum)
}

fn float(text: &str) -> Option<String> {
    let (sign, digits) = signed(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Some(format!("{sign}Infinity"));
    }
    // Only what has a point is a number with a fraction, and an exponent needs its sign.
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (before, behind) = mantissa.split_once('.')?;
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let begins = before.starts_with(|first: char| first.is_ascii_digit())
        || (before.is_empty() && behind.starts_with(|first: char| first.is_ascii_digit()));
    if !(begins && are_digits(before) && are_digits(behind) && is_exponent) {
        return None;
    }
    let spelled = format!("{sign}{}", digits.replace('_', ""));
    let value: f64 = spelled.parse().ok()?;
    let shortest = repr(value);
    // Of two that are as short and as near, Python takes the even one: most likely what stands there.
    let is_as_short = spelled.len() == shortest.len() && exponent.is_none();
    Some(if is_as_short { spelled } else { shortest })
}

/// A number as Python spells it: `1e-05`, `100000.0`, `1e+16`.
fn repr(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) || value == 0.0 {
        return format!("{value:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

impl Tree {
    /// The value as `json.dumps` of Python writes it.
    pub(crate) fn to_python_json(&self) -> String {
        let mut json = String::new();
        self.dump(Spelling::Python, &mut json);
        json
    }

    /// The value as `JSON.stringify` of JavaScript writes it.
    pub(crate) fn to_json(&self) -> String {
        let mut json = String::new();
        self.dump(Spelling::Compact, &mut json);
        json
    }

    fn dump(&self, spelling: Spelling, json: &mut String) {
        let (comma, colon) = match spelling {
            Spelling::Python => (", ", ": "),
            Spelling::Compact => (",", ":"),
        };
        match self {
            Self::Null => json.push_str("null"),
            Self::Bool(value) => json.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => json.push_str(number),
            Self::Text(text) => dump_text(text, spelling, json),
            Self::Bytes(bytes) => dump_text(&String::from_utf8_lossy(bytes), spelling, json),
            Self::List(items) => {
                json.push('[');
                for (number, item) in items.iter().enumerate() {
                    json.push_str(if number == 0 { "" } else { comma });
                    item.dump(spelling, json);
                }
                json.push(']');
            }
            Self::Object(members) => {
                json.push('{');
                for (number, (name, value)) in members.iter().enumerate() {
                    json.push_str(if number == 0 { "" } else { comma });
                    dump_text(name, spelling, json);
                    json.push_str(colon);
                    value.dump(spelling, json);
                }
                json.push('}');
            }
        }
    }
}

/// How JSON is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// With spaces, and in ASCII. DEL is not escaped.
    Python,
    Compact,
}

fn dump_text(text: &str, spelling: Spelling, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            ' ' | '!' | '#'..='[' | ']'..='\u{7f}' => json.push(c),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..='\u{7f}' => push_escape(c, json),
            c if spelling == Spelling::Compact => json.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    json.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    json.push('"');
}
