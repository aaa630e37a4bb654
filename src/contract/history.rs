//! What was said before, in the same cassette.

use std::collections::{BTreeMap, HashMap};

use super::said::alike;
use crate::cassette::{End, Interaction};
use crate::correlate::identifiers;
use crate::invariant::{Earlier, Field, identified};
use crate::message::{Message, Messages, Protocols, Tag, Trace};

/// What a server has said in the earlier answers of a conversation.
#[derive(Debug, Default)]
pub struct History {
    given: HashMap<String, Given>,
    turns: Vec<Turn>,
}

/// What was said before an interaction, by its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before<'h> {
    pub(super) history: &'h History,
    pub(super) number: usize,
}

/// Where a value was given that identifies something, by the number of the first interaction.
#[derive(Debug, Default)]
struct Given {
    first: usize,
    /// In messages that say their type.
    fields: BTreeMap<Field, usize>,
}

/// An answer in messages, and what it was about.
#[derive(Debug)]
struct Turn {
    interaction: usize,
    /// The identifiers in the path.
    about: Vec<String>,
    /// What the last message of each type says, by type and path.
    said: BTreeMap<(String, String), String>,
}

impl History {
    /// What the answers of these interactions said.
    pub fn of(interactions: &[Interaction]) -> Self {
        Self::by(&Protocols::default(), interactions)
    }

    /// The same with other protocols than those that are known.
    pub fn by(protocols: &Protocols, interactions: &[Interaction]) -> Self {
        Self::heard(protocols, interactions, &messages(protocols, interactions))
    }

    /// The same of answers that were cut into messages before.
    pub(super) fn heard(
        protocols: &Protocols,
        interactions: &[Interaction],
        messages: &[Option<Messages>],
    ) -> Self {
        let mut history = Self::default();
        for (number, (interaction, messages)) in interactions.iter().zip(messages).enumerate() {
            if let Some(messages) = messages {
                history.give(number, &messages.list);
                history.turn(protocols, number, interaction, &messages.list);
            }
        }
        history
    }

    /// Notes what identifies something.
    fn give(&mut self, number: usize, messages: &[Message]) {
        for message in messages {
            let tag = matches!(message.tag, Tag::Named(_)).then(|| message.tag.as_str());
            for (path, value) in identified(&message.data) {
                let first = Given { first: number, fields: BTreeMap::new() };
                let given = self.given.entry(value).or_insert(first);
                if let Some(tag) = tag {
                    let field = Field { tag: Some(tag.to_owned()), path };
                    given.fields.entry(field).or_insert(number);
                }
            }
        }
    }

    /// Notes what an answer to something that was said comes down to.
    fn turn(
        &mut self,
        protocols: &Protocols,
        number: usize,
        interaction: &Interaction,
        messages: &[Message],
    ) {
        let is_turn = interaction.request.method != "GET"
            && interaction.response().is_some_and(|response| {
                (200..300).contains(&response.status) && response.end == End::Complete
            });
        if !is_turn {
            return;
        }
        let steps = Trace::by(protocols, messages).steps.into_iter();
        let steps = steps.filter(|step| step.tag.is_named());
        let said: BTreeMap<(String, String), String> = steps
            .flat_map(|step| {
                let tag = step.tag.as_str().to_owned();
                let pieces = step.messages.iter().map(|place| &*messages[*place].data);
                let fields = alike(pieces).into_iter();
                let told = fields.filter(|(_, json)| json.trim_matches('"') != step.tag.as_str());
                let told: Vec<_> = told.collect();
                told.into_iter().map(move |(path, json)| ((tag.clone(), path), json))
            })
            .collect();
        if !said.is_empty() {
            self.turns.push(Turn { interaction: number, about: about(interaction), said });
        }
    }
}

impl<'h> Before<'h> {
    /// Whether the server has given a value.
    pub(super) fn has_given(self, value: &str) -> bool {
        self.history.given.get(value).is_some_and(|given| given.first < self.number)
    }

    /// What the last answer about the same said: what it is about stands in its path. Nothing if there
    /// was none.
    pub(super) fn last(
        self,
        interaction: &Interaction,
    ) -> impl Iterator<Item = (&'h str, &'h str, &'h str)> {
        let about = about(interaction);
        let is_over = |turn: &&Turn| {
            let open = interaction.after.iter().any(|open| open.interaction == turn.interaction);
            turn.interaction < self.number && !open && turn.about == about
        };
        let last = self.history.turns.iter().rev().find(is_over).filter(|_| !about.is_empty());
        let said = last.into_iter().flat_map(|turn| &turn.said);
        said.map(|((tag, path), json)| (tag.as_str(), path.as_str(), json.as_str()))
    }
}

impl Earlier for Before<'_> {
    fn fields(&self, key: &str) -> Vec<&Field> {
        let fields = self.history.given.get(key).into_iter().flat_map(|given| &given.fields);
        fields.filter(|(_, first)| **first < self.number).map(|(field, _)| field).collect()
    }
}

/// The messages of each answer.
pub(super) fn messages(
    protocols: &Protocols,
    interactions: &[Interaction],
) -> Vec<Option<Messages>> {
    let answers = interactions.iter().map(Interaction::response);
    answers.map(|answer| answer.map(|answer| Messages::by(protocols, answer))).collect()
}

/// The identifiers in the path.
fn about(interaction: &Interaction) -> Vec<String> {
    let path = interaction.request.path_only();
    identifiers(path).map(|range| path[range].to_owned()).collect()
}
