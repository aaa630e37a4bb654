//! Whether one promise allows all that another one does.

use super::schema::{Field, Fields, Number, Object, Presence, Rest, Schema, Text, Union};

impl Schema {
    /// Whether every value that the other accepts is accepted by this one, too.
    ///
    /// `true` is certain. `false` may be wrong where objects are told apart by a field in one and by
    /// another field in the other, or where known fields stand beside data.
    pub fn covers(&self, other: &Self) -> bool {
        if self.any || other.any {
            return self.any;
        }
        (self.null || !other.null)
            && (self.boolean || !other.boolean)
            && self.number.map_or(0, rank) >= other.number.map_or(0, rank)
            && within(&other.string, &self.string, |text, own| own.covers(text))
            && within(&other.array, &self.array, |elements, own| own.covers(elements))
            && within(&other.object, &self.object, |object, own| own.covers(object))
    }
}

fn rank(number: Number) -> usize {
    match number {
        Number::Integer => 1,
        Number::Any => 2,
    }
}

/// Whether the other has none, or own is there and covers it.
fn within<T>(other: &Option<T>, own: &Option<T>, covers: impl Fn(&T, &T) -> bool) -> bool {
    other.as_ref().is_none_or(|other| own.as_ref().is_some_and(|own| covers(other, own)))
}

impl Text {
    /// Whether every string of the other is one of these.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any | Self::Open(_), _) => true,
            (Self::Of(..), Self::Any | Self::Open(_)) => false,
            (Self::Of(own, _), Self::Of(formats, values)) => {
                formats.iter().all(|format| own.iter().any(|own| own.covers(format)))
                    && values.iter().all(|value| self.fits(value))
            }
        }
    }
}

impl Object {
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Union(own), Self::Union(other)) if own.tag == other.tag => own.covers(other),
            (_, Self::Union(other)) => {
                !other.open && other.apart().all(|branch| self.covers(&branch))
            }
            (Self::Plain(own), Self::Plain(other)) => own.covers(other),
            (Self::Union(own), Self::Plain(other)) => own.covers_plain(other),
        }
    }
}

impl Union {
    /// Whether each branch of a union by the same tag is covered by the own one.
    fn covers(&self, other: &Self) -> bool {
        (self.open || !other.open)
            && other.branches.iter().all(|(value, branch)| match self.branches.get(value) {
                Some(own) => own.covers(branch),
                None => self.open,
            })
            // What is any object there must not be a certain one here.
            && (!other.open || self.branches.keys().all(|value| other.branches.contains_key(value)))
    }

    fn covers_plain(&self, other: &Fields) -> bool {
        let mut rest = other.clone();
        let Some(Field { presence: Presence::Required, schema, .. }) =
            rest.fields.remove(&self.tag)
        else {
            return false;
        };
        let only_string = !schema.any && Schema { string: None, ..schema.clone() }.is_never();
        let Some(Text::Of(formats, values)) = schema.string.filter(|_| only_string) else {
            return false;
        };
        let rest = Object::Plain(rest);
        formats.is_empty()
            && values.iter().all(|value| match self.branches.get(value) {
                Some(own) => own.covers(&rest),
                None => self.open,
            })
    }
}

impl Fields {
    fn covers(&self, other: &Self) -> bool {
        let known = self.fields.iter().all(|(name, own)| own.covers_in(name, other));
        let new = other.fields.iter().filter(|(name, _)| !self.fields.contains_key(*name));
        let mut new = new.map(|(name, field)| self.covers_unknown(name, &field.schema));
        known && new.all(|covered| covered) && self.covers_rest(other)
    }

    /// Whether a member that is no field of its own may be so.
    pub(super) fn covers_unknown(&self, name: &str, schema: &Schema) -> bool {
        match self.rest.as_ref().filter(|rest| rest.name.fits(name)) {
            Some(rest) => rest.schema.covers(schema),
            None => self.open || schema.is_never(),
        }
    }

    /// Whether the members of the other that are no fields may be so here. They may have any name,
    /// also that of a field.
    pub(super) fn covers_rest(&self, other: &Self) -> bool {
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
                    && (own.name.covers(&rest.name) || self.open)
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

impl Field {
    /// Whether the other's member of this name is always as promised.
    fn covers_in(&self, name: &str, other: &Fields) -> bool {
        match other.fields.get(name) {
            Some(field) => {
                let there =
                    self.presence == Presence::Optional || field.presence == Presence::Required;
                there && self.schema.covers(&field.schema)
            }
            None => self.presence == Presence::Optional,
        }
    }
}
