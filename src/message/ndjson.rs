//! Newline-delimited JSON, also with a record separator before each line (RFC 7464), or behind it as in SignalR.

use std::ops::Range;

use crate::text::json::Text;

/// What stands before each value of a JSON sequence, or behind it. No JSON has it inside.
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

/// Cuts a body into its lines, whatever the pieces it arrives in. Lines of white space are no items.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    line: Vec<u8>,
    line_start: usize,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The line without its end, the white space around it and record separators. Bytes that are not UTF-8 are replaced
    /// by U+FFFD.
    pub text: String,
    /// Where that text stands in the body, in bytes.
    pub range: Range<usize>,
}

/// The JSON of a packet of Engine.IO or Socket.IO, which stands behind what sort of packet it is, and perhaps a
/// namespace and the number of its answer: `42["news",{}]`, `43/admin,7[{}]`. Gives the sort (`42`) and where the JSON
/// begins.
pub(crate) fn packet(text: &str) -> Option<(&str, usize)> {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    // What Engine.IO calls a message (4) is a packet of Socket.IO.
    let sort = &text[..digits(0).min(if text.starts_with('4') { 2 } else { 1 })];
    if !sort.starts_with(|first: char| ('0'..='6').contains(&first)) {
        return None;
    }
    let mut at = digits(0);
    if text[at..].starts_with('-') {
        at = digits(at + 1);
    }
    if text[at..].starts_with('/') {
        at += text[at..].find(',')? + 1;
        at = digits(at);
    }
    let is_json = text[at..].starts_with(['[', '{']) && Text::read(&text[at..]).is_some();
    is_json.then_some((sort, at))
}

impl Decoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the body and gives the lines that they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr2(b'\n', RECORD_SEPARATOR, rest) {
            self.line.extend_from_slice(&rest[..end]);
            items.extend(self.take_line());
            self.line_start += 1;
            rest = &rest[end + 1..];
        }
        self.line.extend_from_slice(rest);
        items
    }

    /// The last line, if there was no line end behind it. It counts as a line: many servers leave
    /// the last line end away.
    pub fn finish(mut self) -> Option<Item> {
        self.take_line()
    }

    fn take_line(&mut self) -> Option<Item> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii_start();
        let start = self.line_start + (line.len() - text.len());
        self.line_start += line.len();
        let line = text.trim_ascii_end();
        let text = crate::cassette::text(line).into_owned();
        (!line.is_empty()).then(|| Item { text, range: start..start + line.len() })
    }
}
