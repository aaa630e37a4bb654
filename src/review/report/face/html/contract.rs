//! The contracts that are not the same: their lines, and their orders to be drawn.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use similar::TextDiff;

use super::markup::Budget;
use super::railroad::{Track, merged};
use super::route_and_gives;
use crate::review::change::{CaseEdges, Change, ContractPair, Edge, Report, State};
use crate::review::report::line::visible;

/// All contracts, each as an item that opens.
pub(super) fn contracts(report: &Report, budget: &mut Budget) -> String {
    let numbered = report.contracts.iter().enumerate();
    numbered
        .map(|(number, pair)| item(report, pair, &format!("contract-{number}"), budget))
        .collect()
}

fn item(report: &Report, pair: &ContractPair, id: &str, budget: &mut Budget) -> String {
    let lines = lines(pair);
    let count = |sign: &str| lines.iter().filter(|line| line[0] == sign).count();
    let state = match (&pair.old, &pair.new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "",
    };
    let (new, gone) = (count("+"), count("-"));
    let edges = edges_of_all(pair);
    let value = json!({"lines": lines, "orders": orders(pair), "edges": edges});
    let data = budget.element(id, &value);
    let ([route, gives], data) = (route_and_gives(&pair.endpoint), data.unwrap_or_default());
    format!(
        "<details class=\"item contract\" id=\"{id}\" data-verdict=\"{}\"><summary><span \
         class=\"what\">{route} <span class=\"gives\">{gives}</span></span><span class=\"size\">{state} <span \
         class=\"new\">+{new}</span> <span class=\"lost\">−{gone}</span></span></summary><div \
         class=\"body\"></div></details>\n{data}",
        verdicts(report, pair),
    )
}

/// What its changes are, so that it is found with them.
fn verdicts(report: &Report, pair: &ContractPair) -> String {
    let its = |change: &&Change| change.place.endpoint == pair.endpoint;
    let words = report.changes.iter().filter(its).map(|it| super::Standing::of_change(it).word());
    let words: BTreeSet<&str> = words.collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// The lines of both texts: a sign, and the parts of a line, of which every second one differs.
fn lines(pair: &ContractPair) -> Vec<Vec<String>> {
    let [old, new]: [Vec<&str>; 2] =
        [&pair.old, &pair.new].map(|text| text.as_deref().unwrap_or_default().lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    // No deadline, because a time limit would make the result depend on the machine.
    let changes = diff.ops().iter().flat_map(|op| diff.iter_inline_changes_deadline(op, None));
    let line = |change: similar::InlineChange<'_, str>| {
        let mut parts = vec![change.tag().to_string()];
        for (differs, part) in change.values() {
            // The first part is one that does not differ.
            if *differs == (parts.len() % 2 == 1) {
                parts.push(String::new());
            }
            parts.push(visible(part).into_owned());
        }
        parts
    };
    changes.map(line).collect()
}

/// The orders to be drawn, case by case, and the edges that came and went.
fn orders(pair: &ContractPair) -> Vec<Value> {
    let changed = pair.orders.iter().filter(|case| case.old != case.new);
    changed.filter_map(order).collect()
}

fn order(case: &CaseEdges) -> Option<Value> {
    let (side, track) = match (&case.old, &case.new) {
        (Some(old), Some(new)) => (None, merged(old, new)),
        (Some(old), None) => (Some("before"), Track::of(old)),
        (None, Some(new)) => (Some("now"), Track::of(new)),
        (None, None) => return None,
    };
    // Of a case that is on one side only, all edges are.
    let edges = |state: State| {
        let edges = case.edges.iter().filter(|edge| edge.state == state && side.is_none());
        names(edges.map(ends).collect())
    };
    Some(json!({
        "case": visible(&case.case),
        "side": side,
        "track": track.to_json(),
        "new": edges(State::New),
        "lost": edges(State::Lost),
    }))
}

type Ends<'e> = (&'e Option<String>, &'e Option<String>);

fn ends(edge: &Edge) -> Ends<'_> {
    (&edge.from, &edge.to)
}

fn names(edges: BTreeSet<Ends<'_>>) -> Vec<Value> {
    let name = |tag: &Option<String>| tag.as_ref().map(|tag| visible(tag).into_owned());
    edges.into_iter().map(|(from, to)| json!([name(from), name(to)])).collect()
}

/// The edges that came and went whatever was asked, where the cases of both sides are not the same.
fn edges_of_all(pair: &ContractPair) -> Option<Value> {
    let cases = &pair.orders;
    let has = |is_there: fn(&CaseEdges) -> bool| cases.iter().any(is_there);
    let differ = has(|case| case.old.is_some() != case.new.is_some());
    if !(differ && has(|case| case.old.is_some()) && has(|case| case.new.is_some())) {
        return None;
    }
    let but = |state: State| -> BTreeSet<Ends<'_>> {
        let all = cases.iter().flat_map(|case| &case.edges);
        all.filter(|edge| edge.state != state).map(ends).collect()
    };
    let (was, is) = (but(State::New), but(State::Lost));
    Some(json!({"new": names(&is - &was), "lost": names(&was - &is)}))
}
