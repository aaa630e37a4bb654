//! YAML 1.1 as PyYAML reads it.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::{DEEPEST, Tree, python};
use crate::error::{Error, Kind, Result};

/// How many values references may repeat: a few lines could otherwise fill the memory.
const MOST_REPEATED: usize = 1 << 20;

impl Tree {
    /// The value of a YAML text; a list of them, if it has several documents.
    ///
    /// No tag is ever executed. Of `!!python/…`, what stands below it is taken.
    ///
    /// # Errors
    ///
    /// If it is not YAML. The error names the line.
    pub(crate) fn of_yaml(text: &str) -> Result<Self> {
        let mut text = Cow::Borrowed(text);
        let mut last = None;
        loop {
            let mut reader = YamlReader {
                parser: Parser::new_from_str(&text),
                anchors: HashMap::new(),
                repeated: 0,
                flush: None,
            };
            match (reader.documents(), reader.flush) {
                // Each time reading comes further, or it does not come to an end.
                (Err(error), Some(quote)) if last < Some(quote) => {
                    last = Some(quote);
                    text = Cow::Owned(indented(&text, quote).ok_or(error)?);
                }
                (read, _) => return read,
            }
        }
    }

    /// The number of values in it.
    fn size(&self) -> usize {
        match self {
            Self::List(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(members) => 1 + members.iter().map(|(_, it)| it.size()).sum::<usize>(),
            _ => 1,
        }
    }
}

struct YamlReader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// What references may name.
    anchors: HashMap<usize, Tree>,
    repeated: usize,
    /// The line and the column of a quote in which reading stopped, because the text goes on too far to
    /// the left.
    flush: Option<(usize, usize)>,
}

/// What the parser says where YAML 1.2 is stricter than YAML 1.1.
const FLUSH: &str = "invalid indentation in quoted scalar";

impl<'t> YamlReader<'t> {
    fn documents(&mut self) -> Result<Tree> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                Event::StreamEnd => break,
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event => documents.push(self.value(event, 0)?),
            }
        }
        Ok(match documents.len() {
            0 | 1 => documents.pop().unwrap_or(Tree::Null),
            _ => Tree::List(documents),
        })
    }

    fn next(&mut self) -> Result<Event<'t>> {
        match self.parser.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => {
                let line = error.marker().line();
                if error.info() == FLUSH {
                    self.flush = Some((line, error.marker().col()));
                }
                Err(Error::new(Kind::Foreign("it is not YAML")).on_line(line).because(error))
            }
            None => Err(Error::new(Kind::Foreign("its YAML ends too early"))),
        }
    }

    fn value(&mut self, event: Event<'t>, depth: usize) -> Result<Tree> {
        if depth > DEEPEST {
            return Err(Error::new(Kind::Foreign("it is more than 128 levels deep")));
        }
        let (value, anchor) = match event {
            Event::Alias(anchor) => (self.repeat(anchor)?, 0),
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(&text, style == ScalarStyle::Plain, tag.as_deref()), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.object(depth)?, anchor),
            _ => (Tree::Null, 0),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn repeat(&mut self, anchor: usize) -> Result<Tree> {
        let Some(value) = self.anchors.get(&anchor) else {
            return Err(Error::new(Kind::Foreign("a value in it contains itself")));
        };
        self.repeated += value.size();
        if self.repeated > MOST_REPEATED {
            return Err(Error::new(Kind::Foreign("it repeats more than a million values")));
        }
        Ok(value.clone())
    }

    fn list(&mut self, depth: usize) -> Result<Tree> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Tree::List(items)),
                event => items.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Tree> {
        let mut members: Vec<(String, Tree)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        loop {
            let name = match self.next()? {
                Event::MappingEnd => return Ok(Tree::Object(members)),
                event => self.value(event, depth + 1)?,
            };
            let event = self.next()?;
            let value = self.value(event, depth + 1)?;
            let name = name.words().unwrap_or_default().into_owned();
            // A name that comes again keeps its place, and has the later value.
            match places.get(&name) {
                Some(&place) => members[place].1 = value,
                None => {
                    places.insert(name.clone(), members.len());
                    members.push((name, value));
                }
            }
        }
    }
}

/// The text with the lines of a quoted value further to the right, which changes nothing of the value:
/// YAML 1.1 does not care where they begin. Nothing if the value does not end.
fn indented(text: &str, (line, column): (usize, usize)) -> Option<String> {
    let line_start = match line {
        0 | 1 => 0,
        line => breaks(text).nth(line - 2)?,
    };
    let start = line_start + text[line_start..].char_indices().nth(column)?.0;
    let quote = text[start..].chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
    let mut inner = text[start + 1..].char_indices().peekable();
    let end = loop {
        let (at, c) = inner.next()?;
        let next = inner.peek().map(|(_, next)| *next);
        if (quote == '"' && c == '\\') || (quote == '\'' && c == quote && next == Some(quote)) {
            inner.next();
        } else if c == quote {
            break start + 1 + at;
        }
    };
    let mut moved = text[..start].to_owned();
    let mut done = start;
    for behind in breaks(&text[start..end]).map(|behind| start + behind) {
        moved.push_str(&text[done..behind]);
        moved.extend(std::iter::repeat_n(' ', column + 1));
        done = behind;
    }
    Some(moved + &text[done..])
}

/// Where the lines of YAML begin but the first: behind each CR, LF or both.
fn breaks(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let found = memchr::memchr2_iter(b'\r', b'\n', bytes).map(|at| at + 1);
    found.filter(|behind| bytes[behind - 1] == b'\n' || bytes.get(*behind) != Some(&b'\n'))
}

fn scalar(text: &str, is_plain: bool, tag: Option<&Tag>) -> Tree {
    match tag.map(|tag| tag.suffix.as_str()) {
        None if is_plain => python::plain(text),
        Some("binary") => Tree::Bytes(binary(text)),
        Some("null") => Tree::Null,
        Some("int" | "float" | "bool") => python::plain(text),
        _ => Tree::Text(text.to_owned()),
    }
}

/// Python skips what is no base64.
fn binary(text: &str) -> Vec<u8> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let digits: Vec<u8> = text.bytes().filter(is_digit).collect();
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expected: &str) {
        let tree = Tree::of_yaml(yaml).expect("YAML");

        assert_eq!(tree.to_python_json(), expected, "{yaml}");
    }

    #[test]
    fn plain_words_are_read_as_python_reads_them() {
        check(
            "[yes, No, on, 'yes', true, ~, null, '']",
            r#"[true, false, true, "yes", true, null, null, ""]"#,
        );
        check("[1, -2, +3, 0x1F, 010, 0b11, 1_000, 1:30]", "[1, -2, 3, 31, 8, 3, 1000, 90]");
        check(
            "[1.5, 0.14818191528320312, 1e5, 1.0e+16, 1.e-5, .5, 100000.0]",
            r#"[1.5, 0.14818191528320312, "1e5", 1e+16, 1e-05, 0.5, 100000.0]"#,
        );
        check("[.inf, -.inf, .nan]", "[Infinity, -Infinity, NaN]");
        check(
            "[08, 1.2.3, 2024-01-01, 12345678901234567890123]",
            r#"["08", "1.2.3", "2024-01-01", 12345678901234567890123]"#,
        );
    }

    #[test]
    fn quoted_text_goes_on_wherever_it_likes() {
        check(
            "a:\n    b: 'one\n  two ''three''\n four'\n    c: \"five\n\n\n six\\n\\\n  \\ seven\"",
            r#"{"a": {"b": "one two 'three' four", "c": "five\n\nsix\n seven"}}"#,
        );
    }

    #[test]
    fn a_line_of_a_quoted_text_may_end_in_any_way() {
        check(
            "\r\n---\ra:\n    b: ' \n\r'\r    c: 'one\r\n two'",
            r#"{"a": {"b": "\n", "c": "one two"}}"#,
        );
        assert!(Tree::of_yaml("a:\n  b: 'c\n---\n'").is_err());
    }

    #[test]
    fn a_reference_is_what_it_names() {
        check("a: &x [1]\nb: *x", r#"{"a": [1], "b": [1]}"#);
    }

    #[test]
    fn a_name_that_comes_again_has_the_later_value() {
        check("a: 1\nb: 2\na: 3", r#"{"a": 3, "b": 2}"#);
    }

    #[test]
    fn text_is_written_as_python_writes_json() {
        check(r#""\u00e9 \U0001F600 \x7f \t \"""#, "\"\\u00e9 \\ud83d\\ude00 \u{7f} \\t \\\"\"");
    }

    #[test]
    fn no_tag_is_executed() {
        check("!!python/object/apply:os.system ['true']", r#"["true"]"#);
        let tree = Tree::of_yaml("!!binary |\n  /wA=\n").expect("YAML");
        assert_eq!(tree, Tree::Bytes(vec![0xff, 0]));
    }

    #[test]
    fn repeating_is_bounded() {
        let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 10].join(", ");
            yaml.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }

        assert!(Tree::of_yaml(&yaml).is_err());
    }
}
