//! The type of a message.

use std::fmt;
use std::str::FromStr;

use super::protocols;
use crate::config::At;
use crate::error::Error;

/// The type of a message, by which orders and shapes are learned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tag {
    /// The message says its type.
    Named(String),
    /// It does, and only says that the server is still there.
    KeepAlive(String),
    /// It does not; only its kind is known (`object`, `array`, `string`, `scalar`, `text`).
    Untyped(&'static str),
    /// An SSE comment.
    Comment,
}

/// The kind of a message that is no JSON.
pub(crate) const TEXT: &str = "text";

impl Tag {
    /// A type by its name; of some it is known that they only say that the server is still there.
    pub fn named(name: &str) -> Self {
        protocols::named(None, name.to_owned())
    }

    /// The tag as it is shown and written in orders.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Named(name) | Self::KeepAlive(name) => name,
            Self::Untyped(kind) => kind,
            Self::Comment => ":",
        }
    }

    /// Whether a tag is that of messages that do not say their type.
    pub(crate) fn is_kind(tag: &str) -> bool {
        ["object", "array", "string", "scalar", TEXT].contains(&tag)
    }

    /// Whether its name says that it is a piece of something.
    pub(crate) fn names_piece(&self) -> bool {
        let is_piece = |name: &str| ["delta", "Delta", "chunk"].iter().any(|it| name.contains(it));
        matches!(self, Self::Named(name) | Self::KeepAlive(name) if is_piece(name))
    }

    /// Whether the message says its type.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_) | Self::KeepAlive(_))
    }

    /// Whether it only says that the server is still there.
    pub fn is_keep_alive(&self) -> bool {
        matches!(self, Self::KeepAlive(_) | Self::Comment)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What tells the type of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagSource {
    /// What stands in a field: a word, or yes or no.
    Field(At),
    /// Whether anything stands in a field; its name is the type.
    Present(At),
    /// The name of the only member of the object that stands in a place, or of the message itself.
    Member(Option<At>),
    /// The name of the SSE event.
    Event,
    /// That name, and what the message says itself, in a field or as is usual: both are the type.
    Both(Option<At>),
}

impl TagSource {
    /// The place that tells; nothing for the message as a whole, and for the name of the event.
    pub(super) fn place(&self) -> Option<&At> {
        match self {
            Self::Field(at) | Self::Present(at) => Some(at),
            Self::Member(at) | Self::Both(at) => at.as_ref(),
            Self::Event => None,
        }
    }
}

const EVENT: &str = "event";
const PRESENT: &str = "with ";
const MEMBER: &str = "member";
const MEMBER_OF: &str = "member of ";
const BOTH: &str = "event and ";
const TYPE: &str = "type";

impl fmt::Display for TagSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(at) => at.fmt(f),
            Self::Present(at) => write!(f, "{PRESENT}{at}"),
            Self::Member(None) => f.write_str(MEMBER),
            Self::Member(Some(at)) => write!(f, "{MEMBER_OF}{at}"),
            Self::Event => f.write_str(EVENT),
            Self::Both(None) => write!(f, "{BOTH}{TYPE}"),
            Self::Both(Some(at)) => write!(f, "{BOTH}{at}"),
        }
    }
}

impl FromStr for TagSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let behind = |mark| text.strip_prefix(mark);
        Ok(match (text, behind(PRESENT), behind(MEMBER_OF), behind(BOTH)) {
            (EVENT, ..) => Self::Event,
            (MEMBER, ..) => Self::Member(None),
            (_, Some(at), ..) => Self::Present(At::field(at)?),
            (_, _, Some(at), _) => Self::Member(Some(At::field(at)?)),
            (.., Some(TYPE)) => Self::Both(None),
            (.., Some(at)) => Self::Both(Some(At::field(at)?)),
            _ => Self::Field(At::field(text)?),
        })
    }
}
