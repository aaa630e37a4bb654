//! Server-sent events, by the WHATWG standard.

use std::ops::Range;

use crate::cassette::text;

/// The byte order mark that may stand before the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Cuts an event stream into its items, whatever the pieces it arrives in.
///
/// Nothing is held back: an event is given as soon as the first byte of the line end behind its empty
/// line is there.
///
/// # Rationale
///
/// `EventSource` shows a page the events and nothing else. Who looks at a recording also wants the
/// comments (keep-alives), the `retry` times, the blocks which the standard drops for want of data,
/// and the place of each in the body, so these are items of their own.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    /// The beginning of a line that is not complete.
    line: Vec<u8>,
    line_start: usize,
    /// The number of bytes that were pushed.
    at: usize,
    after_cr: bool,
    block: Block,
    last_id: String,
}

/// The lines since the last empty one.
#[derive(Debug, Clone, Default)]
struct Block {
    start: Option<usize>,
    name: String,
    data: String,
}

/// Something that stands in an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub content: Content,
    /// Where it stands in the body, in bytes: for an event its lines without the empty one that ends
    /// it; for a comment or a retry time its line without the line end.
    pub range: Range<usize>,
}

/// What can stand in an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// An event.
    Event {
        /// Its name; none stands for `message`.
        name: Option<String>,
        /// Its data lines, joined by `\n`.
        data: String,
        /// The last event id by then, its own or an earlier one's; empty if there was none.
        last_id: String,
    },
    /// A block that has a name but no data line. By the standard it is no event; several SDKs show
    /// it to their users nevertheless.
    Dropped {
        /// The name it gave.
        name: String,
    },
    /// A line that began with a colon: what stood behind it, without the space that most put there.
    Comment(String),
    /// How many milliseconds a client should wait before it connects again.
    Retry(u64),
}

impl Decoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the body and gives what they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                self.at += 1;
                self.line_start = self.at;
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', rest) else {
                self.line.extend_from_slice(rest);
                self.at += rest.len();
                break;
            };
            let mut begun = std::mem::take(&mut self.line);
            let line = if begun.is_empty() {
                &rest[..end]
            } else {
                begun.extend_from_slice(&rest[..end]);
                &begun
            };
            items.extend(self.take_line(line));
            self.at += end + 1;
            self.line_start = self.at;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
        }
        items
    }

    /// What stands behind the last complete item, if anything: at the end of the stream, an event
    /// that was cut short, which the standard drops.
    pub fn rest(&self) -> Option<Range<usize>> {
        let start = self.block.start.unwrap_or(self.line_start);
        (start < self.at).then_some(start..self.at)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Item> {
        let (start, line) = match line.strip_prefix(BOM) {
            Some(line) if self.line_start == 0 => (BOM.len(), line),
            _ => (self.line_start, line),
        };
        if line.is_empty() {
            return self.dispatch(start);
        }
        let range = start..start + line.len();
        // Line ends are ASCII, so replacing in each line is replacing in the whole stream.
        let line = text(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        if field.is_empty() {
            return Some(Item { content: Content::Comment(value.to_owned()), range });
        }
        self.block.start.get_or_insert(start);
        let retry = self.take_field(field, value)?;
        Some(Item { content: Content::Retry(retry), range })
    }

    /// Gives the retry time if that is the field.
    fn take_field(&mut self, field: &str, value: &str) -> Option<u64> {
        match field {
            "event" => self.block.name = value.to_owned(),
            "data" => {
                self.block.data.push_str(value);
                self.block.data.push('\n');
            }
            "id" if !value.contains('\0') => self.last_id = value.to_owned(),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Some(value.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
        None
    }

    fn dispatch(&mut self, end: usize) -> Option<Item> {
        let Block { start, name, mut data } = std::mem::take(&mut self.block);
        let range = start?..end;
        let name = Some(name).filter(|name| !name.is_empty());
        let content = match data.pop() {
            Some(_) => Content::Event { name, data, last_id: self.last_id.clone() },
            None => Content::Dropped { name: name? },
        };
        Some(Item { content, range })
    }
}
