//! The JSON in a text: all of it, or what its lines hold.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use crate::text::json::Text;

/// Calls with each JSON document of a text and where it begins: all of the text, or lines that are some
/// or hold one behind `data:`, also where one goes over several such lines.
pub(crate) fn each_document(text: &str, mut told: impl FnMut(usize, Text<'_>)) {
    if let Some(whole) = Text::read_container(text) {
        return told(0, whole);
    }
    let mut lines = Lines { text, at: 0, tried: 0 };
    while let Some(line) = lines.next() {
        let Some(data) = line.strip_prefix(DATA) else {
            Text::read_container(line).into_iter().for_each(|found| told(lines.begin(line), found));
            continue;
        };
        if let Some(document) = Text::read_container(data) {
            told(lines.begin(data), document);
        } else if data.trim_start().starts_with(['{', '[']) {
            lines.several(lines.begin(line), &mut told);
        }
    }
}

/// What the messages of a stream say in pieces: for each place, the strings that stand there in one
/// message after the other, put together; those of all messages, and those of messages that are made
/// alike, for others may say something else there.
///
/// Where each message says the same, nothing comes in pieces: most places are so.
pub(crate) fn pieced_together(text: &str) -> Vec<String> {
    let mut places: HashMap<Place, Together, FixedState> = HashMap::default();
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
    let alike = |(form, place): &Place, it: &Together| {
        form.is_some() && places.get(&(None, *place)).is_some_and(|all| all.pieces == it.pieces)
    };
    let again: Vec<Place> =
        places.iter().filter(|(place, it)| alike(place, it)).map(|(place, _)| *place).collect();
    again.iter().for_each(|place| _ = places.remove(place));
    places.into_values().filter(|it| it.differs).map(|it| it.text).collect()
}

/// A place in messages that are made alike, or in all.
type Place = (Option<u64>, u64);

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

const DATA: &str = "data:";

/// The lines of a text, none of which is empty.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    /// Up to where several lines were found to be no document.
    tried: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// Where what the last line ends with begins.
    fn begin(&self, end_of_line: &str) -> usize {
        self.at - end_of_line.len()
    }

    /// Reads the document that begins in a line at `start` and goes on in those behind it.
    fn several(&mut self, start: usize, told: &mut impl FnMut(usize, Text<'_>)) {
        if start < self.tried {
            return;
        }
        // The names of the fields become white space, so that everything stays in its place.
        let mut plain = String::new();
        let mut rest = &self.text[start..];
        while let Some(data) = rest.strip_prefix(DATA) {
            let length = data.find(['\n', '\r']).unwrap_or(data.len());
            let end = ["\r\n", "\n", "\r"].into_iter().find(|end| data[length..].starts_with(end));
            let length = length + end.map_or(0, str::len);
            plain.extend(std::iter::repeat_n(' ', DATA.len()));
            plain.push_str(&data[..length]);
            rest = &data[length..];
        }
        match Text::read_container(&plain) {
            Some(document) => {
                told(start, document);
                self.at = start + plain.len();
            }
            None => self.tried = start + plain.len(),
        }
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
