//! What strict matching would have refused, for people and for programs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::event::Miss;
use super::summary::Summary;
use crate::compare;
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
    /// What a rule calls each, or how it is written if none can; and what differs there in the first request.
    places: Vec<(String, &'m Differs)>,
}

/// What drifted, that of most requests first.
fn drifts(drifted: &[Miss]) -> Vec<Drift<'_>> {
    let mut places: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, drift) in drifted.iter().enumerate() {
        for differs in &drift.differences {
            places.entry(called(differs)).or_default().insert(number);
        }
    }
    let mut together: BTreeMap<BTreeSet<usize>, Vec<String>> = BTreeMap::new();
    for (name, requests) in places {
        together.entry(requests).or_default().push(name);
    }
    let drift = |(numbers, names): (BTreeSet<usize>, Vec<String>)| {
        let mut requests: Vec<&Miss> = numbers.into_iter().map(|it| &drifted[it]).collect();
        // Which test of several at once ended first says nothing.
        requests.sort_by_key(|it| (&it.cassette, &it.session));
        let first = requests.first().map_or(&[][..], |first| &first.differences);
        let example = |name: &String| first.iter().find(|differs| called(differs) == *name);
        let places = names.into_iter().filter_map(|name| example(&name).map(|it| (name, it)));
        Drift { places: places.collect(), requests }
    };
    let mut drifts: Vec<Drift<'_>> = together.into_iter().map(drift).collect();
    drifts.sort_by_key(|drift| Reverse(drift.requests.len()));
    drifts
}

fn called(differs: &Differs) -> String {
    differs.at.rule().unwrap_or_else(|| differs.at.to_string())
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

/// What compares all else strictly. What drifted in one cassette alone counts in all others.
fn rules(drifts: &[Drift<'_>], text: &mut String) {
    text.push_str(
        "\n## What to do\n\n\
         This `retape.toml` compares all else strictly, in the place of `compare = \"path\"`. Go through its\n\
         items. Where a field does not count, its lines stay. Where it does, take them out, and record the\n\
         cassettes of the item again.\n\n\
         ```toml\n",
    );
    let mut tables: BTreeMap<Option<&str>, String> = BTreeMap::new();
    let mut unnamed = BTreeSet::new();
    for (number, drift) in drifts.iter().enumerate() {
        let cassettes = drift.cassettes();
        let alone = cassettes.first().filter(|_| cassettes.len() == 1);
        let ignored = tables.entry(alone.copied()).or_default();
        let _ = writeln!(ignored, "  # {}: {}", number + 1, drift.extent());
        for (name, example) in &drift.places {
            match example.at.rule() {
                Some(_) => _ = writeln!(ignored, "  {},", Value::from(name.as_str())),
                None => unnamed.extend(cassettes.iter().copied()),
            }
        }
    }
    let of = |cassette: &str| format!("[[cassette]]\nname = {}", Value::from(cassette));
    let table = |(cassette, ignored): (Option<&str>, String)| {
        format!("{}\nignore = [\n{ignored}]\n", cassette.map_or_else(|| "[match]".to_owned(), of))
    };
    let mut tables: Vec<String> = tables.into_iter().map(table).collect();
    tables.extend(unnamed.into_iter().map(|it| format!("{}\ncompare = \"path\"\n", of(it))));
    let _ = writeln!(text, "{}```", tables.join("\n"));
}

/// Both values, from a little before where they begin to differ.
fn change(differs: &Differs) -> String {
    let sides = [&differs.recorded, &differs.asked].map(|side| side.as_ref().map(spelled));
    let same = match &sides {
        [Some(one), Some(other)] => {
            one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    };
    let from = if same < LONGEST / 2 { 0 } else { same - LONGEST / 4 };
    let [recorded, asked] =
        sides.map(|side| side.map_or("nothing".to_owned(), |it| cut(&it, from)));
    format!("{recorded} → {asked}")
}

fn spelled(value: &compare::Value) -> String {
    match value {
        compare::Value::Json(spelled) => spelled.clone(),
        compare::Value::Text(text) => Value::from(text.as_str()).to_string(),
        compare::Value::Binary { length, .. } => report::count(*length, "byte"),
    }
}

/// A part of a value, as code in Markdown.
fn cut(text: &str, from: usize) -> String {
    let text = text.replace('`', "'").replace('|', "\\|");
    let part: String = text.chars().skip(from).take(LONGEST).collect();
    let before = if from > 0 { "…" } else { "" };
    let behind = if text.chars().count() > from + LONGEST { "…" } else { "" };
    format!("`{before}{part}{behind}`")
}
