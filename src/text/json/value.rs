//! What a token means, without changing how it is spelled.

use std::borrow::Cow;

/// What a string token means: without its quotes, escapes resolved.
///
/// A lone surrogate has no meaning as text and stays as it is spelled (`\ud800`).
pub(crate) fn unescape(spelled: &str) -> Cow<'_, str> {
    let inner =
        spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(spelled);
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (meaning, length) = escape(&rest[at..]);
        match meaning {
            Some(char) => out.push(char),
            None => out.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that an escape at the beginning of `text` stands for, and its length. None of a lone
/// surrogate, of `\u` without four digits (2), and of a backslash that escapes nothing (1).
pub(crate) fn escape(text: &str) -> (Option<char>, usize) {
    let simple = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(text),
        Some(other) if other.is_ascii() => char::from(*other),
        _ => return (None, 1),
    };
    (Some(simple), 2)
}

fn unicode_escape(text: &str) -> (Option<char>, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (None, 2) };
    if let Some(char) = char::from_u32(first) {
        return (Some(char), 6);
    }
    match unit(6) {
        Some(second) if first < 0xDC00 && (0xDC00..0xE000).contains(&second) => {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code), 12)
        }
        _ => (None, 6),
    }
}

/// Spells a character of a string as an escape.
pub(crate) fn push_escape(c: char, out: &mut String) {
    match c {
        '"' | '\\' => out.extend(['\\', c]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
    }
}

/// A spelling that all numbers of the same value share: `1.0`, `1`, `10e-1` are `1e0`.
///
/// Exact for any length and exponent; `-0` is `0`.
pub(crate) fn canonical_number(spelled: &str) -> Cow<'_, str> {
    if !spelled.starts_with('0') && spelled.bytes().all(|byte| byte.is_ascii_digit()) {
        let significant = spelled.trim_end_matches('0');
        return match spelled.len() - significant.len() {
            0 => Cow::Borrowed(spelled),
            zeros => Cow::Owned(format!("{significant}e{zeros}")),
        };
    }
    let (sign, unsigned) = match spelled.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", spelled),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Cow::Borrowed("0");
    }
    let dropped = digits.trim_start_matches('0').len() - significant.len();
    let shift = dropped as i128 - fraction.len() as i128;
    match exponent.parse::<i128>().map(|exponent| exponent.saturating_add(shift)) {
        Ok(0) => Cow::Owned(format!("{sign}{significant}")),
        Ok(exponent) => Cow::Owned(format!("{sign}{significant}e{exponent}")),
        Err(_) => Cow::Borrowed(spelled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_equal_value_are_spelled_alike() {
        for same in [
            &["1", "1.0", "10e-1", "0.1E1", "1e0"][..],
            &["0", "-0", "0.0", "-0.0", "0e99"],
            &["100", "1e2", "1E+2", "100.0"],
            &["12345678901234567890", "12345678901234567890.0"],
            &["1e400", "10e399"],
        ] {
            for number in same {
                assert_eq!(canonical_number(number), canonical_number(same[0]), "{number}");
            }
        }
        assert_ne!(
            canonical_number("12345678901234567890"),
            canonical_number("12345678901234567891")
        );
        assert_ne!(canonical_number("1"), canonical_number("-1"));
        assert_ne!(canonical_number("1"), canonical_number("10"));
    }

    #[test]
    fn escapes_are_resolved_and_lone_surrogates_kept() {
        assert_eq!(unescape(r#""a\"\\\/\n\u00e9\ud83d\ude00""#), "a\"\\/\né😀");
        assert_eq!(unescape(r#""\ud83d x""#), r"\ud83d x");
    }
}
