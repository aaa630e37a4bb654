//! What a server of MCP offers: tools, prompts and resources by their names, and what its tools take.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, Position, same_or_added};
use super::instead::recordings;
use super::renames::tell_once;
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::invariant::{Invariant, Trace, offered};
use crate::contract::{Answer, Contract, RESULT_OF};
use crate::text::json::Text;

/// What lists of a cassette name, what is said of each, and where.
type Lists<'a> = BTreeMap<(&'a str, String), (BTreeMap<String, Text<'a>>, &'a str)>;

/// So many of a list that are gone are told one by one.
const MOST: usize = 3;

/// The JSON Schema of what a tool takes.
const ARGUMENTS: &str = "inputSchema";

/// What is not listed any more, and what tools do not take any more. Of recordings only the same cassette tells: another
/// one may be of another server.
pub(super) fn changes(was: &Contract, old: &[Answer], new: &[Answer]) -> Vec<Draft> {
    let drafts = if old.is_empty() { not_as_promised(was, new) } else { not_as_before(old, new) };
    together(drafts)
}

/// Leaves out what is told by names: how many a list has and how they are called, where [`changes`] knows the list, and
/// what the tools of a cassette take, of which each has a JSON Schema of its own.
pub(super) fn without_lists(
    mut drafts: Vec<Draft>,
    was: &Contract,
    [old, new]: [&[Answer]; 2],
) -> Vec<Draft> {
    let is = lists(new);
    let compared: BTreeSet<String> =
        lists(old).into_keys().filter(|key| is.contains_key(key)).map(|(_, list)| list).collect();
    let promised = was.invariants.iter().filter_map(|it| match it {
        Invariant::Offers(field, _) => offered(field),
        _ => None,
    });
    let known = compared.iter().map(String::as_str).chain(promised).collect::<BTreeSet<_>>();
    let arguments = format!("tools[].{ARGUMENTS}.");
    drafts.retain(|draft| {
        // The kind of message may stand before it.
        let leads = |place: String| {
            draft.path.strip_suffix(&place).is_some_and(|it| it.is_empty() || it.ends_with('.'))
        };
        let is_list = |list: &&str| match draft.rule {
            Rule::ValueOther => leads(format!("result.{list}")),
            Rule::ValueNew => leads(format!("result.{list}[].name")),
            _ => false,
        };
        let is_argument = || compared.contains("tools") && draft.path.contains(&arguments);
        !known.iter().any(is_list) && !is_argument()
    });
    drafts
}

/// Tells of many of one list together.
fn together(mut drafts: Vec<Draft>) -> Vec<Draft> {
    let list = |draft: &Draft| {
        let list = draft.key.split_once(' ').map(|(list, _)| list.to_owned());
        list.filter(|_| draft.rule == Rule::ListedGone)
    };
    let lists: BTreeSet<String> = drafts.iter().filter_map(list).collect();
    for name in lists {
        let is_one = |draft: &Draft| list(draft).as_ref() == Some(&name);
        let gone = drafts.iter().filter(|draft| is_one(draft));
        let gone: Vec<&str> = gone.map(|draft| &draft.key[name.len() + 1..]).collect();
        if gone.len() <= MOST {
            continue;
        }
        let shown: Vec<String> = gone.iter().take(MOST).map(|it| format!("`{it}`")).collect();
        let (shown, more) = (shown.join(", "), gone.len() - MOST);
        let what =
            format!("{} {name} are not listed any more: {shown} and {more} more", gone.len());
        let key = format!("{name} {}", gone.join(" "));
        tell_once(&mut drafts, is_one, |all| Draft { what, ..all }.keyed(key));
    }
    drafts
}

/// What recordings of the same cassette show.
fn not_as_before(old: &[Answer], new: &[Answer]) -> Vec<Draft> {
    let (was, is) = (lists(old), lists(new));
    let mut drafts = Vec::new();
    for ((cassette, list), (items, _)) in &was {
        let Some((now, place)) = is.get(&(*cassette, list.clone())) else { continue };
        let alike = || was.iter().filter(|((_, other), _)| other == list).map(|(_, (all, _))| all);
        // Resources may be made anew in each run: those last that several recordings list, and all.
        let lasts = |name: &str| {
            list != "resources" || (alike().count() > 1 && alike().all(|it| it.contains_key(name)))
        };
        for (name, item) in items.iter().filter(|(name, _)| lasts(name)) {
            let told = match now.get(name) {
                Some(now) => narrower(name, *item, *now),
                None => vec![gone(list, name)],
            };
            for draft in told {
                same_or_added(&mut drafts, draft).seen(place, Position::Whole);
            }
        }
    }
    drafts
}

/// What a tool does not take any more: calls without an argument that it needs now, and arguments that it does not
/// know, or knows as something else.
fn narrower(name: &str, was: Text<'_>, is: Text<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if let Some((was, is)) = was.get(ARGUMENTS).zip(is.get(ARGUMENTS)) {
        narrower_in(name, "", was, is, &mut drafts);
    }
    drafts
}

/// The same of the arguments in an object, of which `within` is the name.
fn narrower_in(name: &str, within: &str, was: Text<'_>, is: Text<'_>, drafts: &mut Vec<Draft>) {
    let narrower = |verdict: Verdict, what: String, argument: &str| {
        let draft = Draft::new(Rule::ListedNarrower, verdict, Part::Endpoint, what);
        draft.keyed(format!("{name} {argument}"))
    };
    let required = |schema: Text<'_>| -> BTreeSet<String> {
        let names = schema.get("required").into_iter().flat_map(Text::elements);
        names.filter_map(|it| Some(it.string()?.into_owned())).collect()
    };
    for argument in required(is).difference(&required(was)) {
        let argument = format!("{within}{argument}");
        let what = format!("the tool `{name}` cannot be called without `{argument}` any more");
        drafts.push(narrower(Verdict::Breaking, what, &argument));
    }
    for (argument, was) in was.get("properties").into_iter().flat_map(Text::members) {
        let now = is.at(&["properties", &argument]);
        let argument = format!("{within}{argument}");
        let Some(is) = now else {
            let what =
                format!("the tool `{name}` does not list the argument `{argument}` any more");
            let draft = narrower(Verdict::Unproven, what, &argument);
            drafts.push(draft.because("no recording shows whether it is still taken"));
            continue;
        };
        let types = |schema: Text<'_>| Some(schema.get("type")?.string()?.into_owned());
        if let Some((was, is)) = types(was).zip(types(is))
            // Each integer is a number.
            && was != is
            && (was.as_str(), is.as_str()) != ("integer", "number")
        {
            let what =
                format!("the tool `{name}` takes `{argument}` as `{is}`, not as `{was}` any more");
            drafts.push(narrower(Verdict::Breaking, what, &argument));
        }
        narrower_in(name, &format!("{argument}."), was, is, drafts);
        if let Some((was, is)) = was.get("items").zip(is.get("items")) {
            narrower_in(name, &format!("{argument}[]."), was, is, drafts);
        }
    }
}

/// What recordings do not list of what a contract promises. Where it comes from more recordings than there are now, they
/// may be of another server.
fn not_as_promised(was: &Contract, new: &[Answer]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let offers = was.invariants.iter().filter(|it| matches!(it, Invariant::Offers(..)));
    let offers: Vec<Invariant> = offers.cloned().collect();
    for answer in new {
        let broken = |trace: &Trace<'_>| Invariant::check(&offers, trace);
        for violation in answer.with_trace(answer.before(), broken) {
            let Invariant::Offers(field, name) = &violation.invariant else { continue };
            let Some(list) = offered(field) else { continue };
            let at = violation.at.event.map_or(Position::Whole, Position::Said);
            let mut draft = gone(list, name);
            if was.origin.recordings > recordings(new) {
                draft.doubt("the contract was learned from more recordings than there are");
            }
            same_or_added(&mut drafts, draft).seen(&answer.place, at);
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
            let items = found.filter_map(|it| Some((it.get("name")?.string()?.into_owned(), it)));
            let key = (cassette, list.to_owned());
            lists.entry(key).or_insert_with(|| (BTreeMap::new(), &answer.place)).0.extend(items);
        }
    }
    lists
}
