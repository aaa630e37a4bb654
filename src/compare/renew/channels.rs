//! Messages of a WebSocket that came in another order by chance, in their old order.
//!
//! # Rationale
//!
//! That the new recording has two messages in another order than the old one shows nothing by itself: it may
//! be what has changed. Some things show that it is chance:
//!
//! - A recording has such messages in both orders, or others of the same two channels. A channel is what the client
//!   addresses: each message of both sides names one, and the server names those of the client too.
//! - They answer different messages of the client, by their names.
//! - One is about another client: it names what nobody but that one has named.
//! - The client said several things at once, without a word of the server in between, and each has an answer of its
//!   own. How many of them the server had read when it answered the first is a matter of time.
//! - What the server once said before the client said something, it said without that; and now the client
//!   did not wait for it. The other way round shows nothing: the server may not wait any more for what it has
//!   to wait for.
//!
//! So what a server says stands as early as any recording has shown it, and what comes late now changes no
//! line.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::cassette::exchanges::{Exchanges, Part};
use crate::cassette::{Cassette, Frame, Ids, Outcome, Peer, text};
use crate::compare::alignment::{Moved, Renaming, Script, Sides};
use crate::config::Rules;
use crate::identity::{Scope, fields, identifiers};
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// Of more messages than that between two of the client, no orders are looked for.
const MOST: usize = 200;

/// Puts messages of the new recording that are independent into their old order. Tells whether any was moved.
pub(super) fn restore(
    old: &Cassette,
    (olds, news): (&Exchanges, &Exchanges),
    (rules, moved): (&Rules, Option<&Moved>),
    new: &mut Cassette,
) -> bool {
    let mut sides = Sides::of(&olds.cassette, &news.cassette, rules);
    let alignment = sides.align(moved);
    let opened = alignment.pairs.iter().map(|pair| (olds.spot(pair.old), news.spot(pair.new)));
    let opened = opened.filter(|(one, other)| [one.part, other.part] == [Part::Request; 2]);
    let sockets: Vec<_> = opened.map(|(one, other)| (one.interaction, other.interaction)).collect();
    let mut is_any = false;
    let said = |cassette: &Cassette, names: Side| -> Vec<Vec<Message>> {
        let frames = cassette.interactions.iter().map(|it| it.response().map(|it| &it.frames));
        frames
            .map(|it| Message::all(it.map_or(&[][..], |it| it), &alignment.renaming, names))
            .collect()
    };
    let (mut before, mut now) = (said(old, Side::Old), said(new, Side::New));
    abroad(&mut before);
    abroad(&mut now);
    let independent = independent([&before, &now]);
    for (was, is) in sockets {
        let channels = Channels::of([&before[was], &now[is]], &independent);
        let order = Turning::of(&before[was], &now[is], (&independent, channels)).order();
        if order.is_sorted() {
            continue;
        }
        let Outcome::Response(response) = &mut new.interactions[is].outcome else { continue };
        let said: Vec<Frame> = order.iter().map(|at| response.frames[*at].clone()).collect();
        for (frame, said) in response.frames.iter_mut().zip(said) {
            // When something was said is when it came at that place.
            *frame = Frame { ms: frame.ms, ..said };
        }
        if let Some(ids) = &mut new.ids {
            moved_ids(ids, is, &order);
        }
        is_any = true;
    }
    is_any
}

/// The places of names in frames that stand elsewhere now.
fn moved_ids(ids: &mut Ids, interaction: usize, order: &[usize]) {
    let names = ids.client.iter_mut().chain(&mut ids.server);
    for id in names.filter(|id| id.interaction == interaction) {
        id.at = Exchanges::moved_place(&id.at, |frame| order.iter().position(|at| *at == frame));
    }
}

/// Of which recording something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

/// A message, as far as it tells in which order it may stand.
#[derive(Debug)]
struct Message {
    is_client: bool,
    /// Equal for messages that say the same as far as is known.
    said: u64,
    /// Equal for messages that say the same but for names, times and numbers.
    kind: u64,
    /// The message of the client that one of the server answers by name.
    answers: Option<usize>,
    /// The connection of another client, if it is about that one alone.
    about: Option<usize>,
    /// What it names, in letters and digits.
    names: HashSet<String>,
    /// What each of its members says, if that is a text.
    members: BTreeMap<String, String>,
}

impl Message {
    fn all(frames: &[Frame], renaming: &Renaming, side: Side) -> Vec<Self> {
        let mut born: HashMap<(Scope, String), Option<usize>> = HashMap::new();
        let messages = frames.iter().take_while(|frame| frame.message().is_some());
        let read = |(at, frame): (usize, &Frame)| {
            let message = frame.message().cloned().unwrap_or_default();
            let is_client = frame.from == Peer::Client;
            let names = names(&text(&message), is_client);
            let answers = names.iter().filter_map(|name| *born.get(name)?).max();
            for name in &names {
                born.entry(name.clone()).or_insert(is_client.then_some(at));
            }
            let words = names.into_iter().filter(|(scope, _)| *scope == Scope::Word);
            let names = words.map(|(_, name)| name).collect();
            let members = members(&text(&message));
            let mut script = Script::of_message(message);
            let said = match side {
                Side::Old => renaming.look_old(&mut script),
                Side::New => renaming.look_new(&mut script),
            };
            let (kind, answers) = (script.kind(), answers.filter(|_| !is_client));
            Self { is_client, said, kind, answers, about: None, names, members }
        };
        messages.enumerate().map(read).collect()
    }
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

/// Finds the messages of the server that are about another client: they name what one client alone has named, and
/// it is that of another connection.
fn abroad(sockets: &mut [Vec<Message>]) {
    let mut sayers: HashMap<String, Option<usize>> = HashMap::new();
    for (socket, said) in sockets.iter().enumerate() {
        for name in said.iter().filter(|it| it.is_client).flat_map(|it| &it.names) {
            let sayer = sayers.entry(name.clone()).or_insert(Some(socket));
            *sayer = sayer.filter(|sayer| *sayer == socket);
        }
    }
    for (socket, said) in sockets.iter_mut().enumerate() {
        for message in said.iter_mut().filter(|it| !it.is_client) {
            let mut sayers = message.names.iter().filter_map(|name| *sayers.get(name)?);
            let first = sayers.next().filter(|first| *first != socket);
            message.about = first.filter(|first| sayers.all(|sayer| sayer == *first));
        }
    }
}

/// Two kinds, in this order.
type Order = (u64, u64);

/// The kinds that came in both orders within a recording, between two messages of the client.
fn independent(recordings: [&[Vec<Message>]; 2]) -> HashSet<Order> {
    let mut both = HashSet::new();
    for sockets in recordings {
        let mut seen: HashSet<Order> = HashSet::new();
        for said in sockets.iter().flat_map(|it| it.split(|message| message.is_client)) {
            let kinds: Vec<u64> = said.iter().map(|message| message.kind).collect();
            let mut counts: HashMap<u64, usize> = HashMap::new();
            kinds.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
            let once: Vec<u64> = kinds.into_iter().filter(|kind| counts[kind] == 1).collect();
            for (at, one) in once.iter().enumerate().filter(|_| once.len() <= MOST) {
                seen.extend(once[at + 1..].iter().map(|other| (*one, *other)));
            }
        }
        both.extend(seen.iter().filter(|(one, other)| seen.contains(&(*other, *one))));
    }
    both
}

/// The members by which the messages of a connection name their channels.
#[derive(Debug, Default)]
struct Channels(Vec<String>);

impl Channels {
    /// Those that each message of both sides has, with which the server says what the client said, and of which
    /// messages of two channels came in both orders.
    fn of(recordings: [&[Message]; 2], independent: &HashSet<Order>) -> Self {
        let all = || recordings.into_iter().flatten();
        let Some(first) = all().next() else { return Self::default() };
        let is_channel = |name: &&String| {
            let said = |is_client: bool| -> Option<HashSet<&String>> {
                all()
                    .filter(|it| it.is_client == is_client)
                    .map(|it| it.members.get(*name))
                    .collect()
            };
            let Some((asked, answered)) = said(true).zip(said(false)) else { return false };
            let mut named: HashMap<u64, &String> = HashMap::new();
            all().for_each(|it| _ = named.insert(it.kind, &it.members[*name]));
            let is_crossed = || {
                let named = |kind: &u64| named.get(kind).copied();
                let mut both =
                    independent.iter().filter_map(|(one, other)| named(one).zip(named(other)));
                both.any(|(one, other)| one != other)
            };
            !asked.is_disjoint(&answered) && answered.len() > 1 && is_crossed()
        };
        Self(first.members.keys().filter(is_channel).cloned().collect())
    }

    fn are_apart(&self, one: &Message, other: &Message) -> bool {
        self.0.iter().any(|name| one.members.get(name) != other.members.get(name))
    }
}

/// The messages of a connection, to be put into their old order.
struct Turning<'m> {
    new: &'m [Message],
    /// Where each new one stood.
    places: Vec<Option<usize>>,
    independent: &'m HashSet<Order>,
    channels: Channels,
    /// Of each message of the old recording, how many of the server came before it.
    heard: Vec<usize>,
    /// The messages of the client that have answers of their own.
    answered: HashSet<usize>,
}

impl<'m> Turning<'m> {
    fn of(
        old: &[Message],
        new: &'m [Message],
        (independent, channels): (&'m HashSet<Order>, Channels),
    ) -> Self {
        let mut places = vec![None; new.len()];
        let mut taken = vec![false; old.len()];
        // Those that say the same, the first with the first; then those that say the like.
        for key in [|it: &Message| it.said, |it: &Message| it.kind] {
            // What is about another client is no partner of what is not.
            let key = |it: &Message| (it.is_client, it.about.is_some(), key(it));
            let mut olds: HashMap<_, Vec<usize>> = HashMap::new();
            for (at, message) in old.iter().enumerate().rev().filter(|(at, _)| !taken[*at]) {
                olds.entry(key(message)).or_default().push(at);
            }
            for (message, place) in new.iter().zip(&mut places).filter(|(_, place)| place.is_none())
            {
                let before = olds.get_mut(&key(message));
                *place = before.and_then(Vec::pop);
            }
            places.iter().flatten().for_each(|at| taken[*at] = true);
        }
        let heard = old.iter().scan(0, |heard, message| {
            *heard += usize::from(!message.is_client);
            Some(*heard)
        });
        let answered = new.iter().filter_map(|message| message.answers).collect();
        Self { new, places, independent, channels, heard: heard.collect(), answered }
    }

    /// The numbers of the new messages in the order in which they are to stand.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.new.len()).collect();
        for at in 1..order.len() {
            let mut at = at;
            while at > 0 && self.is_turned(order[at - 1], order[at]) {
                order.swap(at - 1, at);
                at -= 1;
            }
        }
        order
    }

    /// Whether two messages stood the other way round, and it means nothing.
    fn is_turned(&self, first: usize, second: usize) -> bool {
        let (Some(was_second), Some(was_first)) = (self.places[first], self.places[second]) else {
            return false;
        };
        let (one, other) = (&self.new[first], &self.new[second]);
        if was_first > was_second {
            return false;
        }
        if other.is_client {
            return !one.is_client && (one.about.is_some() || self.is_at_once(one, second));
        }
        if one.is_client {
            return other.answers != Some(first);
        }
        let is_of_other = match (one.answers, other.answers) {
            (Some(asked), Some(also)) => asked != also,
            // It came even before that was asked.
            (Some(asked), None) => self.places[asked].is_some_and(|asked| was_first < asked),
            _ => false,
        };
        is_of_other
            || one.about != other.about
            || self.channels.are_apart(one, other)
            || self.independent.contains(&(one.kind, other.kind))
    }

    /// Whether the client once said that together with what a message of the server answers, and each has an answer
    /// of its own.
    fn is_at_once(&self, answer: &Message, said: usize) -> bool {
        let Some(asked) = answer.answers.filter(|asked| *asked < said) else { return false };
        let heard = |at: usize| self.places[at].map(|at| self.heard[at]);
        heard(asked).is_some() && heard(asked) == heard(said) && self.answered.contains(&said)
    }
}
