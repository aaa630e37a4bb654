//! Why nothing recorded answers a request, for a person.

use super::Rerun;
use super::line::{cut_middle, shorten_ids, visible, width, wrap};
use super::unit::{count, size};
use super::why;
use super::words::{COLUMNS, pair};
use crate::compare::Value;
use crate::compare::matching::{Asking, Differing, Mismatch, Nearest, Why};

/// So many fields are shown; programs are told more.
const FIELDS: usize = 12;

/// For so many differences at most it is said how to let them not count.
const MENDED: usize = 3;

/// Explains a miss: what was asked of the cassette `name`, what is most alike, where the two differ
/// and why that counts, and what to do next.
///
/// No line but the command to copy is longer than 78 columns.
pub fn miss(name: &str, mismatch: &Mismatch, rerun: &Rerun) -> String {
    let of = count(mismatch.recorded, "interaction");
    let asked = first_line(&mismatch.method, &mismatch.path);
    let mut lines = vec![format!("`{name}` ({of}) has no answer to"), format!("  {asked}")];
    match &mismatch.nearest {
        Some(nearest) => tell_nearest(nearest, &asked, &mut lines),
        None => tell_others(mismatch, &mut lines),
    }
    lines.extend(mismatch.nearest.iter().flat_map(hints));
    lines.push("hint: if the client is meant to ask this now, record it again:".to_owned());
    let steps = rerun.steps(&mismatch.upstream, name);
    lines.extend(steps.iter().map(|step| format!("  {}", visible(step))));
    lines.join("\n")
}

fn tell_nearest(nearest: &Nearest, asked: &str, lines: &mut Vec<String>) {
    let Nearest { asking, played, alike, differences, more, .. } = nearest;
    let played = if *played { "played before" } else { "not played yet" };
    let alike = match alike {
        0..1000 => format!(", {} % alike", alike / 10),
        _ => String::new(),
    };
    lines.push(format!("the nearest is interaction {} ({played}{alike})", asking.interaction + 1));
    let recorded = first_line(&asking.method, &asking.path);
    if recorded != asked {
        lines.push(format!("  {recorded}"));
    }
    if let (Some(awaited), true) = (&nearest.awaited, differences.is_empty()) {
        let number = awaited.interaction + 1;
        lines.push(format!(
            "it asks the very same, but its answer shows what interaction {number} did,"
        ));
        lines.push("which was not asked for in this run:".to_owned());
        return lines.push(format!("  {}", first_line(&awaited.method, &awaited.path)));
    }
    if differences.is_empty() {
        return lines.extend(wrap(&same(nearest), COLUMNS + 6, 4).iter().map(|it| it.to_string()));
    }
    let verb = if differences.len() + more == 1 { "differs" } else { "differ" };
    let fields = count(differences.len() + more, "field");
    lines.push(format!("{fields} {verb} (- recorded, + asked):"));
    for differing in differences.iter().take(FIELDS) {
        lines.extend(field(differing).into_iter().map(|line| format!("  {line}")));
    }
    let left = differences.len().saturating_sub(FIELDS) + more;
    if left > 0 {
        lines.push(format!("  and {}", count(left, "more field")));
    }
}

/// A place, what was recorded there, what is asked there, and why that counts.
fn field(differing: &Differing) -> Vec<String> {
    let Differing { difference, why } = differing;
    let at = difference.at.to_string();
    let mut lines = vec![cut_middle(&visible(&at), COLUMNS + 4).into_owned()];
    let values = match (&difference.recorded, &difference.asked) {
        (Some(Value::Binary { length, .. }), Some(Value::Binary { length: asked, differs_at })) => {
            let first = format!("the first different byte is number {}", differs_at + 1);
            vec![format!("- {}", binary(*length)), format!("+ {}", binary(*asked)), first]
        }
        (Some(recorded), Some(asked)) => pair(&shown(recorded), &shown(asked)),
        (Some(recorded), None) => pair(&shown(recorded), "").into_iter().take(1).collect(),
        (None, Some(asked)) => pair("", &shown(asked)).into_iter().skip(1).collect(),
        (None, None) => Vec::new(),
    };
    lines.extend(values.into_iter().map(|line| format!("  {line}")));
    if !matches!(why, Why::Value { .. }) {
        let why = visible(&why::text(why)).into_owned();
        lines.extend(wrap(&why, COLUMNS, 4).iter().map(|line| format!("  {line}")));
    }
    lines
}

/// Why a request without a difference is not answered.
fn same(nearest: &Nearest) -> String {
    match &nearest.next {
        _ if nearest.played => {
            "it asks the very same, but was played already, and `repeats` lets no answer be given again"
                .to_owned()
        }
        Some(next) if next.interaction < nearest.asking.interaction => format!(
            "it asks the very same, but `repeats` keeps the recorded order, and interaction {} comes \
             first: {}",
            next.interaction + 1,
            first_line(&next.method, &next.path)
        ),
        _ => "it looks the same; what differs is in a place that cannot be told apart".to_owned(),
    }
}

fn tell_others(mismatch: &Mismatch, lines: &mut Vec<String>) {
    let Mismatch { method, others, .. } = mismatch;
    let Some(first) = others.first() else {
        return lines.push("because nothing was recorded".to_owned());
    };
    lines.push(match first.method == *method {
        true => format!("nothing like it was recorded; with {method} there is"),
        false => format!("nothing was recorded with {}; there is", visible(method)),
    });
    lines.extend(others.iter().map(|other| {
        let Asking { interaction, method, path } = other;
        let path = path.split('?').next().unwrap_or_default();
        format!("  {} (interaction {})", first_line(method, path), interaction + 1)
    }));
}

/// What else can be done, beside recording again.
fn hints(nearest: &Nearest) -> Vec<String> {
    let renames = |differing: &&Differing| {
        matches!(differing.why, Why::CalledBefore { .. } | Why::StandsFor { .. })
    };
    let is_binary = |it: &Differing| matches!(it.difference.asked, Some(Value::Binary { .. }));
    let mut lines = Vec::new();
    if !cfg!(feature = "compression") && nearest.differences.iter().any(is_binary) {
        lines.push("hint: this build compares compressed bodies byte by byte; with its".to_owned());
        lines.push("  feature `compression`, retape compares what they say".to_owned());
    }
    if nearest.differences.iter().any(|it| renames(&it)) {
        // Another name for the same thing in one run: another client, or the same that began anew.
        lines.push(
            "hint: if several tests share this cassette, give each one of its own: the".into(),
        );
        lines.push("  base address `URL/NAME/-` names it".to_owned());
        lines.push(
            "hint: a client that begins anew asks under another name (`~2` behind the".into(),
        );
        lines.push("  cassette's) or resets the run (`POST /-/retape/reset`)".to_owned());
    }
    if nearest.awaited.is_some() && nearest.differences.is_empty() {
        lines.push(
            "hint: if the client is free to leave that out, say so in retape.toml:".to_owned(),
        );
        lines.push("  [match]".to_owned());
        lines.push("  early = \"given\"".to_owned());
    }
    let value = |comes_back| Why::Value { comes_back };
    let rules = [
        (value(false), "if it does not count, say so", "ignore"),
        (value(true), "if the client makes it up, say so", "ids"),
        (Why::Order, "if its order means nothing, let it not count", "unordered"),
    ];
    for (why, when, key) in rules {
        let places = nearest.differences.iter().filter(|it| it.why == why);
        let mut places: Vec<String> = places.filter_map(|it| it.difference.at.rule()).collect();
        places.sort_unstable();
        places.dedup();
        // Where so much differs, it is another request.
        if (1..=MENDED).contains(&places.len()) {
            let places: Vec<String> = places.iter().map(|place| format!("{place:?}")).collect();
            lines.push(format!("hint: {when}, in retape.toml:"));
            lines.push("  [match]".to_owned());
            lines.push(format!("  {key} = [{}]", visible(&places.join(", "))));
        }
    }
    lines
}

/// A value as it is shown: strings in quotes, with their line breaks.
fn shown(value: &Value) -> String {
    match value {
        Value::Binary { length, .. } => binary(*length),
        Value::Text(text) => text.clone(),
        Value::Json(_) if value.kind() == Some("string") => {
            format!("\"{}\"", value.said().unwrap_or_default())
        }
        Value::Json(spelled) => spelled.clone(),
    }
}

fn binary(length: usize) -> String {
    format!("{} of binary data", size(length))
}

/// Method and path in a line that fits.
pub(super) fn first_line(method: &str, path: &str) -> String {
    let line = visible(&format!("{method} {path}")).into_owned();
    if width(&line) <= COLUMNS + 4 {
        return line;
    }
    cut_middle(&shorten_ids(&line), COLUMNS + 4).into_owned()
}
