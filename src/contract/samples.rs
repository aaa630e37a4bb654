//! The messages that shapes are learned from, and what is known of them beside what they say.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::clients::Clients;
use super::cut::JsonMessage;
use super::order;
use super::traffic::Answer;
use crate::contract::shape::{Around, Naming, Witness};
use crate::text::json::{Container, Text};

/// Messages of one part of the answers of an endpoint, by number.
pub(super) struct Samples<'a> {
    all: Vec<Sample<'a>>,
    clients: &'a Clients,
    /// What was asked, by recording.
    asked: HashMap<order::Witness, RequestWords, RandomState>,
}

/// What a request says.
#[derive(Default)]
struct RequestWords {
    words: HashSet<String, RandomState>,
    /// What its JSON Schemas call their properties: a tool that is called has arguments of these names.
    properties: HashSet<String, RandomState>,
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
        let mut asked: HashMap<_, RequestWords, _> = HashMap::default();
        for (_, answer) in answers() {
            let asked = asked.entry(answer.witness).or_default();
            if let Some(json) = answer.said_by_client().map(Text::known) {
                asked.hear(json, DEEPEST);
            }
        }
        Self { all, clients, asked }
    }

    /// All of them in their order, and the number of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Witness, &Sample<'a>)> {
        (0..).zip(&self.all)
    }

    fn asked(&self, sample: Witness) -> Option<&RequestWords> {
        self.asked.get(&self.get(sample)?.answer.witness)
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
        self.asked(sample).is_some_and(|asked| asked.words.contains(text))
    }

    fn has_chosen(&self, sample: Witness, field: &str, word: &str) -> bool {
        let before = self.get(sample).and_then(|sample| sample.answer.before());
        before.is_some_and(|before| before.has_chosen(field, word))
    }

    fn is_given(&self, sample: Witness, word: &str) -> bool {
        let before = self.get(sample).and_then(|sample| sample.answer.before());
        before.is_some_and(|before| before.is_identifier(word))
    }

    fn naming(&self, field: &str) -> Option<&Naming> {
        self.clients.naming(field)
    }

    fn has_named(&self, sample: Witness, field: &str, name: &str) -> bool {
        let before = self.get(sample).and_then(|sample| sample.answer.before());
        before.is_some_and(|before| before.has_named(field, name))
    }

    fn was_declared(&self, sample: Witness, name: &str) -> bool {
        self.asked(sample).is_some_and(|asked| asked.properties.contains(name))
    }

    fn made_up(&self, word: &str) -> bool {
        self.clients.made_up(word)
    }

    fn mint(&self, prefix: &str) -> bool {
        self.clients.mint(prefix)
    }
}

/// What stands below so many containers is not heard.
const DEEPEST: usize = 32;

/// A longer text is no word.
const LONGEST: usize = 80;

impl RequestWords {
    fn hear(&mut self, json: Text<'_>, room: usize) {
        let Some(room) = room.checked_sub(1) else { return };
        match json.container() {
            Some(Container::Object) => {
                for (name, value) in json.members() {
                    if name == "properties" {
                        let names = value.members().map(|(name, _)| name.into_owned());
                        self.properties.extend(names);
                    }
                    self.hear(value, room);
                }
            }
            Some(Container::Array) => json.elements().for_each(|value| self.hear(value, room)),
            None if json.as_str().len() <= LONGEST => {
                self.words.extend(json.string().map(Cow::into_owned));
            }
            None => {}
        }
    }
}
