//! A promise as text that reads like an interface.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::schema::{Array, Field, Fields, Number, Object, Presence, Schema, Text, Union};
use super::tuple;
use crate::contract::syntax::write_name;

/// What says that the elements of an array are known by their places.
pub(super) const TUPLE: &str = "tuple";

/// What stands for what is not known yet.
pub(super) const OPEN: &str = "…";

impl fmt::Display for Schema {
    /// One line for each field, ended by a line feed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write_line(&mut out, 0);
        f.write_str(&out)
    }
}

impl Schema {
    /// Which types of values there are, in short: `integer | null`, `object`.
    pub fn kind(&self) -> String {
        let kinds = [
            (self.any, "any"),
            (self.boolean, "boolean"),
            (self.number == Some(Number::Integer) || !self.codes.is_empty(), "integer"),
            (self.number == Some(Number::Any), "number"),
            (self.string.is_some(), "string"),
            (self.array.is_some(), "array"),
            (self.object.is_some(), "object"),
            (self.null, "null"),
        ];
        let kinds: Vec<&str> =
            kinds.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        kinds.join(" | ")
    }

    /// Whether it is of strings only.
    pub fn is_text(&self) -> bool {
        self.kind() == "string"
    }

    /// It as text on one line, as a contract says it where there is room.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        expression(self, Style::Inline, &mut out);
        out
    }

    /// Ends a line and writes the lines below it.
    fn write_line(&self, out: &mut String, depth: usize) {
        if blocks(self) > 1 {
            expression(self, Style::Inline, out);
            out.push('\n');
            return;
        }
        expression(self, Style::Block, out);
        out.push('\n');
        if let Some(block) = block(self) {
            block.write(out, depth + 1);
        }
    }
}

/// Where the fields of objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// On the lines below.
    Block,
    /// Between braces.
    Inline,
}

/// How many objects there are whose fields would stand on lines of their own.
fn blocks(schema: &Schema) -> usize {
    let array = schema.array.as_deref().map_or(0, |array| match array {
        Array::List(elements) => blocks(elements),
        Array::Tuple(_) => 1,
    });
    let object = schema.object.as_deref().map_or(0, |object| match object {
        Object::Plain(fields) if fields.fields.is_empty() && !fields.open => {
            fields.rest.as_ref().map_or(0, |rest| blocks(&rest.schema))
        }
        Object::Plain(_) | Object::Union(_) => 1,
    });
    array + object
}

/// What stands on the lines below.
enum Block<'s> {
    Fields(&'s Fields),
    Union(&'s Union),
}

impl<'s> Block<'s> {
    fn of(object: &'s Object) -> Self {
        match object {
            Object::Plain(fields) => Self::Fields(fields),
            Object::Union(union) => Self::Union(union),
        }
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        let is_open = match self {
            Self::Fields(fields) => {
                for (head, schema) in members(fields) {
                    let _ = write!(out, "{indent}{head}");
                    schema.write_line(out, depth);
                }
                fields.open
            }
            Self::Union(union) => {
                for (value, branch) in &union.branches {
                    let _ = write!(out, "{indent}{}", QuotedName(value));
                    if let Object::Union(inner) = branch {
                        let _ = write!(out, " by {}", QuotedName(&inner.tag));
                    }
                    out.push('\n');
                    Self::of(branch).write(out, depth + 1);
                }
                union.open
            }
        };
        if is_open {
            let _ = writeln!(out, "{indent}{OPEN}");
        }
    }
}

/// The fields or branches that stand on the lines below.
fn block(schema: &Schema) -> Option<Block<'_>> {
    let array = schema.array.as_deref().and_then(|array| match array {
        Array::List(elements) => block(elements),
        Array::Tuple(places) => Some(Block::Fields(places)),
    });
    array.or_else(|| match schema.object.as_deref()? {
        Object::Plain(fields) if fields.fields.is_empty() && !fields.open => {
            fields.rest.as_ref().and_then(|rest| block(&rest.schema))
        }
        object => Some(Block::of(object)),
    })
}

/// The fields in the order in which they are shown.
pub(super) fn shown(fields: &Fields) -> Vec<(&String, &Field)> {
    let mut shown: Vec<_> = fields.fields.iter().collect();
    shown.sort_by_key(|(_, field)| field.position);
    shown
}

/// What begins the line of each field, and of the members whose names are data, and what it is.
fn members(fields: &Fields) -> Vec<(String, &Schema)> {
    let mark = |field: &Field| if field.presence == Presence::Optional { "?" } else { "" };
    let known = shown(fields).into_iter();
    let known = known.map(|(name, field)| {
        // No field is called so without quotes.
        let name =
            if tuple::index(name).is_some() { name.clone() } else { QuotedName(name).to_string() };
        (format!("{name}{}: ", mark(field)), &field.schema)
    });
    let rest = fields.rest.iter();
    let rest =
        rest.map(|rest| (format!("[{}]: ", alternatives(&rest.name).join(" | ")), &rest.schema));
    known.chain(rest).collect()
}

fn expression(schema: &Schema, style: Style, out: &mut String) {
    let mut parts = Vec::new();
    if schema.any {
        parts.push("any".to_owned());
    }
    if schema.boolean {
        parts.push("boolean".to_owned());
    }
    match schema.number {
        Some(Number::Integer) => parts.push("integer".to_owned()),
        Some(Number::Any) => parts.push("number".to_owned()),
        None => parts.extend(schema.codes.iter().map(i64::to_string)),
    }
    parts.extend(schema.string.iter().flat_map(alternatives));
    parts.extend(schema.array.as_deref().map(|it| array(it, style)));
    parts.extend(schema.object.as_deref().map(|object| of_object(object, style)));
    if schema.null {
        parts.push("null".to_owned());
    }
    if parts.is_empty() {
        parts.push("never".to_owned());
    }
    out.push_str(&parts.join(" | "));
}

/// The alternatives that a string has.
pub(super) fn alternatives(text: &Text) -> Vec<String> {
    let quoted = |values: &BTreeSet<String>| values.iter().map(|value| quote(value)).collect();
    match text {
        Text::Any => vec!["string".to_owned()],
        Text::Open(known) => {
            let mut parts: Vec<String> = quoted(known);
            parts.push(OPEN.to_owned());
            parts
        }
        Text::Of(formats, values) => {
            let mut parts: Vec<String> = formats.iter().map(ToString::to_string).collect();
            parts.extend::<Vec<String>>(quoted(values));
            parts
        }
    }
}

fn array(array: &Array, style: Style) -> String {
    match (array, style) {
        (Array::List(elements), _) => {
            let mut out = "[".to_owned();
            if !elements.is_never() {
                expression(elements, style, &mut out);
            }
            out + "]"
        }
        (Array::Tuple(_), Style::Block) => TUPLE.to_owned(),
        (Array::Tuple(places), Style::Inline) => {
            let mut out = format!("{TUPLE} ");
            braces(places, &mut out);
            out
        }
    }
}

fn of_object(object: &Object, style: Style) -> String {
    let mut out = String::new();
    match object {
        Object::Plain(fields) if fields.fields.is_empty() && !fields.open => match &fields.rest {
            None => out.push_str("{}"),
            Some(rest) => {
                let _ = write!(out, "map<{}, ", alternatives(&rest.name).join(" | "));
                expression(&rest.schema, style, &mut out);
                out.push('>');
            }
        },
        Object::Plain(_) if style == Style::Block => out.push_str("object"),
        Object::Plain(fields) => braces(fields, &mut out),
        Object::Union(union) => {
            let _ = write!(out, "by {}", QuotedName(&union.tag));
            if style == Style::Inline {
                out.push(' ');
                branches(union, &mut out);
            }
        }
    }
    out
}

fn braces(fields: &Fields, out: &mut String) {
    let parts = members(fields).into_iter().map(|(head, schema)| head + &schema.to_text());
    let mut parts: Vec<String> = parts.collect();
    parts.extend(fields.open.then(|| OPEN.to_owned()));
    let _ = write!(out, "{{{}}}", parts.join(", "));
}

fn branches(union: &Union, out: &mut String) {
    let branch = |(value, branch): (&String, &Object)| {
        let mut part = format!("{} ", QuotedName(value));
        match branch {
            Object::Plain(fields) => braces(fields, &mut part),
            Object::Union(_) => part.push_str(&of_object(branch, Style::Inline)),
        }
        part
    };
    let mut parts: Vec<String> = union.branches.iter().map(branch).collect();
    parts.extend(union.open.then(|| OPEN.to_owned()));
    let _ = write!(out, "{{{}}}", parts.join(", "));
}

/// A name as it is written: plain where it reads well, else as a JSON string.
pub(super) struct QuotedName<'a>(pub(super) &'a str);

impl fmt::Display for QuotedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.0.chars();
        let plain =
            chars.next().is_some_and(|first| first.is_ascii_alphabetic() || "_$".contains(first))
                && chars.all(is_name)
                && self.0 != "by";
        write_name(f, self.0, plain)
    }
}

/// Whether a name that is not quoted may have this inside.
pub(super) fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || "_-./$".contains(char)
}

/// As a JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
