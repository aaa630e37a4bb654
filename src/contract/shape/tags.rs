//! The fields that may tell the objects of a place apart.
//!
//! Unions are found out late: whether a field is a tag is decided when all is seen. Until then each
//! field that could be one keeps a shape for each of its values. What a field says in *all* objects
//! so far takes no shape of its own, as it would be that of all objects.
//!
//! # Rationale
//!
//! A field that is missing in one object, that says something which is no word, or that says too many
//! different things, is no candidate, and never becomes one again. So the candidates that are left do
//! not depend on the order in which objects came or were merged.

use super::objects::{Objects, word};
use super::sample::Member;
use super::witness::Witness;

/// Fields that are tags in what servers of this kind are known to send, the most telling first.
pub(super) const KNOWN: [&str; 7] =
    ["message_type", "type", "event", "object", "kind", "role", "method"];

/// The most values of a tag of a known name, and of another one.
const MOST_KNOWN: usize = 128;
const MOST: usize = 16;

/// The candidates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tags(pub(super) Vec<Tag>);

/// A field that has said a word in every object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) field: Box<str>,
    pub(super) said: Words,
}

/// What it has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Words {
    /// Always the same.
    One(Box<str>),
    /// These, each with the objects that say it, in order.
    Many(Vec<Group>),
}

/// A word and the objects that say it.
pub(super) type Group = (Box<str>, Objects);

impl Tags {
    /// Those of the first object.
    pub(super) fn of(members: &[Member<'_>]) -> Self {
        let tag = |member: &Member<'_>| {
            let said = Words::One(word(member)?.into());
            Some(Tag { field: member.name.as_ref().into(), said })
        };
        Self(members.iter().filter_map(tag).collect())
    }

    /// Adds an object to what `before` has seen.
    pub(super) fn add(
        &mut self,
        before: &Objects,
        members: &[Member<'_>],
        witness: Witness,
        room: u8,
    ) {
        let all = self.0.iter().any(|tag| tag.splits(members)).then(|| self.clone());
        self.0.retain_mut(|tag| {
            let Some(told) = tag.told(members) else { return false };
            if let Words::One(said) = &tag.said {
                if **said == *told {
                    return true;
                }
                let Some((all, room)) = all.as_ref().zip(room.checked_sub(1)) else {
                    return false;
                };
                let objects = before.with_tags(all.limited(room), room);
                tag.said = Words::Many(vec![(said.clone(), objects)]);
            }
            tag.count(told, members, witness, room - 1)
        });
    }

    /// The candidates among the objects of both.
    pub(super) fn join(self, own: &Objects, other: &Objects, room: u8) -> Self {
        let all = self.clone();
        let joined = self.0.into_iter().filter_map(|tag| {
            let theirs = other.tags.0.iter().find(|theirs| theirs.field == tag.field)?;
            if let (Words::One(said), Words::One(same)) = (&tag.said, &theirs.said)
                && said == same
            {
                return Some(tag);
            }
            let room = room.checked_sub(1)?;
            let groups = tag.said.groups(own, &all, room);
            let groups = merged(groups, theirs.said.groups(other, &other.tags, room), room);
            let most = most(&tag.field);
            let said = Words::Many(groups);
            (said.count() <= most).then_some(Tag { field: tag.field, said })
        });
        Self(joined.collect())
    }

    /// What would be left with less room.
    pub(super) fn limited(&self, room: u8) -> Self {
        let limited = |tag: &Tag| {
            let said = match &tag.said {
                Words::One(said) => Words::One(said.clone()),
                Words::Many(groups) => {
                    let room = room.checked_sub(1)?;
                    let limited = |(said, objects): &Group| (said.clone(), objects.limited(room));
                    Words::Many(groups.iter().map(limited).collect())
                }
            };
            Some(Tag { field: tag.field.clone(), said })
        };
        Self(self.0.iter().filter_map(limited).collect())
    }
}

impl Tag {
    fn splits(&self, members: &[Member<'_>]) -> bool {
        match &self.said {
            Words::One(said) => self.told(members).is_some_and(|told| *told != **said),
            Words::Many(_) => false,
        }
    }

    /// Adds an object to its group; whether there are not too many groups.
    fn count(&mut self, told: &str, members: &[Member<'_>], witness: Witness, room: u8) -> bool {
        let Words::Many(groups) = &mut self.said else { return true };
        let at = match groups.binary_search_by(|(said, _)| (**said).cmp(told)) {
            Ok(at) => at,
            Err(_) if groups.len() == most(&self.field) => return false,
            Err(at) => {
                groups.insert(at, (told.into(), Objects::default()));
                at
            }
        };
        groups[at].1.add(members, witness, room);
        true
    }
}

impl Words {
    fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(groups) => groups.len(),
        }
    }

    /// The groups, also where all objects of `whole` are one.
    fn groups(&self, whole: &Objects, tags: &Tags, room: u8) -> Vec<Group> {
        match self {
            Self::One(said) => vec![(said.clone(), whole.with_tags(tags.limited(room), room))],
            Self::Many(groups) => groups.clone(),
        }
    }
}

fn merged(mut groups: Vec<Group>, others: Vec<Group>, room: u8) -> Vec<Group> {
    for (said, objects) in others {
        match groups.binary_search_by(|(own, _)| own.cmp(&said)) {
            Ok(at) => groups[at].1.join(&objects, room),
            Err(at) => groups.insert(at, (said, objects)),
        }
    }
    groups
}

fn most(field: &str) -> usize {
    if KNOWN.contains(&field) { MOST_KNOWN } else { MOST }
}
