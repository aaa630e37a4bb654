//! What strict matching would have refused, for people and for programs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::event::Miss;
use super::summary::Summary;
use crate::error::Result;
use crate::review::report::{self, Differs};
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
         bodies or header fields are not. Each line has what was recorded, and what is asked now.\n\n\
         ## What drifted\n\nWhat differs in the same requests is one item. The most frequent comes first.\n",
    );
    let drifts = drifts(&summary.drifted);
    for (number, drift) in drifts.iter().enumerate() {
        drift.tell(number + 1, &mut text);
    }
    rules(&drifts, &mut text);
    text.push_str("\n## By cassette\n");
    for (cassette, drifts) in &cassettes {
        let _ = write!(text, "\n### `{cassette}`\n\n");
        drifts.iter().for_each(|drift| request(drift, &mut text));
    }
    text
}

/// Places that differ in the same requests: one decision.
struct Drift<'m> {
    requests: Vec<&'m Miss>,
    /// By what a rule names each, or how it is written if none can.
    places: Vec<(String, &'m Differs)>,
}

/// What drifted, that of most requests first.
fn drifts(drifted: &[Miss]) -> Vec<Drift<'_>> {
    let mut places: BTreeMap<String, (BTreeSet<usize>, &Differs)> = BTreeMap::new();
    for (number, drift) in drifted.iter().enumerate() {
        for differs in &drift.differences {
            let name = differs.at.rule().unwrap_or_else(|| differs.at.to_string());
            places.entry(name).or_insert((BTreeSet::new(), differs)).0.insert(number);
        }
    }
    let mut together: BTreeMap<BTreeSet<usize>, Vec<(String, &Differs)>> = BTreeMap::new();
    for (name, (requests, example)) in places {
        together.entry(requests).or_default().push((name, example));
    }
    let requests = |numbers: BTreeSet<usize>| {
        let mut requests: Vec<&Miss> = numbers.into_iter().map(|it| &drifted[it]).collect();
        // Which test of several at once ended first says nothing.
        requests.sort_by_key(|it| (&it.cassette, &it.session));
        requests
    };
    let drifts = together.into_iter();
    let mut drifts: Vec<Drift<'_>> =
        drifts.map(|(numbers, places)| Drift { requests: requests(numbers), places }).collect();
    drifts.sort_by_key(|drift| Reverse(drift.requests.len()));
    drifts
}

impl Drift<'_> {
    fn cassettes(&self) -> BTreeSet<&str> {
        self.requests.iter().map(|it| it.cassette.as_str()).collect()
    }

    /// `176 requests in 68 cassettes`
    fn extent(&self) -> String {
        let requests = report::count(self.requests.len(), "request");
        format!("{requests} in {}", report::count(self.cassettes().len(), "cassette"))
    }

    fn tell(&self, number: usize, text: &mut String) {
        let _ = write!(text, "\n{number}. **{}**", self.extent());
        if let [first, ..] = self.requests[..] {
            let _ = write!(text, ", such as `{}`, {}:\n\n", first.cassette, asked(first));
        }
        for (name, example) in &self.places {
            let _ = writeln!(text, "   - `{name}`: {}", change(example));
        }
        let cassettes = self.cassettes();
        if cassettes.len() > 1 {
            let all: Vec<_> = cassettes.iter().map(|name| format!("`{name}`")).collect();
            let all = all.join("<br>\n   ");
            let _ = writeln!(
                text,
                "\n   <details><summary>The cassettes</summary>\n\n   {all}\n\n   </details>"
            );
        }
    }
}

/// `POST /chat` (interaction 1)
fn asked(drift: &Miss) -> String {
    let number = drift.nearest.map_or(0, |nearest| nearest + 1);
    format!("`{} {}` (interaction {number})", drift.method, drift.path)
}

fn request(drift: &Miss, text: &mut String) {
    let _ = writeln!(text, "- {}", asked(drift));
    for differs in &drift.differences {
        let _ = writeln!(text, "  - `{}`: {}", differs.at, change(differs));
    }
}

/// What compares all else strictly.
fn rules(drifts: &[Drift<'_>], text: &mut String) {
    text.push_str(
        "\n## What to do\n\n\
         This `retape.toml` compares all else strictly, in the place of `compare = \"path\"`. Go through its\n\
         items. Where a field does not count, its lines stay. Where it does, take them out, and record the\n\
         cassettes of the item again.\n\n\
         ```toml\n[match]\nignore = [\n",
    );
    let mut unnamed = BTreeSet::new();
    for (number, drift) in drifts.iter().enumerate() {
        let _ = writeln!(text, "  # {}: {}", number + 1, drift.extent());
        for (name, example) in &drift.places {
            match example.at.rule() {
                Some(_) => _ = writeln!(text, "  {},", Value::from(name.as_str())),
                None => unnamed.extend(drift.cassettes()),
            }
        }
    }
    text.push_str("]\n");
    for cassette in unnamed {
        let name = Value::from(cassette);
        let _ = write!(text, "\n[[cassette]]\nname = {name}\ncompare = \"path\"\n");
    }
    text.push_str("```\n");
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
