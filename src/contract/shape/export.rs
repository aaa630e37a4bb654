//! A promise as JSON Schema 2020-12, and within OpenAPI 3.2.

use serde_json::{Map, Value, json};

use super::format::{Format, LONGEST, SHORT};
use super::schema::{Array, Fields, Number, Object, Presence, Rest, Schema, Text, Union};
use super::show::shown;

/// What was minted has so many letters at least, any prefix included.
const SHORTEST: usize = 8;

/// The dialect that is written.
pub(in crate::contract) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl Schema {
    /// It as a JSON Schema 2020-12 document that accepts the same.
    ///
    /// Formats are asserted by `pattern` as well, since `format` alone asserts nothing.
    pub fn to_json_schema(&self) -> Value {
        let mut schema = self.to_object_schema();
        schema["$schema"] = DIALECT.into();
        schema
    }

    /// The same within a document, as an object.
    pub(in crate::contract) fn to_object_schema(&self) -> Value {
        match self.subschema() {
            schema @ Value::Object(_) => schema,
            other => json!({"allOf": [other]}),
        }
    }

    fn subschema(&self) -> Value {
        if self.any {
            return Value::Bool(true);
        }
        let mut alternatives = Vec::new();
        let plain = [
            (self.null, "null"),
            (self.boolean, "boolean"),
            (self.number == Some(Number::Integer), "integer"),
            (self.number == Some(Number::Any), "number"),
            (matches!(self.string, Some(Text::Any)), "string"),
        ];
        let mut types: Vec<&str> =
            plain.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        match types.len() {
            0 => {}
            1 => alternatives.extend(types.pop().map(|name| json!({"type": name}))),
            _ => alternatives.push(json!({"type": types})),
        }
        match (self.codes.len(), self.codes.first()) {
            (0, _) => {}
            (1, Some(code)) => alternatives.push(json!({"const": code})),
            _ => alternatives.push(json!({"enum": self.codes})),
        }
        alternatives.extend(self.string.as_ref().into_iter().flat_map(of_text));
        alternatives.extend(self.array.as_deref().map(of_array));
        alternatives.extend(self.object.as_deref().map(|object| of_object(object, &[])));
        any_of(alternatives)
    }
}

fn any_of(mut alternatives: Vec<Value>) -> Value {
    match alternatives.len() {
        0 => Value::Bool(false),
        1 => alternatives.remove(0),
        _ => json!({"anyOf": alternatives}),
    }
}

/// The alternatives of a string; those of any string are told by its type alone.
fn of_text(text: &Text) -> Vec<Value> {
    match text {
        Text::Any => Vec::new(),
        Text::Open(known) => vec![json!({"type": "string", "examples": known})],
        Text::Of(formats, values) => {
            let mut all: Vec<Value> = formats.iter().map(of_format).collect();
            match (values.len(), values.first()) {
                (0, _) => {}
                (1, Some(value)) => all.push(json!({"const": value})),
                _ => all.push(json!({"enum": values})),
            }
            all
        }
    }
}

fn of_format(format: &Format) -> Value {
    let pattern = format.pattern();
    match format {
        Format::Uuid | Format::Date | Format::Uri => {
            json!({"type": "string", "format": format.to_string(), "pattern": pattern})
        }
        Format::Id | Format::Prefixed(_) => {
            json!({"type": "string", "minLength": SHORTEST, "pattern": pattern})
        }
        // Without a zone a time is none of RFC 3339.
        _ => json!({"type": "string", "pattern": pattern}),
    }
}

fn of_array(array: &Array) -> Value {
    let elements = match array {
        Array::List(elements) => elements,
        Array::Tuple(places) => {
            let places = shown(places);
            let least = places.iter().filter(|(_, it)| it.presence == Presence::Required).count();
            let all: Vec<Value> = places.iter().map(|(_, it)| it.schema.subschema()).collect();
            return json!({"type": "array", "prefixItems": all, "minItems": least, "items": false});
        }
    };
    if elements.is_never() {
        return json!({"type": "array", "maxItems": 0});
    }
    json!({"type": "array", "items": elements.subschema()})
}

/// An object that has these tags besides.
fn of_object(object: &Object, told: &[(&str, &str)]) -> Value {
    match object {
        Object::Plain(fields) => of_fields(fields, told),
        Object::Union(union) => of_union(union, told),
    }
}

/// The branches; a discriminator tells OpenAPI, and `const` JSON Schema, which is which.
fn of_union(union: &Union, told: &[(&str, &str)]) -> Value {
    let mut branches: Vec<Value> = union
        .branches
        .iter()
        .map(|(value, branch)| of_object(branch, &[told, &[(&union.tag, value)]].concat()))
        .collect();
    if union.open {
        let known: Vec<&String> = union.branches.keys().collect();
        let new = json!({"type": "string", "not": {"enum": known}});
        let mut properties = tags(told);
        properties.insert(union.tag.clone(), new);
        let required: Vec<&String> = properties.keys().collect();
        branches.push(json!({"type": "object", "required": required, "properties": properties}));
    }
    if branches.is_empty() { Value::Bool(false) } else { json!({"oneOf": branches}) }
}

fn tags(told: &[(&str, &str)]) -> Map<String, Value> {
    told.iter().map(|(tag, value)| ((*tag).to_owned(), json!({"const": value}))).collect()
}

fn of_fields(fields: &Fields, told: &[(&str, &str)]) -> Value {
    let mut properties = tags(told);
    let mut required: Vec<&str> = told.iter().map(|(tag, _)| *tag).collect();
    for (name, field) in shown(fields) {
        properties.insert(name.clone(), field.schema.subschema());
        if field.presence == Presence::Required {
            required.push(name);
        }
    }
    let mut object = Map::from_iter([("type".to_owned(), json!("object"))]);
    if !required.is_empty() {
        object.insert("required".to_owned(), json!(required));
    }
    if !properties.is_empty() {
        object.insert("properties".to_owned(), properties.into());
    }
    of_others(fields, &mut object);
    object.into()
}

/// What is said of members that are no fields. Where fields, data and what is not known stand side by
/// side, nothing is said.
fn of_others(fields: &Fields, object: &mut Map<String, Value>) {
    let known: Vec<String> = object
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    match &fields.rest {
        None if fields.open => {}
        None => {
            object.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        Some(_) if fields.open && !known.is_empty() => {}
        Some(rest) if fields.open => {
            let all = patterns(&rest.name).into_iter().map(|name| (name, rest.schema.subschema()));
            object.insert("patternProperties".to_owned(), all.collect::<Map<_, _>>().into());
        }
        Some(rest) => {
            object.insert("additionalProperties".to_owned(), rest.schema.subschema());
            object.extend(names(rest, known).map(|names| ("propertyNames".to_owned(), names)));
        }
    }
}

/// The names that members may have, if not any.
fn names(rest: &Rest, known: Vec<String>) -> Option<Value> {
    let mut names = of_text(&rest.name);
    if matches!(rest.name, Text::Any | Text::Open(_)) {
        return None;
    }
    if !known.is_empty() {
        names.push(json!({"enum": known}));
    }
    Some(any_of(names))
}

fn patterns(names: &Text) -> Vec<String> {
    match names {
        Text::Any | Text::Open(_) => vec![String::new()],
        Text::Of(formats, values) => formats
            .iter()
            .map(Format::pattern)
            .chain(values.iter().map(|value| format!("^{}$", escaped(value))))
            .collect(),
    }
}

/// A text as a pattern of ECMA-262 that fits nothing else.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\^$.*+?()[]{}|/".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}

impl Format {
    /// What has this format, as a pattern of ECMA-262. Of minted values only the letters are told, not
    /// how random they look.
    pub(super) fn pattern(&self) -> String {
        const HEX: &str = "[0-9A-Fa-f]";
        const DATE: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
        const TIME: &str = r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?";
        const ZONE: &str = "(?:[Zz]|[+-][0-9]{2}:[0-9]{2})";
        const MINTED: &str = "[0-9A-Za-z._~+/=-]";
        let uuid = format!("{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}");
        match self {
            Self::Uuid => format!("^{uuid}$"),
            Self::DateTime => format!("^{DATE}{TIME}{ZONE}$"),
            Self::LocalDateTime => {
                format!("^{DATE}(?:{TIME}(?:{ZONE}|[+-][0-9]{{4}})?|T[0-9]{{2}}:[0-9]{{2}})$")
            }
            Self::HttpDate => {
                r"^(?:[A-Za-z]{3}, )?[0-9]{1,2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} (?:GMT|UTC|Z|[+-][0-9]{4})$".to_owned()
            }
            Self::Date => format!("^{DATE}$"),
            Self::Uri => r"^[a-z][a-z0-9+.-]*:\/\/[!-~]+$".to_owned(),
            Self::Integer => "^-?(?:0|[1-9][0-9]*)$".to_owned(),
            Self::Id => format!("^{MINTED}{{{SHORTEST},{LONGEST}}}$"),
            Self::Prefixed(prefix) => {
                format!("^{}[-_]{MINTED}{{{SHORT},{LONGEST}}}$", escaped(prefix))
            }
        }
    }
}
