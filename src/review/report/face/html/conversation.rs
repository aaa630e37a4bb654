//! The cassettes that are not the same: what was asked and answered, before and now.

use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::markup::{Budget, code};
use super::railroad::word;
use crate::review::change::{CassettePair, Difference, Exchange, InteractionPair, Mark, Report};
use crate::review::report::face::told;
use crate::review::report::line::{shorten_ids, visible};
use crate::text::plain::beginning;

/// So much of a value is shown, in characters.
const LONGEST: usize = 800;

/// All cassettes, each as an item that opens.
pub(super) fn conversations(report: &Report, budget: &mut Budget) -> String {
    let numbered = report.cassettes.iter().enumerate();
    numbered.map(|(number, pair)| item(pair, &format!("cassette-{number}"), budget)).collect()
}

fn item(pair: &CassettePair, id: &str, budget: &mut Budget) -> String {
    let (state, said) = (word(pair.state), told::cassette(pair));
    let interactions: Vec<Value> = pair.interactions.iter().map(interaction).collect();
    let value = json!({"same": pair.same, "interactions": interactions});
    let data = budget.element(id, &value);
    format!(
        "<details class=\"item conversation {state}\" id=\"{id}\"><summary><span \
         class=\"what\">{}</span><span class=\"size\">{said}</span></summary><div \
         class=\"body\"></div></details>\n{}",
        code(&pair.name),
        data.unwrap_or_default(),
    )
}

fn interaction(pair: &InteractionPair) -> Value {
    // The order of messages is drawn, so it need not be told.
    let told = pair.differences.iter().filter(|difference| difference.at != "trace");
    let (old, new) = (marks(&pair.old), marks(&pair.new));
    let steps = steps(old, new);
    let times = |mark: &Mark| (mark.first_ms, mark.last_ms);
    let has_old_times = |place: usize| {
        let mut all = steps.iter().filter_map(|[was, is]| was.filter(|_| *is == Some(place)));
        all.any(|was| times(&old[was]) == times(&new[place]))
    };
    json!({
        "old": pair.old.as_ref().map(|it| exchange(it, &|_| false)),
        "new": pair.new.as_ref().map(|it| exchange(it, &has_old_times)),
        "steps": steps,
        "differences": told.map(difference).collect::<Vec<_>>(),
        "more": pair.more,
    })
}

fn marks(exchange: &Option<Exchange>) -> &[Mark] {
    exchange.as_ref().map_or(&[], |exchange| &exchange.trace)
}

/// `has_old_times` says of a message by its place whether its times are those of before. Recording again keeps
/// them, so they measure nothing.
fn exchange(exchange: &Exchange, has_old_times: &dyn Fn(usize) -> bool) -> Value {
    let mark = |(place, mark): (usize, &Mark)| {
        let Mark { tag, count, first_ms, last_ms } = mark;
        json!([visible(tag), count, first_ms, last_ms, has_old_times(place)])
    };
    json!({
        "number": exchange.number.to_string(),
        "place": exchange.place,
        "method": visible(&exchange.method),
        "path": visible(&shorten_ids(&exchange.path)),
        "status": exchange.status,
        "end": exchange.end,
        "ms": exchange.ms,
        "marks": exchange.trace.iter().enumerate().map(mark).collect::<Vec<_>>(),
    })
}

/// Which messages belong together: pairs of places, one of which is none where a message is on one
/// side only.
fn steps(old: &[Mark], new: &[Mark]) -> Vec<[Option<usize>; 2]> {
    let tags =
        |marks: &'_ [Mark]| -> Vec<String> { marks.iter().map(|mark| mark.tag.clone()).collect() };
    let mut steps = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &tags(old), &tags(new)) {
        let (olds, news) = (op.old_range(), op.new_range());
        if op.tag() == DiffTag::Equal {
            steps.extend(olds.zip(news).map(|(old, new)| [Some(old), Some(new)]));
        } else {
            steps.extend(olds.map(|old| [Some(old), None]));
            steps.extend(news.map(|new| [None, Some(new)]));
        }
    }
    steps
}

fn difference(it: &Difference) -> Value {
    let side = |value: &Option<String>| value.as_ref().map(|value| shown(value));
    json!([visible(&it.at), side(&it.old), side(&it.new)])
}

/// What is shown of a value, its lines as lines.
fn shown(value: &str) -> String {
    let begun = beginning(value, LONGEST);
    begun.lines().map(visible).collect::<Vec<_>>().join("\n")
}
