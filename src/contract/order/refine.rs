//! Types told apart further by what a field says.

use std::collections::{BTreeMap, BTreeSet};

use super::chance::{BY_CHANCE, FEWEST, by_chance};
use super::choice::Code;
use super::edges::Witness;
use super::expression::{Comparison, Expression, Guard, Literal, MISSING, Pattern};
use super::word::{PART, Token, Word};
use crate::message::telling;

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
///
/// What was told apart may be so once more, by another field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refinement(Vec<Finer>);

/// A field of a type, or of one that was told apart, and its values in groups that behave alike.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finer {
    tag: String,
    path: String,
    groups: Vec<Group>,
}

/// Values of a field as JSON texts, and the events that have them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    values: BTreeSet<String>,
    pattern: Pattern,
}

/// A field with more values tells no types; one by which programs decide may have more.
const MOST_VALUES: usize = 6;
const MOST_OUTCOMES: usize = 16;

/// Bits for naming a field.
const PRICE: f64 = 8.0;

impl Refinement {
    /// The fields that tell types apart. `may_tell` says whether what a field says may be part of a
    /// type: its path, and the JSON text.
    pub fn find(words: &[Word], may_tell: impl Fn(&str, &str) -> bool) -> Self {
        let mut found = Self::default();
        let mut words = words.to_vec();
        loop {
            let candidates = candidates(&words, &may_tell);
            let tried = candidates.values().map(Vec::len).sum::<usize>() as f64;
            let all =
                candidates.iter().flat_map(|(tag, paths)| paths.iter().map(move |it| (tag, it)));
            let all = all.filter(|(tag, path)| !found.tells(tag, path));
            let best = all
                .filter_map(|(tag, path)| {
                    let (saved, groups) = Table::of(&words, tag, path).partition(tried)?;
                    Some((saved, tag, path, groups))
                })
                .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(one.1)));
            match best {
                Some((saved, tag, path, groups)) if saved > 0.0 => {
                    let of = found.pattern(tag);
                    let groups = groups.into_iter().map(|values| Group::of(&of, path, values));
                    let (tag, path) = (tag.clone(), path.clone());
                    found.0.push(Finer { tag, path, groups: groups.collect() });
                    words = words.iter().map(|word| found.word(word)).collect();
                }
                _ => return found,
            };
        }
    }

    /// The word with finer types.
    pub fn word(&self, word: &Word) -> Word {
        let finer = |token: &Token| Token { tag: self.name(token), ..token.clone() };
        Word { tokens: word.tokens.iter().map(finer).collect(), ..*word }
    }

    /// What was learned from such words, with guards for the finer types.
    #[must_use]
    pub fn guarded(&self, expression: Expression) -> Expression {
        if self.0.is_empty() {
            expression
        } else {
            expression.with_tags(&|tag| Expression::Event(self.pattern(tag)))
        }
    }

    /// The events of a type, finer or not.
    fn pattern(&self, tag: &str) -> Pattern {
        let mut patterns = self.0.iter().flat_map(|finer| &finer.groups).map(|it| &it.pattern);
        let finer = patterns.find(|pattern| pattern.to_string() == tag);
        finer.cloned().unwrap_or_else(|| Pattern { tag: Some(tag.to_owned()), guards: Vec::new() })
    }

    /// Whether a field tells a type already.
    fn tells(&self, tag: &str, path: &str) -> bool {
        self.pattern(tag).guards.iter().any(|guard| guard.path == path)
    }

    /// The finer type of an event; its type as it is if no group has what it says.
    fn name(&self, token: &Token) -> String {
        let mut name = token.tag.clone();
        for finer in &self.0 {
            if finer.tag == name
                && let Some(group) = finer.group(token)
            {
                name = group.pattern.to_string();
            }
        }
        name
    }
}

impl Finer {
    fn group(&self, token: &Token) -> Option<&Group> {
        let said = said(token, &self.path);
        self.groups.iter().find(|group| group.values.contains(said))
    }
}

impl Group {
    fn of(tag: &Pattern, path: &str, values: BTreeSet<String>) -> Self {
        let (comparison, literals) = if values.contains(PART) {
            (Comparison::Different, vec![Literal::Missing])
        } else {
            (Comparison::Equal, values.iter().filter_map(|json| Literal::parse(json)).collect())
        };
        let mut pattern = tag.clone();
        pattern.guards.push(Guard { path: path.to_owned(), comparison, values: literals });
        Self { values, pattern }
    }
}

/// The fields that each event of a type has and that say few words, and the parts that only some have.
fn candidates(
    words: &[Word],
    may_tell: impl Fn(&str, &str) -> bool,
) -> BTreeMap<String, Vec<String>> {
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    let mut parts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut seen: BTreeMap<(&str, &str), Values<'_>> = BTreeMap::new();
    for token in words.iter().flat_map(|word| &word.tokens) {
        *events.entry(&token.tag).or_default() += 1;
        for (path, json) in &token.fields {
            let values = seen.entry((&token.tag, path)).or_insert_with(|| Values::of(path));
            values.see(json, |json| may_tell(path, json));
        }
        for part in &token.parts {
            *parts.entry((&token.tag, part)).or_default() += 1;
        }
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    parts.retain(|(tag, path), times| *times < events[tag] && !seen.contains_key(&(*tag, *path)));
    for (tag, path) in parts.into_keys() {
        found.entry(tag.to_owned()).or_default().push(path.to_owned());
    }
    for ((tag, path), values) in seen {
        if values.times == events[tag] && !values.is_free && values.known.len() > 1 {
            found.entry(tag.to_owned()).or_default().push(path.to_owned());
        }
    }
    found
}

/// What a field says.
struct Values<'w> {
    times: usize,
    /// How many there may be.
    most: usize,
    known: BTreeSet<&'w str>,
    /// Whether there are too many, or something that is no part of a type.
    is_free: bool,
}

impl<'w> Values<'w> {
    fn of(path: &str) -> Self {
        let name = path.rsplit('.').next().unwrap_or(path);
        let most = if telling::is_outcome(name) { MOST_OUTCOMES } else { MOST_VALUES };
        Self { times: 0, most, known: BTreeSet::new(), is_free: false }
    }

    fn see(&mut self, json: &'w str, may_tell: impl Fn(&str) -> bool) {
        self.times += 1;
        if !self.is_free && !self.known.contains(json) {
            self.is_free = self.known.len() == self.most || !may_tell(json);
            self.known.insert(json);
        }
    }
}

fn said<'t>(token: &'t Token, path: &str) -> &'t str {
    let said = token.fields.iter().find(|(field, _)| field == path).map(|(_, json)| json.as_str());
    let part = || token.parts.iter().any(|part| part == path).then_some(PART);
    said.or_else(part).unwrap_or(MISSING)
}

/// Which event follows which, where those of one type are told apart by each value of a field.
#[derive(Default)]
struct Table<'w> {
    values: Vec<&'w str>,
    /// Which recordings have each value.
    seen: Vec<BTreeSet<Witness>>,
    /// In which of them, with which value, something comes before it or behind it.
    beside: BTreeMap<(Neighbour, Option<usize>), Observed>,
    /// How often each value comes.
    times: Vec<u64>,
    pairs: BTreeMap<(EventClass, EventClass), u64>,
    /// The types, with all values as one, and what begins and ends a word.
    kinds: usize,
}

/// Recordings, and the value in each.
type Observed = BTreeSet<(Witness, usize)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Neighbour {
    Before,
    Behind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventClass {
    /// An event of another type, or the start and the end.
    Other(usize),
    /// By the number of its value, or of its group.
    Value(usize),
}

const EDGE: EventClass = EventClass::Other(0);

impl<'w> Table<'w> {
    fn of(words: &'w [Word], tag: &str, path: &str) -> Self {
        let mut table = Self::default();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for word in words {
            let mut from = EDGE;
            for token in &word.tokens {
                let to = if token.tag == tag {
                    let value = table.value(said(token, path));
                    table.times[value] += 1;
                    table.seen[value].insert(word.witness);
                    EventClass::Value(value)
                } else {
                    let next = names.len() + 1;
                    EventClass::Other(*names.entry(token.tag.as_str()).or_insert(next))
                };
                table.follow(from, to, word.witness);
                from = to;
            }
            table.follow(from, EDGE, word.witness);
        }
        table.kinds = names.len() + 2;
        table
    }

    fn follow(&mut self, from: EventClass, to: EventClass, witness: Witness) {
        *self.pairs.entry((from, to)).or_default() += 1;
        let other = |kind| match kind {
            EventClass::Other(number) => Some(number),
            EventClass::Value(_) => None,
        };
        for (side, kind, beside) in [(Neighbour::Before, to, from), (Neighbour::Behind, from, to)] {
            if let EventClass::Value(value) = kind {
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
        let group_of = |kind: EventClass| match kind {
            EventClass::Value(value) => EventClass::Value(
                groups.iter().position(|group| group.contains(&value)).unwrap_or(0),
            ),
            other => other,
        };
        let mut after: BTreeMap<EventClass, BTreeMap<EventClass, u64>> = BTreeMap::new();
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
