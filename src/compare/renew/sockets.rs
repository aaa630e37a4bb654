//! Which WebSocket of an old recording is which of a new one.

use std::collections::HashMap;

use super::foreign::said;
use super::message::Message;
use crate::cassette::{Cassette, Interaction};
use crate::compare::alignment::route;

/// The WebSockets that are the same in both recordings, old and new: those of the same address on which the client
/// says the same, then those on which it does, then the first with the first. Those of the new one that were opened at
/// once stand in their old order afterwards.
pub(super) fn pairs(old: &Cassette, new: &mut Cassette) -> Vec<(usize, usize)> {
    let [mut olds, news] = [old, &*new].map(sockets);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let ways: [fn(&Socket, &Socket) -> bool; 3] = [
        |one, other| one.path == other.path && one == other,
        |one, other| one == other,
        |one, other| one.route == other.route,
    ];
    for is_same in ways {
        for new in &news {
            if pairs.iter().all(|(_, number)| *number != new.number)
                && let Some(at) = olds.iter().position(|old| is_same(old, new))
            {
                pairs.push((olds.remove(at).number, new.number));
            }
        }
    }
    pairs.sort_by_key(|(_, new)| *new);
    let mut at = 1;
    while at < pairs.len() {
        let ((one, first), (other, second)) = (pairs[at - 1], pairs[at]);
        if one > other && are_at_once(new, first, second) {
            swap(new, first, second);
            (pairs[at - 1], pairs[at]) = ((other, first), (one, second));
            at = 0;
        }
        at += 1;
    }
    pairs
}

/// A WebSocket, as far as its client tells which it is.
#[derive(Debug)]
struct Socket {
    number: usize,
    path: String,
    route: u64,
    /// The kinds of what the client says.
    said: Vec<u64>,
}

impl PartialEq for Socket {
    fn eq(&self, other: &Self) -> bool {
        (self.route, &self.said) == (other.route, &other.said)
    }
}

fn sockets(cassette: &Cassette) -> Vec<Socket> {
    let said = said(cassette, |_| 0).into_iter().zip(&cassette.interactions).enumerate();
    let sockets = said.filter(|(_, (_, interaction))| interaction.is_socket());
    let socket = |(number, (said, interaction)): (usize, (Vec<_>, &Interaction))| {
        let clients = said.iter().filter(|it: &&Message| it.is_client);
        let said = clients.map(|message| message.kind).collect();
        Socket { number, path: interaction.request.path.clone(), route: route(interaction), said }
    };
    sockets.map(socket).collect()
}

/// Whether of two WebSockets the second was opened before anything was said on the first.
fn are_at_once(cassette: &Cassette, first: usize, second: usize) -> bool {
    let mut after = cassette.interactions[second].after.iter();
    second == first + 1 && after.any(|it| it.interaction == first && it.chunks == 0)
}

/// Lets two interactions change places, but not what was under way when each began.
fn swap(cassette: &mut Cassette, first: usize, second: usize) {
    let now = HashMap::from([(first, second), (second, first)]);
    let moved = |number: &mut usize| *number = now.get(number).copied().unwrap_or(*number);
    let [one, other] = [first, second].map(|it| cassette.interactions[it].after.clone());
    cassette.interactions.swap(first, second);
    for later in &mut cassette.interactions[second + 1..] {
        later.after.iter_mut().for_each(|progress| moved(&mut progress.interaction));
        later.after.sort_by_key(|progress| progress.interaction);
    }
    cassette.interactions[first].after = one;
    cassette.interactions[second].after = other;
    if let Some(ids) = &mut cassette.ids {
        let names = ids.client.iter_mut().chain(&mut ids.server);
        names.for_each(|id| moved(&mut id.interaction));
    }
}
