//! Amazon's event streams (`application/vnd.amazon.eventstream`): binary messages with checksums.
//!
//! A message is two lengths and their checksum, header fields, a payload, and the checksum of all of it.
//! Here it is a line of JSON, which reads well and can be searched and edited as any other:
//!
//! ```text
//! {"headers":{":event-type":"contentBlockDelta",":message-type":"event"},"json":{"delta":{"text":"Hi"}}}
//! ```
//!
//! The line gives back the very bytes, with lengths and checksums made anew. What it cannot give back
//! is a line with nothing but `base64`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::json::{Layout, Text, push_escape};

/// Two lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// The fields that say what a message is, in the order in which they count.
const TYPES: [&str; 3] = [":event-type", ":exception-type", ":error-code"];

/// The member of a payload that holds another one in base64, as the answers of models do.
const NESTED: &str = "bytes";

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AmazonMessage<'a> {
    fields: Vec<(&'a str, AmazonValue<'a>)>,
    payload: &'a [u8],
}

/// The value of a header field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AmazonValue<'a> {
    Truth(bool),
    /// A number of so many bytes: its kind, and the bytes.
    Number(u8, &'a [u8]),
    Bytes(&'a [u8]),
    Text(&'a str),
}

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Prefix<'a> {
    /// A message of so many bytes.
    Message(AmazonMessage<'a>, usize),
    /// Less than one.
    Part,
    /// Something else: the checksums do not agree.
    Other,
}

/// The names of numbers, with the kinds of their fields and how long they are.
const NUMBERS: [(&str, u8, usize); 6] = [
    ("byte", 2, 1),
    ("short", 3, 2),
    ("int", 4, 4),
    ("long", 5, 8),
    ("timestamp", 8, 8),
    ("uuid", 9, 16),
];
const UUID: u8 = 9;

/// Reads the message that bytes begin with.
pub(crate) fn first(bytes: &[u8]) -> Prefix<'_> {
    let Some(prelude) = bytes.first_chunk::<PRELUDE>() else { return Prefix::Part };
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|place| prelude[at + place]));
    let (length, fields) = (number(0) as usize, number(4) as usize);
    if number(8) != checksum(&prelude[..8]) || length < PRELUDE + fields + CHECKSUM {
        return Prefix::Other;
    }
    let Some(message) = bytes.get(..length) else { return Prefix::Part };
    let (content, sum) = message.split_at(length - CHECKSUM);
    let (fields, payload) = content[PRELUDE..].split_at(fields);
    match read_fields(fields) {
        Some(fields) if sum == checksum(content).to_be_bytes() => {
            Prefix::Message(AmazonMessage { fields, payload }, length)
        }
        _ => Prefix::Other,
    }
}

/// A line for each message, and one for what is none. Nothing if the bytes do not begin with a message.
pub(crate) fn lines(bytes: &[u8]) -> Option<String> {
    let mut lines = String::new();
    let mut rest = bytes;
    while let Prefix::Message(message, length) = first(rest) {
        lines.push_str(&message.line(&rest[..length]));
        rest = &rest[length..];
    }
    if lines.is_empty() {
        return None;
    }
    if !rest.is_empty() {
        lines.push_str(&opaque(rest));
    }
    Some(lines)
}

/// Where each message ends, up to the first bytes that are none.
pub(crate) fn ends(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut end = 0;
    std::iter::from_fn(move || {
        let Prefix::Message(_, length) = first(&bytes[end..]) else { return None };
        end += length;
        Some(end)
    })
}

/// The bytes of lines; nothing if one of them is no message.
pub(crate) fn bytes(lines: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(lines.len());
    for line in lines.lines() {
        bytes.extend(message(Text::read(line)?)?);
    }
    Some(bytes)
}

/// Whether a line is a message.
pub(crate) fn is_message(line: Text<'_>) -> bool {
    message(line).is_some()
}

impl AmazonMessage<'_> {
    /// What says what it is.
    pub(crate) fn kind(&self) -> Option<&str> {
        TYPES.iter().find_map(|name| {
            self.fields.iter().find_map(|(field, value)| match value {
                AmazonValue::Text(text) if field == name => Some(*text),
                _ => None,
            })
        })
    }

    /// What it says: of a payload that holds another one, that one.
    pub(crate) fn said(&self) -> Cow<'_, str> {
        let nested = || {
            let json = Text::parse_container(self.payload)?;
            json.get(NESTED).and_then(decoded)
        };
        nested().map_or_else(|| String::from_utf8_lossy(self.payload), Cow::Owned)
    }

    /// The line for it, which stood in these bytes.
    fn line(&self, wire: &[u8]) -> String {
        let mut line = self.compact();
        let spaced = Text::parse_container(self.payload)
            .is_some_and(|json| !Layout::Compact.fits(json) && Layout::Spaced.fits(json));
        if let Some(json) = Text::read(&line).filter(|_| spaced) {
            let mut other = String::with_capacity(line.len());
            Layout::Spaced.write(json, &mut other);
            line = other;
        }
        let same = |line: &str| message(Text::read(line)?).filter(|bytes| bytes == wire);
        if line.contains('\n') || same(&line).is_none() {
            return opaque(wire);
        }
        line.push('\n');
        line
    }

    fn compact(&self) -> String {
        let mut line = "{\"headers\":{".to_owned();
        for (number, (name, value)) in self.fields.iter().enumerate() {
            line.push_str(if number == 0 { "" } else { "," });
            quote(name, &mut line);
            line.push(':');
            value.write(&mut line);
        }
        line.push('}');
        match (Text::parse_container(self.payload), std::str::from_utf8(self.payload)) {
            (_, Ok("")) => {}
            (Some(json), _) => {
                line.push_str(",\"json\":");
                line.push_str(&opened(json));
            }
            (None, Ok(text)) => {
                line.push_str(",\"text\":");
                quote(text, &mut line);
            }
            (None, Err(_)) => {
                line.push_str(",\"base64\":");
                quote(&STANDARD.encode(self.payload), &mut line);
            }
        }
        line.push('}');
        line
    }
}

impl AmazonValue<'_> {
    fn write(&self, line: &mut String) {
        let (name, text) = match self {
            Self::Truth(truth) => return line.push_str(if *truth { "true" } else { "false" }),
            Self::Text(text) => return quote(text, line),
            Self::Bytes(bytes) => ("base64", format!("\"{}\"", STANDARD.encode(bytes))),
            Self::Number(kind, bytes) => {
                let name = NUMBERS.iter().find(|(_, other, _)| other == kind);
                let text = if *kind == UUID {
                    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    format!("\"{digits}\"")
                } else {
                    signed(bytes).to_string()
                };
                (name.map_or("", |(name, ..)| *name), text)
            }
        };
        line.push_str(&format!("{{\"{name}\":{text}}}"));
    }
}

fn read_fields(mut bytes: &[u8]) -> Option<Vec<(&str, AmazonValue<'_>)>> {
    let mut fields = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked((*length).into())?;
        let (kind, rest) = rest.split_first()?;
        let (value, rest) = read_value(*kind, rest)?;
        fields.push((std::str::from_utf8(name).ok()?, value));
        bytes = rest;
    }
    Some(fields)
}

fn read_value(kind: u8, bytes: &[u8]) -> Option<(AmazonValue<'_>, &[u8])> {
    if let Some((.., length)) = NUMBERS.iter().find(|(_, other, _)| *other == kind) {
        let (number, rest) = bytes.split_at_checked(*length)?;
        return Some((AmazonValue::Number(kind, number), rest));
    }
    if let 0 | 1 = kind {
        return Some((AmazonValue::Truth(kind == 0), bytes));
    }
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let (value, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    match kind {
        6 => Some((AmazonValue::Bytes(value), rest)),
        7 => Some((AmazonValue::Text(std::str::from_utf8(value).ok()?), rest)),
        _ => None,
    }
}

/// A line for bytes that are no message.
fn opaque(bytes: &[u8]) -> String {
    format!("{{\"base64\":\"{}\"}}\n", STANDARD.encode(bytes))
}

/// The bytes of the message that a line is.
fn message(line: Text<'_>) -> Option<Vec<u8>> {
    let mut fields = None;
    let mut payload = Vec::new();
    for (name, value) in line.members() {
        match &*name {
            "headers" => fields = Some(write_fields(value)?),
            "json" => payload = closed(value).into_bytes(),
            "text" => payload = value.string()?.into_owned().into_bytes(),
            "base64" => payload = STANDARD.decode(&*value.string()?).ok()?,
            _ => return None,
        }
    }
    let Some(fields) = fields else { return Some(payload) };
    let length = PRELUDE + fields.len() + payload.len() + CHECKSUM;
    let mut bytes = Vec::with_capacity(length);
    for length in [length, fields.len()] {
        bytes.extend(u32::try_from(length).ok()?.to_be_bytes());
    }
    bytes.extend(checksum(&bytes).to_be_bytes());
    bytes.extend(fields);
    bytes.extend(payload);
    bytes.extend(checksum(&bytes).to_be_bytes());
    Some(bytes)
}

fn write_fields(json: Text<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for (name, value) in json.members() {
        bytes.push(u8::try_from(name.len()).ok()?);
        bytes.extend(name.as_bytes());
        write_value(value, &mut bytes)?;
    }
    Some(bytes)
}

fn write_value(value: Text<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    let mut long = |kind: u8, value: &[u8]| {
        bytes.push(kind);
        bytes.extend(u16::try_from(value.len()).ok()?.to_be_bytes());
        bytes.extend(value);
        Some(())
    };
    if let Some(text) = value.string() {
        return long(7, text.as_bytes());
    }
    if let Some((name, value)) = value.members().next() {
        if name == "base64" {
            return long(6, &STANDARD.decode(&*value.string()?).ok()?);
        }
        let (_, kind, length) = NUMBERS.iter().find(|(other, ..)| *other == name)?;
        bytes.push(*kind);
        let number = match value.string() {
            Some(digits) => u128::from_str_radix(&digits, 16).ok()?.cast_signed(),
            None => value.scalar()?.parse().ok()?,
        };
        bytes.extend(&number.to_be_bytes()[size_of::<u128>() - length..]);
        return Some(());
    }
    bytes.push(u8::from(!value.scalar()?.parse::<bool>().ok()?));
    Some(())
}

fn signed(bytes: &[u8]) -> i64 {
    let begin = if bytes.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(begin, |number, byte| (number << 8) | i64::from(*byte))
}

/// A payload with what it holds in base64 as JSON, in the same layout.
fn opened(json: Text<'_>) -> String {
    let spelled = json.as_str();
    let nested = json.get(NESTED).and_then(|value| Some((value, decoded(value)?)));
    match nested {
        Some((value, text)) => exchanged(spelled, value, &text),
        None => spelled.to_owned(),
    }
}

/// The payload again.
fn closed(json: Text<'_>) -> String {
    let spelled = json.as_str();
    match json.get(NESTED).filter(|value| value.container().is_some()) {
        Some(value) => {
            let encoded = STANDARD.encode(value.as_str().trim_ascii());
            exchanged(spelled, value, &format!("\"{encoded}\""))
        }
        None => spelled.to_owned(),
    }
}

/// A text with another one in the place of a value in it.
fn exchanged(text: &str, value: Text<'_>, with: &str) -> String {
    let value = value.as_str().trim_ascii();
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    [&text[..start], with, &text[start + value.len()..]].concat()
}

/// What a string holds in base64, if it is an object or an array.
fn decoded(value: Text<'_>) -> Option<String> {
    let bytes = STANDARD.decode(&*value.string()?).ok()?;
    Text::parse_container(&bytes)?;
    String::from_utf8(bytes).ok()
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => push_escape(c, out),
            c if c.is_control() => push_escape(c, out),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// CRC-32 as in zlib.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8))
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of each kind that their own documentation shows, as lines.
    const LINES: &str = concat!(
        r#"{"headers":{":event-type":"chunk",":message-type":"event"},"#,
        r#""json":{"bytes":{"type":"message_stop"},"p":"abc"}}"#,
        "\n",
        r#"{"headers": {":exception-type": "throttlingException"}, "json": {"message": "wait"}}"#,
        "\n",
        r#"{"headers":{"a":true,"b":false,"c":{"byte":-1},"d":{"short":258},"e":{"int":-3},"#,
        r#""f":{"long":4},"g":{"base64":"AP8="},"h":{"timestamp":1700000000000},"#,
        r#""i":{"uuid":"00112233445566778899aabbccddeeff"}},"text":"caf\u00e9"}"#,
        "\n",
        r#"{"headers":{}}"#,
        "\n",
    );

    #[test]
    fn a_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn messages_and_lines_are_the_same() {
        let wire = bytes(LINES).unwrap();

        assert_eq!(lines(&wire).unwrap(), LINES.replace("\\u00e9", "é"));
        assert_eq!(&wire[..8], [0, 0, 0, 112, 0, 0, 0, 42]);
    }

    #[test]
    fn a_message_is_told_from_a_part_and_from_anything_else() {
        let wire = bytes(LINES.lines().next().unwrap()).unwrap();

        for cut in 0..wire.len() {
            assert_eq!(first(&wire[..cut]), Prefix::Part, "cut at {cut}");
        }
        for at in 0..wire.len() {
            let mut broken = wire.clone();
            broken[at] ^= 1;
            assert!(!matches!(first(&broken), Prefix::Message(..)), "broken at {at}");
        }
    }

    #[test]
    fn what_stands_behind_the_last_message_is_kept() {
        let mut wire = bytes(LINES).unwrap();
        wire.truncate(wire.len() - 3);

        let lines = lines(&wire).unwrap();

        assert!(lines.lines().last().unwrap().starts_with("{\"base64\":\""));
        assert_eq!(bytes(&lines).unwrap(), wire);
    }
}
