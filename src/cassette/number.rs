//! What interactions are called.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::Cassette;

/// What an interaction is called, as its cassette numbers them: `4`. The messages of a client over a WebSocket are
/// numbered within the interaction that opens it: `4.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Number {
    /// The interaction, counted from 1.
    pub interaction: usize,
    /// The message of the client in it, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
}

/// Where interactions stand in the file of their cassette, if each message of a client is one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spots(pub(super) Vec<Spotted>);

/// Where one of them stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spotted {
    pub(super) number: Number,
    /// The frame that asks, by its place in the interaction.
    pub(super) asks: Option<usize>,
    /// The frames that answer it.
    pub(super) answers: Vec<usize>,
}

impl Number {
    /// The interaction at a place, counted from 0.
    pub(crate) fn at(place: usize) -> Self {
        Self { interaction: place + 1, message: None }
    }
}

impl Cassette {
    /// What the interaction at a place is called, counted from 0.
    pub fn number(&self, place: usize) -> Number {
        self.spots.0.get(place).map_or(Number::at(place), |spotted| spotted.number)
    }

    /// The place of an interaction, counted from 0.
    pub(crate) fn place_of(&self, number: Number) -> Option<usize> {
        match &*self.spots.0 {
            [] if number.message.is_some() => None,
            [] => number.interaction.checked_sub(1),
            spots => spots.iter().position(|spotted| spotted.number == number),
        }
    }

    /// The frame that says a message of the answer to the interaction at a place, or else the one that asks; by its
    /// place among all frames of its WebSocket.
    #[cfg(feature = "review")]
    pub(crate) fn frame_of(&self, place: usize, message: Option<usize>) -> Option<usize> {
        let spotted = self.spots.0.get(place)?;
        let answers = message.and_then(|message| spotted.answers.get(message));
        answers.copied().or(spotted.asks)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.interaction)?;
        self.message.iter().try_for_each(|message| write!(f, ".{message}"))
    }
}

impl FromStr for Number {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (interaction, message) = match text.split_once('.') {
            Some((interaction, message)) => (interaction, Some(message.parse()?)),
            None => (text, None),
        };
        Ok(Self { interaction: interaction.parse()?, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["4", "12.3"] {
            assert_eq!(text.parse::<Number>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "x", "1.", ".1", "1.2.3"] {
            assert!(text.parse::<Number>().is_err(), "{text}");
        }
    }
}
