//! What one order allows and another one does not.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};

use super::Token;
use super::automaton::{Atom, Automaton, State};
use super::expression::Pattern;
use super::expression::{Comparison, Guard, Literal};
use super::word::PART;
use super::{Event, Neighbours, Order};

/// What an order allows that the one before it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gains {
    /// Nothing: that is proved.
    Nothing,
    /// These traces, among others: the shortest with each pair of neighbours that is new, of many pairs the shortest
    /// hundred, or the shortest at all.
    Traces(Vec<Vec<Token>>),
    /// It could not be found out: the slices are others, or there are too many ways.
    Unknown,
}

/// So many pairs of states are looked at.
const MOST: usize = 100_000;

/// So many traces are told.
const MOST_TRACES: usize = 100;

impl Order {
    /// What the order after this one allows and this one does not.
    ///
    /// # Example: a stream that may end early
    ///
    /// ```
    /// use retape::contract::order::{Gains, Order};
    ///
    /// let old: Order = "thought+ answer usage".parse()?;
    /// let new: Order = "thought+ answer usage?".parse()?;
    ///
    /// let Gains::Traces(traces) = old.gains(&new) else { panic!("it allows more") };
    /// let tags: Vec<&str> = traces[0].iter().map(|token| token.tag.as_str()).collect();
    /// assert_eq!(tags, ["thought", "answer"]);
    /// assert_eq!(new.gains(&old), Gains::Nothing);
    /// # Ok::<(), retape::contract::order::ParseErrors>(())
    /// ```
    pub fn gains(&self, after: &Self) -> Gains {
        if self == after {
            return Gains::Nothing;
        }
        let shortest = match includes(&self.automaton.with_loops(), &after.automaton.with_loops()) {
            Inclusion::Included => return Gains::Nothing,
            Inclusion::Unknown => return Gains::Unknown,
            Inclusion::Not(word) => word,
        };
        let mut traces = self.with_new_neighbours(after);
        if traces.is_empty() {
            traces.push(shortest);
        }
        // Where fields decide, an order may refuse what it seemed to allow.
        let is_new = |trace: &Vec<Token>| {
            let events: Vec<Event<'_>> = trace.iter().map(Token::event).collect();
            after.accepts(&events) && !self.accepts(&events)
        };
        traces.retain(is_new);
        if traces.is_empty() { Gains::Unknown } else { Gains::Traces(traces) }
    }

    /// Whether the order allows nothing that this one does not. `true` is certain.
    pub fn covers(&self, other: &Self) -> bool {
        self.gains(other) == Gains::Nothing
    }

    fn with_new_neighbours(&self, after: &Self) -> Vec<Vec<Token>> {
        if !after.automaton.keys.is_empty() {
            return Vec::new();
        }
        let (old, new) = (self.neighbours(), after.neighbours());
        let traces = new.difference(&old).filter_map(|pair| after.automaton.through(pair));
        let traces: BTreeSet<Vec<Token>> = traces.collect();
        let mut traces: Vec<Vec<Token>> = traces.into_iter().collect();
        traces.sort_by_key(Vec::len);
        traces.truncate(MOST_TRACES);
        traces
    }
}

enum Inclusion {
    Included,
    /// The shortest word that is not in it.
    Not(Vec<Token>),
    Unknown,
}

/// Whether all words of the new automaton are words of the old one.
///
/// The states of the new one are followed together with all states in which the old one can be
/// (inclusion by subsets, as antichain algorithms begin). A letter is an atom of the new one; the old one
/// reads it by each atom that is read whenever that is.
fn includes(old: &Automaton, new: &Automaton) -> Inclusion {
    if old.keys != new.keys && !(old.keys.is_empty() && new.keys.is_empty()) {
        return Inclusion::Unknown;
    }
    let reads: Vec<Vec<usize>> = new.atoms.iter().map(|atom| covering(old, new, atom)).collect();
    let start = (0, vec![0]);
    let mut came: Predecessors = HashMap::from([(start.clone(), None)]);
    let mut open = VecDeque::from([start]);
    while let Some(pair) = open.pop_front() {
        let (state, olds) = &pair;
        let accepting = olds.iter().any(|state| old.states[*state].accepting);
        if new.states[*state].accepting && !accepting {
            return Inclusion::Not(word(new, &came, pair));
        }
        for (atom, to) in &new.states[*state].edges {
            let next = (*to, old.step(olds, |old| reads[*atom].contains(&old)));
            if !came.contains_key(&next) {
                came.insert(next.clone(), Some((*atom, pair.clone())));
                open.push_back(next);
            }
        }
        if came.len() > MOST {
            return Inclusion::Unknown;
        }
    }
    Inclusion::Included
}

/// Pairs of states, and by which atom from which pair each was reached.
type Predecessors = HashMap<StatePair, Option<(usize, StatePair)>>;

/// A state of the new automaton, and all of the old one that the same word can lead to.
type StatePair = (usize, Vec<usize>);

/// The word that leads to a pair of states.
fn word(new: &Automaton, came: &Predecessors, mut at: StatePair) -> Vec<Token> {
    let mut atoms = Vec::new();
    while let Some(Some((atom, before))) = came.get(&at) {
        atoms.push(*atom);
        at = before.clone();
    }
    atoms.reverse();
    let atoms = atoms.into_iter().enumerate();
    atoms.flat_map(|(number, atom)| new.atoms[atom].tokens(&new.keys, number)).collect()
}

/// The atoms of the old automaton that read all that an atom of the new one reads.
fn covering(old: &Automaton, new: &Automaton, atom: &Atom) -> Vec<usize> {
    let covers = |other: &Atom| match (other, atom) {
        (Atom::Event(old), Atom::Event(new)) => old.covers(new),
        (
            Atom::Slice { key: old_key, between: old_between, each: old_each },
            Atom::Slice { key, between, each },
        ) => {
            old.keys[*old_key] == new.keys[*key]
                && old_between >= between
                && matches!(includes(old_each, each), Inclusion::Included)
        }
        _ => false,
    };
    (0..old.atoms.len()).filter(|number| covers(&old.atoms[*number])).collect()
}

impl Pattern {
    pub(super) fn covers(&self, other: &Self) -> bool {
        (self.tag.is_none() || self.tag == other.tag)
            && self.guards.iter().all(|guard| other.guards.iter().any(|other| guard.follows(other)))
    }

    /// An event that it fits; `_` stands for one of any other type.
    fn token(&self) -> Token {
        let says = |guard: &Guard| match (guard.comparison, guard.values.as_slice()) {
            (Comparison::Equal, [Literal::Missing, ..] | []) => None,
            (Comparison::Equal, [value, ..]) => Some(value.to_string()),
            (Comparison::Different, [Literal::Missing]) => Some(PART.to_owned()),
            (Comparison::Different, _) => None,
        };
        let fields =
            self.guards.iter().filter_map(|guard| Some((guard.path.clone(), says(guard)?)));
        let tag = self.tag_or_any().to_owned();
        Token { tag, fields: fields.collect(), ..Token::default() }
    }
}

impl Guard {
    /// Whether it holds wherever the other one does.
    fn follows(&self, other: &Self) -> bool {
        let has = |literal| other.values.contains(literal);
        self.path == other.path
            && match (self.comparison, other.comparison) {
                (Comparison::Equal, Comparison::Equal) => {
                    other.values.iter().all(|literal| self.values.contains(literal))
                }
                (Comparison::Different, Comparison::Different) => self.values.iter().all(has),
                // Two ways to write a number may mean the same.
                _ => false,
            }
    }
}

impl Atom {
    /// The shortest word that it reads; a slice has the number as the value of its key.
    fn tokens(&self, keys: &[String], number: usize) -> Vec<Token> {
        match self {
            Self::Event(pattern) => vec![pattern.token()],
            Self::Slice { key, each, .. } => {
                let mut inner = each.shortest();
                let own = (keys[*key].clone(), number.to_string());
                inner.iter_mut().for_each(|token| token.keys.push(own.clone()));
                inner
            }
        }
    }
}

impl Automaton {
    fn shortest(&self) -> Vec<Token> {
        // Nothing reads nothing, so that all that is accepted is new.
        let dead = State { edges: Vec::new(), accepting: false };
        let keys = self.keys.clone();
        let nothing =
            Self { atoms: Vec::new(), keys, states: vec![dead], anywhere: BTreeSet::new() };
        match includes(&nothing, self) {
            Inclusion::Not(word) => word,
            Inclusion::Included | Inclusion::Unknown => Vec::new(),
        }
    }

    /// The shortest word with these neighbours. There are no slices.
    fn through(&self, pair: &Neighbours) -> Option<Vec<Token>> {
        let (from, to) = pair;
        let start = (0, if from.is_none() { Phase::Behind } else { Phase::Before });
        let mut came = HashMap::from([(start, None)]);
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            let (state, phase) = at;
            let done = if to.is_none() { Phase::Behind } else { Phase::Done };
            if self.states[state].accepting && phase == done {
                return Some(self.way(&came, at));
            }
            for (atom, next) in &self.states[state].edges {
                let Atom::Event(pattern) = &self.atoms[*atom] else { continue };
                for phase in phase.after(pattern.tag_or_any(), pair) {
                    let next = (*next, phase);
                    if let Entry::Vacant(first) = came.entry(next) {
                        first.insert(Some((*atom, at)));
                        open.push_back(next);
                    }
                }
            }
        }
        None
    }

    fn way(&self, came: &HashMap<Phased, Option<(usize, Phased)>>, mut at: Phased) -> Vec<Token> {
        let mut word = Vec::new();
        while let Some(Some((atom, before))) = came.get(&at) {
            word.extend(self.atoms[*atom].tokens(&self.keys, 0));
            at = *before;
        }
        word.reverse();
        word
    }
}

type Phased = (usize, Phase);

/// How far a word with two neighbours is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// Neither was read, or not together.
    Before,
    /// The first was just read.
    Behind,
    /// Both were.
    Done,
}

impl Phase {
    fn after(self, tag: &str, (from, to): &Neighbours) -> Vec<Self> {
        let is = |wanted: &Option<String>| wanted.as_deref() == Some(tag);
        match self {
            Self::Done => vec![Self::Done],
            Self::Behind if is(to) => vec![Self::Done],
            Self::Behind if from.is_none() => Vec::new(),
            _ if is(from) => vec![Self::Before, Self::Behind],
            _ => vec![Self::Before],
        }
    }
}
