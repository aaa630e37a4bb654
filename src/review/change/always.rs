//! What values always were, and never are any more.
//!
//! # Rationale
//!
//! Of free text and of numbers a contract promises nothing but their type. The recordings of both sides show more:
//! each answer said `NOT_FOUND`, and each one says `not-found` now; each sum had a `.` in it, and none has. Nobody
//! knows whether a client goes by it, so it is *unproven*; where it says what came of something, it is *breaking*.
//! Only answers to the same requests are compared, and what the client says itself is left out.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::about::{About, LOOKED_AT};
use super::codes;
use super::draft::{Draft, Position, ShownPlaces, cut};
use super::forms::{self, SharedRequest};
use super::instead::hardly_chance;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::traits::{Of, TraitChange};
use super::values::{First, ID, MOST_WORDS, NAME, ValuePlace, Values, ValuesByPlace, values};
use super::weight::{CHANCE_OF_ALL, is_outcome};
use crate::contract::invariant::{Field, Invariant};
use crate::contract::order::{FEWEST, exact};
use crate::contract::{Answer, Contract, cassette_of};
use crate::identity::{Meaning, identifiers, is_moment, stands_for};
use crate::text::json::{Text, pointer};

/// So many letters and digits behind a prefix are drawn by lot.
const DRAWN: usize = 8;

/// A shorter word stands in what a client says by chance.
const LEAST_SAID: usize = 3;

/// Adds what always was so and never is any more to what else has changed. `is_said` tells whether the clients of a
/// side say a word themselves.
pub(super) fn add<'a>(
    drafts: &mut Vec<Draft>,
    was: &Contract,
    [before, answers]: [&'a [Answer]; 2],
    same: &[BTreeSet<String>; 2],
    is_said: impl Fn(&str) -> [bool; 2],
) {
    let sides = [(before, &same[0]), (answers, &same[1])];
    let sides = sides.map(|(side, same)| -> Vec<(Question, &'a Answer)> {
        // What was not recorded again says nothing of the server of now, nor what stood there before.
        let again = side.iter().filter(|it| !same.contains(&it.place)).take(LOOKED_AT);
        again.map(|answer| (Question::of(answer), answer)).collect()
    });
    let asked = asked(was, &sides);
    forms::add(drafts, &asked);
    forms::add_types(drafts, &asked);
    // What an answer says depends on the question, and what it looks like on how it is asked.
    let alike = of_same(&sides, |question| question.places);
    let equal = of_same(&sides, |question| question.says);
    if alike.iter().any(|side| side.len() < FEWEST) {
        return;
    }
    let of_all = |answers: &[Vec<&Answer>; 2]| answers.iter().map(Vec::len).sum::<usize>();
    let values = |answers: &[Vec<&'a Answer>; 2]| answers.each_ref().map(|it| values(was, it));
    let (those_alike, those_equal);
    let alike = match &*asked {
        [one] if of_all(&one.answers) == of_all(&alike) => &one.sides,
        _ => {
            those_alike = values(&alike);
            &those_alike
        }
    };
    let questions = sides.each_ref().map(|side| {
        side.iter().map(|(question, answer)| (answer.place.as_str(), *question)).collect()
    });
    codes::add(drafts, was, alike, &questions);
    let words = |sides: &[&[ValuesByPlace<'_>; 2]]| {
        told(sides, &|pair| pair.words(), &|pair, chance| pair.word(chance, &is_said))
    };
    let each: Vec<&[ValuesByPlace<'_>; 2]> = asked.iter().map(|it| &it.sides).collect();
    // Each question may have a word of its own.
    let known = drafts.len();
    for draft in words(&each) {
        let is_known = drafts[..known].iter().any(|other| is_told(other, &draft));
        if !is_known && !drafts.iter().any(|other| other.is(&draft)) {
            drafts.push(draft);
        }
    }
    let mut found =
        told(&[alike], &|pair| pair.traits(), &|pair, chance| pair.lost(chance, &is_said));
    if asked.len() > 1 {
        those_equal = values(&equal);
        found.splice(..0, words(&[&those_equal]));
    }
    // Where the names of events are their types, those that come or go say it.
    let have_types = drafts.iter().any(|it| matches!(it.rule, Rule::TagNew | Rule::TagGone));
    found.retain(|draft| !(have_types && draft.path == NAME));
    for draft in found {
        if !drafts.iter().any(|other| is_told(other, &draft)) {
            drafts.push(draft);
        }
    }
}

/// The answers to each question that both sides ask.
fn asked<'a>(was: &Contract, sides: &[Vec<(Question, &'a Answer)>; 2]) -> Vec<SharedRequest<'a>> {
    let mut all: Vec<[Vec<&Answer>; 2]> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (number, side) in sides.iter().enumerate() {
        for (question, answer) in side {
            let place = *places.entry(question.says).or_insert(all.len());
            if place == all.len() {
                all.push([Vec::new(), Vec::new()]);
            }
            all[place][number].push(answer);
        }
    }
    let both = all.into_iter().filter(|answers| answers.iter().all(|it| !it.is_empty()));
    both.map(|answers| SharedRequest {
        sides: answers.each_ref().map(|it| values(was, it)),
        answers,
    })
    .collect()
}

/// What `find` finds in the places of both sides, which could have come out otherwise by chance in as many ways as
/// `tried` counts.
fn told(
    all: &[&[ValuesByPlace<'_>; 2]],
    tried: &dyn Fn(&ValuePair<'_, '_>) -> usize,
    find: &dyn Fn(&ValuePair<'_, '_>, &Chance<'_>) -> Option<Draft>,
) -> Vec<Draft> {
    let pairs = all.iter().flat_map(|[old, new]| {
        old.iter().filter_map(|(place, old)| Some(ValuePair { place, old, new: new.get(place)? }))
    });
    let both: Vec<ValuePair<'_, '_>> =
        pairs.filter(|pair| pair.old.all.len() >= FEWEST && pair.new.all.len() >= FEWEST).collect();
    let tried = both.iter().map(tried).sum::<usize>().max(1);
    let chance = |table| exact(table) * tried as f64;
    both.iter().filter_map(|pair| find(pair, &chance)).collect()
}

/// How likely chance alone divides recordings so, of all that was tried.
type Chance<'a> = dyn Fn([(u64, u64); 2]) -> f64 + 'a;

/// What a request asks, as hashes.
#[derive(Clone, Copy)]
pub(super) struct Question {
    /// In which places it says something, whatever that is.
    pub(super) places: u64,
    /// The same with its words.
    says: u64,
}

impl Question {
    pub(super) fn of(answer: &Answer) -> Self {
        let state = FixedState::default();
        let said = answer.said_by_client().unwrap_or_default();
        let words: Vec<&str> = words(said).collect();
        let mut places = BTreeSet::new();
        if let Some(json) = Text::read(said) {
            json.each_leaf(|pointer, _, _, _| {
                places.insert(state.hash_one(without_numbers(pointer)));
            });
        }
        Self { places: state.hash_one(&places), says: state.hash_one((places, words)) }
    }

    /// Whether another one asks the same, whatever it is about.
    pub(super) fn says_as(&self, other: &Self) -> bool {
        self.says == other.says
    }
}

/// The words of a request without those that have a digit, as identifiers and numbers do.
pub(super) fn words(said: &str) -> impl Iterator<Item = &str> {
    let words = said.split(|char: char| !char.is_alphanumeric());
    words.filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// The answers to such requests as are on both sides.
fn of_same<'a>(
    sides: &[Vec<(Question, &'a Answer)>; 2],
    part: fn(&Question) -> u64,
) -> [Vec<&'a Answer>; 2] {
    let asked = sides
        .each_ref()
        .map(|side| -> HashSet<u64> { side.iter().map(|(question, _)| part(question)).collect() });
    sides.each_ref().map(|side| {
        let kept =
            side.iter().filter(|(it, _)| asked.iter().all(|asked| asked.contains(&part(it))));
        kept.map(|(_, answer)| *answer).collect()
    })
}

/// A pointer in which all elements of a list are one.
fn without_numbers(pointer: &str) -> String {
    pointer.split('/').filter(|step| !pointer::is_index(step)).collect::<Vec<_>>().join("/")
}

/// What stood at a place, and what stands there now.
struct ValuePair<'s, 'a> {
    place: &'s ValuePlace<'a>,
    old: &'s Values<'a>,
    new: &'s Values<'a>,
}

impl ValuePair<'_, '_> {
    /// How many words could have come out otherwise by chance: what all recordings of both sides say could not.
    fn words(&self) -> usize {
        let (old, new) = (self.old, self.new);
        let words: BTreeSet<&Cow<'_, str>> = old.words.keys().chain(new.words.keys()).collect();
        let words = words.into_iter().filter(|word| {
            let said = old.saying(word) + new.saying(word);
            said >= FEWEST && said < old.all.len() + new.all.len()
        });
        words.count()
    }

    /// The same of what values look like.
    fn traits(&self) -> usize {
        let (old, new) = (self.old, self.new);
        let is_one = old.sentences.len() > 1 && new.sentences.len() == 1;
        old.traits.tried(&new.traits) + usize::from(old.first != new.first) + usize::from(is_one)
    }

    /// A word that is never said any more, or all of them, where recordings are enough that chance does not explain it.
    fn word(&self, chance: &Chance<'_>, is_said: &impl Fn(&str) -> [bool; 2]) -> Option<Draft> {
        let (old, new) = (self.old, self.new);
        let (was, is) = (old.all.len() as u64, new.all.len() as u64);
        // How a text is cut into pieces is a matter of time.
        let is_text = [old, new].iter().all(|side| side.words.len() > FEWEST);
        if is_text && self.place.is_piece() {
            return None;
        }
        let (word, said) = old.said_only(new)?;
        let now = new.said_only(old).map(|(word, _)| word);
        let alone = chance([(said as u64, was), (0, is)]);
        let all = self.ways_apart().map_or(1.0, |ways| chance([(was, was), (0, is)]) * ways);
        if alone.min(all) > CHANCE_OF_ALL {
            return None;
        }
        let said = if all < alone { old.all.len() } else { said };
        let is_of_client = [Some(&word), now.as_ref()].into_iter().flatten().any(|word| {
            let [before, now] = is_said(word);
            before != now
        });
        let is_asked = is_said(&word) == [true; 2];
        if is_of_client || !is_asked && self.is_another_each_time(&word, now.as_deref()) {
            return None;
        }
        let and = now.as_ref().map(|now| format!(", and says `{now}`")).unwrap_or_default();
        let what = self.place.told(&format!("never says `{word}` any more{and}"));
        let is_breaking = now.is_some() && is_outcome(&self.place.path);
        let verdict = if is_breaking { Verdict::Breaking } else { Verdict::Unproven };
        // Where it was said, something else is now.
        let places = old.words.get(&*word).map(|it| &it.places);
        let draft = self.draft(verdict, what, word, |place| {
            places.is_some_and(|places| places.contains(place))
        });
        Some(draft.because(hardly_chance(new.all.len(), [said, old.all.len()])))
    }

    /// Where no word of before is said any more: in how many ways chance divides the words that are said between two
    /// sides. None where most are said once, as in free text.
    fn ways_apart(&self) -> Option<f64> {
        let sides = [self.old, self.new];
        let is_list = |side: &Values<'_>| {
            let said: usize = side.words.values().map(|it| it.said.len()).sum();
            // What one conversation says twice is no word of a list yet: each may have a counter of its own.
            let places = side.shown.iter().map(|(place, _)| cassette_of(place));
            let conversations = places.collect::<BTreeSet<_>>().len();
            let all = if conversations < FEWEST { side.all.len() } else { conversations };
            said >= side.all.len() && side.words.len() * 2 <= all
        };
        let is_apart = self.old.words.keys().all(|word| !self.new.words.contains_key(word));
        let [old, new] = sides.map(|side| side.words.len());
        let ways = (1..=old).map(|one| (new + one) as f64 / one as f64).product();
        (is_apart && sides.into_iter().all(is_list)).then_some(ways)
    }

    /// Whether it is a name, a time or a version, which are others in each recording or each release.
    fn is_another_each_time(&self, word: &str, now: Option<&str>) -> bool {
        // A number alone is a code, and no version.
        let is_version =
            |word: &str| word.trim_start_matches('-').bytes().any(|byte| !byte.is_ascii_digit());
        let bare = |word: &str| word.replace(|char: char| char.is_ascii_digit() || char == '.', "");
        let is_name = |word: &str| {
            let is_id = identifiers(word).next().is_some() || stands_for(self.place.field(), word);
            is_id || is_moment(word)
        };
        let is_known_as_word = is_outcome(&self.place.path);
        let is_other = Meaning::of(self.place.field()) != Meaning::Plain
            || now.is_some_and(|now| bare(now) == bare(word) && is_version(word));
        // Whatever a field is called, an identifier or a time is no word of it: `payment_method`, `joined`.
        is_name(word) || now.is_some_and(is_name) || is_other && !is_known_as_word
    }

    /// What held of all values and holds of none.
    fn lost(&self, chance: &Chance<'_>, is_said: &impl Fn(&str) -> [bool; 2]) -> Option<Draft> {
        let (was, is) = (self.old.all.len(), self.new.all.len());
        if chance([(was as u64, was as u64), (0, is as u64)]) > CHANCE_OF_ALL {
            return None;
        }
        let lost = self.old.traits.lost(&self.new.traits);
        let lost = lost.or_else(|| self.begins_elsewhere());
        let TraitChange { key, of, said } = lost.or_else(|| self.always_one(is_said))?;
        if of == Of::Format && (!self.has_format(is_said) || key == "length" && self.are_named()) {
            return None;
        }
        let what = self.place.told(&said);
        // By the identifier of an event a client goes on with a stream that has broken off, as SSE says.
        let is_needed = self.place.part == Part::Events && self.place.path == ID && key == "empty";
        let verdict = if is_needed { Verdict::Breaking } else { Verdict::Unproven };
        let draft = self.draft(verdict, what, key.to_owned(), |_| true);
        Some(draft.because(hardly_chance(is, [was, was])))
    }

    /// Whether values have a form that the server gives them: they are many, and none is the client's own. What is
    /// always the same is a word.
    fn has_format(&self, is_said: &impl Fn(&str) -> [bool; 2]) -> bool {
        let sides = [self.old, self.new].into_iter().enumerate();
        sides.into_iter().all(|(number, side)| {
            let long = side.words.keys().filter(|word| word.len() >= LEAST_SAID);
            side.words.len() >= FEWEST && !long.take(FEWEST).any(|word| is_said(word)[number])
        })
    }

    /// Whether all values are random words behind the same prefix: no client goes by how long they are.
    fn are_named(&self) -> bool {
        let mark = |c: char| matches!(c, '_' | '-');
        let words = || [self.old, self.new].into_iter().flat_map(|side| side.words.keys());
        let prefix = words().next().and_then(|word| word.split_once(mark)).map(|(it, _)| it);
        prefix.is_some()
            && words().all(|word| {
                let parts = word.split_once(mark);
                let is_drawn = |rest: &str| {
                    rest.len() >= DRAWN && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
                };
                parts.map(|(it, _)| it) == prefix && parts.is_some_and(|(_, it)| is_drawn(it))
            })
    }

    /// Another number to begin with: a client takes it for the place in a list.
    fn begins_elsewhere(&self) -> Option<TraitChange> {
        let begins = |side: &Values<'_>| match side.first {
            First::One { number, goes_on: true } => Some(number),
            _ => None,
        };
        let (before, now) = (begins(self.old)?, begins(self.new)?);
        let said = format!("always began at {before} in an answer, and always begins at {now} now");
        (before != now).then_some(TraitChange { key: "first", of: Of::Size, said })
    }

    /// A text that people read, and that was another one in each recording: it says nothing of the matter any more.
    fn always_one(&self, is_said: &impl Fn(&str) -> [bool; 2]) -> Option<TraitChange> {
        let (old, new) = (self.old, self.new);
        let texts = |side: &Values<'_>| side.words.len() + side.sentences.len();
        let is_another_each = texts(old) >= old.all.len().min(MOST_WORDS)
            && old.sentences.len() > old.words.len()
            && Meaning::of(self.place.field()) == Meaning::Plain;
        let now = new.words.keys().chain(&new.sentences).next()?;
        let is_one = texts(new) == 1 && !is_said(now).contains(&true);
        let said = format!("was another text in each recording, and is always `{}` now", cut(now));
        (is_another_each && is_one).then_some(TraitChange { key: "same", of: Of::Size, said })
    }

    /// `is_shown` tells which of the answers of now show it; if none does, all do.
    fn draft(
        &self,
        verdict: Verdict,
        what: String,
        key: String,
        is_shown: impl Fn(&str) -> bool,
    ) -> Draft {
        let all: Vec<&str> = self.new.shown.iter().map(|(place, _)| *place).collect();
        let some: Vec<&str> = all.iter().copied().filter(|place| is_shown(place)).collect();
        let places = if some.is_empty() { all } else { some };
        let mut shown = self.new.shown.iter();
        let first = shown.find(|(place, _)| Some(place) == places.first());
        let at = first.map_or(Position::Whole, |(_, at)| *at);
        let shown = ShownPlaces::of(places.into_iter(), at);
        Draft::new(Rule::ValueOther, verdict, self.place.part, what)
            .at(self.place.named())
            .keyed(key)
            .witnessed(shown)
    }
}

/// Whether another change tells of the same field.
fn is_told(other: &Draft, draft: &Draft) -> bool {
    let field = |draft: &Draft| {
        let last = draft.path.rsplit('.').next().unwrap_or_default();
        last.trim_end_matches("[]").to_owned()
    };
    // The field that tells kinds apart stands in the objects of which they are.
    let tells_kinds = other.rule == Rule::KindNew
        && draft
            .path
            .strip_prefix(&*other.path)
            .is_some_and(|field| other.key.split(' ').next() == field.strip_prefix('.'));
    let begins = match &other.about {
        About::Tie(Invariant::Begins(Field { path, .. })) => {
            let before = draft.path.strip_suffix(path.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        }
        _ => false,
    };
    begins
        || other.part == draft.part
            && other.verdict != Verdict::Trim
            && (tells_kinds || field(other) == field(draft))
}
