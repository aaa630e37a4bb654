//! Chains of choices, from few examples.
//!
//! CRX of Bex, Neven, Schwentick & Vansummeren, "Inference of concise regular expressions and DTDs"
//! (TODS 2010), made for very small samples: `(a | b)+ c? d`. It generalises further than
//! [`sore`](super::sore) and flattens loops.

use std::collections::{BTreeMap, BTreeSet};

use super::edges::Edges;
use super::graph::Graph;
use crate::contract::order::expression::{Expression, Pattern, Times};

/// The chain for some edges; none if there were too many different words to be few examples.
pub(super) fn chare(edges: &Edges) -> Option<Expression> {
    let profiles: Vec<BTreeMap<&str, u8>> = edges.profiles()?.collect();
    let links = merged(classes(&Graph::of(edges)));
    let factor = |class: &BTreeSet<String>| {
        let count = |profile: &BTreeMap<&str, u8>| -> u8 {
            let tags = class.iter().filter_map(|tag| profile.get(tag.as_str()));
            tags.fold(0, |sum, count| sum.saturating_add(*count))
        };
        let counts = profiles.iter().map(count);
        let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        let times = Times { min: u32::from(least.min(1)), max: (most <= 1).then_some(1) };
        Expression::choice(class.iter().map(Expression::tag)).repeated(times)
    };
    Some(Expression::sequence(links.iter().map(|link| factor(&link.tags))))
}

/// Tags that come in any order among themselves, and what comes later or earlier.
struct Link {
    tags: BTreeSet<String>,
    /// Whether it is one tag, or a choice of such.
    single: bool,
    /// The next links only, not those behind them.
    after: BTreeSet<usize>,
    before: BTreeSet<usize>,
}

/// The strongly connected components in their order, as its Hasse diagram.
fn classes(graph: &Graph) -> Vec<Link> {
    let components = graph.components();
    let reach: Vec<BTreeSet<usize>> = components
        .iter()
        .map(|part| part.first().map(|vertex| graph.reach(*vertex)).unwrap_or_default())
        .collect();
    let reaches = |from: usize, to: usize| from != to && !reach[from].is_disjoint(&components[to]);
    let next = |from: usize, to: usize| {
        let through = |middle: usize| reaches(from, middle) && reaches(middle, to);
        reaches(from, to) && !(0..components.len()).any(through)
    };
    let all = || 0..components.len();
    let link = |number: usize| Link {
        tags: components[number].iter().map(|vertex| name(&graph.label(*vertex))).collect(),
        single: components[number].len() == 1,
        after: all().filter(|to| next(number, *to)).collect(),
        before: all().filter(|from| next(*from, number)).collect(),
    };
    all().map(link).collect()
}

/// Single tags with the same before and behind them become one link. The order stays topological:
/// such tags do not reach one another, and the joint link takes the place of the first of them, which
/// is behind all that is before it.
fn merged(mut links: Vec<Link>) -> Vec<Link> {
    let mut gone = BTreeSet::new();
    while let Some((one, other)) = alike(&links, &gone) {
        let tags = std::mem::take(&mut links[other].tags);
        links[one].tags.extend(tags);
        gone.insert(other);
        for link in &mut links {
            link.after.remove(&other);
            link.before.remove(&other);
        }
    }
    let kept = links.into_iter().enumerate().filter(|(number, _)| !gone.contains(number));
    kept.map(|(_, link)| link).collect()
}

fn alike(links: &[Link], gone: &BTreeSet<usize>) -> Option<(usize, usize)> {
    let single = |number: &usize| links[*number].single && !gone.contains(number);
    let numbers: Vec<usize> = (0..links.len()).filter(single).collect();
    numbers.iter().enumerate().find_map(|(place, one)| {
        let same = |other: &&usize| {
            links[*one].after == links[**other].after && links[*one].before == links[**other].before
        };
        numbers[place + 1..].iter().find(same).map(|other| (*one, *other))
    })
}

/// The tag of a vertex that nothing was contracted into.
fn name(label: &Expression) -> String {
    match label {
        Expression::Event(Pattern { tag: Some(tag), .. }) => tag.clone(),
        _ => String::new(),
    }
}
