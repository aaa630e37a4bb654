//! A text for a terminal, line by line.

use super::Colour;
use super::line::{Style, cut, visible, wrap};

/// A text for a terminal, as it grows.
pub(super) struct Page {
    /// The columns of a line.
    pub(super) width: usize,
    pub(super) colour: Colour,
    pub(super) text: String,
}

impl Page {
    pub(super) fn new(width: usize, colour: Colour) -> Self {
        Self { width, colour, text: String::new() }
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        self.colour.paint(style, text)
    }

    /// A line that is laid out already.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Recorded text on one line, cut where it does not fit.
    pub(super) fn head(&mut self, style: Style, text: &str) {
        let line = self.paint(style, &cut(&visible(text), self.width));
        self.line(&line);
    }

    /// Recorded text in as many lines as it takes, up to a limit.
    pub(super) fn told(&mut self, indent: usize, style: Style, text: &str, most: usize) {
        for line in wrap(&visible(text), self.width.saturating_sub(indent), most) {
            let line = self.paint(style, &line);
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }
}
