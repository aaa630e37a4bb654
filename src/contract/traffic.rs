//! What was recorded, sorted by endpoint.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::history::{self, Before, Heard, History, Step};
use super::made_up::MadeUp;
use super::situation::Situation;
use super::tagging::Tagging;
use super::{Contract, Endpoint, message::Said};
use crate::cassette::{Cassette, End, Interaction, Name, Response};
use crate::contract::invariant;
use crate::contract::order::{Witness, Word};
use crate::identity::{Ledger, Sign};
use crate::message::{Framing, Message, Messages, Protocols, Tag, TagSource};
use crate::text::json::Text;

/// What was recorded, sorted by endpoint.
#[derive(Debug, Default)]
pub struct Traffic {
    answers: BTreeMap<Endpoint, Vec<Answer>>,
    pub(super) made_up: MadeUp,
    tagging: Tagging,
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
    /// What is known before it comes, if it is an answer in messages.
    pub(crate) situation: Situation,
    /// The messages of a stream that are JSON.
    pub(crate) events: Vec<Said>,
    /// The messages of an answer that is no stream and that says their types.
    parts: Vec<Said>,
    /// What came before it, and its number.
    history: Option<(Arc<History>, usize)>,
    /// An answer that is no stream and JSON.
    pub(crate) body: Option<Said>,
}

impl Traffic {
    /// Sorts what was recorded in these cassettes. Answers that were cut promise nothing and are left
    /// out.
    pub fn of<'a>(cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>) -> Self {
        Self::by(&Protocols::default(), &[], cassettes)
    }

    /// The same with other protocols than those that are known, and with what accepted contracts say
    /// about types.
    pub fn by<'a>(
        protocols: &Protocols,
        accepted: &[Contract],
        cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>,
    ) -> Self {
        let mut traffic = Self::default();
        let mut found = Vec::new();
        for (name, cassette) in cassettes {
            let ledger = Ledger::of(cassette);
            traffic.made_up.see(&ledger);
            let entries = ledger.entries.into_iter();
            let returned =
                entries.filter(|entry| entry.sign == Sign::Return).map(|entry| entry.value);
            let returned: HashSet<String> = returned.collect();
            let all = history::heard(protocols, &cassette.interactions);
            let history = Arc::new(History::heard(protocols, &cassette.interactions, &all));
            for (number, interaction) in cassette.interactions.iter().enumerate() {
                traffic.made_up.hear(&interaction.request);
                let whole = interaction.response().filter(|answer| answer.end == End::Complete);
                let Some((response, heard)) = whole.zip(all[number].as_ref()) else { continue };
                traffic.made_up.hear_answer(response);
                let endpoint = Endpoint::of(&interaction.request, response, &returned);
                let place = format!("{name} #{}", number + 1);
                let before = (Arc::clone(&history), number);
                let taken = Taken { interaction, response, heard, protocols };
                traffic.add(&endpoint, &taken, place, before);
                found.push((endpoint, interaction, response));
            }
        }
        let answers = found.iter().map(|(endpoint, _, response)| (endpoint, *response));
        traffic.tagging = Tagging::of(protocols, accepted, answers);
        traffic.tell(found.iter().map(|(endpoint, interaction, _)| (endpoint, *interaction)));
        traffic
    }

    /// The endpoints, sorted.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.answers.keys()
    }

    pub(crate) fn answers(&self, endpoint: &Endpoint) -> &[Answer] {
        self.answers.get(endpoint).map_or(&[], Vec::as_slice)
    }

    /// How the messages of an endpoint are told apart.
    pub(crate) fn protocols(&self, endpoint: &Endpoint) -> Protocols {
        self.tagging.protocols(endpoint)
    }

    /// What tells the types of the messages of an endpoint, where that is not known otherwise.
    pub(super) fn told(&self, endpoint: &Endpoint) -> Option<&TagSource> {
        self.tagging.told(endpoint)
    }

    fn add(
        &mut self,
        endpoint: &Endpoint,
        taken: &Taken<'_>,
        place: String,
        before: (Arc<History>, usize),
    ) {
        if !self.answers.contains_key(endpoint) {
            self.answers.insert(endpoint.clone(), Vec::new());
        }
        let Some(answers) = self.answers.get_mut(endpoint) else { return };
        let known = Some(Before { history: &before.0, number: before.1 });
        let answer = Answer::of(taken, known, place, witness(answers.len()));
        answers.push(Answer { history: Some(before), ..answer });
    }

    /// Reads those answers again of which it turned out what tells the types of their messages.
    fn tell<'a>(&mut self, all: impl Iterator<Item = (&'a Endpoint, &'a Interaction)>) {
        let mut counts: HashMap<&Endpoint, usize> = HashMap::new();
        for (endpoint, interaction) in all.filter(|(it, _)| self.tagging.told(it).is_some()) {
            let number = counts.entry(endpoint).or_default();
            let known = self.answers.get_mut(endpoint).and_then(|all| all.get_mut(*number));
            let Some(known) = known else { continue };
            let (protocols, place) = (self.tagging.protocols(endpoint), known.place.clone());
            let read =
                Answer::recorded(&protocols, interaction, known.before(), place, witness(*number));
            if let Some(read) = read {
                *known = Answer { history: known.history.take(), ..read };
            }
            *number += 1;
        }
    }
}

fn witness(number: usize) -> Witness {
    Witness(u32::try_from(number).unwrap_or(u32::MAX))
}

/// An interaction with its answer, cut into messages.
struct Taken<'a> {
    interaction: &'a Interaction,
    response: &'a Response,
    heard: &'a Heard,
    protocols: &'a Protocols,
}

impl Answer {
    /// What was recorded, if all of it came, and what came before it, as far as that is known.
    pub(super) fn recorded(
        protocols: &Protocols,
        interaction: &Interaction,
        before: Option<Before<'_>>,
        place: String,
        witness: Witness,
    ) -> Option<Self> {
        let response = interaction.response().filter(|response| response.end == End::Complete)?;
        let heard = &Heard::of(Messages::of(response, protocols));
        let taken = Taken { interaction, response, heard, protocols };
        Some(Self::of(&taken, before, place, witness))
    }

    fn of(taken: &Taken<'_>, before: Option<Before<'_>>, place: String, witness: Witness) -> Self {
        let Taken { interaction, heard, protocols, .. } = *taken;
        let messages = &heard.messages;
        // What a question lists is what was there before, in whatever order that came to be.
        let is_question = interaction.request.method == "GET";
        let asked = json(&interaction.request.readable());
        let is_stream = matches!(messages.framing, Framing::EventStream | Framing::Lines);
        let named = messages.list.iter().any(|message| matches!(message.tag, Tag::Named(_)));
        let ordered = is_stream || (named && !is_question && messages.list.len() > 1);
        // It decides about the order of messages and about nothing else.
        let situation = ordered.then(|| Situation::of(interaction, asked.as_deref(), before));
        let events = heard.said().filter(|(message, _)| is_stream && !message.is_keep_alive());
        let said = |(message, json): (&Message, Option<Text<'_>>)| {
            Some(Said::of(&message.tag, json?.as_str().to_owned(), asked.as_deref()))
        };
        let body = (!is_stream).then(|| whole(taken, asked.as_deref())).flatten();
        // What a question lists was said before, in whatever order.
        let parts = heard.said().filter(|_| named && !is_stream && !is_question);
        Self {
            place,
            parts: parts.filter_map(said).collect(),
            history: None,
            word: ordered.then(|| word(heard.steps(protocols), witness)),
            events: events.filter_map(said).collect(),
            body,
            situation: situation.unwrap_or_default(),
            asked,
        }
    }

    /// Whether it says something that may be tied together.
    pub(super) fn has_trace(&self) -> bool {
        !self.events.is_empty() || !self.parts.is_empty()
    }

    /// What came before it, if that is known.
    pub(crate) fn before(&self) -> Option<Before<'_>> {
        let (history, number) = self.history.as_ref()?;
        Some(Before { history, number: *number })
    }

    /// The messages as a trace, to be held against what ties them together.
    pub(crate) fn with_trace<T>(
        &self,
        before: Option<Before<'_>>,
        use_it: impl FnOnce(&invariant::Trace<'_>) -> T,
    ) -> T {
        let said = self.events.iter().chain(&self.parts);
        let events: Vec<invariant::Event<'_>> = said.map(Said::event).collect();
        let earlier = before.as_ref().map(|before| before as &dyn invariant::Earlier);
        use_it(&invariant::Trace { request: self.asked.as_deref(), events: &events, earlier })
    }
}

fn whole(taken: &Taken<'_>, asked: Option<&str>) -> Option<Said> {
    let Taken { response, heard: Heard { messages, .. }, protocols, .. } = taken;
    let body = response.readable().bytes();
    // Messages are found in JSON that was read.
    let is_read = messages.framing == Framing::Json && !messages.list.is_empty();
    let text = match is_read {
        true => String::from_utf8(body.into()).ok()?,
        false => json(&body)?,
    };
    Some(Said::of(&protocols.tag_of(Text::known(&text), None), text, asked))
}

/// The text of a body that is JSON.
fn json(body: &[u8]) -> Option<String> {
    Text::parse(body).map(|text| text.as_str().to_owned())
}

fn word(steps: &[Step], witness: Witness) -> Word {
    Word { tokens: steps.iter().map(|step| step.token.clone()).collect(), witness }
}
