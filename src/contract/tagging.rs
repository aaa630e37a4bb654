//! What tells the types of the messages of each endpoint.

use std::collections::BTreeMap;

use super::{Contract, Endpoint};
use crate::cassette::Response;
use crate::message::{Framing, Message, Messages, Protocols, TagSource};

/// More messages of an endpoint do not tell more.
const LOOKED_AT: usize = 2_000;

/// What tells the types of the messages of each endpoint, where no protocol that is known does.
#[derive(Debug, Default)]
pub(super) struct Tagging {
    protocols: Protocols,
    told: BTreeMap<Endpoint, TagSource>,
}

impl Tagging {
    /// What an accepted contract says stays; else it is learned from streams.
    pub(super) fn of<'r>(
        protocols: &Protocols,
        accepted: &[Contract],
        answers: impl Iterator<Item = (&'r Endpoint, &'r Response)>,
    ) -> Self {
        let mut streams: BTreeMap<&Endpoint, Vec<Vec<Message>>> = BTreeMap::new();
        for (endpoint, response) in answers.filter(|(_, response)| is_stream(response)) {
            let bodies = streams.entry(endpoint).or_default();
            if bodies.iter().map(Vec::len).sum::<usize>() < LOOKED_AT {
                bodies.push(Messages::of(response, protocols).list);
            }
        }
        let mut told = BTreeMap::new();
        for (endpoint, bodies) in streams {
            let contract = accepted.iter().find(|contract| contract.endpoint == *endpoint);
            let accepted = contract.and_then(|contract| contract.tag.clone());
            let learned = || protocols.learn(bodies.iter().map(Vec::as_slice));
            told.extend(accepted.or_else(learned).map(|told| (endpoint.clone(), told)));
        }
        Self { protocols: protocols.clone(), told }
    }

    /// What was learned or accepted for an endpoint.
    pub(super) fn told(&self, endpoint: &Endpoint) -> Option<&TagSource> {
        self.told.get(endpoint)
    }

    /// How the messages of an endpoint are told apart.
    pub(super) fn protocols(&self, endpoint: &Endpoint) -> Protocols {
        match self.told(endpoint) {
            Some(told) => self.protocols.with(told),
            None => self.protocols.clone(),
        }
    }
}

fn is_stream(response: &Response) -> bool {
    let framing = Framing::of(response.headers.get("content-type"));
    matches!(framing, Framing::EventStream | Framing::Lines)
}
