//! What one promise allows and another one did not, and whether that is nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::export::DIALECT;
use super::loss::WrittenPath;
use super::schema::{Array, Field, Fields, Object, Presence, Rest, Schema, Text, Union};
use super::tuple;

/// Something that a promise allows and the one before it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gain {
    /// Where, as in a [`Loss`](super::Loss).
    pub place: Vec<String>,
    /// What.
    pub what: Gained,
    /// What became possible there: the value of a field, also of one that can be missing.
    pub schema: Schema,
}

/// What can become possible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Gained {
    /// A field that was always there can be missing.
    Missing,
    /// A field can be there that was not known: who reads the known ones does not see it.
    Field,
    /// Fields of any other name can be there, none of which was known.
    Fields,
    /// A member can be there with a name that no member had, where names are data.
    Member,
    /// A value can be of another type.
    Type,
    /// A value that was always `null` can be of a type.
    Filled,
    /// An integer can be any number.
    Number,
    /// A list that was always empty can have elements.
    Elements,
    /// A string, or an integer of which few are allowed, can say this.
    Value(String),
    /// A field that always said the same can say anything.
    Text,
    /// A string can be of this format; `string` for any.
    Format(String),
    /// An object can be of another kind: the field that tells it, and what it says.
    Kind(String, String),
    /// More is possible, in a way that has no other name.
    Wider,
}

impl Schema {
    /// What the promise after this one allows and this one does not; nothing only if that is nothing:
    /// if this one [covers](Self::covers) the other.
    ///
    /// # Example: what became possible
    ///
    /// ```
    /// use retape::contract::shape::{Gained, Schema};
    ///
    /// let old = Schema::parse("\"end_turn\" | \"error\"")?;
    /// let new = Schema::parse("\"end_turn\" | \"max_steps\"")?;
    ///
    /// let gains = old.gains(&new);
    ///
    /// assert_eq!(gains[0].what, Gained::Value("max_steps".to_owned()));
    /// assert_eq!(gains.len(), 1);
    /// # Ok::<(), retape::contract::shape::ParseErrors>(())
    /// ```
    pub fn gains(&self, after: &Self) -> Vec<Gain> {
        let mut compare = Compare::default();
        compare.schemas(self, after);
        compare.found
    }

    /// Whether every value that the other accepts is accepted by this one, too.
    ///
    /// `true` is certain. `false` may be wrong where objects are told apart by a field in one and by
    /// another field in the other, or where known fields stand beside data.
    pub fn covers(&self, other: &Self) -> bool {
        self.gains(other).is_empty()
    }
}

impl Gain {
    /// The place as it is written: `tool_calls[].name`; empty for the whole.
    pub fn at(&self) -> String {
        WrittenPath(&self.place).to_string()
    }

    /// What became possible, as a contract says it.
    pub fn text(&self) -> String {
        let name = self.place.last().map_or("", String::as_str);
        match &self.what {
            Gained::Missing => format!("{name}?: {}", self.schema.to_text()),
            Gained::Field | Gained::Member => format!("{name}: {}", self.schema.to_text()),
            _ => self.schema.to_text(),
        }
    }

    /// What became possible, as JSON Schema 2020-12: of the value at that place, or of the object around
    /// a field.
    pub fn to_json_schema(&self) -> Value {
        let name = self.place.last().map_or("", String::as_str);
        let place = tuple::index(name);
        let schema = self.schema.to_object_schema();
        let mut schema = match &self.what {
            Gained::Missing if place.is_some() => json!({"type": "array", "maxItems": place}),
            Gained::Field if place.is_some() => {
                json!({"type": "array", "minItems": place.map(|place| place + 1)})
            }
            Gained::Missing => json!({"type": "object", "not": {"required": [name]}}),
            Gained::Field | Gained::Member => {
                json!({"type": "object", "required": [name], "properties": {name: schema}})
            }
            _ => schema,
        };
        schema["$schema"] = DIALECT.into();
        schema
    }
}

/// What has been found, and where the comparison is.
#[derive(Default)]
struct Compare {
    place: Vec<String>,
    found: Vec<Gain>,
}

impl Compare {
    fn schemas(&mut self, old: &Schema, new: &Schema) {
        if old.any {
            return;
        }
        if new.any {
            return self.tell(Gained::Type, Schema::any());
        }
        self.kinds(old, new);
        self.codes(old, new);
        if let (Some(old), Some(new)) = (&old.string, &new.string) {
            self.texts(old, new);
        }
        if let (Some(old), Some(new)) = (&old.array, &new.array) {
            self.arrays(old, new);
        }
        if let (Some(old), Some(new)) = (&old.object, &new.object) {
            self.objects(old, new);
        }
    }

    fn arrays(&mut self, old: &Array, new: &Array) {
        match (old, new) {
            (Array::List(old), Array::List(new)) => {
                self.within("[]", |compare| compare.elements(old, new));
            }
            (Array::List(old), Array::Tuple(new)) => {
                let places = new.fields.values();
                places.for_each(|it| {
                    self.within("[]", |compare| compare.elements(old, &it.schema));
                });
            }
            (Array::Tuple(old), Array::Tuple(new)) => self.fields(old, new),
            (Array::Tuple(_), Array::List(_)) => {
                self.tell(Gained::Wider, Schema::of_array(new.clone()));
            }
        }
    }

    fn elements(&mut self, old: &Schema, new: &Schema) {
        if old.is_never() && !new.is_never() {
            self.tell(Gained::Elements, new.clone());
        } else {
            self.schemas(old, new);
        }
    }

    /// Types of which the old one has none, one by one.
    fn kinds(&mut self, old: &Schema, new: &Schema) {
        let was_null = *old == Schema { null: true, ..Schema::never() };
        for kind in new.without(old).types() {
            let what = match kind.number.and(old.number) {
                Some(_) => Gained::Number,
                None if kind.number.is_some() && !old.codes.is_empty() => {
                    Gained::Value(kind.to_text())
                }
                None if was_null => Gained::Filled,
                None => Gained::Type,
            };
            self.tell(what, kind);
        }
    }

    fn codes(&mut self, old: &Schema, new: &Schema) {
        if old.number.is_none() && !old.codes.is_empty() {
            for code in new.codes.difference(&old.codes) {
                let schema = Schema::of_codes(BTreeSet::from([*code]));
                self.tell(Gained::Value(code.to_string()), schema);
            }
        }
    }

    fn texts(&mut self, old: &Text, new: &Text) {
        match (old, new) {
            (Text::Any | Text::Open(_), _) => {}
            (Text::Of(formats, values), Text::Any | Text::Open(_)) => {
                let is_one = formats.is_empty() && values.len() == 1;
                let any = if is_one { Gained::Text } else { Gained::Format("string".to_owned()) };
                self.tell(any, Schema::of_string(new.clone()));
            }
            (Text::Of(known, _), Text::Of(formats, values)) => {
                for format in formats {
                    if !known.iter().any(|known| known.covers(format)) {
                        let text = Text::format(format.clone());
                        self.tell(Gained::Format(format.to_string()), Schema::of_string(text));
                    }
                }
                for value in values.iter().filter(|value| !old.fits(value)) {
                    self.tell(Gained::Value(value.clone()), Schema::of_string(Text::value(value)));
                }
            }
        }
    }

    fn objects(&mut self, old: &Object, new: &Object) {
        match (old, new) {
            (Object::Plain(old), Object::Plain(new)) => self.fields(old, new),
            (Object::Union(old), Object::Union(new)) if old.tag == new.tag => self.unions(old, new),
            (old, Object::Union(new)) if !new.open => {
                new.apart().for_each(|kind| self.objects(old, &kind));
            }
            (_, Object::Union(_)) => self.tell(Gained::Wider, Schema::of_object(new.clone())),
            (Object::Union(old), Object::Plain(fields)) => self.told_apart(old, fields),
        }
    }

    fn unions(&mut self, old: &Union, new: &Union) {
        for (value, kind) in &new.branches {
            self.branch(old, value, kind);
        }
        // What is any object there must not be a certain one here.
        let is_any = |value: &String| !new.branches.contains_key(value);
        if new.open && (!old.open || old.branches.keys().any(is_any)) {
            self.tell(Gained::Wider, Schema::of_object(Object::Union(new.clone())));
        }
    }

    /// Objects that are not told apart any more, where the field that told them may still say which.
    fn told_apart(&mut self, old: &Union, new: &Fields) {
        let mut rest = new.clone();
        let tag = rest.fields.remove(&old.tag).filter(|it| it.presence == Presence::Required);
        match tag.and_then(|tag| tag.schema.only_string()) {
            Some(Text::Of(formats, values)) if formats.is_empty() => {
                let rest = Object::Plain(rest);
                values.iter().for_each(|value| self.branch(old, value, &rest));
            }
            _ => {
                let before = self.found.len();
                let values = old.branches.keys().cloned().collect();
                let schema = Schema::of_string(Text::Of([].into(), values));
                let told = Field { position: 0, presence: Presence::Required, schema };
                self.within(&old.tag, |compare| compare.known(&told, new.fields.get(&old.tag)));
                if self.found.len() == before {
                    self.tell(Gained::Wider, Schema::of_object(Object::Plain(new.clone())));
                }
            }
        }
    }

    /// The objects that the field says to be of this kind.
    fn branch(&mut self, old: &Union, value: &str, new: &Object) {
        match old.branches.get(value) {
            Some(old) => self.within(value, |compare| compare.objects(old, new)),
            None if old.open => {}
            None => {
                let kind = Gained::Kind(old.tag.clone(), value.to_owned());
                self.tell(kind, Schema::of_object(new.clone()));
            }
        }
    }

    fn fields(&mut self, old: &Fields, new: &Fields) {
        for (name, field) in &old.fields {
            self.within(name, |compare| compare.known(field, new.fields.get(name)));
        }
        for (name, field) in new.fields.iter().filter(|(name, _)| !old.fields.contains_key(*name)) {
            match old.rest.as_ref().filter(|rest| rest.name.fits(name)) {
                Some(rest) => {
                    self.within("{}", |compare| compare.schemas(&rest.schema, &field.schema));
                }
                None if old.open || field.schema.is_never() => {}
                None => {
                    let what = if old.rest.is_some() { Gained::Member } else { Gained::Field };
                    self.within(name, |compare| compare.tell(what, field.schema.clone()));
                }
            }
        }
        if !old.covers_rest(new) {
            self.others(old, new);
        }
    }

    fn known(&mut self, old: &Field, new: Option<&Field>) {
        let optional = new.is_none_or(|new| new.presence == Presence::Optional);
        if old.presence == Presence::Required && optional {
            self.tell(Gained::Missing, new.unwrap_or(old).schema.clone());
        }
        if let Some(new) = new {
            self.schemas(&old.schema, &new.schema);
        }
    }

    /// Members that are no fields may be so now as they might not.
    fn others(&mut self, old: &Fields, new: &Fields) {
        let object = || Schema::of_object(Object::Plain(new.clone()));
        // What has no known name is no field that anybody reads.
        let is_read = |name: &String| !new.fields.contains_key(name);
        if old.rest.is_none() && !old.fields.keys().any(is_read) {
            return self.tell(Gained::Fields, object());
        }
        let before = self.found.len();
        let mut told = old.clone();
        if let (Some(old), Some(new)) = (&mut told.rest, &new.rest) {
            self.within("{}", |compare| compare.schemas(&old.schema, &new.schema));
            old.schema = new.schema.clone();
        }
        // What was told of values hides nothing about names.
        if self.found.len() == before || !told.covers_rest(new) {
            self.within("{}", |compare| compare.tell(Gained::Wider, object()));
        }
    }

    fn within(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        self.place.push(step.to_owned());
        compare(self);
        self.place.pop();
    }

    fn tell(&mut self, what: Gained, schema: Schema) {
        let gain = Gain { place: self.place.clone(), what, schema };
        if !self.found.contains(&gain) {
            self.found.push(gain);
        }
    }
}

impl Fields {
    /// Whether the members of the other that are no fields may be so here. They may have any name,
    /// also that of a field.
    fn covers_rest(&self, other: &Self) -> bool {
        let unheard = |name: &String| !other.fields.contains_key(name);
        let names_of = |rest: &Rest| {
            let clash = |(name, own): (&String, &Field)| {
                unheard(name) && rest.name.fits(name) && !own.schema.covers(&rest.schema)
            };
            self.fields.iter().any(clash)
        };
        let rest = match (&self.rest, &other.rest) {
            (_, None) => true,
            (Some(own), Some(rest)) => {
                own.schema.covers(&rest.schema)
                    && (Schema::of_string(own.name.clone())
                        .covers(&Schema::of_string(rest.name.clone()))
                        || self.open)
                    && !names_of(rest)
            }
            (None, Some(rest)) => self.open && !names_of(rest),
        };
        let any = !other.open
            || (self.open
                && self.rest.as_ref().is_none_or(|rest| rest.schema.any || other.rest.is_some())
                && self.fields.iter().all(|(name, own)| !unheard(name) || own.schema.any));
        rest && any
    }
}
