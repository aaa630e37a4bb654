//! What decides whether events are in order.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::expression::{Between, Pattern};
use super::expression::{Expression, Slice};
use super::word::Event;
use crate::message::DONE;

/// A non-deterministic automaton over atoms, without empty moves. State 0 is the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Automaton {
    pub atoms: Vec<Atom>,
    /// The keys by which events are slices here; the first one that an event has counts.
    pub keys: Vec<String>,
    pub states: Vec<State>,
    /// Types that it passes over, wherever they come. Only the outermost has some.
    pub anywhere: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// Numbers of atoms, and the state each leads to.
    pub edges: Vec<(usize, usize)>,
    pub accepting: bool,
}

/// What an edge reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    Event(Pattern),
    Slice { key: usize, between: Between, each: Automaton },
}

/// What an automaton is about, while it is built.
#[derive(Default)]
struct Level {
    atoms: Vec<Atom>,
    keys: Vec<String>,
}

/// The order allows too many ways: interleaving and counting multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the order has too many states; interleave or count fewer things")
    }
}

impl std::error::Error for TooLarge {}

impl Automaton {
    /// The same, with what it passes over as an edge from each state to itself.
    pub fn with_loops(&self) -> Self {
        let mut all = self.clone();
        for tag in std::mem::take(&mut all.anywhere) {
            let atom = all.atoms.len();
            all.atoms.push(Atom::Event(Pattern { tag: Some(tag), guards: Vec::new() }));
            let states = all.states.iter_mut().enumerate();
            states.for_each(|(number, state)| state.edges.push((atom, number)));
        }
        all
    }

    /// The slice that an event belongs to, as the number of its key and the value.
    pub fn slice_of<'e>(&self, event: &Event<'e>) -> Option<(usize, Cow<'e, str>)> {
        let mut keys = self.keys.iter().enumerate();
        keys.find_map(|(number, key)| Some((number, event.slice(key)?)))
    }

    /// The atoms that read an event that belongs to no slice.
    pub fn reading(&self, event: &Event<'_>) -> Vec<usize> {
        let reads = |atom: &Atom| matches!(atom, Atom::Event(pattern) if pattern.matches(event));
        (0..self.atoms.len()).filter(|number| reads(&self.atoms[*number])).collect()
    }

    /// The slices by a key, as atoms.
    pub fn slices_by(&self, wanted: usize) -> impl Iterator<Item = (usize, Between, &Self)> {
        self.atoms.iter().enumerate().filter_map(move |(number, atom)| match atom {
            Atom::Slice { key, between, each } if *key == wanted => Some((number, *between, each)),
            _ => None,
        })
    }

    /// The states behind some states and one of the atoms, in rising order.
    pub fn step(&self, from: &[usize], atoms: impl Fn(usize) -> bool) -> Vec<usize> {
        let edges = from.iter().flat_map(|state| &self.states[*state].edges);
        let mut to: Vec<usize> =
            edges.filter(|(atom, _)| atoms(*atom)).map(|(_, state)| *state).collect();
        to.sort_unstable();
        to.dedup();
        to
    }
}

impl Pattern {
    /// Whether an event is as it has to be.
    pub fn matches(&self, event: &Event<'_>) -> bool {
        self.has_tag_of(event) && self.guards.iter().all(|guard| guard.holds(event))
    }

    /// Its tag, `_` for any.
    pub(super) fn tag_or_any(&self) -> &str {
        self.tag.as_deref().unwrap_or("_")
    }

    /// Whether the tag is right, whatever the guards say.
    pub(super) fn has_tag_of(&self, event: &Event<'_>) -> bool {
        self.tag.as_deref().is_none_or(|tag| tag == event.tag)
    }
}

impl Atom {
    /// How many events it stands for at least.
    pub fn least(&self) -> u64 {
        match self {
            Self::Event(_) => 1,
            // A slice has an event, or nobody would know of it.
            Self::Slice { each, .. } => each.least().max(1),
        }
    }
}

impl Automaton {
    /// How many events an accepted word has at least.
    fn least(&self) -> u64 {
        let mut lengths = vec![None; self.states.len()];
        let mut open = BTreeSet::from([(0, 0)]);
        while let Some((length, state)) = open.pop_first() {
            if self.states[state].accepting {
                return length;
            }
            for (atom, to) in &self.states[state].edges {
                let longer = length + self.atoms[*atom].least();
                if lengths[*to].is_none_or(|known| longer < known) {
                    lengths[*to] = Some(longer);
                    open.insert((longer, *to));
                }
            }
        }
        0
    }
}

/// How many states and how many edges an automaton may have. Interleaving multiplies.
const MOST_STATES: usize = 20_000;
const MOST_EDGES: usize = 400_000;

impl Automaton {
    /// The automaton of an expression.
    ///
    /// Built from the parts to the whole, without empty moves, as Glushkov's: state 0 is the start
    /// and no edge leads to it. Interleaving is the product of the parts.
    pub(in crate::contract::order) fn new(expression: &Expression) -> Result<Self, TooLarge> {
        let mut level = Level::default();
        let piece = level.piece(expression)?;
        let Level { atoms, keys } = level;
        let states = piece
            .edges
            .into_iter()
            .zip(piece.accepting)
            .map(|(edges, accepting)| State { edges, accepting });
        Ok(Self { atoms, keys, states: states.collect(), anywhere: BTreeSet::new() })
    }
}

/// A part of an automaton: what leaves each state, and where it may end.
#[derive(Clone)]
struct Fragment {
    edges: Vec<Vec<(usize, usize)>>,
    accepting: Vec<bool>,
}

impl Level {
    fn piece(&mut self, expression: &Expression) -> Result<Fragment, TooLarge> {
        match expression {
            Expression::Nothing => Ok(Fragment::nothing()),
            Expression::Event(pattern) => {
                Ok(Fragment::one(self.atom(Atom::Event(pattern.clone()))))
            }
            Expression::Slice(slice) => Ok(Fragment::one(self.slice(slice)?)),
            Expression::Sequence(parts) => {
                parts.iter().try_fold(Fragment::nothing(), |all, part| all.then(&self.piece(part)?))
            }
            Expression::Choice(parts) => {
                let mut pieces = parts.iter().map(|part| self.piece(part));
                let first = pieces.next().unwrap_or_else(|| Ok(Fragment::nothing()))?;
                pieces.try_fold(first, |all, piece| all.or(&piece?))
            }
            Expression::Interleaved(parts) => {
                parts.iter().try_fold(Fragment::nothing(), |all, part| all.and(&self.piece(part)?))
            }
            Expression::Repeated(inner, times) => {
                self.piece(inner)?.times(times.min as usize, times.max.map(|max| max as usize))
            }
            Expression::Ending(all, last) => {
                let all = self.piece(all)?;
                let covers = |pattern: &Pattern| {
                    let mut last = last.alternatives().iter();
                    last.any(|it| matches!(it, Expression::Event(it) if it.covers(pattern)))
                };
                all.ending(last.is_nullable(), |atom| match &self.atoms[atom] {
                    Atom::Event(pattern) if pattern.tag_or_any() == DONE => None,
                    Atom::Event(pattern) => Some(covers(pattern)),
                    Atom::Slice { .. } => Some(false),
                })
            }
        }
    }

    fn slice(&mut self, slice: &Slice) -> Result<usize, TooLarge> {
        let key = self.keys.iter().position(|key| *key == slice.key).unwrap_or_else(|| {
            self.keys.push(slice.key.clone());
            self.keys.len() - 1
        });
        let each = Automaton::new(&slice.each)?;
        Ok(self.atom(Atom::Slice { key, between: slice.between, each }))
    }

    /// The number of an atom; the same atom has the same number wherever it stands.
    fn atom(&mut self, atom: Atom) -> usize {
        self.atoms.iter().position(|other| *other == atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        })
    }
}

impl Fragment {
    fn nothing() -> Self {
        Self { edges: vec![Vec::new()], accepting: vec![true] }
    }

    fn one(atom: usize) -> Self {
        Self { edges: vec![vec![(atom, 1)], Vec::new()], accepting: vec![false, true] }
    }

    /// This, and then another.
    fn then(mut self, next: &Self) -> Result<Self, TooLarge> {
        let offset = self.append(next);
        for (edges, accepting) in self.edges.iter_mut().zip(&mut self.accepting).take(offset + 1) {
            if *accepting {
                edges.extend(next.edges[0].iter().map(|(atom, to)| (*atom, to + offset)));
                *accepting = next.accepting[0];
            }
        }
        self.within_bounds()
    }

    /// This or another.
    fn or(mut self, other: &Self) -> Result<Self, TooLarge> {
        let offset = self.append(other);
        self.edges[0].extend(other.edges[0].iter().map(|(atom, to)| (*atom, to + offset)));
        self.accepting[0] |= other.accepting[0];
        self.within_bounds()
    }

    /// This and another, in any mixture: the product, as far as it is reached.
    fn and(self, other: &Self) -> Result<Self, TooLarge> {
        let accepting =
            |(left, right): (usize, usize)| self.accepting[left] && other.accepting[right];
        Self::product((0, 0), accepting, |(left, right)| {
            let ours = self.edges[left].iter().map(move |(atom, to)| (*atom, (*to, right)));
            ours.chain(other.edges[right].iter().map(move |(atom, to)| (*atom, (left, *to))))
        })
    }

    /// This, where what is read last may be so: none where it says nothing.
    fn ending(
        self,
        may_be_empty: bool,
        is_last: impl Fn(usize) -> Option<bool>,
    ) -> Result<Self, TooLarge> {
        let accepting = |(state, may_end): (usize, bool)| self.accepting[state] && may_end;
        Self::product((0, may_be_empty), accepting, |(state, may_end)| {
            let edges = self.edges[state].iter();
            edges
                .map(|(atom, to)| (*atom, (*to, is_last(*atom).unwrap_or(may_end))))
                .collect::<Vec<_>>()
        })
    }

    /// The states that are reached, each made of two.
    fn product<P: Copy + Eq + std::hash::Hash, E: IntoIterator<Item = (usize, P)>>(
        start: P,
        accepting: impl Fn(P) -> bool,
        edges: impl Fn(P) -> E,
    ) -> Result<Self, TooLarge> {
        let mut pairs = vec![start];
        let mut numbers = HashMap::from([(start, 0)]);
        let mut product = Self { edges: Vec::new(), accepting: Vec::new() };
        while let Some(&pair) = pairs.get(product.edges.len()) {
            let edges = edges(pair).into_iter().map(|(atom, pair)| {
                let number = *numbers.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() - 1
                });
                (atom, number)
            });
            product.edges.push(edges.collect());
            product.accepting.push(accepting(pair));
            if pairs.len() > MOST_STATES {
                return Err(TooLarge);
            }
        }
        product.within_bounds()
    }

    /// This at least `min` times and at most `max` times.
    fn times(self, min: usize, max: Option<usize>) -> Result<Self, TooLarge> {
        if self.edges.len().saturating_mul(max.unwrap_or(min).max(1)) > MOST_STATES {
            return Err(TooLarge);
        }
        let mut all = Self::nothing();
        for _ in 0..min.saturating_sub(usize::from(max.is_none())) {
            all = all.then(&self)?;
        }
        match max {
            None if min == 0 => all.then(&self.again().optional()),
            None => all.then(&self.again()),
            Some(max) => {
                let rest = (min..max)
                    .try_fold(Self::nothing(), |rest, _| Ok(self.clone().then(&rest)?.optional()));
                all.then(&rest?)
            }
        }
    }

    /// This at least once.
    fn again(mut self) -> Self {
        let first = self.edges[0].clone();
        for (edges, accepting) in self.edges.iter_mut().zip(&self.accepting).skip(1) {
            if *accepting {
                edges.extend(&first);
                edges.sort_unstable();
                edges.dedup();
            }
        }
        self
    }

    fn optional(mut self) -> Self {
        self.accepting[0] = true;
        self
    }

    /// Takes over the states of another piece but its start, and says how far they were moved.
    fn append(&mut self, other: &Self) -> usize {
        let offset = self.edges.len() - 1;
        let moved = other.edges[1..]
            .iter()
            .map(|edges| edges.iter().map(|(atom, to)| (*atom, to + offset)).collect());
        self.edges.extend(moved);
        self.accepting.extend_from_slice(&other.accepting[1..]);
        offset
    }

    fn within_bounds(self) -> Result<Self, TooLarge> {
        let edges: usize = self.edges.iter().map(Vec::len).sum();
        let fits = self.edges.len() <= MOST_STATES && edges <= MOST_EDGES;
        if fits { Ok(self) } else { Err(TooLarge) }
    }
}
