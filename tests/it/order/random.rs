//! Random orders and words, and what they mean without an automaton.

use std::collections::BTreeSet;

pub use crate::dice::Random;
use retape::contract::order::{Expression, Place, Times};

/// An expression in which each of the tags stands once.
pub fn sore(random: &mut Random, tags: &[String]) -> Expression {
    let inner = match tags {
        [tag] => Expression::tag(tag),
        _ => {
            let cut = 1 + random.below(tags.len() - 1);
            let (left, right) = tags.split_at(cut);
            let parts = [sore(random, left), sore(random, right)];
            if random.chance(60) { Expression::sequence(parts) } else { Expression::choice(parts) }
        }
    };
    let times = [Times::OPTIONAL, Times::ANY, Times::SOME];
    if random.chance(35) { inner.repeated(times[random.below(3)]) } else { inner }
}

/// An expression with interleaving, counting and repeated tags.
pub fn any(random: &mut Random, depth: usize) -> Expression {
    if depth == 0 || random.chance(25) {
        return Expression::tag(["a", "b", "c"][random.below(3)]);
    }
    let parts: Vec<Expression> = (0..2).map(|_| any(random, depth - 1)).collect();
    let counted = Times { min: random.below(2) as u32 + 1, max: Some(random.below(2) as u32 + 2) };
    match random.below(6) {
        5 => ending(any(random, depth - 1), random),
        0 => Expression::choice(parts),
        1 => Expression::interleaved(parts),
        2 => any(random, depth - 1).repeated(counted),
        3 => {
            let times = [Times::OPTIONAL, Times::ANY, Times::SOME][random.below(3)];
            any(random, depth - 1).repeated(times)
        }
        _ => Expression::sequence(parts),
    }
}

/// An expression of which the last event is one of some that it may be.
fn ending(all: Expression, random: &mut Random) -> Expression {
    let last: Vec<&str> = ["a", "b", "c"].into_iter().filter(|_| random.chance(50)).collect();
    let short = (0..4).fold(vec![Vec::new()], |words: Vec<Vec<&str>>, _| {
        let longer = |word: &Vec<&'static str>| {
            ["a", "b", "c"].map(|tag| [word.as_slice(), &[tag]].concat())
        };
        let longer: Vec<Vec<&str>> = words.iter().flat_map(longer).collect();
        [words, longer].concat()
    });
    let ended = all.clone().ending(Expression::choice(last.iter().copied().map(Expression::tag)));
    let is_kept = |word: &Vec<&str>| ends(&ended, word, 0).contains(&word.len());
    if !last.is_empty() && short.iter().any(is_kept) { ended } else { all }
}

pub fn tags(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("t{number}")).collect()
}

/// A word over some tags.
pub fn word<'t>(random: &mut Random, tags: &'t [String], longest: usize) -> Vec<&'t str> {
    (0..random.below(longest + 1)).map(|_| tags[random.below(tags.len())].as_str()).collect()
}

/// Where a match of an expression that begins at `from` can end, by the definition.
pub fn ends(expression: &Expression, word: &[&str], from: usize) -> BTreeSet<usize> {
    match expression {
        Expression::Nothing => BTreeSet::from([from]),
        Expression::Event(pattern) => {
            let found = word.get(from).is_some_and(|tag| pattern.tag.as_deref() == Some(*tag));
            found.then_some(from + 1).into_iter().collect()
        }
        Expression::Sequence(parts) => parts.iter().fold(BTreeSet::from([from]), |starts, part| {
            starts.into_iter().flat_map(|start| ends(part, word, start)).collect()
        }),
        Expression::Choice(parts) => parts.iter().flat_map(|part| ends(part, word, from)).collect(),
        Expression::Interleaved(parts) => {
            let to = |to: &usize| mixes(parts, &word[from..*to]);
            (from..=word.len()).filter(to).collect()
        }
        Expression::Repeated(inner, times) => repeated(inner, *times, word, from),
        Expression::Ending(all, last) => {
            let ends_well = |to: &usize| match *to == from {
                true => last.is_nullable(),
                false => ends(last, word, to - 1).contains(to),
            };
            ends(all, word, from).into_iter().filter(ends_well).collect()
        }
        other => panic!("no meaning of {other} here"),
    }
}

fn repeated(inner: &Expression, times: Times, word: &[&str], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut starts = BTreeSet::from([from]);
    let most = times.max.unwrap_or(times.min + word.len() as u32 + 1);
    for count in 0..=most {
        if count >= times.min {
            found.extend(&starts);
        }
        starts = starts.into_iter().flat_map(|start| ends(inner, word, start)).collect();
    }
    found
}

/// Whether a word is a mixture of words of the parts: each way to deal out its letters is tried.
fn mixes(parts: &[Expression], word: &[&str]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return word.is_empty() };
    (0..1_u32 << word.len()).any(|dealt| {
        let pick = |ours: bool| -> Vec<&str> {
            let letters = word.iter().enumerate();
            letters.filter(|(at, _)| (dealt >> at & 1 == 1) == ours).map(|(_, tag)| *tag).collect()
        };
        let ours = pick(true);
        ends(first, &ours, 0).contains(&ours.len()) && mixes(rest, &pick(false))
    })
}

/// The neighbours that an expression without repeated tags allows, found apart from the library's.
pub fn pairs(expression: &Expression) -> BTreeSet<(Place<'_>, Place<'_>)> {
    let mut found = BTreeSet::new();
    let (nullable, first, last) = ends_of(expression, &mut found);
    found.extend(first.iter().map(|tag| (Place::Start, Place::Tag(tag))));
    found.extend(last.iter().map(|tag| (Place::Tag(tag), Place::End)));
    if nullable {
        found.insert((Place::Start, Place::End));
    }
    found
}

type Ends<'e> = (bool, Vec<&'e str>, Vec<&'e str>);

fn ends_of<'e>(
    expression: &'e Expression,
    found: &mut BTreeSet<(Place<'e>, Place<'e>)>,
) -> Ends<'e> {
    match expression {
        Expression::Event(pattern) => {
            let tag = pattern.tag.as_deref().unwrap();
            (false, vec![tag], vec![tag])
        }
        Expression::Repeated(inner, times) => {
            let (nullable, first, last) = ends_of(inner, found);
            if times.max.is_none() {
                for one in &last {
                    found.extend(first.iter().map(|other| (Place::Tag(one), Place::Tag(other))));
                }
            }
            (nullable || times.min == 0, first, last)
        }
        Expression::Choice(parts) => {
            parts.iter().fold((false, vec![], vec![]), |(nullable, first, last), part| {
                let next = ends_of(part, found);
                (nullable || next.0, [first, next.1].concat(), [last, next.2].concat())
            })
        }
        Expression::Sequence(parts) => {
            let mut all: Ends<'e> = (true, vec![], vec![]);
            let parts: Vec<Ends<'e>> = parts.iter().map(|part| ends_of(part, found)).collect();
            let mut cross = |from: &[&'e str], to: &[&'e str]| {
                for one in from {
                    found.extend(to.iter().map(|other| (Place::Tag(one), Place::Tag(other))));
                }
            };
            for (nullable, first, last) in parts {
                cross(&all.2, &first);
                if all.0 {
                    all.1.extend(&first);
                }
                all.2 = if nullable { [all.2, last].concat() } else { last };
                all.0 &= nullable;
            }
            all
        }
        Expression::Nothing => (true, vec![], vec![]),
        Expression::Ending(all, last) => {
            let (nullable, first, lasts) = ends_of(all, found);
            let mut none = BTreeSet::new();
            let (may_be_empty, allowed, _) = ends_of(last, &mut none);
            let lasts = lasts.into_iter().filter(|tag| allowed.contains(tag)).collect();
            (nullable && may_be_empty, first, lasts)
        }
        other => panic!("no pairs of {other} here"),
    }
}
