//! Percent-encoding, done and undone.

use std::borrow::Cow;

/// The text with `%XX` resolved; bytes that are no UTF-8 then are replaced.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    resolved(text, b'+')
}

/// The same of a part of a query or a form, where `+` stands for a space.
pub(crate) fn form_decoded(text: &str) -> Cow<'_, str> {
    resolved(text, b' ')
}

/// A segment of a path with all bytes encoded that are not unreserved (RFC 3986).
pub(crate) fn encoded(segment: &str) -> String {
    encoded_but(segment, "-._~")
}

/// A text with all bytes encoded but letters, digits, and some that are kept.
pub(crate) fn encoded_but(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if byte.is_ascii_alphanumeric() || kept.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn resolved(text: &str, plus: u8) -> Cow<'_, str> {
    if !text.contains('%') && (plus == b'+' || !text.contains('+')) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, length)) = next(rest, plus) {
        out.push(byte);
        rest = &rest[length..];
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// The first byte of a part of a query or a form, and in how many bytes it is spelled.
pub(crate) fn form_byte(text: &[u8]) -> Option<(u8, usize)> {
    next(text, b' ')
}

fn next(text: &[u8], plus: u8) -> Option<(u8, usize)> {
    let (first, behind) = text.split_first()?;
    let code = if *first == b'%' { byte(behind) } else { None };
    let plain = if *first == b'+' { plus } else { *first };
    Some(code.map_or((plain, 1), |code| (code, 3)))
}

/// The byte that two hexadecimal digits at the beginning stand for.
fn byte(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        assert_eq!(encoded("a b/é~%"), "a%20b%2F%C3%A9~%25");
        assert_eq!(decoded(&encoded("a b/é~%")), "a b/é~%");
    }

    #[test]
    fn what_is_encoded_is_resolved_and_nothing_else() {
        for (text, plain, form) in [
            ("a%20b+c", "a b+c", "a b c"),
            ("%41%4a%4A", "AJJ", "AJJ"),
            ("100%", "100%", "100%"),
            ("%+f%-1%4", "%+f%-1%4", "% f%-1%4"),
            ("%zz%é", "%zz%é", "%zz%é"),
            ("%C3%A9%ff", "é\u{fffd}", "é\u{fffd}"),
        ] {
            assert_eq!((&*decoded(text), &*form_decoded(text)), (plain, form), "{text}");
        }
    }
}
