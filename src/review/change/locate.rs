//! In which line of its cassette a change shows.

use std::collections::HashMap;

use super::report::{Report, Witnesses};
use crate::text::json::{Container, Text};

impl Report {
    /// Notes the line of the event, or of the interaction, that shows each change; `read` gives the text of a
    /// new cassette.
    pub fn locate(&mut self, read: impl Fn(&str) -> Option<String>) {
        let mut texts: HashMap<String, Option<String>> = HashMap::new();
        for witnesses in self.changes.iter_mut().filter_map(|it| it.witnesses.as_mut()) {
            let name = witnesses.cassette.clone();
            let text = texts.entry(name).or_insert_with(|| read(&witnesses.cassette));
            witnesses.line = text.as_deref().and_then(|text| line(text, witnesses));
        }
    }
}

/// Counted from 1.
fn line(file: &str, witnesses: &Witnesses) -> Option<usize> {
    let number = witnesses.number.interaction.checked_sub(1)?;
    let interaction = Text::read(file)?.pointed(&format!("/interactions/{number}"))?;
    let event = witnesses.message.and_then(|message| event(interaction, message));
    let found = event.unwrap_or(interaction).as_str();
    let start = found.as_ptr() as usize - file.as_ptr() as usize;
    Some(file[..start].matches('\n').count() + 1)
}

/// The frame, or the chunk in which a message ends, where each chunk holds whole messages.
fn event(interaction: Text<'_>, message: usize) -> Option<Text<'_>> {
    if let Some(frames) = interaction.pointed("/response/frames") {
        return frames.elements().nth(message);
    }
    let mut before = 0;
    let mut chunks = interaction.pointed("/response/stream")?.elements();
    chunks.find(|chunk| {
        let pieces = ["sse", "ndjson"].iter().find_map(|form| chunk.get(form));
        before += match pieces.map(|pieces| (pieces, pieces.container())) {
            Some((pieces, Some(Container::Array))) => pieces.elements().count(),
            Some(_) => 1,
            None => 0,
        };
        before > message
    })
}
