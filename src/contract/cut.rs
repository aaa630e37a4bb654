//! Requests that were read, and answers that were cut into messages.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::cassette::calls::keeps_alive;
use crate::cassette::exchanges::MESSAGE;
use crate::cassette::{End, Interaction, Request, Response};
use crate::contract::invariant;
use crate::contract::order::Token;
use crate::identity::{Meaning, identifiers, says_when};
use crate::message::ndjson::{RECORD_SEPARATOR, packet};
use crate::message::{Framing, Message, Messages, Protocols, Tag, Trace, UNNAMED, telling};
use crate::text::json::{Container, Text};
use crate::text::rpc::Envelope;

/// An interaction that was read, once for all that is learned and checked.
pub(super) struct ReadInteraction {
    /// What was asked, if it is JSON.
    pub(super) asked: Option<String>,
    pub(super) cut: Option<Cut>,
}

/// An answer that was cut into messages.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) framing: Framing,
    pub(super) messages: Vec<Message>,
    pub(super) protocols: Protocols,
    steps: OnceCell<Vec<TypedToken>>,
}

/// A message, or the pieces of one, and whether it says its type.
#[derive(Debug)]
pub(super) struct TypedToken {
    pub(super) is_named: bool,
    pub(super) token: Token,
}

impl ReadInteraction {
    pub(super) fn of(interaction: &Interaction, protocols: &Protocols) -> Self {
        let body = interaction.request.readable();
        // SignalR ends each message with it.
        let body = body.strip_suffix(&[RECORD_SEPARATOR]).unwrap_or(&body);
        let packet = || {
            let text = str::from_utf8(body).ok()?;
            packet(text).map(|(_, at)| Text::known(&text[at..]))
        };
        let asked = Text::parse(body).or_else(packet);
        let cut = interaction.response().map(|response| Cut::of(response, protocols, asked));
        Self { asked: asked.map(|text| text.as_str().to_owned()), cut }
    }

    /// What was asked, if it is JSON.
    pub(super) fn asked(&self) -> Option<Text<'_>> {
        self.asked.as_deref().map(Text::known)
    }
}

impl Cut {
    /// `asked` is the request that it answers, if that is JSON.
    pub(super) fn of(response: &Response, protocols: &Protocols, asked: Option<Text<'_>>) -> Self {
        let Messages { framing, list: mut messages, .. } = Messages::of(response, protocols);
        // A line of which not all came.
        if response.end != End::Complete && framing == Framing::Lines {
            messages.pop_if(|last| !last.is_json);
        }
        for message in messages.iter_mut().filter(|message| !message.tag.is_named()) {
            let tag = message.json().zip(asked).and_then(|(said, asked)| outcome(said, asked));
            message.tag = tag.unwrap_or_else(|| message.tag.clone());
        }
        Self { framing, messages, protocols: protocols.clone(), steps: OnceCell::new() }
    }

    /// Whether a client only said over a WebSocket that it is still there, and the server at most the same.
    pub(super) fn only_keeps_alive(&self, asked: &Request) -> bool {
        asked.method == MESSAGE
            && keeps_alive(&asked.body)
            && self.messages.iter().all(Message::is_keep_alive)
    }

    /// The messages that are JSON, in order.
    pub(super) fn json(&self) -> impl Iterator<Item = (&Message, Text<'_>)> {
        self.messages.iter().filter_map(|message| Some((message, message.json()?)))
    }

    /// What the messages say, as JSON, those that only keep the stream alive apart from the others.
    pub(super) fn said(&self, asked: Option<Text<'_>>) -> (Vec<JsonMessage>, Vec<JsonMessage>) {
        let said = self.messages.iter().filter(|message| message.tag != Tag::Comment);
        let said = said.filter_map(|message| {
            let json = message.said()?.into_owned();
            let has_id = message.has_id;
            let is_named = message.event.as_deref().is_some_and(|name| name != UNNAMED);
            let said = JsonMessage::new(message.tag.clone(), json, asked);
            Some(JsonMessage { has_id, is_named, ..said })
        });
        said.partition(|message| message.tag.is_keep_alive())
    }

    /// The messages in order, the pieces of one together.
    pub(super) fn steps(&self) -> &[TypedToken] {
        self.steps.get_or_init(|| {
            let said: Vec<Vec<PathValue<'_>>> =
                self.messages.iter().map(|message| fields(message.json())).collect();
            let trace = Trace::of(&self.messages, &self.protocols);
            let repeated = repeated(&self.messages, &said, &trace);
            let steps = trace.steps.iter().flat_map(|step| {
                let pieces = step
                    .messages
                    .chunk_by(|one, other| !are_apart(&said[*one], &said[*other], &repeated));
                pieces.map(|pieces| {
                    let token = Token {
                        tag: step.tag.as_str().to_owned(),
                        run: pieces.len() > 1,
                        is_piece: step.is_piece,
                        keys: keys(&said[pieces[0]]),
                        fields: alike(pieces.iter().map(|place| &said[*place])),
                        parts: self.messages[pieces[0]].json().map_or_else(Vec::new, parts),
                    };
                    TypedToken { is_named: step.tag.is_named(), token }
                })
            });
            steps.collect()
        })
    }
}

/// What messages of several types say alike, where some are pieces of one another.
fn repeated<'m>(
    messages: &[Message],
    said: &'m [Vec<PathValue<'m>>],
    trace: &Trace,
) -> HashSet<&'m PathValue<'m>> {
    if trace.steps.iter().all(|step| step.count() == 1) {
        return HashSet::new();
    }
    let mut types: HashMap<&PathValue<'_>, &Tag> = HashMap::new();
    let fields = messages
        .iter()
        .zip(said)
        .flat_map(|(message, said)| said.iter().map(move |field| (field, &message.tag)))
        // What comes in the same second is not of one thing for that.
        .filter(|((path, json), _)| !says_when(path, json));
    let by_others = fields.filter(|(field, tag)| *types.entry(field).or_insert(tag) != *tag);
    let mut by_others: HashSet<&PathValue<'_>> = by_others.map(|(field, _)| field).collect();
    // Each value of a key comes again in another type of message; of texts only some do, by chance.
    let alone = types.keys().filter(|field| !by_others.contains(*field));
    let texts: HashSet<&str> = alone.map(|(path, _)| &**path).collect();
    by_others.retain(|(path, _)| !texts.contains(&**path));
    by_others
}

/// Whether two messages name different things, each of which another message names as well: they are no
/// pieces of one.
fn are_apart(
    one: &[PathValue<'_>],
    other: &[PathValue<'_>],
    repeated: &HashSet<&PathValue<'_>>,
) -> bool {
    !repeated.is_empty()
        && one.iter().filter(|field| repeated.contains(field)).any(|(path, json)| {
            let same = other.iter().find(|(same, _)| same == path);
            same.is_some_and(|field| field.1 != *json && repeated.contains(field))
        })
}

/// The fields by which a message may belong to others.
fn keys(said: &[PathValue<'_>]) -> Vec<(String, String)> {
    let keys = said.iter().filter(|(path, json)| is_key(path) && *json != "null");
    keys.map(|(path, json)| (path.to_string(), (*json).to_owned())).collect()
}

/// Whether a field is called like one.
fn is_key(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    invariant::is_index(name) || name == "id" || name.ends_with("_id") || name.ends_with("Id")
}

/// The members of a message that are objects or lists.
fn parts(json: Text<'_>) -> Vec<String> {
    let parts =
        json.members().filter(|(name, value)| value.container().is_some() && is_plain(name));
    parts.map(|(name, _)| name.into_owned()).collect()
}

/// A message of an answer that is JSON.
#[derive(Debug)]
pub(crate) struct JsonMessage {
    pub(crate) tag: Tag,
    /// Its type; of the result of a call by JSON-RPC also what was called.
    pub(crate) kind: String,
    pub(crate) json: String,
    /// Whether the SSE stream has given an `id` by then.
    pub(crate) has_id: bool,
    /// Whether it is an SSE event with a name of its own, whatever it says.
    pub(crate) is_named: bool,
}

impl JsonMessage {
    /// What is known to be JSON; `asked` is the request that it answers.
    pub(super) fn new(tag: Tag, json: String, asked: Option<Text<'_>>) -> Self {
        let called = || called(Text::known(&json), asked?);
        let kind = match (tag.as_str() == RESULT).then(called).flatten() {
            Some(method) => format!("{RESULT_OF}{method}"),
            None => tag.as_str().to_owned(),
        };
        Self { tag, kind, json, has_id: false, is_named: false }
    }

    /// What it says.
    pub(crate) fn text(&self) -> Text<'_> {
        // All of it was read before.
        Text::known(&self.json)
    }

    /// Whether it says nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.json == "null"
    }

    /// Whether it is an object without members.
    pub(crate) fn is_empty(&self) -> bool {
        self.json == "{}"
    }

    pub(super) fn event(&self) -> invariant::Event<'_> {
        invariant::Event { tag: self.tag.as_str(), json: &self.json }
    }
}

/// The type of what answers a call by JSON-RPC.
const RESULT: &str = "result";

/// The type of what brings no outcome of a call.
pub(crate) const ERROR: &str = "error";

/// What the kind of a result begins with, before what was called.
pub(crate) const RESULT_OF: &str = "result of ";

/// The method of the call that a message of JSON-RPC answers.
fn called(json: Text<'_>, asked: Text<'_>) -> Option<String> {
    let (call, answer) = (Envelope::of(asked)?, Envelope::of(json)?);
    answer.answers(&call).then_some(call.method)?.map(Cow::into_owned)
}

/// The type of an answer to a call by JSON-RPC, whatever both lack that says so: they are a pair by their id.
pub(super) fn outcome(json: Text<'_>, asked: Text<'_>) -> Option<Tag> {
    let call = Envelope::of(asked)?;
    let answer = Envelope::of(json).filter(|answer| answer.answers(&call))?;
    let has = |name: &str| json.get(name).is_some();
    let outcome = [RESULT, ERROR].into_iter().find(|name| has(name));
    outcome.filter(|_| answer.method.is_none()).map(Tag::named)
}

/// A longer value is no word.
const LONGEST: usize = 40;

/// A longer value is not kept, unless it is a key.
const LONGEST_KEPT: usize = 128;

/// Fields below so many objects are not looked at.
const DEEPEST: usize = 4;

/// A field of a message: its path with dots between the names, and its JSON text.
type PathValue<'d> = (Cow<'d, str>, &'d str);

/// What all pieces of a message say alike, as far as they are JSON.
fn alike<'d>(mut pieces: impl Iterator<Item = &'d Vec<PathValue<'d>>>) -> Vec<(String, String)> {
    let mut said: Vec<&PathValue<'_>> = pieces.next().into_iter().flatten().collect();
    pieces.for_each(|other| said.retain(|field| other.contains(field)));
    said.into_iter().map(|(path, json)| (path.to_string(), (*json).to_owned())).collect()
}

/// The short scalars of a message outside of arrays, and its keys, if it is JSON.
fn fields(json: Option<Text<'_>>) -> Vec<PathValue<'_>> {
    let mut found = Vec::new();
    if let Some(json) = json {
        collect(json, "", DEEPEST, &mut found);
    }
    found
}

fn collect<'d>(json: Text<'d>, path: &str, room: usize, found: &mut Vec<PathValue<'d>>) {
    for (name, value) in json.members().filter(|(name, _)| is_plain(name)) {
        let path = if path.is_empty() { name } else { format!("{path}.{name}").into() };
        match value.container() {
            Some(Container::Object) if room > 1 => collect(value, &path, room - 1, found),
            None if value.as_str().len() <= LONGEST_KEPT || is_key(&path) => {
                found.push((path, value.as_str()));
            }
            _ => {}
        }
    }
}

/// Whether it can stand in a path: letters, digits and `_`.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether what stands in the field of a path may decide about something: it is a word, yes or no, and
/// the field is not named like an identifier or a time. Where the field is named like a type or an end, it may
/// be several words.
pub(super) fn may_decide(path: &str, json: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    let are_words = || {
        !json.contains(char::is_whitespace) || telling::is_kind(name) || telling::is_outcome(name)
    };
    Meaning::of(name) == Meaning::Plain
        && (is_text(json) && are_words() || matches!(json, "true" | "false" | "null"))
}

/// Whether a JSON text is a short string, with nothing that was minted and no time.
fn is_text(json: &str) -> bool {
    json.starts_with('"')
        && json.len() <= LONGEST
        && !json.contains('\\')
        && identifiers(json).next().is_none()
}
