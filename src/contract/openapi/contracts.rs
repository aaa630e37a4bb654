//! Contracts as documents of others: JSON Schema 2020-12 and OpenAPI 3.2.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::document::METHODS;
use crate::contract::shape::DIALECT;
use crate::contract::{Contract, Endpoint, Kinds};
use crate::message::DONE;

/// Contracts as JSON Schema: one contract as the schema of its answers (of the messages of a stream),
/// several as `$defs`, by the names of their files. Contracts that say nothing of JSON are left out.
pub fn to_json_schema(contracts: &[Contract]) -> Value {
    let mut schemas = Map::new();
    for contract in contracts {
        if let Some(schema) = of_contract(contract) {
            let name = free(&contract.endpoint.slug(), '-', |name| !schemas.contains_key(name));
            schemas.insert(name, schema);
        }
    }
    if schemas.len() > 1 {
        return json!({"$schema": DIALECT, "$defs": schemas});
    }
    let mut only = schemas.into_iter().next().map_or_else(|| json!({}), |(_, schema)| schema);
    only["$schema"] = DIALECT.into();
    only
}

/// What is promised of each answer, or of each message of it.
fn of_contract(contract: &Contract) -> Option<Value> {
    let mut schema = match &contract.events {
        Some(events) => of_messages(contract, events),
        None => of_kinds(contract.body.as_ref()?),
    };
    schema["title"] = contract.endpoint.to_string().into();
    Some(schema)
}

/// What the messages of a stream look like, also those that only say that the server is still there.
fn of_messages(contract: &Contract, events: &Kinds) -> Value {
    let events = of_kinds(events);
    match &contract.keep_alives {
        Some(keep_alives) => json!({"anyOf": [events, of_kinds(keep_alives)]}),
        None => events,
    }
}

/// What messages look like: those of one kind, or of any.
fn of_kinds(kinds: &Kinds) -> Value {
    match kinds {
        Kinds::One(schema) => schema.to_object_schema(),
        Kinds::Each(kinds) => {
            let each = kinds.iter().map(|(kind, schema)| {
                let mut schema = schema.to_object_schema();
                schema["title"] = kind.as_str().into();
                schema
            });
            json!({"anyOf": each.collect::<Vec<_>>()})
        }
    }
}

/// A name, with a number behind it if it is taken.
fn free(name: &str, sign: char, is_free: impl FnMut(&String) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}{sign}{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// Contracts as one OpenAPI 3.2 document. Streams have an `itemSchema`; what OpenAPI has no words for,
/// the order of messages and what ties them together, stands in `x-retape-contract`.
///
/// What is asked is not described: contracts are about answers.
pub fn to_open_api(contracts: &[Contract]) -> Value {
    let mut paths: BTreeMap<String, (String, Map<String, Value>)> = BTreeMap::new();
    for contract in contracts {
        let Endpoint { method, path, status, .. } = &contract.endpoint;
        // Paths that differ in the names of their open places only are one path.
        let (name, parameters) = distinct(path);
        let (_, item) = paths.entry(nameless(path)).or_insert_with(|| (name, item(&parameters)));
        let (operations, method) = if METHODS.contains(&method.as_str()) {
            (item, method.to_ascii_lowercase())
        } else {
            (members(item, "additionalOperations"), method.clone())
        };
        let responses = members(members(operations, &method), "responses");
        add(contract, members(responses, &status.to_string()));
    }
    let paths: Map<String, Value> =
        paths.into_values().map(|(name, item)| (name, item.into())).collect();
    json!({
        "openapi": "3.2.0",
        "info": {"title": "Learned contracts", "version": "1"},
        "paths": paths,
    })
}

/// The object below a name, made if it is not there.
fn members<'m>(object: &'m mut Map<String, Value>, name: &str) -> &'m mut Map<String, Value> {
    let value = object.entry(name).or_insert_with(|| json!({}));
    value.as_object_mut().expect("only objects are put below these names")
}

/// Adds what a contract says to its response.
fn add(contract: &Contract, response: &mut Map<String, Value>) {
    let Endpoint { status, media, .. } = &contract.endpoint;
    let reason = StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
    let reason = reason.map_or_else(|| format!("Status {status}"), str::to_owned);
    response.insert("description".to_owned(), reason.into());
    if media.is_empty() {
        return;
    }
    let mut kind = match (&contract.events, &contract.body) {
        (Some(events), _) => stream(contract, events),
        (None, Some(body)) => json!({"schema": of_kinds(body)}),
        (None, None) => json!({}),
    };
    if let Some(told) = told(contract) {
        kind["x-retape-contract"] = told.into();
    }
    members(response, "content").insert(media.clone(), kind);
}

/// The media type object of a stream (OpenAPI 3.2, section 4.14). Its items are the messages; those of
/// `text/event-stream` are events, whose `data` holds the JSON text.
fn stream(contract: &Contract, events: &Kinds) -> Value {
    let item = of_messages(contract, events);
    if !contract.endpoint.media.starts_with("text/event-stream") {
        return json!({"itemSchema": item});
    }
    let mut data =
        json!({"type": "string", "contentMediaType": "application/json", "contentSchema": item});
    if told(contract).is_some_and(|told| told.contains(DONE)) {
        data = json!({"anyOf": [{"const": DONE}, data]});
    }
    json!({
        "itemSchema": {
            "type": "object",
            "required": ["data"],
            "properties": {
                "data": data,
                "event": {"type": "string"},
                "id": {"type": "string"},
                "retry": {"type": "integer", "minimum": 0},
            },
        },
    })
}

/// The order and the invariants, as the contract writes them.
fn told(contract: &Contract) -> Option<String> {
    let told =
        Contract { headers: None, events: None, keep_alives: None, body: None, ..contract.clone() }
            .to_string();
    let lines = told.lines().skip(1).map(|line| format!("{}\n", line.get(2..).unwrap_or_default()));
    Some(lines.collect::<String>()).filter(|told| !told.is_empty())
}

fn item(parameters: &[String]) -> Map<String, Value> {
    let described = parameters.iter().map(
        |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}),
    );
    let described: Vec<Value> = described.collect();
    let described = (!described.is_empty()).then(|| ("parameters".to_owned(), described.into()));
    described.into_iter().collect()
}

/// A path whose open places have different names, and these names.
fn distinct(path: &str) -> (String, Vec<String>) {
    let (mut taken, mut names) = (BTreeSet::new(), Vec::new());
    let segments = path.split('/').map(|segment| {
        let Some(name) = open_place(segment) else { return segment.to_owned() };
        let name = free(name, '_', |name| taken.insert(name.clone()));
        names.push(name.clone());
        format!("{{{name}}}")
    });
    let path = segments.collect::<Vec<_>>().join("/");
    (path, names)
}

fn nameless(path: &str) -> String {
    let segments = path.split('/').map(|segment| open_place(segment).map_or(segment, |_| "{}"));
    segments.collect::<Vec<_>>().join("/")
}

fn open_place(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}
