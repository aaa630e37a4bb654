//! What was recorded, sorted by endpoint.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::called::Called;
use super::clients::Clients;
use super::cut::{Cut, JsonMessage, ReadInteraction, TypedToken, outcome};
use super::headers::{self, Promised};
use super::history::{self, Before, History};
use super::kinds::Kinds;
use super::named::named;
use super::orders::Orders;
use super::paths::settled;
use super::samples::Samples;
use super::situation::{Feature, Situation};
use super::{Contract, Endpoint, Origin, asked};
use crate::cassette::exchanges::MESSAGE;
use crate::cassette::{Cassette, End, Evidence, Id, Interaction, Name, Reach, Request, Response};
use crate::config::At;
use crate::contract::invariant::{self, Invariant, Learner};
use crate::contract::order::{Extent, Witness, Word};
use crate::identity::{Entry, Issuer, Ledger};
use crate::message::{Framing, Message, Protocols, Tag, TagSource};
use crate::text::json::Text;

/// More messages of an endpoint do not tell more about their types.
const LOOKED_AT: usize = 2_000;

/// What was recorded, sorted by endpoint.
#[derive(Debug, Default)]
pub struct Traffic {
    answers: BTreeMap<Endpoint, Vec<Answer>>,
    clients: Clients,
    /// The header fields that are promised.
    headers: Promised,
    protocols: Protocols,
    /// What tells the types of the messages of an endpoint, where no protocol that is known does.
    tags: BTreeMap<Endpoint, TagSource>,
    /// What tells the types of what clients send over a connection.
    asked: BTreeMap<Endpoint, At>,
    /// The endpoint of each interaction of each cassette, if it was answered.
    places: Vec<Vec<Option<Endpoint>>>,
    /// The answers that the server has cut.
    cut: BTreeMap<Endpoint, Vec<CutOff>>,
}

/// An answer that the server has cut: what the client or the recorder has left says nothing about the server.
#[derive(Debug, Clone)]
pub(crate) struct CutOff {
    pub(crate) place: String,
    /// The cassette, and what was asked.
    pub(crate) recording: [u8; 32],
    pub(crate) end: End,
}

/// One recorded answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The cassette and the number of the interaction in it, counted from 1.
    pub(crate) place: String,
    /// Which independent recording it is: answers to the same request in one cassette are one.
    pub(crate) witness: Witness,
    /// The types of its messages in order, if it is an answer in messages.
    pub(crate) word: Option<Word>,
    /// How much of it came.
    extent: Extent,
    /// Whether its client closed the connection at once behind it, and more may have been on its way.
    pub(crate) is_left_at_once: bool,
    /// What was asked, as JSON, if it is JSON.
    pub(crate) asked: Option<String>,
    /// The query of a request without a body, or its form, as JSON.
    fields: Option<String>,
    /// What stands in the open places of its path, as members of an object.
    parameters: Option<String>,
    /// What is known before it comes, if it is an answer in messages.
    pub(crate) situation: Situation,
    /// The messages of a stream that are JSON.
    pub(crate) events: Vec<JsonMessage>,
    /// Those that only say that the server is still there.
    pub(crate) keep_alives: Vec<JsonMessage>,
    /// The messages of an answer that is no stream and that says their types.
    parts: Vec<JsonMessage>,
    /// What came before it, and its number.
    history: Option<(Arc<History>, usize)>,
    /// The header fields that are promised, as an object.
    pub(crate) headers: JsonMessage,
    /// An answer that is no stream and JSON.
    pub(crate) body: Option<JsonMessage>,
}

/// An answer that was cut into messages, and what came before it.
struct CutAnswer<'a> {
    endpoint: Endpoint,
    interaction: &'a Interaction,
    response: &'a Response,
    /// What was asked, if it is JSON.
    asked: Option<String>,
    cut: Cut,
    place: String,
    /// The cassette, and what was asked.
    recording: [u8; 32],
    history: (Arc<History>, usize),
}

impl Traffic {
    /// Sorts what was recorded in these cassettes, with what accepted contracts say about types and paths.
    /// Streams that were cut are looked at as far as they came; other answers that were are left out.
    pub fn of<'a>(
        protocols: &Protocols,
        accepted: &[Contract],
        cassettes: impl IntoIterator<Item = (&'a Name, &'a Cassette)>,
    ) -> Self {
        let mut traffic = Self { protocols: protocols.clone(), ..Self::default() };
        traffic.headers = Promised::only(accepted.iter().flat_map(Contract::named_headers));
        let (mut all, mut cut) = (Vec::new(), Vec::new());
        for (name, cassette) in cassettes {
            traffic.hear(name, cassette, &mut all);
            cut.push(cut_off(name, cassette));
        }
        let places = || traffic.places.iter().flatten().flatten();
        let endpoints: BTreeSet<Endpoint> = places().cloned().collect();
        let settled = settled(&endpoints, accepted.iter().map(|contract| &contract.endpoint));
        let recorded = all.iter_mut().map(|recorded| &mut recorded.endpoint);
        for endpoint in recorded.chain(traffic.places.iter_mut().flatten().flatten()) {
            if let Some(other) = settled.get(endpoint) {
                endpoint.clone_from(other);
            }
        }
        for (endpoints, cut) in traffic.places.iter().zip(cut) {
            for (number, cut) in cut {
                let Some(endpoint) = endpoints[number].clone() else { continue };
                traffic.cut.entry(endpoint).or_default().push(cut);
            }
        }
        traffic.tags = tags(protocols, accepted, &all);
        traffic.asked = asked(protocols, &all);
        let called = called(&traffic.asked, &all);
        let mut recordings: HashMap<(Endpoint, [u8; 32]), u32> = HashMap::new();
        for recorded in all {
            let CutAnswer { endpoint, interaction, response, asked, cut, .. } = recorded;
            let CutAnswer { place, recording, history, .. } = recorded;
            let is_other = traffic.tags.contains_key(&endpoint);
            let question = asked.as_deref().map(Text::known);
            let protocols = is_other.then(|| traffic.protocols(&endpoint));
            let cut = protocols.map_or(cut, |it| Cut::of(response, &it, question));
            let before = Some(Before { history: &history.0, number: history.1 });
            let at = place_of(&history);
            let next = u32::try_from(recordings.len()).unwrap_or(u32::MAX);
            let witness = *recordings.entry((endpoint.clone(), recording)).or_insert(next);
            let witness = Witness(witness);
            let said = traffic.headers.of(response);
            let read = (asked, cut);
            let mut answer =
                Answer::of(interaction, response, read, before, (place, witness), said);
            called.name(at, &endpoint, &mut answer.events);
            let parameters = asked::parameters(&endpoint, interaction.request.path_only());
            let answers = traffic.answers.entry(endpoint).or_default();
            answers.push(Answer { history: Some(history), parameters, ..answer });
        }
        traffic.answers.retain(|_, all| all.iter().any(|it| it.extent == Extent::Whole));
        traffic
    }

    /// Sorts what was recorded in one cassette.
    pub fn of_one(protocols: &Protocols, cassette: &Cassette) -> Self {
        let name = Name::new("cassette").expect("it is a word");
        Self::of(protocols, &[], [(&name, cassette)])
    }

    /// Cuts the answers of a cassette, and listens to what was made up in it.
    fn hear<'a>(&mut self, name: &Name, cassette: &'a Cassette, all: &mut Vec<CutAnswer<'a>>) {
        let ledger = Ledger::of(cassette);
        self.clients.see(&ledger);
        let sent: HashSet<&[u8]> =
            cassette.interactions.iter().flat_map(|it| headers::identifiers(&it.request)).collect();
        let is_shown = |it: &Entry| {
            matches!(it.evidence, Evidence::Return | Evidence::Runs | Evidence::Person)
        };
        let elsewhere = outside_paths(cassette);
        let is_elsewhere = |it: &Entry| {
            it.origin.issuer == Issuer::Client && elsewhere.contains(it.value.as_str())
        };
        let names = ledger.entries.into_iter().filter(|it| is_shown(it) && !is_elsewhere(it));
        let mut names: HashSet<String> = names.map(|entry| entry.value).collect();
        names.extend(named(cassette));
        let read = history::read(&cassette.interactions, &self.protocols);
        let history = Arc::new(History::of_read(&cassette.interactions, &read));
        let endpoint = |it: &Interaction| Some(Endpoint::of(&it.request, it.response()?, &names));
        let endpoints: Vec<_> = cassette.interactions.iter().map(endpoint).collect();
        for (number, (interaction, read)) in cassette.interactions.iter().zip(read).enumerate() {
            if let Some(asked) = read.asked() {
                self.clients.hear(asked);
            }
            let ReadInteraction { asked, cut } = read;
            let Some((response, cut)) = interaction.response().zip(cut) else { continue };
            let is_begun = extent(response) == Extent::Begun && !cut.framing.is_stream();
            if is_begun || cut.only_keeps_alive(&interaction.request) {
                continue;
            }
            self.clients.hear_answer(response);
            self.headers.see(response, &sent);
            let Some(endpoint) = endpoints[number].clone() else { continue };
            let place = format!("{name} #{}", cassette.number(number));
            let history = (Arc::clone(&history), number);
            let recording = recording(name, &interaction.request);
            all.push(CutAnswer {
                endpoint,
                interaction,
                response,
                asked,
                cut,
                place,
                recording,
                history,
            });
        }
        self.places.push(endpoints);
    }

    /// The endpoints, sorted.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.answers.keys()
    }

    /// Whether any request says a word.
    pub(crate) fn is_asked(&self, word: &str) -> bool {
        self.answers.values().flatten().any(|answer| answer.is_asked(word))
    }

    pub(crate) fn answers(&self, endpoint: &Endpoint) -> &[Answer] {
        self.answers.get(endpoint).map_or(&[], Vec::as_slice)
    }

    /// The answers of an endpoint that the server has cut.
    pub(crate) fn cut(&self, endpoint: &Endpoint) -> &[CutOff] {
        self.cut.get(endpoint).map_or(&[], Vec::as_slice)
    }

    /// The endpoint of an interaction, if it was answered; the cassettes and the interactions of each are
    /// counted from 0.
    pub fn endpoint_of(&self, cassette: usize, interaction: usize) -> Option<&Endpoint> {
        self.places.get(cassette)?.get(interaction)?.as_ref()
    }

    /// How the messages of an interaction are told apart, as those of its endpoint are.
    pub fn protocols_of(&self, cassette: usize, interaction: usize) -> Protocols {
        let endpoint = self.endpoint_of(cassette, interaction);
        endpoint.map_or_else(|| self.protocols.clone(), |endpoint| self.protocols(endpoint))
    }

    /// What tells the types of the messages of an endpoint, where that is not known otherwise.
    pub(super) fn tag(&self, endpoint: &Endpoint) -> Option<&TagSource> {
        self.tags.get(endpoint)
    }

    /// How the messages of an endpoint are told apart.
    pub(crate) fn protocols(&self, endpoint: &Endpoint) -> Protocols {
        self.tag(endpoint).map_or(self.protocols.clone(), |tag| self.protocols.with(tag))
    }

    /// What the answers of an endpoint have in common.
    pub(super) fn learn(&self, endpoint: &Endpoint) -> Contract {
        let answers = self.answers(endpoint);
        let asked = self.asked.get(endpoint).and_then(|at| Feature::asked(at.as_str()));
        let orders = Orders::learn(answers, asked.as_ref(), &|word| self.clients.made_up(word));
        let contract = Contract {
            endpoint: endpoint.clone(),
            tag: self.tag(endpoint).cloned(),
            // Where none says anything, no messages are promised.
            order: orders.filter(|_| answers.iter().any(Answer::has_messages)),
            invariants: invariants(answers),
            // Where none says any, none is promised.
            headers: Kinds::learn(&self.headers(answers))
                .filter(|_| answers.iter().any(|answer| !answer.headers.is_empty())),
            events: Kinds::learn(&self.events(answers)),
            keep_alives: Kinds::learn_each(&Samples::of(answers, &self.clients, |answer| {
                &answer.keep_alives
            })),
            // Where none has a body, none is promised.
            body: Kinds::learn(&self.bodies(answers))
                .filter(|_| !answers.iter().flat_map(|it| &it.body).all(JsonMessage::is_nothing)),
            origin: Origin::default(),
        };
        let cut: BTreeSet<_> = self.cut(endpoint).iter().map(|cut| cut.recording).collect();
        contract.learned_from(answers, cut.len())
    }

    /// The header fields that are promised.
    pub(super) fn headers<'a>(&'a self, answers: &'a [Answer]) -> Samples<'a> {
        Samples::of(answers, &self.clients, |answer| std::slice::from_ref(&answer.headers))
    }

    /// The messages of streams.
    pub(super) fn events<'a>(&'a self, answers: &'a [Answer]) -> Samples<'a> {
        Samples::of(answers, &self.clients, |answer| &answer.events)
    }

    /// The answers that are no streams.
    pub(super) fn bodies<'a>(&'a self, answers: &'a [Answer]) -> Samples<'a> {
        Samples::of(answers, &self.clients, |answer| answer.body.as_slice())
    }
}

/// What the client makes up in fields and bodies alone: in a path it is a word, such as a version.
fn outside_paths(cassette: &Cassette) -> HashSet<&str> {
    let client = || cassette.ids.iter().flat_map(|ids| &ids.client);
    let is_of_path = |id: &&Id| id.reach == Reach::Anywhere || id.at.starts_with("path");
    let of_path: HashSet<&str> = client().filter(is_of_path).map(|id| id.value.as_str()).collect();
    client().map(|id| id.value.as_str()).filter(|value| !of_path.contains(value)).collect()
}

/// What ties the messages of whole answers together, as far as it does those of answers that were cut.
pub(crate) fn invariants(answers: &[Answer]) -> Vec<Invariant> {
    let (whole, begun): (Vec<&Answer>, Vec<&Answer>) =
        answers.iter().partition(|answer| answer.extent == Extent::Whole);
    let mut learner = Learner::default();
    for answer in whole {
        let recording = answer.witness.0;
        answer.with_trace(answer.before(), |trace| {
            if !answer.has_trace() {
                return learner.learn_alone(recording, trace);
            }
            learner.learn_from(recording, trace);
            if answer.body.is_some() && trace.events.len() == 1 {
                learner.learn_whole(recording, trace);
            }
        });
    }
    let mut invariants = learner.finish();
    for answer in begun {
        let broken =
            answer.with_trace(answer.before(), |trace| Invariant::check(&invariants, trace));
        invariants.retain(|it| broken.iter().all(|violation| violation.invariant != *it));
    }
    invariants
}

/// What tells the types of the messages of each endpoint: what an accepted contract says stays; else it
/// is learned from streams.
fn tags(
    protocols: &Protocols,
    accepted: &[Contract],
    all: &[CutAnswer<'_>],
) -> BTreeMap<Endpoint, TagSource> {
    let mut streams: BTreeMap<&Endpoint, Vec<&[Message]>> = BTreeMap::new();
    let is_told =
        |it: &&CutAnswer<'_>| it.cut.framing.is_stream() && extent(it.response) == Extent::Whole;
    for recorded in all.iter().filter(is_told) {
        let bodies = streams.entry(&recorded.endpoint).or_default();
        if bodies.iter().map(|body| body.len()).sum::<usize>() < LOOKED_AT {
            bodies.push(&recorded.cut.messages);
        }
    }
    let tags = streams.into_iter().filter_map(|(endpoint, bodies)| {
        let contract = accepted.iter().find(|contract| contract.endpoint == *endpoint);
        let tag = match contract {
            Some(contract) => contract.tag.clone(),
            None => protocols.learn(bodies),
        };
        Some((endpoint.clone(), tag?))
    });
    tags.collect()
}

/// What tells the types of what clients send over connections, of each address: it is learned as for what
/// a server says.
fn asked(protocols: &Protocols, all: &[CutAnswer<'_>]) -> BTreeMap<Endpoint, At> {
    let mut said: BTreeMap<&Endpoint, Vec<Vec<Message>>> = BTreeMap::new();
    let messages = all.iter().filter(|recorded| recorded.endpoint.method == MESSAGE);
    let of_one =
        |one: &&CutAnswer<'_>, next: &&CutAnswer<'_>| Arc::ptr_eq(&one.history.0, &next.history.0);
    let messages: Vec<&CutAnswer<'_>> = messages.collect();
    for conversation in messages.chunk_by(of_one) {
        let mut bodies: BTreeMap<&Endpoint, Vec<Message>> = BTreeMap::new();
        for CutAnswer { endpoint, interaction, .. } in conversation {
            let data = String::from_utf8_lossy(&interaction.request.readable()).into_owned();
            bodies.entry(endpoint).or_default().push(protocols.message(data));
        }
        bodies
            .into_iter()
            .for_each(|(endpoint, body)| said.entry(endpoint).or_default().push(body));
    }
    let told = said
        .into_iter()
        .filter_map(|(endpoint, bodies)| Some((endpoint.clone(), protocols.telling(&bodies)?)));
    told.collect()
}

/// What clients asked over connections, where something tells its type.
fn called(told_at: &BTreeMap<Endpoint, At>, all: &[CutAnswer<'_>]) -> Called {
    let mut called = Called::default();
    for CutAnswer { endpoint, asked, history, .. } in all {
        if let Some((asked, told_at)) = asked.as_deref().zip(told_at.get(endpoint)) {
            called.ask(place_of(history), endpoint, Text::known(asked), told_at);
        }
    }
    called
}

/// Which conversation it is that an interaction is in, and its number there.
fn place_of((history, number): &(Arc<History>, usize)) -> (usize, usize) {
    (Arc::as_ptr(history).addr(), *number)
}

/// What tells independent recordings apart: asked again and again, a server only repeats itself.
fn recording(name: &Name, request: &Request) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    let body = request.readable();
    let parts: [&[u8]; 4] =
        [name.as_str().as_bytes(), request.method.as_bytes(), request.path.as_bytes(), &body];
    for part in parts {
        hash.update(&part.len().to_le_bytes());
        hash.update(part);
    }
    *hash.finalize().as_bytes()
}

/// The answers of a cassette that the server has cut, with the numbers of their interactions, counted from 0.
fn cut_off(name: &Name, cassette: &Cassette) -> Vec<(usize, CutOff)> {
    let by_server = |end: End| matches!(end, End::ServerClosed | End::Timeout | End::Unreachable);
    let all = cassette.interactions.iter().enumerate();
    let cut = all.filter(|(_, it)| it.response().is_some_and(|answer| by_server(answer.end)));
    let cut = cut.map(|(number, it)| {
        let place = format!("{name} #{}", cassette.number(number));
        (number, CutOff { place, recording: recording(name, &it.request), end: it.end() })
    });
    cut.collect()
}

/// How much of an answer came.
fn extent(response: &Response) -> Extent {
    if response.end == End::Complete { Extent::Whole } else { Extent::Begun }
}

/// The cassette that a place is in, which reads like `mcp/plain #2`.
pub(crate) fn cassette_of(place: &str) -> &str {
    place.rsplit_once(" #").map_or(place, |(cassette, _)| cassette)
}

impl Answer {
    /// The cassette that it is in.
    pub(crate) fn cassette(&self) -> &str {
        cassette_of(&self.place)
    }

    /// An answer, and what came before it, as far as that is known. What was cut and is no stream says
    /// nothing.
    pub(super) fn of(
        interaction: &Interaction,
        response: &Response,
        (asked, cut): (Option<String>, Cut),
        before: Option<Before<'_>>,
        (place, witness): (String, Witness),
        headers: JsonMessage,
    ) -> Self {
        // What a question lists is what was there before, in whatever order that came to be.
        let is_question = interaction.request.method == "GET";
        let question = asked.as_deref().map(Text::known);
        let is_stream = cut.framing.is_stream() || interaction.is_socket();
        let extent = extent(response);
        let is_read = is_stream || extent == Extent::Whole;
        let named = cut.messages.iter().any(|message| matches!(message.tag, Tag::Named(_)));
        // Elements of one type, such as embeddings, are as many as were asked for.
        let types: HashSet<&Tag> = cut.messages.iter().map(|message| &message.tag).collect();
        let ordered = is_stream || (is_read && named && !is_question && types.len() > 1);
        // It decides about the order of messages and about nothing else.
        let situation = ordered.then(|| Situation::of(interaction, question, before));
        let of_word = if response.is_left() { Extent::Left } else { extent };
        let word = ordered.then(|| Word { tokens: tokens(cut.steps()), witness, extent: of_word });
        let has_body = !is_stream && is_read && interaction.request.method != "HEAD";
        let body = has_body.then(|| body(response, &cut, question)).flatten();
        let (mut events, mut keep_alives, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        if is_stream {
            (keep_alives, events) = cut.said(question);
        } else if is_read && named && !is_question && (types.len() > 1 || is_whole(&body, &cut)) {
            (_, parts) = cut.said(question);
        }
        let situation = situation.unwrap_or_default();
        let (history, is_left_at_once) = (None, response.is_left_at_once());
        let (fields, parameters) = (asked::fields(&interaction.request), None);
        Self {
            place,
            witness,
            word,
            extent,
            is_left_at_once,
            situation,
            events,
            keep_alives,
            parts,
            history,
            headers,
            body,
            asked,
            fields,
            parameters,
        }
    }

    /// Whether it is in messages, and there are some.
    pub(crate) fn has_messages(&self) -> bool {
        self.word.as_ref().is_some_and(|word| !word.tokens.is_empty())
    }

    /// Whether it says something that may be tied together.
    fn has_trace(&self) -> bool {
        !self.events.is_empty() || !self.parts.is_empty()
    }

    /// What the client says, as JSON: in the body, or else in the query.
    pub(crate) fn said_by_client(&self) -> Option<&str> {
        self.asked.as_deref().or(self.fields.as_deref())
    }

    /// Whether its request says a word, or a JSON text.
    pub(crate) fn is_asked(&self, word: &str) -> bool {
        let said = [&self.asked, &self.fields, &self.parameters];
        said.into_iter().flatten().any(|said| asked::says(said, word))
    }

    /// Whether the client had said a word in a field of that name by then.
    pub(crate) fn was_chosen(&self, field: &str, word: &str) -> bool {
        self.before().is_some_and(|before| before.has_chosen(field, word))
    }

    /// The thing that it shows, and what it says in a place of that.
    fn shown(&self, place: &str) -> Option<(std::borrow::Cow<'_, str>, Text<'_>)> {
        let body = Text::read(&self.body.as_ref()?.json)?;
        let value = place.split('.').try_fold(body, |at, name| at.get(name))?;
        Some((body.get("id")?.string()?, value))
    }

    /// Whether the answer before said the same in a place of the thing that this one shows.
    pub(crate) fn says_as_before(&self, place: &str) -> bool {
        let shown = self.before().zip(self.shown(place));
        shown.is_some_and(|(before, (id, value))| before.says(&id, place, value))
    }

    /// Whether any answer before it said of the thing that it shows what another one says in that place.
    pub(crate) fn came_to(&self, place: &str, other: &Self) -> bool {
        let shown = self.before().zip(self.shown(place)).zip(other.shown(place));
        shown.is_some_and(|((before, (id, _)), (_, value))| before.has_said(&id, place, value))
    }

    /// What came before it, if that is known.
    pub(crate) fn before(&self) -> Option<Before<'_>> {
        let (history, number) = self.history.as_ref()?;
        Some(Before { history, number: *number })
    }

    /// The messages as a trace, to be held against what ties them together. A body that has none is one
    /// of no type.
    pub(crate) fn with_trace<T>(
        &self,
        before: Option<Before<'_>>,
        use_it: impl FnOnce(&invariant::Trace<'_>) -> T,
    ) -> T {
        let messages = self.events.iter().chain(&self.parts);
        let mut events: Vec<invariant::Event<'_>> = messages.map(JsonMessage::event).collect();
        if events.is_empty() {
            let body = self.body.iter();
            events.extend(body.map(|body| invariant::Event { tag: "", json: &body.json }));
        }
        let earlier = before.as_ref().map(|before| before as &dyn invariant::Earlier);
        let request = asked::with_parameters(self.said_by_client(), self.parameters.as_deref());
        let (request, extent) = (request.as_deref(), self.extent);
        use_it(&invariant::Trace { request, events: &events, earlier, extent })
    }
}

fn tokens(steps: &[TypedToken]) -> Vec<crate::contract::order::Token> {
    steps.iter().map(|step| step.token.clone()).collect()
}

/// Whether a body is one message: it says its type itself, and not its rows.
fn is_whole(body: &Option<JsonMessage>, cut: &Cut) -> bool {
    let Some((body, [only])) = body.as_ref().zip(Some(&cut.messages[..])) else { return false };
    only.data.trim() == body.json.trim()
}

/// An answer that is no stream, as one message. Where JSON is announced and none comes it is what a client
/// makes of it: nothing, or a text.
fn body(response: &Response, cut: &Cut, asked: Option<Text<'_>>) -> Option<JsonMessage> {
    let body = response.readable().bytes();
    // Messages are found in JSON that was read.
    let is_read = cut.framing == Framing::Json && !cut.messages.is_empty();
    let json = if is_read { None } else { Text::parse(&body) };
    let text = match (is_read, json) {
        (true, _) => String::from_utf8(body.into()).ok()?,
        (false, Some(json)) => json.as_str().to_owned(),
        (false, None) if cut.framing != Framing::Json => return None,
        (false, None) if body.trim_ascii().is_empty() => "null".to_owned(),
        (false, None) => serde_json::Value::from(String::from_utf8_lossy(&body)).to_string(),
    };
    let tag = cut.protocols.tag_of(Text::known(&text), None);
    let outcome = || outcome(Text::known(&text), asked.filter(|_| !tag.is_named())?);
    let tag = outcome().unwrap_or(tag);
    Some(JsonMessage::new(tag, text, asked))
}
