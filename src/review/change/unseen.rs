//! What recordings have shown often, and no recording shows any more.
//!
//! # Rationale
//!
//! Nothing that a contract allows has to come, so what never comes again breaks none. Numbers tell that it is hardly
//! chance: how many recordings of before show it, of those that could, and how many could now.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::always::Question;
use super::draft::{Draft, tag_gone};
use super::endless;
use super::instead::{hardly_chance, recordings};
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::shapes;
use super::weight::{CHANCE, CHANCE_OF_ALL};
use crate::contract::order::{FEWEST, exact};
use crate::contract::shape::{Loss, Lost, Share};
use crate::contract::{self, Answer, Contract, Seen};
use crate::message::DONE;

/// Adds what is not seen any more to what else has changed. Where recordings of before are at hand they are counted;
/// else the head of the contract tells their numbers.
pub(super) fn add(drafts: &mut Vec<Draft>, was: &Contract, [before, answers]: [&[Answer]; 2]) {
    // Whether what was asked for comes is told by that, and it may not have been asked for.
    let is_asked_for = |seen: &Seen| {
        let at = seen.gone.at();
        was.invariants.iter().any(|it| it.asked_for() == Some(&at))
    };
    let is_gone = |seen: &Seen| {
        seen.share.seen == 0
            && seen.share.all >= FEWEST
            && !is_asked_for(seen)
            && !drafts.iter().any(|it| leaves_untold(it, &seen.gone))
    };
    let now = was.seen(&answers.iter().collect::<Vec<_>>());
    let gone = now.iter().filter(|it| is_gone(it));
    let gone = gone.filter_map(|seen| Some((seen.key(), seen.share, not_seen(seen)?)));
    let gone: Vec<(String, Share, Draft)> = gone.collect();
    endless::add(drafts, was, [before, answers], &now);
    let counted: BTreeMap<String, Share>;
    let known = if before.is_empty() {
        &was.origin.seen
    } else {
        let seen =
            if gone.is_empty() { Vec::new() } else { was.seen(&asked_alike(before, answers)) };
        let seen = seen.into_iter().map(|it| (it.key(), it.share));
        counted = seen.chain(was.messages(before)).collect();
        &counted
    };
    let often = known.values().filter(|share| share.is_often()).count();
    for (key, now, draft) in gone.into_iter().chain(types_gone(was, known, answers)) {
        let share = known.get(&key).copied().filter(|share| share.is_often());
        let Some(share) = share else { continue };
        let draft = weighed(draft, share, now, often);
        let draft = with_ends(draft, before, answers);
        if (draft.rule, &*draft.key) == (Rule::TypeGone, shapes::FILLED) {
            drafts.retain(|other| !is_element_gone(other, &draft));
        }
        match drafts.iter_mut().find(|other| is_told(other, &draft)) {
            None => drafts.push(draft),
            Some(other) if other.is(&draft) && other.verdict == Verdict::Trim => *other = draft,
            Some(_) => {}
        }
    }
}

/// Whether objects of a kind do not say any more of which they are.
fn leaves_untold(draft: &Draft, gone: &Loss) -> bool {
    let Lost::Kind(tag, kind) = &gone.what else { return false };
    let at = gone.at();
    let dot = if at.is_empty() { "" } else { "." };
    draft.rule == Rule::FieldMissing && draft.path == format!("{at}{dot}{kind}.{tag}")
}

/// The answers of before to such requests as are asked now, if they are enough: only a first page may have a cursor.
pub(super) fn asked_alike<'a>(before: &'a [Answer], answers: &[Answer]) -> Vec<&'a Answer> {
    let asked: HashSet<u64> = answers.iter().map(|it| Question::of(it).places).collect();
    let is_asked = |answer: &&Answer| asked.contains(&Question::of(answer).places);
    let alike: Vec<&Answer> = before.iter().filter(is_asked).collect();
    if recordings(alike.iter().copied()) < FEWEST { before.iter().collect() } else { alike }
}

/// The known types of messages that none of these has, where there are messages enough.
fn types_gone(
    was: &Contract,
    known: &BTreeMap<String, Share>,
    answers: &[Answer],
) -> Vec<(String, Share, Draft)> {
    let now = was.messages(answers);
    let all = now.values().map(|share| share.all).next().filter(|all| *all >= FEWEST);
    let gone = known.keys().filter(|key| !now.contains_key(*key)).filter_map(|key| {
        let draft = tag_gone(Part::Order, contract::message(key)?);
        Some((key.clone(), Share { seen: 0, all: all? }, draft))
    });
    gone.collect()
}

/// What it is that no recording shows something.
fn not_seen(seen: &Seen) -> Option<Draft> {
    let part = [Part::Headers, Part::Events, Part::Body];
    let part = part.into_iter().find(|part| part.as_str() == seen.part)?;
    shapes::not_seen(part, seen.kind.as_deref(), seen.gone.clone())
}

/// It is unproven where chance hardly explains it; `often` other things could have gone by chance as well.
fn weighed(draft: Draft, before: Share, now: Share, often: usize) -> Draft {
    let of = |share: Share| (share.seen as u64, share.all as u64);
    if exact([of(before), of(now)]) * often as f64 >= CHANCE_OF_ALL {
        return draft;
    }
    let why = hardly_chance(now.all, [before.seen, before.all]);
    Draft { verdict: Verdict::Unproven, ..draft }.because(why)
}

/// That a type of message is gone breaks clients where answers ended with it: so many that were asked for the same, and
/// do not any more, are no chance.
fn with_ends(draft: Draft, before: &[Answer], answers: &[Answer]) -> Draft {
    if draft.rule != Rule::TagGone || draft.verdict != Verdict::Unproven {
        return draft;
    }
    let ends = |answer: &Answer| {
        let tokens = answer.word.iter().flat_map(|word| word.tokens.iter().rev());
        tokens.map(|token| &token.tag).find(|tag| *tag != DONE).cloned()
    };
    let of_before: HashMap<&str, &Answer> = before.iter().map(|it| (&*it.place, it)).collect();
    let again = answers.iter().filter_map(|now| Some((*of_before.get(&*now.place)?, now)));
    let same = again.filter(|(was, now)| Question::of(was).says_as(&Question::of(now)));
    let ended = same.filter(|(was, _)| ends(was).as_ref() == Some(&draft.key));
    let count = recordings(ended.map(|(_, now)| now)) as u64;
    if exact([(count, count), (0, count)]) >= CHANCE {
        return draft;
    }
    let what = format!("{}, with which answers to the same requests ended", draft.what);
    Draft { verdict: Verdict::Breaking, what, why: String::new(), ..draft }
}

/// Whether a change says of the elements of a list what says that it is empty.
fn is_element_gone(other: &Draft, emptied: &Draft) -> bool {
    let at = |draft: &Draft| (draft.rule, draft.part, draft.path.clone());
    other.verdict == Verdict::Trim && at(other) == at(emptied)
}

/// Whether another change tells the same, or what came in its place.
fn is_told(other: &Draft, gone: &Draft) -> bool {
    let is_there = (other.part, &other.path) == (gone.part, &gone.path);
    let is_of_order = gone.rule == Rule::TagGone && other.part == Part::Order;
    other.is(gone) || other.verdict == Verdict::Breaking && (is_there || is_of_order)
}
