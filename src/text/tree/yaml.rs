//! YAML 1.1 as PyYAML reads it.

use std::collections::HashMap;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use libyaml_safer::{EventData, Parser, ScalarStyle};

use super::{DEEPEST, Tree, python};
use crate::error::{Error, Kind, Result};

/// How many values references may repeat: a few lines could otherwise fill the memory.
const MOST_REPEATED: usize = 1 << 20;

/// What `!!` stands for in a tag.
const YAML: &str = "tag:yaml.org,2002:";

impl Tree {
    /// The value of a YAML text; a list of them, if it has several documents.
    ///
    /// No tag is ever executed. Of `!!python/…`, what stands below it is taken.
    ///
    /// # Errors
    ///
    /// If it is not YAML. The error names the line.
    pub(crate) fn of_yaml(text: &str) -> Result<Self> {
        let mut bytes = text.as_bytes();
        let mut parser = Parser::new();
        parser.set_input_string(&mut bytes);
        Reader { parser, line: 0, anchors: HashMap::new(), repeated: 0 }.documents()
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

struct Reader<'t> {
    parser: Parser<&'t mut &'t [u8]>,
    /// Where the last event began, from 1.
    line: usize,
    /// What references may name.
    anchors: HashMap<String, Tree>,
    repeated: usize,
}

impl Reader<'_> {
    fn documents(&mut self) -> Result<Tree> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                EventData::StreamEnd => break,
                EventData::StreamStart { .. }
                | EventData::DocumentStart { .. }
                | EventData::DocumentEnd { .. } => {}
                event => documents.push(self.value(event, 0)?),
            }
        }
        Ok(match documents.len() {
            0 | 1 => documents.pop().unwrap_or(Tree::Null),
            _ => Tree::List(documents),
        })
    }

    fn next(&mut self) -> Result<EventData> {
        match self.parser.parse() {
            Ok(event) => {
                self.line = event.start_mark.line as usize + 1;
                Ok(event.data)
            }
            Err(error) => {
                // Of characters that YAML does not have it says the place in the text.
                let line = error.problem_mark().map(|mark| mark.line as usize + 1);
                let refused = Error::new(Kind::Foreign("it is not YAML"));
                Err(line.into_iter().fold(refused, Error::on_line).because(error))
            }
        }
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::new(Kind::Foreign(why)).on_line(self.line)
    }

    fn value(&mut self, event: EventData, depth: usize) -> Result<Tree> {
        if depth > DEEPEST {
            return Err(self.refused("it is more than 128 levels deep"));
        }
        let (value, anchor) = match event {
            EventData::Alias { anchor } => (self.repeat(&anchor)?, None),
            EventData::Scalar { value, style, anchor, tag, .. } => {
                (scalar(value, style == ScalarStyle::Plain, tag.as_deref()), anchor)
            }
            EventData::SequenceStart { anchor, .. } => (self.list(depth)?, anchor),
            EventData::MappingStart { anchor, .. } => (self.object(depth)?, anchor),
            _ => (Tree::Null, None),
        };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn repeat(&mut self, anchor: &str) -> Result<Tree> {
        let Some(value) = self.anchors.get(anchor) else {
            return Err(self.refused("a reference in it names nothing that came before it"));
        };
        self.repeated += value.size();
        if self.repeated > MOST_REPEATED {
            return Err(self.refused("it repeats more than a million values"));
        }
        Ok(value.clone())
    }

    fn list(&mut self, depth: usize) -> Result<Tree> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                EventData::SequenceEnd => return Ok(Tree::List(items)),
                event => items.push(self.value(event, depth + 1)?),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Tree> {
        let mut members: Vec<(String, Tree)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        loop {
            let name = match self.next()? {
                EventData::MappingEnd => return Ok(Tree::Object(members)),
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

fn scalar(text: String, is_plain: bool, tag: Option<&str>) -> Tree {
    match tag.map(|tag| tag.strip_prefix(YAML).unwrap_or(tag)) {
        None if is_plain => python::plain(&text),
        Some("binary") => Tree::Bytes(binary(&text)),
        Some("null") => Tree::Null,
        Some("int" | "float" | "bool") => python::plain(&text),
        _ => Tree::Text(text),
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
    fn what_cannot_be_read_is_told_with_its_line() {
        let lines = [("a: [1, 2\nb: 3\n", 2), ("a: 1\nb: *x\n", 2), ("a: 1\n\nb: &x [*x]\n", 3)];
        for (yaml, line) in lines {
            let error = Tree::of_yaml(yaml).expect_err(yaml).to_string();
            assert!(error.contains(&format!("line {line}")), "{error}");
        }
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
