//! A message of an answer, and its kind.

use crate::contract::invariant;
use crate::message::Tag;
use crate::text::json::Text;

/// A message of an answer.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) tag: String,
    /// Its type; of the result of a call by JSON-RPC also what was called.
    pub(crate) kind: String,
    pub(crate) json: String,
    /// Whether it says its type.
    pub(crate) has_type: bool,
}

impl Said {
    pub(super) fn of(tag: &Tag, json: String, asked: Option<&str>) -> Self {
        let has_type = tag.is_named();
        let tag = tag.as_str().to_owned();
        let kind = match (tag == RESULT).then(|| called(&json, asked)).flatten() {
            Some(method) => format!("{RESULT} of {method}"),
            None => tag.clone(),
        };
        Self { tag, kind, json, has_type }
    }

    /// What it says.
    pub(crate) fn text(&self) -> Text<'_> {
        // All of it was read before.
        Text::known(&self.json)
    }

    pub(super) fn event(&self) -> invariant::Event<'_> {
        invariant::Event { tag: &self.tag, json: &self.json }
    }
}

/// The type of what answers a call by JSON-RPC.
const RESULT: &str = "result";

/// The method of the call that a message of JSON-RPC answers.
fn called(json: &str, asked: Option<&str>) -> Option<String> {
    let (answer, call) = (Text::read(json)?, Text::read(asked?)?);
    let id = answer.get("id").map(Text::as_str)?;
    let is_answer = answer.get("jsonrpc").is_some() && call.get("id").map(Text::as_str) == Some(id);
    let method = call.get("method").and_then(Text::string).filter(|_| is_answer);
    method.map(|method| method.into_owned())
}
