//! What was recorded, sorted by endpoint.

use std::collections::{BTreeMap, HashSet};

use super::Endpoint;
use crate::cassette::{Cassette, End, Interaction, Name, Response};
use crate::correlate::{Ledger, Sign};
use crate::invariant;
use crate::json::Text;
use crate::message::{Framing, Message, Messages, Tag, Trace};
use crate::order::{Token, Witness, Word};

/// What was recorded, sorted by endpoint.
#[derive(Debug, Default)]
pub struct Traffic {
    answers: BTreeMap<Endpoint, Vec<Answer>>,
}

/// One recorded answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The cassette and the number of the interaction in it, counted from 1.
    pub(crate) place: String,
    /// The types of its messages in order, if it is an answer in messages.
    pub(crate) word: Option<Word>,
    /// What was asked, as JSON, if it is JSON.
    pub(crate) asked: Option<String>,
    /// The messages of a stream that are JSON.
    pub(crate) events: Vec<Said>,
    /// The JSON text of an answer that is no stream.
    pub(crate) body: Option<String>,
}

/// A message of a stream.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) tag: String,
    pub(crate) json: String,
}

impl Traffic {
    /// Sorts what was recorded in these cassettes. Answers that were cut promise nothing and are left
    /// out.
    pub fn of<'a>(cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>) -> Self {
        let mut traffic = Self::default();
        for (name, cassette) in cassettes {
            let ledger = Ledger::of(cassette).entries.into_iter();
            let returned =
                ledger.filter(|entry| entry.sign == Sign::Return).map(|entry| entry.value);
            let returned: HashSet<String> = returned.collect();
            for (number, interaction) in cassette.interactions.iter().enumerate() {
                let place = format!("{name} #{}", number + 1);
                traffic.add(interaction, place, &returned);
            }
        }
        traffic
    }

    /// The endpoints, sorted.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.answers.keys()
    }

    pub(crate) fn answers(&self, endpoint: &Endpoint) -> &[Answer] {
        self.answers.get(endpoint).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, interaction: &Interaction, place: String, returned: &HashSet<String>) {
        let whole = interaction.response().filter(|response| response.end == End::Complete);
        let Some(response) = whole else { return };
        let endpoint = Endpoint::of(&interaction.request, response, returned);
        let answers = self.answers.entry(endpoint).or_default();
        let witness = Witness(u32::try_from(answers.len()).unwrap_or(u32::MAX));
        answers.extend(Answer::recorded(interaction, place, witness));
    }
}

impl Answer {
    /// What was recorded, if all of it came.
    pub(super) fn recorded(
        interaction: &Interaction,
        place: String,
        witness: Witness,
    ) -> Option<Self> {
        let response = interaction.response().filter(|response| response.end == End::Complete)?;
        // What a question lists is what was there before, in whatever order that came to be.
        let is_question = interaction.request.method == "GET";
        let asked = json(&interaction.request.readable());
        Some(Self { asked, ..Self::of(response, place, witness, is_question) })
    }

    fn of(response: &Response, place: String, witness: Witness, is_question: bool) -> Self {
        let messages = Messages::of(response);
        let is_stream = matches!(messages.framing, Framing::EventStream | Framing::Lines);
        let named = messages.list.iter().any(|message| matches!(message.tag, Tag::Named(_)));
        let ordered = is_stream || (named && !is_question && messages.list.len() > 1);
        let events = messages.list.iter().filter(|message| is_stream && !message.is_keep_alive());
        let said = |message: &Message| {
            let tag = message.tag.as_str().to_owned();
            Some(Said { tag, json: json(message.data.as_bytes())? })
        };
        Self {
            place,
            asked: None,
            word: ordered.then(|| word(&messages.list, witness)),
            events: events.filter_map(said).collect(),
            body: if is_stream { None } else { json(&response.readable().bytes()) },
        }
    }

    /// The messages of a stream as a trace, to be held against what ties them together.
    pub(crate) fn with_trace<T>(&self, use_it: impl FnOnce(&invariant::Trace<'_>) -> T) -> T {
        let events: Vec<invariant::Event<'_>> = self.events.iter().map(Said::event).collect();
        use_it(&invariant::Trace { request: self.asked.as_deref(), events: &events })
    }
}

impl Said {
    fn event(&self) -> invariant::Event<'_> {
        invariant::Event { tag: &self.tag, json: &self.json }
    }
}

/// The text of a body that is JSON.
fn json(body: &[u8]) -> Option<String> {
    Text::parse(body).map(|text| text.as_str().to_owned())
}

fn word(messages: &[Message], witness: Witness) -> Word {
    let steps = Trace::of(messages).steps.into_iter();
    let tokens = steps.map(|step| Token {
        tag: step.tag.as_str().to_owned(),
        run: step.messages.len() > 1,
        keys: step.messages.first().map_or_else(Vec::new, |first| keys(&messages[*first].data)),
    });
    Word { tokens: tokens.collect(), witness }
}

/// The fields by which a message may belong to others.
fn keys(data: &str) -> Vec<(String, String)> {
    let Some(json) = Text::parse(data.as_bytes()) else { return Vec::new() };
    let members = json.members().filter(|(name, value)| {
        let is_key =
            name.ends_with("_id") || name.ends_with("Id") || matches!(&**name, "id" | "index");
        is_key && value.container().is_none() && value.as_str() != "null"
    });
    members.map(|(name, value)| (name.into_owned(), value.as_str().to_owned())).collect()
}
