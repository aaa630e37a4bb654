//! Chunks that are whole lines of JSON.

use super::reader::Reader;
use super::style::{Framing, Style};
use super::writer::{Spread, Writer};
use crate::error::Result;
use crate::text::json::{Layout, Text};

/// Lines, each an object or an array in one layout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines<'a>(Vec<Text<'a>>);

impl<'a> Lines<'a> {
    /// Takes text that is nothing but whole lines, and tells their layout: the usual one if it can be.
    pub(super) fn of(text: &'a str, framing: Framing, usual: Style) -> Option<(Self, Style)> {
        let lines = text
            .strip_suffix(framing.eol)?
            .split(framing.eol)
            .map(Text::read_container)
            .collect::<Option<Vec<_>>>()?;
        let layout = [usual.layout, Layout::Compact, Layout::Spaced]
            .into_iter()
            .find(|layout| lines.iter().all(|line| layout.fits(*line)))?;
        Some((Self(lines), Style::on_line(layout)))
    }

    pub(super) fn bytes(&self, style: Style, framing: Framing) -> Vec<u8> {
        let mut text = String::new();
        for line in &self.0 {
            style.layout.write(*line, &mut text);
            text.push_str(framing.eol);
        }
        text.into_bytes()
    }

    /// Writes an object as itself; anything else as a list of the lines.
    pub(super) fn write(&self, w: &mut Writer) {
        match self.0.as_slice() {
            [one] if one.as_str().starts_with('{') => w.json(*one),
            lines => {
                w.array(Spread::Line);
                for line in lines {
                    w.item();
                    w.json(*line);
                }
                w.end(']');
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        if reader.peek() != b'[' {
            return Ok(Self(vec![reader.container()?]));
        }
        reader.list(Reader::container).map(Self)
    }
}
