//! Letters that belong to an escape, and to no word: of JSON (`\n`, `\u2014`) or of an address (`%3A`).

/// Whether a backslash and this letter are an escape of JSON.
pub(crate) const fn is_letter(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f')
}

/// Whether an escape may begin with it.
pub(crate) const fn is_mark(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%')
}

/// How many letters behind the mark that comes first belong to it.
pub(crate) fn letters(text: &[u8]) -> usize {
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match text {
        [b'\\', letter, ..] if is_letter(*letter) => 1,
        [b'\\', b'u', a, b, c, d, ..] if hex(&[*a, *b, *c, *d]) => 5,
        [b'%', a, b, ..] if hex(&[*a, *b]) => 2,
        _ => 0,
    }
}

/// Whether a text ends with an escape.
pub(crate) fn ends(text: &[u8]) -> bool {
    let ends_with = |length: usize| {
        let mark = text.len().checked_sub(length + 1);
        // Asked of each letter of a text, so the mark comes first.
        mark.is_some_and(|mark| is_mark(text[mark]) && letters(&text[mark..]) == length)
    };
    ends_with(1) || ends_with(2) || ends_with(5)
}
