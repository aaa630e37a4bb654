//! How messages stand in a body.

/// How messages stand in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    EventStream,
    /// A JSON value on each line.
    Lines,
    /// One JSON value.
    Json,
    /// Nothing that can be read: no messages.
    Opaque,
}

impl Framing {
    /// Judges by the `content-type`.
    pub fn of(content_type: Option<&str>) -> Self {
        let media = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        match media.trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => Self::EventStream,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonl"
            | "application/jsonlines"
            | "application/x-jsonlines"
            | "application/json-lines"
            | "application/stream+json" => Self::Lines,
            "application/json" | "text/json" => Self::Json,
            media if media.ends_with("+json") => Self::Json,
            _ => Self::Opaque,
        }
    }
}
