//! Messages of a WebSocket that came in another order by chance, in their old order.
//!
//! # Rationale
//!
//! That the new recording has two messages in another order than the old one shows nothing by itself: it may
//! be what has changed. Some things show that it is chance:
//!
//! - A recording has such messages in both orders, or others of the same two channels. A channel is what the client
//!   addresses: each message of both sides names one, and the server names those of the client too.
//! - The server numbers what it says, and a recording has two in another order than that of their numbers.
//! - They answer different messages of the client, by their names.
//! - The client said several things at once, without a word of the server in between, and each has an answer of its
//!   own. How many of them the server had read when it answered the first is a matter of time.
//! - What the server once said before the client said something, it said without that; and now the client
//!   did not wait for it. The other way round shows nothing: the server may not wait any more for what it has
//!   to wait for.
//! - By its number the server had said it before something that the client had heard then.
//!
//! What names a thing that an answer was the first to name came because of that answer, and stands behind it.
//!
//! So what a server says stands as early as any recording has shown it, and what comes late now changes no
//! line. What is [foreign](super::foreign) is set aside before.

use std::collections::{HashMap, HashSet};

use super::foreign::said;
use super::message::{Message, numbers};
use crate::cassette::exchanges::{ExchangePart, Exchanges};
use crate::cassette::{Cassette, Frame, Ids, Outcome};
use crate::compare::alignment::{Called, Sides};
use crate::config::Rules;

/// Of more messages than that between two of the client, no orders are looked for.
const MOST: usize = 200;

/// Puts messages of the new recording that are independent into their old order. Tells whether any was moved.
pub(super) fn restore(
    old: &Cassette,
    (olds, news): (&Exchanges, &Exchanges),
    (rules, given): (&Rules, &[Called]),
    new: &mut Cassette,
) -> bool {
    let mut sides = Sides::of(&olds.cassette, &news.cassette, rules);
    let alignment = sides.align(given);
    let opened = alignment.pairs.iter().map(|pair| (olds.spot(pair.old), news.spot(pair.new)));
    let opened = opened.filter(|(one, other)| [one.part, other.part] == [ExchangePart::Request; 2]);
    let sockets: Vec<_> = opened.map(|(one, other)| (one.interaction, other.interaction)).collect();
    let mut is_any = false;
    let before = said(old, |script| alignment.renaming.look_old(script));
    let now = said(new, |script| alignment.renaming.look_new(script));
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
            moved_ids(ids, is, |frame| order.iter().position(|at| *at == frame));
        }
        is_any = true;
    }
    is_any
}

/// The places of names in frames that stand elsewhere now.
pub(super) fn moved_ids(
    ids: &mut Ids,
    interaction: usize,
    now: impl Fn(usize) -> Option<usize> + Copy,
) {
    let names = ids.client.iter_mut().chain(&mut ids.server);
    for id in names.filter(|id| id.interaction == interaction) {
        id.at = Exchanges::moved_place(&id.at, now);
    }
}

/// Two kinds, in this order.
type Order = (u64, u64);

/// The kinds that came in both orders within a recording, between two messages of the client, or in another order
/// than that of the numbers that the server gave them.
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
        for said in sockets {
            for (late, early) in overtaken(said) {
                both.extend([(late.kind, early.kind), (early.kind, late.kind)]);
            }
        }
    }
    both
}

/// Messages of a connection that came before one with a lower number, each with that one.
fn overtaken(said: &[Message]) -> Vec<(&Message, &Message)> {
    let numbers = numbers(said);
    let mut found = Vec::new();
    for (at, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_some()) {
        let before = (at.saturating_sub(MOST)..at).filter(|before| numbers[*before] > *number);
        found.extend(before.map(|before| (&said[before], &said[at])));
    }
    found
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

/// The new messages that are only like the old ones in whose places they stand, and that would have crossed others
/// which are like them.
fn crossing(old: &[Message], new: &[Message], places: &[Option<usize>]) -> Vec<usize> {
    let mut alike: HashMap<(bool, u64), Vec<(usize, usize)>> = HashMap::new();
    for (at, place) in places.iter().enumerate() {
        let key = (new[at].is_client, new[at].kind);
        alike.entry(key).or_default().extend(place.map(|place| (at, place)));
    }
    let is_sure = |(at, place): (usize, usize)| new[at].said == old[place].said;
    let crossing = |pairs: &Vec<(usize, usize)>| {
        let in_order = pairs.is_sorted_by_key(|(_, place)| *place);
        let unsure = pairs.iter().filter(move |pair| !in_order && !is_sure(**pair));
        unsure.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    alike.values().flat_map(crossing).collect()
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
    /// Of each message of the old recording, the highest number that had come before it, and its own.
    numbers: Vec<(Option<u64>, Option<u64>)>,
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
            let key = |it: &Message| (it.is_client, key(it));
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
        // Of several that are only alike, it is not known which one crossed which.
        let crossing = crossing(old, new, &places);
        crossing.into_iter().for_each(|at| places[at] = None);
        let heard = old.iter().scan(0, |heard, message| {
            *heard += usize::from(!message.is_client);
            Some(*heard)
        });
        let answered = new.iter().filter_map(|message| message.answers).collect();
        let numbers = numbers(old).into_iter().scan(None, |highest, number| {
            let before = *highest;
            *highest = before.max(number);
            Some((before, number))
        });
        let (heard, numbers) = (heard.collect(), numbers.collect());
        Self { new, places, independent, channels, heard, answered, numbers }
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
            return !one.is_client
                && (self.was_said_before(was_second, was_first) || self.is_at_once(one, second));
        }
        if one.is_client {
            return other.answers != Some(first);
        }
        if other.behind == Some(first) {
            return false;
        }
        let is_of_other = match (one.answers, other.answers) {
            (Some(asked), Some(also)) => asked != also,
            // It came even before that was asked.
            (Some(asked), None) => self.places[asked].is_some_and(|asked| was_first < asked),
            _ => false,
        };
        is_of_other
            || self.channels.are_apart(one, other)
            || self.independent.contains(&(one.kind, other.kind))
    }

    /// Whether the server had said an old message before what the client said, by their numbers, and it came late.
    fn was_said_before(&self, message: usize, client: usize) -> bool {
        let ((highest, _), (_, number)) = (self.numbers[client], self.numbers[message]);
        number.is_some() && number < highest
    }

    /// Whether the client once said that together with what a message of the server answers, and each has an answer
    /// of its own.
    fn is_at_once(&self, answer: &Message, said: usize) -> bool {
        let Some(asked) = answer.answers.filter(|asked| *asked < said) else { return false };
        let heard = |at: usize| self.places[at].map(|at| self.heard[at]);
        heard(asked).is_some() && heard(asked) == heard(said) && self.answered.contains(&said)
    }
}
