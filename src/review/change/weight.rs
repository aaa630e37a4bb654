//! Whether what was not promised is new, or was only not seen before.
//!
//! # Rationale
//!
//! A server does some things now and then. What no recording of before shows may have been possible all
//! the time: how likely that is depends on how many recordings there are on both sides, and on how many of
//! the new ones show it. What the new recordings show is *breaking* where that is no chance; else it is
//! *unproven*, and told.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::about::{About, Identities, LOOKED_AT};
use super::always::Question;
use super::draft::{Draft, either};
use super::excuse::{all_showing, excuse};
use super::orders::{case_name, tags};
use super::report::{Part, Verdict};
use super::rows::RowCounts;
use super::rule::Rule;
use super::varying::Varying;
use crate::contract::order::{FEWEST, Word};
use crate::contract::{Answer, Case, Contract, Orders, Origin, cassette_of};
use crate::message::{DONE, Tag, telling};

/// The chance at which two recordings differ by accident that is accepted, and where each new recording shows it.
pub(super) const CHANCE: f64 = 0.01;
pub(super) const CHANCE_OF_ALL: f64 = 0.05;

/// What one in so many recordings shows is seen often, and what so many show.
const OFTEN: usize = 4;
pub(super) const MANY: usize = 5;

/// What is known of an endpoint on both sides.
pub(super) struct Sides<'a> {
    /// The recordings of before; none where only a contract is known.
    pub old: &'a [Answer],
    pub new: &'a [Answer],
    /// Where new answers are that are the same as before: they were not recorded again, or might not be.
    pub same: &'a BTreeSet<String>,
    /// The contract of before.
    pub was: &'a Contract,
}

/// Independent recordings.
type Recordings = BTreeSet<u32>;

/// The recordings of both sides, without those that are the same.
struct SideRecordings<'a> {
    old: Vec<&'a Answer>,
    new: Vec<&'a Answer>,
    /// Of which recording each new answer is, by its place.
    numbers: BTreeMap<&'a str, u32>,
    /// How many new recordings there are.
    total: usize,
    was: &'a Contract,
    varying: OnceCell<Varying>,
    /// What may be missing, as the head of the contract calls it.
    optional: OnceCell<BTreeSet<String>>,
    identities: Identities,
}

impl<'a> SideRecordings<'a> {
    fn of(sides: &Sides<'a>) -> Self {
        let new = sides.new.iter().filter(|answer| !sides.same.contains(&answer.place));
        let new: Vec<&Answer> = new.collect();
        let numbers = new.iter().map(|answer| (answer.place.as_str(), answer.witness.0)).collect();
        let total = new.iter().map(|answer| answer.witness.0).collect::<Recordings>().len();
        let old = sides.old.iter().collect();
        let (was, varying, optional) = (sides.was, OnceCell::new(), OnceCell::new());
        let identities = Identities::default();
        Self { old, new, numbers, total, was, varying, optional, identities }
    }

    /// How its answers differ by themselves.
    fn varying(&self) -> &Varying {
        self.varying.get_or_init(|| Varying::of(self.was, &self.old, &self.new))
    }

    /// How many of the recordings that a contract comes from have shown what a change is about, if that may be missing:
    /// the head of the contract says it of what was seen often, where there were enough for that.
    fn seen(&self, draft: &Draft) -> Option<usize> {
        if self.was.origin.recordings < FEWEST {
            return None;
        }
        let optional = self
            .optional
            .get_or_init(|| self.was.seen(&[]).iter().map(|seen| seen.key()).collect());
        let ends = draft.path.match_indices(['.', '[']).map(|(end, _)| end);
        let above = ends.chain([draft.path.len()]).map(|end| &draft.path[..end]);
        let keys = above.map(|place| format!("{} {place}?", draft.part.as_str()));
        let seen = |key: &String| self.was.origin.seen.get(key).map_or(1, |share| share.seen);
        keys.filter(|key| optional.contains(key)).map(|key| seen(&key)).min()
    }

    /// Those of the new ones that show a change.
    fn showing(&self, draft: &Draft) -> Recordings {
        let places = draft.shown.iter().flat_map(|shown| &shown.places);
        places.filter_map(|place| self.numbers.get(place.as_str()).copied()).collect()
    }
}

impl Sides<'_> {
    /// The orders of before.
    fn orders(&self) -> Option<&Orders> {
        self.was.order.as_ref()
    }

    /// How the contract of before was learned.
    fn origin(&self) -> &Origin {
        &self.was.origin
    }

    /// Calls unproven what may be chance.
    pub(super) fn weigh(&self, drafts: &mut [Draft]) {
        for draft in drafts.iter_mut().filter(|draft| self.is_of_another(draft)) {
            draft.doubt("one cassette was all that was known, and another one shows it");
        }
        if drafts.iter().all(|draft| !is_weighed(draft)) {
            return;
        }
        let known = SideRecordings::of(self);
        let gone = words_gone(drafts);
        let replaced = replaced(drafts);
        let tags_gone = tags_gone(drafts);
        for draft in drafts.iter_mut().filter(|draft| is_weighed(draft)) {
            let together = replaced.get(&place_of(draft)).filter(|_| draft.rule == Rule::ValueNew);
            let together = together.map(|all| self.weight(all, &known)).filter(Weight::is_each);
            let weight = together.unwrap_or_else(|| self.weight(draft, &known));
            let word = gone.get(&draft.path).filter(|_| draft.rule == Rule::ValueNew);
            if let Some(word) = word {
                draft.what = format!("{}, and is never {} any more", draft.what, either(word));
                draft.instead.clone_from(word);
            }
            // What came of something, or a type, in the place of another one.
            let is_type = draft.rule == Rule::TagNew && !tags_gone.is_empty();
            let is_swap = word.is_some() && is_outcome(&draft.path) || is_type;
            let in_cases = self.in_its_place(draft, &tags_gone);
            let in_cases = in_cases.map(|draft| self.weight(&draft, &known));
            let in_pairs = word.and_then(|gone| self.in_pairs(draft, gone, &known));
            let mut weights = in_cases.iter().chain(&in_pairs).chain([&weight]);
            if is_swap && weights.any(|weight| weight.is_often() && weight.is_rare()) {
                continue;
            }
            // What one request in its own case does is no rule.
            let is_rule = draft.cases.is_empty()
                || (weight.all >= 2 && weight.before.is_none_or(|it| it >= 2));
            let excuse = |draft: &Draft| excuse(draft, &weight, [&known.old, &known.new]);
            let is_end = matches!(draft.rule, Rule::OrderEndNew | Rule::OrderMissing);
            if is_end
                && all_showing(draft, &known.new, |answer| answer.is_left_at_once)
                && weight.may_be_chance()
            {
                draft.doubt("the client closed it at once, and more may have been on its way");
                continue;
            }
            if is_end && is_rule && self.is_over(draft, &known.new) {
                excuse(draft).into_iter().for_each(|why| draft.doubt(why));
                continue;
            }
            // Many that all show it are more than what one conversation says.
            let now = if weight.all < MANY { weight.all } else { known.total };
            // Of the kinds that are known there are so many, whatever comes and goes beside them.
            let is_of_values = !matches!(draft.part, Part::Order | Part::Invariants)
                && draft.rule != Rule::KindNew;
            let is_shown = weight.is_proof()
                && (!is_of_values || weight.is_beyond(known.varying().count))
                || self.is_proof_among_some(draft, &weight, &known)
                || self.is_same_scenario(draft, &known.new, &weight)
                    && !(is_of_values && known.varying().is_by_chance);
            if self.is_one_of_many(draft, now) || !is_shown {
                draft.doubt(weight.sentence());
            } else if let Some(why) = excuse(draft) {
                draft.doubt(why);
            }
        }
    }

    /// A new type of message that comes where one was promised that is gone: among requests of the cases in which
    /// that came.
    fn in_its_place(&self, draft: &Draft, gone: &BTreeSet<String>) -> Option<Draft> {
        let trace = draft.trace.as_ref().filter(|_| draft.rule == Rule::TagNew)?;
        let gone = gone.iter().find(|tag| trace.types().any(|it| it == **tag))?;
        let cases = self.orders()?.cases.iter().filter(|case| case.order.tags().contains(gone));
        let cases = cases.map(|case| case_name(case).unwrap_or_default()).collect();
        Some(Draft { cases, ..draft.clone() })
    }

    /// A word that came only where the same requests were told one that is gone: among the recordings that say either.
    /// The others say what they said, and that is no sign against it.
    fn in_pairs(
        &self,
        draft: &Draft,
        gone: &[String],
        known: &SideRecordings<'_>,
    ) -> Option<Weight> {
        let said = |it: &&Answer| draft.about.says_any(it, draft.part, gone);
        let said: Vec<&Answer> = self.old.iter().filter(said).collect();
        let was_told = |now: &Answer| {
            let mut told = said.iter().filter(|it| it.place == now.place);
            told.any(|it| Question::of(now).says_as(&Question::of(it)))
        };
        let before = said.iter().map(|it| it.witness.0).collect::<Recordings>().len();
        let all = known.showing(draft).len();
        let weight = Weight { broken: all, all, before: Some(before), ..Weight::default() };
        all_showing(draft, &known.new, was_told).then_some(weight)
    }

    /// Weighs again what several changes show together: what none of them shows alone may be no chance.
    pub(super) fn weigh_together(&self, drafts: &mut [Draft]) {
        let is_of_several = |draft: &Draft| {
            draft.rule == Rule::TagGone
                && draft.verdict == Verdict::Unproven
                && draft.shown.is_some()
        };
        for draft in drafts.iter_mut().filter(|draft| is_of_several(draft)) {
            draft.verdict = Verdict::Breaking;
            draft.why.clear();
            self.weigh(std::slice::from_mut(draft));
        }
    }

    /// How many recordings show a change, of those of before and of now that could.
    fn weight(&self, draft: &Draft, known: &SideRecordings<'_>) -> Weight {
        let SideRecordings { old, new, total, .. } = known;
        let broken = known.showing(draft);
        let about = self.population(draft, old);
        let all = self.recordings(new, draft, about, &broken).len();
        let before = self.recordings(old, draft, about, &Recordings::new()).len();
        let mut weight = Weight {
            broken: broken.len(),
            all,
            before: (!old.is_empty()).then_some(before),
            promised: self.promised(all, *total).min(known.seen(draft).unwrap_or(usize::MAX)),
            // What few recordings have at all was seen as seldom before.
            is_seldom: all < MANY && all * OFTEN < *total,
            are_rows: false,
            is_beside_others: false,
        };
        if let Some(rows) = RowCounts::of(draft, about, [old, new], &known.identities) {
            weight.limit(&rows);
        }
        weight
    }

    /// Whether it is no chance among those that have something in common with each that shows it, a type of message
    /// or what one says: what the others do not do they cannot do wrong. As many ways as there are to choose some,
    /// so often chance has its try.
    fn is_proof_among_some(
        &self,
        draft: &Draft,
        weight: &Weight,
        known: &SideRecordings<'_>,
    ) -> bool {
        let Some(shown) = draft.shown.as_ref().filter(|_| !weight.are_rows && !weight.is_each())
        else {
            return false;
        };
        let traits = |answer: &'_ &Answer| traits(answer, !self.old.is_empty());
        let showing = known.new.iter().filter(|answer| shown.places.contains(&answer.place));
        let all = showing.map(traits).reduce(|all, more| &all & &more).unwrap_or_default();
        let is_known = |it: &Trait| match (self.old, self.orders()) {
            ([], Some(orders)) => tags(orders).contains(&it.0),
            ([], None) => false,
            (old, _) => old.iter().any(|answer| has(answer, it)),
        };
        let about = self.population(draft, &known.old);
        let with = |answers: &[&Answer], it: &Trait, known: &Recordings| {
            let have = answers.iter().filter(|answer| has(answer, it)).copied();
            self.recordings(&have.collect::<Vec<_>>(), draft, about, known)
        };
        let broken = known.showing(draft);
        let some = all.iter().filter(|it| is_known(it));
        let some = some
            .map(|it| [with(&known.new, it, &broken), with(&known.old, it, &Recordings::new())]);
        let some: BTreeSet<[Recordings; 2]> =
            some.filter(|[new, _]| new.len() < weight.all).collect();
        let chance = |[new, old]: &[Recordings; 2]| {
            let all = new.len();
            let before =
                if self.old.is_empty() { self.promised(all, known.total) } else { old.len() };
            Weight { broken: broken.len(), all, ..Weight::default() }.chance(before)
        };
        some.iter().map(chance).any(|chance| chance * (some.len() as f64) < CHANCE)
    }

    /// About how many of those that a contract comes from could show something: as large a part as of the new ones.
    fn promised(&self, all: usize, recordings: usize) -> usize {
        let learned_from = self.origin().recordings;
        (learned_from * all / recordings.max(1)).max(learned_from.min(1))
    }

    /// Whether a contract comes from one cassette, and only others show a change.
    fn is_of_another(&self, draft: &Draft) -> bool {
        let may_be = self.old.is_empty() && draft.verdict == Verdict::Breaking;
        let Some(shown) = draft.shown.as_ref().filter(|_| may_be) else { return false };
        let mut places = shown.places.iter();
        self.origin().cassette.is_some() && !places.any(|it| self.origin().is_of(cassette_of(it)))
    }

    /// Whether only one cassette shows it, beside a contract that was learned from more recordings than
    /// there are now: what one conversation says goes together.
    fn is_one_of_many(&self, draft: &Draft, now: usize) -> bool {
        let places = draft.shown.iter().flat_map(|shown| &shown.places);
        let cassettes: BTreeSet<&str> = places.map(|place| cassette_of(place)).collect();
        self.old.is_empty() && cassettes.len() < 2 && self.origin().recordings > now
    }

    /// Whether scenarios that were recorded before show the change, and either each one that could does, or
    /// there is one recording on a side: then what was there and is not any more counts. Of rows each has to
    /// show it, since the others of the same recording do not.
    fn is_same_scenario(&self, draft: &Draft, new: &[&Answer], weight: &Weight) -> bool {
        let are_one = |answers: &mut dyn Iterator<Item = &Answer>| {
            let asked = answers.filter(|answer| self.is_asked(draft, answer));
            asked.map(|answer| answer.witness.0).collect::<Recordings>().len() == 1
        };
        let before = weight.before.unwrap_or(weight.promised);
        let are_enough = before.saturating_add(weight.broken) >= draft.fewest;
        let is_told = ends_something(draft.rule) && are_enough;
        let Some(shown) = draft.shown.as_ref().filter(|_| is_told) else {
            return false;
        };
        let origin = self.origin();
        let is_known = !self.old.is_empty() || origin.cassette.is_some();
        if !is_known {
            let may_be_same = origin.recordings <= 1 && are_one(&mut new.iter().copied());
            return may_be_same && (weight.is_each() || !weight.is_beside_others);
        }
        let about = self.population(draft, &self.old.iter().collect::<Vec<_>>());
        // What could not show it before went another way, and is no witness. An invariant comes from many that could.
        let could_show =
            |old: &Answer| draft.rule == Rule::InvariantBroken || about.is_in(old, draft.part);
        // Something else that is asked in the same place is another scenario.
        let is_asked_again = |old: &Answer| {
            let now = new.iter().find(|it| it.place == old.place);
            now.is_none_or(|now| Question::of(now).says_as(&Question::of(old)))
        };
        let is_same = |place: &String| match self.old {
            [] => origin.is_of(cassette_of(place)),
            old => old.iter().any(|it| it.place == *place && could_show(it) && is_asked_again(it)),
        };
        let is_one = || match self.old {
            [] => origin.recordings == 1 || are_one(&mut new.iter().copied()),
            old => are_one(&mut new.iter().copied()) || are_one(&mut old.iter()),
        };
        shown.places.iter().any(is_same)
            && (weight.is_each() || !weight.is_beside_others && is_one())
    }

    /// Whether an answer is one to the requests that a change is about.
    fn is_asked(&self, draft: &Draft, answer: &Answer) -> bool {
        let fits = |orders: &Orders| {
            let mut fitting = orders.fitting(&answer.situation).into_iter();
            fitting.any(|case| draft.cases.contains(&case_name(case).unwrap_or_default()))
        };
        draft.cases.is_empty() || self.orders().is_none_or(fits)
    }

    /// Which answers could show a change. Where something ends that only new ones have, any could: those that have
    /// it all show it, which says nothing.
    fn population<'d>(&self, draft: &'d Draft, old: &[&Answer]) -> &'d About {
        let is_unheard = match (&draft.about, self.orders()) {
            _ if !ends_something(draft.rule) => false,
            (About::Messages(tag), Some(orders)) if old.is_empty() => !tags(orders).contains(tag),
            (about, _) => {
                !old.is_empty() && !old.iter().any(|answer| about.is_in(answer, draft.part))
            }
        };
        if is_unheard { &About::Answers } else { &draft.about }
    }

    /// The recordings that could show a change; `known` are some of them.
    fn recordings(
        &self,
        answers: &[&Answer],
        draft: &Draft,
        about: &About,
        known: &Recordings,
    ) -> Recordings {
        let mut found = known.clone();
        for answer in answers.iter().take(LOOKED_AT) {
            if !found.contains(&answer.witness.0)
                && about.is_in(answer, draft.part)
                && self.is_asked(draft, answer)
            {
                found.insert(answer.witness.0);
            }
        }
        found
    }

    /// Whether what ended all streams to such requests ends none now; several types give way to others that were known.
    fn is_over(&self, draft: &Draft, new: &[&Answer]) -> bool {
        let Some(orders) = self.orders() else { return false };
        let anywhere: BTreeSet<&str> = orders.anywhere().collect();
        let ends = |answers: &mut dyn Iterator<Item = &Answer>| -> BTreeSet<Option<String>> {
            let asked = answers.filter(|answer| self.is_asked(draft, answer));
            let words = asked.filter_map(|answer| answer.word.as_ref());
            let whole = words.filter(|word| word.extent.is_whole());
            let end = |word: &Word| {
                let mut tags = word.tokens.iter().rev().map(|token| &token.tag);
                tags.find(|tag| *tag != DONE && !anywhere.contains(tag.as_str())).cloned()
            };
            whole.map(end).collect()
        };
        let is_it = |case: &&Case| {
            draft.cases.is_empty() || draft.cases.contains(&case_name(case).unwrap_or_default())
        };
        let before = if self.old.is_empty() {
            orders.cases.iter().filter(is_it).flat_map(|case| case.order.ends()).collect()
        } else {
            ends(&mut self.old.iter())
        };
        let now = ends(&mut new.iter().copied());
        let known = tags(orders);
        // A type that nobody knew and that ends streams is another end, and weighed as such.
        let are_known = now.iter().flatten().all(|tag| known.contains(tag));
        !now.is_empty() && now.is_disjoint(&before) && are_known
    }
}

/// The type of a message, and what one of its fields says as JSON.
type Trait = (String, Option<(String, String)>);

/// What the messages of an answer are and say.
fn traits(answer: &Answer, with_fields: bool) -> BTreeSet<Trait> {
    let tokens = answer.word.iter().flat_map(|word| &word.tokens);
    let traits = tokens.flat_map(|token| {
        let fields = token.fields.iter().filter(move |_| with_fields);
        let fields = fields.map(|field| (token.tag.clone(), Some(field.clone())));
        std::iter::once((token.tag.clone(), None)).chain(fields)
    });
    traits.collect()
}

/// Whether a message of an answer is and says so.
fn has(answer: &Answer, (tag, field): &Trait) -> bool {
    let tokens = answer.word.iter().flat_map(|word| &word.tokens);
    let mut tokens = tokens.filter(|token| token.tag == *tag);
    tokens.any(|token| field.as_ref().is_none_or(|field| token.fields.contains(field)))
}

fn place_of(draft: &Draft) -> (Part, String) {
    (draft.part, draft.path.clone())
}

/// The words that are new in a place, as one change: where nothing that was promised is said any more, each is
/// said seldom.
fn replaced(drafts: &[Draft]) -> BTreeMap<(Part, String), Draft> {
    let mut all: BTreeMap<(Part, String), Draft> = BTreeMap::new();
    for draft in drafts.iter().filter(|draft| draft.rule == Rule::ValueNew && is_weighed(draft)) {
        let known = all.entry(place_of(draft)).or_insert_with(|| draft.clone());
        known.show(draft);
    }
    all
}

/// Whether clients decide by what stands there.
pub(super) fn is_outcome(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default();
    telling::is_kind(name) || telling::is_outcome(name) || telling::is_error_code(path.split('.'))
}

/// The words that are not said any more, by the field that said them.
fn words_gone(drafts: &[Draft]) -> BTreeMap<String, Vec<String>> {
    let is_word = |draft: &&Draft| draft.rule == Rule::ValueGone && draft.key != "others";
    let mut gone: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for draft in drafts.iter().filter(is_word) {
        gone.entry(draft.path.clone()).or_default().push(draft.key.clone());
    }
    gone
}

/// The types of messages that do not come any more.
fn tags_gone(drafts: &[Draft]) -> BTreeSet<String> {
    let gone = drafts.iter().filter(|draft| draft.rule == Rule::TagGone);
    gone.map(|draft| draft.key.clone()).collect()
}

/// What a recording shows of what was promised.
fn is_weighed(draft: &Draft) -> bool {
    let is_of_it = !matches!(draft.part, Part::Endpoint | Part::Request);
    // Where each message says its type, one that says none has lost it.
    let is_untyped = draft.rule == Rule::TagNew && Tag::is_kind(&draft.key);
    is_of_it && !is_untyped && draft.verdict == Verdict::Breaking && draft.shown.is_some()
}

/// Whether something that was there is not there any more, or is something else.
fn ends_something(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::FieldMissing
            | Rule::TypeNew
            | Rule::FormatNew
            | Rule::OrderEndNew
            | Rule::OrderMissing
            | Rule::OrderSwapped
            | Rule::OrderApart
            | Rule::InvariantBroken
    )
}

/// How many independent recordings show something, of those that could.
#[derive(Default)]
pub(super) struct Weight {
    pub broken: usize,
    pub all: usize,
    /// Those of before that could and do not; nothing where only a contract is known.
    pub before: Option<usize>,
    /// About how many of those that the contract was learned from could; 0 where a person has written it.
    pub promised: usize,
    /// Whether few of the new recordings could.
    pub is_seldom: bool,
    /// Whether rows are counted.
    pub are_rows: bool,
    /// Whether an answer that shows it has rows that do not.
    pub is_beside_others: bool,
}

impl Weight {
    /// Each row that recordings show counts once, however many of them show it.
    fn limit(&mut self, rows: &RowCounts) {
        self.are_rows = true;
        self.is_beside_others = rows.is_beside_others;
        // A contract does not say how many there were. Where each recording of now has its own, so had each before.
        self.promised =
            if rows.all < self.all { self.promised.min(rows.all) } else { self.promised };
        self.all = self.all.min(rows.all);
        self.broken = self.broken.min(rows.broken).min(self.all);
        self.before = self.before.map(|before| before.min(rows.before));
    }

    /// Whether each that could shows it.
    fn is_each(&self) -> bool {
        self.broken == self.all
    }

    /// Whether it is no chance that none of those before shows it.
    pub(super) fn is_proof(&self) -> bool {
        let is_each = self.is_each() && self.all >= 2 && !self.is_seldom && self.is_rare();
        let before = self.before.or(Some(self.promised).filter(|promised| *promised > 0));
        is_each || before.is_some_and(|before| self.chance(before) < CHANCE)
    }

    /// Whether chance may explain the counts alone.
    pub(super) fn may_be_chance(&self) -> bool {
        self.chance(self.before.unwrap_or(self.promised)) >= CHANCE
    }

    /// Whether it is no chance either, where chance has tried so often. The bound is how likely the counts of both sides
    /// are under the share that makes them likeliest.
    fn is_beyond(&self, tries: usize) -> bool {
        let Some(before) = self.before.or(Some(self.promised)).filter(|_| tries > 1) else {
            return true;
        };
        let [broken, all, before] = [self.broken, self.all, before].map(|count| count as f64);
        let share = broken / (all + before).max(1.0);
        let ways = (0..self.broken).map(|one| (all - one as f64) / (one as f64 + 1.0));
        let others = (1.0 - share).powf(before + all - broken);
        let chance = ways.product::<f64>() * share.powf(broken) * others;
        before == 0.0 || chance * tries as f64 <= CHANCE_OF_ALL
    }

    /// Whether several recordings show it, and not only now and then.
    fn is_often(&self) -> bool {
        self.broken >= 2 && self.broken * OFTEN >= self.all
    }

    /// Whether it is rare that this many show it by accident; where nobody knows how many there were, it is.
    fn is_rare(&self) -> bool {
        let known = self.before.unwrap_or(self.promised);
        known == 0 || self.chance(known) <= CHANCE_OF_ALL
    }

    /// Fisher's exact test: how likely all that show it are among the new ones, if each recording is as
    /// likely to show it.
    fn chance(&self, before: usize) -> f64 {
        let all = self.all + before;
        (0..self.broken).map(|one| (self.all - one) as f64 / (all - one) as f64).product()
    }

    pub(super) fn sentence(&self) -> String {
        let Self { broken, all, before, .. } = self;
        let what = if self.are_rows { "object" } else { "recording" };
        let shown = match (broken, all) {
            (_, 1) if self.are_rows => "one and the same object shows it".to_owned(),
            (_, 1) => format!("one {what} shows it"),
            (1, all) => format!("1 of {all} {what}s shows it"),
            (broken, all) => format!("{broken} of {all} {what}s show it"),
        };
        match before {
            None if self.promised > 1 => {
                let promised = self.promised;
                format!("{shown}, and none of about {promised} before: that may be chance")
            }
            None | Some(0) => format!("{shown}, and it may have been so before"),
            Some(before) => format!("{shown}, and none of {before} before: that may be chance"),
        }
    }
}
