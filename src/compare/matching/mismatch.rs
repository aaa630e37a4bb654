//! Why no interaction answers a request.

use std::borrow::Cow;

use super::counterfactual::Counterfactual;
use super::nearest::{Found, Library};
use super::value::{self, Values};
use super::why::{Conflict, Why};
use super::{Index, Playlist};
use crate::cassette::{Cassette, Headers, Request};
use crate::compare::diff::{self, Difference, Differences, Mask, Place};
use crate::redact::{Memory, Redactor};

/// A request that no recorded interaction answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The method that was asked.
    pub method: String,
    /// What was asked for, secrets replaced.
    pub path: String,
    /// The recorded interaction whose request is most alike, if one is about the same thing at all.
    pub nearest: Option<Nearest>,
    /// If none is: what was recorded that is least far away.
    pub others: Vec<Asking>,
    /// How many interactions were recorded.
    pub recorded: usize,
    /// The server that they were recorded from.
    pub upstream: String,
}

/// The recorded interaction whose request is most alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// It.
    pub asking: Asking,
    /// Whether it was played in this session before.
    pub played: bool,
    /// How much of query and body is the same, in thousandths.
    pub alike: u32,
    /// Where the two differ and why that counts.
    pub differences: Vec<Differing>,
    /// How many more differences there are.
    pub more: usize,
    /// The first interaction that was not played yet.
    pub next: Option<Asking>,
    /// What its answer shows and was not asked for in this run, if that is why it is not given.
    pub awaited: Option<Asking>,
}

/// What a recorded interaction asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// Its number in the cassette, counted from 0.
    pub interaction: usize,
    /// The method.
    pub method: String,
    /// What it asks for.
    pub path: String,
}

/// A difference and why it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// The difference.
    pub difference: Difference,
    /// Why it counts.
    pub why: Why,
}

impl Mismatch {
    /// Finds what is most alike and where it differs. Takes time in proportion to the cassette, though
    /// a look at method and path is all that most of it gets: only a miss pays that.
    ///
    /// What is compared is redacted by the rules that the cassette names, which may be none, if
    /// somebody wrote it by hand. With a `veil` nothing is told that its rules take out.
    pub fn explain(
        asked: Request,
        cassette: &Cassette,
        index: &Index,
        playlist: &Playlist,
        veil: Option<&Redactor>,
    ) -> Self {
        let library = Library { cassette, index, playlist };
        let mask: Mask<'_> = &|text| masked(text, index);
        let found = library.nearest(&asked, mask);
        let asking = |number| library.asking(number, veil);
        let others = if found.is_some() { Vec::new() } else { library.others(&asked) };
        Self {
            nearest: found.map(|found| library.told(found, &asked, veil)),
            others: others.into_iter().map(asking).collect(),
            recorded: cassette.interactions.len(),
            upstream: cassette.recorded.upstream.clone(),
            path: target(&asked.path, veil),
            method: asked.method,
        }
    }
}

impl Library<'_> {
    fn told(self, found: Found, asked: &Request, veil: Option<&Redactor>) -> Nearest {
        let recorded = self.request(found.interaction);
        let mut found_to_differ = self.differing(recorded, asked, found.interaction);
        if let Some(redactor) = veil {
            found_to_differ = self.veiled(found_to_differ, recorded, asked, redactor);
        }
        let (differences, more) = found_to_differ;
        let awaited = self.playlist.awaited(self.index, &self.index.skeleton(asked));
        Nearest {
            awaited: awaited.map(|number| self.asking(number, veil)),
            asking: self.asking(found.interaction, veil),
            played: self.playlist.was_played(found.interaction),
            alike: found.alike,
            differences,
            more,
            next: self.playlist.unplayed().next().map(|number| self.asking(number, veil)),
        }
    }

    fn asking(&self, interaction: usize, veil: Option<&Redactor>) -> Asking {
        let Request { method, path, .. } = self.request(interaction);
        Asking { interaction, method: method.clone(), path: target(path, veil) }
    }

    /// What differs from a request that was recorded behind so many others, and counts, and how much more
    /// there is.
    fn differing(
        self,
        recorded: &Request,
        asked: &Request,
        before: usize,
    ) -> (Vec<Differing>, usize) {
        let test = Counterfactual::new(self.index, asked, recorded);
        let mask: Mask<'_> = &|text| masked(text, self.index);
        let Differences { listed, more, renamed } =
            diff::requests(recorded, asked, &|name| test.header(name), mask);
        let (counting, free): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|difference| test.counts(difference));
        let counting = counting.into_iter().map(|difference| {
            let why = self.why(&difference, before);
            Differing { difference, why }
        });
        let conflicts = self.conflicts(
            &self.index.skeleton(recorded).holes,
            &self.index.skeleton(asked).holes,
            &renamed,
        );
        let conflicting = renamed.into_iter().chain(free).filter_map(|difference| {
            let why = Conflict::in_difference(&conflicts, &difference)?;
            Some(Differing { difference, why })
        });
        (counting.chain(conflicting).collect(), more)
    }

    /// The same as it may be shown: what differs once the secrets are taken out of both, and of the
    /// rest only where it stands.
    fn veiled(
        self,
        (differing, more): (Vec<Differing>, usize),
        recorded: &Request,
        asked: &Request,
        redactor: &Redactor,
    ) -> (Vec<Differing>, usize) {
        let memory = Memory::default();
        let [mut recorded, mut asked] = [recorded, asked].map(Request::clone);
        memory.redact(redactor, &mut recorded);
        memory.redact(redactor, &mut asked);
        // What only the second called a secret may stand in the first as well.
        memory.redact(redactor, &mut recorded);
        // What the server gave is not looked for: it may be a secret.
        let (mut shown, _) = self.differing(&recorded, &asked, 0);
        for Differing { difference, .. } in differing {
            let at = named(difference.at, &memory, redactor);
            if shown.iter().all(|other| other.difference.at != at) {
                shown.push(Differing { difference: Difference::hidden(at), why: Why::Secret });
            }
        }
        (shown, more)
    }
}

fn target(path: &str, veil: Option<&Redactor>) -> String {
    veil.and_then(|redactor| redactor.target(path)).unwrap_or_else(|| path.to_owned())
}

/// A place whose name is no secret.
fn named(place: Place, memory: &Memory, redactor: &Redactor) -> Place {
    let clean = |name: String| {
        let headers = Headers::new();
        let mut carrier =
            Request { method: String::new(), path: String::new(), headers, body: name.into() };
        memory.redact(redactor, &mut carrier);
        String::from_utf8_lossy(&carrier.body).into_owned()
    };
    match place {
        Place::Query(name) => Place::Query(clean(name)),
        Place::Form(name) => Place::Form(clean(name)),
        Place::Part(name) => Place::Part(clean(name)),
        Place::Json(pointer) => Place::Json(clean(pointer)),
        other => other,
    }
}

/// A text without the identifiers and times that the client may choose.
fn masked<'t>(text: &'t str, index: &Index) -> Cow<'t, str> {
    let mut values = Values::new(index.origins(), index.rules());
    values.text(value::Value::at(0), text);
    let mut out = String::new();
    let mut rest = text;
    for hole in &values.holes {
        if let Some(at) = rest.find(&hole.identifier) {
            out.push_str(&rest[..at]);
            out.push('\0');
            rest = &rest[at + hole.identifier.len()..];
        }
    }
    if values.holes.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}
