//! From what was seen to what is promised.

use std::collections::BTreeMap;

use super::learn::Shape;
use super::objects::{self, Objects};
use super::schema::{Field, Fields, Number, Object, Presence, Rest, Schema, Text, Union};
use super::strings::{Looks, Strings};
use super::{choose, format::Format};

/// Fewer names than that are fields.
const FEWEST_KEYS: usize = 6;

/// The entropy in nats above which names are data (Spoth et al., SIGMOD 2021).
const ENTROPY: f64 = 1.0;

impl Shape {
    /// What the samples have in common, as a promise.
    pub fn finish(&self) -> Schema {
        if self.deep.is_seen() {
            return Schema::any();
        }
        let number = match (self.integer.is_seen(), self.number.is_seen()) {
            (_, true) => Some(Number::Any),
            (true, false) => Some(Number::Integer),
            (false, false) => None,
        };
        Schema {
            any: false,
            null: self.null.is_seen(),
            boolean: self.boolean.is_seen(),
            number,
            string: self.strings.as_deref().map(text),
            array: self.arrays.as_ref().map(|arrays| Box::new(arrays.elements.finish())),
            object: self.objects.as_deref().map(|objects| Box::new(object(objects, &[]))),
        }
    }
}

fn text(strings: &Strings) -> Text {
    if let Some(values) = strings.enumerated() {
        return Text::Of([].into(), values.iter().map(|(value, _)| value.to_string()).collect());
    }
    strings.format().map_or(Text::Any, Text::format)
}

fn name(names: &Looks) -> Text {
    let format = names.format().filter(|format| *format != Format::Integer);
    format.map_or(Text::Any, Text::format)
}

/// The objects without the tags that are known already.
fn object(objects: &Objects, known: &[&str]) -> Object {
    let Some((tag, groups)) = choose::tag(objects) else {
        return Object::Plain(fields(objects, known));
    };
    let known = [known, &[tag]].concat();
    let branches =
        groups.iter().map(|(said, group)| (said.to_string(), object(group, &known))).collect();
    Object::Union(Union { tag: tag.to_owned(), branches, open: false })
}

fn fields(objects: &Objects, known: &[&str]) -> Fields {
    let rest = objects
        .rest
        .as_ref()
        .map(|rest| Rest { name: name(&rest.names), schema: rest.shape.finish() });
    if rest.is_none()
        && known.is_empty()
        && let Some(values) = as_map(objects)
    {
        let rest = Some(Rest { name: Text::Any, schema: values.finish() });
        return Fields { fields: BTreeMap::new(), rest, open: false };
    }
    let told = objects.fields.iter().filter(|field| !known.contains(&&*field.name));
    let fields = told.map(|field| (field.name.to_string(), promised(field, objects))).collect();
    Fields { fields, rest, open: false }
}

fn promised(field: &objects::Field, objects: &Objects) -> Field {
    let always = field.present.count == objects.tally.count;
    let presence = if always { Presence::Required } else { Presence::Optional };
    Field { position: field.position, presence, schema: field.shape.finish() }
}

/// What the values are, where no name is in all objects, names vary much, and values are alike.
pub(super) fn as_map(objects: &Objects) -> Option<Shape> {
    let fields = &objects.fields;
    let all = objects.tally.count;
    let varied = fields.len() >= FEWEST_KEYS
        && fields.iter().all(|field| field.present.count < all)
        && entropy(objects) > ENTROPY;
    let (first, others) = fields.split_first().filter(|_| varied)?;
    let outline = Outline::of(&first.shape);
    if !others.iter().all(|field| Outline::of(&field.shape) == outline) {
        return None;
    }
    let mut values = first.shape.clone();
    others.iter().for_each(|field| values.merge(&field.shape));
    Some(values)
}

/// −Σ p ln p over the shares of the objects that have each name.
fn entropy(objects: &Objects) -> f64 {
    let all = objects.tally.count as f64;
    let shares = objects.fields.iter().map(|field| field.present.count as f64 / all);
    -shares.map(|share| share * share.ln()).sum::<f64>()
}

/// What makes values alike: their kinds, `null` apart, and the names of fields.
#[derive(PartialEq)]
struct Outline<'s> {
    kinds: [bool; 4],
    names: Vec<&'s str>,
    elements: Option<Box<Outline<'s>>>,
}

impl<'s> Outline<'s> {
    fn of(shape: &'s Shape) -> Self {
        let objects = shape.objects.as_deref();
        Self {
            kinds: [
                shape.boolean.is_seen(),
                shape.integer.is_seen() || shape.number.is_seen(),
                shape.strings.is_some(),
                objects.is_some(),
            ],
            names: objects
                .map(|objects| objects.fields.iter().map(|field| &*field.name).collect())
                .unwrap_or_default(),
            elements: shape.arrays.as_ref().map(|arrays| Box::new(Self::of(&arrays.elements))),
        }
    }
}
