//! Automata in which each tag has one state, as graphs that are taken apart.

use std::collections::{BTreeMap, BTreeSet};

use super::edges::{Edges, Place};
use crate::contract::order::expression::Expression;

/// Before the first event.
pub(super) const START: usize = 0;
/// Behind the last event.
pub(super) const END: usize = 1;

/// A graph from [`START`] to [`END`]. The inner vertices have labels; an event passes through each.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    labels: BTreeMap<usize, Expression>,
    after: BTreeMap<usize, BTreeSet<usize>>,
    before: BTreeMap<usize, BTreeSet<usize>>,
    /// The next vertex's number.
    fresh: usize,
}

impl Graph {
    pub fn of(edges: &Edges) -> Self {
        let mut graph = Self { fresh: END + 1, ..Self::default() };
        let mut numbers = BTreeMap::from([(Place::Start, START), (Place::End, END)]);
        for tag in edges.tags() {
            numbers.insert(Place::Tag(tag), graph.vertex(Expression::tag(tag)));
        }
        for (from, to, _) in edges.iter() {
            graph.connect(numbers[&from], numbers[&to]);
        }
        graph
    }

    /// A new inner vertex.
    pub fn vertex(&mut self, label: Expression) -> usize {
        let vertex = self.fresh;
        self.fresh += 1;
        self.labels.insert(vertex, label);
        vertex
    }

    pub fn connect(&mut self, from: usize, to: usize) {
        self.after.entry(from).or_default().insert(to);
        self.before.entry(to).or_default().insert(from);
    }

    pub fn disconnect(&mut self, from: usize, to: usize) {
        self.after.entry(from).or_default().remove(&to);
        self.before.entry(to).or_default().remove(&from);
    }

    pub fn is_connected(&self, from: usize, to: usize) -> bool {
        self.after.get(&from).is_some_and(|after| after.contains(&to))
    }

    pub fn after(&self, vertex: usize) -> BTreeSet<usize> {
        self.after.get(&vertex).cloned().unwrap_or_default()
    }

    pub fn before(&self, vertex: usize) -> BTreeSet<usize> {
        self.before.get(&vertex).cloned().unwrap_or_default()
    }

    /// The inner vertices.
    pub fn inner(&self) -> impl Iterator<Item = usize> {
        self.labels.keys().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub fn label(&self, vertex: usize) -> Expression {
        self.labels.get(&vertex).cloned().unwrap_or(Expression::Nothing)
    }

    pub fn relabel(&mut self, vertex: usize, label: Expression) {
        self.labels.insert(vertex, label);
    }

    /// The vertices with nothing but the start before them.
    pub fn first(&self) -> Vec<usize> {
        let only_start = |vertex: &usize| self.before(*vertex).iter().eq([&START]);
        self.inner().filter(only_start).collect()
    }

    /// Some inner vertices by themselves: what comes from outside comes from the start, what goes
    /// outside goes to the end.
    pub fn extract(&self, part: &BTreeSet<usize>) -> Self {
        let mut graph = Self { fresh: self.fresh, ..Self::default() };
        for vertex in part {
            graph.relabel(*vertex, self.label(*vertex));
            for from in self.before(*vertex) {
                graph.connect(if part.contains(&from) { from } else { START }, *vertex);
            }
            for to in self.after(*vertex) {
                graph.connect(*vertex, if part.contains(&to) { to } else { END });
            }
        }
        graph
    }

    /// Puts one vertex in the place of several. Edges between these are gone.
    pub fn contract(&mut self, part: &BTreeSet<usize>, label: Expression) {
        let before: BTreeSet<usize> = part.iter().flat_map(|vertex| self.before(*vertex)).collect();
        let after: BTreeSet<usize> = part.iter().flat_map(|vertex| self.after(*vertex)).collect();
        part.iter().for_each(|vertex| self.remove(*vertex));
        let vertex = self.vertex(label);
        before.difference(part).for_each(|from| self.connect(*from, vertex));
        after.difference(part).for_each(|to| self.connect(vertex, *to));
    }

    /// Lets the start be where a vertex was.
    pub fn enter(&mut self, vertex: usize) {
        let after = self.after(vertex);
        self.remove(vertex);
        after.into_iter().for_each(|to| self.connect(START, to));
    }

    fn remove(&mut self, vertex: usize) {
        self.labels.remove(&vertex);
        self.after(vertex).into_iter().for_each(|to| self.disconnect(vertex, to));
        self.before(vertex).into_iter().for_each(|from| self.disconnect(from, vertex));
    }

    /// What can be reached from a vertex over at least one edge.
    pub fn reach(&self, from: usize) -> BTreeSet<usize> {
        self.reach_without(from, None)
    }

    /// The vertex, and those that are reached from the start through it alone.
    pub fn dominated(&self, vertex: usize) -> BTreeSet<usize> {
        let others = self.reach_without(START, Some(vertex));
        self.inner().filter(|inner| !others.contains(inner)).collect()
    }

    fn reach_without(&self, from: usize, without: Option<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(vertex) = open.pop() {
            for next in self.after.get(&vertex).into_iter().flatten() {
                if Some(*next) != without && reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }

    /// The vertices of the first cycle, and all that are on a cycle with them.
    pub fn cycle(&self) -> Option<BTreeSet<usize>> {
        self.components().into_iter().find(|part| {
            part.len() > 1 || part.iter().all(|vertex| self.is_connected(*vertex, *vertex))
        })
    }

    /// The strongly connected components of the inner vertices, each behind those it is reached from
    /// (Kosaraju).
    pub fn components(&self) -> Vec<BTreeSet<usize>> {
        let mut left = Vec::new();
        let mut known = BTreeSet::from([START, END]);
        for root in [START].into_iter().chain(self.inner()) {
            self.finish(root, &mut known, &mut left);
        }
        let mut components = Vec::new();
        let mut known = BTreeSet::from([START, END]);
        for root in left.into_iter().rev().filter(|vertex| *vertex != START) {
            let mut component = BTreeSet::new();
            let mut open = vec![root];
            while let Some(vertex) = open.pop() {
                if known.insert(vertex) {
                    component.insert(vertex);
                    open.extend(self.before.get(&vertex).into_iter().flatten());
                }
            }
            if !component.is_empty() {
                components.push(component);
            }
        }
        components
    }

    /// The vertices behind a root in the order in which a search in depth leaves them.
    fn finish(&self, root: usize, known: &mut BTreeSet<usize>, left: &mut Vec<usize>) {
        if root != START && !known.insert(root) {
            return;
        }
        let mut path = vec![(root, self.after(root).into_iter())];
        while let Some((vertex, next)) = path.last_mut() {
            match next.next() {
                Some(next) if known.insert(next) => path.push((next, self.after(next).into_iter())),
                Some(_) => {}
                None => {
                    left.push(*vertex);
                    path.pop();
                }
            }
        }
    }

    /// The inner vertices in groups without edges between them.
    pub fn islands(&self) -> Vec<BTreeSet<usize>> {
        let mut islands = Vec::new();
        let mut known = BTreeSet::from([START, END]);
        for root in self.inner() {
            let mut island = BTreeSet::new();
            let mut open = vec![root];
            while let Some(vertex) = open.pop() {
                if known.insert(vertex) {
                    island.insert(vertex);
                    open.extend(self.after(vertex).into_iter().chain(self.before(vertex)));
                }
            }
            if !island.is_empty() {
                islands.push(island);
            }
        }
        islands
    }
}
