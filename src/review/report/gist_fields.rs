//! Where messages say what matters, for the servers that retape is made for.
//!
//! The lists are tried in order. `*` stands for every element of an array.

/// A place in a message: names of members, digits or `*` for elements.
pub(super) type Path = &'static [&'static str];

/// Short values that tell one message of a type from another.
pub(super) const WORDS: &[Path] = &[
    &["role"],
    &["choices", "0", "delta", "role"],
    &["stop_reason"],
    &["delta", "stop_reason"],
    &["choices", "0", "finish_reason"],
    &["done_reason"],
    &["tool_call", "name"],
    &["tool_calls", "*", "name"],
    &["tool_calls", "*", "function", "name"],
    &["choices", "0", "delta", "tool_calls", "*", "function", "name"],
    &["content_block", "name"],
    &["item", "name"],
    &["params", "name"],
    &["params", "progress"],
    &["params", "level"],
    &["name"],
    &["approvals", "*", "approve"],
    &["approve"],
    &["approvals", "*", "status"],
    &["status"],
    &["error_type"],
    &["code"],
    &["total_tokens"],
    &["usage", "total_tokens"],
    &["usage", "output_tokens"],
];

/// What a message says at length. Of several messages in a row the texts are put together.
pub(super) const TEXTS: &[Path] = &[
    &["tool_call", "arguments"],
    &["tool_calls", "*", "arguments"],
    &["tool_calls", "*", "function", "arguments"],
    &["choices", "0", "delta", "tool_calls", "*", "function", "arguments"],
    &["tool_return"],
    &["tool_returns", "*", "tool_return"],
    &["approvals", "*", "reason"],
    &["approvals", "*", "tool_return"],
    &["reasoning"],
    &["content"],
    &["text"],
    &["delta"],
    &["delta", "text"],
    &["delta", "thinking"],
    &["delta", "partial_json"],
    &["choices", "0", "delta", "content"],
    &["choices", "0", "delta", "reasoning_content"],
    &["choices", "0", "message", "content"],
    &["message", "content"],
    &["response"],
    &["params", "arguments"],
    &["params", "message"],
    &["params", "data"],
    &["result", "content"],
    &["message"],
];

/// Where a request says what it wants.
pub(super) const ASKED: &[Path] = &[&["messages"], &["input"]];

/// The kind of an error.
pub(super) const ERROR_WORDS: &[Path] = &[
    &["error_type"],
    &["error", "type"],
    &["error", "code"],
    &["detail", "code"],
    &["code"],
    &["title"],
];

/// What an error says. All of it is told, the general before the particular.
pub(super) const ERROR_TEXTS: &[Path] = &[
    &["message"],
    &["error", "message"],
    &["detail", "message"],
    &["error"],
    &["detail"],
    &["error", "detail"],
    &["error", "data"],
    &["error_description"],
];

/// Members that say nothing to a reader who sees the type and the time of a message already.
pub(super) const UNTELLING: &[&str] = &[
    "id",
    "otid",
    "type",
    "message_type",
    "object",
    "jsonrpc",
    "method",
    "date",
    "created",
    "index",
    "seq",
    "sequence_number",
];

/// Members by which a thing is known, the most telling first.
pub(super) const LEADING: &[&str] = &[
    "name",
    "title",
    "label",
    "handle",
    "id",
    "status",
    "stop_reason",
    "agent_type",
    "model",
    "text",
    "value",
];
