//! Which version a file is of.

use super::FormatVersion;
use super::reader::Reader;
use crate::error::{Error, Kind, Result};
use crate::text::json::{Container, Token, Tokens};

/// The member that tells the version, at the top of the file.
pub(super) const MEMBER: &str = "retape";

/// Refuses what a newer release wrote, whatever else stands in it.
pub(super) fn check(text: &str) -> Result<()> {
    match first_member(text).or_else(|| any_member(text)) {
        Some(found) if found > FormatVersion::CURRENT.0 => Err(newer(found)),
        _ => Ok(()),
    }
}

/// The version, if it stands first as it should. The rest need not even be JSON.
fn first_member(text: &str) -> Option<u64> {
    let mut tokens = Tokens::of(text);
    let begin = [tokens.next()?, tokens.next()?, tokens.next()?];
    let expected = [Token::Open(Container::Object), Token::String("\"retape\""), Token::Colon];
    match tokens.next()? {
        Token::Scalar(number) if begin == expected => number.parse().ok(),
        _ => None,
    }
}

/// The version, if it stands elsewhere: some tools sort members.
fn any_member(text: &str) -> Option<u64> {
    let mut version = None;
    let mut reader = Reader::new(text).ok()?;
    let read = reader.entries(|reader, name| {
        if name == MEMBER {
            version = Some(reader.number()?);
        } else {
            reader.any()?;
        }
        Ok(())
    });
    read.ok().and(version)
}

fn newer(found: u64) -> Error {
    let known = FormatVersion::CURRENT.0;
    Error::new(Kind::NewerVersion { found, known }).with_hint(
        "install the release of retape that wrote it (`cargo install retape --locked` for the latest)",
    )
}
