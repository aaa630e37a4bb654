//! What was recorded, endpoint by endpoint.

use std::collections::{BTreeMap, HashSet};

use crate::cassette::{Cassette, End, Interaction, Name, Response};
use crate::contract;
use crate::identity::{Ledger, Sign};
use crate::message::{Messages, Protocols, Tag};
use crate::text::json::Text;

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exercised {
    /// In how many cassettes.
    pub cassettes: usize,
    /// The endpoints, sorted by path.
    pub endpoints: Vec<Endpoint>,
    /// How many requests had no answer.
    pub unanswered: usize,
    pub(super) requests: BTreeMap<Request, usize>,
}

/// A method and a path in which identifiers are left open.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The media type without parameters; empty if there is none.
    pub media: String,
    /// How many there are.
    pub count: usize,
    /// How many of them were cut short.
    pub cut: usize,
    /// The types of their messages, and in how many answers each came.
    pub messages: BTreeMap<String, usize>,
}

/// A request as a document may know it, and what came back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    pub(super) method: String,
    /// As it was asked for.
    pub(super) path: String,
    /// With identifiers left open.
    pub(super) template: String,
    pub(super) status: u16,
    pub(super) media: String,
}

/// By path and method; the answers by status and media type.
type Found = BTreeMap<(String, String), (BTreeMap<String, usize>, BTreeMap<(u16, String), Answer>)>;

impl Exercised {
    /// Looks through cassettes.
    pub fn of<'a>(cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>) -> Self {
        Self::by(&Protocols::default(), cassettes)
    }

    /// The same with other protocols than those that are known.
    pub fn by<'a>(
        protocols: &Protocols,
        cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>,
    ) -> Self {
        let mut exercised = Self::default();
        let mut found = Found::new();
        for (_, cassette) in cassettes {
            exercised.cassettes += 1;
            let ledger = Ledger::of(cassette).entries.into_iter();
            let returned: HashSet<String> = ledger
                .filter(|entry| entry.sign == Sign::Return)
                .map(|entry| entry.value)
                .collect();
            for interaction in &cassette.interactions {
                exercised.add(protocols, interaction, &returned, &mut found);
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
        returned: &HashSet<String>,
        found: &mut Found,
    ) {
        let request = &interaction.request;
        let Some(response) = interaction.response() else {
            self.unanswered += 1;
            return;
        };
        let contract::Endpoint { method, path, status, media } =
            contract::Endpoint::of(request, response, returned);
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
    let body = Text::parse(body)?;
    body.get("jsonrpc")?;
    Some(body.get("method")?.string()?.into_owned())
}
