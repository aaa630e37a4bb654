//! How many recordings show what a promise allows and does not require.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::loss::{Loss, Lost};
use super::rows::identity;
use super::schema::{Array, Field, Fields, Object, Presence, Schema, Text};
use super::tuple;
use crate::text::json;

/// Who has shown something: a recording, and the row of a list or the resource in which it stands. What says the same
/// in many answers counts once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct EvidenceSource {
    recording: u32,
    row: u64,
}

impl EvidenceSource {
    /// A recording.
    pub(crate) fn recording(recording: u32) -> Self {
        Self { recording, row: u64::from(recording) }
    }

    /// A value of it, which may be one that several say.
    pub(crate) fn within(self, value: json::Text<'_>) -> Self {
        let row = identity(value).map(|_| FixedState::default().hash_one(value.as_str()));
        Self { row: row.unwrap_or(self.row), ..self }
    }
}

/// Independent recordings, each with what it says once.
#[derive(Default)]
pub(crate) struct Recordings {
    all: BTreeSet<u32>,
    rows: BTreeSet<u64>,
}

impl Recordings {
    pub(crate) fn insert(&mut self, source: EvidenceSource) {
        self.all.insert(source.recording);
        self.rows.insert(source.row);
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len().min(self.rows.len())
    }

    /// How many they are, though all of them say the same.
    pub(crate) fn conversations(&self) -> usize {
        self.all.len()
    }
}

/// How many independent recordings show something, of those that could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Those that show it.
    pub seen: usize,
    /// Those that have something where it could be.
    pub all: usize,
}

/// The values that were seen at a place of a promise: which recordings show each of the things that it allows.
#[derive(Default)]
pub(crate) struct Census<'s> {
    /// Whether there is anything to count in it.
    pub(crate) counts: bool,
    values: Recordings,
    strings: Recordings,
    objects: Recordings,
    choices: Vec<(Choice<'s>, Recordings)>,
    booleans: Recordings,
    /// Lists, or objects whose names are data, and those in which something stands; and how a place in them is written.
    filled: Option<(&'static str, [Recordings; 2])>,
    elements: Option<Box<Self>>,
    fields: BTreeMap<&'s str, (&'s Field, Self)>,
    /// The members whose names are data.
    rest: Option<Box<Self>>,
    /// What tells objects apart, and those that say each word there.
    branches: Option<(&'s str, BTreeMap<&'s str, Self>)>,
}

/// What a value may be.
enum Choice<'s> {
    /// Of this type, where there are several.
    Type(Schema),
    Truth(bool),
    Word(&'s str),
}

impl<'s> Census<'s> {
    /// Of a promise of which nothing was seen yet.
    pub(crate) fn of(schema: &'s Schema) -> Self {
        let types = schema.types();
        let types = if types.len() > 1 { types } else { Vec::new() };
        let types = types.into_iter().map(Choice::Type);
        let truths = [true, false].into_iter().filter(|_| schema.boolean).map(Choice::Truth);
        let words = match &schema.string {
            // What always says the same says something new where it does not.
            Some(Text::Of(formats, words)) if formats.is_empty() && words.len() == 1 => None,
            Some(Text::Open(words) | Text::Of(_, words)) => Some(words),
            _ => None,
        };
        let words = words.into_iter().flatten().map(|word| Choice::Word(word));
        let choices =
            types.chain(truths).chain(words).map(|it| (it, Recordings::default())).collect();
        let elements = schema.elements().and_then(Self::of_any);
        let mut object = schema.object.as_deref().map(Self::of_object).unwrap_or_default();
        if let Some(Array::Tuple(places)) = schema.array.as_deref() {
            object.fields.extend(Self::of_fields(places));
        }
        let lists = schema.elements().map(|_| ("[]", Default::default()));
        let filled = lists.or(object.filled);
        Self { choices, filled, elements, ..object }.told()
    }

    /// The same, if there is anything to count in it.
    fn of_any(schema: &'s Schema) -> Option<Box<Self>> {
        let census = Self::of(schema);
        census.counts.then(|| Box::new(census))
    }

    /// With whether there is anything to count in it: to read the rest would take as long.
    fn told(self) -> Self {
        let is_counted = |(field, inside): &(&Field, Self)| {
            field.presence == Presence::Optional || inside.counts
        };
        let counts = !self.choices.is_empty()
            || self.filled.is_some()
            || self.rest.is_some()
            || self.branches.is_some()
            || self.fields.values().any(is_counted);
        Self { counts, ..self }
    }

    fn of_object(object: &'s Object) -> Self {
        match object {
            Object::Plain(plain) => {
                let fields = Self::of_fields(plain).collect();
                let rest = plain.rest.as_ref().and_then(|rest| Self::of_any(&rest.schema));
                let is_map = plain.rest.is_some() && plain.fields.is_empty();
                let filled = is_map.then(|| ("{}", Default::default()));
                Self { fields, filled, rest, ..Self::default() }.told()
            }
            Object::Union(union) => {
                let branches = union.branches.iter();
                let branches =
                    branches.map(|(word, it)| (word.as_str(), Self::of_object(it))).collect();
                Self { branches: Some((&union.tag, branches)), ..Self::default() }.told()
            }
        }
    }

    fn of_fields(fields: &'s Fields) -> impl Iterator<Item = (&'s str, (&'s Field, Self))> {
        fields.fields.iter().map(|(name, it)| (name.as_str(), (it, Self::of(&it.schema))))
    }

    /// Looks at a value of a recording.
    pub(crate) fn see(&mut self, value: json::Text<'_>, source: EvidenceSource) {
        self.values.insert(source);
        if !self.counts {
            return;
        }
        let string = value.string();
        if string.is_some() {
            self.strings.insert(source);
        }
        if matches!(value.as_str(), "true" | "false") {
            self.booleans.insert(source);
        }
        for (choice, seen) in &mut self.choices {
            let is_shown = match choice {
                Choice::Type(schema) => schema.is_of_type(value),
                Choice::Truth(truth) => value.as_str() == if *truth { "true" } else { "false" },
                Choice::Word(word) => string.as_deref() == Some(*word),
            };
            if is_shown {
                seen.insert(source);
            }
        }
        match value.container() {
            Some(json::Container::Array) => {
                self.see_filled("[]", value.elements().next().is_some(), source);
                if let Some(inside) = &mut self.elements {
                    value.elements().for_each(|it| inside.see(it, source.within(it)));
                }
                for (name, (_, inside)) in &mut self.fields {
                    let place = tuple::index(name).and_then(|index| value.elements().nth(index));
                    place.into_iter().for_each(|it| inside.see(it, source));
                }
            }
            Some(json::Container::Object) => self.see_object(value, source),
            None => {}
        }
    }

    fn see_object(&mut self, object: json::Text<'_>, source: EvidenceSource) {
        self.objects.insert(source);
        if let Some((tag, branches)) = &mut self.branches {
            let word = object.get(tag).and_then(json::Text::string);
            let branch = word.and_then(|word| branches.get_mut(&*word));
            branch.into_iter().for_each(|it| it.see_object(object, source));
            return;
        }
        if !self.counts {
            return;
        }
        self.see_filled("{}", object.members().next().is_some(), source);
        for (name, value) in object.members() {
            match (self.fields.get_mut(&*name), &mut self.rest) {
                (Some((field, inside)), _) => {
                    if inside.counts || field.presence == Presence::Optional {
                        inside.see(value, source);
                    }
                }
                (None, Some(rest)) => rest.see(value, source),
                (None, None) => {}
            }
        }
    }

    /// Counts a list or an object, and whether something stands in it.
    fn see_filled(&mut self, inside: &str, is_filled: bool, source: EvidenceSource) {
        if let Some((_, [all, filled])) = self.filled.as_mut().filter(|(it, _)| *it == inside) {
            all.insert(source);
            if is_filled {
                filled.insert(source);
            }
        }
    }

    /// How many show each thing that need not be there, as what it would be not to see it any more.
    pub(crate) fn shares(&self) -> Vec<(Loss, Share)> {
        let mut found = Vec::new();
        self.tell(&mut Vec::new(), &mut found);
        found
    }

    fn tell(&self, place: &mut Vec<String>, found: &mut Vec<(Loss, Share)>) {
        let mut add = |place: &[String], what, seen: &Recordings, all: &Recordings| {
            let share = Share { seen: seen.len(), all: all.len() };
            found.push((Loss { place: place.to_vec(), what }, share));
        };
        for (choice, seen) in &self.choices {
            let (gone, all) = match choice {
                Choice::Type(schema) => (Lost::Types(schema.clone()), &self.values),
                Choice::Truth(truth) => (Lost::Truth(*truth), &self.booleans),
                Choice::Word(word) => (Lost::Value((*word).to_owned()), &self.strings),
            };
            add(place, gone, seen, all);
        }
        if let Some((inside, [all, filled])) = &self.filled {
            let place = [place.as_slice(), &[(*inside).to_owned()]].concat();
            add(&place, Lost::Content, filled, all);
        }
        for (name, (field, inside)) in &self.fields {
            if field.presence == Presence::Optional {
                let place = [place.as_slice(), &[(*name).to_owned()]].concat();
                add(&place, field.lost(), &inside.values, &self.objects);
            }
        }
        if let Some((tag, branches)) = &self.branches {
            for (word, inside) in branches {
                let gone = Lost::Kind((*tag).to_owned(), (*word).to_owned());
                add(place, gone, &inside.objects, &self.objects);
            }
        }
        let fields = self.fields.iter().map(|(name, (_, inside))| (*name, inside));
        let branches = self.branches.iter().flat_map(|(_, it)| it.iter().map(|(it, of)| (*it, of)));
        let elements = self.elements.iter().map(|inside| ("[]", &**inside));
        let rest = self.rest.iter().map(|inside| ("{}", &**inside));
        for (step, inside) in fields.chain(branches).chain(elements).chain(rest) {
            place.push(step.to_owned());
            inside.tell(place, found);
            place.pop();
        }
    }
}

impl Schema {
    /// Whether a value is of the only type that it allows.
    fn is_of_type(&self, value: json::Text<'_>) -> bool {
        match json::kind(value.as_str()) {
            Some("array") => self.array.is_some(),
            Some("object") => self.object.is_some(),
            Some("null") => self.null,
            Some("boolean") => self.boolean,
            Some("string") => self.string.is_some(),
            _ => self.number.is_some() || !self.codes.is_empty(),
        }
    }
}
