//! Lines that belong below others.

use std::ops::Range;

use super::error::{ParseError, Problem};

/// A line without its indentation and comment, and the lines that are indented below it.
#[derive(Debug)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    /// Where it stands, in bytes of the whole text.
    pub(super) start: usize,
    pub(super) below: Vec<Line<'t>>,
}

impl Line<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The lines of the outermost level.
pub(super) fn lines<'t>(text: &'t str, errors: &mut Vec<ParseError>) -> Vec<Line<'t>> {
    let mut start = 0;
    let mut rows = Vec::new();
    for row in text.split_inclusive('\n') {
        let content = uncommented(row).trim_end();
        let bare = content.trim_start();
        if !bare.is_empty() {
            rows.push((content.len() - bare.len(), start + content.len() - bare.len(), bare));
        }
        start += row.len();
    }
    level(&mut rows.as_slice(), errors)
}

type Row<'t> = (usize, usize, &'t str);

/// The lines of one level, as far as they are not indented less than the first.
fn level<'t>(rows: &mut &[Row<'t>], errors: &mut Vec<ParseError>) -> Vec<Line<'t>> {
    let mut lines: Vec<Line<'t>> = Vec::new();
    let Some((indent, _, _)) = rows.first().copied() else { return lines };
    while let Some((column, start, text)) = rows.first().copied() {
        if column < indent {
            break;
        }
        if column > indent {
            // Only below another one: the first is not indented more than itself.
            let below = level(rows, errors);
            if let Some(last) = lines.last_mut() {
                if let Some(first) = below.first().filter(|_| !last.below.is_empty()) {
                    errors.push(ParseError::new(first.span(), Problem::Indentation));
                }
                last.below.extend(below);
            }
            continue;
        }
        *rows = &rows[1..];
        lines.push(Line { text, start, below: Vec::new() });
    }
    lines
}

/// The row up to a `#` that stands in no string.
fn uncommented(row: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in row.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'#' if !quoted => return &row[..at],
            _ => {}
        }
    }
    row
}
