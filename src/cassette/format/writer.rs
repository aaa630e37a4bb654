//! Writing the file value by value.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::File;
use super::exchange::Ranges;
use super::reader::Reader;
use super::sidecar;
use crate::cassette::large::{self, Larges};
use crate::error::Result;
use crate::text::json::{Layout, Margin, Text, fitted, push_escape};

/// A file being written: its text, and the bodies beside it.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) text: String,
    pub(super) bodies: BTreeMap<String, Bytes>,
    /// Those that may be named, and are not held in memory.
    pub(super) larges: Larges,
    /// Those that are.
    named: Larges,
    /// Whether something stands in it that older releases cannot read.
    pub(super) is_newer: bool,
    pub(super) ranges: Ranges,
    open: Vec<Spread>,
}

/// How the members of an object or an array stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Each on a line.
    Broken,
    /// All on one line, with all that is in them.
    Line,
}

impl Writer {
    /// Begins a file. Beside it are bodies that are not held in memory.
    pub(super) fn beside(larges: &Larges) -> Self {
        Self { larges: larges.clone(), ..Self::default() }
    }

    /// Begins an object. Within a line there are only lines.
    pub(super) fn object(&mut self, spread: Spread) {
        self.begin('{', spread);
    }

    /// Begins an array.
    pub(super) fn array(&mut self, spread: Spread) {
        self.begin('[', spread);
    }

    /// Ends the object or array that was begun last.
    pub(super) fn end(&mut self, bracket: char) {
        let broken = self.open.pop() == Some(Spread::Broken);
        if broken && !self.text.ends_with(['{', '[']) {
            self.line();
        }
        self.text.push(bracket);
    }

    /// Begins a member; its value must follow.
    pub(super) fn name(&mut self, name: &str) {
        self.item();
        self.string(name);
        self.text.push_str(": ");
    }

    /// Begins an item of an array; its value must follow.
    pub(super) fn item(&mut self) {
        let first = self.text.ends_with(['{', '[']);
        if !first {
            self.text.push(',');
        }
        match self.open.last() {
            Some(Spread::Broken) => self.line(),
            _ if first => {}
            _ => self.text.push(' '),
        }
    }

    /// Writes a member that is a string.
    pub(super) fn text_member(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    /// Writes an array, and each item as `write` does.
    pub(super) fn list<T>(
        &mut self,
        spread: Spread,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.array(spread);
        for item in items {
            self.item();
            write(self, item);
        }
        self.end(']');
    }

    pub(super) fn string(&mut self, value: &str) {
        self.text.push('"');
        let mut plain = 0;
        for (at, c) in value.char_indices().filter(|(_, c)| is_escaped(*c)) {
            self.text.push_str(&value[plain..at]);
            plain = at + c.len_utf8();
            push_escape(c, &mut self.text);
        }
        self.text.push_str(&value[plain..]);
        self.text.push('"');
    }

    pub(super) fn number(&mut self, value: impl Into<u64>) {
        self.text.push_str(&value.into().to_string());
    }

    pub(super) fn count(&mut self, value: usize) {
        self.text.push_str(&value.to_string());
    }

    /// Writes the tokens of a JSON text, laid out to be read.
    pub(super) fn json(&mut self, json: Text<'_>) {
        if self.open.last() == Some(&Spread::Line) {
            return Layout::Spaced.write(json, &mut self.text);
        }
        let line = self.text.rfind('\n').map_or(0, |at| at + 1);
        let place = Margin { column: self.text[line..].chars().count(), depth: self.open.len() };
        fitted(json, place, &mut self.text);
    }

    pub(super) fn null(&mut self) {
        self.text.push_str("null");
    }

    pub(super) fn truth(&mut self) {
        self.text.push_str("true");
    }

    /// Keeps bytes beside the file and writes the members that tell so.
    pub(super) fn file(&mut self, bytes: &Bytes) {
        let file = sidecar::name(bytes);
        self.text_member("file", &file);
        self.name("bytes");
        self.count(bytes.len());
        self.bodies.entry(file).or_insert_with(|| bytes.clone());
    }

    /// Writes the members that name a large body, if these bytes stand in its place.
    pub(super) fn large(&mut self, bytes: &[u8]) -> bool {
        let Some((name, large)) = large::of(&self.larges, bytes) else { return false };
        let (name, large) = (name.to_owned(), large.clone());
        self.text_member("file", &name);
        self.name("bytes");
        self.number(large.length);
        self.named.insert(name, large);
        true
    }

    /// Writes pairs of numbers.
    pub(super) fn pairs(&mut self, pairs: impl Iterator<Item = (u64, usize)>) {
        let pairs: Vec<String> = pairs.map(|(one, other)| format!("[{one},{other}]")).collect();
        self.numbers(&format!("[{}]", pairs.join(",")));
    }

    /// Writes a list of numbers.
    pub(super) fn counts(&mut self, counts: impl Iterator<Item = usize>) {
        let counts: Vec<String> = counts.map(|count| count.to_string()).collect();
        self.numbers(&format!("[{}]", counts.join(",")));
    }

    fn numbers(&mut self, json: &str) {
        self.json(Text::read(json).expect("numbers in brackets are JSON"));
    }

    /// Writes members, reads them again, and takes them back if they are not what was meant.
    pub(super) fn proved(
        &mut self,
        write: impl FnOnce(&mut Self),
        holds: impl FnOnce(&mut Reader<'_>, &BTreeMap<String, Bytes>) -> Result<bool>,
    ) -> bool {
        let mark = self.text.len();
        write(self);
        let members = &self.text[mark..];
        let object = format!("{{{}}}", members.strip_prefix(',').unwrap_or(members));
        let mut reader = Reader::new(&object);
        let holds = matches!(holds(&mut reader, &self.bodies), Ok(true));
        let proved = holds && reader.end().is_ok();
        if !proved {
            self.text.truncate(mark);
        }
        proved
    }

    /// The file, with its final newline.
    pub(super) fn into_file(mut self) -> File {
        self.text.push('\n');
        File { text: self.text, bodies: self.bodies, larges: self.named }
    }

    fn begin(&mut self, bracket: char, spread: Spread) {
        self.text.push(bracket);
        let within_line = self.open.last() == Some(&Spread::Line);
        self.open.push(if within_line { Spread::Line } else { spread });
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.open.len()));
    }
}

/// What JSON wants escaped, and what cannot be seen or changes the order in which text is shown.
fn is_escaped(c: char) -> bool {
    match c {
        '"' | '\\' => true,
        ' '..='~' => false,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}
