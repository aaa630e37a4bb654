//! Text and base64.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::reader::Reader;
use super::sidecar;
use super::writer::{Spread, Writer};
use crate::error::Result;

/// How long a line of base64 may be.
const COLUMNS: usize = 76;

/// Writes text: one line as a string, several as an array of strings.
pub(super) fn write(w: &mut Writer, text: &str) {
    let mut lines = text.split_inclusive('\n');
    match (lines.next(), lines.next()) {
        (None | Some(_), None) => w.string(text),
        _ => {
            w.list(Spread::Broken, text.split_inclusive('\n'), |w, line| w.string(line));
        }
    }
}

/// Writes text that may begin or end within a character.
pub(super) fn write_split(w: &mut Writer, (head, text, tail): (&[u8], &str, &[u8])) {
    if head.is_empty() && tail.is_empty() {
        return w.string(text);
    }
    w.array(Spread::Line);
    write_piece(w, head);
    w.item();
    w.string(text);
    write_piece(w, tail);
    w.end(']');
}

fn write_piece(w: &mut Writer, bytes: &[u8]) {
    if !bytes.is_empty() {
        w.item();
        write_base64_object(w, bytes);
    }
}

/// Parts text from the pieces of characters at its ends; nothing if it is no text.
pub(super) fn split(bytes: &[u8]) -> Option<(&[u8], &str, &[u8])> {
    let within = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let (head, rest) = bytes.split_at(within);
    match std::str::from_utf8(rest) {
        Ok(text) if !text.is_empty() || head.is_empty() => Some((head, text, b"")),
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            let (text, tail) = rest.split_at(error.valid_up_to());
            Some((head, std::str::from_utf8(text).ok()?, tail))
        }
        _ => None,
    }
}

/// Writes `{"base64": "…"}` on one line.
pub(super) fn write_base64_object(w: &mut Writer, bytes: &[u8]) {
    w.object(Spread::Line);
    w.text_member("base64", &STANDARD.encode(bytes));
    w.end('}');
}

/// Writes the member that holds bytes which are no text: as Base64, or in a file of their own.
pub(super) fn write_binary(w: &mut Writer, bytes: &Bytes, spread: Spread) {
    if base64_length(bytes.len()) > sidecar::LONGEST_BASE64 {
        return w.file(bytes);
    }
    w.name("base64");
    match spread {
        Spread::Line => w.string(&STANDARD.encode(bytes)),
        Spread::Broken => write_base64(w, bytes),
    }
}

/// Writes base64: a string, or an array of lines if it is long.
fn write_base64(w: &mut Writer, bytes: &[u8]) {
    let encoded = STANDARD.encode(bytes);
    if encoded.len() <= COLUMNS {
        return w.string(&encoded);
    }
    w.array(Spread::Broken);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, others) = rest.split_at(rest.len().min(COLUMNS));
        w.item();
        w.string(line);
        rest = others;
    }
    w.end(']');
}

/// The length of the base64 of that many bytes.
pub(super) const fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Reads text in any of these ways.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>> {
    if reader.peek() != b'[' {
        return read_value(reader);
    }
    let mut text = Vec::new();
    reader.array(|reader| {
        text.extend_from_slice(&read_value(reader)?);
        Ok(())
    })?;
    Ok(Cow::Owned(text))
}

/// Reads a string, or bytes that are none, as `{"base64": "…"}`.
pub(super) fn read_value<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>> {
    if reader.peek() != b'{' {
        return Ok(match reader.string()? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        });
    }
    let mut bytes = Vec::new();
    reader.object(&[&["base64"]], |reader, _| {
        bytes = read_base64(reader)?;
        Ok(())
    })?;
    Ok(Cow::Owned(bytes))
}

/// Reads base64, in one string or in lines.
pub(super) fn read_base64(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    let here = reader.clone();
    let mut encoded = String::new();
    if reader.peek() == b'[' {
        reader.array(|reader| {
            encoded.push_str(&reader.string()?);
            Ok(())
        })?;
    } else {
        encoded.push_str(&reader.string()?);
    }
    STANDARD.decode(encoded).map_err(|error| here.invalid("`base64` is not base64").because(error))
}
