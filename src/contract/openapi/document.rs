//! What a document says that a server can do.

use serde_json::{Map, Value};

use super::{Fit, Template};
use crate::error::{Error, Kind, Result};
use crate::text::percent;

/// What an OpenAPI document (3.0 to 3.2) says that a server can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The name of the API.
    pub title: String,
    /// Its version.
    pub version: String,
    /// What can be asked, in the order of the document.
    pub operations: Vec<Operation>,
    /// References to other files, which are not followed.
    pub elsewhere: Vec<String>,
}

/// A method and a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path as it is written, without what stands before it in the servers' addresses.
    pub path: String,
    /// What may come back.
    pub responses: Vec<Response>,
    template: Template,
    /// What may stand before the path.
    prefixes: Vec<String>,
}

/// What may come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// `200`, `4XX` or `default`.
    pub status: String,
    /// The media types, without parameters: `application/json`, `text/*`.
    pub media: Vec<String>,
}

/// The methods that have a name of their own in a path item.
pub(super) const METHODS: [&str; 9] =
    ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"];

/// References behind references are followed so far.
const DEEPEST: usize = 16;

impl Document {
    /// Reads a document that is JSON, or YAML where the command is built in.
    ///
    /// # Errors
    ///
    /// If it is neither, no OpenAPI 3 document, or has no operations.
    pub fn parse(text: &str) -> Result<Self> {
        let root = match serde_json::from_str(text) {
            Ok(root) => root,
            Err(error) if text.trim_start().starts_with('{') => {
                return Err(Error::new(Kind::Document("it is not JSON")).because(error));
            }
            Err(error) => yaml(text, error)?,
        };
        Self::of(&root)
    }

    fn of(root: &Value) -> Result<Self> {
        let version = root.get("openapi").and_then(Value::as_str);
        if !version.is_some_and(|version| version.starts_with("3.")) {
            return Err(Error::new(Kind::Document("it does not say `openapi: 3…`"))
                .with_hint("OpenAPI 3.0 to 3.2 is read; Swagger 2.0 can be converted to it"));
        }
        let mut reader = DocumentReader { root, elsewhere: Vec::new() };
        let mut operations = Vec::new();
        for (path, item) in reader.object(root, "paths") {
            operations.extend(reader.item(path, item));
        }
        if operations.is_empty() {
            return Err(Error::new(Kind::Document("it has no operations")));
        }
        let info = |name: &str| {
            let told = root.get("info").and_then(|info| info.get(name)).and_then(Value::as_str);
            told.unwrap_or_default().to_owned()
        };
        let mut elsewhere = reader.elsewhere;
        elsewhere.sort();
        elsewhere.dedup();
        Ok(Self { title: info("title"), version: info("version"), operations, elsewhere })
    }

    /// The operation that a request is for, by its place.
    pub fn operation(&self, method: &str, path: &str) -> Option<usize> {
        let fits = self.operations.iter().enumerate();
        let fits = fits.filter(|(_, operation)| operation.method == method);
        let fits = fits.filter_map(|(place, operation)| Some((operation.fits(path)?, place)));
        // Of equal ones the first: the document is not to say the same twice.
        let best =
            fits.max_by(|(one, first), (other, second)| one.cmp(other).then(second.cmp(first)));
        best.map(|(_, place)| place)
    }
}

#[cfg(feature = "cli")]
fn yaml(text: &str, _: serde_json::Error) -> Result<Value> {
    yaml::parse(text)
}

#[cfg(not(feature = "cli"))]
fn yaml(_: &str, error: serde_json::Error) -> Result<Value> {
    Err(Error::new(Kind::Document("it is not JSON")).because(error))
}

impl Operation {
    /// How well a path fits: best behind what a server's address says, else as it is.
    fn fits(&self, path: &str) -> Option<(bool, Fit)> {
        let behind = |prefix: &String| {
            let rest = path.strip_prefix(prefix.as_str())?;
            let fit = rest.starts_with('/').then(|| self.template.fits(rest))?;
            fit.map(|fit| (true, fit))
        };
        let served = self.prefixes.iter().filter_map(behind).max();
        served.or_else(|| self.template.fits(path).map(|fit| (false, fit)))
    }

    /// The response that an answer with this status is, by its place: the very status, else its range,
    /// else `default`.
    pub fn response(&self, status: u16) -> Option<usize> {
        let range = format!("{}XX", status / 100);
        let find = |told: &str| {
            self.responses.iter().position(|response| response.status.eq_ignore_ascii_case(told))
        };
        find(&status.to_string()).or_else(|| find(&range)).or_else(|| find("default"))
    }
}

impl Response {
    /// The media type that another one is, by its place: the very type, else a range of types.
    pub fn media(&self, media: &str) -> Option<usize> {
        let find = |told: &str| self.media.iter().position(|known| known == told);
        let range = media.split_once('/').map(|(kind, _)| format!("{kind}/*"));
        find(media).or_else(|| find(&range?)).or_else(|| find("*/*"))
    }
}

struct DocumentReader<'d> {
    root: &'d Value,
    elsewhere: Vec<String>,
}

impl<'d> DocumentReader<'d> {
    /// The members of an object, those of OpenAPI's extensions left out.
    fn object(&self, value: &'d Value, name: &str) -> Vec<(&'d String, &'d Value)> {
        let object = value.get(name).and_then(Value::as_object);
        let members = object.into_iter().flat_map(Map::iter);
        members.filter(|(name, _)| !name.starts_with("x-")).collect()
    }

    fn item(&mut self, path: &str, item: &'d Value) -> Vec<Operation> {
        let Some(item) = self.followed(item) else { return Vec::new() };
        let named = METHODS.iter().filter_map(|method| {
            let operation = item.get(method.to_ascii_lowercase()).filter(|it| it.is_object())?;
            Some(((*method).to_owned(), operation))
        });
        let more = self.object(item, "additionalOperations").into_iter();
        let more = more.map(|(method, operation)| (method.clone(), operation));
        let all: Vec<(String, &Value)> = named.chain(more).collect();
        let operations = all.into_iter().map(|(method, operation)| {
            let servers = [operation, item, self.root].into_iter();
            let servers = servers.filter_map(|place| place.get("servers")?.as_array()).next();
            let prefixes = servers.into_iter().flatten().filter_map(prefix).collect();
            let responses = self.object(operation, "responses").into_iter();
            Operation {
                method,
                path: path.to_owned(),
                responses: responses.map(|(status, it)| self.response(status, it)).collect(),
                template: Template::new(path),
                prefixes,
            }
        });
        operations.collect()
    }

    fn response(&mut self, status: &str, response: &'d Value) -> Response {
        let content = self.followed(response).map(|response| self.object(response, "content"));
        let media = content.unwrap_or_default().into_iter();
        let media = media.map(|(name, _)| {
            let name = name.split(';').next().unwrap_or_default();
            name.trim().to_ascii_lowercase()
        });
        Response { status: status.to_owned(), media: media.collect() }
    }

    /// What a reference refers to, within the document.
    fn followed(&mut self, mut value: &'d Value) -> Option<&'d Value> {
        for _ in 0..DEEPEST {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Some(value);
            };
            let Some(pointer) = reference.strip_prefix('#') else {
                self.elsewhere.push(reference.to_owned());
                return None;
            };
            value = self.root.pointer(&percent::decoded(pointer))?;
        }
        None
    }
}

/// What a server's address says that stands before a path.
fn prefix(server: &Value) -> Option<String> {
    let mut url = server.get("url")?.as_str()?.to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten()
    {
        let default = variable.get("default").and_then(Value::as_str).unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url.as_str(),
    };
    Some(path.trim_end_matches('/').to_owned())
}

/// YAML as JSON.
#[cfg(feature = "cli")]
mod yaml {
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
}
