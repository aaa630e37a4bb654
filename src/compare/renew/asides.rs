//! What a server says over a WebSocket when its client comes, or leaves.
//!
//! # Rationale
//!
//! What a server says unasked when a client comes may have begun before: how much of it the client still hears is a
//! matter of time. It is unasked if a recording has the like of it before any word of its client. And a client that leaves may hear once more what it has heard already, or not. Everything
//! else has to be as it was for that to be put back.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use crate::cassette::{Frame, Interaction, Peer};
use crate::compare::alignment::Script;

/// Whether what was said over two WebSockets is the same but for that.
pub(super) fn are_same_but_for_asides(
    old: &Interaction,
    new: &Interaction,
    unasked: &HashSet<u64>,
) -> bool {
    let (Some(before), Some(now)) = (old.response(), new.response()) else { return false };
    if before.frames.is_empty() || now.frames.is_empty() || old.request != new.request {
        return false;
    }
    let [olds, news] = [&before.frames, &now.frames].map(|frames| Talk::of(frames));
    let [came, comes] = [&olds, &news].map(|talk| talk.begins_with(unasked));
    let is_again = is_heard_again([&olds, &news], [&came, &comes]);
    let empty = HashSet::new();
    let aside = if is_again { [&came, &comes] } else { [&empty, &empty] };
    let [rest, left] = [olds.but(aside[0]), news.but(aside[1])];
    let same = rest.iter().zip(&left).take_while(|(one, other)| one.says(other)).count();
    let is_left = |talk: &Talk<'_>, rest: &[Said<'_>]| {
        rest[same..].is_empty() || talk.has_left(&rest[same..])
    };
    let one_is_whole = rest.len() == same || left.len() == same;
    one_is_whole
        && is_left(&olds, &rest)
        && is_left(&news, &left)
        && olds.close.zip(news.close).is_none_or(|(one, other)| one.content == other.content)
        && olds.close.is_some() == news.close.is_some()
}

/// The kinds of what servers have said before their clients said anything.
pub(super) fn unasked(recordings: [&[Interaction]; 2]) -> HashSet<u64> {
    let talks = recordings.into_iter().flatten().filter_map(Interaction::response);
    let first = talks
        .flat_map(|response| response.frames.iter().take_while(|frame| frame.from == Peer::Server));
    first.filter_map(|frame| Some(kind(frame.message()?))).collect()
}

/// Equal for messages that say the same but for names, times and numbers.
fn kind(message: &Bytes) -> u64 {
    Script::of_message(message.clone()).kind()
}

/// Whether both say the same sorts of things when the client comes, and some of them again and again.
fn is_heard_again(talks: [&Talk<'_>; 2], asides: [&HashSet<usize>; 2]) -> bool {
    let kinds = |(talk, aside): (&Talk<'_>, &HashSet<usize>)| {
        let mut kinds: HashMap<u64, usize> = HashMap::new();
        aside.iter().for_each(|at| *kinds.entry(talk.said[*at].kind).or_default() += 1);
        kinds
    };
    let [was, is] = [(talks[0], asides[0]), (talks[1], asides[1])].map(kinds);
    let is_same = was.len() == is.len() && was.keys().all(|kind| is.contains_key(kind));
    is_same && was.values().chain(is.values()).any(|count| *count > 1)
}

/// What was said over a WebSocket.
struct Talk<'f> {
    said: Vec<Said<'f>>,
    close: Option<&'f Frame>,
}

/// A message.
#[derive(Clone, Copy)]
struct Said<'f> {
    frame: &'f Frame,
    /// Where it stands.
    at: usize,
    /// Equal for messages that say the same but for names, times and numbers.
    kind: u64,
}

impl Said<'_> {
    fn says(&self, other: &Self) -> bool {
        (self.frame.from, &self.frame.content) == (other.frame.from, &other.frame.content)
    }

    fn is_client(&self) -> bool {
        self.frame.from == Peer::Client
    }
}

impl<'f> Talk<'f> {
    fn of(frames: &'f [Frame]) -> Self {
        let messages = frames
            .iter()
            .enumerate()
            .filter_map(|(at, frame)| Some(Said { frame, at, kind: kind(frame.message()?) }));
        let close = frames.last().filter(|frame| frame.message().is_none());
        Self { said: messages.collect(), close }
    }

    fn of_server(&self) -> impl Iterator<Item = &Said<'f>> {
        self.said.iter().filter(|it| !it.is_client())
    }

    /// Where the server says at first what is of these kinds.
    fn begins_with(&self, kinds: &HashSet<u64>) -> HashSet<usize> {
        let first = self.of_server().take_while(|said| kinds.contains(&said.kind));
        first.map(|said| said.at).collect()
    }

    fn but(&self, aside: &HashSet<usize>) -> Vec<Said<'f>> {
        self.said.iter().filter(|said| !aside.contains(&said.at)).copied().collect()
    }

    /// Whether the client left meanwhile, and all of that had been said since it spoke last.
    fn has_left(&self, rest: &[Said<'_>]) -> bool {
        let is_closed = self.close.is_some_and(|close| close.from == Peer::Client);
        let spoke = self.said.iter().rposition(Said::is_client).map_or(0, |at| at + 1);
        let first = rest.first().map_or(0, |said| said.at);
        let heard: HashSet<u64> = self.said[spoke..]
            .iter()
            .take_while(|said| said.at < first)
            .map(|said| said.kind)
            .collect();
        is_closed && rest.iter().all(|said| !said.is_client() && heard.contains(&said.kind))
    }
}
