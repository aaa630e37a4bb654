//! A cassette that is recorded again differs from the old one in what has changed and nothing else.

mod cases;
mod chance;
mod compressed;
mod disguise;
mod headers;
mod laws;
mod markup;
mod recorded;
mod times;
mod together;

use retape::Cassette;
use retape::cassette::format;

/// The text of a cassette without the line that says when it was recorded.
fn told(cassette: &Cassette) -> String {
    let text = format::encode(cassette).text;
    let told = text.lines().filter(|line| !line.starts_with("  \"recorded\""));
    told.map(|line| line.to_owned() + "\n").collect()
}

/// The lines of a text that are not in the one before.
fn changed(before: &str, now: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(before, now);
    let inserted = diff.iter_all_changes().filter(|it| it.tag() == similar::ChangeTag::Insert);
    inserted.map(|change| change.value().to_owned()).collect()
}
