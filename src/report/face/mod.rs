//! The faces of a report about changes.

mod headline;
mod text;

use std::fmt;
use std::str::FromStr;

use super::Colour;
use crate::change::Report;
use crate::nearest;

/// How a report about changes is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Face {
    /// For a terminal of 80 columns.
    #[default]
    Text,
}

impl Face {
    /// All of them, with the name of each and the ending of its files.
    pub const ALL: [(Self, &'static str, &'static str); 1] = [(Self::Text, "text", "txt")];
}

/// Shows what changed.
pub fn changes(report: &Report, face: Face, colour: Colour) -> String {
    match face {
        Face::Text => text::text(report, colour),
    }
}

impl FromStr for Face {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(|(_, name, _)| name);
        let known = Self::ALL.iter().find(|(_, known, _)| *known == name);
        known.map(|(face, ..)| *face).ok_or_else(|| nearest::hint(name, &names))
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = Self::ALL.iter().find(|(face, ..)| face == self);
        f.write_str(row.map_or("", |(_, name, _)| name))
    }
}
