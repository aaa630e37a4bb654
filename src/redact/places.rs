//! Texts that stand within other texts, and where their bytes come from.

use std::ops::Range;

use crate::cassette::splice::Edit;

/// A text put together from pieces of another, such as a string without its escapes.
#[derive(Default)]
pub(super) struct Places {
    pub(super) text: Vec<u8>,
    /// Where a piece begins here, and where its first byte stands in the other text.
    pieces: Vec<(usize, usize)>,
}

impl Places {
    /// What a JSON string says that is spelled so, without the quotes, beginning at `offset`.
    pub(super) fn of_json_string(spelled: &str, offset: usize) -> Self {
        let mut places = Self::default();
        let bytes = spelled.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
            places.push(&bytes[at..at + found], offset + at);
            at += found;
            let (char, length) = unescape(&spelled[at..]);
            places.push(char.encode_utf8(&mut [0; 4]).as_bytes(), offset + at);
            at += length;
        }
        places.push(&bytes[at..], offset + at);
        places.pieces.push((places.text.len(), offset + bytes.len()));
        places
    }

    /// Adds bytes that stand at `offset` of the other text.
    pub(super) fn push(&mut self, bytes: &[u8], offset: usize) {
        self.pieces.push((self.text.len(), offset));
        self.text.extend_from_slice(bytes);
    }

    /// Adds a line break that is none of the bytes at `offset`.
    pub(super) fn end_line(&mut self, offset: usize) {
        self.push(b"\n", offset);
    }

    /// Edits of this text as edits of the other.
    pub(super) fn outside(&self, edits: Vec<Edit>) -> impl Iterator<Item = Edit> + '_ {
        edits.into_iter().map(|edit| Edit { range: self.range(&edit.range), with: edit.with })
    }

    fn range(&self, range: &Range<usize>) -> Range<usize> {
        self.at(range.start)..self.at(range.end)
    }

    fn at(&self, here: usize) -> usize {
        let next = self.pieces.partition_point(|(start, _)| *start <= here);
        let (start, there) = self.pieces.get(next.wrapping_sub(1)).copied().unwrap_or_default();
        there + (here - start)
    }
}

/// The character that an escape stands for, and the escape's length. A lone surrogate stands for the
/// replacement character.
fn unescape(escape: &str) -> (char, usize) {
    let simple = |c: char| (c, 2);
    match escape.as_bytes().get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => match (hex(escape), escape.get(6..).and_then(hex_escape)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => simple('u'),
        },
        Some(byte) if byte.is_ascii() => simple(char::from(*byte)),
        _ => ('\\', 1),
    }
}

fn hex(escape: &str) -> Option<u32> {
    u32::from_str_radix(escape.get(2..6)?, 16).ok()
}

fn hex_escape(text: &str) -> Option<u32> {
    text.starts_with("\\u").then(|| hex(text)).flatten()
}
