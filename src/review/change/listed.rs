//! What a server of MCP offers: tools, prompts and resources by their names.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, Position, same_or_added};
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::Answer;
use crate::text::json::Text;

/// What lists of a cassette name, and where.
type Lists<'a> = BTreeMap<(&'a str, String), (BTreeSet<String>, &'a str)>;

/// What is not listed any more. Only the same cassette tells: another one may be of another server.
pub(super) fn changes(old: &[Answer], new: &[Answer]) -> Vec<Draft> {
    let (was, is) = (lists(old), lists(new));
    let mut drafts = Vec::new();
    for ((cassette, list), (names, _)) in &was {
        let Some((now, place)) = is.get(&(*cassette, list.clone())) else { continue };
        for name in names.difference(now) {
            let one = list.trim_end_matches('s');
            let what = format!("the {one} `{name}` is not listed any more");
            let gone = Draft::new(Rule::ListedGone, Verdict::Breaking, Part::Endpoint, what);
            same_or_added(&mut drafts, gone.keyed(format!("{list} {name}")))
                .seen(place, Position::Whole);
        }
    }
    drafts
}

fn lists(answers: &[Answer]) -> Lists<'_> {
    let mut lists = Lists::new();
    for answer in answers {
        let cassette = answer.cassette();
        for message in answer.events.iter().chain(&answer.body) {
            let method = message.kind.strip_prefix("result of ");
            let Some(list) = method.and_then(|it| it.strip_suffix("/list")) else { continue };
            let found = message.text().at(&["result", list]);
            let found = found.into_iter().flat_map(Text::elements);
            let names = found.filter_map(|it| Some(it.get("name")?.string()?.into_owned()));
            let key = (cassette, list.to_owned());
            lists.entry(key).or_insert_with(|| (BTreeSet::new(), &answer.place)).0.extend(names);
        }
    }
    lists
}
