//! The type of a message.

use std::fmt;

use crate::json::{Container, Text};

/// The type of a message, by which orders and shapes are learned.
///
/// # Rationale
///
/// Which field tells the type is taken from a short list of what servers of this kind are known to
/// do. [`Tag::of`] is the only place that knows the list, so that learning the field from recordings
/// can take its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tag {
    /// The message says its type.
    Named(String),
    /// It does not; only its kind is known (`object`, `array`, `string`, `scalar`, `text`).
    Untyped(&'static str),
    /// An SSE comment.
    Comment,
}

/// The fields that tell the type, the most telling first.
const FIELDS: [&str; 4] = ["message_type", "type", "jsonrpc", "object"];

/// What ends an OpenAI-style stream, and what stands for it as a tag.
const DONE: &str = "[DONE]";

/// Types that only say that the server is still there.
const KEEP_ALIVE: [&str; 5] = ["ping", "heartbeat", "keepalive", "keep-alive", "keep_alive"];

impl Tag {
    /// The type of a message, from its data and the name of its SSE event.
    pub fn of(data: &str, event: Option<&str>) -> Self {
        if data.trim() == DONE {
            return Self::Named(DONE.to_owned());
        }
        let json = Text::parse(data.as_bytes());
        if let Some(name) = json.and_then(field) {
            return Self::Named(name);
        }
        match (event, json) {
            (Some(event), _) => Self::Named(event.to_owned()),
            (None, Some(json)) => Self::Untyped(kind(json)),
            (None, None) => Self::Untyped("text"),
        }
    }

    /// The tag as it is shown and written in orders.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Untyped(kind) => kind,
            Self::Comment => ":",
        }
    }

    /// Whether the message says its type.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// Whether it only says that the server is still there.
    pub fn is_keep_alive(&self) -> bool {
        match self {
            Self::Named(name) => KEEP_ALIVE.contains(&name.as_str()),
            Self::Untyped(_) => false,
            Self::Comment => true,
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The type that an object tells in one of its fields.
pub(super) fn field(object: Text<'_>) -> Option<String> {
    let mut found: [Option<Text<'_>>; FIELDS.len()] = [None; FIELDS.len()];
    for (name, value) in object.members() {
        if let Some(index) = FIELDS.iter().position(|field| *field == name) {
            found[index] = Some(value);
        }
    }
    let told = FIELDS.iter().zip(found).filter_map(|(field, value)| Some((*field, value?)));
    told.into_iter().find_map(|(field, value)| {
        let value = value.string().filter(|value| !value.is_empty())?;
        match (field, &*value) {
            ("jsonrpc", _) => json_rpc(object),
            ("object", "chat.completion.chunk") => Some(completion_chunk(object).to_owned()),
            _ => Some(value.into_owned()),
        }
    })
}

fn json_rpc(message: Text<'_>) -> Option<String> {
    if let Some(method) = message.get("method").and_then(Text::string) {
        return Some(method.into_owned());
    }
    ["result", "error"].iter().find(|it| message.get(it).is_some()).map(|it| (*it).to_owned())
}

/// All chunks of an OpenAI-style stream say the same type: what is in one tells more.
fn completion_chunk(chunk: Text<'_>) -> &'static str {
    let Some(choice) = chunk.at(&["choices", "0"]) else { return "chunk.usage" };
    if choice.get("finish_reason").is_some_and(|it| it.string().is_some()) {
        return "chunk.finish";
    }
    let parts = [
        ("tool_calls", "chunk.tool_calls"),
        ("reasoning_content", "chunk.reasoning"),
        ("reasoning", "chunk.reasoning"),
        ("refusal", "chunk.refusal"),
        ("content", "chunk.content"),
        ("role", "chunk.role"),
    ];
    let says = |part: &str| {
        let value = choice.at(&["delta", part]);
        value.is_some_and(|it| {
            it.container().is_some() || it.string().is_some_and(|it| !it.is_empty())
        })
    };
    parts.iter().find(|(part, _)| says(part)).map_or("chunk.empty", |(_, tag)| tag)
}

fn kind(json: Text<'_>) -> &'static str {
    match json.container() {
        Some(Container::Object) => "object",
        Some(Container::Array) => "array",
        None if json.string().is_some() => "string",
        None => "scalar",
    }
}
