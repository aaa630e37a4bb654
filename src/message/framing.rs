//! How messages stand in a body.

use crate::cassette::Media;

/// How messages stand in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    EventStream,
    /// A JSON value on each line, or behind each record separator and on one line.
    Lines,
    /// One JSON value.
    Json,
    /// Nothing that can be read: no messages.
    Opaque,
}

impl Framing {
    /// Judges by the `content-type`.
    pub fn of(content_type: Option<&str>) -> Self {
        match Media::of(content_type) {
            Media::EventStream => Self::EventStream,
            Media::Lines | Media::Sequence => Self::Lines,
            Media::Json => Self::Json,
            _ => Self::Opaque,
        }
    }
}
