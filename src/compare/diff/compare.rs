//! Two JSON values, compared place by place.

use super::align::align;
use super::tree::{Kind, Member, Tree};
use super::{Differences, Mask, Place, Sort, Value};
use crate::text::json::Text;
use crate::text::sequence::Step;

/// Compares two JSON texts.
pub(super) fn json(recorded: Text<'_>, asked: Text<'_>, mask: Mask<'_>, found: &mut Differences) {
    let (recorded, asked) = (Tree::of(recorded, mask), Tree::of(asked, mask));
    Walk { found, ours: String::new(), theirs: String::new() }.values(&recorded, &asked);
}

/// A walk through two trees side by side.
struct Walk<'f> {
    found: &'f mut Differences,
    /// The way to where it stands in what is asked.
    ours: String,
    /// The way to where it stands in what was recorded; elements of an array may be elsewhere.
    theirs: String,
}

impl Walk<'_> {
    fn values(&mut self, recorded: &Tree<'_>, asked: &Tree<'_>) {
        if recorded.exact == asked.exact {
            return;
        }
        match (&recorded.kind, &asked.kind) {
            (Kind::Object(old), Kind::Object(new)) => self.members(old, new),
            (Kind::Array(old), Kind::Array(new)) if is_reordered(old, new) => {
                self.changed(recorded, asked, Sort::Reordered);
            }
            (Kind::Array(old), Kind::Array(new)) => self.elements(old, new),
            _ if recorded.masked == asked.masked => self.changed(recorded, asked, Sort::Renamed),
            _ => self.changed(recorded, asked, Sort::Changed),
        }
    }

    fn members(&mut self, recorded: &[Member<'_>], asked: &[Member<'_>]) {
        let (pairs, taken) = paired(recorded, asked);
        for (member, partner) in recorded.iter().zip(&pairs) {
            match partner.map(|number| &asked[number]) {
                Some(partner) => self.inside(&member.name, &partner.name, |walk| {
                    walk.names(member, partner);
                    walk.values(&member.value, &partner.value);
                }),
                None => self.inside(&member.name, &member.name, |walk| {
                    walk.missing(&member.value);
                }),
            }
        }
        for (member, _) in asked.iter().zip(taken).filter(|(_, taken)| !taken) {
            self.inside(&member.name, &member.name, |walk| walk.extra(&member.value));
        }
    }

    /// Names that are the same behind the mask may differ before it.
    fn names(&mut self, recorded: &Member<'_>, asked: &Member<'_>) {
        if recorded.name != asked.name {
            let [old, new] = [&recorded.name, &asked.name].map(|name| Value::text(&**name));
            self.found.changed(Place::Json(self.ours.clone()), old, new, Sort::Renamed);
        }
    }

    fn elements(&mut self, recorded: &[Tree<'_>], asked: &[Tree<'_>]) {
        for step in align(recorded, asked) {
            match step {
                Step::Both(old, new) => {
                    self.inside(&old.to_string(), &new.to_string(), |walk| {
                        walk.values(&recorded[old], &asked[new]);
                    });
                }
                Step::Old(old) => {
                    self.inside(&old.to_string(), "", |walk| walk.missing(&recorded[old]));
                }
                Step::New(new) => {
                    self.inside("", &new.to_string(), |walk| walk.extra(&asked[new]));
                }
            }
        }
    }

    fn inside(&mut self, theirs: &str, ours: &str, work: impl FnOnce(&mut Self)) {
        let before = (self.theirs.len(), self.ours.len());
        step(&mut self.theirs, theirs);
        step(&mut self.ours, ours);
        work(self);
        self.theirs.truncate(before.0);
        self.ours.truncate(before.1);
    }

    fn changed(&mut self, recorded: &Tree<'_>, asked: &Tree<'_>, sort: Sort) {
        let at = Place::Json(self.ours.clone());
        self.found.changed(at, Value::json(recorded.text), Value::json(asked.text), sort);
    }

    fn missing(&mut self, recorded: &Tree<'_>) {
        self.found.missing(Place::Json(self.theirs.clone()), Value::json(recorded.text));
    }

    fn extra(&mut self, asked: &Tree<'_>) {
        self.found.extra(Place::Json(self.ours.clone()), Value::json(asked.text));
    }
}

/// For each recorded member the asked one that it is compared with: of the same name, and where a
/// name is repeated rather an equal one than the next. For each asked one, whether it is any's.
fn paired(recorded: &[Member<'_>], asked: &[Member<'_>]) -> (Vec<Option<usize>>, Vec<bool>) {
    let mut by_name: Vec<(u64, usize)> =
        asked.iter().enumerate().map(|(number, member)| (member.masked, number)).collect();
    by_name.sort_unstable();
    let mut taken = vec![false; asked.len()];
    let mut pairs = vec![None; recorded.len()];
    for equal in [true, false] {
        for (member, pair) in recorded.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
            let first = by_name.partition_point(|(name, _)| *name < member.masked);
            let same_name = by_name[first..].iter().take_while(|(name, _)| *name == member.masked);
            let fits = |number: &usize| {
                !taken[*number] && (!equal || asked[*number].value.masked == member.value.masked)
            };
            *pair = same_name.map(|(_, number)| *number).find(fits);
            pair.iter().for_each(|number| taken[*number] = true);
        }
    }
    (pairs, taken)
}

/// Whether both hold the same elements, in another order.
fn is_reordered(recorded: &[Tree<'_>], asked: &[Tree<'_>]) -> bool {
    let sorted = |elements: &[Tree<'_>]| {
        let mut hashes: Vec<u64> = elements.iter().map(|element| element.masked).collect();
        hashes.sort_unstable();
        hashes
    };
    let in_order = || recorded.iter().zip(asked).all(|(old, new)| old.masked == new.masked);
    recorded.len() == asked.len() && !in_order() && sorted(recorded) == sorted(asked)
}

/// One step down a JSON Pointer.
fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}
