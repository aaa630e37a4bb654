//! Cassette names.

use sha1_smol::Sha1;

use crate::error::{Error, Kind, Result};
use crate::text::words::shown;

/// The name of a cassette: path segments without the ending, `letta/hitl/approve_stream`.
///
/// A name can stand in a URL and below a folder on any system, and never leaves that folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(String);

/// What is kept beside a cassette.
const BESIDE: [&str; 3] = ["failed", "unanswered", "recovered"];

/// The longest segment, in bytes: file systems take 255, and endings are added.
const LONGEST: usize = 200;

/// The longest part that is made of a test's name, in bytes: there is room for numbers and endings.
const LONGEST_OF_TEST: usize = 150;

impl Name {
    /// Takes a name if it is one.
    ///
    /// # Errors
    ///
    /// If a segment is empty, is `-`, begins with a dot, holds a character that some file system
    /// refuses or that has a meaning in an address (`~`, `:`, `\`, …), or is over 200 bytes long.
    ///
    /// # Example: what is a name
    ///
    /// ```
    /// use retape::Name;
    ///
    /// assert!(Name::new("letta/hitl/approve_stream[0]").is_ok());
    /// assert!(Name::new("../secrets").is_err());
    /// ```
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        match name.split('/').find_map(flaw) {
            None => Ok(Self(name)),
            Some(why) => {
                let hint = match name.chars().find(is_refused) {
                    Some(c) => format!("put another one in the place of `{}`", c.escape_debug()),
                    None => {
                        "a name is a path below the folder of cassettes: `letta/hello`".to_owned()
                    }
                };
                Err(Error::new(Kind::Name { name, why }).with_hint(hint))
            }
        }
    }

    /// A part of the name of a test's cassette: what is changed or cut off is told apart by a hash. The plugins
    /// for pytest, JavaScript and Go have the same rule, so that all runners find the same file.
    #[cfg_attr(
        not(any(feature = "macros", feature = "import")),
        expect(
            dead_code,
            reason = "only tests that name themselves, and imports, have such parts"
        )
    )]
    pub(crate) fn part_of_test(text: &str) -> String {
        let mut clean = text.replace(|c| c == '/' || is_refused(&c), "_");
        clean.truncate(clean.trim_end_matches([' ', '.']).len());
        if clean.starts_with('.') || clean.is_empty() || clean == "-" {
            clean.insert(0, '_');
        }
        if clean == text && clean.len() <= LONGEST_OF_TEST {
            return clean;
        }
        let hash = format!("-{}", &Sha1::from(text).hexdigest()[..8]);
        while clean.len() + hash.len() > LONGEST_OF_TEST {
            clean.pop();
        }
        clean + &hash
    }

    /// The name of what is kept beside the cassette: `letta/hitl.unanswered`.
    pub(crate) fn beside(&self, what: &str) -> Self {
        Self(format!("{self}.{what}"))
    }

    /// Whether it is the name of what is kept beside a cassette, and of none itself:
    /// `letta/hitl.failed`, `.unanswered`, `.recovered`, `.recovered-2`.
    pub(crate) fn is_beside(&self) -> bool {
        let (_, what) = self.0.rsplit_once('.').unwrap_or_default();
        let is_number = |number: &str| number.parse::<u32>().is_ok();
        BESIDE.contains(&what)
            || what.rsplit_once('-').is_some_and(|(what, n)| BESIDE.contains(&what) && is_number(n))
    }

    /// The cassette beside which it is kept; itself if it is one.
    pub(crate) fn of_cassette(&self) -> &str {
        match self.0.rsplit_once('.') {
            Some((cassette, _)) if self.is_beside() => cassette,
            _ => &self.0,
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn flaw(segment: &str) -> Option<&'static str> {
    match segment {
        "" => Some("a part of it is empty"),
        "-" => Some("`-` separates it from the path that is asked for"),
        _ if segment.starts_with('.') => Some("a part of it begins with a dot"),
        _ if segment.ends_with([' ', '.']) => Some("a part of it ends in a space or a dot"),
        _ if segment.len() > LONGEST => Some("a part of it is longer than 200 bytes"),
        _ if segment.contains(|c| is_refused(&c)) => {
            Some("it has a character that file systems or addresses refuse")
        }
        _ => None,
    }
}

fn is_refused(c: &char) -> bool {
    c.is_control() || r#"\:*?"<>|~%#"#.contains(*c)
}

shown!(Display: Name, it => "{}", it.0);

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of the plugins for pytest and JavaScript read the same table.
    #[test]
    fn a_test_has_the_same_name_in_each_runner() {
        let table = include_str!("../../tests/names.json");
        let table: Vec<(String, String)> = serde_json::from_str(table).expect("a table");

        for (text, expected) in table {
            let part = Name::part_of_test(&text);

            assert_eq!(part, expected, "{text}");
            assert!(Name::new(part).is_ok(), "{text}");
        }
    }
}
