//! Two recordings side by side, value by value.

use super::sequence;
use super::view::Script;
use super::{Field, Kind, Member, Node, Record, Said, View};
use crate::cassette::Headers;
use crate::text::sequence::Step;

/// Walks through two interactions and tells each pair of texts in the same place, the old one first.
pub(crate) fn walk<'v>(
    old: &'v View<'_>,
    new: &'v View<'_>,
    told: &mut impl FnMut(Said<'v>, Said<'v>),
) {
    through(old, new, &|_, _| false, told);
}

/// The same without values in which, on one of the sides, no word is another in every recording.
pub(super) fn walk_words<'v>(
    old: &'v View<'_>,
    new: &'v View<'_>,
    told: &mut impl FnMut(Said<'v>, Said<'v>),
) {
    through(old, new, &|old, new| !(old.has_words && new.has_words), told);
}

/// Whether two values are passed by, with all below them.
type Passed<'p> = &'p dyn Fn(&Node, &Node) -> bool;

fn through<'v>(
    old: &'v View<'_>,
    new: &'v View<'_>,
    passed: Passed<'_>,
    told: &mut impl FnMut(Said<'v>, Said<'v>),
) {
    let (one, other) = (&old.interaction.request, &new.interaction.request);
    told(Said::of(&one.path, Field::ID), Said::of(&other.path, Field::ID));
    headers(&one.headers, &other.headers, told);
    scripts(&old.asked, &new.asked, passed, told);
    if let (Some(one), Some(other)) = (old.interaction.response(), new.interaction.response()) {
        headers(&one.headers, &other.headers, told);
    }
    if let (Some(one), Some(other)) = (&old.answered, &new.answered) {
        scripts(one, other, passed, told);
    }
}

fn headers<'v>(old: &'v Headers, new: &'v Headers, told: &mut impl FnMut(Said<'v>, Said<'v>)) {
    for (name, value) in new.iter() {
        let before = new.iter().take_while(|(_, other)| !std::ptr::eq(*other, value));
        let nth = before.filter(|(other, _)| other.eq_ignore_ascii_case(name)).count();
        let partner = old.get_all(name).nth(nth);
        let text = |value: &'v bytes::Bytes| std::str::from_utf8(value).ok();
        if let (Some(old), Some(new)) = (partner.and_then(text), text(value)) {
            let field = Field::of(name);
            told(Said::of(old, field), Said::of(new, field));
        }
    }
}

fn scripts<'v>(
    old: &'v Script,
    new: &'v Script,
    passed: Passed<'_>,
    told: &mut impl FnMut(Said<'v>, Said<'v>),
) {
    let (Some(one), Some(other)) = (old.as_str(), new.as_str()) else { return };
    let [olds, news] = [old, new].map(|script| script.records.iter().collect::<Vec<&Record>>());
    for step in sequence::records(&olds, &news) {
        let Step::Both(at, with) = step else { continue };
        for (old, new) in olds[at].parts.iter().zip(&news[with].parts) {
            nodes((one, old), (other, new), passed, told);
        }
    }
}

fn nodes<'v>(
    (one, old): (&'v str, &'v Node),
    (other, new): (&'v str, &'v Node),
    passed: Passed<'_>,
    told: &mut impl FnMut(Said<'v>, Said<'v>),
) {
    if passed(old, new) {
        return;
    }
    match (&old.kind, &new.kind) {
        (Kind::Leaf(before), Kind::Leaf(now)) => told(old.said(before, one), new.said(now, other)),
        (Kind::Object(olds), Kind::Object(news)) => {
            for (member, partner) in news.iter().zip(members(olds, news)) {
                let Some(partner) = partner else { continue };
                nodes((one, &partner.key), (other, &member.key), passed, told);
                nodes((one, &partner.value), (other, &member.value), passed, told);
            }
        }
        (Kind::Array { items: olds, is_set }, Kind::Array { items: news, .. }) => {
            for (item, partner) in news.iter().zip(elements(olds, news, *is_set)) {
                if let Some(partner) = partner {
                    nodes((one, &olds[partner]), (other, item), passed, told);
                }
            }
        }
        _ => {}
    }
}

/// For each new member the old one of the same name; of a name that comes again, one after the other.
pub(crate) fn members<'n>(old: &'n [Member], new: &[Member]) -> Vec<Option<&'n Member>> {
    let mut taken = vec![false; old.len()];
    let mut next = 0;
    new.iter()
        .map(|member| {
            // Mostly they come in the same order.
            let ahead = (next..old.len()).chain(0..next);
            let same = |at: &usize| !taken[*at] && old[*at].key.hash == member.key.hash;
            let found = ahead.into_iter().find(same)?;
            taken[found] = true;
            next = found + 1;
            Some(&old[found])
        })
        .collect()
}

/// For each new element the number of the old one that it corresponds to.
pub(crate) fn elements(old: &[Node], new: &[Node], is_set: bool) -> Vec<Option<usize>> {
    let mut found = vec![None; new.len()];
    let mut taken = vec![false; old.len()];
    if is_set {
        for (item, found) in new.iter().zip(&mut found) {
            let same = |at: &usize| !taken[*at] && old[*at].hash == item.hash;
            *found = (0..old.len()).find(same);
            found.iter().for_each(|at| taken[*at] = true);
        }
    }
    let left = |at: &usize| !is_set || !taken[*at];
    let olds: Vec<usize> = (0..old.len()).filter(left).collect();
    let news: Vec<usize> = (0..new.len()).filter(|at| found[*at].is_none()).collect();
    let ones: Vec<&Node> = olds.iter().map(|at| &old[*at]).collect();
    let others: Vec<&Node> = news.iter().map(|at| &new[*at]).collect();
    for step in sequence::nodes(&ones, &others) {
        if let Step::Both(one, other) = step {
            found[news[other]] = Some(olds[one]);
        }
    }
    found
}
