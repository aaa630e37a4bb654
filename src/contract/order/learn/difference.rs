//! What changed between two sets of edges.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::edges::{Edges, Place, Seen};

/// What is different in newer edges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference<'e> {
    /// Neighbours that were never seen before.
    pub new: Vec<NewEdge<'e>>,
    /// Neighbours that are not seen any more.
    pub lost: Vec<(Place<'e>, Place<'e>, Seen)>,
    /// Tags that were never seen before.
    pub new_tags: Vec<&'e str>,
    /// Tags that are not seen any more.
    pub lost_tags: Vec<&'e str>,
    /// Tags that every word had to have, and that can be missing now.
    pub now_optional: Vec<&'e str>,
    /// Tags that could be missing, and that every word has to have now.
    pub now_mandatory: Vec<&'e str>,
}

/// Neighbours that were never seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEdge<'e> {
    /// What comes first.
    pub from: Place<'e>,
    /// What comes behind it.
    pub to: Place<'e>,
    /// How often, and where.
    pub seen: Seen,
    /// The shortest trace that has them.
    pub trace: Vec<&'e str>,
}

impl Difference<'_> {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        // Tags and what is mandatory follow from the edges.
        self.new.is_empty() && self.lost.is_empty()
    }
}

impl Edges {
    /// What is different in newer edges. Counts alone are no difference.
    pub fn difference<'e>(&'e self, new: &'e Self) -> Difference<'e> {
        let without = |edges: &'e Self, others: &'e Self| {
            edges.iter().filter(|(from, to, _)| others.seen(*from, *to).is_none())
        };
        let (paths, tags) = (Paths::of(new), (self.tags(), new.tags()));
        let new_edge =
            |(from, to, seen)| NewEdge { from, to, seen, trace: paths.through(from, to) };
        let (were, are) = (self.mandatory(), new.mandatory());
        let now = |one: &BTreeSet<&'e str>, other: &BTreeSet<&'e str>| -> Vec<&'e str> {
            one.difference(other).filter(|tag| tags.0.contains(*tag)).copied().collect()
        };
        Difference {
            new: without(new, self).map(new_edge).collect(),
            lost: without(self, new).collect(),
            new_tags: tags.1.difference(&tags.0).copied().collect(),
            lost_tags: tags.0.difference(&tags.1).copied().collect(),
            now_optional: now(&were, &are),
            now_mandatory: now(&are, &were),
        }
    }

    /// The tags that every accepted word has.
    pub fn mandatory(&self) -> BTreeSet<&str> {
        let paths = Paths::of(self);
        let needed = |tag: &&str| paths.first(Place::Start, Place::End, Some(tag)).is_none();
        // Before anything was learned there is no word, and nothing is in all of them.
        self.tags().into_iter().filter(needed).collect()
    }
}

/// The edges by where they begin.
struct Paths<'e>(BTreeMap<Place<'e>, BTreeSet<Place<'e>>>);

impl<'e> Paths<'e> {
    fn of(edges: &'e Edges) -> Self {
        let mut after: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (from, to, _) in edges.iter() {
            after.entry(from).or_default().insert(to);
        }
        Self(after)
    }

    /// The shortest word with these neighbours.
    fn through(&self, from: Place<'e>, to: Place<'e>) -> Vec<&'e str> {
        let before = self.first(Place::Start, from, None).unwrap_or_default();
        let behind = self.first(to, Place::End, None).unwrap_or_default();
        let places = before.into_iter().chain(behind);
        places
            .filter_map(|place| if let Place::Tag(tag) = place { Some(tag) } else { None })
            .collect()
    }

    /// The first shortest path, with both of its ends, past a tag.
    fn first(&self, from: Place<'e>, to: Place<'e>, past: Option<&str>) -> Option<Vec<Place<'e>>> {
        let mut came: BTreeMap<Place<'e>, Place<'e>> = BTreeMap::new();
        let mut open = VecDeque::from([from]);
        let passed = |place: &Place<'_>| past.is_some_and(|tag| *place == Place::Tag(tag));
        while let Some(place) = open.pop_front() {
            if place == to {
                let back = std::iter::successors(Some(to), |place| came.get(place).copied());
                let mut path: Vec<_> = back.collect();
                path.reverse();
                return Some(path);
            }
            let next = self.0.get(&place).into_iter().flatten().filter(|next| !passed(next));
            for next in next {
                if *next != from && !came.contains_key(next) {
                    came.insert(*next, place);
                    open.push_back(*next);
                }
            }
        }
        None
    }
}
