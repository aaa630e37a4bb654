//! How the demo tells its story.

use std::time::Duration;

use crate::cli::tell::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED};

/// What all but headings begin with.
pub(super) const INDENT: &str = "   ";

/// The columns of a line.
pub(super) const WIDTH: usize = 94;

/// The columns before a line that is quoted.
pub(super) const QUOTE: usize = INDENT.len() + 2;

pub(super) fn title(name: &str, what: &str) {
    tell::data(&format!("{BOLD}{name}{PLAIN} · {what}\n"));
}

pub(super) fn act(number: usize, title: &str) {
    tell::data(&format!("\n{CYAN}{number}{PLAIN}  {BOLD}{title}{PLAIN}\n"));
}

pub(super) fn heading(title: &str) {
    tell::data(&format!("\n{INDENT}{BOLD}{title}{PLAIN}\n"));
}

/// Some sentences, in lines that fit.
pub(super) fn text(sentences: &str) {
    let mut line = INDENT.to_owned();
    for word in sentences.split(' ') {
        if line.chars().count() + word.chars().count() > WIDTH {
            tell::data(&format!("{}\n", line.trim_end()));
            line.truncate(INDENT.len());
        }
        line.push_str(word);
        line.push(' ');
    }
    tell::data(&format!("{}\n", line.trim_end()));
}

/// Lines that another part of retape wrote.
pub(super) fn quote(lines: impl IntoIterator<Item = String>) {
    for line in lines {
        let space = if line.is_empty() { "" } else { " " };
        tell::data(&format!("{INDENT}{DIM}│{PLAIN}{space}{line}\n"));
    }
}

/// A command to copy, below what it does.
pub(super) fn command(what: &str, command: &str) {
    tell::data(&format!("{INDENT}{DIM}# {what}{PLAIN}\n{INDENT}{command}\n"));
}

pub(super) fn gap() {
    tell::data("\n");
}

pub(super) fn passed(verdict: &str) {
    tell::data(&format!("\n{GREEN}✓ {verdict}{PLAIN}\n"));
}

pub(super) fn failed(finding: &str) {
    tell::data(&format!("\n{RED}✗{PLAIN} {finding}\n"));
}

/// The explanation of a miss without its hints, what differs in colour.
pub(super) fn brief(explanation: &str) -> Vec<String> {
    let told = explanation.lines().take_while(|line| !line.starts_with("hint:"));
    told.map(|line| match line.trim_start().chars().next() {
        Some('-') => format!("{RED}{line}{PLAIN}"),
        Some('+') => format!("{GREEN}{line}{PLAIN}"),
        _ => line.to_owned(),
    })
    .collect()
}

/// A time as people say it.
pub(super) fn time(time: Duration) -> String {
    match time.as_millis() {
        ms @ ..1000 => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    }
}
