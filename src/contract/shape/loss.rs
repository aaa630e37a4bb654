//! What a promise allows and the one after it does not.

use std::collections::BTreeSet;
use std::fmt;

use super::schema::{Array, Field, Fields, Object, Presence, Schema, Text};

/// Something that a promise allows and the one after it does not: it is not seen any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where: names of fields and branches, `[]` for elements, `[0]` for those of tuples, `{}` for members whose
    /// names are data; empty for the whole.
    pub place: Vec<String>,
    /// What.
    pub what: Lost,
}

/// What can be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// A field that every object had.
    Always,
    /// A field that some objects had: its type.
    Optional(String),
    /// Types of values.
    Types(Schema),
    /// Strings: those that are left.
    Others(Schema),
    /// A known string.
    Value(String),
    /// An integer, where few are allowed.
    Code(i64),
    /// Yes or no.
    Truth(bool),
    /// A kind of object, told by this field and what it said.
    Kind(String, String),
    /// Whatever stood in a list, or in an object whose names are data.
    Content,
}

impl Loss {
    /// The place as it is written: `tool_calls[].name`; empty for the whole.
    pub fn at(&self) -> String {
        WrittenPath(&self.place).to_string()
    }
}

/// A place as it is written.
pub(super) struct WrittenPath<'a>(pub(super) &'a [String]);

impl fmt::Display for WrittenPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let separator = if index == 0 || step.starts_with('[') { "" } else { "." };
            write!(f, "{separator}{step}")?;
        }
        Ok(())
    }
}

impl Schema {
    /// What is gone from this promise to the one after it. What stands beside something new is told only where
    /// that has a place of its own: [`gains`](Self::gains) tells what came instead.
    pub fn losses(&self, after: &Self) -> Vec<Loss> {
        let mut compare = Compare::default();
        compare.schemas(self, after);
        compare.found
    }
}

/// What has been found, and where the comparison is.
#[derive(Default)]
struct Compare {
    place: Vec<String>,
    found: Vec<Loss>,
}

impl Compare {
    fn schemas(&mut self, before: &Schema, after: &Schema) {
        let (gone, new) = (before.without(after), after.without(before));
        if before.any == after.any && !gone.is_never() && new.is_never() {
            self.tell(Lost::Types(gone));
        }
        if !after.codes.is_empty() {
            before.codes.difference(&after.codes).for_each(|code| self.tell(Lost::Code(*code)));
        }
        if let (Some(before), Some(after)) = (&before.string, &after.string) {
            self.texts(before, after);
        }
        match (before.array.as_deref(), after.array.as_deref()) {
            (Some(Array::List(old)), Some(Array::List(new))) => {
                self.within("[]", |compare| compare.schemas(old, new));
            }
            (Some(Array::Tuple(old)), Some(Array::Tuple(new))) => self.fields(old, new),
            _ => {}
        }
        if let (Some(before), Some(after)) = (&before.object, &after.object) {
            self.objects(before, after);
        }
    }

    fn texts(&mut self, before: &Text, after: &Text) {
        match (before, after) {
            (Text::Of(before, old), Text::Of(after, new))
                if before == after && (old.is_empty() || !old.is_disjoint(new)) =>
            {
                self.values(old, new);
            }
            (Text::Open(old), Text::Open(new)) => self.values(old, new),
            (Text::Of(formats, old), Text::Open(new))
            | (Text::Open(old), Text::Of(formats, new))
                if formats.is_empty() =>
            {
                self.values(old, new);
            }
            (before, after) => {
                let [before, after] = [before, after].map(|text| Schema::of_string(text.clone()));
                if before.covers(&after) && !after.covers(&before) {
                    self.tell(Lost::Others(after));
                }
            }
        }
    }

    fn values(&mut self, before: &BTreeSet<String>, after: &BTreeSet<String>) {
        for value in before.difference(after) {
            self.tell(Lost::Value(value.clone()));
        }
    }

    fn objects(&mut self, before: &Object, after: &Object) {
        match (before, after) {
            (Object::Plain(before), Object::Plain(after)) => self.fields(before, after),
            (Object::Union(before), Object::Union(after)) if before.tag == after.tag => {
                for (value, branch) in &before.branches {
                    match after.branches.get(value) {
                        Some(after) => self.within(value, |compare| compare.objects(branch, after)),
                        None => self.tell(Lost::Kind(before.tag.clone(), value.clone())),
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, before: &Fields, after: &Fields) {
        for (name, field) in &before.fields {
            self.within(name, |compare| match after.fields.get(name) {
                Some(after) => compare.schemas(&field.schema, &after.schema),
                None => compare.tell(field.lost()),
            });
        }
        let of = |fields: &Fields| match &fields.rest {
            Some(rest) => (Schema::of_string(rest.name.clone()), rest.schema.clone()),
            None => (Schema::never(), Schema::never()),
        };
        let ((names, values), (names_after, values_after)) = (of(before), of(after));
        self.within("{} names", |compare| compare.schemas(&names, &names_after));
        self.within("{}", |compare| compare.schemas(&values, &values_after));
    }

    fn within(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        self.place.push(step.to_owned());
        compare(self);
        self.place.pop();
    }

    fn tell(&mut self, what: Lost) {
        self.found.push(Loss { place: self.place.clone(), what });
    }
}

impl Schema {
    /// The kinds of values of which the other has none.
    pub(super) fn without(&self, other: &Self) -> Self {
        Self {
            any: false,
            null: self.null && !other.null,
            boolean: self.boolean && !other.boolean,
            number: self.number.filter(|number| Some(*number) > other.number),
            codes: if other.number.is_none() && other.codes.is_empty() {
                self.codes.clone()
            } else {
                BTreeSet::new()
            },
            string: self.string.clone().filter(|_| other.string.is_none()),
            array: self.array.clone().filter(|_| other.array.is_none()),
            object: self.object.clone().filter(|_| other.object.is_none()),
        }
    }
}

impl Field {
    /// What is lost where no object has it any more.
    pub(super) fn lost(&self) -> Lost {
        match self.presence {
            Presence::Required => Lost::Always,
            Presence::Optional => Lost::Optional(self.schema.to_text()),
        }
    }
}
