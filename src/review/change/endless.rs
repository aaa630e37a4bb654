//! Pages that come to no end any more.
//!
//! # Rationale
//!
//! A client takes a token from each page and goes on until a page has none. That an optional field always comes now
//! breaks nobody, unless it is such a token: then the client never stops. Whether it is one the recordings show: what
//! stands in the field is what requests say.

use std::collections::BTreeMap;

use super::about::About;
use super::draft::{Draft, Position, ShownPlaces, at};
use super::instead::hardly_chance;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::unseen::asked_alike;
use super::weight::CHANCE_OF_ALL;
use crate::contract::order::{FEWEST, exact};
use crate::contract::shape::{Lost, Share};
use crate::contract::{Answer, Contract, Seen};

/// So many answers are looked at, and so many requests have to say a token.
const LOOKED_AT: usize = 64;
const LED: usize = 2;

/// Adds the tokens that every page has now, and hardly by chance, where some had none; `now` is what these show.
pub(super) fn add(
    drafts: &mut Vec<Draft>,
    was: &Contract,
    [before, answers]: [&[Answer]; 2],
    now: &[Seen],
) {
    let is_always = |seen: &&Seen| {
        matches!(seen.gone.what, Lost::Optional(_))
            && Part::Body.as_str() == seen.part
            && seen.share.seen == seen.share.all
            && seen.share.all >= FEWEST
    };
    let always = now.iter().filter(is_always);
    let always: Vec<&Seen> = always.filter(|it| leads_on(&it.gone.place, answers)).collect();
    if always.is_empty() {
        return;
    }
    let counted: BTreeMap<String, Share>;
    let known = if before.is_empty() {
        &was.origin.seen
    } else {
        let seen = was.seen(&asked_alike(before, answers)).into_iter();
        counted = seen.map(|it| (it.key(), it.share)).collect();
        &counted
    };
    for seen in always.iter().copied() {
        let Some(share) = known.get(&seen.key()) else { continue };
        let without = share.all.saturating_sub(share.seen);
        let table = [(without as u64, share.all as u64), (0, seen.share.all as u64)];
        if exact(table) * always.len() as f64 >= CHANCE_OF_ALL {
            continue;
        }
        let path = seen.gone.at();
        let what = format!(
            "{} always comes now: clients that go on with it come to no end",
            at(Part::Body, &path)
        );
        let draft = Draft::new(Rule::ValueOther, Verdict::Unproven, Part::Body, what);
        let why = hardly_chance(seen.share.all, [without, share.all]);
        let shown = answers.iter().map(|it| it.place.as_str());
        let shown = ShownPlaces::of(shown, Position::Whole);
        drafts.push(draft.at(path).keyed("always").because(why).witnessed(shown));
    }
}

/// Whether requests say what stands in a place of answers.
fn leads_on(place: &[String], answers: &[Answer]) -> bool {
    let about = About::Values { kind: None, place: place.to_vec() };
    let answers = || answers.iter().take(LOOKED_AT);
    let tokens: Vec<String> = answers()
        .flat_map(|answer| about.texts(answer, Part::Body))
        .map(|text| format!("\"{text}\""))
        .collect();
    let led = answers().filter(|answer| tokens.iter().any(|token| answer.is_asked(token)));
    led.count() >= LED
}
