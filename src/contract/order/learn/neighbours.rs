//! Which tags an expression lets stand beside one another (Glushkov's first, last and follow).

use std::collections::BTreeSet;

use super::edges::Place;
use crate::contract::order::expression::Expression;

/// Pairs of neighbours. For an expression in which each tag stands once, without interleaving and
/// counting, they are its language.
pub(super) type Neighbours<'e> = BTreeSet<(Place<'e>, Place<'e>)>;

/// The neighbours that an expression allows. Guards, slices and `_` are not looked into.
pub(super) fn neighbours(expression: &Expression) -> Neighbours<'_> {
    let mut pairs = Neighbours::new();
    let whole = Ends::of(expression, &mut pairs);
    pairs.extend(whole.first.iter().map(|place| (Place::Start, *place)));
    pairs.extend(whole.last.iter().map(|place| (*place, Place::End)));
    if whole.nullable {
        pairs.insert((Place::Start, Place::End));
    }
    pairs
}

/// What a part of an expression can begin and end with.
#[derive(Default)]
struct Ends<'e> {
    nullable: bool,
    first: BTreeSet<Place<'e>>,
    last: BTreeSet<Place<'e>>,
}

impl<'e> Ends<'e> {
    fn of(expression: &'e Expression, pairs: &mut Neighbours<'e>) -> Self {
        match expression {
            Expression::Nothing => Self::nothing(),
            Expression::Event(pattern) => Self::one(pattern.tag.as_deref().unwrap_or("_")),
            Expression::Slice(slice) => Self::one(&slice.key),
            Expression::Sequence(parts) => parts.iter().fold(Self::nothing(), |all, part| {
                let part = Self::of(part, pairs);
                connect(&all.last, &part.first, pairs);
                all.then(part)
            }),
            Expression::Choice(parts) => {
                parts.iter().fold(Self::default(), |all, part| all.or(Self::of(part, pairs)))
            }
            Expression::Interleaved(parts) => {
                parts.iter().fold(Self::nothing(), |all, part| all.beside(Self::of(part, pairs)))
            }
            Expression::Repeated(inner, times) => {
                let mut inner = Self::of(inner, pairs);
                if times.max.is_none_or(|max| max > 1) {
                    connect(&inner.last, &inner.first, pairs);
                }
                inner.nullable |= times.min == 0;
                inner
            }
        }
    }

    fn nothing() -> Self {
        Self { nullable: true, ..Self::default() }
    }

    fn one(name: &'e str) -> Self {
        let ends = BTreeSet::from([Place::Tag(name)]);
        Self { nullable: false, first: ends.clone(), last: ends }
    }

    fn then(mut self, next: Self) -> Self {
        let last = if next.nullable { &next.last | &self.last } else { next.last };
        if self.nullable {
            self.first.extend(next.first);
        }
        Self { nullable: self.nullable && next.nullable, first: self.first, last }
    }

    fn or(self, other: Self) -> Self {
        Self {
            nullable: self.nullable || other.nullable,
            first: &self.first | &other.first,
            last: &self.last | &other.last,
        }
    }

    fn beside(self, other: Self) -> Self {
        Self { nullable: self.nullable && other.nullable, ..self.or(other) }
    }
}

fn connect<'e>(from: &BTreeSet<Place<'e>>, to: &BTreeSet<Place<'e>>, pairs: &mut Neighbours<'e>) {
    pairs.extend(from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))));
}
