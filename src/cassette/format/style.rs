//! How readable forms stood on the wire.

use super::reader::Reader;
use super::writer::Writer;
use crate::error::Result;
use crate::text::json::{Indent, Layout, Text};

/// The white space of JSON; compact if nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// What stands between the tokens.
    pub(super) layout: Layout,
    /// What stands behind them: nothing, or a line feed.
    pub(super) ending: &'static str,
}

/// How the lines of events stand; with a space behind the colon and a line feed at the end if nothing
/// is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Framing {
    /// What ends a line.
    pub(super) eol: &'static str,
    /// What stands between the name and the value of a field.
    pub(super) colon: &'static str,
}

impl Style {
    pub(super) const COMPACT: Self = Self { layout: Layout::Compact, ending: "" };
    const WORDS: [&str; 6] =
        ["compact", "spaced", "indent 2", "indent tab", "newline", "spaced newline"];

    /// Takes apart what was sent, if it is an object or an array in a known layout.
    pub(super) fn of(bytes: &[u8]) -> Option<(Self, Text<'_>)> {
        let (json, ending) = match bytes.strip_suffix(b"\n") {
            Some(json) => (json, "\n"),
            None => (bytes, ""),
        };
        let text = Text::parse_container(json)?;
        Some((Self { layout: Layout::of(text)?, ending }, text))
    }

    /// What was sent.
    pub(super) fn apply(self, json: Text<'_>) -> Vec<u8> {
        let mut sent = String::with_capacity(json.as_str().len());
        self.layout.write(json, &mut sent);
        sent.push_str(self.ending);
        sent.into_bytes()
    }

    /// The layout alone, for JSON that stands on a line.
    pub(super) const fn on_line(layout: Layout) -> Self {
        Self { layout, ending: "" }
    }

    /// Whether JSON stays on a line so.
    pub(super) fn is_on_line(self) -> bool {
        self.ending.is_empty() && !matches!(self.layout, Layout::Indented(_))
    }

    /// Writes `layout` unless it goes without saying.
    pub(super) fn write(self, w: &mut Writer, usual: Option<Self>) {
        if Some(self) != usual {
            w.text_member("layout", self.to_words().trim());
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let here = reader.clone();
        let words = reader.string()?;
        let unknown = || here.unknown_word("`layout` is none that is known", &Self::WORDS);
        Self::from_words(&words).ok_or_else(unknown)
    }

    /// Reads a layout that keeps JSON on a line.
    pub(super) fn read_on_line(reader: &mut Reader<'_>) -> Result<Self> {
        let here = reader.clone();
        match &*reader.string()? {
            "compact" => Ok(Self::on_line(Layout::Compact)),
            "spaced" => Ok(Self::on_line(Layout::Spaced)),
            _ => Err(here.unknown_word("`layout` is none for a line", &["compact", "spaced"])),
        }
    }

    fn to_words(self) -> String {
        let layout = match (self.layout, self.ending) {
            (Layout::Compact, "") => "compact".to_owned(),
            (Layout::Compact, _) => String::new(),
            (Layout::Spaced, _) => "spaced".to_owned(),
            (Layout::Indented(Indent::Spaces(width)), _) => format!("indent {width}"),
            (Layout::Indented(Indent::Tab), _) => "indent tab".to_owned(),
        };
        if self.ending.is_empty() { layout } else { layout + " newline" }
    }

    fn from_words(words: &str) -> Option<Self> {
        let (words, ending) = match words.strip_suffix("newline") {
            Some(words) => (words.trim_end(), "\n"),
            None => (words, ""),
        };
        let layout = match words.strip_prefix("indent ") {
            Some("tab") => Layout::Indented(Indent::Tab),
            Some(width) => {
                let width = width.parse().ok().filter(|width| (1..=8).contains(width))?;
                Layout::Indented(Indent::Spaces(width))
            }
            None if words == "spaced" => Layout::Spaced,
            None if words == "compact" || words.is_empty() => Layout::Compact,
            None => return None,
        };
        Some(Self { layout, ending })
    }
}

impl Framing {
    pub(super) const USUAL: Self = Self { eol: "\n", colon: ": " };
    const KNOWN: [(&str, Self); 4] = [
        ("usual", Self::USUAL),
        ("crlf", Self { eol: "\r\n", colon: ": " }),
        ("unspaced", Self { eol: "\n", colon: ":" }),
        ("crlf unspaced", Self { eol: "\r\n", colon: ":" }),
    ];

    /// The only framing that the text can have, judged by the first line that has a value, if one does.
    pub(super) fn guess(text: &str) -> Self {
        let has_value =
            |line: &&str| line.split_once(':').is_some_and(|it| !it.1.trim_end().is_empty());
        let mut lines = text.split_inclusive('\n');
        let first = lines.clone().next().unwrap_or_default();
        let line = lines.find(has_value).unwrap_or(first);
        let eol = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let spaced = line.split_once(':').is_none_or(|(_, value)| value.starts_with(' '));
        Self { eol, colon: if spaced { ": " } else { ":" } }
    }

    /// Writes `framing` unless it goes without saying.
    pub(super) fn write(self, w: &mut Writer, usual: Self) {
        if self != usual
            && let Some((word, _)) = Self::KNOWN.iter().find(|(_, framing)| *framing == self)
        {
            w.text_member("framing", word);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let here = reader.clone();
        let found = reader.string()?;
        match Self::KNOWN.iter().find(|(word, _)| *word == found) {
            Some((_, framing)) => Ok(*framing),
            None => {
                let words = Self::KNOWN.map(|(word, _)| word);
                Err(here.unknown_word("`framing` is none that is known", &words))
            }
        }
    }
}
