//! The identifiers of a cassette for a person.

use super::Colour;
use super::line::{Style, count, cut_middle, pad, shorten_ids, visible, width};
use crate::cassette::{Cassette, Evidence};
use crate::identity::{Entry, Issuer, Ledger};

/// So many columns a place takes at most.
const PLACE: usize = 34;

/// So many columns an identifier takes at most.
const VALUE: usize = 30;

/// Shows which identifiers a cassette holds, who issued each, and where it came back. Interactions are
/// counted from 1.
///
/// # Example: a cassette without any
///
/// ```
/// use retape::Cassette;
/// use retape::review::report::{Colour, ids};
///
/// assert!(ids("first", &Cassette::default(), Colour::Plain).contains("0 identifiers"));
/// ```
pub fn ids(name: &str, cassette: &Cassette, colour: Colour) -> String {
    let ledger = Ledger::of(cassette);
    let by = |issuer| ledger.entries.iter().filter(|entry| entry.origin.issuer == issuer).count();
    let mut text = format!(
        "{}\n{}: {} issued by the server, {} made up by the client\n",
        colour.paint(Style::Bold, &visible(name)),
        count(ledger.entries.len(), "identifier"),
        by(Issuer::Server),
        by(Issuer::Client)
    );
    let rows: Vec<[String; 5]> = ledger.entries.iter().map(row).collect();
    if rows.is_empty() {
        return text;
    }
    let head = ["who", "#", "identifier", "first at", "then in"].map(str::to_owned);
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().chain([&head]).map(|row| width(&row[at])).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 5]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    text.push_str(&format!("\n{}\n", colour.paint(Style::Dim, &line(&head))));
    for (row, entry) in rows.iter().zip(&ledger.entries) {
        let style = match entry.origin.issuer {
            Issuer::Client => Style::Cyan,
            Issuer::Server => Style::Plain,
        };
        text.push_str(&format!("{}\n", colour.paint(style, &line(row))));
    }
    text
}

fn row(entry: &Entry) -> [String; 5] {
    let who = match entry.origin.issuer {
        Issuer::Server => "server",
        Issuer::Client => "client",
    };
    let sign = match entry.evidence {
        Evidence::Name => " (by name)",
        Evidence::Return => " (came back)",
        Evidence::Runs => " (differs in each run)",
        Evidence::Person => " (by a person)",
        _ => "",
    };
    let value = shorten_ids(&visible(&entry.value));
    [
        who.to_owned(),
        (entry.origin.interaction + 1).to_string(),
        cut_middle(&value, VALUE).into_owned(),
        format!("{}{sign}", cut_middle(&visible(&entry.at), PLACE)),
        then(entry),
    ]
}

/// `asked 3–5, answered 4`
fn then(entry: &Entry) -> String {
    let told = |what: &str, list: &[usize]| {
        (!list.is_empty()).then(|| format!("{what} {}", numbers(list)))
    };
    let parts = [told("asked", &entry.asked_in), told("answered", &entry.answered_in)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "never again".to_owned() } else { parts.join(", ") }
}

/// Numbers that go on without a gap as from and to; at most four pieces.
fn numbers(list: &[usize]) -> String {
    let runs: Vec<String> = list
        .chunk_by(|one, other| one + 1 == *other)
        .map(|run| match run {
            [only] => (only + 1).to_string(),
            [first, .., last] => format!("{}–{}", first + 1, last + 1),
            [] => String::new(),
        })
        .collect();
    let (shown, more) = runs.split_at(runs.len().min(4));
    format!("{}{}", shown.join(" "), if more.is_empty() { "" } else { " …" })
}
