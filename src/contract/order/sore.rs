//! Expressions in which each tag stands once, from edges.
//!
//! After Bex, Neven, Schwentick & Tuyls, "Inference of concise DTDs from XML data" (VLDB'06), and
//! Freydenberger & Kötzing, "Fast learning of restricted regular expressions and DTDs" (ICDT'13).
//! Where the edges are those of such an expression, that language is found exactly. Elsewhere the
//! expression says more than the edges, never less.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::edges::{Edges, Place};
use super::expression::{Expression, Times};

/// The expression for some edges.
pub(super) fn sore(edges: &Edges) -> Expression {
    solve(Graph::of(edges))
}

fn solve(mut graph: Graph) -> Expression {
    while let Some(cycle) = graph.cycle() {
        let inside = solve(unrolled(graph.extract(&cycle)));
        graph.contract(&cycle, inside.repeated(Times::SOME));
    }
    let mut done = Vec::new();
    // What is optional from here on to the end: where in `done` that begins.
    let mut optional = Vec::new();
    while !graph.is_empty() {
        if let Some(label) = enter_the_only(&mut graph) {
            done.push(label);
        } else if skip_one(&mut graph) || join_alike(&mut graph) || contract_dominated(&mut graph) {
        } else if graph.is_connected(START, END) {
            graph.disconnect(START, END);
            optional.push(done.len());
        } else if let Some(alternatives) = split(&graph) {
            done.push(alternatives);
            break;
        } else {
            join_most_alike(&mut graph);
        }
    }
    for from in optional.into_iter().rev() {
        let rest = Expression::sequence(done.drain(from..)).repeated(Times::OPTIONAL);
        done.push(rest);
    }
    Expression::sequence(done)
}

/// What is done once in a cycle: without the edges that lead back to its beginning.
fn unrolled(mut graph: Graph) -> Graph {
    let first: Vec<usize> = graph.after(START).iter().copied().collect();
    let last: Vec<usize> = graph.before(END).iter().copied().collect();
    let closed = last.iter().all(|from| first.iter().all(|to| graph.is_connected(*from, *to)));
    for to in first {
        for from in graph.before(to).clone() {
            if from == START || (closed && !last.contains(&from)) {
                continue;
            }
            graph.disconnect(from, to);
            // Where not every end leads back to every beginning, each may: that says more.
            graph.connect(from, END);
        }
    }
    graph
}

/// One vertex that everything goes through comes first.
fn enter_the_only(graph: &mut Graph) -> Option<Expression> {
    let after = graph.after(START);
    let only = *after.first().filter(|vertex| after.len() == 1 && **vertex != END)?;
    let label = graph.label(only);
    graph.enter(only);
    Some(label)
}

/// A first vertex behind which the start goes as well is optional.
fn skip_one(graph: &mut Graph) -> bool {
    let start = graph.after(START);
    let skipped = graph.first().into_iter().find(|vertex| graph.after(*vertex).is_subset(start));
    let Some(vertex) = skipped else { return false };
    graph.relabel(vertex, graph.label(vertex).repeated(Times::OPTIONAL));
    graph.after(vertex).clone().into_iter().for_each(|to| graph.disconnect(START, to));
    true
}

/// Two first vertices with the same behind them are a choice.
fn join_alike(graph: &mut Graph) -> bool {
    let mut known: BTreeMap<&BTreeSet<usize>, usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    for vertex in graph.first() {
        match known.entry(graph.after(vertex)) {
            Entry::Vacant(new) => _ = new.insert(vertex),
            Entry::Occupied(known) => pairs.push((*known.get(), vertex)),
        }
    }
    pairs.into_iter().min().map(|pair| join(graph, pair)).is_some()
}

/// What is reached through one first vertex alone is a part of its own.
fn contract_dominated(graph: &mut Graph) -> bool {
    let parts = graph.first().into_iter().map(|vertex| graph.dominated(vertex));
    let Some(part) = parts.into_iter().find(|part| part.len() > 1) else { return false };
    let label = solve(graph.extract(&part));
    graph.contract(&part, label);
    true
}

/// Parts that have nothing to do with one another are a choice.
fn split(graph: &Graph) -> Option<Expression> {
    let islands = graph.islands();
    let parts = islands.iter().map(|island| solve(graph.extract(island)));
    (islands.len() > 1).then(|| Expression::choice(parts))
}

/// No such expression has these edges. The first vertices that lead to the most in common become a
/// choice, which says more.
fn join_most_alike(graph: &mut Graph) {
    let mut first = graph.first();
    let passed: Vec<usize> =
        graph.after(START).iter().copied().filter(|vertex| !first.contains(vertex)).collect();
    if !passed.is_empty() {
        let nothing = graph.vertex(Expression::Nothing);
        graph.connect(START, nothing);
        for vertex in passed {
            graph.disconnect(START, vertex);
            graph.connect(nothing, vertex);
        }
        first.push(nothing);
    }
    let reach: Vec<BTreeSet<usize>> = first.iter().map(|vertex| graph.reach(*vertex)).collect();
    let pairs = (0..first.len()).flat_map(|one| (one + 1..first.len()).map(move |two| (one, two)));
    let common = |(one, two): &(usize, usize)| reach[*one].intersection(&reach[*two]).count();
    if let Some((one, two)) = pairs.rev().max_by_key(common) {
        join(graph, (first[one], first[two]));
    }
}

fn join(graph: &mut Graph, (one, other): (usize, usize)) {
    let label = Expression::choice([graph.label(one), graph.label(other)]);
    graph.contract(&BTreeSet::from([one, other]), label);
}

static NONE: BTreeSet<usize> = BTreeSet::new();

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

    pub fn after(&self, vertex: usize) -> &BTreeSet<usize> {
        self.after.get(&vertex).unwrap_or(&NONE)
    }

    pub fn before(&self, vertex: usize) -> &BTreeSet<usize> {
        self.before.get(&vertex).unwrap_or(&NONE)
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
                graph.connect(if part.contains(from) { *from } else { START }, *vertex);
            }
            for to in self.after(*vertex) {
                graph.connect(*vertex, if part.contains(to) { *to } else { END });
            }
        }
        graph
    }

    /// Puts one vertex in the place of several. Edges between these are gone.
    pub fn contract(&mut self, part: &BTreeSet<usize>, label: Expression) {
        let before: BTreeSet<usize> =
            part.iter().flat_map(|vertex| self.before(*vertex)).copied().collect();
        let after: BTreeSet<usize> =
            part.iter().flat_map(|vertex| self.after(*vertex)).copied().collect();
        part.iter().for_each(|vertex| self.remove(*vertex));
        let vertex = self.vertex(label);
        before.difference(part).for_each(|from| self.connect(*from, vertex));
        after.difference(part).for_each(|to| self.connect(vertex, *to));
    }

    /// Lets the start be where a vertex was.
    pub fn enter(&mut self, vertex: usize) {
        let after = self.after(vertex).clone();
        self.remove(vertex);
        after.into_iter().for_each(|to| self.connect(START, to));
    }

    fn remove(&mut self, vertex: usize) {
        self.labels.remove(&vertex);
        for to in self.after.remove(&vertex).unwrap_or_default() {
            self.before.entry(to).or_default().remove(&vertex);
        }
        for from in self.before.remove(&vertex).unwrap_or_default() {
            self.after.entry(from).or_default().remove(&vertex);
        }
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
        let mut path = vec![(root, self.after(root).iter())];
        while let Some((vertex, next)) = path.last_mut() {
            match next.next() {
                Some(next) if known.insert(*next) => path.push((*next, self.after(*next).iter())),
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
                    open.extend(self.after(vertex).iter().chain(self.before(vertex)));
                }
            }
            if !island.is_empty() {
                islands.push(island);
            }
        }
        islands
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::edges::Place;
    use super::super::neighbours::{Pairs, pairs};
    use super::*;

    /// An expression in which each of the tags stands once; the dice decide which.
    fn random(tags: &[String], dice: &mut u64) -> String {
        let mut roll = |sides: usize| {
            *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*dice >> 33) as usize % sides
        };
        let (cut, between) = (1 + roll(tags.len().max(2) - 1), [" ", " ", " | "][roll(3)]);
        let times = ["", "", "", "?", "*", "+"][roll(6)];
        match tags {
            [tag] => format!("{tag}{times}"),
            _ => {
                let [left, right] = [&tags[..cut], &tags[cut..]].map(|part| random(part, dice));
                format!("({left}{between}{right}){times}")
            }
        }
    }

    /// A shortest way between two places that are neighbours or have others between them, both ends included.
    fn path<'p>(pairs: &Pairs<'p>, from: Place<'p>, to: Place<'p>) -> Vec<Place<'p>> {
        let (mut ways, mut known) = (vec![vec![from]], BTreeSet::from([from]));
        loop {
            if let Some(way) = ways.iter().find(|way| way.last() == Some(&to)) {
                return way.clone();
            }
            let next = ways.iter().flat_map(|way| {
                let next = pairs.iter().filter(|(before, _)| way.last() == Some(before));
                next.map(|(_, next)| [way.as_slice(), &[*next]].concat())
            });
            ways = next.filter(|way| way.last().is_some_and(|it| known.insert(*it))).collect();
        }
    }

    #[test]
    fn orders_in_which_each_tag_stands_once_are_recovered_exactly() {
        let mut dice = 11;
        for case in 0..2_000 {
            let tags: Vec<String> = (0..=case % 12).map(|number| format!("t{number}")).collect();
            let truth = random(&tags, &mut dice);
            let order: super::super::Order = truth.parse().expect("it is well-formed");
            let allowed = pairs(order.expression());
            let mut edges = Edges::default();
            for (from, to) in &allowed {
                let word = [path(&allowed, Place::Start, *from), path(&allowed, *to, Place::End)];
                edges.add(word.concat().into_iter().filter_map(Place::tag).map(Into::into));
            }

            let found = sore(&edges);

            assert_eq!(pairs(&found), allowed, "{truth}: {found}");
        }
    }
}
