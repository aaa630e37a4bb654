//! The text of a contract: its lines, and what is wrong with them.

use std::fmt;
use std::ops::Range;

/// The lines of a text that say something, without the head that insta writes.
pub(super) struct Source<'t> {
    text: &'t str,
    pub(super) lines: Vec<Line<'t>>,
}

/// A line that says something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    /// Where it begins, in bytes of the whole text.
    start: usize,
}

/// Lines that belong together.
pub(super) struct Block<'t> {
    lines: Vec<Line<'t>>,
    /// Where they would stand if there were none.
    end: usize,
}

/// Where the lines of a block's text stand in the whole: in the one, and in the other.
pub(super) struct Places(Vec<(usize, usize)>, usize);

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// In bytes of the whole text.
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) hint: Option<String>,
}

/// Everything that is wrong with a text, in order.
#[derive(Debug)]
pub(super) struct Mistakes {
    text: String,
    mistakes: Vec<Mistake>,
}

impl<'t> Source<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let head = text.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n"));
        let head = head.map_or(0, |end| "---\n".len() + end + "\n---\n".len());
        let mut start = head;
        let mut lines = Vec::new();
        for line in text[head..].split_inclusive('\n') {
            let said = line.trim_end();
            if !said.is_empty() {
                lines.push(Line { text: said, start });
            }
            start += line.len();
        }
        Self { text, lines }
    }

    /// Behind all of it.
    pub(super) fn end(&self) -> Range<usize> {
        self.text.len()..self.text.len()
    }
}

impl Line<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Where it says something.
    pub(super) fn trimmed(&self) -> Range<usize> {
        self.start + self.column()..self.start + self.text.len()
    }

    fn column(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }
}

impl<'t> Block<'t> {
    pub(super) fn below(lines: &[Line<'t>]) -> Self {
        Self { lines: lines.to_vec(), end: lines.last().map_or(0, |line| line.span().end) }
    }

    /// Where its first line begins, counted from 0.
    pub(super) fn column(&self) -> usize {
        self.lines.first().map_or(0, Line::column)
    }

    /// Each line that begins in a column, or before it, and the lines that are below it.
    pub(super) fn parts(&self, column: usize) -> Vec<(Line<'t>, Self)> {
        let mut parts: Vec<(Line<'t>, Self)> = Vec::new();
        for line in &self.lines {
            match parts.last_mut() {
                Some((_, inside)) if line.column() > column => {
                    inside.end = line.span().end;
                    inside.lines.push(*line);
                }
                _ => parts.push((*line, Self { lines: Vec::new(), end: line.span().end })),
            }
        }
        parts
    }

    /// Its text as if it began in the first column, and where that stands.
    pub(super) fn text(&self) -> (String, Places) {
        let (mut text, mut places, column) = (String::new(), Vec::new(), self.column());
        for line in &self.lines {
            let cut = column.min(line.column());
            places.push((text.len(), line.start + cut));
            text.push_str(&line.text[cut..]);
            text.push('\n');
        }
        (text, Places(places, self.end))
    }
}

impl Places {
    /// Where a place of the block's text stands in the whole.
    pub(super) fn whole(&self, span: &Range<usize>) -> Range<usize> {
        let find = |at: usize| {
            let line = self.0.iter().rev().find(|(inner, _)| *inner <= at);
            line.map_or(self.1, |(inner, whole)| (whole + at - inner).min(self.1))
        };
        find(span.start)..find(span.end).max(find(span.start))
    }
}

impl Mistakes {
    pub(super) fn of(text: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        Self { text: text.to_owned(), mistakes }
    }

    /// The line of the first, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.mistakes.first().map_or(1, |mistake| self.place(mistake).0)
    }

    /// Line and column, counted from 1.
    fn place(&self, mistake: &Mistake) -> (usize, usize) {
        let before = &self.text[..mistake.span.start];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    fn show(&self, mistake: &Mistake, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, column) = self.place(mistake);
        let line = self.text.lines().nth(number - 1).unwrap_or_default();
        let marked = self.text[mistake.span.clone()].lines().next().unwrap_or_default();
        let carets = "^".repeat(marked.trim_end().chars().count().max(1));
        let margin = number.to_string();
        writeln!(f, "{} (line {number}, column {column})", mistake.what)?;
        writeln!(f, "  {margin} | {}", line.replace('\t', " "))?;
        write!(f, "  {:1$} | {2:3$}{carets}", "", margin.len(), "", column - 1)?;
        match &mistake.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mistake) in self.mistakes.iter().enumerate() {
            f.write_str(if place > 0 { "\n" } else { "" })?;
            self.show(mistake, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
