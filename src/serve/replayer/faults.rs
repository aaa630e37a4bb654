//! Which faults are given to which requests.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use super::Replayer;
use super::chunking::random;
use super::recorded::Recorded;
use super::spoil::{Blow, Room};
use crate::cassette::reading::header;
use crate::cassette::{Request, target};
use crate::config::Fault;
use crate::serve::lock;

/// The faults of a run, and what they were given to.
#[derive(Debug)]
pub(super) struct Faults {
    list: Vec<Fault>,
    given: Mutex<InjectedFaults>,
}

#[derive(Debug, Default)]
struct InjectedFaults {
    /// How often each request came that a fault means, by the fault, and how often it got the fault.
    counts: HashMap<(usize, u64), Count>,
    /// The calls that a fault was given to.
    calls: Vec<Call>,
    /// Those that are still tried again, with how often nothing of the recording was given.
    open: HashMap<u64, (usize, u32)>,
    met: Vec<bool>,
    /// When each call was tried last.
    last: HashMap<u64, Instant>,
}

#[derive(Debug, Default)]
struct Count {
    tried: u64,
    given: usize,
}

/// A request that got a fault, and how often the client tried it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// `GET`, `POST`, …
    pub method: String,
    /// What was asked for, without the query.
    pub path: String,
    /// What came of each attempt.
    pub attempts: Vec<Attempt>,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// How long it came after the one before.
    pub gap: Duration,
    /// The fault that it got; nothing if it was answered as it was recorded.
    pub fault: Option<String>,
}

impl Replayer {
    /// Lets these go wrong.
    pub fn with_faults(mut self, faults: Vec<Fault>) -> Self {
        self.faults = (!faults.is_empty()).then(|| Box::new(Faults::new(faults)));
        self
    }

    /// The calls that went wrong on purpose.
    pub fn spoiled(&self) -> Vec<Call> {
        self.faults.as_ref().map(|faults| faults.calls()).unwrap_or_default()
    }

    /// The faults, and whether each met a request.
    pub fn faults(&self) -> impl Iterator<Item = (String, bool)> {
        self.faults.iter().flat_map(|faults| faults.met())
    }
}

impl Recorded {
    /// What there is in the answer of an exchange that can go wrong.
    pub(super) fn room(&self, exchange: usize) -> Room {
        match self.script(exchange) {
            Some(script) => Room::in_socket(script),
            None => {
                let response = self.played().interactions[exchange].response();
                response.map(Room::in_answer).unwrap_or_default()
            }
        }
    }
}

impl Faults {
    pub(super) fn new(list: Vec<Fault>) -> Self {
        let given = InjectedFaults { met: vec![false; list.len()], ..InjectedFaults::default() };
        Self { list, given: Mutex::new(given) }
    }

    /// What is to go wrong with the answer of an interaction to a request.
    pub(super) fn inject(&self, request: &Request, interaction: usize, room: Room) -> Option<Blow> {
        let key = key_of(request);
        let (origin, path) = target::split(&request.path);
        let path = if origin.is_empty() { &request.path } else { path };
        let mut given = lock(&self.given);
        for (at, fault) in self.list.iter().enumerate() {
            if !fault.fits(&request.method, path, interaction) {
                continue;
            }
            let count = given.counts.entry((at, key)).or_default();
            count.tried += 1;
            let mut state = fault.seed ^ line_of(request) ^ count.tried;
            let is_due = fault.times.is_none_or(|times| count.given < times)
                && random(&mut state) % 100 < fault.chance;
            let blow = if is_due { Blow::of(&fault.harm, room, &mut state) } else { None };
            if let Some(blow) = blow {
                count.given += 1;
                given.met[at] = true;
                given.note(key, request, Some(fault.what()));
                if blow.is_instead() {
                    given
                        .open
                        .get_mut(&key)
                        .into_iter()
                        .for_each(|(_, unanswered)| *unanswered += 1);
                }
                return Some(blow);
            }
        }
        given.note(key, request, None);
        None
    }

    /// Takes attempts that got nothing of the recording off the number that a client tells: its next one
    /// is the first for the recording.
    pub(super) fn discount(&self, request: &mut Request) {
        let given = lock(&self.given);
        let Some((_, unanswered)) = given.open.get(&key_of(request)) else { return };
        for (name, value) in request.headers.iter_mut() {
            if header::counts_attempts(name)
                && let Some(told) = std::str::from_utf8(value).ok().and_then(|it| it.parse().ok())
            {
                *value = u32::saturating_sub(told, *unanswered).to_string().into();
            }
        }
    }

    /// The calls that faults were given to.
    pub(super) fn calls(&self) -> Vec<Call> {
        lock(&self.given).calls.clone()
    }

    /// The faults that met no request, and those that did.
    pub(super) fn met(&self) -> impl Iterator<Item = (String, bool)> {
        let met = lock(&self.given).met.clone();
        self.list.iter().map(Fault::to_string).zip(met)
    }

    /// Lets the run begin anew. What was given stays told.
    pub(super) fn reset(&self) {
        let mut given = lock(&self.given);
        given.counts.clear();
        given.open.clear();
    }
}

impl InjectedFaults {
    /// Notes an attempt at a call that got a fault, now or before.
    fn note(&mut self, key: u64, request: &Request, fault: Option<&str>) {
        let open = self.open.get(&key).map(|(at, _)| *at);
        let at = match (open, fault) {
            (Some(at), _) => at,
            (None, None) => return,
            (None, Some(_)) => {
                let path = request.path_only().to_owned();
                let method = request.method.clone();
                self.calls.push(Call { method, path, attempts: Vec::new() });
                self.open.insert(key, (self.calls.len() - 1, 0));
                self.calls.len() - 1
            }
        };
        let now = Instant::now();
        let last = self.last.insert(key, now).filter(|_| open.is_some()).unwrap_or(now);
        let fault = fault.map(str::to_owned);
        if fault.is_none() {
            self.open.remove(&key);
        }
        self.calls[at].attempts.push(Attempt { gap: now - last, fault });
    }
}

/// The same for each attempt at a call.
fn key_of(request: &Request) -> u64 {
    hash(&[request.method.as_bytes(), request.path.as_bytes(), &request.body])
}

/// The same in each run, whatever the client makes up in its body.
fn line_of(request: &Request) -> u64 {
    hash(&[request.method.as_bytes(), request.path_only().as_bytes()])
}

/// FNV-1a: the seed means the same in each release.
fn hash(parts: &[&[u8]]) -> u64 {
    let parts = parts.iter().flat_map(|part| part.iter().chain(&[0]));
    parts.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
