//! Who issued an identifier.

use std::collections::HashMap;

use super::identifiers;
use crate::cassette::{Cassette, Headers, Interaction};

/// Where an identifier came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It first appeared in the answer of this interaction.
    Server(usize),
    /// It first appeared in the request of this interaction.
    Client(usize),
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
            origins.note_request(interaction, Origin::Client(number));
            origins.note_answer(interaction, Origin::Server(number));
        }
        origins
    }

    /// The origin of an identifier, if it stands in the cassette.
    pub fn of_identifier(&self, identifier: &str) -> Option<Origin> {
        self.known.get(identifier).copied()
    }

    /// Whether the server issued it.
    pub fn is_issued(&self, identifier: &str) -> bool {
        matches!(self.known.get(identifier), Some(Origin::Server(_)))
    }

    /// Whether the client minted it.
    pub fn is_minted(&self, identifier: &str) -> bool {
        matches!(self.known.get(identifier), Some(Origin::Client(_)))
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
                self.minted += usize::from(matches!(origin, Origin::Client(_)));
            }
        }
    }
}
