//! Expressions in which each tag stands once, from edges.
//!
//! After Bex, Neven, Schwentick & Tuyls, "Inference of concise DTDs from XML data" (VLDB'06), and
//! Freydenberger & Kötzing, "Fast learning of restricted regular expressions and DTDs" (ICDT'13).
//! Where the edges are those of such an expression, that language is found exactly. Elsewhere the
//! expression says more than the edges, never less.

use std::collections::BTreeSet;

use super::edges::Edges;
use super::graph::{END, Graph, START};
use crate::contract::order::expression::{Expression, Times};

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
    let first: Vec<usize> = graph.after(START).into_iter().collect();
    let last: Vec<usize> = graph.before(END).into_iter().collect();
    let closed = last.iter().all(|from| first.iter().all(|to| graph.is_connected(*from, *to)));
    for to in first {
        for from in graph.before(to) {
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
    let skipped = graph.first().into_iter().find(|vertex| graph.after(*vertex).is_subset(&start));
    let Some(vertex) = skipped else { return false };
    graph.relabel(vertex, graph.label(vertex).repeated(Times::OPTIONAL));
    graph.after(vertex).into_iter().for_each(|to| graph.disconnect(START, to));
    true
}

/// Two first vertices with the same behind them are a choice.
fn join_alike(graph: &mut Graph) -> bool {
    let first = graph.first();
    let pair = first.iter().enumerate().find_map(|(place, one)| {
        let alike = |other: &&usize| graph.after(*one) == graph.after(**other);
        first[place + 1..].iter().find(alike).map(|other| (*one, *other))
    });
    pair.map(|pair| join(graph, pair)).is_some()
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
        graph.after(START).into_iter().filter(|vertex| !first.contains(vertex)).collect();
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
