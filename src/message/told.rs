//! What tells the type of a message.

use std::fmt;
use std::str::FromStr;

use crate::config::At;
use crate::error::Error;

/// What tells the type of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// What stands in a field.
    Field(At),
    /// The name of the SSE event.
    Event,
}

const EVENT: &str = "event";

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(at) => at.fmt(f),
            Self::Event => f.write_str(EVENT),
        }
    }
}

impl FromStr for Told {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text == EVENT { Ok(Self::Event) } else { Ok(Self::Field(At::field(text)?)) }
    }
}
