//! Values of a new recording in the words of the old one.

use super::settle::Settle;
use crate::compare::alignment::{Kind, Member, Node, Record, elements, members};

/// Writes values of the new text, beside those of the old one where they correspond.
pub(super) struct Render<'a> {
    pub(super) settle: Settle<'a>,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) out: String,
}

impl<'a> Render<'a> {
    pub(super) fn record(mut self, old: Option<&Record>, new: &Record) -> String {
        let parts = old.filter(|old| old.parts.len() == new.parts.len()).map(|old| &old.parts);
        let mut rest = new.range.start;
        for (number, part) in new.parts.iter().enumerate() {
            self.between(rest, part.range.start);
            self.value(parts.map(|parts| &parts[number]), part);
            rest = part.range.end;
        }
        self.between(rest, new.range.end);
        self.out
    }

    fn value(&mut self, old: Option<&Node>, new: &Node) {
        match (old.map(|old| (old, &old.kind)), &new.kind) {
            (Some((old, Kind::Leaf(before))), Kind::Leaf(now)) => {
                let (before, now) = (old.said(before, self.old), new.said(now, self.new));
                let settled = self.settle.text(&before, &now);
                self.out.push_str(&settled);
            }
            (Some((_, Kind::Object(olds))), Kind::Object(news)) => self.object(olds, news, new),
            (Some((_, Kind::Array { items: olds, is_set })), Kind::Array { items: news, .. }) => {
                self.array(olds, news, new, *is_set);
            }
            _ => self.named(new.range.start, new.range.end),
        }
    }

    fn object(&mut self, olds: &[Member], news: &[Member], whole: &Node) {
        let mut rest = whole.range.start;
        for (member, partner) in news.iter().zip(members(olds, news)) {
            self.between(rest, member.key.range.start);
            self.value(partner.map(|partner| &partner.key), &member.key);
            self.between(member.key.range.end, member.value.range.start);
            self.value(partner.map(|partner| &partner.value), &member.value);
            rest = member.value.range.end;
        }
        self.between(rest, whole.range.end);
    }

    fn array(&mut self, olds: &[Node], news: &[Node], whole: &Node, is_set: bool) {
        let partners = elements(olds, news, is_set);
        let order = if is_set { as_before(&partners) } else { (0..news.len()).collect() };
        let mut rest = whole.range.start;
        for (place, item) in news.iter().zip(order) {
            self.between(rest, place.range.start);
            self.value(partners[item].map(|partner| &olds[partner]), &news[item]);
            rest = place.range.end;
        }
        self.between(rest, whole.range.end);
    }

    /// What stands between values: white space and punctuation.
    fn between(&mut self, start: usize, end: usize) {
        self.out.push_str(&self.new[start..end]);
    }

    fn named(&mut self, start: usize, end: usize) {
        let named = self.settle.named(&self.new[start..end]);
        self.out.push_str(&named);
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
