//! How an order is shown, by what takes the fewest bits to say.

use std::collections::{BTreeMap, BTreeSet};

use super::edges::{Edges, Place};
use super::expression::{Expression, Pattern, Times};
use super::neighbours::{Pairs, last, pairs};
use super::sore::{Graph, sore};

impl Edges {
    /// The expression that says what was seen, and as little else as it can: one in which each tag stands once, or
    /// a chain of choices, whichever takes fewer bits together with what was seen (after the choice among candidates
    /// of Bex et al., TODS 2010, §7).
    pub fn expression(&self) -> Expression {
        let plain = self.shortest(Code::Learned, self.tags().len()).0;
        self.ending(plain).with_tags(&|tag| {
            let label = Expression::tag(tag);
            if self.comes_in_runs(tag) { label.repeated(super::Times::SOME) } else { label }
        })
    }

    /// It with what ended words, if it lets others end: it was generalised, and a stream that has lost its end is
    /// what clients wait for in vain.
    fn ending(&self, expression: Expression) -> Expression {
        let seen: Pairs<'_> = self.iter().map(|(from, to, _)| (from, to)).collect();
        let ends = last(&seen);
        if last(&pairs(&expression)).is_subset(&ends) {
            return expression;
        }
        let ends =
            ends.into_iter().map(|end| end.tag().map_or(Expression::Nothing, Expression::tag));
        let ends = Expression::choice(ends);
        expression.ending(ends)
    }

    /// The shortest expression, and the bits that it takes to say it, if there are so many tags, and
    /// with it the words.
    pub(super) fn shortest(&self, code: Code, tags: usize) -> (Expression, f64) {
        // Beside the tags there are six signs.
        let sign = bits_for(tags as u64 + 6);
        let measured = |expression: Expression| {
            let words = self.bits_of_words(code, &pairs(&expression));
            let bits = words + sign * count(expression.size() as u64);
            (expression, bits)
        };
        let once = measured(sore(self));
        match chare(self).map(measured) {
            Some(chain) if chain.1 < once.1 => chain,
            _ => once,
        }
    }

    /// What it takes to say the words, if these are the neighbours that are allowed.
    fn bits_of_words(&self, code: Code, pairs: &Pairs<'_>) -> f64 {
        let mut choices: BTreeMap<Place<'_>, u64> = BTreeMap::new();
        pairs.iter().for_each(|(from, _)| *choices.entry(*from).or_default() += 1);
        let mut seen: BTreeMap<Place<'_>, Vec<u64>> = BTreeMap::new();
        self.iter().for_each(|(from, _, times)| seen.entry(from).or_default().push(times));
        let bits = |(from, counts): (&Place<'_>, &Vec<u64>)| {
            code.bits(choices.get(from).copied().unwrap_or(1), counts)
        };
        seen.iter().map(bits).sum()
    }
}

/// How it is said what comes behind a tag, where several tags may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// All of them alike: what is allowed for nothing is dear.
    Alike,
    /// By their shares, which are not known before. Independent choices cost the same however they
    /// are arranged: what is arranged anew has to say something about the words to be shorter.
    Learned,
}

impl Code {
    /// The bits for choices that were all taken so often.
    pub(super) fn of(self, counts: &[u64]) -> f64 {
        self.bits(counts.len() as u64, counts)
    }

    /// The bits for so many choices, if these were taken so often.
    fn bits(self, choices: u64, counts: &[u64]) -> f64 {
        let all: u64 = counts.iter().sum();
        match self {
            Self::Alike => bits_for(choices) * count(all),
            // log2 (n + k − 1)! / ((k − 1)! c₁! … cₖ!)
            Self::Learned => {
                let orders: f64 = counts.iter().map(|count| factorial(*count)).sum();
                factorial(all + choices - 1) - factorial(choices - 1) - orders
            }
        }
    }
}

fn bits_for(choices: u64) -> f64 {
    count(choices.max(1)).log2()
}

/// `log2 n!`; Stirling's series is exact enough beyond a few.
pub(super) fn factorial(number: u64) -> f64 {
    const FEW: u64 = 10;
    if number < FEW {
        return (2..=number).map(bits_for).sum();
    }
    let n = count(number);
    let series = n * n.ln() - n + (std::f64::consts::TAU * n).ln() / 2.0 + 1.0 / (12.0 * n);
    series / std::f64::consts::LN_2
}

#[expect(clippy::cast_precision_loss, reason = "bits are compared, not counted")]
fn count(number: u64) -> f64 {
    number as f64
}

/// A chain of choices, from few examples.
///
/// CRX of Bex, Neven, Schwentick & Vansummeren, "Inference of concise regular expressions and DTDs"
/// (TODS 2010), made for very small samples: `(a | b)+ c? d`. It generalises further than [`sore`] and
/// flattens loops. None if there were too many different words to be few examples.
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
