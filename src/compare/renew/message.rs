//! A message of a WebSocket, as far as it tells in which order it may stand.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::cassette::{Frame, Peer, text};
use crate::compare::alignment::Script;
use crate::identity::{Scope, fields, identifiers};
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// A message, as far as it tells in which order it may stand.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) is_client: bool,
    /// Equal for messages that say the same as far as is known.
    pub(super) said: u64,
    /// Equal for messages that say the same but for names, times and numbers.
    pub(super) kind: u64,
    /// The message of the client that one of the server answers by name.
    pub(super) answers: Option<usize>,
    /// The answer in which the server was the first to name what this message of the server names too.
    pub(super) behind: Option<usize>,
    /// What it names, in letters and digits.
    pub(super) names: HashSet<String>,
    /// What each of its members says, if that is a text.
    pub(super) members: BTreeMap<String, String>,
    /// Its values with names in them, each behind its place.
    pub(super) values: Vec<(String, String)>,
}

impl Message {
    /// The messages of a connection; `look` hashes what one says.
    pub(super) fn all(frames: &[Frame], look: impl Fn(&mut Script) -> u64) -> Vec<Self> {
        let mut born: HashMap<(Scope, String), Birth> = HashMap::new();
        let messages = frames.iter().take_while(|frame| frame.message().is_some());
        let read = |(at, frame): (usize, &Frame)| {
            let message = frame.message().cloned().unwrap_or_default();
            let is_client = frame.from == Peer::Client;
            let names = names(&text(&message), is_client);
            let named = |is_meant: fn(&&Birth) -> bool| {
                let births = names.iter().filter_map(|name| born.get(name));
                births.filter(is_meant).map(|birth| birth.at).max().filter(|_| !is_client)
            };
            let answers = named(|birth| birth.is_client);
            let behind = named(|birth| birth.is_answer);
            for name in &names {
                let is_answer = answers.is_some();
                born.entry(name.clone()).or_insert(Birth { at, is_client, is_answer });
            }
            let words = names.into_iter().filter(|(scope, _)| *scope == Scope::Word);
            let names = words.map(|(_, name)| name).collect();
            let (members, values) = (members(&text(&message)), values(&text(&message)));
            let mut script = Script::of_message(message);
            let said = look(&mut script);
            let kind = script.kind();
            Self { is_client, said, kind, answers, behind, names, members, values }
        };
        messages.enumerate().map(read).collect()
    }
}

/// Where something was named first.
struct Birth {
    at: usize,
    is_client: bool,
    is_answer: bool,
}

/// What a message names.
fn names(text: &str, is_client: bool) -> Vec<(Scope, String)> {
    let envelope = Text::read_container(text).and_then(Envelope::of);
    let call = envelope.as_ref().and_then(Envelope::asked);
    if call.is_some() && !is_client {
        // What a server numbers is its own affair.
        return Vec::new();
    }
    let call = call.map(|id| (Scope::Call, id.trim_matches('"').to_owned()));
    let words = identifiers(text).map(|range| (Scope::Word, text[range].to_owned()));
    let fields = fields(text, &HashSet::new()).into_iter();
    let fields = fields.map(|field| (field.scope, field.value.trim_matches('"').to_owned()));
    call.into_iter().chain(fields).chain(words).collect()
}

/// The members of a message that are texts.
fn members(text: &str) -> BTreeMap<String, String> {
    let Some(container) = Text::read_container(text) else { return BTreeMap::new() };
    let members = container
        .members()
        .filter_map(|(name, value)| Some((name.into_owned(), value.string()?.into_owned())));
    members.collect()
}

/// The values of a message that hold a name.
fn values(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(container) = Text::read_container(text) else { return found };
    container.each_leaf(|place, _, value, _| {
        if identifiers(&value).next().is_some() {
            found.push((place.to_owned(), value.into_owned()));
        }
    });
    found
}

/// So many numbers of messages are no accident.
const NUMBERED: usize = 3;

/// The numbers that a server gave its messages, at the end of their names: `b51298cc-53246_13352_11`. Each message of
/// a connection that has such a name has one of its own.
pub(super) fn numbers(said: &[Message]) -> Vec<Option<u64>> {
    let mut series: BTreeMap<(&str, &str), Vec<(usize, u64)>> = BTreeMap::new();
    for (at, message) in said.iter().enumerate().filter(|(_, message)| !message.is_client) {
        for (place, name) in &message.values {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let is_apart = stem.ends_with(|c: char| !c.is_ascii_alphanumeric());
            if let Some(number) = name[stem.len()..].parse().ok().filter(|_| is_apart) {
                series.entry((place, stem)).or_default().push((at, number));
            }
        }
    }
    let is_own = |numbered: &&Vec<(usize, u64)>| {
        let different: HashSet<u64> = numbered.iter().map(|(_, number)| *number).collect();
        numbered.len() >= NUMBERED && different.len() == numbered.len()
    };
    let mut numbers = vec![None; said.len()];
    let longest = series.values().filter(is_own).max_by_key(|it| it.len());
    longest.into_iter().flatten().for_each(|(at, number)| numbers[*at] = Some(*number));
    numbers
}
