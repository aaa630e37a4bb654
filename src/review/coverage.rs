//! How much of a server the cassettes show.
//!
//! [`Exercised`] says which endpoints, statuses and types of messages were recorded; [`Coverage`] holds
//! that against an OpenAPI [`Document`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use crate::cassette::{Cassette, End, Interaction, Name, Response};
use crate::contract::openapi::{Document, Operation};
use crate::contract::{self, Contract, Traffic};
use crate::message::{Messages, Protocols, Tag};
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Exercised {
    /// In how many cassettes.
    pub cassettes: usize,
    /// The endpoints, sorted by path.
    pub endpoints: Vec<Endpoint>,
    /// How many requests had no answer.
    pub unanswered: usize,
    requests: BTreeMap<Request, usize>,
}

/// A method and a path in which identifiers are left open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Endpoint {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path: `/v1/agents/{agent_id}`.
    pub path: String,
    /// What was asked, where requests are messages as well (JSON-RPC), and how often.
    pub asked: BTreeMap<String, usize>,
    /// What came back, sorted by status and media type.
    pub answers: Vec<Answer>,
}

/// Answers of one status and media type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The media type without parameters; empty if there is none.
    #[serde(rename = "media_type")]
    pub media: String,
    /// How many there are.
    #[serde(rename = "answers")]
    pub count: usize,
    /// How many of them were cut short.
    pub cut: usize,
    /// The types of their messages, and in how many answers each came.
    pub messages: BTreeMap<String, usize>,
}

/// A request as a document may know it, and what came back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    method: String,
    /// As it was asked for.
    path: String,
    /// With identifiers left open.
    template: String,
    status: u16,
    media: String,
}

/// By path and method; the answers by status and media type.
type EndpointAnswers =
    BTreeMap<(String, String), (BTreeMap<String, usize>, BTreeMap<(u16, String), Answer>)>;

impl Exercised {
    /// Looks through cassettes.
    pub fn of<'a>(cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>) -> Self {
        Self::by(&Protocols::default(), &[], cassettes)
    }

    /// The same with other protocols than those that are known, and with what accepted contracts say about
    /// paths and types.
    pub fn by<'a>(
        protocols: &Protocols,
        accepted: &[Contract],
        cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>,
    ) -> Self {
        let cassettes: Vec<_> = cassettes.into_iter().collect();
        let traffic = Traffic::of(protocols, accepted, cassettes.iter().copied());
        let mut exercised = Self { cassettes: cassettes.len(), ..Self::default() };
        let mut found = EndpointAnswers::new();
        for (cassette, (_, recorded)) in cassettes.into_iter().enumerate() {
            for (number, interaction) in recorded.interactions.iter().enumerate() {
                let endpoint = traffic.endpoint_of(cassette, number);
                let protocols = traffic.protocols_of(cassette, number);
                exercised.add(&protocols, interaction, endpoint, &mut found);
            }
        }
        let endpoints = found.into_iter().map(|((path, method), (asked, answers))| Endpoint {
            method,
            path,
            asked,
            answers: answers.into_values().collect(),
        });
        exercised.endpoints = endpoints.collect();
        exercised
    }

    /// How many answers were recorded.
    pub fn answers(&self) -> usize {
        self.requests.values().sum()
    }

    fn add(
        &mut self,
        protocols: &Protocols,
        interaction: &Interaction,
        endpoint: Option<&contract::Endpoint>,
        found: &mut EndpointAnswers,
    ) {
        let request = &interaction.request;
        let Some((response, endpoint)) = interaction.response().zip(endpoint) else {
            self.unanswered += 1;
            return;
        };
        let contract::Endpoint { method, path, status, media } = endpoint.clone();
        let (asked, answers) = found.entry((path.clone(), method.clone())).or_default();
        if let Some(call) = call(&request.readable()) {
            *asked.entry(call).or_default() += 1;
        }
        let answer = answers.entry((status, media.clone()));
        answer.or_insert_with(|| Answer::new(status, media.clone())).add(protocols, response);
        let asked = request.path_only().to_owned();
        let request = Request { method, path: asked, template: path, status, media };
        *self.requests.entry(request).or_default() += 1;
    }
}

impl Answer {
    fn new(status: u16, media: String) -> Self {
        Self { status, media, count: 0, cut: 0, messages: BTreeMap::new() }
    }

    fn add(&mut self, protocols: &Protocols, response: &Response) {
        self.count += 1;
        self.cut += usize::from(response.end != End::Complete);
        let messages = Messages::of(response, protocols).list;
        let types: HashSet<&str> = messages.iter().filter_map(|it| named(&it.tag)).collect();
        for name in types {
            *self.messages.entry(name.to_owned()).or_default() += 1;
        }
    }
}

/// The type that a message says, if it says something.
fn named(tag: &Tag) -> Option<&str> {
    (tag.is_named() && !tag.is_keep_alive()).then(|| tag.as_str())
}

/// The method of a JSON-RPC message.
fn call(body: &[u8]) -> Option<String> {
    let call = Envelope::of(Text::parse(body)?).filter(Envelope::is_certain)?;
    call.method.map(Cow::into_owned)
}

/// What a document says, and how much of it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Missing<'d> {
    /// The status as the document says it.
    pub status: &'d str,
    /// The media type, where the status came and others of its media types did.
    #[serde(rename = "media_type")]
    pub media: Option<&'d str>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
