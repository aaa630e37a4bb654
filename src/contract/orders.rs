//! The orders of an endpoint, which may depend on what precedes, and learning which cases there are.
//!
//! # Rationale
//!
//! Situations that lead to different orders are told apart by what precedes the answer, as a tree: some
//! feature of the situation divides the answers if the orders of the parts take fewer bits, together
//! with what was seen, than one order for all. Each leaf is a case. It is then described by what is so
//! in it and in no other case, what is there rather than what is missing; where that cannot be, it
//! stands behind the cases that it could be taken for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::cut::may_decide;
use super::situation::{Condition, Feature, Holds, Situation};
use super::traffic::Answer;
use crate::contract::order::{Learned, Order, Refinement, Style, Word};

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

/// A feature with more values divides in two: one value, and all others.
const MOST_WAYS: usize = 4;

/// A feature with more values says something that is no word of a protocol.
const MOST_VALUES: usize = 32;

/// A case is seen so often at least.
const FEWEST: usize = 2;

/// An order that is said at length catches more: half of what it costs is enough to be saved.
const HALF: f64 = 0.5;

impl Orders {
    /// One order for all answers.
    pub(super) fn one(order: Order) -> Self {
        Self { cases: vec![Case { when: Vec::new(), order }] }
    }

    /// Learns from answers. `is_told` says whether a client has made up a word.
    pub(super) fn learn(answers: &[Answer], is_made_up: &dyn Fn(&str) -> bool) -> Option<Self> {
        let all = answers.iter().filter_map(|answer| Some((answer, answer.word.as_ref()?)));
        let (answers, words): (Vec<&Answer>, Vec<&Word>) = all.unzip();
        let words: Vec<Word> = words.into_iter().cloned().collect();
        if words.is_empty() {
            return None;
        }
        let refinement = Refinement::find(&words, |path, json| {
            may_decide(path, json) && !is_made_up(json.trim_matches('"'))
        });
        let words: Vec<Word> = words.iter().map(|word| refinement.word(word)).collect();
        let situations = answers.iter().map(|answer| &answer.situation);
        let examples: Vec<Example<'_>> =
            situations.zip(&words).map(|(situation, word)| Example { situation, word }).collect();
        let tree = Tree::of(&examples, is_made_up);
        let mut leaves = Vec::new();
        tree.grow(&examples, &mut Vec::new(), &mut leaves);
        let described = tree.described(leaves);
        let case = |(when, leaf): (Vec<Condition>, Leaf<'_>)| {
            Some(Case { when, order: order(&leaf.examples, &refinement)? })
        };
        Some(Self { cases: described.into_iter().map(case).collect::<Option<_>>()? })
    }

    /// What is out of order, in words.
    pub(super) fn broken(&self, situation: &Situation, word: &Word) -> Vec<String> {
        let cases = self.fitting(situation);
        let events = word.events();
        let Some(last) = cases.last() else {
            return vec![format!("no order is known for this case: {}", self.so(situation))];
        };
        if cases.iter().any(|case| case.order.accepts(&events)) {
            return Vec::new();
        }
        let explanation = last.order.explain(&events, None);
        explanation.deviations().map(|deviation| explanation.sentence(deviation)).collect()
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

/// Answers of one case, and the features by which they were told from others.
struct Leaf<'a> {
    examples: Vec<Example<'a>>,
    told_by: Vec<Feature>,
}

fn order(examples: &[Example<'_>], refinement: &Refinement) -> Option<Order> {
    let words: Vec<Word> = examples.iter().map(|example| example.word.clone()).collect();
    let expression = Learned::from_words(&words).expression(Style::Shortest);
    Order::new(refinement.guarded(expression)).ok()
}

/// What the answers may be divided by.
///
/// The most telling first.
struct Tree {
    features: Vec<Feature>,
}

impl Tree {
    fn of(examples: &[Example<'_>], is_made_up: &dyn Fn(&str) -> bool) -> Self {
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
            tells && is_state && is_new && said.len() <= MOST_VALUES && !free.contains(feature)
        });
        let mut features: Vec<&Feature> = values.keys().copied().collect();
        features.sort_by_cached_key(|feature| {
            let (times, said) = &values[feature];
            let (missing, says_one) = (examples.len() - times, said.len() == 1);
            (rank(feature), missing, says_one, feature.to_string().len(), *feature)
        });
        Self { features: features.into_iter().cloned().collect() }
    }

    /// Divides answers as long as that is shorter.
    fn grow<'a>(
        &self,
        examples: &[Example<'a>],
        told_by: &mut Vec<Feature>,
        leaves: &mut Vec<Leaf<'a>>,
    ) {
        let next = Next::of(examples);
        let divisions: Vec<(&Feature, Parts<'a>)> = self
            .features
            .iter()
            .flat_map(|feature| {
                divisions(feature, examples).into_iter().map(move |it| (feature, it))
            })
            .collect();
        let different: BTreeSet<Vec<Vec<u32>>> =
            divisions.iter().map(|(_, parts)| witnesses(parts)).collect();
        let naming = (different.len() as f64).log2();
        let costs = divisions.into_iter().map(|(feature, parts)| {
            let inner: Vec<Next<'_>> = parts.iter().map(|part| Next::of(part)).collect();
            let choices: f64 = inner.iter().map(Next::choices).sum();
            let saying: f64 = inner.iter().map(|inner| inner.within(&next)).sum();
            (choices + HALF * (naming + saying), feature, parts)
        });
        match costs.min_by(|one, other| one.0.total_cmp(&other.0)) {
            Some((bits, feature, parts)) if bits < next.choices() => {
                told_by.push(feature.clone());
                for part in parts {
                    self.grow(&part, told_by, leaves);
                }
                told_by.pop();
            }
            _ => leaves.push(Leaf { examples: examples.to_vec(), told_by: told_by.clone() }),
        }
    }

    /// The leaves with what is so in each, in an order in which the first that fits is right.
    fn described<'a>(&self, mut leaves: Vec<Leaf<'a>>) -> Vec<(Vec<Condition>, Leaf<'a>)> {
        let mut described = Vec::new();
        while !leaves.is_empty() {
            let all: Vec<&Leaf<'a>> =
                described.iter().map(|(_, leaf)| leaf).chain(&leaves).collect();
            let candidates = leaves.iter().enumerate().map(|(number, leaf)| {
                let others: Vec<Example<'a>> = all
                    .iter()
                    .filter(|other| !std::ptr::eq(**other, leaf))
                    .flat_map(|other| other.examples.clone())
                    .collect();
                let (when, taken) = self.conditions(leaf, &others, Missing::Unsaid);
                let later = leaves.iter().enumerate().filter(|(other, _)| *other != number);
                let later = later.flat_map(|(_, leaf)| &leaf.examples);
                let mistaken = later.filter(|example| fits(&when, example.situation)).count();
                (mistaken, taken, shown(&when), number, when)
            });
            let best = candidates
                .min_by(|one, other| (one.0, one.1, &one.2).cmp(&(other.0, other.1, &other.2)));
            let Some((mistaken, _, _, number, mut when)) = best else { break };
            let leaf = leaves.remove(number);
            if mistaken > 0 {
                let later = leaves.iter().flat_map(|leaf| leaf.examples.clone());
                when = self.conditions(&leaf, &later.collect::<Vec<_>>(), Missing::Said).0;
            }
            described.push((when, leaf));
        }
        described
    }

    /// The fewest conditions that hold in all of a leaf and tell it from others, found one by one, and
    /// how many of these it could still be taken for.
    fn conditions<'a>(
        &self,
        leaf: &Leaf<'a>,
        others: &[Example<'a>],
        missing: Missing,
    ) -> (Vec<Condition>, usize) {
        let literal = |feature: &Feature| {
            let mut says = leaf.examples.iter().map(|example| example.situation.says(feature));
            let first = says.next()?;
            let is_said = first.is_some() || missing == Missing::Said;
            (is_said && says.all(|other| other == first))
                .then(|| Condition { feature: feature.clone(), says: first.map(str::to_owned) })
        };
        // By what they were told is known to be a reason; anything else only goes along with it.
        let literals = [&leaf.told_by, &self.features]
            .map(|features| features.iter().filter_map(literal).collect::<Vec<Condition>>());
        let mut left: Vec<&Situation> = others.iter().map(|other| other.situation).collect();
        let mut when: Vec<Condition> = Vec::new();
        loop {
            let excluded =
                |literal: &&Condition| left.iter().filter(|other| !holds(literal, other)).count();
            let best = literals.iter().find_map(|literals| {
                // The first of the best.
                let best = literals.iter().rev().max_by_key(excluded);
                best.filter(|best| excluded(best) > 0)
            });
            let Some(best) = best else { break };
            left.retain(|other| holds(best, other));
            when.push(best.clone());
        }
        when.sort_by_key(|condition| (rank(&condition.feature), condition.to_string()));
        (when, left.len())
    }
}

/// Whether a case may be described by what is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Said,
    Unsaid,
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

fn holds(condition: &Condition, situation: &Situation) -> bool {
    situation.says(&condition.feature) == condition.says.as_deref()
}

fn fits(when: &[Condition], situation: &Situation) -> bool {
    when.iter().all(|condition| holds(condition, situation))
}

fn shown(when: &[Condition]) -> String {
    when.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Answers in parts.
type Parts<'a> = Vec<Vec<Example<'a>>>;

/// The ways to divide answers by a feature: by all its values, or one of them from the others.
///
/// What was said before may decide how an answer begins, and no more: what comes later in it hangs on
/// what somebody has said, and in a few scenarios that goes along with anything.
fn divisions<'a>(feature: &Feature, examples: &[Example<'a>]) -> Vec<Parts<'a>> {
    let mut parts: BTreeMap<Option<&str>, Vec<Example<'a>>> = BTreeMap::new();
    for example in examples {
        parts.entry(example.situation.says(feature)).or_default().push(*example);
    }
    let is_seen = |part: &Vec<Example<'_>>| part.len() >= FEWEST;
    let is_state = matches!(feature, Feature::Known(_) | Feature::After(..));
    if !is_state && parts.len() <= MOST_WAYS && parts.values().all(is_seen) {
        return if parts.len() > 1 { vec![parts.into_values().collect()] } else { Vec::new() };
    }
    let apart = parts.keys().flatten().map(|value| {
        let says = |example: &&Example<'_>| example.situation.says(feature) == Some(value);
        let (one, rest): (Vec<&Example<'_>>, Vec<&Example<'_>>) = examples.iter().partition(says);
        [one, rest].map(|part| part.into_iter().copied().collect::<Vec<_>>()).to_vec()
    });
    apart.filter(|parts| parts.iter().all(is_seen) && (!is_state || begin_apart(parts))).collect()
}

/// Whether no message begins answers of two parts.
fn begin_apart(parts: &Parts<'_>) -> bool {
    let first = |example: &Example<'_>| example.word.tokens.first().map(|token| token.tag.clone());
    let firsts: Vec<BTreeSet<Option<String>>> =
        parts.iter().map(|part| part.iter().map(first).collect()).collect();
    firsts.iter().map(BTreeSet::len).sum::<usize>()
        == firsts.iter().flatten().collect::<BTreeSet<_>>().len()
}

/// Which answers are in which part, in whatever order.
fn witnesses(parts: &Parts<'_>) -> Vec<Vec<u32>> {
    let witness = |example: &Example<'_>| example.word.witness.0;
    let mut all: Vec<Vec<u32>> =
        parts.iter().map(|part| part.iter().map(witness).collect()).collect();
    all.sort();
    all
}

/// How often what was seen behind what, with nothing before the first and behind the last.
struct Next<'a>(BTreeMap<Option<&'a str>, BTreeMap<Option<&'a str>, usize>>);

impl<'a> Next<'a> {
    fn of(examples: &[Example<'a>]) -> Self {
        let mut next: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for (from, to) in examples.iter().flat_map(|example| steps(example.word)) {
            *next.entry(from).or_default().entry(to).or_default() += 1;
        }
        Self(next)
    }

    /// The bits that it takes to say the words.
    fn choices(&self) -> f64 {
        let bits = |to: &BTreeMap<Option<&str>, usize>| {
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

fn steps(word: &Word) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
    let tags = || word.tokens.iter().map(|token| Some(token.tag.as_str()));
    std::iter::once(None).chain(tags()).zip(tags().chain([None]))
}
