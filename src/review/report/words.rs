//! How two values on one line each differ.

use similar::{Algorithm, DiffOp, DiffableStr as _, capture_diff_slices, group_diff_ops};

use super::difference::{hunk, near_difference};
use super::line::{boundary, count, cut, visible, width};

/// The columns that a value may take: a terminal of 80 less what stands before it.
pub(super) const COLUMNS: usize = 72;

/// Words shown around each change, spaces counted.
const CONTEXT: usize = 8;

/// So many places of one value are shown.
const PLACES: usize = 3;

/// So many words are compared.
const MOST_WORDS: usize = 2000;

/// So much is shown before the first letter that differs.
const BEFORE: usize = 30;

/// Lines that begin with `-` for what was recorded and with `+` for what is asked: whole where they
/// fit, else the places that differ.
pub(super) fn pair(recorded: &str, asked: &str) -> Vec<String> {
    let (recorded, asked) = focused(recorded, asked);
    if recorded.contains('\n') || asked.contains('\n') {
        return hunk(recorded, asked);
    }
    let (old, new) = (visible(recorded), visible(asked));
    if width(&old).max(width(&new)) <= COLUMNS {
        return vec![format!("- {old}"), format!("+ {new}")];
    }
    places(&old, &new)
}

/// The surroundings of the first difference, if the texts are so long that nobody would read them.
fn focused<'t>(recorded: &'t str, asked: &'t str) -> (&'t str, &'t str) {
    const LONG: usize = 16 * 1024;
    const BEFORE: usize = 512;
    if recorded.len().max(asked.len()) <= LONG {
        return (recorded, asked);
    }
    let same = recorded.bytes().zip(asked.bytes()).take_while(|(one, other)| one == other).count();
    let part = |text: &'t str| {
        let from = boundary(text, same.saturating_sub(BEFORE));
        &text[from..boundary(text, from + LONG)]
    };
    (part(recorded), part(asked))
}

fn places(old: &str, new: &str) -> Vec<String> {
    let (olds, news) = (words(old), words(new));
    let ops = capture_diff_slices(Algorithm::Myers, &olds, &news);
    let groups = group_diff_ops(ops, CONTEXT);
    let mut lines = Vec::new();
    for group in groups.iter().take(PLACES) {
        lines.extend(place(group, &olds, &news));
    }
    let left = groups.len().saturating_sub(PLACES);
    if left > 0 {
        lines.push(format!("  … and {} in it", count(left, "more place")));
    }
    lines
}

/// Of both values what one group of changes covers.
fn place(group: &[DiffOp], olds: &[&str], news: &[&str]) -> Vec<String> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return Vec::new() };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let text = |words: &[&str], range: std::ops::Range<usize>| {
        let before = if range.start > 0 { "…" } else { "" };
        let behind = if range.end < words.len() { "…" } else { "" };
        format!("{before}{}{behind}", words[range].concat())
    };
    let (old, new) = (text(olds, old_range), text(news, new_range));
    let [old, new] = near_difference([&old, &new], COLUMNS / 2, BEFORE);
    vec![format!("- {}", cut(&old, COLUMNS)), format!("+ {}", cut(&new, COLUMNS))]
}

fn words(text: &str) -> Vec<&str> {
    let mut words = text.tokenize_words();
    words.truncate(MOST_WORDS);
    words
}
