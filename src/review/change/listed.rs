//! What a server of MCP offers: tools, prompts and resources by their names.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, Position, same_or_added};
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::{Answer, Contract, Kinds, RESULT_OF};
use crate::text::json::Text;

/// What lists of a cassette name, and where.
type Lists<'a> = BTreeMap<(&'a str, String), (BTreeSet<String>, &'a str)>;

/// What is not listed any more. Of recordings only the same cassette tells: another one may be of another server.
pub(super) fn changes(was: &Contract, old: &[Answer], new: &[Answer]) -> Vec<Draft> {
    if old.is_empty() {
        return not_as_promised(was, new);
    }
    let (was, is) = (lists(old), lists(new));
    let mut drafts = Vec::new();
    for ((cassette, list), (names, _)) in &was {
        let Some((now, place)) = is.get(&(*cassette, list.clone())) else { continue };
        for name in names.difference(now) {
            same_or_added(&mut drafts, gone(list, name)).seen(place, Position::Whole);
        }
    }
    drafts
}

/// What no recording lists any more of what a contract knows. Where it comes from more recordings than there are now,
/// those that are missing may be of another server.
fn not_as_promised(was: &Contract, new: &[Answer]) -> Vec<Draft> {
    let is = lists(new);
    let recordings: BTreeSet<_> = new.iter().map(|answer| answer.witness).collect();
    let mut drafts = Vec::new();
    for (kind, schema) in was.body.iter().chain(&was.events).flat_map(Kinds::each) {
        let Some(list) = listed(kind) else { continue };
        let now: Vec<_> = is.iter().filter(|((_, other), _)| other == list).collect();
        let Some((_, (_, place))) = now.first() else { continue };
        for name in schema.listed(&["result", list]) {
            if now.iter().any(|(_, (names, _))| names.contains(name)) {
                continue;
            }
            let mut draft = gone(list, name);
            if was.origin.recordings > recordings.len() {
                draft.verdict = Verdict::Unproven;
                draft =
                    draft.because("the contract was learned from more recordings than there are");
            }
            same_or_added(&mut drafts, draft).seen(place, Position::Whole);
        }
    }
    drafts
}

fn gone(list: &str, name: &str) -> Draft {
    let what = format!("the {} `{name}` is not listed any more", list.trim_end_matches('s'));
    Draft::new(Rule::ListedGone, Verdict::Breaking, Part::Endpoint, what)
        .keyed(format!("{list} {name}"))
}

/// What messages of a kind list.
fn listed(kind: &str) -> Option<&str> {
    kind.strip_prefix(RESULT_OF)?.strip_suffix("/list")
}

fn lists(answers: &[Answer]) -> Lists<'_> {
    let mut lists = Lists::new();
    for answer in answers {
        let cassette = answer.cassette();
        for message in answer.events.iter().chain(&answer.body) {
            let Some(list) = listed(&message.kind) else { continue };
            let found = message.text().at(&["result", list]);
            let found = found.into_iter().flat_map(Text::elements);
            let names = found.filter_map(|it| Some(it.get("name")?.string()?.into_owned()));
            let key = (cassette, list.to_owned());
            lists.entry(key).or_insert_with(|| (BTreeSet::new(), &answer.place)).0.extend(names);
        }
    }
    lists
}
