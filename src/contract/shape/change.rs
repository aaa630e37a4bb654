//! What is different between two promises.

use std::collections::BTreeSet;
use std::fmt;

use super::schema::{Array, Field, Fields, Object, Presence, Schema, Text, Union};
use super::show::quote;

/// One difference between a promise before and after. Whether it breaks anybody depends on who reads
/// and who writes; that is judged elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where: names of fields and branches, `[]` for elements, `[0]` for those of tuples, `{}` for members whose
    /// names are data; empty for the whole.
    pub place: Vec<String>,
    /// What.
    pub difference: Difference,
}

/// What can be different.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A field that every object has is new: its type.
    RequiredFieldAdded(String),
    /// A field that some objects have is new: its type.
    OptionalFieldAdded(String),
    /// A field is gone that every object had: its type.
    RequiredFieldRemoved(String),
    /// A field is gone that some objects had: its type.
    OptionalFieldRemoved(String),
    /// A field may be missing.
    BecameOptional,
    /// A field is always there.
    BecameRequired,
    /// More types than before: the types that are new.
    Widened(Schema),
    /// Fewer types than before: the types that are gone.
    Narrowed(Schema),
    /// Fewer strings than before: which they are now.
    Confined(Schema),
    /// Some types are new, and some are gone: what was there, and what is.
    Replaced(Schema, Schema),
    /// A known string is new.
    ValueAdded(String),
    /// A known string is gone.
    ValueRemoved(String),
    /// A value that is yes or no is never this any more.
    TruthRemoved(bool),
    /// Strings need not be of this format any more.
    FormatLost(String),
    /// Strings are of this format now.
    FormatGained(String),
    /// A kind of object is new, told by this field and what it says.
    BranchAdded(String, String),
    /// A kind of object is gone, told by this field and what it said.
    BranchRemoved(String, String),
    /// Nothing stands any more in a list, or in an object whose names are data.
    Emptied,
    /// Objects are told apart by this field now.
    ToldApart(String),
    /// Objects are not told apart by this field any more.
    NotToldApart(String),
    /// More may come than what is known.
    Opened,
    /// Only what is known may come.
    Closed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", Place(&self.place))?;
        }
        self.difference.fmt(f)
    }
}

impl Change {
    /// The place as it is written: `tool_calls[].name`; empty for the whole.
    pub fn at(&self) -> String {
        Place(&self.place).to_string()
    }
}

/// A place as it is written.
pub(super) struct Place<'a>(pub(super) &'a [String]);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let separator = if index == 0 || step.starts_with('[') { "" } else { "." };
            write!(f, "{separator}{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RequiredFieldAdded(is) => write!(f, "field added: {is}"),
            Self::OptionalFieldAdded(is) => write!(f, "optional field added: {is}"),
            Self::RequiredFieldRemoved(was) => write!(f, "field removed: {was}"),
            Self::OptionalFieldRemoved(was) => write!(f, "optional field removed: {was}"),
            Self::BecameOptional => f.write_str("became optional"),
            Self::BecameRequired => f.write_str("became required"),
            Self::Widened(new) => write!(f, "may be {} now", new.to_text()),
            Self::Narrowed(gone) => write!(f, "is never {} now", gone.to_text()),
            Self::Confined(now) => write!(f, "is always {} now", now.to_text()),
            Self::Replaced(was, is) => write!(f, "was {}, is {}", was.to_text(), is.to_text()),
            Self::ValueAdded(value) => write!(f, "value added: {}", quote(value)),
            Self::ValueRemoved(value) => write!(f, "value removed: {}", quote(value)),
            Self::TruthRemoved(truth) => write!(f, "value removed: {truth}"),
            Self::Emptied => f.write_str("is always empty now"),
            Self::FormatLost(format) => write!(f, "need not be {format} any more"),
            Self::FormatGained(format) => write!(f, "is {format} now"),
            Self::BranchAdded(tag, value) => write!(f, "branch added: {tag} {}", quote(value)),
            Self::BranchRemoved(tag, value) => write!(f, "branch removed: {tag} {}", quote(value)),
            Self::ToldApart(tag) => write!(f, "told apart by `{tag}` now"),
            Self::NotToldApart(tag) => write!(f, "not told apart by `{tag}` any more"),
            Self::Opened => f.write_str("more may come than what is known"),
            Self::Closed => f.write_str("only what is known may come"),
        }
    }
}

impl Schema {
    /// What has changed from this promise to the one after it; nothing if they mean the same.
    pub fn changes(&self, after: &Self) -> Vec<Change> {
        let mut compare = Compare::default();
        compare.schemas(self, after);
        compare.found
    }
}

/// What has been found, and where the comparison is.
#[derive(Default)]
struct Compare {
    place: Vec<String>,
    found: Vec<Change>,
}

impl Compare {
    fn schemas(&mut self, before: &Schema, after: &Schema) {
        self.kinds(before, after);
        if let (Some(before), Some(after)) = (&before.string, &after.string) {
            self.texts(before, after);
        }
        if let (Some(old), Some(new)) = (&before.array, &after.array) {
            match (&**old, &**new) {
                (Array::List(old), Array::List(new)) => {
                    self.within("[]", |compare| compare.schemas(old, new));
                }
                (Array::Tuple(old), Array::Tuple(new)) => self.fields(old, new),
                (Array::List(_), Array::Tuple(_)) | (Array::Tuple(_), Array::List(_)) => {
                    let [old, new] = [before, after]
                        .map(|schema| Schema { array: schema.array.clone(), ..Schema::never() });
                    self.tell(Difference::Replaced(old, new));
                }
            }
        }
        if let (Some(before), Some(after)) = (&before.object, &after.object) {
            self.objects(before, after);
        }
    }

    /// The kinds of values that only one of them accepts.
    fn kinds(&mut self, before: &Schema, after: &Schema) {
        if before.any != after.any {
            self.tell(Difference::Replaced(before.clone(), after.clone()));
            return;
        }
        let (gone, new) = (before.without(after), after.without(before));
        match (gone.is_never(), new.is_never()) {
            (true, true) => {}
            (true, false) => self.tell(Difference::Widened(new)),
            (false, true) => self.tell(Difference::Narrowed(gone)),
            (false, false) => self.tell(Difference::Replaced(gone, new)),
        }
    }

    fn texts(&mut self, before: &Text, after: &Text) {
        if before == after {
            return;
        }
        match (before, after) {
            (Text::Of(before, old), Text::Of(after, new))
                if before == after && (old.is_empty() || !old.is_disjoint(new)) =>
            {
                self.values(old, new);
            }
            (Text::Open(old), Text::Open(new)) => self.values(old, new),
            (Text::Of(formats, old), Text::Open(new)) if formats.is_empty() => {
                self.tell(Difference::Opened);
                self.values(old, new);
            }
            (Text::Open(old), Text::Of(formats, new)) if formats.is_empty() => {
                self.tell(Difference::Closed);
                self.values(old, new);
            }
            (Text::Of(formats, values), Text::Any) if values.is_empty() && !formats.is_empty() => {
                let lost = formats.iter().map(|format| Difference::FormatLost(format.to_string()));
                lost.for_each(|lost| self.tell(lost));
            }
            (Text::Any, Text::Of(formats, values)) if values.is_empty() && !formats.is_empty() => {
                let new = formats.iter().map(|format| Difference::FormatGained(format.to_string()));
                new.for_each(|new| self.tell(new));
            }
            (before, after) => {
                let [before, after] = [before, after].map(|text| Schema::of_string(text.clone()));
                self.tell(match (after.covers(&before), before.covers(&after)) {
                    (true, false) => Difference::Widened(after),
                    (false, true) => Difference::Confined(after),
                    _ => Difference::Replaced(before, after),
                });
            }
        }
    }

    fn values(&mut self, before: &BTreeSet<String>, after: &BTreeSet<String>) {
        for value in before.difference(after) {
            self.tell(Difference::ValueRemoved(value.clone()));
        }
        for value in after.difference(before) {
            self.tell(Difference::ValueAdded(value.clone()));
        }
    }

    fn objects(&mut self, before: &Object, after: &Object) {
        match (before, after) {
            (Object::Plain(before), Object::Plain(after)) => self.fields(before, after),
            (Object::Union(before), Object::Union(after)) if before.tag == after.tag => {
                self.unions(before, after);
            }
            (before, after) => {
                if let Object::Union(before) = before {
                    self.tell(Difference::NotToldApart(before.tag.clone()));
                }
                if let Object::Union(after) = after {
                    self.tell(Difference::ToldApart(after.tag.clone()));
                }
            }
        }
    }

    fn unions(&mut self, before: &Union, after: &Union) {
        let tag = &before.tag;
        self.openness(before.open, after.open);
        for (value, branch) in &before.branches {
            match after.branches.get(value) {
                Some(after) => self.within(value, |compare| compare.objects(branch, after)),
                None => self.tell(Difference::BranchRemoved(tag.clone(), value.clone())),
            }
        }
        for value in after.branches.keys().filter(|value| !before.branches.contains_key(*value)) {
            self.tell(Difference::BranchAdded(tag.clone(), value.clone()));
        }
    }

    fn fields(&mut self, before: &Fields, after: &Fields) {
        self.openness(before.open, after.open);
        for (name, field) in &before.fields {
            self.within(name, |compare| match after.fields.get(name) {
                Some(after) => compare.field(field, after),
                None => compare.tell(field.removed()),
            });
        }
        for (name, field) in &after.fields {
            if !before.fields.contains_key(name) {
                self.within(name, |compare| compare.tell(field.added()));
            }
        }
        let of = |fields: &Fields| match &fields.rest {
            Some(rest) => (Schema::of_string(rest.name.clone()), rest.schema.clone()),
            None => (Schema::never(), Schema::never()),
        };
        let ((names, values), (names_after, values_after)) = (of(before), of(after));
        self.within("{} names", |compare| compare.schemas(&names, &names_after));
        self.within("{}", |compare| compare.schemas(&values, &values_after));
    }

    fn field(&mut self, before: &Field, after: &Field) {
        match (before.presence, after.presence) {
            (Presence::Required, Presence::Optional) => self.tell(Difference::BecameOptional),
            (Presence::Optional, Presence::Required) => self.tell(Difference::BecameRequired),
            _ => {}
        }
        self.schemas(&before.schema, &after.schema);
    }

    fn openness(&mut self, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.tell(Difference::Opened),
            (true, false) => self.tell(Difference::Closed),
            _ => {}
        }
    }

    fn within(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        self.place.push(step.to_owned());
        compare(self);
        self.place.pop();
    }

    fn tell(&mut self, difference: Difference) {
        self.found.push(Change { place: self.place.clone(), difference });
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
            string: self.string.clone().filter(|_| other.string.is_none()),
            array: self.array.clone().filter(|_| other.array.is_none()),
            object: self.object.clone().filter(|_| other.object.is_none()),
        }
    }
}

impl Field {
    fn added(&self) -> Difference {
        let is = self.schema.to_text();
        match self.presence {
            Presence::Required => Difference::RequiredFieldAdded(is),
            Presence::Optional => Difference::OptionalFieldAdded(is),
        }
    }

    pub(super) fn removed(&self) -> Difference {
        let was = self.schema.to_text();
        match self.presence {
            Presence::Required => Difference::RequiredFieldRemoved(was),
            Presence::Optional => Difference::OptionalFieldRemoved(was),
        }
    }
}
