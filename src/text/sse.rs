//! Lines of a text, and the fields of server-sent events on them, each with its place.
//!
//! A line of NDJSON is a [`Line`] too. Offsets count from the beginning of the text.

use std::ops::Range;

/// A line of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it stands, without what ends it.
    pub(crate) content: Range<usize>,
    /// Where the next one begins.
    pub(crate) end: usize,
}

/// A line of an event: `name: value`. A comment has an empty name; a line without a colon is a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldLine {
    /// Where its name stands.
    pub(crate) name: Range<usize>,
    /// Where its value stands, behind the colon and one space.
    pub(crate) value: Range<usize>,
}

/// The lines of a text. A line feed ends one, with a carriage return before it or without.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = Line> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest);
        let end = length.map_or(text.len(), |length| start + length + 1);
        let mut line = &text[start..length.map_or(end, |_| end - 1)];
        if length.is_some() {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        let content = start..start + line.len();
        start = end;
        Some(Line { content, end })
    })
}

/// The lines of an event stream. A carriage return, a line feed, or both end one. A byte order mark at the beginning
/// is no part of the first.
pub(crate) fn event_lines(text: &[u8]) -> impl Iterator<Item = Line> + Clone + '_ {
    let mut start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let ending = match rest[length..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let content = start..start + length;
        start += length + ending;
        Some(Line { content, end: start })
    })
}

/// What some servers begin a text with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Where the events of a stream end: behind the empty lines that follow them.
pub(crate) fn event_ends(text: &[u8]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut is_open = true;
    for line in event_lines(text) {
        if !line.content.is_empty() {
            is_open = true;
        } else if is_open {
            ends.push(line.end);
            is_open = false;
        } else if let Some(last) = ends.last_mut() {
            *last = line.end;
        }
    }
    ends
}

impl Line {
    /// Where the data stands, if it is the line of an event that has some.
    pub(crate) fn data(&self, text: &[u8]) -> Option<Range<usize>> {
        let FieldLine { name, value } = self.field(text);
        (text[name.clone()] == *b"data" && name.end < value.start).then_some(value)
    }

    /// What ends it: nothing behind the last line of some texts.
    pub(crate) fn ending<'t>(&self, text: &'t str) -> &'t str {
        &text[self.content.end..self.end]
    }

    /// The field that it is in an event.
    pub(crate) fn field(&self, text: &[u8]) -> FieldLine {
        let Range { start, end } = self.content;
        let Some(colon) = memchr::memchr(b':', &text[start..end]) else {
            return FieldLine { name: start..end, value: end..end };
        };
        let colon = start + colon;
        let space = usize::from(text[colon + 1..end].first() == Some(&b' '));
        FieldLine { name: start..colon, value: colon + 1 + space..end }
    }
}

impl FieldLine {
    /// What parts name and value: a colon, and a space behind it in most streams.
    pub(crate) fn colon<'t>(&self, text: &'t str) -> &'t str {
        &text[self.name.end..self.value.start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_fields_are_found_where_they_stand() {
        let text = "data: {}\r\n:x\nid:  1\nretry\n\ndata:\r";

        let found: Vec<_> = lines(text.as_bytes())
            .map(|line| {
                let field = line.field(text.as_bytes());
                let (name, value) = (&text[field.name.clone()], &text[field.value.clone()]);
                (name, field.colon(text), value, line.ending(text))
            })
            .collect();

        assert_eq!(
            found,
            [
                ("data", ": ", "{}", "\r\n"),
                ("", ":", "x", "\n"),
                ("id", ": ", " 1", "\n"),
                ("retry", "", "", "\n"),
                ("", "", "", "\n"),
                ("data", ":", "\r", ""),
            ]
        );
    }

    #[test]
    fn the_lines_of_an_event_stream_end_as_the_standard_says() {
        let ends = |text: &str| {
            let lines = event_lines(text.as_bytes());
            let lines: Vec<&str> = lines.map(|line| &text[line.content]).collect();
            (lines.join("|"), event_ends(text.as_bytes()))
        };

        assert_eq!(ends("data: a\r\rdata: b\r"), ("data: a||data: b".to_owned(), vec![9]));
        assert_eq!(ends("\u{feff}id: 1\r\n\r\n:x\n"), ("id: 1||:x".to_owned(), vec![12]));
        assert_eq!(ends(": hi\r\n\r\ndata: a\n\n\n"), (": hi||data: a||".to_owned(), vec![8, 18]));
    }
}
