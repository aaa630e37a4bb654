//! How an order is shown, by what takes the fewest bits to say.

use std::collections::BTreeMap;

use super::chare::chare;
use super::edges::{Edges, Place};
use super::sore::sore;
use crate::contract::order::expression::Expression;
use crate::contract::order::neighbours::{Pairs, pairs};

/// How an expression is made from edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// Each tag stands once; exact wherever such an expression is.
    Once,
    /// A chain of choices, for few examples.
    Chain,
    /// Whichever of the two takes fewer bits together with what was seen (after the choice among
    /// candidates of Bex et al., TODS 2010, §7).
    Shortest,
}

impl Edges {
    /// The expression that says what was seen, and as little else as it can.
    pub fn expression(&self, style: Style) -> Expression {
        let plain = match style {
            Style::Once => sore(self),
            Style::Chain => chare(self).unwrap_or_else(|| sore(self)),
            Style::Shortest => self.shortest(Code::Learned, self.tags().len()).0,
        };
        plain.with_tags(&|tag| {
            let label = Expression::tag(tag);
            if self.comes_in_runs(tag) { label.repeated(super::super::Times::SOME) } else { label }
        })
    }

    /// Whether an expression without runs allows the same neighbours, no more and no fewer.
    pub fn is_said_by(&self, expression: &Expression) -> bool {
        let seen: Pairs<'_> = self.iter().map(|(from, to, _)| (from, to)).collect();
        pairs(expression) == seen
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
        self.iter().for_each(|(from, _, edge)| seen.entry(from).or_default().push(edge.times));
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

impl Expression {
    /// The same with something else in the place of each tag.
    pub(super) fn with_tags(self, label: &dyn Fn(&str) -> Self) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(|part| part.with_tags(label));
        match self {
            Self::Event(pattern) => match &pattern.tag {
                Some(tag) => label(tag),
                None => Self::Event(pattern),
            },
            Self::Sequence(parts) => Self::sequence(all(parts)),
            Self::Choice(parts) => Self::choice(all(parts)),
            Self::Interleaved(parts) => Self::interleaved(all(parts)),
            Self::Repeated(inner, times) => inner.with_tags(label).repeated(times),
            Self::Nothing | Self::Slice(_) => self,
        }
    }
}

fn bits_for(choices: u64) -> f64 {
    count(choices.max(1)).log2()
}

/// `log2 n!`; Stirling's series is exact enough beyond a few.
fn factorial(number: u64) -> f64 {
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
