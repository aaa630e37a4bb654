//! Parameters behind a header field's value: `form-data; name="a"`.

use std::borrow::Cow;

use crate::text::percent;

/// What a parameter says. Its extended form (`name*=UTF-8''…`) counts before its plain one.
pub(super) fn find<'a>(value: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let named = |(found, text): (&'a [u8], Cow<'a, [u8]>)| {
        found.eq_ignore_ascii_case(name.as_bytes()).then_some(text)
    };
    let is_extended = |found: &[u8]| match found.split_last() {
        Some((b'*', found)) => found.eq_ignore_ascii_case(name.as_bytes()),
        _ => false,
    };
    let extended = all(value).find(|(found, _)| is_extended(found));
    match extended.and_then(|(_, text)| decoded(&text)) {
        Some(text) => Some(Cow::Owned(text)),
        None => all(value).find_map(named).map(text),
    }
}

/// The names and values behind each `;`.
fn all(value: &[u8]) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        loop {
            let start = memchr::memchr(b';', rest)? + 1;
            rest = &rest[start..];
            let length = memchr::memchr2(b'=', b';', rest)?;
            let (name, behind) = rest.split_at(length);
            rest = behind;
            if let [b'=', behind @ ..] = behind {
                let (text, behind) = one(behind.trim_ascii_start());
                rest = behind;
                return Some((name.trim_ascii(), text));
            }
        }
    })
}

/// A value and what stands behind it.
fn one(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    if let [b'"', quoted @ ..] = text {
        return self::quoted(quoted);
    }
    let end = memchr::memchr(b';', text).unwrap_or(text.len());
    (Cow::Borrowed(text[..end].trim_ascii_end()), &text[end..])
}

/// What stands up to the closing quote. A backslash that escapes nothing is one: browsers write
/// `C:\file` so.
fn quoted(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut plain: Option<Vec<u8>> = None;
    let mut at = 0;
    let end = loop {
        match &text[at..] {
            [] | [b'"', ..] => break at,
            [b'\\', escaped @ (b'"' | b'\\'), ..] => {
                plain.get_or_insert_with(|| text[..at].to_vec()).push(*escaped);
                at += 2;
            }
            [byte, ..] => {
                plain.iter_mut().for_each(|plain| plain.push(*byte));
                at += 1;
            }
        }
    };
    let behind = text.get(end + 1..).unwrap_or_default();
    (plain.map_or(Cow::Borrowed(&text[..end]), Cow::Owned), behind)
}

/// What `UTF-8'en'na%C3%AFve` says; nothing if it is of another character set.
fn decoded(text: &[u8]) -> Option<String> {
    let mut parts = str::from_utf8(text).ok()?.splitn(3, '\'');
    let charset = parts.next()?;
    let text = parts.nth(1)?;
    charset.eq_ignore_ascii_case("utf-8").then(|| percent::decoded(text).into_owned())
}

fn text(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}
