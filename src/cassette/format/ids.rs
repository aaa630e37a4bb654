//! The table of names in the file.

use super::reader::Reader;
use super::writer::{Spread, Writer};
use crate::cassette::ids::{Evidence, Id, Ids, Reach};
use crate::error::Result;

/// The member that holds it.
pub(super) const MEMBER: &str = "ids";

pub(super) fn write(w: &mut Writer, ids: Option<&Ids>) {
    let Some(ids) = ids else { return };
    w.name(MEMBER);
    w.object(Spread::Broken);
    w.name("version");
    w.number(Ids::VERSION);
    for (name, list) in [("client", &ids.client), ("server", &ids.server)] {
        if !list.is_empty() {
            w.name(name);
            w.list(Spread::Broken, list, write_id);
        }
    }
    w.end('}');
}

fn write_id(w: &mut Writer, id: &Id) {
    w.object(Spread::Line);
    w.text_member("id", &id.value);
    w.name("in");
    w.number(id.interaction as u64 + 1);
    w.text_member("at", &id.at);
    if let Some(reach) = id.reach.as_str() {
        w.text_member("only", reach);
    }
    w.text_member("by", id.evidence.as_str());
    w.end('}');
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Ids> {
    let mut ids = Ids::default();
    let here = reader.clone();
    let mut version = None;
    reader.object(&[&["version", "client", "server"]], |reader, name| {
        match name {
            "version" => version = Some(reader.number()?),
            "client" => ids.client = reader.list(read_id)?,
            _ => ids.server = reader.list(read_id)?,
        }
        Ok(())
    })?;
    match version {
        Some(Ids::VERSION) => Ok(ids),
        Some(_) => Err(here
            .invalid("there is no such version of the table of names")
            .with_hint("this release reads version 1; a newer one wrote it")),
        None => Err(here.missing("version")),
    }
}

fn read_id(reader: &mut Reader<'_>) -> Result<Id> {
    let here = reader.clone();
    let (mut value, mut interaction, mut at) = (None, None, String::new());
    let (mut reach, mut evidence) = (Reach::default(), Evidence::Person);
    reader.object(&[&["id", "in", "at", "only", "by"]], |reader, name| {
        let before = reader.clone();
        match name {
            "id" => value = Some(reader.string()?.into_owned()),
            "in" => interaction = reader.number()?.checked_sub(1),
            "at" => at = reader.string()?.into_owned(),
            "only" => {
                let word = reader.string()?;
                reach = Reach::from_word(&word)
                    .ok_or_else(|| before.invalid("`only` is `field` or `here`"))?;
            }
            _ => {
                let word = reader.string()?;
                evidence = Evidence::from_word(&word).ok_or_else(|| {
                    let known = Evidence::WORDS.join("`, `");
                    before
                        .invalid("nothing is known by that evidence")
                        .with_hint(format!("`by` is one of `{known}`"))
                })?;
            }
        }
        Ok(())
    })?;
    let value = value.filter(|value| !value.is_empty());
    let value = value.ok_or_else(|| here.missing("id"))?;
    let interaction = interaction.unwrap_or_default() as usize;
    Ok(Id { value, interaction, at, reach, evidence })
}
