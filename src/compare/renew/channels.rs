//! Messages of a WebSocket that came in another order by chance, in their old order.
//!
//! # Rationale
//!
//! That the new recording has two messages in another order than the old one shows nothing by itself: it may
//! be what has changed. Three things show that it is chance:
//!
//! - A recording has such messages in both orders, as those of two channels.
//! - They answer different messages of the client, by their names.
//! - What the server once said before the client said something, it said without that; and now the client
//!   did not wait for it. The other way round shows nothing: the server may not wait any more for what it has
//!   to wait for.
//!
//! So what a server says stands as early as any recording has shown it, and what comes late now changes no
//! line.

use std::collections::{HashMap, HashSet};

use crate::cassette::exchanges::{Exchanges, Part};
use crate::cassette::{Cassette, Frame, Ids, Outcome, Peer, text};
use crate::compare::alignment::{Moved, Renaming, Script, Sides};
use crate::config::Rules;
use crate::identity::{Scope, fields, identifiers};
use crate::text::json::Text;

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
    let (before, now) = (said(old, Side::Old), said(new, Side::New));
    let independent = independent([&before, &now]);
    for (was, is) in sockets {
        let order = Turning::of(&before[was], &now[is], &independent).order();
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
            for name in names {
                born.entry(name).or_insert(is_client.then_some(at));
            }
            let mut script = Script::of_message(message);
            let said = match side {
                Side::Old => renaming.look_old(&mut script),
                Side::New => renaming.look_new(&mut script),
            };
            Self { is_client, said, kind: script.kind(), answers: answers.filter(|_| !is_client) }
        };
        messages.enumerate().map(read).collect()
    }
}

/// What a message names.
fn names(text: &str, is_client: bool) -> Vec<(Scope, String)> {
    let envelope = Text::read_container(text);
    let member = |name: &str| envelope.and_then(|envelope| envelope.get(name));
    let call = member("id").filter(|_| member("method").is_some());
    let call =
        call.map(|id| id.string().map_or_else(|| id.as_str().to_owned(), |it| it.into_owned()));
    if call.is_some() && !is_client {
        // What a server numbers is its own affair.
        return Vec::new();
    }
    let call = call.map(|id| (Scope::Call, id));
    let words = identifiers(text).map(|range| (Scope::Word, text[range].to_owned()));
    let fields = fields(text, &HashSet::new()).into_iter();
    let fields = fields.map(|field| (field.scope, field.value.trim_matches('"').to_owned()));
    call.into_iter().chain(fields).chain(words).collect()
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

/// The messages of a connection, to be put into their old order.
struct Turning<'m> {
    new: &'m [Message],
    /// Where each new one stood.
    places: Vec<Option<usize>>,
    independent: &'m HashSet<Order>,
}

impl<'m> Turning<'m> {
    fn of(old: &[Message], new: &'m [Message], independent: &'m HashSet<Order>) -> Self {
        let mut places = vec![None; new.len()];
        let mut taken = vec![false; old.len()];
        // Those that say the same, the first with the first; then those that say the like.
        for key in [|it: &Message| it.said, |it: &Message| it.kind] {
            let mut olds: HashMap<(bool, u64), Vec<usize>> = HashMap::new();
            for (at, message) in old.iter().enumerate().rev().filter(|(at, _)| !taken[*at]) {
                olds.entry((message.is_client, key(message))).or_default().push(at);
            }
            for (message, place) in new.iter().zip(&mut places).filter(|(_, place)| place.is_none())
            {
                let before = olds.get_mut(&(message.is_client, key(message)));
                *place = before.and_then(Vec::pop);
            }
            places.iter().flatten().for_each(|at| taken[*at] = true);
        }
        Self { new, places, independent }
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
        if was_first > was_second || other.is_client {
            return false;
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
        is_of_other || self.independent.contains(&(one.kind, other.kind))
    }
}
