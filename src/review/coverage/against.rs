//! What was recorded, beside what a document says.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Exercised;
use super::exercised::Request;
use crate::contract::openapi::{Document, Operation};

/// What a document says, and how much of it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage<'d> {
    /// The document.
    pub document: &'d Document,
    /// What was recorded and the document does not say.
    pub undocumented: Vec<Undocumented>,
    /// How often each operation was asked for, by its place in the document.
    operations: BTreeMap<usize, usize>,
    /// The operations and responses that were recorded, by their places.
    responses: BTreeSet<(usize, usize)>,
    /// The same of media types.
    media: BTreeSet<(usize, usize, usize)>,
}

/// Something that was recorded and the document does not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Undocumented {
    /// The path, as the document writes it if it knows it.
    pub path: String,
    /// The method.
    pub method: String,
    /// The status, where the operation is known.
    pub status: Option<u16>,
    /// The media type, where the status is known.
    #[serde(rename = "media_type")]
    pub media: Option<String>,
    /// In how many answers.
    #[serde(rename = "answers")]
    pub count: usize,
}

/// An operation of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'d> {
    /// What the document says.
    pub operation: &'d Operation,
    /// How often it was asked for and answered.
    pub count: usize,
    /// What never came back.
    pub missing: Vec<Missing<'d>>,
}

/// Something that never came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Missing<'d> {
    /// The status as the document says it.
    pub status: &'d str,
    /// The media type, where the status came and others of its media types did.
    #[serde(rename = "media_type")]
    pub media: Option<&'d str>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many were recorded.
    pub exercised: usize,
    /// How many there are.
    pub all: usize,
}

impl<'d> Coverage<'d> {
    /// Holds what was recorded against a document.
    pub fn of(document: &'d Document, exercised: &Exercised) -> Self {
        let mut coverage = Self {
            document,
            undocumented: Vec::new(),
            operations: BTreeMap::new(),
            responses: BTreeSet::new(),
            media: BTreeSet::new(),
        };
        let mut undocumented = BTreeMap::new();
        for (request, count) in &exercised.requests {
            if let Some(unknown) = coverage.see(request, *count) {
                *undocumented.entry(unknown).or_insert(0) += count;
            }
        }
        let undocumented = undocumented.into_iter();
        coverage.undocumented =
            undocumented.map(|(unknown, count)| Undocumented { count, ..unknown }).collect();
        coverage
    }

    /// Notes what was recorded; gives it back if the document does not say it.
    fn see(&mut self, request: &Request, count: usize) -> Option<Undocumented> {
        let Request { method, path, template, status, media } = request;
        let unknown = |path: &str, status: Option<u16>, media: Option<&String>| {
            let (method, path, media) = (method.clone(), path.to_owned(), media.cloned());
            Some(Undocumented { path, method, status, media, count: 0 })
        };
        let Some(place) = self.document.operation(method, path) else {
            return unknown(template, None, None);
        };
        *self.operations.entry(place).or_default() += count;
        let operation = &self.document.operations[place];
        let Some(response) = operation.response(*status) else {
            return unknown(&operation.path, Some(*status), None);
        };
        self.responses.insert((place, response));
        let known = &operation.responses[response];
        match known.media(media) {
            Some(kind) => {
                self.media.insert((place, response, kind));
                None
            }
            None if media.is_empty() || known.media.is_empty() => None,
            None => unknown(&operation.path, Some(*status), Some(media)),
        }
    }

    /// The operations that were asked for.
    pub fn operations(&self) -> Share {
        Share { exercised: self.operations.len(), all: self.document.operations.len() }
    }

    /// The responses of all operations that came.
    pub fn responses(&self) -> Share {
        let all = self.document.operations.iter().map(|operation| operation.responses.len());
        Share { exercised: self.responses.len(), all: all.sum() }
    }

    /// The media types of all responses that came.
    pub fn media(&self) -> Share {
        let responses = self.document.operations.iter().flat_map(|it| &it.responses);
        Share {
            exercised: self.media.len(),
            all: responses.map(|response| response.media.len()).sum(),
        }
    }

    /// The operations, in the order of the document.
    pub fn rows(&self) -> impl Iterator<Item = Row<'d>> {
        let operations = self.document.operations.iter().enumerate();
        operations.map(|(place, operation)| Row {
            operation,
            count: self.operations.get(&place).copied().unwrap_or_default(),
            missing: self.missing(place, operation),
        })
    }

    fn missing(&self, place: usize, operation: &'d Operation) -> Vec<Missing<'d>> {
        let mut found = Vec::new();
        for (number, response) in operation.responses.iter().enumerate() {
            let status = response.status.as_str();
            if !self.responses.contains(&(place, number)) {
                found.push(Missing { status, media: None });
                continue;
            }
            let media = response.media.iter().enumerate();
            let missing = media.filter(|(kind, _)| !self.media.contains(&(place, number, *kind)));
            found.extend(missing.map(|(_, media)| Missing { status, media: Some(media) }));
        }
        found
    }
}

impl Share {
    /// From 0 to 100; 100 of nothing.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { self.exercised as f64 * 100.0 / self.all as f64 }
    }
}
