//! What a server says over a WebSocket that is about nothing that its client has said there.
//!
//! # Rationale
//!
//! Some servers tell each client what they do for another, and one that comes while a server is at something hears
//! the rest of it. How much a client hears of that is a matter of when it came and left. So where both recordings
//! have such messages of one kind, there are as many as before, and where they stood. Of a kind that is in one
//! alone, each is a difference.

use std::collections::{HashMap, HashSet};

use super::channels::moved_ids;
use super::message::Message;
use crate::cassette::{Cassette, Frame, Interaction, Outcome};
use crate::compare::alignment::Script;

/// What is foreign in the old recording, set aside.
#[derive(Debug)]
pub(super) struct Foreign {
    /// The old recording without it.
    pub(super) old: Cassette,
    /// The messages of each WebSocket, by its number in the new recording, behind how many others they stood.
    aside: HashMap<usize, Vec<(usize, Frame)>>,
}

impl Foreign {
    /// Sets it aside on WebSockets that are the same, in both recordings.
    pub(super) fn apart(
        old: &Cassette,
        new: &mut Cassette,
        sockets: &[(usize, usize)],
    ) -> Option<Self> {
        let [before, now] = [old, &*new].map(|it| said(it, |_| 0));
        let kinds = |said: &[Vec<Message>]| -> HashSet<u64> {
            said.iter().flatten().filter(|it| !it.is_client).map(|it| it.kind).collect()
        };
        let (were, are) = (kinds(&before), kinds(&now));
        let (mut olds, mut news) = (foreign(&before), foreign(&now));
        for (aside, said, others) in [(&mut olds, &before, &are), (&mut news, &now, &were)] {
            for (aside, said) in aside.iter_mut().zip(said) {
                aside.retain(|at| others.contains(&said[*at].kind));
            }
        }
        let paired = |side: fn(&(usize, usize)) -> usize| -> HashSet<usize> {
            sockets.iter().map(side).collect()
        };
        for (aside, paired) in [(&mut olds, paired(|it| it.0)), (&mut news, paired(|it| it.1))] {
            let alone = (0..aside.len()).filter(|number| !paired.contains(number));
            alone.for_each(|number| aside[number].clear());
        }
        if olds.iter().chain(&news).all(Vec::is_empty) {
            return None;
        }
        let frames = |(was, is): &(usize, usize)| {
            let frames = old.interactions[*was].frames();
            let numbered = olds[*was].iter().enumerate();
            let aside = numbered.map(|(before, at)| (at - before, frames[*at].clone()));
            Some((*is, aside.collect()))
        };
        let aside = sockets.iter().filter_map(frames).collect();
        let mut rest = old.clone();
        take_out(&mut rest, &olds);
        take_out(new, &news);
        Some(Self { old: rest, aside })
    }

    /// Puts the old ones back. `sockets` tells which interaction is which WebSocket of the new recording.
    pub(super) fn put_back(
        mut self,
        interactions: &mut [Interaction],
        sockets: &HashMap<usize, usize>,
    ) {
        for (number, socket) in sockets {
            let Some(aside) = self.aside.remove(socket) else { continue };
            for progress in interactions.iter_mut().flat_map(|it| &mut it.after) {
                if progress.interaction == *number {
                    let come = aside.iter().filter(|(place, _)| *place < progress.chunks);
                    progress.chunks += come.count();
                }
            }
            let Outcome::Response(response) = &mut interactions[*number].outcome else { continue };
            let messages = response.frames.iter().filter(|it| it.message().is_some()).count();
            for (place, frame) in aside.into_iter().rev() {
                response.frames.insert(place.min(messages), frame);
            }
        }
    }
}

/// The messages of each interaction; `look` hashes what one says.
pub(super) fn said(
    cassette: &Cassette,
    look: impl Fn(&mut Script) -> u64 + Copy,
) -> Vec<Vec<Message>> {
    cassette.interactions.iter().map(|it| Message::all(it.frames(), look)).collect()
}

/// Takes messages out, of each interaction those of these numbers.
fn take_out(cassette: &mut Cassette, aside: &[Vec<usize>]) {
    let before = |number: usize, at: usize| aside[number].iter().filter(|it| **it < at).count();
    for interaction in &mut cassette.interactions {
        for progress in &mut interaction.after {
            progress.chunks -= before(progress.interaction, progress.chunks);
        }
    }
    for (number, aside) in aside.iter().enumerate().filter(|(_, aside)| !aside.is_empty()) {
        if let Outcome::Response(response) = &mut cassette.interactions[number].outcome {
            let mut at = 0..;
            response
                .frames
                .retain(|_| at.next().is_some_and(|at| aside.binary_search(&at).is_err()));
        }
        if let Some(ids) = &mut cassette.ids {
            moved_ids(ids, number, |frame| Some(frame - before(number, frame)));
        }
    }
}

/// The numbers of the messages of each connection that are foreign there.
fn foreign(sockets: &[Vec<Message>]) -> Vec<Vec<usize>> {
    let (clients, asked) = (Clients::of(sockets), Vocabulary::of(sockets));
    let found = sockets.iter().enumerate().map(|(socket, said)| {
        let nobody = asked.by_nobody(said);
        let servers = said.iter().enumerate().filter(|(_, message)| !message.is_client);
        let foreign = servers
            .filter(|(at, message)| nobody.contains(at) || clients.is_of_another(message, socket));
        foreign.map(|(at, _)| at).collect()
    });
    found.collect()
}

/// The connection of the client that alone has named something, by what that is.
struct Clients<'m>(HashMap<&'m str, Option<usize>>);

impl<'m> Clients<'m> {
    fn of(sockets: &'m [Vec<Message>]) -> Self {
        let mut sayers: HashMap<&str, Option<usize>> = HashMap::new();
        for (socket, said) in sockets.iter().enumerate() {
            for name in said.iter().filter(|it| it.is_client).flat_map(|it| &it.names) {
                let sayer = sayers.entry(name).or_insert(Some(socket));
                *sayer = sayer.filter(|sayer| *sayer == socket);
            }
        }
        Self(sayers)
    }

    /// Whether a message names what one client alone has named, and that is the one of another connection.
    fn is_of_another(&self, message: &Message, socket: usize) -> bool {
        let mut sayers = message.names.iter().filter_map(|name| *self.0.get(&**name)?);
        let first = sayers.next().filter(|first| *first != socket);
        first.is_some_and(|first| sayers.all(|sayer| sayer == first))
    }
}

/// What clients have asked, as far as answers name it.
struct Vocabulary<'m> {
    /// What clients have said.
    said: HashSet<&'m str>,
    /// The places in which answers name what clients have made up.
    references: HashSet<&'m str>,
    /// What servers have said elsewhere.
    issued: HashSet<&'m str>,
}

impl<'m> Vocabulary<'m> {
    fn of(sockets: &'m [Vec<Message>]) -> Self {
        let mut made_up: HashSet<&str> = HashSet::new();
        for said in sockets {
            let mut heard: HashSet<&str> = HashSet::new();
            for message in said {
                let values = message.values.iter().map(|(_, value)| &**value);
                if message.is_client {
                    made_up.extend(values.filter(|value| !heard.contains(value)));
                } else {
                    heard.extend(values);
                }
            }
        }
        let values = |is_client: bool| {
            let messages = sockets.iter().flatten().filter(move |it| it.is_client == is_client);
            messages.flat_map(|it| &it.values).map(|(place, value)| (&**place, &**value))
        };
        let references = values(false).filter(|(_, value)| made_up.contains(value));
        let references: HashSet<&str> = references.map(|(place, _)| place).collect();
        let issued = values(false).filter(|(place, _)| !references.contains(place));
        let issued = issued.map(|(_, value)| value).collect();
        Self { said: values(true).map(|(_, value)| value).collect(), references, issued }
    }

    /// The numbers of the messages of a server that answer something which nobody here has asked. They came before
    /// the client said a second thing: the server was at something when that came.
    fn by_nobody(&self, said: &[Message]) -> HashSet<usize> {
        let clients = said.iter().enumerate().filter(|(_, message)| message.is_client);
        let second = clients.map(|(at, _)| at).nth(1).unwrap_or(said.len());
        let is_unasked = |message: &Message| {
            message.values.iter().any(|(place, value)| {
                self.references.contains(&**place)
                    && !self.said.contains(&**value)
                    && !self.issued.contains(&**value)
            })
        };
        let servers = said[..second].iter().enumerate().filter(|(_, message)| !message.is_client);
        servers.filter(|(_, message)| is_unasked(message)).map(|(at, _)| at).collect()
    }
}
