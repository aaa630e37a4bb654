//! Values of a new recording in the words of the old one.

use std::ops::Range;

use super::settle::Settle;
use crate::cassette::reading::Kind;
use crate::compare::alignment::{Record, Value, partners};

/// Writes values of the new text, beside those of the old one where they correspond.
pub(super) struct Render<'a> {
    pub(super) settle: Settle<'a>,
    pub(super) new: &'a str,
    pub(super) out: String,
}

impl<'a> Render<'a> {
    pub(super) fn record(mut self, old: Option<(&'a str, &'a Record)>, new: &'a Record) -> String {
        let values = new.values(self.new);
        let olds = old.map_or_else(Vec::new, |(text, old)| old.values(text));
        let is_alike = olds.len() == values.len();
        let olds = (0..values.len()).map(|at| if is_alike { Some(olds[at]) } else { None });
        let (olds, order) = (olds.collect::<Vec<_>>(), (0..values.len()).collect());
        self.all(new.range.clone(), &values, &olds, order);
        self.out
    }

    fn value(&mut self, old: Option<Value<'a>>, new: Value<'a>) {
        let range = new.node().range.clone();
        let old = match (old, old.and_then(Value::said), new.said()) {
            (_, Some(before), Some(now)) => {
                return self.out.push_str(&self.settle.text(before, now));
            }
            (Some(old), None, None) => old,
            _ => return self.out.push_str(&self.settle.named(&self.new[range])),
        };
        let (values, olds) = (new.inside(), partners(old, new));
        let order = match old.node().kind {
            Kind::Set => {
                let places = olds.iter().map(|old| old.map(|old| old.node().range.start));
                as_before(&places.collect::<Vec<_>>())
            }
            _ => (0..values.len()).collect(),
        };
        self.all(range, &values, &olds, order);
    }

    /// Writes the values within a range in an order, each where the one stood that comes then.
    fn all(
        &mut self,
        range: Range<usize>,
        values: &[Value<'a>],
        olds: &[Option<Value<'a>>],
        order: Vec<usize>,
    ) {
        let mut rest = range.start;
        for (place, at) in values.iter().zip(order) {
            let place = &place.node().range;
            // White space and punctuation.
            self.out.push_str(&self.new[rest..place.start]);
            self.value(olds[at], values[at]);
            rest = place.end;
        }
        self.out.push_str(&self.new[rest..range.end]);
    }
}

/// The elements of a set in their old order; a new one stays behind the one that it came behind.
fn as_before(partners: &[Option<usize>]) -> Vec<usize> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (item, partner) in partners.iter().enumerate() {
        match (partner, groups.last_mut()) {
            (None, Some((_, group))) => group.push(item),
            _ => groups.push((*partner, vec![item])),
        }
    }
    groups.sort_by_key(|(partner, _)| *partner);
    groups.into_iter().flat_map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_set_stand_as_before_and_new_ones_behind_their_neighbour() {
        let check = |partners: &[Option<usize>], expected: &[usize]| {
            assert_eq!(as_before(partners), expected);
        };
        check(&[Some(2), Some(0), Some(1)], &[1, 2, 0]);
        check(&[None, Some(1), None, Some(0)], &[0, 3, 1, 2]);
        check(&[], &[]);
    }
}
