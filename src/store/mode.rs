//! Record, replay, or both: what the environment says.

use std::env;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::text::nearest;
use crate::text::words::{shown, words};

/// What is done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Answered from the cassette; the network is never touched. The default under `CI`.
    Replay,
    /// Answered from the cassette if there is one, else recorded. The default elsewhere.
    Once,
    /// Answered from the cassette where it knows the request; all else is recorded and added.
    NewEpisodes,
    /// Sent to the server; the cassette is recorded anew.
    Record,
    /// Sent to the server; nothing is recorded.
    Passthrough,
}

impl Mode {
    /// The mode that `RETAPE_MODE` names, else [`Mode::Replay`] if `CI` is set, else
    /// [`Mode::Once`].
    ///
    /// # Errors
    ///
    /// If `RETAPE_MODE` names no mode.
    pub fn from_env() -> Result<Self> {
        match env::var("RETAPE_MODE") {
            Ok(word) if !word.is_empty() => Self::of(&word, "RETAPE_MODE"),
            _ if is_ci() => Ok(Self::Replay),
            _ => Ok(Self::Once),
        }
    }

    /// The mode that a word names; `setting` is where it was found.
    fn of(word: &str, setting: &'static str) -> Result<Self> {
        Self::from_word(word).ok_or_else(|| {
            let error = Error::setting(setting, word, &Self::WORDS.join(", "));
            match nearest::nearest(word, Self::WORDS) {
                Some(meant) => error.with_hint(format!("did you mean `{meant}`?")),
                None => error,
            }
        })
    }
}

words!(Mode: Replay "replay", Once "once", NewEpisodes "new_episodes", Record "record",
    Passthrough "passthrough");

/// What is done with contracts that are new or changed.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    /// They are told.
    Nothing,
    /// They wait to be accepted.
    Propose,
}

#[cfg(feature = "cli")]
impl Update {
    /// They wait, but nothing is written where `CI` is set.
    pub(crate) fn unless_ci() -> Self {
        if is_ci() { Self::Nothing } else { Self::Propose }
    }
}

/// Whether this is a build server: `CI` is set and is not `false` or `0`.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Self::of(word, "mode")
    }
}

shown!(Display: Mode, it => "{}", it.as_str());
