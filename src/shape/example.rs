//! Values that keep a promise, made up.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::gain::{Gain, Gained};
use super::schema::{Fields, Number, Object, Presence, Schema, Text, Union};

/// Something that looks minted.
const MINTED: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";

impl Schema {
    /// A JSON text that keeps the promise and has in it what became possible, if one can be made up.
    /// Whether it is right can be seen by [`accepts`](Self::accepts).
    pub fn example_of(&self, gain: &Gain) -> Option<String> {
        self.along(&gain.place, gain).map(|value| value.to_string())
    }

    /// Some JSON text that keeps the promise, if there is one.
    pub fn example(&self) -> Option<String> {
        self.some().map(|value| value.to_string())
    }

    fn some(&self) -> Option<Value> {
        if self.any || self.null {
            return Some(Value::Null);
        }
        if self.boolean {
            return Some(Value::Bool(true));
        }
        if let Some(number) = self.number {
            return Some(of_number(number));
        }
        if let Some(text) = &self.string {
            return of_text(text).map(Value::from);
        }
        if self.array.is_some() {
            return Some(json!([]));
        }
        self.object.as_deref().and_then(Object::some).map(Value::from)
    }

    /// A value that goes the way to a place.
    fn along(&self, steps: &[String], gain: &Gain) -> Option<Value> {
        let Some((step, rest)) = steps.split_first() else { return gain.schema.some() };
        if step == "[]" {
            let inner = self.array.as_ref()?.along(rest, gain)?;
            return Some(json!([inner]));
        }
        self.object.as_deref()?.along(step, rest, gain).map(Value::from)
    }
}

impl Object {
    fn some(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Plain(fields) => fields.some(),
            Self::Union(union) => {
                union.branches.iter().find_map(|(value, kind)| union.saying(value, kind.some()?))
            }
        }
    }

    fn along(&self, step: &str, rest: &[String], gain: &Gain) -> Option<Map<String, Value>> {
        match self {
            Self::Plain(fields) => fields.along(step, rest, gain),
            Self::Union(union) => {
                let kind = union.branches.get(step)?;
                let members = match rest.split_first() {
                    Some((step, rest)) => kind.along(step, rest, gain)?,
                    None => match gain.schema.some()? {
                        Value::Object(members) => members,
                        _ => return None,
                    },
                };
                union.saying(step, members)
            }
        }
    }
}

impl Union {
    fn saying(&self, value: &str, mut members: Map<String, Value>) -> Option<Map<String, Value>> {
        members.insert(self.tag.clone(), value.into());
        Some(members)
    }
}

impl Fields {
    /// With the fields that must be there, and no others.
    fn some(&self) -> Option<Map<String, Value>> {
        let required = self.fields.iter().filter(|(_, it)| it.presence == Presence::Required);
        required.map(|(name, field)| Some((name.clone(), field.schema.some()?))).collect()
    }

    fn along(&self, step: &str, rest: &[String], gain: &Gain) -> Option<Map<String, Value>> {
        let mut members = self.some()?;
        if rest.is_empty() && gain.what == Gained::Missing {
            members.remove(step);
            return Some(members);
        }
        let (name, schema) = match (self.fields.get(step), &self.rest) {
            (Some(field), _) => (step.to_owned(), &field.schema),
            (None, Some(other)) if step == "{}" => (of_text(&other.name)?, &other.schema),
            _ => return None,
        };
        members.insert(name, schema.along(rest, gain)?);
        Some(members)
    }
}

/// A number that is no integer, where that is promised.
fn of_number(number: Number) -> Value {
    match number {
        Number::Integer => json!(7),
        Number::Any => json!(0.5),
    }
}

fn of_text(text: &Text) -> Option<String> {
    match text {
        Text::Any | Text::Open(_) => Some("any text, whatever it says".to_owned()),
        Text::Of(formats, values) => {
            let said = values.first().cloned();
            said.or_else(|| formats.first().map(of_format))
        }
    }
}

fn of_format(format: &Format) -> String {
    match format {
        Format::Uuid | Format::Id => MINTED.to_owned(),
        Format::DateTime => "2026-11-20T10:00:00Z".to_owned(),
        Format::Date => "2026-11-20".to_owned(),
        Format::Uri => "https://example.com/made-up".to_owned(),
        Format::Integer => "7".to_owned(),
        Format::Prefixed(prefix) => format!("{prefix}-{MINTED}"),
    }
}
