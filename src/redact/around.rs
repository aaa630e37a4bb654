//! Where the requests of a recording have placeholders: any value there stands for the secret.
//!
//! # Rationale
//!
//! A name tells of any value but an empty one, as a run without secrets has it, and a look only of what looks so:
//! `/services/T0…/B0…` of a webhook, and no `/services/dummy`. What the recording shows around a placeholder tells of
//! all of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::rule::Notes;
use super::value;
use crate::cassette::placeholder::OPENING;
use crate::cassette::splice::{Edit, in_order};
use crate::cassette::{Cassette, Request};

/// The texts around placeholders in the requests of a recording.
#[derive(Debug, Default)]
pub(super) struct Around {
    in_paths: Vec<Mark>,
    /// In the parameters of queries.
    in_queries: Vec<Mark>,
    /// In header fields, by their names in lower case.
    in_headers: HashMap<String, Vec<Mark>>,
    /// In bodies and messages, by path.
    in_bodies: HashMap<String, Vec<Mark>>,
}

/// What stands around a placeholder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    before: Vec<u8>,
    /// Nothing where the text ends.
    behind: Vec<u8>,
    name: String,
}

/// How much of what stands before a placeholder is looked at: as little as stands before nothing else.
const BEFORE: [usize; 4] = [8, 16, 32, 64];

/// How much of what stands behind one is looked at where it is a letter or a digit.
const BEHIND: usize = 4;

/// A longer value is no secret.
const LONGEST: usize = 4096;

/// So many placeholders of a path are looked at.
const MOST: usize = 64;

impl Around {
    /// What stands around those of a recording.
    pub(super) fn of(cassette: &Cassette) -> Self {
        let mut veiled: HashSet<Spot> = HashSet::new();
        each(cassette, |spot, text| {
            if has_any(text) {
                veiled.insert(spot());
            }
        });
        let mut texts: HashMap<Spot, BTreeSet<Vec<u8>>> = HashMap::new();
        // What has no placeholder counts where others have: there it says what is none.
        let mut take = |spot: Spot, text: &[u8]| {
            if veiled.contains(&spot) {
                let text = value::without_numbers(text).unwrap_or_else(|| text.to_vec());
                texts.entry(spot).or_default().insert(text);
            }
        };
        if !veiled.is_empty() {
            each(cassette, |spot, text| take(spot(), text));
        }
        let mut around = Self::default();
        for (spot, texts) in texts {
            let marks = marks(&texts.into_iter().collect::<Vec<_>>());
            match spot {
                _ if marks.is_empty() => {}
                Spot::Path => around.in_paths = marks,
                Spot::Query => around.in_queries = marks,
                Spot::Header(name) => _ = around.in_headers.insert(name, marks),
                Spot::Body(path) => _ = around.in_bodies.insert(path, marks),
            }
        }
        around
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        let is_known = |marks: &Vec<Mark>| !marks.is_empty();
        let is_outside = is_known(&self.in_paths) || is_known(&self.in_queries);
        !is_outside && self.in_headers.is_empty() && self.in_bodies.is_empty()
    }

    /// What stands in the path and the query of a request where the recording has placeholders.
    pub(super) fn in_target(&self, request: &Request, notes: &mut Notes<'_>) -> Vec<Edit> {
        let mut found = edits(&self.in_paths, request.path_only().as_bytes(), notes);
        let mut at = request.path_only().len() + 1;
        for parameter in parameters(request) {
            let within = edits(&self.in_queries, parameter.as_bytes(), notes).into_iter();
            found.extend(
                within.map(|it| Edit { range: at + it.range.start..at + it.range.end, ..it }),
            );
            at += parameter.len() + 1;
        }
        found
    }

    /// The same in a header field.
    pub(super) fn in_header(&self, name: &str, value: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
        let marks = self.in_headers.get(&name.to_ascii_lowercase());
        marks.map_or_else(Vec::new, |marks| edits(marks, value, notes))
    }

    /// The same in a body or a message that goes to this path.
    pub(super) fn in_body(&self, path: &str, text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
        self.in_bodies.get(path).map_or_else(Vec::new, |marks| edits(marks, text, notes))
    }
}

/// What texts of requests are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Spot {
    Path,
    /// A parameter of a query, which may stand anywhere in it.
    Query,
    /// The header field of that name, in lower case.
    Header(String),
    /// What is sent to that path.
    Body(String),
}

/// Tells the texts of the requests of a recording, each with what it is compared with.
fn each(cassette: &Cassette, mut told: impl FnMut(&dyn Fn() -> Spot, &[u8])) {
    for interaction in &cassette.interactions {
        let (request, path) = (&interaction.request, interaction.request.path_only());
        told(&|| Spot::Path, path.as_bytes());
        parameters(request).for_each(|it| told(&|| Spot::Query, it.as_bytes()));
        for (name, value) in request.headers.iter() {
            told(&|| Spot::Header(name.to_ascii_lowercase()), value);
        }
        let to_path = || Spot::Body(path.to_owned());
        told(&to_path, &request.readable());
        interaction.said_by_client().for_each(|message| told(&to_path, message));
    }
}

/// The parameters of the query, in pieces as they are written.
fn parameters(request: &Request) -> impl Iterator<Item = &str> {
    request.query().into_iter().flat_map(|query| query.split('&'))
}

fn has_any(text: &[u8]) -> bool {
    memchr::memmem::find(text, OPENING.as_bytes()).is_some()
}

/// What stands around the placeholders of these texts, and nowhere else in them.
fn marks(texts: &[Vec<u8>]) -> Vec<Mark> {
    let mut marks = BTreeSet::new();
    // To look at each of many takes long, where none tells.
    let mut left = MOST;
    for text in texts.iter().filter(|text| has_any(text)) {
        for (range, name, _) in value::placeholders(text) {
            let is_it = |it: &Mark| it.name == name && it.stands_at(text, range.start);
            let is_known = marks.iter().any(is_it);
            if is_known || left == 0 {
                continue;
            }
            left -= 1;
            let mut before =
                BEFORE.iter().map(|length| &text[range.start.saturating_sub(*length)..range.start]);
            let Some(before) = before.find(|before| tells(before, name, texts)) else { continue };
            let behind = &text[range.end..];
            let length =
                if behind.first().is_some_and(u8::is_ascii_alphanumeric) { BEHIND } else { 1 };
            let behind = behind[..length.min(behind.len())].to_vec();
            marks.insert(Mark { before: before.to_vec(), behind, name: name.to_owned() });
        }
    }
    marks.into_iter().collect()
}

/// Whether a placeholder of that name stands wherever that stands.
fn tells(before: &[u8], name: &str, texts: &[Vec<u8>]) -> bool {
    let placeholder = value::placeholder(name);
    let is_veiled =
        |text: &[u8], at: usize| text[at + before.len()..].starts_with(placeholder.as_bytes());
    before.iter().any(u8::is_ascii_alphanumeric)
        && texts
            .iter()
            .all(|text| memchr::memmem::find_iter(text, before).all(|at| is_veiled(text, at)))
}

impl Mark {
    fn stands_at(&self, text: &[u8], at: usize) -> bool {
        text[..at].ends_with(&self.before)
    }

    /// The values in a text that it stands around.
    fn values<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (usize, &'t str)> {
        memchr::memmem::find_iter(text, &self.before).filter_map(move |at| {
            let start = at + self.before.len();
            let rest = &text[start..text.len().min(start + LONGEST)];
            let end = match &self.behind[..] {
                [] => rest.len(),
                behind => memchr::memmem::find(rest, behind)?,
            };
            Some((start, str::from_utf8(&rest[..end]).ok()?))
        })
    }
}

fn edits(marks: &[Mark], text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for mark in marks {
        for (start, secret) in mark.values(text) {
            // It may be called otherwise where it stands first in this run.
            let with = match value::name_and_number(secret) {
                Some((name, _)) if value::is_placeholder(secret) => {
                    (name != mark.name).then(|| value::placeholder(&mark.name))
                }
                _ if secret.contains(OPENING) => None,
                _ if secret.is_empty() => Some(value::placeholder(&mark.name)),
                _ => notes.replacement(&mark.name, secret),
            };
            edits.extend(with.map(|with| Edit::new(start..start + secret.len(), with)));
        }
    }
    in_order(edits)
}
