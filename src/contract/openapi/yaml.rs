//! YAML as JSON.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

use crate::error::{Error, Kind, Result};

/// The JSON value that a YAML text says.
pub(super) fn parse(text: &str) -> Result<Value> {
    let documents = Yaml::load_from_str(text).map_err(|error| {
        Error::new(Kind::Document("it is neither JSON nor YAML")).because(error)
    })?;
    Ok(documents.first().map_or(Value::Null, value))
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(scalar) => of_scalar(scalar),
        Yaml::Sequence(values) => values.iter().map(value).collect(),
        Yaml::Mapping(members) => {
            let members = members.iter().filter_map(|(name, it)| Some((key(name)?, value(it))));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Yaml::Tagged(_, inner) => value(inner),
        Yaml::Representation(..) | Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}

fn of_scalar(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Integer(value) => Value::from(*value),
        Scalar::FloatingPoint(value) => {
            Number::from_f64(value.into_inner()).map_or(Value::Null, Value::Number)
        }
        Scalar::String(text) => Value::String(text.to_string()),
    }
}

/// A status (`200:`) is a number in YAML, and a name in JSON.
fn key(name: &Yaml<'_>) -> Option<String> {
    match value(name) {
        Value::String(name) => Some(name),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
