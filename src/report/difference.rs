//! How two texts differ.

use similar::{ChangeTag, DiffOp, InlineChange, TextDiff};

use super::Colour;
use super::line::{cut, visible, width};
use super::style::Style;
use super::unit::count;

/// How much is shown.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Equal lines around each change.
    context: usize,
    lines: usize,
    columns: usize,
}

const LIMITS: Limits = Limits { context: 3, lines: 60, columns: 160 };

/// What is shown of one text among other things, on a terminal of 80 columns.
const SMALL: Limits = Limits { context: 1, lines: 20, columns: 72 };

/// How much of an overlong line is shown before the first place that differs.
const BEFORE: usize = 40;

/// Shows how what was asked differs from what was recorded, line by line; nothing if it does not.
///
/// A line that is only in the recording begins with `-`, one that is only in the request with `+`.
/// In colour, the very words that differ stand out. What is too long is cut, so that the first
/// difference is seen.
///
/// # Example: one field
///
/// ```
/// use retape::report::{Colour, difference};
///
/// let shown = difference("{\n  \"limit\": 1\n}", "{\n  \"limit\": 2\n}", Colour::Plain);
///
/// assert_eq!(shown, "- recorded\n+ asked\n\n  {\n-   \"limit\": 1\n+   \"limit\": 2\n  }\n");
/// ```
pub fn difference(recorded: &str, asked: &str, colour: Colour) -> String {
    let lines = Lines { limits: LIMITS, colour }.of(recorded, asked);
    if lines.is_empty() {
        return String::new();
    }
    let legend = [colour.paint(Style::Red, "- recorded"), colour.paint(Style::Green, "+ asked")];
    format!("{}\n\n{}\n", legend.join("\n"), lines.join("\n"))
}

/// The lines in which two texts differ, for a place among others.
pub(super) fn hunk(recorded: &str, asked: &str) -> Vec<String> {
    Lines { limits: SMALL, colour: Colour::Plain }.of(recorded, asked)
}

/// How lines are shown.
#[derive(Debug, Clone, Copy)]
struct Lines {
    limits: Limits,
    colour: Colour,
}

impl Lines {
    fn of(self, recorded: &str, asked: &str) -> Vec<String> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (recorded.lines().collect(), asked.lines().collect());
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::new();
        for (place, group) in diff.grouped_ops(self.limits.context).iter().enumerate() {
            if place > 0 {
                lines.push(self.colour.paint(Style::Dim, "  ⋮"));
            }
            lines.extend(group.iter().flat_map(|op| self.changes(&diff, op)));
        }
        let left = lines.len().saturating_sub(self.limits.lines);
        lines.truncate(self.limits.lines);
        if left > 0 {
            let more = format!("  … and {}", count(left, "more line"));
            lines.push(self.colour.paint(Style::Dim, &more));
        }
        lines
    }

    /// The deadline is none, because a time limit would make the result depend on the machine.
    fn changes(self, diff: &TextDiff<'_, '_, str>, op: &DiffOp) -> Vec<String> {
        diff.iter_inline_changes_deadline(op, None).map(|change| self.line(&change)).collect()
    }

    fn line(self, change: &InlineChange<'_, str>) -> String {
        let (mark, style, emphasis) = match change.tag() {
            ChangeTag::Equal => (" ", Style::Plain, Style::Plain),
            ChangeTag::Delete => ("-", Style::Red, Style::Gone),
            ChangeTag::Insert => ("+", Style::Green, Style::New),
        };
        let mut text = self.colour.paint(style, &format!("{mark} "));
        for (differs, part) in window(change, self.limits.columns) {
            text.push_str(&self.colour.paint(if differs { emphasis } else { style }, &part));
        }
        text.trim_end().to_owned()
    }
}

/// The parts of a line, cut so that the first one that differs can be seen.
fn window(change: &InlineChange<'_, str>, columns: usize) -> Vec<(bool, String)> {
    let mut parts: Vec<(bool, String)> = change
        .values()
        .iter()
        .map(|(differs, part)| (*differs, visible(part).into_owned()))
        .collect();
    let total: usize = parts.iter().map(|(_, part)| width(part)).sum();
    if total > columns {
        skip_to_difference(&mut parts);
    }
    let mut room = columns;
    parts.retain_mut(|(_, part)| {
        let begun = room > 0;
        *part = if begun { cut(part, room).into_owned() } else { String::new() };
        room = room.saturating_sub(width(part));
        begun
    });
    parts
}

/// Takes away what stands long before the first part that differs.
fn skip_to_difference(parts: &mut Vec<(bool, String)>) {
    let Some(first) = parts.iter().position(|(differs, _)| *differs) else { return };
    let before: String = parts.drain(..first).map(|(_, part)| part).collect();
    let skipped = before.chars().count().saturating_sub(BEFORE);
    let shown: String = before.chars().skip(skipped).collect();
    let mark = if skipped > 0 { "…" } else { "" };
    parts.insert(0, (false, format!("{mark}{shown}")));
}
