//! How the demo tells its story.

use crate::cli::tell::{self, BOLD, DIM, PLAIN};

/// What all but headings begin with.
pub(super) const INDENT: &str = "   ";

/// The columns of a line.
pub(super) const WIDTH: usize = 94;

/// The heading of an act.
pub(super) fn act(number: usize, title: &str) {
    tell::data(&format!("\n{BOLD}{number}  {title}{PLAIN}\n"));
}

/// Some sentences, in lines that fit.
pub(super) fn text(sentences: &str) {
    let mut line = String::new();
    for word in sentences.split(' ') {
        let width = INDENT.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && width > WIDTH {
            row(&line);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    row(&line);
}

/// A line as it is.
pub(super) fn row(line: &str) {
    tell::data(&format!("{INDENT}{line}\n"));
}

/// Lines that were written by another part of retape.
pub(super) fn quote<'a>(lines: impl IntoIterator<Item = &'a str>) {
    lines.into_iter().for_each(|line| tell::data(&format!("{INDENT}{DIM}│{PLAIN} {line}\n")));
}

pub(super) fn gap() {
    tell::data("\n");
}

/// A time as people say it.
pub(super) fn time(time: std::time::Duration) -> String {
    match time.as_millis() {
        ms @ ..1000 => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    }
}
