//! What clients have said, which no server promises.

use std::collections::{HashMap, HashSet};

use crate::cassette::Response;
use crate::contract::shape::Naming;
use crate::identity::{Issuer, Ledger, identifiers};
use crate::message::telling;
use crate::text::json::{Text, pointer};

/// What clients have said: the name of a tool, of a model. A server that repeats it
/// promises nothing by it.
///
/// # Rationale
///
/// A scenario speaks of one tool, and every answer names it: by numbers alone that cannot be told from
/// a word of the protocol. But the client has said it first. Only compound words count
/// (`get_secret_code_tool`, `openai/gpt-4o`): a plain one, such as `approval` or `text`, is as likely a
/// word of the protocol that both sides use. Nor does one that the server has said before
/// (`tool_use`, which a client repeats in the history that it sends along).
///
/// What a client has minted (`approval-8f3a9c2b` as the name of an agent) is promised by nobody
/// either, nor that it begins with `approval`.
///
/// A server may complete the name of a model with its version (asked for `gpt-4o`, it says
/// `gpt-4o-2024-08-06`): that is the client's choice as well.
#[derive(Debug, Default)]
pub(super) struct Clients {
    /// Each word, and what it is without a version.
    stems: Words,
    /// Compound words of the server without digits, which identifiers have.
    said_before: Words,
    /// What stands before what was minted, by clients and by servers.
    prefixes: HashSet<String>,
    given: HashSet<String>,
    /// How the members of objects are named, by the field that holds the objects.
    naming: HashMap<String, Naming, foldhash::fast::RandomState>,
}

/// Each word of a body is looked up.
type Words = HashSet<String, foldhash::fast::RandomState>;

const SHORTEST: usize = 4;
const LONGEST: usize = 80;

/// A text that goes on so long without a space says nothing.
const DATA: usize = 1024;

impl Clients {
    /// Listens to a request.
    pub(super) fn hear(&mut self, asked: Text<'_>) {
        let mut objects: HashSet<String> = HashSet::new();
        asked.each_leaf(|pointer, name, value, spelled| {
            if let Some((object, field)) = member(pointer) {
                let is_new = !objects.contains(object) && objects.insert(object.to_owned());
                self.hear_name(field, &name, is_new);
            }
            // What tells the kind of a message is a word of the protocol: a client repeats it with its history.
            if spelled.starts_with('"') && !telling::is_kind(&name) && !is_data(&value) {
                self.hear_text(&value);
            }
        });
    }

    /// Learns who has minted what.
    pub(super) fn see(&mut self, ledger: &Ledger) {
        for entry in &ledger.entries {
            let Some(range) = identifiers(&entry.value).next() else { continue };
            let prefix = entry.value[..range.start]
                .trim_end_matches(|char| u8::try_from(char).is_ok_and(is_joint))
                .to_owned();
            match entry.origin.issuer {
                Issuer::Client => self.prefixes.insert(prefix),
                Issuer::Server => self.given.insert(prefix),
            };
        }
    }

    /// Listens to the answer.
    pub(super) fn hear_answer(&mut self, response: &Response) {
        let body = response.readable().bytes();
        let joined = joined(&body).filter(|run| !has_digit(run) || run.contains(&b'/'));
        for word in words(joined).filter(|word| is_compound(word) && !has_digit(word.as_bytes())) {
            if !self.said_before.contains(word) && !self.made_up(word) {
                self.said_before.insert(word.to_owned());
            }
        }
    }

    /// Whether a client has said it, and before the server, or all of it but a version.
    pub(super) fn made_up(&self, word: &str) -> bool {
        stems(word).any(|stem| self.stems.contains(stem))
    }

    /// Whether only clients mint what has this prefix.
    pub(super) fn mint(&self, prefix: &str) -> bool {
        self.prefixes.contains(prefix) && !self.given.contains(prefix)
    }

    /// How clients name the members of what they put into a field of this name, if they choose the names.
    pub(super) fn naming(&self, field: &str) -> Option<&Naming> {
        self.naming.get(field).filter(|naming| naming.is_free())
    }

    /// Hears of a member of an object, which may be one that has no other yet.
    fn hear_name(&mut self, field: &str, name: &str, is_new: bool) {
        if !self.naming.contains_key(field) {
            self.naming.insert(field.to_owned(), Naming::default());
        }
        let Some(naming) = self.naming.get_mut(field) else { return };
        if is_new {
            naming.open();
        }
        naming.name(name);
    }

    fn hear_text(&mut self, text: &str) {
        for word in words(joined(text.as_bytes())) {
            if is_compound(word) && !self.made_up(word) && !self.said_before.contains(word) {
                self.stems.extend(said_stems(word).map(str::to_owned));
            }
        }
    }
}

/// The object that a member is in, by their pointers, and the name of the field that holds the object.
pub(super) fn member(pointer: &str) -> Option<(&str, &str)> {
    let (object, name) = pointer.rsplit_once('/').filter(|(_, name)| !pointer::is_index(name))?;
    let field = object.rsplit('/').find(|step| !pointer::is_index(step))?;
    (!field.is_empty() && !name.is_empty()).then_some((object, field))
}

/// Whether a text is no words, but a picture in Base64, or another file.
fn is_data(text: &str) -> bool {
    let begin = text.as_bytes().get(..DATA);
    begin.is_some_and(|begin| !begin.iter().any(u8::is_ascii_whitespace))
}

/// A word without its last part, without its last two parts …, as long as they are numbers:
/// `gpt-5-2025-08`, `gpt-5-2025` and `gpt-5` of `gpt-5-2025-08-07`.
fn stems(word: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(word), |word| {
        let (stem, part) = word.rsplit_once(['-', '_', '.', ':'])?;
        let is_number = pointer::is_index(part);
        (is_number && is_compound(stem)).then_some(stem)
    })
}

/// The same of a word that a client has said; of `claude-3-5-haiku-latest` it is `claude-3-5-haiku`.
fn said_stems(word: &str) -> impl Iterator<Item = &str> {
    let alias = word.rsplit_once('-').map(|(stem, _)| stem);
    stems(word).chain(alias.filter(|stem| is_compound(stem) && has_digit(stem.as_bytes())))
}

/// Whether a server says what it was asked for with its version: asked for `gpt-4o`, it says `gpt-4o-2024-08-06`.
pub(super) fn completes(said: &str, asked: &str) -> bool {
    is_compound(said) && stems(said).any(|stem| said_stems(asked).any(|own| own == stem))
}

/// Compound words, and what they are made of, as far as strokes part it.
fn words<'t>(joined: impl Iterator<Item = &'t [u8]>) -> impl Iterator<Item = &'t str> {
    // All of it is ASCII.
    let words = joined.filter_map(|word| std::str::from_utf8(trimmed(word)).ok());
    words.flat_map(|word| {
        let parts = word.contains('/').then(|| word.split('/'));
        std::iter::once(word).chain(parts.into_iter().flatten())
    })
}

/// The runs of letters, digits and joints that have a joint. Joints are looked for first: most bytes
/// stand in no such run.
fn joined(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let kind = |byte: &u8| KINDS[usize::from(*byte)];
    let is_other = move |byte: &u8| kind(byte) == ByteKind::Other;
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let joint = rest.iter().position(|byte| kind(byte) == ByteKind::Joint)?;
            let (before, behind) = rest.split_at(joint);
            let start = before.iter().rposition(is_other).map_or(0, |other| other + 1);
            let end = joint + behind.iter().position(is_other).unwrap_or(behind.len());
            let run = &rest[start..end];
            rest = &rest[end..];
            if run.len() >= SHORTEST {
                return Some(run);
            }
        }
    })
}

/// Without joints at its ends.
fn trimmed(mut word: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = word
        && is_joint(*first)
    {
        word = rest;
    }
    while let [rest @ .., last] = word
        && is_joint(*last)
    {
        word = rest;
    }
    word
}

/// What a byte is in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    Other,
    Plain,
    Joint,
}

const KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Other; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        if is_joint(byte as u8) {
            kinds[byte] = ByteKind::Joint;
        } else if (byte as u8).is_ascii_alphanumeric() {
            kinds[byte] = ByteKind::Plain;
        }
        byte += 1;
    }
    kinds
};

const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')
}

fn has_digit(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit)
}

fn is_compound(word: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&word.len()) && word.bytes().any(is_joint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::Body;

    #[test]
    fn compound_words_are_made_up_and_plain_ones_are_not() {
        let mut clients = Clients::default();
        let body =
            br#"{"text": "call `get_code`: (now)", "model": "openai/gpt-4o", "type": "text"}"#;
        let leaves = Text::parse(body).map(Text::leaves).unwrap_or_default();

        leaves.iter().for_each(|leaf| clients.hear_text(&leaf.value));

        for word in ["get_code", "openai/gpt-4o", "gpt-4o"] {
            assert!(clients.made_up(word), "{word}");
        }
        for word in ["openai/gpt-4o-2024-08-06", "gpt-4o-2024-08-06"] {
            assert!(clients.made_up(word), "{word}: it is completed by a version");
        }
        for word in ["call", "now", "text", "openai", "model", "gpt-4o-mini", "gpt-4"] {
            assert!(!clients.made_up(word), "{word}");
        }
    }

    #[test]
    fn a_word_that_the_server_said_first_is_not_made_up() {
        let response = Response {
            body: Body::Whole(r#"{"name":"get_secret","type":"tool_use"}"#.into()),
            ..Response::of(200)
        };
        let mut clients = Clients::default();

        clients.hear(Text::known(r#"{"text":"call get_secret"}"#));
        clients.hear_answer(&response);
        clients.hear(Text::known(r#"{"text":"tool_use"}"#));

        assert_eq!(["get_secret", "tool_use"].map(|word| clients.made_up(word)), [true, false]);
    }
}
