//! The JSON in a text: all of it, or what its lines hold.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use crate::text::json::Text;
use crate::text::sse::{self, Line};

/// Calls with each JSON document of a text and where it begins: all of the text, or lines that are some
/// or hold one behind `data:`, also where one goes over several such lines.
pub(crate) fn each_document(text: &str, mut told: impl FnMut(usize, Text<'_>)) {
    if let Some(whole) = Text::read_container(text) {
        return told(0, whole);
    }
    let mut lines = sse::event_lines(text.as_bytes());
    // Up to where lines of data were put together.
    let mut joined = 0;
    while let Some(line) = lines.next() {
        let start = line.content.start;
        let data = line.data(text.as_bytes());
        let said = data.clone().unwrap_or(line.content.clone());
        if let Some(document) = Text::read_container(&text[said.clone()]) {
            told(said.start, document);
        } else if start >= joined
            && data.is_some()
            && text[said].trim_start().starts_with(['{', '['])
        {
            let rest = std::iter::once(line).chain(lines.clone());
            let data = data_of_event(text, rest);
            joined = start + data.len();
            if let Some(document) = Text::read_container(&data) {
                told(start, document);
                lines.by_ref().take_while(|line| line.end < joined).for_each(drop);
            }
        }
    }
}

/// The data from a line of an event on. All else is white space, so that everything stays in its place.
fn data_of_event(text: &str, lines: impl Iterator<Item = Line>) -> String {
    let mut data = String::new();
    let mut start = None;
    for line in lines.take_while(|line| !line.content.is_empty()) {
        let start = *start.get_or_insert(line.content.start);
        let blank = |data: &mut String, to: usize| {
            data.extend(std::iter::repeat_n(' ', to - start - data.len()));
        };
        if let Some(value) = line.data(text.as_bytes()) {
            blank(&mut data, value.start);
            data.push_str(&text[value]);
            // A string does not go on in the next line.
            data.push_str(if line.end > line.content.end { "\n" } else { "" });
        }
        blank(&mut data, line.end);
    }
    data
}

/// What the messages of a stream say in pieces: for each place, the strings that stand there in one
/// message after the other, put together; those of all messages, and those of messages that are made
/// alike, for others may say something else there.
///
/// Where each message says the same, nothing comes in pieces: most places are so.
pub(crate) fn pieced_together(text: &str) -> Vec<String> {
    let mut places: HashMap<MessagePlace, Together, FixedState> = HashMap::default();
    each_document(text, |_, document| {
        let mut said = Vec::new();
        let mut form = 0;
        document.each_leaf(|pointer, _, value, spelled| {
            let place = FixedState::with_seed(0).hash_one(pointer);
            form = FixedState::with_seed(form).hash_one(place);
            if spelled.starts_with('"') {
                said.push((place, value));
            }
        });
        for (place, value) in said {
            places.entry((None, place)).or_default().add(&value);
            places.entry((Some(form), place)).or_default().add(&value);
        }
    });
    // Nearly all streams have one kind of messages in which a place is.
    let alike = |(form, place): &MessagePlace, it: &Together| {
        form.is_some() && places.get(&(None, *place)).is_some_and(|all| all.pieces == it.pieces)
    };
    let again: Vec<MessagePlace> =
        places.iter().filter(|(place, it)| alike(place, it)).map(|(place, _)| *place).collect();
    again.iter().for_each(|place| _ = places.remove(place));
    places.into_values().filter(|it| it.differs).map(|it| it.text).collect()
}

/// A place in messages that are made alike, or in all.
type MessagePlace = (Option<u64>, u64);

/// What stands in a place, one after the other.
#[derive(Default)]
struct Together {
    pieces: usize,
    differs: bool,
    /// All of it, or what it is each time as long as it does not differ.
    text: String,
}

impl Together {
    fn add(&mut self, piece: &str) {
        if self.pieces == 0 {
            self.text = piece.to_owned();
        } else if self.differs || self.text != piece {
            if !self.differs {
                self.differs = true;
                self.text = self.text.repeat(self.pieces);
            }
            self.text.push_str(piece);
        }
        self.pieces += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_where_they_stand() {
        for (text, expected) in [
            (r#" {"a": 1} "#, vec![r#"{"a": 1}"#]),
            ("{\"a\": 1}\n[2]\nx\n", vec![r#"{"a": 1}"#, "[2]"]),
            (
                "id: 1\ndata: {\"a\": 1}\n\ndata:[2]\r\n\r\ndata: [DONE]\n\n",
                vec![r#"{"a": 1}"#, "[2]"],
            ),
            (
                "data: {\ndata:   \"a\":\ndata: 1}\n\ndata: [2]\n",
                vec!["{\ndata:   \"a\":\ndata: 1}", "[2]"],
            ),
            ("data: {\r\ndata: \"a\": 1}\r\n\r\n", vec!["{\r\ndata: \"a\": 1}"]),
            (
                "\u{feff}data: {\"a\":\nid: ü\ndata: 1}\n\ndata: [2]\r\rdata: [3]",
                vec!["{\"a\":\nid: ü\ndata: 1}", "[2]", "[3]"],
            ),
            ("data: {\ndata: oh\n\ndata: [2]", vec!["[2]"]),
            ("data: {\ndata: {\ndata: [2]", vec!["[2]"]),
            ("data: {", vec![]),
        ] {
            let mut found = Vec::new();
            each_document(text, |start, document| {
                let json = document.as_str();
                let begin = start + json.len() - json.trim_start().len();
                found.push(&text[begin..start + json.trim_end().len()]);
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn pieces_of_a_stream_are_put_together_by_their_place() {
        let piece = |text: &str| format!("data: {{\"n\": 1, \"d\": {{\"t\": \"{text}\"}}}}\n\n");
        let other = "data: {\"d\": {\"t\": \"x\"}, \"y\": \"z\"}\n\n";
        let text = [piece("run_4cn"), other.to_owned(), piece("Ojem")].concat();

        let mut together = pieced_together(&text);

        together.sort_unstable();
        assert_eq!(together, ["run_4cnOjem", "run_4cnxOjem"]);
    }
}
