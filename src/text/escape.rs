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

/// Where the escape ends within which a place is, or which ends there; beyond the text if it is in none.
pub(crate) fn end_of(text: &[u8], place: usize) -> usize {
    const LONGEST: usize = 6;
    let marks = (place.saturating_sub(LONGEST)..place).filter(|at| is_mark(text[*at]));
    let mut ends = marks.map(|mark| mark + 1 + letters(&text[mark..]));
    ends.find(|end| *end >= place).unwrap_or(usize::MAX)
}
