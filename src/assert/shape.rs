//! Shapes of values in a test.

use insta::_macro_support::{SerializationFormat, serialize_value};
use serde::Serialize;

use crate::contract::shape::{Schema, Shape};

/// A value as JSON, after insta's settings (redactions, sorted maps) were applied to it.
///
/// # Rationale
///
/// insta gives no public way to the value it would have snapshot, only to the text that its own macros
/// make of it. This is the function that they call.
pub fn json(value: &impl Serialize) -> String {
    serialize_value(value, SerializationFormat::Json)
}

/// What a JSON text looks like.
///
/// # Panics
///
/// If it is no JSON.
#[track_caller]
pub fn shape_text(json: &str) -> String {
    let mut shape = Shape::default();
    match shape.learn(json, 0) {
        Ok(()) => shape.finish().to_string(),
        Err(error) => panic!("the value has no shape: {error}"),
    }
}

/// Holds a JSON text against a schema.
///
/// # Panics
///
/// If it is not as the schema says, or the schema cannot be read.
#[track_caller]
pub fn check_shape(json: &str, schema: &str) {
    let schema = match Schema::parse(&dedented(schema)) {
        Ok(schema) => schema,
        Err(errors) => panic!("the shape cannot be read\n{errors}"),
    };
    let violations = schema.accepts(json);
    if !violations.is_empty() {
        let told: Vec<String> =
            violations.iter().map(|violation| format!("  {violation}\n")).collect();
        panic!("the value has another shape\n{}\nthe value\n{json}", told.concat());
    }
}

/// A text without the indentation that it has only because it stands in a program.
fn dedented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines().map(|line| format!("{}\n", &line[indent..])).collect()
}
