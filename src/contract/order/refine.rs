//! Types told apart further by what a field says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::chance::{BY_CHANCE, FEWEST, by_chance};
use super::choice::Code;
use super::edges::Witness;
use super::expression::{Comparison, Guard, Literal};
use super::expression::{Expression, Pattern};
use super::word::{Token, Word};

/// Which types of events are told apart further by what a field says:
/// `stop_reason[stop_reason="error"]` from `stop_reason[stop_reason="end_turn"]`.
///
/// # Rationale
///
/// Neighbours alone cannot tell that an error follows one `stop_reason` and the usage another. Whether
/// a field is worth it is decided by description length: it is if, once its value is part of the type,
/// what comes before tells the value, or the value what comes behind, and if chance does not divide so
/// what was seen beside each of them. A field whose value is as good as random makes more types and
/// tells nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refinement(BTreeMap<String, Finer>);

/// A field, and its values in groups that behave alike.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finer {
    path: String,
    /// JSON texts.
    groups: Vec<BTreeSet<String>>,
}

/// A field with more values tells no types.
const MOST_VALUES: usize = 6;

/// Bits for naming a field.
const PRICE: f64 = 8.0;

impl Refinement {
    /// The fields that tell types apart. `may_tell` says whether what a field says may be part of a
    /// type: its path, and the JSON text.
    pub fn find(words: &[Word], may_tell: impl Fn(&str, &str) -> bool) -> Self {
        let mut found = Self::default();
        let candidates = candidates(words, may_tell);
        let tried = candidates.values().map(Vec::len).sum::<usize>() as f64;
        loop {
            let finer = candidates.iter().filter(|(tag, _)| !found.0.contains_key(*tag));
            let finer = finer.flat_map(|(tag, paths)| paths.iter().map(move |path| (tag, path)));
            let best = finer
                .filter_map(|(tag, path)| {
                    let (saved, groups) = Table::of(&found, words, tag, path).partition(tried)?;
                    Some((saved, tag, Finer { path: path.clone(), groups }))
                })
                .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(one.1)));
            match best {
                Some((saved, tag, finer)) if saved > 0.0 => found.0.insert(tag.clone(), finer),
                _ => return found,
            };
        }
    }

    /// The word with finer types.
    pub fn word(&self, word: &Word) -> Word {
        let finer = |token: &Token| Token { tag: self.name(token), ..token.clone() };
        Word { tokens: word.tokens.iter().map(finer).collect(), witness: word.witness }
    }

    /// What was learned from such words, with guards for the finer types.
    #[must_use]
    pub fn guarded(&self, expression: Expression) -> Expression {
        let patterns = self.0.iter().flat_map(|(tag, finer)| {
            let patterns = finer.groups.iter().map(|group| finer.pattern(tag, group));
            patterns.map(|pattern| (pattern.to_string(), pattern))
        });
        let patterns: BTreeMap<String, Pattern> = patterns.collect();
        if patterns.is_empty() {
            return expression;
        }
        expression.with_tags(&|tag| match patterns.get(tag) {
            Some(finer) => Expression::Event(finer.clone()),
            None => Expression::tag(tag),
        })
    }

    /// The finer type of an event; its type as it is if no group has what it says.
    fn name(&self, token: &Token) -> String {
        let pattern = self.0.get(&token.tag).and_then(|finer| {
            let said = said(token, &finer.path)?;
            let group = finer.groups.iter().find(|group| group.contains(said))?;
            Some(finer.pattern(&token.tag, group).to_string())
        });
        pattern.unwrap_or_else(|| token.tag.clone())
    }
}

impl Finer {
    fn pattern(&self, tag: &str, group: &BTreeSet<String>) -> Pattern {
        let values = group.iter().filter_map(|json| Literal::parse(json)).collect();
        let guard = Guard { path: self.path.clone(), comparison: Comparison::Equal, values };
        Pattern { tag: Some(tag.to_owned()), guards: vec![guard] }
    }
}

/// The fields that each event of a type has, and that say few words.
fn candidates(
    words: &[Word],
    may_tell: impl Fn(&str, &str) -> bool,
) -> BTreeMap<String, Vec<String>> {
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen: BTreeMap<(&str, &str), Values<'_>> = BTreeMap::new();
    for token in words.iter().flat_map(|word| &word.tokens) {
        *events.entry(&token.tag).or_default() += 1;
        for (path, json) in &token.fields {
            seen.entry((&token.tag, path)).or_default().see(json, |json| may_tell(path, json));
        }
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((tag, path), values) in seen {
        if values.times == events[tag] && !values.is_free && values.known.len() > 1 {
            found.entry(tag.to_owned()).or_default().push(path.to_owned());
        }
    }
    found
}

/// What a field says.
#[derive(Default)]
struct Values<'w> {
    times: usize,
    known: BTreeSet<&'w str>,
    /// Whether there are too many, or something that is no part of a type.
    is_free: bool,
}

impl<'w> Values<'w> {
    fn see(&mut self, json: &'w str, may_tell: impl Fn(&str) -> bool) {
        self.times += 1;
        if !self.is_free && !self.known.contains(json) {
            self.is_free = self.known.len() == MOST_VALUES || !may_tell(json);
            self.known.insert(json);
        }
    }
}

fn said<'t>(token: &'t Token, path: &str) -> Option<&'t str> {
    token.fields.iter().find(|(field, _)| field == path).map(|(_, json)| json.as_str())
}

/// Which event follows which, where those of one type are told apart by each value of a field.
struct Table<'w> {
    values: Vec<&'w str>,
    /// Which recordings have each value.
    seen: Vec<BTreeSet<Witness>>,
    /// In which of them, with which value, something comes before it or behind it.
    beside: BTreeMap<(Side, Option<usize>), Observed>,
    /// How often each value comes.
    times: Vec<u64>,
    pairs: BTreeMap<(Kind, Kind), u64>,
    /// The types, with all values as one, and what begins and ends a word.
    kinds: usize,
}

/// Recordings, and the value in each.
type Observed = BTreeSet<(Witness, usize)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    Behind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// An event of another type, or the start and the end.
    Other(usize),
    /// By the number of its value, or of its group.
    Value(usize),
}

const EDGE: Kind = Kind::Other(0);

impl<'w> Table<'w> {
    fn of(known: &Refinement, words: &'w [Word], tag: &str, path: &str) -> Self {
        let mut table = Self {
            values: Vec::new(),
            seen: Vec::new(),
            beside: BTreeMap::new(),
            times: Vec::new(),
            pairs: BTreeMap::new(),
            kinds: 0,
        };
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for word in words {
            let mut from = EDGE;
            for token in &word.tokens {
                let to = match said(token, path).filter(|_| token.tag == tag) {
                    Some(said) => {
                        let value = table.value(said);
                        table.times[value] += 1;
                        table.seen[value].insert(word.witness);
                        Kind::Value(value)
                    }
                    None => {
                        let next = names.len() + 1;
                        Kind::Other(*names.entry(known.name(token)).or_insert(next))
                    }
                };
                table.follow(from, to, word.witness);
                from = to;
            }
            table.follow(from, EDGE, word.witness);
        }
        table.kinds = names.len() + 2;
        table
    }

    fn follow(&mut self, from: Kind, to: Kind, witness: Witness) {
        *self.pairs.entry((from, to)).or_default() += 1;
        let other = |kind| match kind {
            Kind::Other(number) => Some(number),
            Kind::Value(_) => None,
        };
        for (side, kind, beside) in [(Side::Before, to, from), (Side::Behind, from, to)] {
            if let Kind::Value(value) = kind {
                self.beside.entry((side, other(beside))).or_default().insert((witness, value));
            }
        }
    }

    fn value(&mut self, said: &'w str) -> usize {
        self.values.iter().position(|known| *known == said).unwrap_or_else(|| {
            self.values.push(said);
            self.seen.push(BTreeSet::new());
            self.times.push(0);
            self.values.len() - 1
        })
    }

    /// The groups of values that save most bits, and how many; so many fields are tried.
    fn partition(&self, tried: f64) -> Option<(f64, Vec<BTreeSet<String>>)> {
        let all: Groups = vec![(0..self.values.len()).collect()];
        let mut groups: Groups = (0..self.values.len()).map(|value| vec![value]).collect();
        let mut bits = self.bits(&groups);
        while groups.len() > 1 {
            let rare = groups.iter().position(|group| !self.is_told(group, tried));
            let coarser = merged(&groups, rare).map(|groups| (self.bits(&groups), groups));
            match coarser.min_by(|one, other| one.0.total_cmp(&other.0)) {
                Some(best) if best.0 < bits || rare.is_some() => (bits, groups) = best,
                _ => break,
            }
        }
        let said = |group: &Vec<usize>| {
            group.iter().map(|value| self.values[*value].to_owned()).collect::<BTreeSet<_>>()
        };
        let mut named: Vec<BTreeSet<String>> = groups.iter().map(said).collect();
        named.sort();
        (groups.len() > 1).then(|| (self.bits(&all) - bits - PRICE - tried.log2(), named))
    }

    /// Whether a group was seen often enough, and not by chance beside other things than the others.
    fn is_told(&self, group: &[usize], tried: f64) -> bool {
        let is_in = |value: usize| group.contains(&value);
        let observed = |wanted: bool| -> Observed {
            let values = (0..self.values.len()).filter(|value| is_in(*value) == wanted);
            values.flat_map(|value| self.seen[value].iter().map(move |it| (*it, value))).collect()
        };
        let witnesses: BTreeSet<Witness> =
            group.iter().flat_map(|it| &self.seen[*it]).copied().collect();
        witnesses.len() >= FEWEST
            && by_chance(&observed(true), &observed(false), self.beside.values()) * tried
                < BY_CHANCE
    }

    /// What it takes to say which type may follow which, then the types, and then the values.
    fn bits(&self, groups: &Groups) -> f64 {
        let group_of = |kind: Kind| match kind {
            Kind::Value(value) => {
                Kind::Value(groups.iter().position(|group| group.contains(&value)).unwrap_or(0))
            }
            other => other,
        };
        let mut after: BTreeMap<Kind, BTreeMap<Kind, u64>> = BTreeMap::new();
        for ((from, to), times) in &self.pairs {
            let next = after.entry(group_of(*from)).or_default();
            *next.entry(group_of(*to)).or_default() += times;
        }
        let sign = ((self.kinds + groups.len()) as f64).log2();
        let follow = after.values().map(|next| {
            let counts: Vec<u64> = next.values().copied().collect();
            sign * counts.len() as f64 + Code::Learned.of(&counts)
        });
        let values = groups.iter().map(|group| {
            let counts: Vec<u64> = group.iter().map(|value| self.times[*value]).collect();
            Code::Learned.of(&counts)
        });
        follow.sum::<f64>() + values.sum::<f64>()
    }
}

/// The numbers of the values in each group.
type Groups = Vec<Vec<usize>>;

/// The groups with two of them as one; one of these is `rare`, if that is given.
fn merged(groups: &Groups, rare: Option<usize>) -> impl Iterator<Item = Groups> + '_ {
    let pairs = (0..groups.len()).flat_map(|one| (0..one).map(move |other| (other, one)));
    let wanted =
        move |(one, other): &(usize, usize)| rare.is_none_or(|rare| *one == rare || *other == rare);
    pairs.filter(wanted).map(|(one, other)| {
        let mut merged = groups.clone();
        let moved = merged.remove(other);
        merged[one].extend(moved);
        merged
    })
}

impl fmt::Display for Refinement {
    /// What tells each type apart: `stop_reason by stop_reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (tag, finer)) in self.0.iter().enumerate() {
            write!(f, "{}{tag} by {}", if place == 0 { "" } else { ", " }, finer.path)?;
        }
        Ok(())
    }
}
