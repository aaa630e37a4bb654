//! Chunks that are whole events.

use std::borrow::Cow;

use super::reader::Reader;
use super::style::{Framing, Style};
use super::writer::{Spread, Writer};
use crate::error::Result;
use crate::text::json::{Layout, Text};
use crate::text::sse;
use crate::text::words::words;

/// Whole events, ended by an empty line each.
///
/// What an object cannot say (a field that comes again, a carriage return within a line) is not looked
/// for: the writer reads what it has written, and takes another form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Events<'a>(Vec<EventLines<'a>>);

/// The lines of an event in order.
#[derive(Debug, Default, PartialEq, Eq)]
struct EventLines<'a> {
    lines: Vec<(FieldKind, LineValue<'a>)>,
    /// The layout of its JSON, where it is not the one of the stream.
    style: Option<Style>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Event,
    Id,
    Retry,
    Data,
    Comment,
}

#[derive(Debug, PartialEq, Eq)]
enum LineValue<'a> {
    /// Nothing stands behind the colon, not even the space that does elsewhere.
    Nothing,
    Text(Cow<'a, str>),
    Json(Text<'a>),
}

impl<'a> Events<'a> {
    /// Takes text that is nothing but whole events in the given framing. JSON of another layout than
    /// that of the stream is taken where one event has one layout.
    pub(super) fn of(text: &'a str, framing: Framing, style: Style) -> Option<Self> {
        let mut events = Vec::new();
        let mut event = EventLines::default();
        for line in sse::lines(text.as_bytes()) {
            if line.ending(text) != framing.eol {
                return None;
            }
            if !line.content.is_empty() {
                event.lines.push(parse(text, &line, framing)?);
                continue;
            }
            event.settle(style)?;
            events.push(std::mem::take(&mut event));
        }
        // Without the empty line behind it, the last event has not ended.
        (!events.is_empty() && event.lines.is_empty()).then_some(Self(events))
    }

    pub(super) fn bytes(&self, framing: Framing, style: Style) -> Vec<u8> {
        let mut text = String::new();
        for event in &self.0 {
            let layout = event.style.unwrap_or(style).layout;
            for (field, value) in &event.lines {
                text.push_str(field.on_wire());
                text.push_str(if *value == LineValue::Nothing { ":" } else { framing.colon });
                match value {
                    LineValue::Nothing => {}
                    LineValue::Text(value) => text.push_str(value),
                    LineValue::Json(json) => layout.write(*json, &mut text),
                }
                text.push_str(framing.eol);
            }
            text.push_str(framing.eol);
        }
        text.into_bytes()
    }

    /// The layout of the first JSON that tells one.
    pub(super) fn style(&self) -> Option<Style> {
        let layout = self.0.iter().flat_map(EventLines::json).find_map(telling)?;
        Some(Style::on_line(layout))
    }

    pub(super) fn write(&self, w: &mut Writer) {
        match self.0.as_slice() {
            [one] => one.write(w),
            events => {
                w.list(Spread::Line, events, |w, event| event.write(w));
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        if reader.peek() != b'[' {
            return Ok(Self(vec![EventLines::read(reader)?]));
        }
        reader.list(EventLines::read).map(Self)
    }
}

impl<'a> EventLines<'a> {
    /// Makes JSON of what is JSON. Nothing if there are no lines.
    fn settle(&mut self, usual: Style) -> Option<()> {
        if self.lines.is_empty() {
            return None;
        }
        for (field, value) in &mut self.lines {
            if *field != FieldKind::Data {
                continue;
            }
            let LineValue::Text(Cow::Borrowed(payload)) = *value else { continue };
            let Some(json) = Text::read_container(payload) else { continue };
            let fits = [self.style.unwrap_or(usual).layout, Layout::Compact, Layout::Spaced]
                .into_iter()
                .find(|layout| layout.fits(json));
            match fits {
                Some(layout) if layout == self.style.unwrap_or(usual).layout => {}
                Some(layout) if self.style.is_none() => self.style = Some(Style::on_line(layout)),
                _ => continue,
            }
            *value = LineValue::Json(json);
        }
        Some(())
    }

    fn json(&self) -> impl Iterator<Item = Text<'a>> + '_ {
        self.lines.iter().filter_map(|(_, value)| match value {
            LineValue::Json(json) => Some(*json),
            LineValue::Text(_) | LineValue::Nothing => None,
        })
    }

    fn write(&self, w: &mut Writer) {
        w.object(Spread::Line);
        for run in self.lines.chunk_by(|one, other| one.0 == other.0) {
            let field = run[0].0;
            w.name(field.as_str());
            match run {
                [(_, value)] if !value.is_array() => value.write(w, field),
                run => {
                    w.list(Spread::Line, run, |w, (_, value)| value.write(w, field));
                }
            }
        }
        if let Some(style) = self.style {
            style.write(w, None);
        }
        w.end('}');
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut event = Self::default();
        reader.object(
            &[FieldKind::WORDS, &["layout"]],
            |reader, name| match FieldKind::from_word(name) {
                None => {
                    event.style = Some(Style::read_on_line(reader)?);
                    Ok(())
                }
                Some(field) if field.has_lines() && reader.peek() == b'[' => {
                    reader.array(|reader| {
                        event.lines.push((field, LineValue::read(reader, field)?));
                        Ok(())
                    })
                }
                Some(field) => {
                    event.lines.push((field, LineValue::read(reader, field)?));
                    Ok(())
                }
            },
        )?;
        Ok(event)
    }
}

// Their names in the file.
words!(FieldKind: Event "event", Id "id", Retry "retry", Data "data", Comment "comment");

impl FieldKind {
    fn on_wire(self) -> &'static str {
        if self == Self::Comment { "" } else { self.as_str() }
    }

    fn called_on_wire(name: &str) -> Option<Self> {
        let name = if name.is_empty() { Self::Comment.as_str() } else { name };
        Self::from_word(name)
    }

    fn has_lines(self) -> bool {
        matches!(self, Self::Data | Self::Comment)
    }
}

impl<'a> LineValue<'a> {
    fn is_array(&self) -> bool {
        matches!(self, Self::Json(json) if json.as_str().starts_with('['))
    }

    fn write(&self, w: &mut Writer, field: FieldKind) {
        match self {
            Self::Nothing => w.null(),
            Self::Json(json) => w.json(*json),
            Self::Text(text) => match text.parse::<u64>() {
                Ok(number) if field == FieldKind::Retry && number.to_string() == **text => {
                    w.number(number);
                }
                _ => w.string(text),
            },
        }
    }

    fn read(reader: &mut Reader<'a>, field: FieldKind) -> Result<Self> {
        match (field, reader.peek()) {
            (FieldKind::Data, b'{' | b'[') => reader.container().map(Self::Json),
            (_, b'n') => reader.null().map(|()| Self::Nothing),
            (FieldKind::Retry, b'0'..=b'9') => {
                Ok(Self::Text(Cow::Owned(reader.number()?.to_string())))
            }
            _ => {
                let here = reader.clone();
                let text = reader.string()?;
                if text.contains(['\r', '\n']) {
                    return Err(here.invalid("a line of an event has a line break in it"));
                }
                Ok(Self::Text(text))
            }
        }
    }
}

fn parse<'a>(
    text: &'a str,
    line: &sse::Line,
    framing: Framing,
) -> Option<(FieldKind, LineValue<'a>)> {
    let found = line.field(text.as_bytes());
    let name = &text[found.name.clone()];
    let field = FieldKind::called_on_wire(name).filter(|field| field.on_wire() == name);
    let colon = found.colon(text);
    let value = if colon == framing.colon {
        LineValue::Text(Cow::Borrowed(&text[found.value]))
    } else if colon == ":" && found.value.is_empty() {
        LineValue::Nothing
    } else {
        // It would be read back with another colon.
        return None;
    };
    Some((field?, value))
}

/// The layout of a text that can have only one.
fn telling(json: Text<'_>) -> Option<Layout> {
    match (Layout::Compact.fits(json), Layout::Spaced.fits(json)) {
        (true, false) => Some(Layout::Compact),
        (false, true) => Some(Layout::Spaced),
        _ => None,
    }
}
