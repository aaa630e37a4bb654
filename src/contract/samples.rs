//! The messages that shapes are learned from, and what is known of them beside what they say.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::clients::Clients;
use super::cut::JsonMessage;
use super::order;
use super::traffic::Answer;
use crate::contract::shape::{Around, Witness};
use crate::text::json::{Container, Text};

/// Messages of one part of the answers of an endpoint, by number.
pub(super) struct Samples<'a> {
    all: Vec<Sample<'a>>,
    clients: &'a Clients,
    /// The words of the requests, by recording.
    asked: HashMap<order::Witness, HashSet<String, RandomState>, RandomState>,
}

/// A message.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) message: &'a JsonMessage,
    /// The answer it is in, and the number of that.
    pub(super) answer: &'a Answer,
    pub(super) number: usize,
    /// Which of the messages of the answer it is, counted from 0.
    pub(super) event: usize,
}

impl<'a> Samples<'a> {
    /// What `of` takes of each answer.
    pub(super) fn of(
        answers: &'a [Answer],
        clients: &'a Clients,
        of: fn(&Answer) -> &[JsonMessage],
    ) -> Self {
        let answers = || answers.iter().enumerate().filter(|(_, answer)| !of(answer).is_empty());
        let all = answers().flat_map(|(number, answer)| {
            let messages = of(answer).iter().enumerate();
            messages.map(move |(event, message)| Sample { message, answer, number, event })
        });
        let all = all.collect();
        let mut asked: HashMap<_, HashSet<_, _>, _> = HashMap::default();
        for (_, answer) in answers() {
            let words = asked.entry(answer.witness).or_default();
            if let Some(json) = answer.asked.as_deref().and_then(Text::read) {
                hear(json, DEEPEST, words);
            }
        }
        Self { all, clients, asked }
    }

    /// All of them in their order, and the number of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Witness, &Sample<'a>)> {
        (0..).zip(&self.all)
    }

    /// One of them.
    pub(super) fn get(&self, number: Witness) -> Option<&Sample<'a>> {
        self.all.get(usize::try_from(number).ok()?)
    }
}

impl Around for Samples<'_> {
    fn recording(&self, sample: Witness) -> u32 {
        self.get(sample).map_or(u32::MAX, |sample| sample.answer.witness.0)
    }

    fn was_asked(&self, sample: Witness, text: &str) -> bool {
        let words = self.get(sample).and_then(|sample| self.asked.get(&sample.answer.witness));
        words.is_some_and(|words| words.contains(text))
    }

    fn made_up(&self, word: &str) -> bool {
        self.clients.made_up(word)
    }

    fn mint(&self, prefix: &str) -> bool {
        self.clients.mint(prefix)
    }

    fn declare(&self, name: &str) -> bool {
        self.clients.declare(name)
    }
}

/// Words below so many containers are not heard.
const DEEPEST: usize = 32;

/// A longer text is no word.
const LONGEST: usize = 80;

/// Takes the strings that a request says.
fn hear(json: Text<'_>, room: usize, words: &mut HashSet<String, RandomState>) {
    match (json.container(), room.checked_sub(1)) {
        (Some(Container::Object), Some(room)) => {
            json.members().for_each(|(_, value)| hear(value, room, words));
        }
        (Some(Container::Array), Some(room)) => {
            json.elements().for_each(|value| hear(value, room, words));
        }
        _ if json.as_str().len() <= LONGEST => {
            words.extend(json.string().map(std::borrow::Cow::into_owned));
        }
        _ => {}
    }
}
