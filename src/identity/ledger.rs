//! Which identifiers a recording holds, who issued each, and where it came back.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{
    Form, Issuer, Meaning, Origin, each_document, identifiers, may_identify, may_mark, may_number,
};
use crate::cassette::{self, Cassette, Headers, Interaction, Request};
use crate::text::{multipart, percent};

/// Which identifiers a recording holds, in the order in which they came up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// One for each identifier.
    pub entries: Vec<Entry>,
}

/// An identifier of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// It, with its prefix if it has one.
    pub value: String,
    /// What tells that it is one.
    pub sign: Sign,
    /// Where it came from.
    pub origin: Origin,
    /// Where it stood then: `path`, `query.NAME`, `header.NAME`, a JSON Pointer, `part.NAME` or `body`.
    pub at: String,
    /// The interactions, counted from 0, whose request held it later.
    pub asked_in: Vec<usize>,
    /// The interactions whose answer held it later.
    pub answered_in: Vec<usize>,
}

/// What tells that a value is an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sign {
    /// It looks random: a UUID, a ULID, a token.
    Look,
    /// The name of its field says so.
    Name,
    /// The server gave it in a field that is named so, and the client came back with it.
    Return,
}

/// A place in a message, and the text there.
struct Spot<'a> {
    at: At<'a>,
    name: Cow<'a, str>,
    text: Cow<'a, str>,
    form: Form,
}

/// Where a text stands, put into words only where that is asked for: what kind of place, and which.
#[derive(Clone)]
struct At<'a>(&'static str, Cow<'a, str>);

impl At<'_> {
    fn told(&self) -> String {
        [self.0, &self.1].concat()
    }
}

/// The ledger as it is written.
#[derive(Default)]
struct Writer {
    entries: Vec<Entry>,
    known: Map<usize>,
    /// What the server gave in fields that are named like identifiers, and where it did first.
    given: Map<(Origin, String)>,
}

/// Each leaf of a recording is looked up.
type Map<T> = HashMap<String, T, foldhash::fast::RandomState>;

impl Ledger {
    /// Goes through a recording once.
    pub fn of(cassette: &Cassette) -> Self {
        let mut writer = Writer::default();
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let from = |issuer| Origin { issuer, interaction: number };
            asked(&interaction.request, |spot| writer.note(spot, from(Issuer::Client)));
            answered(interaction, |spot| writer.note(spot, from(Issuer::Server)));
        }
        Self { entries: writer.entries }
    }
}

impl Writer {
    fn note(&mut self, spot: Spot<'_>, from: Origin) {
        let mut found = false;
        for range in identifiers(&spot.text) {
            found = true;
            let start = prefix(&spot.text[..range.start]);
            let value = &spot.text[start..range.end];
            match self.known.contains_key(value) {
                true => self.again(value, from),
                false => self.enter(value, Sign::Look, spot.at.told(), from),
            }
        }
        if found {
            return;
        }
        let value = &*spot.text;
        let meaning = Meaning::of(&spot.name);
        // A query refers to something by its identity; by a mark it says which request it is.
        let identifies =
            meaning == Meaning::Mark || (meaning == Meaning::Identity && spot.at.0 != QUERY);
        let may = match (meaning, spot.form) {
            (_, Form::Number) => may_number(value),
            (Meaning::Mark, Form::Text) => may_mark(value),
            (_, Form::Text) => may_identify(value),
        };
        let named = identifies && may;
        let refers =
            named || spot.at.0 == PATH || REFERS.iter().any(|end| spot.name.ends_with(end));
        match from.issuer {
            Issuer::Server if refers => {
                self.given.entry(value.to_owned()).or_insert_with(|| (from, spot.at.told()));
                self.again(value, from);
            }
            Issuer::Client if refers && self.given.contains_key(value) => {
                let (origin, at) = self.given[value].clone();
                self.enter(value, Sign::Return, at, origin);
                self.again(value, from);
            }
            Issuer::Client if named && spot.at.0 != PATH => {
                self.enter(value, Sign::Name, spot.at.told(), from);
            }
            _ => self.again(value, from),
        }
    }

    fn enter(&mut self, value: &str, sign: Sign, at: String, origin: Origin) {
        if self.known.contains_key(value) {
            return self.again(value, origin);
        }
        self.known.insert(value.to_owned(), self.entries.len());
        self.entries.push(Entry {
            value: value.to_owned(),
            sign,
            origin,
            at,
            asked_in: Vec::new(),
            answered_in: Vec::new(),
        });
    }

    /// Notes that a known value came again.
    fn again(&mut self, value: &str, from: Origin) {
        let Some(entry) = self.known.get(value).map(|at| &mut self.entries[*at]) else { return };
        if entry.origin == from {
            return;
        }
        let list = match from.issuer {
            Issuer::Client => &mut entry.asked_in,
            Issuer::Server => &mut entry.answered_in,
        };
        if list.last() != Some(&from.interaction) {
            list.push(from.interaction);
        }
    }
}

const PATH: &str = "path";
const QUERY: &str = "query.";
const FORM: &str = "form.";
const PART: &str = "part.";
const HEADER: &str = "header.";
const BODY: &str = "body";

/// What the names of fields end with that hold something to come back with.
const REFERS: [&str; 7] = ["id", "ids", "Id", "Ids", "key", "token", "cursor"];

/// Where the prefix of an identifier begins that stands at the end of a text: `agent-`, `call_`.
fn prefix(before: &str) -> usize {
    let bytes = before.as_bytes();
    if !matches!(bytes.last(), Some(b'-' | b'_')) {
        return bytes.len();
    }
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    bytes.len() - bytes.iter().rev().take_while(part).count()
}

fn asked(request: &Request, mut told: impl FnMut(Spot<'_>)) {
    let form = Form::Text;
    for segment in request.path_only().split('/').filter(|segment| !segment.is_empty()) {
        told(Spot {
            at: At(PATH, "".into()),
            name: "".into(),
            text: percent::decoded(segment),
            form,
        });
    }
    fields(request.query().unwrap_or(""), QUERY, &mut told);
    each_field(&request.headers, &mut told);
    let body = request.readable();
    let media_type = request.headers.get("content-type").unwrap_or("");
    if let Some(parts) = multipart::parts(media_type, &body) {
        for part in parts {
            let name = part.name.unwrap_or_default();
            let at = At(PART, name.clone());
            if let Some(text) = part.filename {
                told(Spot { at: at.clone(), name: "".into(), text, form });
            }
            let text = String::from_utf8_lossy(part.body);
            told(Spot { at, name, text, form });
        }
    } else if media_type.starts_with("application/x-www-form-urlencoded") {
        fields(&String::from_utf8_lossy(&body), FORM, &mut told);
    } else {
        content(&body, &mut told);
    }
}

fn answered(interaction: &Interaction, mut told: impl FnMut(Spot<'_>)) {
    let Some(response) = interaction.response() else { return };
    each_field(&response.headers, &mut told);
    content(&response.readable().bytes(), &mut told);
}

fn fields(query: &str, of: &'static str, told: &mut impl FnMut(Spot<'_>)) {
    for field in query.split('&').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let (name, text) = (percent::form_decoded(name), percent::form_decoded(value));
        told(Spot { at: At(of, name.clone()), name, text, form: Form::Text });
    }
}

fn each_field(headers: &Headers, told: &mut impl FnMut(Spot<'_>)) {
    for (name, value) in headers.iter() {
        let lower = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => name.to_ascii_lowercase().into(),
            false => name.into(),
        };
        let text = cassette::text(value);
        told(Spot { at: At(HEADER, lower), name: name.into(), text, form: Form::Text });
    }
}

fn content(body: &[u8], told: &mut impl FnMut(Spot<'_>)) {
    let text = cassette::text(body);
    let mut found = false;
    each_document(&text, |_, document| {
        found = true;
        document.each_leaf(|pointer, name, text, spelled| {
            let form = if spelled.starts_with('"') { Form::Text } else { Form::Number };
            told(Spot { at: At("", pointer.into()), name, text, form });
        });
    });
    if !found {
        told(Spot { at: At(BODY, "".into()), name: "".into(), text, form: Form::Text });
    }
}
