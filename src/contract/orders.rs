//! The orders of an endpoint, which may depend on what was asked.

use std::collections::{BTreeMap, BTreeSet};

use super::traffic::Answer;
use crate::correlate::{Meaning, identifiers};
use crate::json::{Leaf, Text};
use crate::order::{Learned, Order, Style, Word};

/// The orders in which the messages of an answer may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orders {
    /// The fields of the request that decide, if some do: `messages[].type`.
    pub by: Vec<String>,
    /// The cases; one if nothing decides.
    pub cases: Vec<Case>,
}

/// The order in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What the deciding fields say, as JSON or `missing`, with ` / ` between them; empty if nothing
    /// decides.
    pub says: String,
    /// The order.
    pub order: Order,
}

/// What stands for a field that is not there.
const MISSING: &str = "missing";

/// Fields with more values decide nothing.
const MOST_CASES: usize = 6;

/// So many fields decide together at most.
const MOST_FIELDS: usize = 3;

/// A longer value is no word that decides.
const LONGEST: usize = 40;

impl Orders {
    /// The order for a request.
    pub fn of(&self, asked: Option<&str>) -> Option<&Order> {
        let says = says(&self.by, asked);
        self.cases.iter().find(|case| case.says == says).map(|case| &case.order)
    }

    /// What a request says in the fields that decide.
    pub(crate) fn says(&self, asked: Option<&str>) -> String {
        says(&self.by, asked)
    }

    /// What decides, and what a request says there.
    pub(super) fn unknown(&self, asked: Option<&str>) -> String {
        let (by, says) = (self.by.join(", "), says(&self.by, asked));
        format!("no order is known for a request of which {by} is {says}")
    }

    /// Learns from answers. A field of the requests decides if the orders of the cases, one by one, take
    /// fewer bits together with what was seen than one order for all.
    pub(super) fn learn(answers: &[Answer]) -> Option<Self> {
        let answers: Vec<(&Answer, &Word)> =
            answers.iter().filter_map(|answer| Some((answer, answer.word.as_ref()?))).collect();
        let tags = answers.iter().flat_map(|(_, word)| &word.tokens).map(|token| &token.tag);
        // A successor is said by a tag. An order that is said at length catches more: half is enough.
        let sign = 0.5 * ((tags.collect::<BTreeSet<_>>().len() + 2) as f64).log2();
        let paths = paths(&answers);
        let mut by = Vec::new();
        let mut cases = cases(&by, &answers)?;
        let mut fewest = total(&cases, sign);
        while by.len() < MOST_FIELDS {
            let finer = paths.iter().filter_map(|path| {
                let by: Vec<String> = by.iter().chain([path]).cloned().collect();
                let cases = self::cases(&by, &answers)?;
                Some((total(&cases, sign), by, cases))
            });
            match finer.min_by(|one, other| one.0.total_cmp(&other.0)) {
                Some(best) if best.0 < fewest => (fewest, by, cases) = best,
                _ => break,
            }
        }
        let cases = cases.into_iter().map(|(says, words)| case(says, &words));
        Some(Self { by, cases: cases.collect::<Option<_>>()? })
    }
}

fn total(cases: &Cases<'_>, sign: f64) -> f64 {
    cases.values().map(|words| bits(words, sign)).sum()
}

fn case(says: String, words: &[&Word]) -> Option<Case> {
    let words: Vec<Word> = words.iter().map(|word| (*word).clone()).collect();
    Some(Case { says, order: Learned::from_words(&words).order(Style::Shortest).ok()? })
}

type Cases<'a> = BTreeMap<String, Vec<&'a Word>>;

/// The words of each case, if the fields may decide: few cases, none of which is seen only once.
/// Nothing if there are no words.
fn cases<'a>(by: &[String], answers: &[(&'a Answer, &'a Word)]) -> Option<Cases<'a>> {
    let mut cases = Cases::new();
    for (answer, word) in answers {
        cases.entry(says(by, answer.asked.as_deref())).or_default().push(word);
        if cases.len() > MOST_CASES {
            return None;
        }
    }
    let are_seen = cases.len() == 1 || cases.values().all(|words| words.len() > 1);
    (!cases.is_empty() && are_seen).then_some(cases)
}

/// The bits that it takes to say which messages may follow which, and then the words.
fn bits(words: &[&Word], sign: f64) -> f64 {
    let mut next: BTreeMap<Option<&str>, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (from, to) in words.iter().flat_map(|word| steps(word)) {
        next.entry(from).or_default().insert(to);
    }
    let edges: usize = next.values().map(BTreeSet::len).sum();
    let choices = words.iter().flat_map(|word| steps(word));
    let choices: f64 = choices.map(|(from, _)| (next[&from].len() as f64).log2()).sum();
    edges as f64 * sign + choices
}

/// What follows what, with nothing before the first and behind the last.
fn steps(word: &Word) -> Vec<(Option<&str>, Option<&str>)> {
    let tags: Vec<Option<&str>> =
        word.tokens.iter().map(|token| Some(token.tag.as_str())).collect();
    let from = std::iter::once(None).chain(tags.iter().copied());
    let to = tags.iter().copied().chain([None]);
    from.zip(to).collect()
}

/// The fields of the requests that hold words or yes and no, and nothing else.
fn paths(answers: &[(&Answer, &Word)]) -> BTreeSet<String> {
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    for (answer, _) in answers {
        let asked = answer.asked.as_deref().and_then(|asked| Text::parse(asked.as_bytes()));
        for leaf in asked.map(Text::leaves).unwrap_or_default() {
            if let Some(path) = path(&leaf.pointer) {
                *paths.entry(path).or_insert(true) &= may_decide(&leaf);
            }
        }
    }
    paths.into_iter().filter_map(|(path, may_decide)| may_decide.then_some(path)).collect()
}

/// Sentences are what somebody said, and identifiers are others each time: they decide nothing that
/// holds for others.
fn may_decide(leaf: &Leaf<'_>) -> bool {
    let is_word = leaf.spelled.starts_with('"')
        && leaf.spelled.len() <= LONGEST
        && !leaf.value.contains(char::is_whitespace)
        && identifiers(&leaf.value).next().is_none();
    let is_told = Meaning::of(&leaf.name) == Meaning::Plain;
    is_told && (is_word || matches!(leaf.spelled, "true" | "false" | "null"))
}

/// `/messages/0/type` as `messages[].type`.
fn path(pointer: &str) -> Option<String> {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str("[]");
            continue;
        }
        if step.is_empty() || !step.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(step);
    }
    (!path.is_empty()).then_some(path)
}

/// What a request says in some fields: all values that stand there.
fn says(by: &[String], asked: Option<&str>) -> String {
    if by.is_empty() {
        return String::new();
    }
    let leaves = asked.and_then(|asked| Text::parse(asked.as_bytes())).map(Text::leaves);
    let leaves = leaves.unwrap_or_default();
    let said = by.iter().map(|by| {
        let values = leaves.iter().filter(|leaf| path(&leaf.pointer).as_deref() == Some(by));
        let values: BTreeSet<&str> = values.map(|leaf| leaf.spelled).collect();
        match values.is_empty() {
            true => MISSING.to_owned(),
            false => values.into_iter().collect::<Vec<_>>().join(", "),
        }
    });
    said.collect::<Vec<_>>().join(" / ")
}
