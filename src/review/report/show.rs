//! A cassette as a text to be read by a person.

use super::page::Page;
use super::style::RESET;
use super::{Colour, Summary};
use crate::cassette::Cassette;
use crate::message::Protocols;

/// How a cassette is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowOptions {
    /// How many columns a line may take; less than 60 counts as 60.
    pub width: usize,
    /// Whether it is coloured.
    pub colour: Colour,
    /// How much is shown.
    pub detail: Detail,
}

/// How much of a cassette is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What was asked, what came back, in what order and when.
    #[default]
    Summary,
    /// The bodies as well.
    Bodies,
}

impl Default for ShowOptions {
    fn default() -> Self {
        Self { width: 100, colour: Colour::Plain, detail: Detail::Summary }
    }
}

/// Shows a cassette: where it comes from, then each interaction with what was asked and what came
/// back. Interactions are counted from 1.
///
/// # Example: a cassette in which nothing was recorded
///
/// ```
/// use retape::Cassette;
/// use retape::review::report::{ShowOptions, show};
///
/// let shown = show("letta/first", &Cassette::default(), ShowOptions::default());
///
/// assert!(shown.starts_with("letta/first\n"));
/// assert!(shown.contains("0 interactions"));
/// ```
pub fn show(name: &str, cassette: &Cassette, options: ShowOptions) -> String {
    show_by(&Protocols::default(), name, cassette, options)
}

/// The same with other protocols than those that retape knows.
pub fn show_by(
    protocols: &Protocols,
    name: &str,
    cassette: &Cassette,
    options: ShowOptions,
) -> String {
    let summary = Summary::by(protocols, cassette);
    let page = Page::new(&summary, options);
    let mut lines = page.head(name, cassette, &summary);
    let mut before = usize::MAX;
    for (place, row) in summary.rows.iter().enumerate() {
        let mut block = page.row(place + 1, row);
        if options.detail == Detail::Bodies {
            block.extend(page.bodies(protocols, &cassette.interactions[place]));
        }
        // Interactions of one line each stand close together.
        if before.max(block.len()) > 1 {
            lines.push(String::new());
        }
        before = block.len();
        lines.append(&mut block);
    }
    let lines: Vec<String> = lines.iter().map(|line| tidy(line)).collect();
    lines.join("\n") + "\n"
}

/// A line without white space at its end, coloured or not.
fn tidy(line: &str) -> String {
    match line.strip_suffix(RESET) {
        Some(text) => format!("{}{RESET}", text.trim_end()),
        None => line.trim_end().to_owned(),
    }
}
