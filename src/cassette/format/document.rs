//! The file as a whole.

use super::exchange;
use super::ids;
use super::reader::Reader;
use super::rules;
use super::sidecar::Fetch;
use super::version;
use super::writer::{Spread, Writer};
use super::{File, FormatVersion, Tracer};
use crate::cassette::{Cassette, Interaction, Recorded};
use crate::error::{Kind, Result};

pub(super) fn write(cassette: &Cassette, trace: &Tracer<'_>) -> File {
    let mut w = Writer::default();
    w.object(Spread::Broken);
    w.name(version::MEMBER);
    w.number(FormatVersion::CURRENT.0);
    write_recorded(&mut w, &cassette.recorded);
    if cassette.interrupted {
        w.name("interrupted");
        w.truth();
    }
    if !cassette.redactions.is_empty() {
        w.name("redactions");
        w.array(Spread::Line);
        for rule in &cassette.redactions {
            w.item();
            w.string(rule);
        }
        w.end(']');
    }
    rules::write(&mut w, &cassette.rules);
    ids::write(&mut w, cassette.ids.as_ref());
    w.name("interactions");
    w.array(Spread::Broken);
    for interaction in &cassette.interactions {
        w.item();
        exchange::write(&mut w, interaction, trace);
    }
    w.end(']');
    w.end('}');
    w.into_file()
}

fn write_recorded(w: &mut Writer, recorded: &Recorded) {
    if *recorded == Recorded::default() {
        return;
    }
    w.name("recorded");
    w.object(Spread::Line);
    for (name, value) in [("at", &recorded.at), ("upstream", &recorded.upstream)] {
        if !value.is_empty() {
            w.name(name);
            w.string(value);
        }
    }
    if let Some(server) = &recorded.server {
        w.name("server");
        w.string(server);
    }
    w.end('}');
}

pub(super) fn read(text: &str, fetch: &mut Fetch<'_>) -> Result<Cassette> {
    const MEMBERS: &[&str] = &[
        version::MEMBER,
        "recorded",
        "interrupted",
        "redactions",
        rules::MEMBER,
        ids::MEMBER,
        "interactions",
    ];
    let mut reader = Reader::new(text)?;
    let here = reader.clone();
    let mut cassette = Cassette::default();
    let mut version = None;
    reader.object(&[MEMBERS], |reader, name| {
        match name {
            version::MEMBER => version = Some(reader.number()?),
            "recorded" => cassette.recorded = read_recorded(reader)?,
            "interrupted" => cassette.interrupted = reader.truth()?,
            "redactions" => {
                cassette.redactions = reader.list(|reader| Ok(reader.string()?.into_owned()))?;
            }
            rules::MEMBER => cassette.rules = rules::read(reader)?,
            ids::MEMBER => cassette.ids = Some(ids::read(reader)?),
            _ => cassette.interactions = read_interactions(reader, fetch)?,
        }
        Ok(())
    })?;
    match version {
        Some(1) => Ok(cassette),
        Some(_) => Err(here.invalid("there is no such version of the format")),
        None => Err(here
            .error(Kind::MissingMember { name: version::MEMBER })
            .with_hint("a cassette begins with `{\"retape\": 1`")),
    }
}

fn read_interactions(reader: &mut Reader<'_>, fetch: &mut Fetch<'_>) -> Result<Vec<Interaction>> {
    let mut number = 0;
    reader.list(|reader| {
        let interaction = exchange::read(reader, number, fetch);
        let interaction = interaction.map_err(|error| error.in_interaction(number))?;
        number += 1;
        Ok(interaction)
    })
}

fn read_recorded(reader: &mut Reader<'_>) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    reader.object(&[&["at", "upstream", "server"]], |reader, name| {
        let value = reader.string()?.into_owned();
        match name {
            "at" => recorded.at = value,
            "upstream" => recorded.upstream = value,
            _ => recorded.server = Some(value),
        }
        Ok(())
    })?;
    Ok(recorded)
}
