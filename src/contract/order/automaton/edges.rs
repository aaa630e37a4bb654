//! Which tags an order lets follow each other.

use std::collections::BTreeSet;

use super::{Atom, Automaton};
use crate::contract::order::Order;

/// Two tags, one directly behind the other; none for the beginning and the end.
pub type Neighbours = (Option<String>, Option<String>);

impl Order {
    /// All tags that it knows; `_` where any may come.
    pub fn tags(&self) -> BTreeSet<String> {
        self.automaton.tags()
    }

    /// Which tags may directly follow each other, also in slices and where slices meet.
    pub fn neighbours(&self) -> BTreeSet<Neighbours> {
        self.automaton.neighbours()
    }
}

impl Automaton {
    fn tags(&self) -> BTreeSet<String> {
        let mut tags = BTreeSet::new();
        for atom in &self.atoms {
            match atom {
                Atom::Event(pattern) => drop(tags.insert(pattern.tag_or_any())),
                Atom::Slice { each, .. } => tags.extend(each.tags()),
            }
        }
        tags
    }

    fn neighbours(&self) -> BTreeSet<Neighbours> {
        let mut found = self.inside_slices();
        let entering = self.entering();
        for (state, atoms) in self.states.iter().zip(&entering) {
            let lasts: Vec<Option<String>> = match atoms.is_empty() {
                true => vec![None],
                false => {
                    atoms.iter().flat_map(|atom| self.atoms[*atom].lasts()).map(Some).collect()
                }
            };
            let nexts = state.edges.iter().flat_map(|(atom, _)| self.atoms[*atom].firsts());
            let mut nexts: Vec<Option<String>> = nexts.map(Some).collect();
            nexts.extend(state.accepting.then_some(None));
            for last in &lasts {
                found.extend(nexts.iter().map(|next| (last.clone(), next.clone())));
            }
        }
        found
    }

    /// Neighbours within the slices, without their ends.
    fn inside_slices(&self) -> BTreeSet<Neighbours> {
        let slices = self.atoms.iter().filter_map(|atom| match atom {
            Atom::Slice { each, .. } => Some(each),
            Atom::Event(_) => None,
        });
        let inner = slices.flat_map(Self::neighbours);
        inner.filter(|(from, to)| from.is_some() && to.is_some()).collect()
    }

    /// The atoms by which each state is entered; none for the start.
    fn entering(&self) -> Vec<BTreeSet<usize>> {
        let mut entering = vec![BTreeSet::new(); self.states.len()];
        for (atom, to) in self.states.iter().flat_map(|state| &state.edges) {
            entering[*to].insert(*atom);
        }
        entering
    }

    fn lasts(&self) -> BTreeSet<String> {
        let ends = self.neighbours().into_iter().filter(|(_, to)| to.is_none());
        ends.filter_map(|(from, _)| from).collect()
    }

    fn firsts(&self) -> BTreeSet<String> {
        self.states[0].edges.iter().flat_map(|(atom, _)| self.atoms[*atom].firsts()).collect()
    }
}

impl Atom {
    fn firsts(&self) -> BTreeSet<String> {
        match self {
            Self::Event(pattern) => BTreeSet::from([pattern.tag_or_any()]),
            Self::Slice { each, .. } => each.firsts(),
        }
    }

    fn lasts(&self) -> BTreeSet<String> {
        match self {
            Self::Event(pattern) => BTreeSet::from([pattern.tag_or_any()]),
            Self::Slice { each, .. } => each.lasts(),
        }
    }
}

impl crate::contract::order::Pattern {
    /// Its tag, `_` for any.
    pub(in crate::contract::order) fn tag_or_any(&self) -> String {
        self.tag.clone().unwrap_or_else(|| "_".to_owned())
    }
}
