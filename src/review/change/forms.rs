//! What stands where the same is asked, and always was of another form.
//!
//! # Rationale
//!
//! An endpoint answers several questions, each in its own way: what one gets is a list, and what another gets is an
//! object. Its contract is of all of them, and so it allows all to each. The recordings of both sides show more: which
//! question always got a list, and always gets an object now. What differs by itself between recordings of one question
//! had a try at that, and so the chance grows with how much does.

use std::collections::{BTreeMap, BTreeSet};

use super::about::About;
use super::draft::{Draft, Position, ShownPlaces, tag_gone};
use super::instead::hardly_chance;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::values::{ValueForm, ValuePlace, Values, ValuesByPlace};
use super::weight::{CHANCE, CHANCE_OF_ALL};
use crate::contract::order::exact;
use crate::contract::shape::Recordings;
use crate::contract::{Answer, cassette_of};

/// So many recordings of each side tell of a question whose answers do not differ by themselves.
const FEWEST: usize = 3;

/// What is asked on both sides alike, and what answers it there.
pub(super) struct SharedRequest<'a> {
    pub(super) answers: [Vec<&'a Answer>; 2],
    pub(super) sides: [ValuesByPlace<'a>; 2],
}

/// Adds what always was of one form where the same was asked, and never is any more.
pub(super) fn add(drafts: &mut Vec<Draft>, all: &[SharedRequest<'_>]) {
    let found = together(all.iter().flat_map(found));
    let varied: usize = all.iter().flat_map(|it| &it.sides).map(varied).sum();
    let tried = (found.len() + varied) as f64;
    for it in found {
        let Some(verdict) = it.division.verdict(tried, varied) else { continue };
        let is_there =
            |other: &Draft| other.part == it.place.part && it.place.is_called(&other.path);
        if drafts.iter().any(|other| it.is_asked_for(other) && other.verdict.is_open()) {
            drafts.retain(|other| !is_there(other) || !is_less(other));
            continue;
        }
        let mut why = it.division.why();
        let is_field = it.place.part == Part::Headers;
        if it.is_nothing() && !is_field {
            why.push_str("; other answers are without it too, so a client may know that");
        }
        let is_told = |other: &Draft| other.verdict < Verdict::Compatible && !is_less(other);
        let mut told =
            drafts.iter_mut().filter(|other| is_there(other) && is_told(other)).peekable();
        if told.peek().is_none() {
            // Who knows that nothing may be there can take it, wherever it comes. A header field is of what is asked.
            let may_be = it.is_nothing() && !is_field;
            let verdict = if may_be { Verdict::Unproven } else { verdict };
            drafts.retain(|other| !is_there(other) || !is_less(other));
            drafts.push(it.draft(verdict, &why));
            continue;
        }
        let is_weighed = |rule| matches!(rule, Rule::TypeNew | Rule::KindNew | Rule::FieldMissing);
        for other in told.filter(|it| verdict < it.verdict && is_weighed(it.rule)) {
            other.verdict = verdict;
            other.why.clone_from(&why);
        }
    }
}

/// Adds the types of messages that always came where the same was asked, and never come any more.
pub(super) fn add_types(drafts: &mut Vec<Draft>, all: &[SharedRequest<'_>]) {
    // What came instead, or where it is missing, tells it.
    let is_told = |it: &Draft| it.part == Part::Order || it.rule == Rule::TagNew;
    if drafts.iter().any(|it| is_told(it) && it.verdict.is_open() && !is_less(it)) {
        return;
    }
    let types: Vec<[Types<'_>; 2]> =
        all.iter().map(|it| it.answers.each_ref().map(|answers| Types::of(answers))).collect();
    let mut found: BTreeMap<&str, (Division, Vec<&SharedRequest<'_>>)> = BTreeMap::new();
    for (asked, both) in all.iter().zip(&types) {
        for tag in gone(both) {
            let [was, is] = both.each_ref().map(|it| it.all.len());
            let (division, questions) = found.entry(tag).or_default();
            *division = division.and(Division::of(was, is));
            questions.push(asked);
        }
    }
    let varied: usize = types.iter().flatten().map(Types::varied).sum();
    let tried = (found.len() + varied) as f64;
    for (tag, (division, asked)) in found {
        let Some(verdict) = division.verdict(tried, varied) else { continue };
        let draft = Draft {
            verdict,
            what: format!("`{tag}` messages are gone where the same is asked, and always came"),
            ..tag_gone(Part::Order, tag)
        };
        let draft = draft.because(division.why()).witnessed(shown(&asked));
        match drafts.iter_mut().find(|other| other.is(&draft)) {
            Some(other) if draft.verdict < other.verdict => *other = draft,
            Some(_) => {}
            None => drafts.push(draft),
        }
    }
}

/// In which conversations each type of message comes.
struct Types<'a> {
    all: BTreeSet<&'a str>,
    of: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Types<'a> {
    fn of(answers: &[&'a Answer]) -> Self {
        let mut types = Self { all: BTreeSet::new(), of: BTreeMap::new() };
        for answer in answers {
            let Some(word) = answer.word.as_ref().filter(|word| word.extent.is_whole()) else {
                continue;
            };
            let conversation = cassette_of(&answer.place);
            types.all.insert(conversation);
            for token in &word.tokens {
                types.of.entry(&token.tag).or_default().insert(conversation);
            }
        }
        types
    }

    /// How many come in some conversations and not in others.
    fn varied(&self) -> usize {
        self.of.values().filter(|of| of.len() < self.all.len()).count()
    }
}

/// The types that all conversations had and none has.
fn gone<'t>([old, new]: &'t [Types<'_>; 2]) -> impl Iterator<Item = &'t str> {
    let always = old.of.iter().filter(|(_, of)| of.len() == old.all.len());
    let gone = always.filter(|(tag, _)| !new.all.is_empty() && !new.of.contains_key(*tag));
    gone.map(|(tag, _)| *tag)
}

/// A place at which something always was of one form, and never is.
struct FormChange<'s, 'a> {
    /// What was asked there.
    asked: Vec<&'s SharedRequest<'a>>,
    place: &'s ValuePlace<'a>,
    division: Division,
    was: ValueForm,
    /// Nothing if nothing stands there.
    is: Vec<ValueForm>,
}

/// How many recordings of before show something that none of now does.
#[derive(Clone, Copy)]
struct Division {
    /// How many there are on both sides, and on each where one thing is asked.
    recordings: [usize; 2],
    of_one: usize,
    /// How likely chance alone divides them so.
    chance: f64,
}

impl Default for Division {
    fn default() -> Self {
        Self { recordings: [0; 2], of_one: 0, chance: 1.0 }
    }
}

impl Division {
    /// That of one question.
    fn of(was: usize, is: usize) -> Self {
        let chance = exact([(was as u64, was as u64), (0, is as u64)]);
        Self { recordings: [was, is], of_one: was.min(is), chance }
    }

    /// That of several: chance has to divide the recordings of each.
    fn and(self, other: Self) -> Self {
        Self {
            recordings: [0, 1].map(|side| self.recordings[side] + other.recordings[side]),
            of_one: self.of_one.max(other.of_one),
            chance: self.chance * other.chance,
        }
    }

    /// What it proves, where chance has tried so often, and so much differs by itself.
    fn verdict(&self, tried: f64, varied: usize) -> Option<Verdict> {
        let is_steady = varied == 0 && self.of_one >= FEWEST;
        match self.chance * tried {
            chance if chance < CHANCE => Some(Verdict::Breaking),
            chance if chance <= CHANCE_OF_ALL || is_steady => Some(Verdict::Unproven),
            _ => None,
        }
    }

    fn why(&self) -> String {
        let [was, is] = self.recordings;
        hardly_chance(is, [was, was])
    }
}

/// The answers of now to several questions.
fn shown(asked: &[&SharedRequest<'_>]) -> Option<ShownPlaces> {
    let answers = asked.iter().flat_map(|asked| &asked.answers[1]);
    ShownPlaces::of(answers.map(|it| it.place.as_str()), Position::Whole)
}

/// Joins what is the same where several things are asked.
fn together<'s, 'a>(all: impl Iterator<Item = FormChange<'s, 'a>>) -> Vec<FormChange<'s, 'a>> {
    let mut joined: Vec<FormChange<'s, 'a>> = Vec::new();
    for one in all {
        let same = joined
            .iter_mut()
            .find(|it| it.place == one.place && (it.was, &it.is) == (one.was, &one.is));
        let Some(same) = same else {
            joined.push(one);
            continue;
        };
        same.asked.extend(one.asked);
        same.division = same.division.and(one.division);
    }
    joined
}

/// Whether a change is only that something of before does not come any more, whatever was asked.
fn is_less(draft: &Draft) -> bool {
    use Rule::{FieldGone, KindGone, TagGone, TypeGone, ValueGone};
    let is_gone = matches!(draft.rule, FieldGone | TypeGone | ValueGone | KindGone | TagGone);
    draft.verdict == Verdict::Trim || draft.verdict == Verdict::Unproven && is_gone
}

fn found<'s, 'a>(asked: &'s SharedRequest<'a>) -> impl Iterator<Item = FormChange<'s, 'a>> {
    let [old, new] = &asked.sides;
    old.iter().filter_map(move |(place, before)| {
        let [was] = *forms(before).collect::<Vec<_>>() else { return None };
        // Where there was nothing, something is no harm.
        if matches!(was, ValueForm::Null | ValueForm::Empty) || !is_always(place, before, old) {
            return None;
        }
        let now = new.get(place);
        let is: Vec<ValueForm> = now.into_iter().flat_map(forms).collect();
        let (asked, division) = (vec![asked], Division::default());
        let found = FormChange { asked, place, division, was, is };
        // That there is nothing may be so of one thing that all recordings show.
        let count = if found.is_nothing() { Recordings::len } else { Recordings::conversations };
        let shown = most(&before.forms, count);
        let now = match now {
            Some(now) => most(&now.forms, count),
            None => count(&new.get(&place.parent()?)?.forms[ValueForm::Object as usize]),
        };
        let is_other = now > 0 && !found.is.contains(&was);
        is_other.then_some(FormChange { division: Division::of(shown, now), ..found })
    })
}

/// How many places have another form in some recordings than in others, or are not always there.
fn varied(side: &ValuesByPlace<'_>) -> usize {
    let differs = |(place, values): &(&ValuePlace<'_>, &Values<'_>)| {
        let most = most(&values.forms, Recordings::conversations);
        let is_at_times = |of: &Recordings| (1..most).contains(&of.conversations());
        values.forms.iter().any(is_at_times) || !is_always(place, values, side)
    };
    side.iter().filter(differs).count()
}

fn forms<'s>(values: &'s Values<'_>) -> impl Iterator<Item = ValueForm> + 's {
    ValueForm::ALL.into_iter().filter(|form| values.forms[*form as usize].len() > 0)
}

fn most(forms: &[Recordings], count: impl Fn(&Recordings) -> usize) -> usize {
    forms.iter().map(count).max().unwrap_or_default()
}

/// Whether it is in each object that could have it.
fn is_always(place: &ValuePlace<'_>, values: &Values<'_>, side: &ValuesByPlace<'_>) -> bool {
    let around = place.parent().and_then(|parent| side.get(&parent));
    let count = Recordings::conversations;
    let there = most(&values.forms, count);
    around.is_none_or(|around| there >= count(&around.forms[ValueForm::Object as usize]))
}

impl FormChange<'_, '_> {
    /// Whether nothing is there.
    fn is_nothing(&self) -> bool {
        self.is.iter().all(|form| matches!(form, ValueForm::Null | ValueForm::Empty))
    }

    /// Whether another change is that something does not come any more with what asks for it, and this is that.
    fn is_asked_for(&self, other: &Draft) -> bool {
        let About::Tie(tie) = &other.about else { return false };
        tie.asked_for().is_some_and(|path| self.place.is_called(path))
    }

    fn draft(&self, verdict: Verdict, why: &str) -> Draft {
        let (rule, is) = if self.is.is_empty() {
            (Rule::FieldMissing, "gone".to_owned())
        } else {
            let is: Vec<&str> = self.is.iter().map(|form| form.said()).collect();
            (Rule::TypeNew, is.join(" or "))
        };
        let was = match self.place.part {
            Part::Headers => "came".to_owned(),
            _ => format!("was {}", self.was.said()),
        };
        let what = format!("is {is} where the same is asked, and always {was}");
        let what = self.place.told(&what);
        let draft = Draft::new(rule, verdict, self.place.part, what);
        draft.at(self.place.named()).keyed("asked").because(why).witnessed(shown(&self.asked))
    }
}
