//! How two texts differ.

use std::borrow::Cow;

use similar::{ChangeTag, DiffOp, InlineChange, TextDiff};

use super::Colour;
use super::line::{Style, count, cut, fitting, visible, width};

/// How much is shown, and how.
#[derive(Debug, Clone, Copy)]
struct LineLayout {
    /// Equal lines around each change.
    context: usize,
    most: usize,
    columns: usize,
    long: Long,
    colour: Colour,
}

/// What becomes of a line that is too long.
#[derive(Debug, Clone, Copy)]
enum Long {
    /// It is cut, so that the first difference is seen.
    Cut,
    /// It goes on in the next line.
    Wrapped,
}

const LINES: LineLayout =
    LineLayout { context: 3, most: 60, columns: 160, long: Long::Cut, colour: Colour::Plain };

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
/// use retape::review::report::{Colour, difference};
///
/// let shown = difference("{\n  \"limit\": 1\n}", "{\n  \"limit\": 2\n}", Colour::Plain);
///
/// assert_eq!(shown, "- recorded\n+ asked\n\n  {\n-   \"limit\": 1\n+   \"limit\": 2\n  }\n");
/// ```
pub fn difference(recorded: &str, asked: &str, colour: Colour) -> String {
    let lines = LineLayout { colour, ..LINES }.of(recorded, asked);
    if lines.is_empty() {
        return String::new();
    }
    let legend = [colour.paint(Style::Red, "- recorded"), colour.paint(Style::Green, "+ asked")];
    format!("{}\n\n{}\n", legend.join("\n"), lines.join("\n"))
}

/// The lines in which two texts differ, for a place among others on a terminal of 80 columns.
pub(super) fn hunk(recorded: &str, asked: &str) -> Vec<String> {
    const COLUMNS: usize = 72;
    let are_lines = [recorded, asked].iter().any(|text| text.contains('\n'));
    let most = if are_lines { usize::MAX } else { COLUMNS - 3 };
    let [recorded, asked] = near_difference([recorded, asked], most, BEFORE);
    LineLayout { context: 1, most: 20, columns: COLUMNS, ..LINES }.of(&recorded, &asked)
}

/// Two texts from so many letters before the first one that differs on, where more than `most` stand before that: a
/// long word has no parts that a line could be cut at.
pub(super) fn near_difference(texts: [&str; 2], most: usize, before: usize) -> [Cow<'_, str>; 2] {
    let [one, other] = texts;
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    if same <= most {
        return texts.map(Cow::Borrowed);
    }
    let rest = |text: &str| text.chars().skip(same - before).collect::<String>();
    texts.map(|text| Cow::Owned(format!("…{}", rest(text))))
}

/// The lines in which two texts differ, each whole, for a place that scrolls.
pub(super) fn whole_lines(old: &str, new: &str) -> Vec<String> {
    // The way of an order is one line, and its end counts.
    LineLayout { context: 1, most: 40, columns: usize::MAX, ..LINES }.of(old, new)
}

/// The lines in which two texts differ, nothing of them cut, with so many equal ones around them.
pub(super) fn changed_lines(
    old: &str,
    new: &str,
    context: usize,
    columns: usize,
    colour: Colour,
) -> Vec<String> {
    LineLayout { context, most: usize::MAX, columns, long: Long::Wrapped, colour }.of(old, new)
}

impl LineLayout {
    fn of(self, recorded: &str, asked: &str) -> Vec<String> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (recorded.lines().collect(), asked.lines().collect());
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::new();
        for (place, group) in diff.grouped_ops(self.context).iter().enumerate() {
            if place > 0 {
                lines.push(self.colour.paint(Style::Dim, "  ⋮"));
            }
            lines.extend(group.iter().flat_map(|op| self.changes(&diff, op)));
        }
        let left = lines.len().saturating_sub(self.most);
        lines.truncate(self.most);
        if left > 0 {
            let more = format!("  … and {}", count(left, "more line"));
            lines.push(self.colour.paint(Style::Dim, &more));
        }
        lines
    }

    /// The deadline is none, because a time limit would make the result depend on the machine.
    fn changes(self, diff: &TextDiff<'_, '_, str>, op: &DiffOp) -> Vec<String> {
        let changes = diff.iter_inline_changes_deadline(op, None);
        changes.flat_map(|change| self.line(&change)).collect()
    }

    fn line(self, change: &InlineChange<'_, str>) -> Vec<String> {
        let (mark, style, emphasis) = match change.tag() {
            ChangeTag::Equal => (" ", Style::Plain, Style::Plain),
            ChangeTag::Delete => ("-", Style::Red, Style::Gone),
            ChangeTag::Insert => ("+", Style::Green, Style::New),
        };
        let rows = match self.long {
            Long::Cut => vec![window(change, self.columns)],
            Long::Wrapped => rows(shown_parts(change), self.columns),
        };
        let row = |(number, row): (usize, Vec<(bool, String)>)| {
            let head = if number == 0 { format!("{mark} ") } else { format!("{mark} {GOES_ON}") };
            let mut text = self.colour.paint(style, &head);
            for (differs, part) in row {
                text.push_str(&self.colour.paint(if differs { emphasis } else { style }, &part));
            }
            text.trim_end().to_owned()
        };
        rows.into_iter().enumerate().map(row).collect()
    }
}

/// Stands before what did not fit on the line above.
const GOES_ON: &str = "↳ ";

/// The parts of a line.
fn shown_parts(change: &InlineChange<'_, str>) -> Vec<(bool, String)> {
    let values = change.values().iter();
    values.map(|(differs, part)| (*differs, visible(part).into_owned())).collect()
}

/// The parts of a line on as many lines as they take, broken between words where that is possible.
fn rows(mut parts: Vec<(bool, String)>, columns: usize) -> Vec<Vec<(bool, String)>> {
    let mut rows = Vec::new();
    let mut room = columns;
    loop {
        let text: String = parts.iter().map(|(_, part)| part.as_str()).collect();
        if width(&text) <= room {
            rows.push(parts);
            return rows;
        }
        let fits = fitting(&text, room);
        let end = match text[..fits].rfind(' ') {
            Some(space) if space > fits / 2 => space + 1,
            _ => fits,
        };
        let behind = split_off(&mut parts, end);
        parts.retain(|(_, part)| !part.is_empty());
        if let Some((_, last)) = parts.last_mut() {
            last.truncate(last.trim_end().len());
        }
        rows.push(parts);
        parts = behind;
        room = columns.saturating_sub(width(GOES_ON)).max(2);
    }
}

/// Takes away what stands behind so many bytes.
fn split_off(parts: &mut [(bool, String)], at: usize) -> Vec<(bool, String)> {
    let mut behind = Vec::new();
    let mut begin = 0;
    for (differs, part) in parts.iter_mut() {
        let end = begin + part.len();
        if end > at {
            behind.push((*differs, part.split_off(at.saturating_sub(begin))));
        }
        begin = end;
    }
    behind
}

/// The parts of a line, cut so that the first one that differs can be seen.
fn window(change: &InlineChange<'_, str>, columns: usize) -> Vec<(bool, String)> {
    let mut parts = shown_parts(change);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_that_differs_is_seen_however_long_the_word_is() {
        let [one, other] = ["x", "y"].map(|end| format!("{}{end}", "a".repeat(300)));
        let lines = hunk(&one, &other);
        assert_ne!(lines[0][1..], lines[1][1..], "{lines:?}");
        assert!(lines.iter().all(|line| width(line) <= 74), "{lines:?}");
    }
}
