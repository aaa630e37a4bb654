//! Secrets that a stream has in pieces: a few letters in each of many messages.

use std::collections::HashMap;
use std::ops::Range;

use crate::cassette::splice::{Edit, in_order};
use crate::text::json::{Container, Text, Token};
use crate::text::sse;

/// The strings that stand in one place of several messages, one behind the other.
#[derive(Default)]
struct Joined {
    text: Vec<u8>,
    /// Where each piece begins here, and where it stands in the body.
    pieces: Vec<(usize, Range<usize>)>,
}

/// The edits that `find` wants in texts that a stream of JSON messages has in pieces, in order.
pub(super) fn edits(body: &[u8], mut find: impl FnMut(&[u8]) -> Vec<Edit>) -> Vec<Edit> {
    let mut all: HashMap<String, Joined> = HashMap::new();
    for line in sse::lines(body) {
        let field = line.field(body);
        let is_data = body[field.name.clone()] == *b"data" && field.name.end < field.value.start;
        let start = if is_data { field.value.start } else { line.content.start };
        if let Some(json) = Text::parse_container(body[start..line.end].trim_ascii_end()) {
            take(json, start, &mut all);
        }
    }
    let several = all.into_values().filter(|joined| joined.pieces.len() > 1);
    let edits = several.flat_map(|joined| {
        let found = find(&joined.text);
        found.into_iter().flat_map(move |edit| joined.outside(&edit)).collect::<Vec<_>>()
    });
    in_order(edits.collect())
}

/// Adds the strings of a message, each to those that stand in the same place.
fn take(json: Text<'_>, offset: usize, all: &mut HashMap<String, Joined>) {
    let mut levels: Vec<(Container, String)> = Vec::new();
    let mut tokens = json.tokens();
    while let Some(token) = tokens.next() {
        match token {
            Token::Open(container) => levels.push((container, String::new())),
            Token::Close(_) => drop(levels.pop()),
            Token::Comma => {
                if let Some((Container::Object, key)) = levels.last_mut() {
                    key.clear();
                }
            }
            Token::Colon | Token::Scalar(_) => {}
            Token::String(spelled) => {
                let inner = &spelled[1..spelled.len() - 1];
                match levels.last_mut() {
                    Some((Container::Object, key)) if key.is_empty() => *key = format!("{inner}/"),
                    _ => {
                        let place = levels.iter().map(|(_, key)| key.as_str()).collect();
                        let end = offset + tokens.end() - 1;
                        let joined: &mut Joined = all.entry(place).or_default();
                        joined.pieces.push((joined.text.len(), end - inner.len()..end));
                        joined.text.extend_from_slice(inner.as_bytes());
                    }
                }
            }
        }
    }
}

impl Joined {
    /// An edit as edits of the pieces: what stands for a secret goes to where it begins.
    fn outside(&self, edit: &Edit) -> Vec<Edit> {
        let first = self.pieces.partition_point(|(start, _)| *start <= edit.range.start) - 1;
        let mut with = edit.with.clone();
        let mut edits = Vec::new();
        for (start, there) in &self.pieces[first..] {
            let from = edit.range.start.max(*start);
            let to = edit.range.end.min(start + there.len());
            if *start >= edit.range.end {
                break;
            }
            if from < to {
                let range = there.start + from - start..there.start + to - start;
                edits.push(Edit::new(range, std::mem::take(&mut with)));
            }
        }
        // What one piece holds was found in it.
        if edits.len() > 1 { edits } else { Vec::new() }
    }
}
