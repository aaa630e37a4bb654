//! What a person says about matching.

use super::reader::Reader;
use super::writer::{Spread, Writer};
use crate::config::{Key, Pattern, Rules};
use crate::error::Result;

/// The member that holds it.
pub(super) const MEMBER: &str = "match";

/// The member that names the rules by which secrets were replaced.
pub(super) const REDACTIONS: &str = "redactions";

pub(super) fn write(w: &mut Writer, rules: &Rules) {
    if rules.is_empty() {
        return;
    }
    w.name(MEMBER);
    w.object(Spread::Broken);
    for (key, word) in rules.words() {
        w.is_newer |= key == Key::Pace;
        w.text_member(key.as_str(), word);
    }
    for (key, list) in rules.lists() {
        w.is_newer |= key == Key::Optional;
        w.name(key.as_str());
        w.list(Spread::Line, list, |w, text| w.string(text));
    }
    write_patterns(w, rules.patterns());
    w.end('}');
}

fn write_patterns(w: &mut Writer, patterns: &[Pattern]) {
    if patterns.is_empty() {
        return;
    }
    w.name(Key::Patterns.as_str());
    let lines = patterns
        .iter()
        .flat_map(|pattern| pattern.expressions().map(|regex| (pattern.at().as_str(), regex)));
    w.list(Spread::Broken, lines, |w, (at, regex)| {
        w.object(Spread::Line);
        w.text_member("at", at);
        w.text_member("regex", regex);
        w.end('}');
    });
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Rules> {
    let mut rules = Rules::default();
    reader.object(&[Key::WORDS], |reader, name| match Key::from_word(name) {
        Some(key) if key.is_of_a_word() => put(&mut rules, key, reader),
        Some(Key::Patterns) => reader.array(|reader| put_pattern(&mut rules, reader)),
        Some(key) => reader.array(|reader| put(&mut rules, key, reader)),
        None => reader.any().map(drop),
    })?;
    Ok(rules)
}

/// Reads the rules alone, and the names of those about secrets, from a file of which the rest may be damaged.
pub(super) fn find(text: &str) -> Result<(Rules, Vec<String>)> {
    let (mut found, mut redactions) = (None, Vec::new());
    let walked = Reader::new(text).entries(|reader, name| {
        match &*name {
            MEMBER => found = Some(read(reader)),
            REDACTIONS => redactions = read_redactions(reader)?,
            _ => drop(reader.any()?),
        }
        Ok(())
    });
    // Where the walk ends because the rest is no JSON, there are no rules either.
    drop(walked);
    Ok((found.unwrap_or_else(|| Ok(Rules::default()))?, redactions))
}

/// Reads the names of the rules by which secrets were replaced.
pub(super) fn read_redactions(reader: &mut Reader<'_>) -> Result<Vec<String>> {
    reader.list(|reader| Ok(reader.string()?.into_owned()))
}

fn put(rules: &mut Rules, key: Key, reader: &mut Reader<'_>) -> Result<()> {
    let here = reader.clone();
    let text = reader.string()?;
    rules.put(key, &text).map_err(|error| here.place(error))
}

fn put_pattern(rules: &mut Rules, reader: &mut Reader<'_>) -> Result<()> {
    let here = reader.clone();
    let (mut at, mut regex) = (None, None);
    reader.object(&[&["at", "regex"]], |reader, name| {
        let here = reader.clone();
        let text = reader.string()?;
        match name {
            "at" => at = Some(text.parse().map_err(|error| here.place(error))?),
            _ => regex = Some(text.into_owned()),
        }
        Ok(())
    })?;
    let (Some(at), Some(regex)) = (at, regex) else {
        return Err(here.invalid("a pattern needs both `at` and `regex`"));
    };
    rules.put_pattern(at, &regex).map_err(|error| here.place(error))
}
