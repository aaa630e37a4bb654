//! The faces of a report about changes.

mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod markup;
mod sarif;
mod text;
mod told;

use std::fmt;
use std::str::FromStr;

use super::Colour;
use crate::review::change::Report;
use crate::text::nearest;

/// How a report about changes is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Face {
    /// For a terminal of 80 columns.
    #[default]
    Text,
    /// One comment on a pull request.
    Markdown,
    /// One page to look at, in a file of its own that needs no network.
    Html,
    /// For programs: all that there is.
    Json,
    /// JUnit XML, for build servers.
    Junit,
    /// SARIF 2.1.0, for the alerts of code hosts.
    Sarif,
    /// Annotations of GitHub's workflows.
    Github,
}

impl Face {
    /// All of them, with the name of each and the endings of its files.
    pub const ALL: [(Self, &'static str, &'static [&'static str]); 7] = [
        (Self::Text, "text", &["txt"]),
        (Self::Markdown, "markdown", &["md", "markdown"]),
        (Self::Html, "html", &["html", "htm"]),
        (Self::Json, "json", &["json"]),
        (Self::Junit, "junit", &["xml"]),
        (Self::Sarif, "sarif", &["sarif"]),
        (Self::Github, "github", &[]),
    ];

    /// The one that files with this ending have.
    pub fn of_ending(ending: &str) -> Option<Self> {
        let row = Self::ALL.iter().find(|(.., endings)| endings.contains(&ending));
        row.map(|(face, ..)| *face)
    }
}

/// Shows what changed.
pub fn changes(report: &Report, face: Face, colour: Colour) -> String {
    match face {
        Face::Text => text::text(report, colour),
        Face::Markdown => markdown::markdown(report),
        Face::Html => html::html(report),
        Face::Json => json::json(report),
        Face::Junit => junit::junit(report),
        Face::Sarif => sarif::sarif(report),
        Face::Github => github::github(report),
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
