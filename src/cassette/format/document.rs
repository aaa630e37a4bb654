//! The file as a whole.

use std::collections::BTreeMap;

use super::exchange;
use super::ids;
use super::reader::{Reader, not_json};
use super::rules;
use super::sidecar::Fetch;
use super::writer::{Spread, Writer};
use super::{File, FormatVersion, Taker, Tracer};
use crate::cassette::{Cassette, Interaction, Interactions, Recorded};
use crate::error::{Error, Kind, Result};
use crate::text::json::{Container, Token, Tokens};

/// The member that tells the version, at the top of the file.
const VERSION: &str = "retape";

/// So many bytes of text are taken at once.
const PIECE: usize = 1 << 20;

/// Writes a cassette with these interactions, whatever it holds itself.
pub(super) fn write(
    cassette: &Cassette,
    interactions: &impl Interactions,
    trace: &Tracer<'_>,
    mut take: Option<&mut Taker<'_>>,
) -> (File, Option<(usize, FormatVersion)>) {
    let mut w = Writer::beside(&cassette.larges);
    w.object(Spread::Broken);
    w.name(VERSION);
    let version = w.text.len();
    w.number(FormatVersion::OLDEST.0);
    w.is_newer |= cassette.recorded.tool.is_some();
    write_recorded(&mut w, &cassette.recorded);
    if cassette.interrupted {
        w.name("interrupted");
        w.truth();
    }
    if !cassette.redactions.is_empty() {
        // Rules of a person's own are words, where the others are `NAME/VERSION`.
        w.is_newer |= cassette.redactions.iter().any(|rule| rule.contains(' '));
        w.name(rules::REDACTIONS);
        w.list(Spread::Line, &cassette.redactions, |w, rule| w.string(rule));
    }
    rules::write(&mut w, &cassette.rules);
    ids::write(&mut w, cassette.ids.as_ref());
    w.name("interactions");
    let mut is_taken = false;
    w.list(Spread::Broken, interactions.each(), |w, interaction| {
        exchange::write(w, &interaction, trace);
        if let Some(take) = take.as_mut().filter(|_| w.text.len() >= PIECE) {
            is_taken = true;
            take(&w.text, std::mem::take(&mut w.bodies));
            w.text.clear();
        }
    });
    w.end('}');
    let newer = w.is_newer.then_some((version, FormatVersion::CURRENT));
    if let Some((version, newer)) = newer.filter(|_| !is_taken) {
        w.text.replace_range(version..=version, &newer.0.to_string());
    }
    (w.into_file(), newer.filter(|_| is_taken))
}

fn write_recorded(w: &mut Writer, recorded: &Recorded) {
    if *recorded == Recorded::default() {
        return;
    }
    w.name("recorded");
    w.object(Spread::Line);
    for (name, value) in [("at", &*recorded.at), ("upstream", &*recorded.address())] {
        if !value.is_empty() {
            w.text_member(name, value);
        }
    }
    if !recorded.origins.is_empty() {
        w.is_newer = true;
        w.name("origins");
        w.object(Spread::Line);
        recorded.origins.iter().for_each(|(name, address)| w.text_member(name, address));
        w.end('}');
    }
    if let Some(server) = &recorded.server {
        w.text_member("server", server);
    }
    if let Some(tool) = &recorded.tool {
        w.text_member("tool", tool);
    }
    w.end('}');
}

pub(super) fn read(text: &str, fetch: &mut Fetch<'_>) -> Result<Cassette> {
    read_members(&mut Reader::new(text), fetch).map_err(|error| not_json(text).unwrap_or(error))
}

fn read_members(reader: &mut Reader<'_>, fetch: &mut Fetch<'_>) -> Result<Cassette> {
    const MEMBERS: &[&str] = &[
        VERSION,
        "recorded",
        "interrupted",
        rules::REDACTIONS,
        rules::MEMBER,
        ids::MEMBER,
        "interactions",
    ];
    let here = reader.clone();
    let mut cassette = Cassette::default();
    let mut version = None;
    reader.object(&[MEMBERS], |reader, name| {
        match name {
            VERSION => version = Some(reader.number()?),
            "recorded" => cassette.recorded = read_recorded(reader)?,
            "interrupted" => cassette.interrupted = reader.truth()?,
            rules::REDACTIONS => cassette.redactions = rules::read_redactions(reader)?,
            rules::MEMBER => cassette.rules = rules::read(reader)?,
            ids::MEMBER => cassette.ids = Some(ids::read(reader)?),
            _ => cassette.interactions = read_interactions(reader, fetch)?,
        }
        Ok(())
    })?;
    reader.end()?;
    match version {
        Some(1 | 2) => Ok(cassette),
        Some(_) => Err(here.invalid("there is no such version of the format")),
        None => Err(here.missing(VERSION).with_hint("a cassette begins with `{\"retape\": 1`")),
    }
}

fn read_interactions(reader: &mut Reader<'_>, fetch: &mut Fetch<'_>) -> Result<Vec<Interaction>> {
    let (mut number, mut ranges) = (0, exchange::Ranges::default());
    reader.list(|reader| {
        let interaction = exchange::read(reader, number, fetch, &mut ranges);
        let interaction = interaction.map_err(|error| error.in_interaction(number))?;
        number += 1;
        Ok(interaction)
    })
}

fn read_recorded(reader: &mut Reader<'_>) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    reader.object(&[&["at", "upstream", "origins", "server", "tool"]], |reader, name| {
        let mut text = || Ok::<_, Error>(reader.string()?.into_owned());
        match name {
            "at" => recorded.at = text()?,
            "upstream" => recorded.set_address(text()?),
            "origins" => recorded.origins = read_origins(reader)?,
            "server" => recorded.server = Some(text()?),
            _ => recorded.tool = Some(text()?),
        }
        Ok(())
    })?;
    Ok(recorded)
}

fn read_origins(reader: &mut Reader<'_>) -> Result<BTreeMap<String, String>> {
    let mut origins = BTreeMap::new();
    reader.entries(|reader, name| {
        let address = reader.string()?.into_owned();
        if origins.insert(name.into_owned(), address).is_some() {
            return Err(reader.invalid("a member stands there twice"));
        }
        Ok(())
    })?;
    Ok(origins)
}

/// Refuses what a newer release wrote, whatever else stands in it.
pub(super) fn check_version(text: &str) -> Result<()> {
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
    let read = Reader::new(text).entries(|reader, name| {
        if name == VERSION {
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
