//! Who issued an identifier.

use std::borrow::Cow;
use std::collections::HashSet;

use super::documents::pieced_together;
use super::field::fields;
use super::issued::Issued;
use super::moment::epochs;
use super::plain::Plain;
use super::{Scope, Shapes, identifiers, moments};
use crate::cassette::{self, Cassette, Headers, Media};

/// Who brought an identifier up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issuer {
    /// It first appeared in an answer.
    Server,
    /// It first appeared in a request.
    Client,
}

/// Where an identifier came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Who brought it up.
    pub issuer: Issuer,
    /// The interaction in which it first appeared, counted from 0.
    pub interaction: usize,
}

/// The origin of each identifier of a cassette.
#[derive(Debug, Default)]
pub struct Origins {
    known: Issued,
    minted: usize,
    /// What those of the client look like.
    shapes: Shapes,
    /// Values of fields, which are identifiers by the name of the field only.
    fields: Issued,
    moments: Issued,
    /// Whether clients made up values that are told by their place only.
    placed: bool,
    /// Values that are identifiers because a rule says so, wherever they stand as a whole.
    said: HashSet<String>,
}

impl Origins {
    /// Finds the identifiers of a cassette in the order in which they went over the wire.
    pub fn of(cassette: &Cassette) -> Self {
        let mut origins = Self::default();
        conversation(cassette, |from, text| {
            for range in identifiers(text) {
                let fresh = origins.known.note(&text[range.clone()], from);
                if fresh && from.issuer == Issuer::Client {
                    origins.minted += 1;
                    origins.shapes.learn(text, &range);
                }
            }
        });
        origins
    }

    /// Finds also what is told from other values by its place only, and times: for cassettes in whose
    /// requests there are such.
    ///
    /// `said` are values of requests that rules call identifiers, `placed` those that each request
    /// has in a place that says so: a form or a query cannot be told from other text here.
    pub fn look_closer<'a>(
        &mut self,
        cassette: &Cassette,
        said: HashSet<String>,
        placed: impl IntoIterator<Item = Vec<&'a str>>,
    ) {
        self.said = said;
        self.placed = true;
        let placed: Vec<Vec<&str>> = placed.into_iter().collect();
        let wanted: Words<'_> = placed.iter().flatten().copied().collect();
        let mut placed = placed.iter().enumerate().peekable();
        conversation(cassette, |from, text| {
            while let Some((interaction, values)) =
                placed.next_if(|(asked, _)| *asked <= from.interaction)
            {
                let from = Origin { issuer: Issuer::Client, interaction };
                values.iter().for_each(|value| _ = self.fields.note(value, from));
            }
            for word in words(text).filter(|word| wanted.contains(word)) {
                self.fields.note(word, from);
            }
            for range in moments(text) {
                self.moments.note(&text[range], from);
            }
            for number in epochs(text) {
                self.moments.note(number, from);
            }
            let fields = fields(text, &self.said);
            for field in fields.iter().filter(|field| field.scope != Scope::Moment) {
                self.fields.note(&field.value, from);
            }
        });
    }

    /// Where an identifier came from; `None` if it does not appear in the cassette.
    pub fn origin(&self, identifier: &str) -> Option<Origin> {
        self.known.origin(identifier).or_else(|| self.fields.origin(identifier))
    }

    /// What identifiers look like that the client makes up.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Whether the server issued a value that is an identifier, or a time, in this scope.
    pub fn is_issued(&self, scope: Scope, value: &str) -> bool {
        self.issuer(scope, value) == Some(Issuer::Server)
    }

    /// Whether the client made it up.
    pub(super) fn is_minted(&self, scope: Scope, value: &str) -> bool {
        self.issuer(scope, value) == Some(Issuer::Client)
    }

    /// Whether the client made up anything that can be found in a text.
    pub(super) fn has_minted(&self) -> bool {
        self.minted > 0 || self.placed
    }

    /// Whether the client made up anything that is told by its place only.
    pub(super) fn has_placed(&self) -> bool {
        self.placed
    }

    pub(super) fn said(&self) -> &HashSet<String> {
        &self.said
    }

    fn issuer(&self, scope: Scope, value: &str) -> Option<Issuer> {
        let known = match scope {
            Scope::Anywhere => &self.known,
            Scope::Word | Scope::Number(_) => &self.fields,
            Scope::Moment => &self.moments,
            // Each request of JSON-RPC has an id that its client makes up.
            Scope::Call | Scope::Called | Scope::Progress => return Some(Issuer::Client),
        };
        Some(known.origin(value)?.issuer)
    }
}

type Words<'a> = HashSet<&'a str, foldhash::fast::FixedState>;

/// A shorter word is the same by chance as often as not.
const TELLING: usize = 4;

/// The words of a text that may be identifiers, wherever they stand: in prose, in a path, as a whole.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        rest = &rest[rest.find(belongs)?..];
        let (word, behind) = rest.split_at(rest.find(|c| !belongs(c)).unwrap_or(rest.len()));
        let before = &text[..text.len() - rest.len()];
        rest = behind;
        Some((before, word, behind))
    })
    .filter(|(before, word, behind)| word.len() >= TELLING && !is_amount(before, word, behind))
    .map(|(_, word, _)| word)
}

/// Whether a word is a number that counts or measures something: the value of a member or an element in
/// JSON, of which its name says what it means, or a part of one with a point.
fn is_amount(before: &str, word: &str, behind: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let ahead = before.trim_end();
    word.bytes().all(|byte| byte.is_ascii_digit())
        && (ahead.ends_with(['[', ','])
            || ahead.ends_with("\":")
            || before.ends_with('.')
            || (behind.starts_with('.') && is_digit(behind.as_bytes().get(1))))
}

/// Gives all texts of a cassette in order, each with who sent it.
fn conversation(cassette: &Cassette, mut told: impl FnMut(Origin, &str)) {
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let request = &interaction.request;
        let mut asked =
            |text: &str| told(Origin { issuer: Issuer::Client, interaction: number }, text);
        asked(&request.path);
        each_value(&request.headers, &mut asked);
        asked(&plain(&request.readable()));
        let Some(response) = interaction.response() else { continue };
        let mut answered =
            |text: &str| told(Origin { issuer: Issuer::Server, interaction: number }, text);
        each_value(&response.headers, &mut answered);
        let text = response.readable().bytes();
        let text = plain(&text);
        answered(&text);
        // What comes behind the last request is nobody's to come back with.
        if number + 1 < cassette.interactions.len()
            && Media::of_headers(&response.headers).is_stream()
        {
            pieced_together(&text).iter().for_each(|text| answered(text));
        }
    }
}

/// The time at which a message was sent is nobody's to give back, nor is its length.
fn each_value(headers: &Headers, told: &mut impl FnMut(&str)) {
    let is_meant =
        |name: &str| !["date", "content-length"].iter().any(|of| name.eq_ignore_ascii_case(of));
    let meant = headers.iter().filter(|(name, _)| is_meant(name));
    meant.for_each(|(_, value)| told(&cassette::text(value)));
}

/// The text of a body without escapes in the words of JSON strings.
fn plain(body: &[u8]) -> Cow<'_, str> {
    Plain::of(cassette::text(body)).text
}
