//! Codes of errors that others took the place of where the same scenario asks the same.
//!
//! # Rationale
//!
//! Where many things are asked at one address, as by JSON-RPC, each code may come, and one that is known elsewhere is
//! new nowhere. What a request is refused with hangs on the request alone: where the same ones were told one code before
//! and are told another one now, and none the other way round, the server has changed it.

use std::collections::{BTreeMap, BTreeSet};

use super::always::Question;
use super::draft::{Draft, Position, ShownPlaces};
use super::report::Verdict;
use super::requests::as_often;
use super::rule::Rule;
use super::values::{ValuePlace, Values, ValuesByPlace};
use super::weight::{CHANCE, CHANCE_OF_ALL};
use crate::contract::{Contract, cassette_of};
use crate::message::telling;

/// The answers of a side by their places, with what they are asked.
pub(super) type QuestionsByPlace<'a> = BTreeMap<&'a str, Question>;

/// One code in the place of another, and the answers of now that show it.
type Exchanges<'a> = BTreeMap<[&'a str; 2], BTreeSet<&'a str>>;

/// Adds the codes that came in the place of others.
pub(super) fn add(
    drafts: &mut Vec<Draft>,
    was: &Contract,
    [old, new]: &[ValuesByPlace<'_>; 2],
    asked: &[QuestionsByPlace<'_>; 2],
) {
    let is_refusal = was.endpoint.status >= 400;
    let is_code = |place: &ValuePlace<'_>| {
        let steps = place.path.split('.');
        if is_refusal { telling::is_code_of_refusal(steps) } else { telling::is_error_code(steps) }
    };
    let both = old.iter().filter(|(place, _)| is_code(place));
    let both =
        both.filter_map(|(place, old)| Some((place, exchanges(old, new.get(place)?, asked))));
    let all: Vec<(&ValuePlace<'_>, Exchanges<'_>)> = both.collect();
    let tried: usize = all.iter().map(|(_, exchanges)| exchanges.len()).sum();
    for (place, exchanges) in &all {
        for ([code, now], shown) in exchanges {
            let back = exchanges.get(&[*now, *code]).map_or(0, conversations);
            let count = conversations(shown);
            let chance = as_often(count, back) * tried as f64;
            if chance < CHANCE {
                tell(drafts, place, [code, now], shown, "");
            } else if chance <= CHANCE_OF_ALL {
                let why = format!(
                    "{count} cassettes show it, and {back} the opposite: that may be chance"
                );
                tell(drafts, place, [code, now], shown, &why);
            }
        }
    }
}

/// Which code came in the place of which, where an answer has one.
fn exchanges<'s>(
    old: &'s Values<'_>,
    new: &'s Values<'_>,
    asked: &[QuestionsByPlace<'_>; 2],
) -> Exchanges<'s> {
    let is_asked_again = |place: &str| {
        let [was, is] = asked.each_ref().map(|side| side.get(place));
        was.zip(is).is_some_and(|(was, is)| was.says_as(is))
    };
    let mut found = Exchanges::new();
    let [olds, news] = [old, new].map(only);
    for (place, code) in olds {
        match news.get(place) {
            Some(now) if *now != code && is_asked_again(place) => {
                found.entry([code, now]).or_default().insert(place);
            }
            _ => {}
        }
    }
    found
}

/// The code of each answer that has one there.
fn only<'s>(values: &'s Values<'_>) -> BTreeMap<&'s str, &'s str> {
    let mut codes: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (code, word) in &values.words {
        for place in &word.places {
            codes.entry(place).and_modify(|it| *it = None).or_insert(Some(code));
        }
    }
    codes.into_iter().filter_map(|(place, code)| Some((place, code?))).collect()
}

fn conversations(places: &BTreeSet<&str>) -> u64 {
    places.iter().map(|place| cassette_of(place)).collect::<BTreeSet<_>>().len() as u64
}

/// Adds a code that came in the place of another one, or weighs it anew; `doubt` is empty if there is none.
fn tell(
    drafts: &mut Vec<Draft>,
    place: &ValuePlace<'_>,
    [code, now]: [&str; 2],
    shown: &BTreeSet<&str>,
    doubt: &str,
) {
    let verdict = if doubt.is_empty() { Verdict::Breaking } else { Verdict::Unproven };
    let is_new = |other: &&mut Draft| {
        other.rule == Rule::ValueNew
            && other.part == place.part
            && place.is_called(&other.path)
            && other.key.trim_matches('"') == now
    };
    if let Some(known) = drafts.iter_mut().find(is_new) {
        if verdict < known.verdict {
            (known.verdict, known.why) = (verdict, doubt.to_owned());
        }
        return;
    }
    let what = format!("is `{now}` where the same is asked, and was `{code}`");
    let draft = Draft::new(Rule::ValueOther, verdict, place.part, place.told(&what));
    let places = ShownPlaces::of(shown.iter().copied(), Position::Whole);
    let draft = draft.at(place.named()).keyed(format!("{code} {now}"));
    drafts.push(draft.because(doubt).witnessed(places));
}
