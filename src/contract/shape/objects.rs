//! The objects seen at one place.

use std::cmp::Ordering;

use super::format::{ID, UUID};
use super::learn::Shape;
use super::sample::{Member, Said};
use super::strings::Looks;
use super::tags::{Tag, Tags};
use super::witness::{Tally, Witness, Witnesses};

/// With more names than that, names are data.
const MOST_FIELDS: usize = 256;

/// What the objects of a place have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Objects {
    pub(super) tally: Tally,
    /// The fields by name.
    pub(super) fields: Vec<Field>,
    /// The members whose names are data: those that were minted, or all where there are too many.
    pub(super) rest: Option<Box<Rest>>,
    /// The fields that may tell the objects apart.
    pub(super) tags: Tags,
    /// Whether there were too many names.
    crowded: bool,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    /// The last place that it had among the fields of an object.
    pub(super) position: u32,
    pub(super) present: Tally,
    /// Some objects that do not have it.
    pub(super) absent: Witnesses,
    pub(super) shape: Shape,
}

/// The members whose names are data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rest {
    pub(super) tally: Tally,
    pub(super) names: Looks,
    pub(super) shape: Shape,
}

impl Objects {
    /// Adds an object, whose members are in the order of their names.
    pub(super) fn add(&mut self, members: &[Member<'_>], witness: Witness, room: u8) {
        let mut tags = std::mem::take(&mut self.tags);
        if self.tally.is_seen() {
            tags.add(self, members, witness, room);
        } else {
            tags = Tags::of(members);
        }
        self.tags = tags;
        let before = self.tally.witnesses;
        self.tally.add(witness);
        let mut at = 0;
        for member in members {
            if self.crowded || is_data(&member.name) {
                self.rest.get_or_insert_default().add(member, witness, room);
                continue;
            }
            at = self.pass(at, &member.name, witness);
            if self.fields.get(at).is_none_or(|field| *field.name != *member.name) {
                self.fields.insert(at, Field::new(&member.name, before));
            }
            self.fields[at].add(member, witness, room);
            at += 1;
        }
        self.pass_all(at, witness);
        self.crowd(room);
    }

    /// The same for all the objects that another has seen.
    pub(super) fn join(&mut self, other: &Self, room: u8) {
        if !other.tally.is_seen() {
            return;
        }
        if !self.tally.is_seen() {
            self.clone_from(other);
            return;
        }
        let tags = std::mem::take(&mut self.tags);
        self.tags = tags.join(self, other, room);
        self.join_fields(other, room);
        self.tally.merge(&other.tally);
        if let Some(rest) = &other.rest {
            self.rest.get_or_insert_default().merge(rest, room);
        }
        self.crowded |= other.crowded;
        self.crowd(room);
    }

    /// What would have been learned with less room.
    pub(super) fn limited(&self, room: u8) -> Self {
        self.with_tags(self.tags.limited(room), room)
    }

    /// The same with these tags.
    pub(super) fn with_tags(&self, tags: Tags, room: u8) -> Self {
        let limited = |field: &Field| Field {
            name: field.name.clone(),
            shape: field.shape.limited(room),
            ..*field
        };
        let rest = self.rest.as_ref().map(|rest| {
            let names = rest.names.clone();
            Box::new(Rest { tally: rest.tally, names, shape: rest.shape.limited(room) })
        });
        let fields = self.fields.iter().map(limited).collect();
        Self { tally: self.tally, fields, rest, tags, crowded: self.crowded }
    }

    fn join_fields(&mut self, other: &Self, room: u8) {
        let own = std::mem::take(&mut self.fields);
        let mut theirs = other.fields.iter().peekable();
        for mut field in own {
            while let Some(new) = theirs.next_if(|theirs| theirs.name < field.name) {
                self.fields.push(new.missed_by(&self.tally));
            }
            match theirs.next_if(|theirs| theirs.name == field.name) {
                Some(same) => field.merge(same, room),
                None => field.absent.merge(&other.tally.witnesses),
            }
            self.fields.push(field);
        }
        let new: Vec<Field> = theirs.map(|field| field.missed_by(&self.tally)).collect();
        self.fields.extend(new);
    }

    /// Passes the fields before a name: the object does not have them.
    fn pass(&mut self, from: usize, name: &str, witness: Witness) -> usize {
        let rest = &mut self.fields[from..];
        let before = rest.iter().take_while(|field| (*field.name).cmp(name) == Ordering::Less);
        let to = from + before.count();
        self.fields[from..to].iter_mut().for_each(|field| field.absent.add(witness));
        to
    }

    fn pass_all(&mut self, from: usize, witness: Witness) {
        self.fields[from..].iter_mut().for_each(|field| field.absent.add(witness));
    }

    /// Gives up names as soon as there are too many.
    fn crowd(&mut self, room: u8) {
        self.crowded |= self.fields.len() > MOST_FIELDS;
        if !self.crowded {
            return;
        }
        self.tags = Tags::default();
        let rest = self.rest.get_or_insert_default();
        for field in self.fields.drain(..) {
            rest.names.add(&Said::of(field.name.as_ref().into()));
            rest.tally.merge(&field.present);
            rest.shape.join(&field.shape, room);
        }
    }
}

impl Field {
    fn new(name: &str, absent: Witnesses) -> Self {
        let (present, shape) = (Tally::default(), Shape::default());
        Self { name: name.into(), position: 0, present, absent, shape }
    }

    fn add(&mut self, member: &Member<'_>, witness: Witness, room: u8) {
        self.position = self.position.max(member.position);
        self.present.add(witness);
        self.shape.add(&member.value, witness, room);
    }

    fn merge(&mut self, other: &Self, room: u8) {
        self.position = self.position.max(other.position);
        self.present.merge(&other.present);
        self.absent.merge(&other.absent);
        self.shape.join(&other.shape, room);
    }

    /// The same field where also these objects do not have it.
    fn missed_by(&self, objects: &Tally) -> Self {
        let mut field = self.clone();
        field.absent.merge(&objects.witnesses);
        field
    }
}

impl Rest {
    fn add(&mut self, member: &Member<'_>, witness: Witness, room: u8) {
        self.tally.add(witness);
        self.names.add(&Said::of(member.name.as_ref().into()));
        self.shape.add(&member.value, witness, room);
    }

    fn merge(&mut self, other: &Self, room: u8) {
        self.tally.merge(&other.tally);
        self.names.merge(&other.names);
        self.shape.join(&other.shape, room);
    }
}

/// Whether a name was minted.
fn is_data(name: &str) -> bool {
    name.len() >= 10 && Said::of(name.into()).formats & (ID | UUID) != 0
}

impl Tag {
    /// The value of this tag in an object, if that has one.
    pub(super) fn told<'m>(&self, members: &'m [Member<'_>]) -> Option<&'m str> {
        let at = members.binary_search_by(|member| (*member.name).cmp(&*self.field)).ok()?;
        word(&members[at])
    }
}

/// What a member says if it may be a tag.
pub(super) fn word<'m>(member: &'m Member<'_>) -> Option<&'m str> {
    match &member.value {
        super::sample::Sample::String(said) if said.is_word() => Some(&said.text),
        _ => None,
    }
}
