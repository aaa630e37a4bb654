//! Header fields.

use std::collections::HashSet;

use bytes::Bytes;

use super::reader::Reader;
use super::text;
use super::writer::{Spread, Writer};
use crate::cassette::Headers;
use crate::error::Result;

/// Writes a member with header fields, if there are any: by name where that loses nothing, else as
/// pairs in order.
pub(super) fn write(w: &mut Writer, member: &str, headers: &Headers) {
    if headers.is_empty() {
        return;
    }
    w.name(member);
    let fields: Vec<(&str, &Bytes)> = headers.iter().collect();
    let runs: Vec<_> = fields.chunk_by(|one, other| one.0 == other.0).collect();
    let mut seen = HashSet::new();
    if runs.iter().all(|run| seen.insert(run[0].0.to_ascii_lowercase())) {
        write_by_name(w, &runs);
    } else {
        write_in_order(w, &fields);
    }
}

fn write_by_name(w: &mut Writer, runs: &[&[(&str, &Bytes)]]) {
    w.object(Spread::Broken);
    for run in runs {
        w.name(run[0].0);
        match run {
            [(_, value)] => write_value(w, value),
            run => {
                w.list(Spread::Broken, *run, |w, (_, value)| write_value(w, value));
            }
        }
    }
    w.end('}');
}

fn write_in_order(w: &mut Writer, fields: &[(&str, &Bytes)]) {
    w.list(Spread::Broken, fields, |w, (name, value)| {
        w.array(Spread::Line);
        w.item();
        w.string(name);
        w.item();
        write_value(w, value);
        w.end(']');
    });
}

fn write_value(w: &mut Writer, value: &[u8]) {
    match std::str::from_utf8(value) {
        Ok(value) => w.string(value),
        Err(_) => text::write_base64_object(w, value),
    }
}

/// Reads header fields in either way.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Headers> {
    let mut headers = Headers::new();
    if reader.peek() == b'[' {
        reader.array(|reader| {
            let (name, value) = reader.pair(Reader::string, read_value)?;
            headers.append(name, value);
            Ok(())
        })?;
        return Ok(headers);
    }
    reader.entries(|reader, name| {
        if reader.peek() != b'[' {
            headers.append(name, read_value(reader)?);
            return Ok(());
        }
        reader.array(|reader| {
            headers.append(name.clone(), read_value(reader)?);
            Ok(())
        })
    })?;
    Ok(headers)
}

/// Reads a value. One with a line break cannot be sent, and would end the header for whoever tries.
fn read_value(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    let here = reader.clone();
    let value = text::read_value(reader)?.into_owned();
    if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        let error = here.invalid("the value of a header field has a line break or a NUL in it");
        return Err(error.with_hint("take it out: it cannot be sent"));
    }
    Ok(value)
}
