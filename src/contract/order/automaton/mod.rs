//! What decides whether events are in order.

mod build;
mod length;
mod run;

use std::borrow::Cow;
use std::fmt;

pub use run::{Next, Run};

use super::event::Event;
use super::expression::{Between, Pattern};

/// A non-deterministic automaton over atoms, without empty moves. State 0 is the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Automaton {
    pub atoms: Vec<Atom>,
    /// The keys by which events are slices here; the first one that an event has counts.
    pub keys: Vec<String>,
    pub states: Vec<State>,
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
