//! Which protocol a message is of, and so of which type.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use super::ndjson;
use super::tag::TEXT;
use super::{Message, Tag, TagSource};
use crate::config::{At, Config, IndexedObject, Protocol};
use crate::text::json::pointer::is_index;
use crate::text::json::{Text, kind};

/// How messages are told apart: by what a person says, by the protocols that retape knows, by what was
/// learned, and else by what is common.
///
/// # Rationale
///
/// A known protocol is not learned again: few recordings show all of it. Each is a file in `presets`,
/// written as in `retape.toml`, so that another one needs no code.
///
/// # Example: a protocol that says its types in another field
///
/// ```
/// use retape::message::Protocols;
/// use retape::config::Config;
///
/// let config = Config::parse("[[protocol]]\ntag = '/kind_of_thing'")?;
/// let protocols = Protocols::of(&config);
///
/// assert_eq!(protocols.tag(r#"{"kind_of_thing":"begin"}"#, None).as_str(), "begin");
/// assert_eq!(protocols.tag(r#"{"type":"ping"}"#, None).as_str(), "ping");
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protocols {
    /// What a person says.
    own: Arc<[Protocol]>,
    learned: Option<TagSource>,
}

/// Those that retape knows, in files that are written like a `retape.toml`.
static KNOWN: LazyLock<Vec<Protocol>> = LazyLock::new(|| {
    let files = [
        include_str!("presets/letta.toml"),
        include_str!("presets/acp.toml"),
        include_str!("presets/mcp.toml"),
        include_str!("presets/openai-chat.toml"),
        include_str!("presets/openai-responses.toml"),
        include_str!("presets/anthropic.toml"),
        include_str!("presets/ag-ui.toml"),
    ];
    files.into_iter().flat_map(preset).collect()
});

/// What is tried last.
static COMMON: LazyLock<Vec<Protocol>> =
    LazyLock::new(|| preset(include_str!("presets/common.toml")));

fn preset(text: &str) -> Vec<Protocol> {
    let config = Config::parse(text).expect("a test reads every preset");
    config.protocols().to_vec()
}

/// What messages say that only say that the server is still there.
static ALIVE: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    let words = KNOWN.iter().chain(COMMON.iter()).flat_map(Protocol::keep_alive);
    words.map(|word| Finder::new(word).into_owned()).collect()
});

/// What ends an OpenAI-style stream, and what stands for it as a tag.
pub(crate) const DONE: &str = "[DONE]";

/// What a server says by the name of an event if it says nothing: it is the standard's own default.
pub(crate) const UNNAMED: &str = "message";

impl Protocols {
    /// Those of a configuration, before those that are known.
    pub fn of(config: &Config) -> Self {
        Self { own: config.protocols().into(), learned: None }
    }

    /// With what was learned about messages of which no protocol is known.
    pub fn with(&self, told: &TagSource) -> Self {
        Self { own: self.own.clone(), learned: Some(told.clone()) }
    }

    /// The type of a message, from its data and the name of its SSE event.
    pub fn tag(&self, data: &str, event: Option<&str>) -> Tag {
        self.read(data, event).0
    }

    /// The same, and whether the data is JSON.
    pub(super) fn read(&self, data: &str, event: Option<&str>) -> (Tag, bool) {
        if data.trim() == DONE {
            let counts = matches!(self.learned, Some(TagSource::Event | TagSource::Both(_)));
            let name = event.filter(|_| counts).unwrap_or(DONE);
            return (Tag::Named(name.to_owned()), false);
        }
        match (Text::read(data), event.filter(|event| *event != UNNAMED)) {
            (Some(json), event) => (self.tag_of(json, event), true),
            (None, Some(event)) => (named(None, event.to_owned()), false),
            (None, None) => (Tag::Untyped(TEXT), false),
        }
    }

    /// With the type that a person says, if they say one of it: whoever cut it may not have known.
    pub fn retagged(&self, message: Message) -> Message {
        let json = message.json().map(IndexedObject::of);
        let said = json.and_then(|object| {
            self.own.iter().find_map(|own| Some(named(Some(own), own.tag(&object)?)))
        });
        Message { tag: said.unwrap_or(message.tag), ..message }
    }

    /// What somebody says, as a message. A packet of Socket.IO has the name of its event, or else of its sort.
    pub(crate) fn message(&self, data: String) -> Message {
        if let Some((sort, at)) = ndjson::packet(&data) {
            let json = Text::known(&data[at..]);
            let first = json.elements().next().filter(|_| matches!(sort, "42" | "45"));
            let event = first.and_then(Text::string).unwrap_or(Cow::Borrowed(sort)).into_owned();
            let (tag, is_json) = self.read(&data[at..], Some(&event));
            let event = Some(event);
            return Message { event, ..Message::new(tag, data[at..].to_owned(), is_json) };
        }
        let (tag, is_json) = self.read(&data, None);
        Message::new(tag, data, is_json)
    }

    /// The type of a message that is JSON.
    pub(crate) fn tag_of(&self, json: Text<'_>, event: Option<&str>) -> Tag {
        match (self.told(&IndexedObject::of(json), event.is_some()), event) {
            (Some((protocol, tag)), event) => {
                let tag = named(protocol, tag);
                match &self.learned {
                    Some(TagSource::Both(_)) => paired(tag, event),
                    // What only stands in a message is no word for it: clients go by that of the event.
                    Some(TagSource::Member(_) | TagSource::Present(_)) if event.is_some() => {
                        paired(tag, event)
                    }
                    _ => tag,
                }
            }
            (None, Some(event)) => named(None, event.to_owned()),
            (None, None) => match kind(json.as_str()) {
                Some(kind @ ("object" | "array" | "string")) => Tag::Untyped(kind),
                _ => Tag::Untyped("scalar"),
            },
        }
    }

    /// The type that a JSON object tells in itself, if it tells one.
    pub(super) fn typed(&self, message: &IndexedObject<'_>) -> Option<Tag> {
        self.told(message, false).map(|(protocol, tag)| named(protocol, tag))
    }

    /// The field whose word is the type of a message, as is known or common.
    pub(super) fn field(&self, message: &IndexedObject<'_>) -> Option<&At> {
        let mut all = self.own.iter().chain(KNOWN.iter()).chain(COMMON.iter());
        all.find(|protocol| protocol.tag(message).is_some())?.field(message)
    }

    /// The field in which a message says its type, as is known or common, and the type.
    pub(crate) fn said_type(&self, data: &str) -> Option<(&At, String)> {
        let message = IndexedObject::of(Text::read_container(data)?);
        let at = self.field(&message)?;
        Some((at, message.word(at)?))
    }

    /// The protocol of a message: where none is known, what is common.
    pub(super) fn of_message(&self, message: &IndexedObject<'_>) -> Option<&Protocol> {
        self.told(message, false).and_then(|(protocol, _)| protocol).or_else(|| COMMON.first())
    }

    /// The protocol of a message that is known, or that a person names, and the type.
    pub(super) fn known(&self, message: &IndexedObject<'_>) -> Option<(&Protocol, String)> {
        let mut known = self.own.iter().chain(KNOWN.iter());
        known.find_map(|protocol| Some((protocol, protocol.tag(message)?)))
    }

    /// The protocol, if it is one of its own, and the type.
    fn told(
        &self,
        message: &IndexedObject<'_>,
        has_event: bool,
    ) -> Option<(Option<&Protocol>, String)> {
        if let Some((protocol, tag)) = self.known(message) {
            let finer =
                self.learned.as_ref().filter(|told| is_within(told, protocol.open(message)));
            return Some((Some(protocol), finer.and_then(|told| told.tag(message)).unwrap_or(tag)));
        }
        let learned = match &self.learned {
            Some(TagSource::Event) if has_event => return None,
            learned => learned.as_ref().and_then(|told| told.tag(message)),
        };
        let tag = learned.or_else(|| COMMON.iter().find_map(|common| common.tag(message)))?;
        // What a message says of itself comes before the name of its event, and that before what only stands in it.
        let is_said = || self.field(message).is_some();
        (!has_event || self.learned.is_some() || is_said()).then_some((None, tag))
    }
}

impl TagSource {
    /// The type that a message says itself.
    fn tag(&self, message: &IndexedObject<'_>) -> Option<String> {
        match self {
            Self::Field(at) | Self::Both(Some(at)) => said(message, at),
            Self::Present(at) => {
                message.at(at).filter(|it| it.as_str() != "null").and(at.steps().last()).cloned()
            }
            Self::Member(None) => only(message.members().iter().cloned()),
            Self::Member(Some(at)) => only(message.at(at)?.members()),
            Self::Event | Self::Both(None) => None,
        }
    }
}

/// Whether what tells the type stands in a place, or is all that stands there.
fn is_within(told: &TagSource, place: Option<&At>) -> bool {
    let steps = told.place().zip(place).map(|(told, place)| (told.steps(), place.steps()));
    steps.is_some_and(|(told, place)| told.starts_with(place))
}

/// The name of the only member that says something, if there is one.
pub(super) fn only<'a>(members: impl Iterator<Item = (Cow<'a, str>, Text<'a>)>) -> Option<String> {
    let mut said = members.filter(|(_, value)| value.as_str() != "null");
    let (name, _) = said.next().filter(|(name, _)| !name.is_empty() && !is_index(name))?;
    said.next().is_none().then(|| name.into_owned())
}

/// The word that stands in a field, or yes or no, or a number.
fn said(message: &IndexedObject<'_>, at: &At) -> Option<String> {
    let other = || message.at(at).and_then(Text::scalar).filter(|it| is_code(it));
    message.word(at).or_else(|| other().map(str::to_owned))
}

/// Whether a scalar may tell a type: it is yes or no, or a small number.
pub(super) fn is_code(spelled: &str) -> bool {
    let is_number = spelled.len() <= 3 && spelled.bytes().all(|byte| byte.is_ascii_digit());
    is_number || matches!(spelled, "true" | "false")
}

/// What a type ends with that has no name of an SSE event, where others have one.
pub(crate) const NO_EVENT: &str = " as no event";

/// The type by what the message says, where the name of the event says it too: clients may go by either.
fn paired(tag: Tag, event: Option<&str>) -> Tag {
    let said = tag.as_str();
    match event {
        _ if tag.is_keep_alive() || said == UNNAMED => tag,
        Some(event) if event == said => tag,
        Some(event) => Tag::Named(format!("{said} as event {event}")),
        None => Tag::Named(format!("{said}{NO_EVENT}")),
    }
}

/// Whether a message of a protocol that retape knows only says that the server is still there.
pub(crate) fn keeps_alive(data: &str, event: Option<&str>) -> bool {
    let data_or_event = |word: &Finder<'_>| {
        let within = |text: &str| word.find(text.as_bytes()).is_some();
        within(data) || event.is_some_and(within)
    };
    // Nearly none does, which is seen without reading it, unless a word may be spelled with escapes.
    (data.contains('\\') || ALIVE.iter().any(data_or_event))
        && Protocols::default().tag(data, event).is_keep_alive()
}

pub(super) fn named(protocol: Option<&Protocol>, tag: String) -> Tag {
    let keeps_alive = COMMON.iter().chain(protocol).any(|it| it.keeps_alive(&tag));
    if keeps_alive { Tag::KeepAlive(tag) } else { Tag::Named(tag) }
}
