//! What has begun and may be a secret.

use super::assigned;
use super::quote::Quote;
use crate::redact::name::Tells;

/// Something that has begun and may be a secret.
pub(super) enum Held {
    String { start: usize, quote: Quote, role: Role, begun: Begun },
    Number { start: usize },
    Url { start: usize, scheme: usize },
    Assigned { start: usize, name: String, tells: Tells },
}

/// What a string is if it is something.
pub(super) enum Role {
    Secret(String),
    Perhaps(String),
    /// A key or a value below a telling name.
    Nested,
}

/// Whether the placeholder for a long value has been written already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    No,
    Yes,
}

impl Held {
    pub(super) fn start(&self) -> usize {
        match self {
            Self::String { start, .. }
            | Self::Number { start }
            | Self::Url { start, .. }
            | Self::Assigned { start, .. } => *start,
        }
    }

    /// Counts from a text of which the first bytes are forgotten.
    pub(super) fn forget(&mut self, count: usize) {
        match self {
            Self::String { start, .. } | Self::Number { start } | Self::Assigned { start, .. } => {
                *start -= count;
            }
            Self::Url { start, scheme } => {
                *start -= count;
                *scheme -= count;
            }
        }
    }

    /// Where it ends, and where to go on.
    pub(super) fn end(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let first = |is_end: fn(u8) -> bool| {
            let found = text[from..].iter().position(|byte| is_end(*byte))? + from;
            Some((found, found))
        };
        match self {
            Self::String { start, quote, .. } => quote.end(text, *start, from),
            Self::Assigned { start, .. } => assigned::end(text, *start, from).map(|end| (end, end)),
            Self::Number { .. } => first(|byte| {
                !byte.is_ascii_digit() && !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
            }),
            Self::Url { .. } => first(|byte| {
                byte.is_ascii_whitespace()
                    || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b')')
            }),
        }
    }
}
