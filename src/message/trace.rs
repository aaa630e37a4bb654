//! The types of a body's messages, in order.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::{Message, Protocols, Tag, telling};
use crate::config::IndexedObject;
use crate::text::json::Text;

/// The tags of one body in order. The deltas of one message are one step; keep-alives are set aside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// What came, in order.
    pub steps: Vec<Step>,
    /// How many messages only said that the server was still there.
    pub keep_alives: usize,
}

/// One message, or the deltas of one message that came in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The type.
    pub tag: Tag,
    /// Which messages these are, by their place among all messages of the body; at least one.
    pub messages: Vec<usize>,
    /// Milliseconds since the request arrived at which the first one was complete.
    pub first_ms: u64,
    /// The same of the last one.
    pub last_ms: u64,
    /// Whether these are pieces, by their name and what they say: how many come is chance.
    pub is_piece: bool,
}

impl Trace {
    /// The trace of a body's messages.
    pub fn of(messages: &[Message], protocols: &Protocols) -> Self {
        let mut trace = Self::default();
        let identities = messages.iter().map(|message| match message.is_keep_alive() {
            true => Identity::default(),
            false => Identity::of(message, protocols),
        });
        let identities: Vec<Identity<'_>> = identities.collect();
        let repeated = repeated(&identities);
        let mut before: Option<&Identity<'_>> = None;
        for ((place, message), identity) in messages.iter().enumerate().zip(&identities) {
            if message.is_keep_alive() {
                trace.keep_alives += 1;
                continue;
            }
            let relation = before.map(|before| before.relation(identity, &repeated));
            match trace.steps.last_mut().zip(relation) {
                Some((step, relation)) if step.goes_on_with(message, relation) => {
                    step.messages.push(place);
                    step.last_ms = message.ms;
                }
                _ => trace.steps.push(Step::begin(place, message)),
            }
            before = Some(identity);
        }
        trace
    }
}

impl Step {
    /// How many messages these are.
    pub fn count(&self) -> usize {
        self.messages.len()
    }

    fn begin(place: usize, message: &Message) -> Self {
        let (tag, is_piece) = (message.tag.clone(), message.is_piece());
        Self { tag, messages: vec![place], first_ms: message.ms, last_ms: message.ms, is_piece }
    }

    fn goes_on_with(&self, message: &Message, relation: Relation) -> bool {
        self.tag == message.tag
            && match relation {
                Relation::Same => true,
                Relation::Different => false,
                Relation::Counted => self.is_piece,
                // Without any identity, two of the same type are two messages, unless the type
                // itself says that it is a part of one.
                Relation::Unsaid => !self.tag.is_named() || self.is_piece,
            }
    }
}

impl fmt::Display for Trace {
    /// The tags with spaces between them, and a `+` behind those that came in several pieces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let plus = if step.count() > 1 { "+" } else { "" };
            write!(f, "{space}{}{plus}", step.tag)?;
        }
        Ok(())
    }
}

/// What a message says of its identity: the places where it does, and what stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Identity<'p> {
    keys: Vec<PlaceText<'p>>,
    /// What tells of one without a type that a next one is another.
    words: Vec<PlaceText<'p>>,
}

/// A place, and what stands there.
type PlaceText<'p> = (Cow<'p, str>, String);

/// How two messages relate by what they say of their identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// They are about the same thing.
    Same,
    /// They are about different things.
    Different,
    /// Each says what no other message does: a number that counts them, or the name of something.
    Counted,
    /// Neither says anything that can be compared.
    Unsaid,
}

impl<'p> Identity<'p> {
    fn of(message: &Message, protocols: &'p Protocols) -> Self {
        let json = message.is_json.then(|| Text::known(&message.data));
        let Some(json) = json.filter(|json| json.container().is_some()) else {
            return Self::default();
        };
        let object = IndexedObject::of(json);
        let keys = protocols.of_message(&object).into_iter().flat_map(|protocol| protocol.keys());
        let keys =
            keys.filter_map(|key| Some((Cow::Borrowed(key.as_str()), said(object.at(key)?)?)));
        let is_untyped = matches!(message.tag, Tag::Untyped(_));
        let words = json.members().filter(|(name, _)| is_untyped && telling::is_outcome(name));
        let words = words.filter_map(|(name, it)| Some((name.into_owned().into(), said(it)?)));
        Self { keys: keys.collect(), words: words.collect() }
    }

    /// What both say in the same places, and whether it is a word.
    fn beside<'i>(
        &'i self,
        other: &'i Self,
    ) -> impl Iterator<Item = (&'i PlaceText<'p>, &'i PlaceText<'p>, bool)> {
        let of = |all: &'i [PlaceText<'p>], others: &'i [PlaceText<'p>], is_word: bool| {
            all.iter().filter_map(move |said| {
                let other = others.iter().find(|(place, _)| *place == said.0)?;
                Some((said, other, is_word))
            })
        };
        of(&self.keys, &other.keys, false).chain(of(&self.words, &other.words, true))
    }

    /// How it relates to another one.
    fn relation(&self, other: &Self, repeated: &HashSet<&PlaceText<'_>>) -> Relation {
        let (mut is_same, mut is_counted) = (false, false);
        for (said, other, is_word) in self.beside(other) {
            if said == other {
                is_same = true;
            } else if is_word || repeated.contains(said) || repeated.contains(other) {
                return Relation::Different;
            } else {
                is_counted = true;
            }
        }
        match (is_same, is_counted) {
            (_, true) => Relation::Counted,
            (true, false) => Relation::Same,
            (false, false) => Relation::Unsaid,
        }
    }
}

/// What several messages say.
fn repeated<'i, 'p>(identities: &'i [Identity<'p>]) -> HashSet<&'i PlaceText<'p>> {
    let mut once = HashSet::new();
    let all = identities.iter().flat_map(|identity| &identity.keys);
    all.filter(|said| !once.insert(*said)).collect()
}

fn said(value: Text<'_>) -> Option<String> {
    value.string().map(|it| it.into_owned()).or_else(|| value.scalar().map(str::to_owned))
}
