//! Secrets that a stream has in pieces: a few letters in each of many messages.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use bytes::Bytes;

use super::rule::{Notes, Rule, Side};
use super::{Redactor, Secrets, look, value};
use crate::cassette::splice::{Edit, in_order, splice};
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
pub(super) fn edits(body: &[u8], find: impl FnMut(&[u8]) -> Vec<Edit>) -> Vec<Edit> {
    let mut all: HashMap<String, Joined> = HashMap::new();
    for line in sse::event_lines(body) {
        let said = line.data(body).unwrap_or(line.content);
        let start = said.start;
        if let Some(json) = Text::parse_container(body[said].trim_ascii_end()) {
            take(json, start, &mut all);
        }
    }
    // What one piece holds was found in it.
    in_order(found(all, find).filter(|edits| edits.len() > 1).flatten().collect())
}

/// The same for messages that follow each other, for each. What is no JSON is text that goes on in the next.
pub(super) fn edits_of_messages<'m>(
    messages: impl Iterator<Item = &'m [u8]>,
    find: impl FnMut(&[u8]) -> Vec<Edit>,
) -> Vec<Vec<Edit>> {
    let (all, ends) = joined(messages);
    by_message(found(all, find).filter(|edits| edits.len() > 1).flatten(), &ends)
}

/// The messages that one side sends, as far as they may matter for the next: a journal is written while
/// they come.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    earlier: VecDeque<Bytes>,
    length: usize,
}

/// So many bytes of earlier messages are looked at again.
const EARLIER: usize = 4 * 1024;

/// What stands for the beginning of a secret whose end has not come.
const BEGUN: &str = "begun";

impl Pieces {
    /// A message without what it has of a secret that began in an earlier one, or may go on in a later one.
    pub(crate) fn next(
        &mut self,
        redactor: &Redactor,
        message: &Bytes,
        secrets: &mut Secrets,
    ) -> Bytes {
        let searcher = secrets.searcher();
        let mut notes = Notes { redactor, side: Side::Response, secrets };
        let messages = self.earlier.iter().chain([message]).map(|message| &message[..]);
        let (all, ends) = joined(messages);
        let edits = found(all, |text| {
            let mut edits = look::find(text, &mut notes);
            let open = look::open(text);
            if notes.applies(Rule::Looks) && open < text.len() {
                edits.push(Edit::new(open..text.len(), value::placeholder(BEGUN).into_bytes()));
            }
            if notes.applies(Rule::Values) {
                edits.extend(searcher.edits_of_body(text));
            }
            in_order(edits)
        });
        let edits = by_message(edits.flatten(), &ends).pop().unwrap_or_default();
        self.earlier.push_back(message.clone());
        self.length += message.len();
        while self.length > EARLIER
            && let Some(first) = self.earlier.pop_front()
        {
            self.length -= first.len();
        }
        if edits.is_empty() { message.clone() } else { splice(message, &edits).into() }
    }
}

/// The strings of messages that follow each other, and where each message ends.
fn joined<'m>(messages: impl Iterator<Item = &'m [u8]>) -> (HashMap<String, Joined>, Vec<usize>) {
    let (mut all, mut ends) = (HashMap::new(), Vec::new());
    let mut start = 0;
    for message in messages {
        match Text::parse_container(message) {
            Some(json) => take(json, start, &mut all),
            None => all.entry(String::new()).or_default().push(message, start),
        }
        start += message.len();
        ends.push(start);
    }
    (all, ends)
}

/// What `find` wants in joined texts: for each edit, those of the pieces.
fn found(
    all: HashMap<String, Joined>,
    mut find: impl FnMut(&[u8]) -> Vec<Edit>,
) -> impl Iterator<Item = Vec<Edit>> {
    all.into_values().flat_map(move |joined| {
        let found = find(&joined.text).into_iter();
        found.map(move |edit| joined.outside(&edit)).collect::<Vec<_>>()
    })
}

/// Edits of messages that stand one behind the other, as those of each, in order.
fn by_message(edits: impl Iterator<Item = Edit>, ends: &[usize]) -> Vec<Vec<Edit>> {
    let mut each = vec![Vec::new(); ends.len()];
    for Edit { range, with } in edits {
        let at = ends.partition_point(|end| *end <= range.start);
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        each[at].push(Edit::new(range.start - start..range.end - start, with));
    }
    each.into_iter().map(in_order).collect()
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
                        joined.push(inner.as_bytes(), end - inner.len());
                    }
                }
            }
        }
    }
}

impl Joined {
    /// Adds a piece that begins at a place of the body.
    fn push(&mut self, piece: &[u8], start: usize) {
        self.pieces.push((self.text.len(), start..start + piece.len()));
        self.text.extend_from_slice(piece);
    }

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
        edits
    }
}
