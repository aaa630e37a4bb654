//! Secrets in texts: JSON, streams of JSON, and anything else.

use super::notes::Notes;
use super::places::Places;
use super::{json, scan};
use crate::cassette::splice::{self, Edit};
use crate::text::json::Text;

/// The edits that take the secrets out of a text, in order.
pub(super) fn find(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    if !notes.redactor.may_tell(text) {
        return Vec::new();
    }
    match Text::parse_container(text) {
        Some(json) => json::find(json, notes),
        None => splice::in_order(lines(text, notes)),
    }
}

/// What kind of line a run of lines is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Data of an event.
    Data,
    /// Anything else.
    Other,
}

/// A text with a JSON value in each line (NDJSON), in each `data:` line (SSE), or in no line. Lines
/// that are none are put together: the data of one event, or a JSON text that is cut short.
fn lines(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut run = Places::default();
    let mut kind = Kind::Other;
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (this, skipped) = data(line);
        let content = line[skipped..].trim_ascii_end();
        if this != kind || (kind == Kind::Data && content.is_empty()) {
            edits.extend(finish(&mut run, notes));
            kind = this;
        }
        match Text::parse_container(content).filter(|_| is_closed(content)) {
            Some(json) if notes.redactor.may_tell(content) => {
                let found = json::find(json, notes);
                edits.extend(found.into_iter().map(|edit| edit.shifted(start + skipped)));
            }
            Some(_) => {}
            None => {
                run.push(content, start + skipped);
                run.end_line(start + skipped + content.len());
            }
        }
        start += line.len();
    }
    edits.extend(finish(&mut run, notes));
    edits
}

fn finish(run: &mut Places, notes: &mut Notes<'_>) -> Vec<Edit> {
    let run = std::mem::take(run);
    if !notes.redactor.may_tell(&run.text) {
        return Vec::new();
    }
    let found = match Text::parse_container(&run.text) {
        Some(json) => json::find(json, notes),
        None => scan::find(&run.text, notes),
    };
    run.outside(found).collect()
}

/// Whether a line is an event's data, and where its content begins.
fn data(line: &[u8]) -> (Kind, usize) {
    match line.strip_prefix(b"data:") {
        Some([b' ', ..]) => (Kind::Data, 6),
        Some(_) => (Kind::Data, 5),
        None => (Kind::Other, 0),
    }
}

/// Whether a line ends as a JSON container does; spares trying the long first line of a text that is
/// cut short.
fn is_closed(content: &[u8]) -> bool {
    matches!(content.last(), Some(b'}' | b']'))
}
