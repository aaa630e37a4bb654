//! Where the server gave back what the client had minted.

use std::ops::Range;

use super::{Bindings, Origins, identifiers};
use crate::cassette::Body;
use crate::cassette::splice::Edit;

/// A place in a text where a client-minted identifier comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo {
    range: Range<usize>,
    identifier: String,
}

/// What stands for client-minted identifiers now, where that differs from the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renamed(Vec<(String, String)>);

impl Echo {
    /// The echoes in a text, in order. A text that is not UTF-8 has none.
    pub fn all(text: &[u8], origins: &Origins) -> Vec<Self> {
        if origins.minted() == 0 {
            return Vec::new();
        }
        let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
        identifiers(text)
            .filter(|range| origins.is_minted(&text[range.clone()]))
            .map(|range| Self { identifier: text[range.clone()].to_owned(), range })
            .collect()
    }

    /// The identifier as it was recorded.
    pub fn identifier(&self) -> &str {
        &self.identifier
    }
}

impl Renamed {
    /// What is bound to these identifiers, where it is another value.
    pub fn of<'a>(identifiers: impl Iterator<Item = &'a str>, bindings: &Bindings) -> Self {
        let mut renamed = Self::default();
        for recorded in identifiers {
            let live = bindings.live(recorded).filter(|live| *live != recorded);
            if let Some(live) = live.filter(|_| renamed.live(recorded).is_none()) {
                renamed.0.push((recorded.to_owned(), live.to_owned()));
            }
        }
        renamed
    }

    /// Whether everything is called as it was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The body with what stands for its echoes now. Chunks keep their places, also where an
    /// identifier goes over from one to the next.
    pub fn body(&self, mut body: Body, echoes: &[Echo]) -> Body {
        let edit = |echo: &Echo| {
            Some(Edit::new(echo.range.clone(), self.live(&echo.identifier)?.as_bytes().to_vec()))
        };
        body.splice(&echoes.iter().filter_map(edit).collect::<Vec<_>>());
        body
    }

    /// A text with what stands for its identifiers now; `None` if nothing changes.
    pub fn text(&self, text: &str) -> Option<String> {
        let mut renamed = None;
        for (recorded, live) in self.0.iter().filter(|(recorded, _)| text.contains(recorded)) {
            renamed = Some(renamed.as_deref().unwrap_or(text).replace(recorded, live));
        }
        renamed
    }

    fn live(&self, recorded: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == recorded).map(|(_, live)| live.as_str())
    }
}
