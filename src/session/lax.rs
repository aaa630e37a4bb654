//! What strict matching would have refused, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::event::Miss;
use super::summary::Summary;
use crate::error::Result;
use crate::review::report::Differs;
use crate::store;

/// Longer values are cut.
const LONGEST: usize = 60;

/// Writes what strict matching would have refused in a run.
pub(super) fn write(file: &Path, summary: &Summary) -> Result<()> {
    let is_for_people = file.extension().is_some_and(|ending| ending == "md");
    let text = if is_for_people { markdown(summary) } else { json(&summary.drifted) };
    let hint = "choose a file that can be written: `--report-lax FILE`";
    store::write_report(file, &text).map_err(|error| error.with_hint(hint))
}

fn json(drifted: &[Miss]) -> String {
    let mut all: Vec<Value> = drifted.iter().map(Miss::to_json).collect();
    for drift in &mut all {
        if let Value::Object(members) = drift {
            members.remove("explanation");
        }
    }
    format!("{:#}\n", Value::Array(all))
}

fn markdown(summary: &Summary) -> String {
    let mut cassettes: BTreeMap<&str, Vec<&Miss>> = BTreeMap::new();
    for drift in &summary.drifted {
        cassettes.entry(&drift.cassette).or_default().push(drift);
    }
    let mut text = format!(
        "# What strict matching would refuse\n\n{} of {} requests, in {} of {} cassettes.\n",
        summary.drifted.len(),
        summary.requests,
        cassettes.len(),
        summary.replayed.len()
    );
    if cassettes.is_empty() {
        text.push_str("\nNothing drifted: `compare = \"path\"` can go.\n");
        return text;
    }
    text.push_str(
        "\nThese requests were answered because method, server, path and query are as recorded. Their\n\
         bodies or header fields are not. Each line has what was recorded, and what is asked now.\n",
    );
    fields(&summary.drifted, &mut text);
    text.push_str("\n## By cassette\n");
    for (cassette, drifts) in &cassettes {
        let _ = write!(text, "\n### `{cassette}`\n\n");
        drifts.iter().for_each(|drift| request(drift, &mut text));
    }
    rules(cassettes.keys(), &mut text);
    text
}

/// The fields, the one that differs most often first.
fn fields(drifted: &[Miss], text: &mut String) {
    let mut fields: BTreeMap<String, (usize, BTreeSet<&str>, &Differs)> = BTreeMap::new();
    for drift in drifted {
        for differs in &drift.differences {
            let field = fields.entry(any_item(&differs.at.to_string()));
            let (count, cassettes, _) = field.or_insert((0, BTreeSet::new(), differs));
            *count += 1;
            cassettes.insert(&drift.cassette);
        }
    }
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_by_key(|(_, (count, ..))| std::cmp::Reverse(*count));
    text.push_str(
        "\n## By field\n\n| field | times | cassettes | for example |\n|---|---|---|---|\n",
    );
    for (field, (count, cassettes, example)) in fields {
        let cassettes = cassettes.len();
        let _ = writeln!(text, "| `{field}` | {count} | {cassettes} | {} |", change(example));
    }
}

fn request(drift: &Miss, text: &mut String) {
    let number = drift.nearest.map_or(0, |nearest| nearest + 1);
    let _ = writeln!(text, "- `{} {}` (interaction {number})", drift.method, drift.path);
    for differs in &drift.differences {
        let _ = writeln!(text, "  - `{}`: {}", differs.at, change(differs));
    }
}

/// What makes all cassettes strict but those that drifted.
fn rules<'c>(cassettes: impl Iterator<Item = &'c &'c str>, text: &mut String) {
    text.push_str(
        "\n## What to do\n\n\
         Where the recording is out of date, record it again. Where a field does not count, add it to\n\
         `ignore`. Until then, this `retape.toml` compares all other cassettes strictly:\n\n\
         ```toml\n",
    );
    for cassette in cassettes {
        let _ =
            write!(text, "[[cassette]]\nname = {}\ncompare = \"path\"\n\n", Value::from(*cassette));
    }
    text.truncate(text.trim_end().len());
    text.push_str("\n```\n");
}

/// `/messages/3/content` is one of `/messages/*/content`.
fn any_item(place: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts = place.split('/').map(|part| if is_number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn change(differs: &Differs) -> String {
    let told = differs.to_json();
    let value = |name: &str| match told.get(name) {
        None => "nothing".to_owned(),
        Some(value) => {
            format!("`{}`", cut(&value.to_string().replace('`', "'").replace('|', "\\|")))
        }
    };
    format!("{} → {}", value("recorded"), value("asked"))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
