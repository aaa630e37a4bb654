//! Who issued an identifier.

use std::collections::HashMap;

use super::identifiers;
use crate::cassette::{Cassette, Headers, Interaction};

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
    known: HashMap<String, Origin, foldhash::fast::FixedState>,
    minted: usize,
}

impl Origins {
    /// Finds the identifiers of a cassette in the order in which they went over the wire.
    pub fn of(cassette: &Cassette) -> Self {
        let mut origins = Self::default();
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let from = |issuer| Origin { issuer, interaction: number };
            origins.note_request(interaction, from(Issuer::Client));
            origins.note_answer(interaction, from(Issuer::Server));
        }
        origins
    }

    /// Where an identifier came from; `None` if it does not appear in the cassette.
    pub fn origin(&self, identifier: &str) -> Option<Origin> {
        self.known.get(identifier).copied()
    }

    /// Whether the server issued it.
    pub fn is_issued(&self, identifier: &str) -> bool {
        self.origin(identifier).is_some_and(|origin| origin.issuer == Issuer::Server)
    }

    /// Whether the client minted it.
    pub fn is_minted(&self, identifier: &str) -> bool {
        self.origin(identifier).is_some_and(|origin| origin.issuer == Issuer::Client)
    }

    /// How many identifiers the client minted.
    pub fn minted(&self) -> usize {
        self.minted
    }

    fn note_request(&mut self, interaction: &Interaction, origin: Origin) {
        let request = &interaction.request;
        self.note(&request.path, origin);
        self.note_headers(&request.headers, origin);
        self.note(&String::from_utf8_lossy(&request.readable()), origin);
    }

    fn note_answer(&mut self, interaction: &Interaction, origin: Origin) {
        let Some(response) = interaction.response() else { return };
        self.note_headers(&response.headers, origin);
        self.note(&String::from_utf8_lossy(&response.readable().bytes()), origin);
    }

    fn note_headers(&mut self, headers: &Headers, origin: Origin) {
        for (_, value) in headers.iter() {
            self.note(&String::from_utf8_lossy(value), origin);
        }
    }

    fn note(&mut self, text: &str, origin: Origin) {
        for range in identifiers(text) {
            let identifier = &text[range];
            if !self.known.contains_key(identifier) {
                self.known.insert(identifier.to_owned(), origin);
                self.minted += usize::from(origin.issuer == Issuer::Client);
            }
        }
    }
}
