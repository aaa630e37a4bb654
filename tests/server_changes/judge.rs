//! Letting the changes be judged, as `retape diff OLD NEW` does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use retape::Name;
use retape::compare::renew::renew;
use retape::contract::Endpoint;
use retape::review::change::{Change, Known, Report, Rule, compare};

use super::edit::ServerChange;
use super::harmless::runs::another_run;
use super::kind::{Class, KINDS, Kind};
use super::recorded::Recordings;
use super::score::{Called, OFTEN, Row, Score};
use super::set::Set;
use crate::dice::Random;

/// A folder of recordings, and those of it that are one server's.
type Chosen = (&'static str, fn(&str) -> bool);

const FEW: [Chosen; 3] =
    [("letta", |name| name.starts_with("errors")), ("mcp", |_| true), ("ag-ui", |_| true)];

/// The conversations that the TypeScript SDK repeats, and whole files of errors, show nothing else.
const WHOLE: [Chosen; 6] = [
    ("letta", |name| !name.starts_with("typescript")),
    ("mcp", |_| true),
    ("ag-ui", |_| true),
    ("anthropic", |name| name != "errors"),
    ("openai", |name| ["responses_plain", "responses_stream"].contains(&name)),
    ("openai", |name| ["chat_plain", "chat_stream"].contains(&name)),
];

const SEED: u64 = 20_261_121;

/// One in so many changes is recorded in the place of what was before, too.
const AGAIN: usize = 6;

/// Makes up to so many changes of each kind and lets them be judged. If it is one, few recordings are
/// changed: that takes a few seconds.
pub fn score(most: usize) -> Score {
    let sets: &[Chosen] = if most > 1 { &WHOLE } else { &FEW };
    let sets: Vec<Set> = sets.iter().map(|(name, wanted)| Set::of(name, wanted)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let rows = numbers.map_while(|number| {
            let mut random = Random(SEED + number as u64);
            Some((number, row(KINDS.get(number)?, &sets, &mut random, most)))
        });
        rows.collect::<Vec<(usize, Row)>>()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut rows: Vec<(usize, Row)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().expect("no change is refused")).collect()
    });
    rows.sort_by_key(|(number, _)| *number);
    Score { rows: rows.into_iter().map(|(_, row)| row).collect() }
}

/// What becomes of the changes of a kind.
fn row(kind: &'static Kind, sets: &[Set], random: &mut Random, most: usize) -> Row {
    let mut row = Row::of(kind);
    for (set, change) in chosen(kind, sets, random, most) {
        judge(set, &change, &mut row, most > 1);
    }
    row
}

/// So many of a kind, from all sets in turn.
fn chosen<'s>(
    kind: &Kind,
    sets: &'s [Set],
    random: &mut Random,
    most: usize,
) -> Vec<(&'s Set, ServerChange)> {
    let first = random.below(sets.len());
    let in_turn = sets.iter().cycle().skip(first).take(sets.len());
    let mut of_sets: Vec<(&Set, Vec<ServerChange>)> =
        in_turn.map(|set| (set, kind.changes(set, random))).collect();
    let mut chosen = Vec::new();
    while chosen.len() < most && of_sets.iter().any(|(_, changes)| !changes.is_empty()) {
        for (set, changes) in of_sets.iter_mut().filter(|(_, changes)| !changes.is_empty()) {
            if chosen.len() < most {
                chosen.push((*set, changes.swap_remove(random.below(changes.len()))));
            }
        }
    }
    chosen
}

/// Lets a change be judged; if it is one of `many`, some also as recorded again.
fn judge(set: &Set, change: &ServerChange, row: &mut Row, many: bool) {
    let (kind, old, mut new) = (row.kind, &set.recordings, set.recordings.clone());
    (change.edit)(&mut new);
    assert!(new != *old, "{}: {} changes nothing", kind.name, change.what);
    let report = compared(old, &new);
    let called = Called::of(&report);
    row.called.push(called);
    let said = told(kind, set, change, &report);
    if kind.class == Class::Breaking {
        let failing = report.changes.iter().filter(|it| it.verdict.is_open());
        let failing: Vec<String> =
            failing.map(|it| format!("\n  - {}: {}", it.rule, it.what)).collect();
        row.times.push(failing.len());
        if failing.len() > OFTEN {
            row.often.push(format!("{said}{}", failing.concat()));
        }
    }
    if called == Called::Unproven {
        row.unproven.push(said.clone());
    }
    if many && row.called.len() % AGAIN == 1 {
        row.again += 1;
        let again = recorded_again(old, new.clone());
        if Called::of(&compared(old, &again)) > called {
            row.hidden.push(said.clone());
        }
    }
    let is_wrong = match kind.class {
        Class::Breaking => !is_told(change, old, &new, &report),
        Class::Harmless => report.fails(),
    };
    if is_wrong {
        row.wrong.push(said);
    }
}

fn compared(old: &Recordings, new: &Recordings) -> Report {
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };
    compare(known("old", old), known("new", new))
}

/// Another run of the server, recorded in the place of the old one. Where it does not differ, it is as it was.
fn recorded_again(old: &Recordings, mut new: Recordings) -> Recordings {
    let before = |name: &Name| old.iter().find(|(known, _)| known == name).map(|(_, it)| it);
    for named in &mut new {
        let Some(old) = before(&named.0).filter(|old| **old != named.1) else { continue };
        another_run(std::slice::from_mut(named));
        named.1 = renew(old, named.1.clone()).cassette;
    }
    new
}

/// The change, and the worst that is told of it.
fn told(kind: &Kind, set: &Set, change: &ServerChange, report: &Report) -> String {
    let at = change.endpoint.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let worst = report.changes.first();
    let worst = worst.map_or_else(String::new, |it| format!(" -> {}: {}", it.rule, it.what));
    format!("{} {}:{at} {}{worst}", set.name, kind.name, change.what)
}

/// Whether something that fails is told where the change was made: with an answer that was changed as its
/// witness, and of the field that was changed, or of a type of message that is none any more.
fn is_told(change: &ServerChange, old: &Recordings, new: &Recordings, report: &Report) -> bool {
    let is_there = |told: &Change| {
        let is_of_it = change.field.as_ref().is_none_or(|name| {
            let is_named = told.place.path.contains(name) || told.what.contains(name);
            is_named || told.rule == Rule::TagNew
        });
        is_of_it && change.endpoint.as_ref().is_some_and(|at| is_same_path(at, told))
    };
    let is_shown = |told: &Change| {
        told.witnesses.as_ref().is_some_and(|shown| {
            let of = |all: &Recordings| {
                let (_, cassette) = all.iter().find(|(name, _)| name.as_str() == shown.cassette)?;
                cassette.interactions.get(shown.number.interaction - 1).cloned()
            };
            of(old) != of(new)
        })
    };
    let mut failing = report.changes.iter().filter(|told| told.verdict.is_open());
    failing.any(|told| is_there(told) && is_shown(told))
}

fn is_same_path(at: &Endpoint, told: &Change) -> bool {
    (&at.method, &at.path) == (&told.place.endpoint.method, &told.place.endpoint.path)
}
