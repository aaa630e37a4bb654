//! A value as it was recorded or is asked.

use crate::text::json::{Layout, Text};

/// A value as it was recorded or is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A JSON value, spelled as it came, without white space between its tokens.
    Json(String),
    /// A text.
    Text(String),
    /// Bytes that are no text.
    Binary {
        /// How many there are.
        length: usize,
        /// The first place, counted from 0, where they are not those of the other side.
        differs_at: usize,
    },
}

impl Value {
    pub(super) fn json(text: Text<'_>) -> Self {
        let mut spelled = String::new();
        Layout::Compact.write(text, &mut spelled);
        Self::Json(spelled)
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Bytes, and where they are not those of the other side.
    pub(super) fn binary(length: usize, bytes: &[u8], other: &[u8]) -> Self {
        let same = bytes.iter().zip(other).take_while(|(one, other)| one == other);
        Self::Binary { length, differs_at: same.count() }
    }

    /// The text of it: what a JSON string says, else how it is spelled. Bytes have none.
    pub fn said(&self) -> Option<String> {
        match self {
            Self::Json(spelled) => {
                let said = Text::read(spelled).and_then(Text::string);
                Some(said.map_or_else(|| spelled.clone(), |said| said.into_owned()))
            }
            Self::Text(text) => Some(text.clone()),
            Self::Binary { .. } => None,
        }
    }

    /// What sort of JSON it is: `string`, `number`, `array` …; nothing if it is no JSON.
    pub fn kind(&self) -> Option<&'static str> {
        let Self::Json(spelled) = self else { return None };
        Some(match spelled.bytes().next()? {
            b'{' => "object",
            b'[' => "array",
            b'"' => "string",
            b't' | b'f' => "boolean",
            b'n' => "null",
            _ => "number",
        })
    }
}
