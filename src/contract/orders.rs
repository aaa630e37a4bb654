//! The orders of an endpoint, which may depend on what precedes, and learning which cases there are.
//!
//! # Rationale
//!
//! Situations that lead to different orders are told apart by what precedes the answer, as a tree: what
//! one feature of the situation says tells some answers from all others. It has to pay for itself: the
//! orders of both parts take fewer bits, together with what was seen and with naming the condition, than
//! one order for all; enough independent recordings are on each side; and chance divides them so
//! rarely, as often as it was tried. Where that cannot be shown, the order allows what either case does.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::cut::may_decide;
use super::situation::{Condition, Feature, Holds, Situation};
use super::traffic::Answer;
use crate::contract::order::{
    BY_CHANCE, Explanation, FEWEST, Learned, Order, Place, Refinement, Witness, Word, anywhere,
    by_chance,
};
use crate::message::telling::TELLING;

/// The orders in which the messages of an answer may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orders {
    /// The cases: the first one that fits counts. One without conditions if nothing decides.
    pub cases: Vec<Case>,
}

/// The order in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What must be so. All of it; nothing for what is left.
    pub when: Vec<Condition>,
    /// The order.
    pub order: Order,
}

/// A feature with more values says something that is no word of a protocol.
const MOST_VALUES: usize = 32;

impl Orders {
    /// One order for all answers.
    pub(super) fn one(order: Order) -> Self {
        Self { cases: vec![Case { when: Vec::new(), order }] }
    }

    /// With types of messages that may come anywhere.
    pub(super) fn with_anywhere(self, tags: &BTreeSet<String>) -> Self {
        let with = |case: Case| Case { order: case.order.with_anywhere(tags.clone()), ..case };
        Self { cases: self.cases.into_iter().map(with).collect() }
    }

    /// The types of messages that may come anywhere.
    pub fn anywhere(&self) -> impl Iterator<Item = &str> {
        self.cases.first().into_iter().flat_map(|case| case.order.anywhere()).map(String::as_str)
    }

    /// Learns from answers. `is_made_up` says whether a client has made up a word.
    ///
    /// # Rationale
    ///
    /// An answer that was cut shows no end. Mostly it begins as whole ones do, and teaches nothing. One that
    /// does not is learned as if it had gone on like a whole one with the same message.
    pub(super) fn learn(
        answers: &[Answer],
        told: Option<&Feature>,
        is_made_up: &dyn Fn(&str) -> bool,
    ) -> Option<Self> {
        let all =
            answers.iter().filter_map(|answer| Some((&answer.situation, answer.word.as_ref()?)));
        let (mut whole, begun): (Vec<_>, Vec<_>) =
            all.partition(|(_, word)| word.extent.is_whole());
        let orders = Self::of_words(&whole, told, is_made_up)?;
        let others = begun.into_iter().filter(|(it, word)| !orders.broken(it, word).is_empty());
        let wholes: Vec<&Word> = whole.iter().map(|(_, word)| *word).collect();
        let ended: Vec<(&Situation, Word)> =
            others.map(|(situation, word)| (situation, word.ended_like(&wholes))).collect();
        if ended.is_empty() {
            return Some(orders);
        }
        whole.extend(ended.iter().map(|(situation, word)| (*situation, word)));
        Self::of_words(&whole, told, is_made_up)
    }

    fn of_words(
        answers: &[(&Situation, &Word)],
        told: Option<&Feature>,
        is_made_up: &dyn Fn(&str) -> bool,
    ) -> Option<Self> {
        let words: Vec<Word> = answers.iter().map(|(_, word)| (*word).clone()).collect();
        if words.is_empty() {
            return None;
        }
        let anywhere = anywhere(&words);
        let words: Vec<Word> =
            words.iter().map(|word| word.without(|tag| anywhere.contains(tag))).collect();
        let refinement = Refinement::find(&words, |path, json| {
            may_decide(path, json) && !is_made_up(json.trim_matches('"'))
        });
        let words: Vec<Word> = words.iter().map(|word| refinement.word(word)).collect();
        let situations = answers.iter().map(|(situation, _)| *situation);
        let examples: Vec<Example<'_>> =
            situations.zip(&words).map(|(situation, word)| Example { situation, word }).collect();
        let features = features(&examples, told, is_made_up);
        let tree = Tree { features, told, refinement: &refinement };
        let mut cases = Vec::new();
        tree.grow(&examples, &mut Vec::new(), &mut cases)?;
        let cases = match told {
            Some(told) => together(cases, told),
            None => cases,
        };
        Some(Self { cases }.with_anywhere(&anywhere))
    }

    /// What is out of order, in words, if anything is. A situation that no case knows is judged by all of them.
    pub(crate) fn broken(&self, situation: &Situation, word: &Word) -> Vec<String> {
        let mut cases = self.fitting(situation);
        if cases.is_empty() {
            cases = self.cases.iter().collect();
        }
        if cases.iter().any(|case| case.order.keeps(word)) {
            return Vec::new();
        }
        let explained = cases.iter().rev().map(|case| case.order.explain_word(word));
        let nearest = explained.min_by_key(|explained| explained.deviations().count());
        nearest.iter().flat_map(Explanation::sentences).collect()
    }

    /// The case that fits, behind those that may, as far as the situation is known.
    pub(crate) fn fitting(&self, situation: &Situation) -> Vec<&Case> {
        let mut fitting = Vec::new();
        for case in &self.cases {
            let holds = case.when.iter().map(|condition| situation.holds(condition)).min();
            match holds.unwrap_or(Holds::Yes) {
                Holds::No => {}
                Holds::Perhaps => fitting.push(case),
                Holds::Yes => {
                    fitting.push(case);
                    break;
                }
            }
        }
        fitting
    }

    /// What is so of all that decides.
    pub(crate) fn so(&self, situation: &Situation) -> String {
        let conditions = self.cases.iter().flat_map(|case| &case.when);
        let features: BTreeSet<&Feature> = conditions.map(|condition| &condition.feature).collect();
        let is_so = features.into_iter().map(|feature| {
            let says = situation.says(feature).map(str::to_owned);
            Condition { feature: feature.clone(), says }.to_string()
        });
        let is_so: Vec<String> = is_so.collect();
        is_so.join(", ")
    }
}

/// An answer to learn from.
#[derive(Clone, Copy)]
struct Example<'a> {
    situation: &'a Situation,
    word: &'a Word,
}

/// What the answers may be divided by, the most telling first, and how types are told apart.
struct Tree<'r> {
    features: Vec<Feature>,
    /// What tells the type of what is asked: that what is answered hangs on it needs no proof.
    told: Option<&'r Feature>,
    refinement: &'r Refinement,
}

/// What may divide the answers, the most telling first.
fn features(
    examples: &[Example<'_>],
    told: Option<&Feature>,
    is_made_up: &dyn Fn(&str) -> bool,
) -> Vec<Feature> {
    let mut values: HashMap<&Feature, (usize, HashSet<&str>), RandomState> = HashMap::default();
    let mut free: HashSet<&Feature, RandomState> = HashSet::default();
    for situation in examples.iter().map(|example| example.situation) {
        free.extend(situation.free());
        for feature in situation.features() {
            let (times, said) = values.entry(feature).or_default();
            *times += 1;
            said.extend(situation.says(feature));
        }
    }
    values.retain(|feature, (times, said)| {
        let tells = said.len() > 1 || *times < examples.len();
        // A server that repeats what the client has made up is in no state by that.
        let is_state = !matches!(feature, Feature::After(..))
            || !said.iter().any(|said| is_made_up(said.trim_matches('"')));
        // Of a field that says words it is told which.
        let is_new = match feature {
            Feature::Present(path) => free.contains(&Feature::Request(path.clone())),
            _ => true,
        };
        let is_word = said.len() <= MOST_VALUES && !free.contains(feature);
        let is_told = told == Some(*feature);
        tells && is_state && is_new && is_word && (is_told || !feature.is_chosen())
    });
    let mut features: Vec<&Feature> = values.keys().copied().collect();
    features.sort_by_cached_key(|feature| {
        let (times, said) = &values[feature];
        let (missing, says_one) = (examples.len() - times, said.len() == 1);
        (rank(feature), missing, says_one, feature.to_string().len(), *feature)
    });
    features.into_iter().cloned().collect()
}

/// What is asked tells more than what was said before.
fn rank(feature: &Feature) -> usize {
    match feature {
        Feature::Request(_) => 0,
        Feature::Present(_) => 1,
        Feature::Known(_) => 2,
        Feature::After(..) => 3,
    }
}

impl Tree<'_> {
    /// Divides answers as long as that pays. What stands first is what is told: whatever comes behind it
    /// is not so. None if an order is too large.
    fn grow(
        &self,
        examples: &[Example<'_>],
        when: &mut Vec<Condition>,
        cases: &mut Vec<Case>,
    ) -> Option<()> {
        let Some(Division { is, other, parts: [one, rest] }) = self.best(examples) else {
            cases.push(Case { when: when.clone(), order: self.order(examples)? });
            return Some(());
        };
        when.push(is);
        self.grow(&one, when, cases)?;
        when.pop();
        let known = when.len();
        when.extend(other);
        self.grow(&rest, when, cases)?;
        when.truncate(known);
        Some(())
    }

    fn order(&self, examples: &[Example<'_>]) -> Option<Order> {
        let words: Vec<Word> = examples.iter().map(|example| example.word.clone()).collect();
        let expression = Learned::from_words(&words).expression();
        Order::new(self.refinement.guarded(expression)).ok()
    }

    /// Whether a feature is the type of what is asked.
    fn is_told(&self, feature: &Feature) -> bool {
        self.told == Some(feature)
    }

    /// The division that saves most, if one pays for itself.
    fn best<'a>(&self, examples: &[Example<'a>]) -> Option<Division<'a>> {
        let divisions = self.features.iter().flat_map(|feature| {
            let fewest = if self.is_told(feature) { 1 } else { FEWEST };
            divisions(feature, examples, fewest)
        });
        let divisions: Vec<Division<'a>> = divisions.collect();
        let guessed = divisions.iter().filter(|division| !self.is_told(&division.is.feature));
        let different: BTreeSet<Vec<Witness>> = guessed.map(Division::named).collect();
        let tried = different.len() as f64;
        let (whole, outcomes) = (Followers::of(examples), outcomes(examples));
        let costs = divisions.into_iter().map(|division| {
            let inner = division.parts.each_ref().map(|part| Followers::of(part));
            let bits = inner.iter().map(|inner| inner.choices() + inner.within(&whole));
            let name = if self.is_told(&division.is.feature) { -TELLING } else { tried.log2() };
            (bits.sum::<f64>() + name, division)
        });
        let paying = costs.filter(|(bits, division)| {
            let [one, rest] = division.parts.each_ref().map(|part| witnesses(part));
            let is_chance = || by_chance(&one, &rest, outcomes.values()) * tried >= BY_CHANCE;
            *bits < whole.choices() && (self.is_told(&division.is.feature) || !is_chance())
        });
        paying.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, division)| division)
    }
}

/// Answers in two parts: those of which something is so, and the others.
struct Division<'a> {
    is: Condition,
    /// What is so of all others, if they say one thing.
    other: Option<Condition>,
    parts: [Vec<Example<'a>>; 2],
}

impl Division<'_> {
    /// Which answers are in the part in which the first one is.
    fn named(&self) -> Vec<Witness> {
        let sides = self.parts.each_ref().map(|part| witnesses(part).into_iter().collect());
        let [one, rest]: [Vec<Witness>; 2] = sides;
        one.min(rest)
    }
}

/// The ways to divide answers by a feature: one of its values from all others.
///
/// What was said before may decide how an answer begins, and no more: what comes later in it hangs on
/// what somebody has said, and in a few scenarios that goes along with anything.
fn divisions<'a>(feature: &Feature, examples: &[Example<'a>], fewest: usize) -> Vec<Division<'a>> {
    let mut values: BTreeMap<Option<&str>, Vec<Example<'a>>> = BTreeMap::new();
    for example in examples {
        values.entry(example.situation.says(feature)).or_default().push(*example);
    }
    let so = |says: &str| Condition { feature: feature.clone(), says: Some(says.to_owned()) };
    let is_seen = |part: &Vec<Example<'_>>| witnesses(part).len() >= fewest;
    let is_state = matches!(feature, Feature::Known(_) | Feature::After(..));
    // What is said no to is told by what is said yes to.
    let mut said: Vec<&str> = values.keys().copied().flatten().collect();
    said.sort_by_key(|value| *value == "false");
    let apart = said.into_iter().map(|value| {
        let others = values.iter().filter(|(other, _)| **other != Some(value));
        let rest = others.clone().flat_map(|(_, part)| part).copied().collect();
        let other = match others.map(|(other, _)| *other).collect::<Vec<_>>().as_slice() {
            [Some(only)] => Some(so(only)),
            // What says another word is in neither part.
            [None] if matches!(feature, Feature::Request(_)) => {
                Some(Condition { feature: feature.clone(), says: None })
            }
            _ => None,
        };
        Division { is: so(value), other, parts: [values[&Some(value)].clone(), rest] }
    });
    let may_be = |division: &Division<'_>| {
        division.parts.iter().all(is_seen) && (!is_state || begin_apart(&division.parts))
    };
    apart.filter(may_be).collect()
}

/// Whether no message begins answers of both parts.
fn begin_apart(parts: &[Vec<Example<'_>>; 2]) -> bool {
    let first = |example: &Example<'_>| example.word.tokens.first().map(|token| token.tag.clone());
    let [one, rest] =
        parts.each_ref().map(|part| part.iter().map(first).collect::<BTreeSet<Option<String>>>());
    one.is_disjoint(&rest)
}

/// Types of what is asked that are answered alike make one case, if no other stands between that may fit.
fn together(cases: Vec<Case>, told: &Feature) -> Vec<Case> {
    let mut kept: Vec<Case> = Vec::new();
    for case in cases {
        let known = kept.iter().position(|known| {
            let pairs = known.when.iter().zip(&case.when);
            let mut other = pairs.filter(|(one, other)| one != other);
            let types = other.next();
            let is_type = |it: &Condition| it.feature == *told && it.says.is_some();
            known.when.len() == case.when.len()
                && known.order == case.order
                && types.is_some_and(|(one, other)| is_type(one) && is_type(other))
                && other.next().is_none()
        });
        let apart = |it: &Case| {
            let excluded = |one| it.when.iter().any(|other: &Condition| other.excludes(one));
            case.when.iter().any(excluded)
        };
        match known.filter(|known| kept[known + 1..].iter().all(apart)) {
            None => kept.push(case),
            Some(known) => {
                let both = kept[known].when.iter_mut().zip(&case.when);
                both.filter(|(one, other)| one != other)
                    .for_each(|(one, other)| *one = one.or(other));
            }
        }
    }
    kept
}

/// The independent recordings among answers.
fn witnesses(examples: &[Example<'_>]) -> BTreeSet<Witness> {
    examples.iter().map(|example| example.word.witness).collect()
}

/// What follows what, and in which recordings.
fn outcomes<'a>(examples: &[Example<'a>]) -> BTreeMap<(Place<'a>, Place<'a>), BTreeSet<Witness>> {
    let mut outcomes: BTreeMap<_, BTreeSet<Witness>> = BTreeMap::new();
    for Example { word, .. } in examples {
        for pair in word.pairs() {
            outcomes.entry(pair).or_default().insert(word.witness);
        }
    }
    outcomes
}

/// How often what was seen behind what.
struct Followers<'a>(BTreeMap<Place<'a>, BTreeMap<Place<'a>, usize>>);

impl<'a> Followers<'a> {
    fn of(examples: &[Example<'a>]) -> Self {
        let mut next: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for (from, to) in examples.iter().flat_map(|example| example.word.pairs()) {
            *next.entry(from).or_default().entry(to).or_default() += 1;
        }
        Self(next)
    }

    /// The bits that it takes to say the words.
    fn choices(&self) -> f64 {
        let bits = |to: &BTreeMap<Place<'_>, usize>| {
            to.values().sum::<usize>() as f64 * (to.len() as f64).log2()
        };
        self.0.values().map(bits).sum()
    }

    /// The bits that it takes to say what may follow what, if that is known of the whole: some of it.
    fn within(&self, whole: &Self) -> f64 {
        let some =
            |from| whole.0.get(from).map_or(1.0, |to| ((to.len() as f64).exp2() - 1.0).log2());
        self.0.keys().map(some).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases, each with its condition and its order, as [`together`] makes them.
    #[track_caller]
    fn check(cases: &[(&str, &str)], expected: &[(&str, &str)]) {
        let case = |(when, order): &(&str, &str)| {
            let when = Condition::parse(when).into_iter().collect();
            Case { when, order: order.parse().unwrap() }
        };
        let told = Feature::Request("method".to_owned());
        let cases = together(cases.iter().map(case).collect(), &told);
        let cases = cases.iter().map(|case| (case.when[0].to_string(), case.order.to_string()));
        let expected = expected.iter().map(|(when, order)| ((*when).into(), (*order).into()));
        assert_eq!(cases.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn only_types_of_what_is_asked_make_one_case() {
        let (open, read) = ((r#"method="open""#, "result"), (r#"method="read""#, "result"));
        check(&[open, read], &[(r#"method="open" | "read""#, "result")]);
        // Another field is no other type.
        let fast = (r#"params.speed="fast""#, "result");
        check(&[open, fast], &[open, fast]);
        check(&[fast, open], &[fast, open]);
    }
}
