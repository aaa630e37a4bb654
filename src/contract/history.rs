//! What was said before, in the same cassette.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use super::said::alike;
use crate::cassette::{End, Interaction};
use crate::contract::invariant::{Earlier, Field, Names, identified};
use crate::contract::order::Token;
use crate::identity::identifiers;
use crate::message::{Framing, Message, Messages, Protocols, Tag, Trace};
use crate::text::json::Text;

/// What a server has said in the earlier answers of a conversation.
#[derive(Debug, Default)]
pub struct History {
    given: HashMap<String, Given, foldhash::fast::RandomState>,
    /// The fields of messages that say their type.
    names: Names,
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
    /// In messages that say their type: each field once, by its number.
    fields: Vec<(u32, usize)>,
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

/// An answer that was cut into messages.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) messages: Messages,
    /// Which of them are JSON.
    are_json: Vec<bool>,
    steps: OnceCell<Vec<Step>>,
}

/// A message, or the pieces of one, and whether it says its type.
#[derive(Debug)]
pub(super) struct Step {
    is_named: bool,
    pub(super) token: Token,
}

impl History {
    /// What the answers of these interactions said.
    pub fn of(interactions: &[Interaction]) -> Self {
        Self::by(&Protocols::default(), interactions)
    }

    /// The same with other protocols than those that are known.
    pub fn by(protocols: &Protocols, interactions: &[Interaction]) -> Self {
        Self::heard(protocols, interactions, &heard(protocols, interactions))
    }

    /// The same of answers that were cut into messages before.
    pub(super) fn heard(
        protocols: &Protocols,
        interactions: &[Interaction],
        answers: &[Option<Heard>],
    ) -> Self {
        let mut history = Self::default();
        for (number, (interaction, heard)) in interactions.iter().zip(answers).enumerate() {
            if let Some(heard) = heard {
                history.give(number, heard);
                history.turn(protocols, number, interaction, heard);
            }
        }
        history
    }

    /// Notes what identifies something.
    fn give(&mut self, number: usize, heard: &Heard) {
        let Self { given, names, .. } = self;
        for (message, json) in heard.said() {
            let Some(json) = json else { continue };
            let is_named = matches!(message.tag, Tag::Named(_));
            let tag = is_named.then(|| names.word(message.tag.as_str()));
            identified(json, |path, value| {
                if !given.contains_key(&*value) {
                    let first = Given { first: number, fields: Vec::new() };
                    given.insert(value.to_string(), first);
                }
                let Some((tag, given)) = tag.zip(given.get_mut(&*value)) else { return };
                let path = names.word(path.as_str());
                let field = names.field(Some(tag), path);
                if given.fields.iter().all(|(known, _)| *known != field) {
                    given.fields.push((field, number));
                }
            });
        }
    }

    /// Notes what an answer to something that was said comes down to.
    fn turn(
        &mut self,
        protocols: &Protocols,
        number: usize,
        interaction: &Interaction,
        heard: &Heard,
    ) {
        let is_turn = interaction.request.method != "GET"
            && interaction.response().is_some_and(|response| {
                (200..300).contains(&response.status) && response.end == End::Complete
            });
        if !is_turn {
            return;
        }
        let steps = heard.steps(protocols).iter().filter(|step| step.is_named);
        let said: BTreeMap<(String, String), String> = steps
            .flat_map(|Step { token, .. }| {
                let is_told = |(_, json): &&(String, String)| json.trim_matches('"') != token.tag;
                let told = token.fields.iter().filter(is_told);
                told.map(|(path, json)| ((token.tag.clone(), path.clone()), json.clone()))
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
        let before = fields.filter(|(_, first)| *first < self.number);
        before.map(|(field, _)| self.history.names.get(*field)).collect()
    }
}

impl Heard {
    pub(super) fn of(messages: Messages) -> Self {
        // The parts of a JSON answer were read with it.
        let is_read = messages.framing == Framing::Json;
        let is_json = |message: &Message| is_read || Text::read(&message.data).is_some();
        let are_json = messages.list.iter().map(is_json).collect();
        Self { messages, are_json, steps: OnceCell::new() }
    }

    /// The messages in order, and what those say that are JSON.
    pub(super) fn said(&self) -> impl Iterator<Item = (&Message, Option<Text<'_>>)> {
        self.messages.list.iter().enumerate().map(|(place, message)| (message, self.json(place)))
    }

    fn json(&self, place: usize) -> Option<Text<'_>> {
        self.are_json[place].then(|| Text::known(&self.messages.list[place].data))
    }

    /// The messages in order, the pieces of one together; always by the same protocols.
    pub(super) fn steps(&self, protocols: &Protocols) -> &[Step] {
        self.steps.get_or_init(|| steps(protocols, self))
    }
}

fn steps(protocols: &Protocols, heard: &Heard) -> Vec<Step> {
    let steps = Trace::of(&heard.messages.list, protocols).steps.into_iter();
    let steps = steps.map(|step| {
        let said = step.messages.iter().map(|place| heard.json(*place));
        let token = Token {
            tag: step.tag.as_str().to_owned(),
            run: step.messages.len() > 1,
            keys: said.clone().next().flatten().map_or_else(Vec::new, keys),
            fields: alike(said),
        };
        Step { is_named: step.tag.is_named(), token }
    });
    steps.collect()
}

/// The fields by which a message may belong to others.
fn keys(json: Text<'_>) -> Vec<(String, String)> {
    let members = json.members().filter(|(name, value)| {
        let ends = ["_id", "Id", "_index", "Index"].iter().any(|end| name.ends_with(end));
        let is_key = ends || matches!(&**name, "id" | "index");
        is_key && value.container().is_none() && value.as_str() != "null"
    });
    members.map(|(name, value)| (name.into_owned(), value.as_str().to_owned())).collect()
}

/// Each answer, cut into messages.
pub(super) fn heard(protocols: &Protocols, interactions: &[Interaction]) -> Vec<Option<Heard>> {
    let answers = interactions.iter().map(Interaction::response);
    let heard = |answer| Heard::of(Messages::of(answer, protocols));
    answers.map(|answer| answer.map(heard)).collect()
}

/// The identifiers in the path.
fn about(interaction: &Interaction) -> Vec<String> {
    let path = interaction.request.path_only();
    identifiers(path).map(|range| path[range].to_owned()).collect()
}
