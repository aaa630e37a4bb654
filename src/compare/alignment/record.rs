//! A body in the pieces that are laid beside each other: events, lines, fields.

use std::ops::Range;

use super::renaming::Lens;
use super::value::{self, Node, Value};
use super::words::Field;
use crate::cassette::Media;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::message::keeps_alive;
use crate::text::json::Text;
use crate::text::{form, sse};

/// A piece of a body with what ends it: an event, a line, a field of a form, or all of it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) range: Range<usize>,
    /// The values in it, in order. What stands between them is compared as it is.
    nodes: Vec<Node>,
    /// Whether it only says that the other side is still there.
    pub(crate) is_keep_alive: bool,
    /// Equal for records that are the same as far as is known. Set by a lens.
    pub(crate) hash: u64,
}

impl Record {
    /// Cuts a body.
    pub(super) fn all(content_type: Option<&str>, body: &[u8]) -> Vec<Self> {
        let Ok(text) = std::str::from_utf8(body) else { return vec![Self::of(0..body.len())] };
        match Media::of(content_type) {
            Media::EventStream => events(text),
            Media::Form => fields(text),
            _ if Text::parse_container(body).is_some() => {
                let mut record = Self::of(0..text.len());
                value::read(text, 0..text.len(), &mut record.nodes);
                vec![record]
            }
            _ => lines(text),
        }
    }

    /// The values in it that are in no others.
    pub(crate) fn values<'v>(&'v self, text: &'v str) -> Vec<Value<'v>> {
        Value::all(text, &self.nodes)
    }

    /// All its values.
    pub(super) fn nodes<'v>(&'v self, text: &'v str) -> impl Iterator<Item = Value<'v>> {
        (0..self.nodes.len()).map(move |at| Value { text, nodes: &self.nodes, at })
    }

    /// Makes the hashes of a piece of what is no text.
    pub(super) fn look_opaque(&mut self, body: &[u8]) {
        self.hash = hash_of(&body[self.range.clone()]);
    }

    /// Makes the hashes of a piece of a text.
    pub(super) fn look(&mut self, text: &str, lens: Lens<'_>) {
        value::look(&mut self.nodes, text, lens);
        let mut rest = self.range.start;
        let mut hashes = Vec::new();
        for value in Value::all(text, &self.nodes) {
            let node = value.node();
            hashes.extend([hash_of(&text[rest..node.range.start]), node.hash]);
            rest = node.range.end;
        }
        hashes.push(hash_of(&text[rest..self.range.end]));
        self.hash = combine(&hashes);
    }

    fn of(range: Range<usize>) -> Self {
        Self { range, nodes: Vec::new(), is_keep_alive: false, hash: 0 }
    }
}

fn lines(text: &str) -> Vec<Record> {
    let mut start = 0;
    let line = |line: sse::Line| {
        let mut record = Record::of(start..line.end);
        value::read(text, line.content, &mut record.nodes);
        start = line.end;
        record
    };
    sse::lines(text.as_bytes()).map(line).collect()
}

fn fields(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for field in form::fields(text, 0..text.len(), &['&']) {
        let start = if records.is_empty() { 0 } else { field.name.start };
        records.last_mut().into_iter().for_each(|before| before.range.end = start);
        let mut record = Record::of(start..text.len());
        let name = Field::of(&text[field.name.clone()]);
        let end = field.value.map_or(field.name.end, |value| value.end);
        value::leaf(text, field.name.start..end, name, &mut record.nodes);
        records.push(record);
    }
    records
}

/// The events, each with the empty line that ends it.
fn events(text: &str) -> Vec<Record> {
    let mut events = Vec::new();
    let mut lines = sse::lines(text.as_bytes()).peekable();
    let mut start = 0;
    while lines.peek().is_some() {
        let mut event = Record::of(start..start);
        let (mut data, mut name, mut is_comment) = (String::new(), None, true);
        for line in lines.by_ref() {
            event.range.end = line.end;
            if line.content.is_empty() {
                break;
            }
            let field = line.field(text.as_bytes());
            is_comment &= field.name.is_empty();
            match &text[field.name.clone()] {
                "data" => {
                    data.push_str(&text[field.value.clone()]);
                    value::read(text, field.value, &mut event.nodes);
                }
                "event" => name = Some(&text[field.value]),
                "id" => value::leaf(text, field.value, Field::ID, &mut event.nodes),
                _ => value::leaf(text, line.content, Field::PLAIN, &mut event.nodes),
            }
        }
        event.is_keep_alive = is_comment || (!data.is_empty() && keeps_alive(&data, name));
        start = event.range.end;
        events.push(event);
    }
    events
}
