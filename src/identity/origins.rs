//! Who issued an identifier.

use std::borrow::Cow;
use std::collections::HashSet;

use super::documents::pieced_together;
use super::field::fields;
use super::identifier::{is_word, next_span};
use super::issued::Issued;
use super::moment::epochs;
use super::plain::Plain;
use super::{Frames, Scope, Shapes, identifiers, moments};
use crate::cassette::{self, Cassette, Headers, Media, Request};

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
    /// Where those of the client stand.
    frames: Frames,
    /// Words of answers that would be taken for the client's where they stand.
    words: Issued,
    moments: Issued,
    /// Whether clients made up values that are told by their place only.
    placed: bool,
    /// What streams say in pieces, once that was put together, until all is known.
    pieces: Option<Vec<Pieces>>,
    /// Values that are identifiers because a rule says so, wherever they stand as a whole.
    said: HashSet<String>,
}

impl Origins {
    /// Finds the identifiers of a cassette in the order in which they went over the wire.
    pub fn of(cassette: &Cassette) -> Self {
        let mut origins = Self::default();
        conversation(cassette, &[], |from, text| {
            for range in identifiers(text) {
                let fresh = origins.known.note(&text[range.clone()], from);
                if fresh && from.issuer == Issuer::Client {
                    origins.minted += 1;
                    origins.shapes.learn(text, &range);
                }
            }
        });
        // Who made nothing up cannot be taken to have made up what a stream said in pieces.
        if origins.minted > 0 {
            origins.put_together(cassette);
        }
        origins
    }

    /// Finds what streams say in pieces.
    fn put_together(&mut self, cassette: &Cassette) {
        if self.pieces.is_some() {
            return;
        }
        let pieces = pieces(cassette);
        let mut not_minted = 0;
        for Pieces { interaction, together } in &pieces {
            let from = Origin { issuer: Issuer::Server, interaction: *interaction };
            for text in together {
                for range in identifiers(text) {
                    let before = self.known.note_earlier(&text[range], from);
                    not_minted += usize::from(before.is_some_and(|it| it.issuer == Issuer::Client));
                }
            }
        }
        self.pieces = Some(pieces);
        if not_minted > 0 {
            self.minted -= not_minted;
            self.learn_again(cassette);
        }
    }

    /// Learns what the client's identifiers look like, now that some are known to be the server's.
    fn learn_again(&mut self, cassette: &Cassette) {
        let Self { known, shapes, .. } = self;
        *shapes = Shapes::default();
        for interaction in &cassette.interactions {
            each_asked(&interaction.request, &mut |text| {
                for range in identifiers(text) {
                    let origin = known.origin(&text[range.clone()]);
                    if origin.is_some_and(|origin| origin.issuer == Issuer::Client) {
                        shapes.learn(text, &range);
                    }
                }
            });
        }
    }

    /// Forgets what it needs to look closer only.
    pub fn settle(&mut self) {
        self.pieces = None;
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
        self.put_together(cassette);
        let pieces = self.pieces.take().unwrap_or_default();
        let placed: Vec<Vec<&str>> = placed.into_iter().collect();
        let wanted = Wanted::of(placed.iter().flatten().copied());
        let mut placed = placed.iter().enumerate().peekable();
        conversation(cassette, &pieces, |from, text| {
            while let Some((interaction, values)) =
                placed.next_if(|(asked, _)| *asked <= from.interaction)
            {
                let from = Origin { issuer: Issuer::Client, interaction };
                values.iter().for_each(|value| _ = self.fields.note(value, from));
            }
            for word in wanted.find(text) {
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

    /// Finds also words that do not look random and are identifiers where they stand, and who brought
    /// them up: what the server did is compared as it is there too.
    pub fn look_for(&mut self, cassette: &Cassette, frames: Frames) {
        self.frames = frames;
        let Self { frames, words, pieces, .. } = self;
        conversation(cassette, pieces.as_deref().unwrap_or_default(), |from, text| {
            for range in frames.as_long(text) {
                words.note(&text[range], from);
            }
        });
    }

    /// Where identifiers stand that the client makes up.
    pub fn frames(&self) -> &Frames {
        &self.frames
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
            Scope::Anywhere => {
                let known = self.known.origin(value).or_else(|| self.words.origin(value));
                return Some(known?.issuer);
            }
            Scope::Word | Scope::Number(_) => &self.fields,
            Scope::Moment => &self.moments,
            // Each request of JSON-RPC has an id that its client makes up.
            Scope::Call | Scope::Called | Scope::Progress => return Some(Issuer::Client),
        };
        Some(known.origin(value)?.issuer)
    }
}

/// A shorter word is the same by chance as often as not.
const TELLING: usize = 4;

/// Words that may be identifiers, wherever they stand in a text: in prose, in a path, as a whole.
struct Wanted<'a> {
    words: HashSet<&'a str, foldhash::fast::FixedState>,
    /// How long the shortest is. Of a text, only what may be as long is looked at.
    shortest: usize,
    /// By a few bits of each end, which tell most words of a text from those.
    ends: Vec<bool>,
}

impl<'a> Wanted<'a> {
    fn of(words: impl Iterator<Item = &'a str>) -> Self {
        let is_word =
            |word: &&str| word.len() >= TELLING && word.bytes().all(|byte| is_word(&byte));
        let words: HashSet<_, _> = words.filter(is_word).collect();
        let mut ends = vec![false; 1 << 14];
        words.iter().for_each(|word: &&str| ends[ends_of(word.as_bytes())] = true);
        let shortest = words.iter().map(|word| word.len()).min().unwrap_or_default();
        Self { words, shortest, ends }
    }

    fn find<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let bytes = text.as_bytes();
        let mut at = if self.words.is_empty() { text.len() } else { 0 };
        std::iter::from_fn(move || {
            let span = next_span(bytes, at, self.shortest.max(1))?;
            at = span.end;
            Some(span)
        })
        .filter(|span| self.ends[ends_of(&bytes[span.clone()])])
        .filter(|span| self.words.contains(&text[span.clone()]))
        .filter(|span| !is_amount(&text[..span.start], &text[span.clone()], &text[span.end..]))
        .map(|span| &text[span])
    }
}

fn ends_of(word: &[u8]) -> usize {
    let ends = [word[0], word[word.len() - 1]].map(|byte| usize::from(byte & 127));
    ends[0] << 7 | ends[1]
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

/// What a stream says in pieces.
#[derive(Debug)]
struct Pieces {
    interaction: usize,
    together: Vec<String>,
}

/// What the streams of a cassette say in pieces, in order.
fn pieces(cassette: &Cassette) -> Vec<Pieces> {
    // What comes behind the last request is nobody's to come back with.
    let asked_after = cassette.interactions.len().saturating_sub(1);
    let streams = cassette.interactions[..asked_after].iter().enumerate();
    let streams = streams.filter_map(|(number, it)| Some((number, it.response()?)));
    let streams = streams.filter(|(_, it)| Media::of_headers(&it.headers).is_stream());
    let all = streams.map(|(interaction, response)| Pieces {
        interaction,
        together: pieced_together(&plain(&response.readable().bytes())),
    });
    all.filter(|it| !it.together.is_empty()).collect()
}

/// Gives all texts of a cassette in order, and what was put together of them, each with who sent it.
fn conversation(cassette: &Cassette, pieces: &[Pieces], mut told: impl FnMut(Origin, &str)) {
    let mut pieces = pieces.iter().peekable();
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let from = |issuer| Origin { issuer, interaction: number };
        each_asked(&interaction.request, &mut |text| told(from(Issuer::Client), text));
        let Some(response) = interaction.response() else { continue };
        let mut answered = |text: &str| told(from(Issuer::Server), text);
        each_value(&response.headers, &mut answered);
        answered(&plain(&response.readable().bytes()));
        if let Some(said) = pieces.next_if(|said| said.interaction == number) {
            said.together.iter().for_each(|text| answered(text));
        }
    }
}

/// Gives all texts of a request.
fn each_asked(request: &Request, told: &mut impl FnMut(&str)) {
    told(&request.path);
    each_value(&request.headers, told);
    told(&plain(&request.readable()));
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
