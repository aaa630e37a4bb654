//! A body in the pieces that are laid beside each other: events, lines, fields.

use std::ops::Range;

use super::lens::{Lens, combine, hash_of};
use super::{Field, Node};
use crate::cassette::Media;
use crate::message::keeps_alive;
use crate::text::json::Text;

/// A piece of a body with what ends it: an event, a line, a field of a form, or all of it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) range: Range<usize>,
    /// The values in it, in order. What stands between them is compared as it is.
    pub(crate) parts: Vec<Node>,
    /// Whether it only says that the other side is still there.
    pub(crate) is_keep_alive: bool,
    /// Equal for records that are the same as far as is known. Set by a lens.
    pub(crate) hash: u64,
}

impl Record {
    /// Cuts a body.
    pub(super) fn all(content_type: Option<&str>, body: &[u8]) -> Vec<Self> {
        let Ok(text) = std::str::from_utf8(body) else { return vec![Self::opaque(body.len())] };
        match Media::of(content_type) {
            Media::EventStream => blocks(text).map(|range| Self::event(text, range)).collect(),
            Media::Form => pieces(text, '&').map(|range| Self::field(text, range)).collect(),
            _ => match Text::parse_container(body) {
                Some(json) => vec![Self::of(0..text.len(), vec![Node::json(json, 0)])],
                None => pieces(text, '\n').map(|range| Self::line(text, range)).collect(),
            },
        }
    }

    /// Makes the hashes of a piece of what is no text.
    pub(super) fn look_opaque(&mut self, body: &[u8]) {
        self.hash = hash_of(&body[self.range.clone()]);
    }

    /// Makes the hashes of a piece of a text.
    pub(super) fn look(&mut self, text: &str, lens: &Lens<'_>) {
        self.parts.iter_mut().for_each(|part| lens.look(text, part));
        let mut rest = self.range.start;
        let mut hashes = Vec::with_capacity(2 * self.parts.len() + 1);
        for part in &self.parts {
            hashes.extend([hash_of(&text.as_bytes()[rest..part.range.start]), part.hash]);
            rest = part.range.end;
        }
        hashes.push(hash_of(&text.as_bytes()[rest..self.range.end]));
        self.hash = combine(hashes);
    }

    fn of(range: Range<usize>, parts: Vec<Node>) -> Self {
        Self { range, parts, is_keep_alive: false, hash: 0 }
    }

    fn opaque(length: usize) -> Self {
        Self::of(0..length, Vec::new())
    }

    fn line(text: &str, range: Range<usize>) -> Self {
        let parts = vec![value(text, content(text, &range))];
        Self::of(range, parts)
    }

    fn field(text: &str, range: Range<usize>) -> Self {
        let whole = range.start..range.start + text[range.clone()].trim_end_matches('&').len();
        let name = text[whole.clone()].split('=').next().unwrap_or_default();
        let parts = vec![Node::leaf(&text[whole.clone()], whole.start, Field::of(name))];
        Self::of(range, parts)
    }

    fn event(text: &str, range: Range<usize>) -> Self {
        let (mut parts, mut data, mut name) = (Vec::new(), String::new(), None);
        let mut is_comment = true;
        for line in pieces(&text[range.clone()], '\n') {
            let line = range.start + line.start..range.start + line.end;
            let whole = content(text, &line);
            let said = &text[whole.clone()];
            is_comment &= said.is_empty() || said.starts_with(':');
            let behind = |field: &str| {
                let value = said.strip_prefix(field)?.strip_prefix(':')?;
                let value = value.strip_prefix(' ').unwrap_or(value);
                Some(whole.end - value.len()..whole.end)
            };
            match (behind("data"), behind("event"), behind("id")) {
                (Some(value_range), ..) => {
                    data.push_str(&text[value_range.clone()]);
                    parts.push(value(text, value_range));
                }
                (_, Some(event), _) => name = Some(&text[event]),
                (_, _, Some(id)) => parts.push(Node::leaf(&text[id.clone()], id.start, Field::ID)),
                _ if !said.is_empty() => parts.push(Node::leaf(said, whole.start, Field::PLAIN)),
                _ => {}
            }
        }
        let is_keep_alive = is_comment || (!data.is_empty() && keeps_alive(&data, name));
        Self { is_keep_alive, ..Self::of(range, parts) }
    }
}

/// A value that stands in a line: JSON, or a text.
fn value(text: &str, range: Range<usize>) -> Node {
    match Text::read_container(&text[range.clone()]) {
        Some(json) => Node::json(json, range.start),
        None => Node::leaf(&text[range.clone()], range.start, Field::PLAIN),
    }
}

/// A line without its end.
fn content(text: &str, line: &Range<usize>) -> Range<usize> {
    line.start..line.start + text[line.clone()].trim_end_matches(['\n', '\r']).len()
}

/// The pieces that end with a mark.
fn pieces(text: &str, mark: char) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split_inclusive(mark).map(move |piece| {
        let range = start..start + piece.len();
        start = range.end;
        range
    })
}

/// The blocks that end with an empty line.
fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut lines = pieces(text, '\n');
    std::iter::from_fn(move || {
        let mut block = lines.next()?;
        while !content(text, &last_line(text, &block)).is_empty() {
            let Some(line) = lines.next() else { break };
            block.end = line.end;
        }
        Some(block)
    })
}

fn last_line(text: &str, block: &Range<usize>) -> Range<usize> {
    let before = text[block.clone()].trim_end_matches('\n').rfind('\n');
    let ends = text[block.clone()].ends_with("\n\n") || text[block.clone()].ends_with("\n\r\n");
    match (ends, before) {
        (true, _) => block.end..block.end,
        (false, Some(before)) => block.start + before + 1..block.end,
        (false, None) => block.clone(),
    }
}
