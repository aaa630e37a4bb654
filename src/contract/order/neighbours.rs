//! Which tags an expression lets stand beside one another (Glushkov's first, last and follow).

use std::collections::{BTreeMap, BTreeSet};

use super::Order;
use super::Place;
use super::expression::Expression;
use crate::message::DONE;

/// Two tags, one directly behind the other; none for the beginning and the end.
pub type Neighbours = (Option<String>, Option<String>);

/// Pairs of neighbours. For an expression in which each tag stands once, without interleaving and
/// counting, they are its language.
pub(super) type Pairs<'e> = BTreeSet<(Place<'e>, Place<'e>)>;

impl Order {
    /// All tags that it knows; `_` where any may come.
    pub fn tags(&self) -> BTreeSet<String> {
        let tags = tags(self.expression()).into_iter().map(str::to_owned);
        tags.chain(self.anywhere().iter().cloned()).collect()
    }

    /// With which tags a trace may end, none for one of nothing; what stands before `[DONE]`, as that says nothing.
    pub(crate) fn ends(&self) -> BTreeSet<Option<String>> {
        let pairs = pairs(self.expression());
        last(&pairs).into_iter().map(|place| place.tag().map(str::to_owned)).collect()
    }

    /// Which tags may directly follow each other, also in slices and where slices meet.
    pub fn neighbours(&self) -> BTreeSet<Neighbours> {
        let tag = |place: Place<'_>| place.tag().map(str::to_owned);
        pairs(self.expression()).into_iter().map(|(from, to)| (tag(from), tag(to))).collect()
    }
}

fn tags(expression: &Expression) -> BTreeSet<&str> {
    match expression {
        Expression::Nothing => BTreeSet::new(),
        Expression::Event(pattern) => BTreeSet::from([pattern.tag_or_any()]),
        Expression::Sequence(parts)
        | Expression::Choice(parts)
        | Expression::Interleaved(parts) => parts.iter().flat_map(tags).collect(),
        Expression::Repeated(inner, _) => tags(inner),
        Expression::Slice(slice) => tags(&slice.each),
        Expression::Ending(all, _) => tags(all),
    }
}

/// The neighbours that an expression allows. Guards are not looked into.
pub(super) fn pairs(expression: &Expression) -> Pairs<'_> {
    let mut pairs = Pairs::new();
    let whole = Ends::of(expression, &mut pairs);
    pairs.extend(whole.first.iter().map(|place| (Place::Start, *place)));
    pairs.extend(whole.last.iter().map(|place| (*place, Place::End)));
    if whole.nullable {
        pairs.insert((Place::Start, Place::End));
    }
    // What leads to no end that is allowed stands beside nothing.
    let mut before: BTreeMap<Place<'_>, Vec<Place<'_>>> = BTreeMap::new();
    pairs.iter().for_each(|(from, to)| before.entry(*to).or_default().push(*from));
    let (mut leading, mut open) = (BTreeSet::from([Place::End]), vec![Place::End]);
    while let Some(place) = open.pop() {
        let all = before.get(&place).into_iter().flatten();
        open.extend(all.filter(|from| leading.insert(**from)));
    }
    pairs.retain(|(_, to)| leading.contains(to));
    pairs
}

/// What stands before the end, or before a `[DONE]` that stands there.
pub(super) fn last<'e>(pairs: &Pairs<'e>) -> BTreeSet<Place<'e>> {
    let before = |place| pairs.iter().filter(move |pair| pair.1 == place).map(|pair| pair.0);
    let done = before(Place::End).filter(|last| *last == Place::Tag(DONE)).flat_map(before);
    before(Place::End).filter(|last| *last != Place::Tag(DONE)).chain(done).collect()
}

/// What a part of an expression can begin and end with.
#[derive(Default)]
struct Ends<'e> {
    nullable: bool,
    first: BTreeSet<Place<'e>>,
    last: BTreeSet<Place<'e>>,
}

impl<'e> Ends<'e> {
    fn of(expression: &'e Expression, pairs: &mut Pairs<'e>) -> Self {
        match expression {
            Expression::Nothing => Self::nothing(),
            Expression::Event(pattern) => {
                let ends = BTreeSet::from([Place::Tag(pattern.tag_or_any())]);
                Self { nullable: false, first: ends.clone(), last: ends }
            }
            // A slice has an event, or nobody would know of it.
            Expression::Slice(slice) => Self { nullable: false, ..Self::of(&slice.each, pairs) },
            Expression::Sequence(parts) => parts.iter().fold(Self::nothing(), |all, part| {
                let part = Self::of(part, pairs);
                connect(&all.last, &part.first, pairs);
                all.then(part)
            }),
            Expression::Choice(parts) => {
                parts.iter().fold(Self::default(), |all, part| all.or(Self::of(part, pairs)))
            }
            Expression::Interleaved(parts) => Self::interleaved(parts, pairs),
            Expression::Ending(all, last) => {
                let (mut all, is_nullable) = (Self::of(all, pairs), last.is_nullable());
                let last = tags(last);
                let ends = |place: &Place<'_>| place.tag().is_some_and(|tag| last.contains(tag));
                let done = Place::Tag(DONE);
                pairs.retain(|(from, to)| *to != done || ends(from));
                all.last.retain(|place| *place == done || ends(place));
                all.nullable &= is_nullable;
                all
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

    /// What stands in one part may stand beside anything of the others.
    fn interleaved(parts: &'e [Expression], pairs: &mut Pairs<'e>) -> Self {
        let places = |part| tags(part).into_iter().map(Place::Tag).collect::<BTreeSet<_>>();
        let mut all = Self::nothing();
        for (number, part) in parts.iter().enumerate() {
            for other in &parts[..number] {
                connect(&places(other), &places(part), pairs);
                connect(&places(part), &places(other), pairs);
            }
            let part = Self::of(part, pairs);
            all = Self { nullable: all.nullable && part.nullable, ..all.or(part) };
        }
        all
    }

    fn nothing() -> Self {
        Self { nullable: true, ..Self::default() }
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
}

fn connect<'e>(from: &BTreeSet<Place<'e>>, to: &BTreeSet<Place<'e>>, pairs: &mut Pairs<'e>) {
    pairs.extend(from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))));
}
