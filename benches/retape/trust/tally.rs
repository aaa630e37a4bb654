//! What became of the contracts of one protocol, counted.

use std::collections::{BTreeMap, BTreeSet};

use retape::cassette::Outcome;
use retape::contract::{Contract, Endpoint, Finding};
use retape::message::Protocols;
use retape::review::change::{self, Checked, Known};
use retape::{Cassette, Name};

use super::Size;
use super::claims::{self, Claim, Count, Found, Level};
use super::grammar::Protocol;
use super::talk::{Session, Talk};
use crate::dice::Random;

/// What was counted.
#[derive(Default)]
pub struct Tally {
    pub fresh: Fresh,
    /// Illegal conversations by their edit: all, and those that are refused.
    pub edits: BTreeMap<&'static str, (usize, usize)>,
    /// Illegal conversations that are accepted: their edit, and what it did.
    pub missed: Vec<(&'static str, String)>,
    /// Recorded again: the same scenarios, and others.
    pub same: Rounds,
    pub other: Rounds,
    pub claims: BTreeMap<Claim, Count>,
    /// What was broken by fresh conversations, by claim: how many of them, and the first in words.
    pub alarms: BTreeMap<Site, (usize, String)>,
}

/// A claim of a contract.
pub type Site = (Claim, Endpoint, String);

/// Fresh conversations.
#[derive(Default)]
pub struct Fresh {
    pub all: usize,
    /// Nothing is broken and nothing unproven.
    pub accepted: usize,
    /// Nothing is broken, something is unproven.
    pub unproven: usize,
    /// Something was never seen: an endpoint.
    pub new: usize,
    /// Nothing is broken, and a type of message or a word stands there that no recording has: whatever is
    /// learned from them, this is not proved.
    pub unheard: usize,
    /// How many are broken by claims of a kind, and how many of the others these leave unproven.
    pub broken_by: BTreeMap<Claim, usize>,
    pub unproven_by: BTreeMap<Claim, usize>,
}

/// Times that all was recorded again.
#[derive(Default)]
pub struct Rounds {
    pub all: usize,
    pub broken: usize,
    /// Nothing is broken, something is unproven.
    pub unproven: usize,
    /// How many are broken by claims of a kind.
    pub broken_by: BTreeMap<Claim, usize>,
    /// What was broken: how many times, and the first in words.
    pub alarms: BTreeMap<Site, (usize, String)>,
}

/// What scenarios are for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Learning,
    Fresh,
    Round(usize),
}

impl Tally {
    /// Learns a protocol from so many recordings, as often as there are samples, and tries it.
    pub fn of(protocol: &Protocol, recordings: usize, size: Size) -> Self {
        let mut tally = Self::default();
        for sample in 0..size.samples {
            let record = |purpose: Purpose, count: usize, run: u64| -> Vec<Session> {
                let numbers = (0..count).map(|number| seed(protocol, sample, purpose, number));
                numbers.map(|seed| Talk::record(seed, run, protocol.say)).collect()
            };
            let first = record(Purpose::Learning, recordings, 0);
            let fresh = record(Purpose::Fresh, size.fresh, 0);
            for session in first.iter().chain(&fresh) {
                assert!(protocol.allows(session), "{} says something illegal", protocol.name);
            }
            let learned = Learned::of(&first);
            tally.check_fresh(&learned, &fresh);
            tally.check_illegal(protocol, &learned, &fresh, &mut Random(sample as u64));
            for round in 0..size.rounds {
                let run = 1 + round as u64;
                tally.same.count(&learned.found(&record(Purpose::Learning, recordings, run)));
                let other = record(Purpose::Round(round), recordings, run);
                tally.other.count(&learned.found(&other));
            }
        }
        tally
    }

    /// Checks each by itself.
    fn check_fresh(&mut self, learned: &Learned, fresh: &[Session]) {
        let mut sites: BTreeMap<Site, (usize, String)> = BTreeMap::new();
        for session in fresh {
            let findings = check([session], &learned.contracts);
            let is_new = |finding: &Finding| matches!(finding, Finding::New(_));
            let found = learned.found([session]);
            self.fresh.all += 1;
            self.fresh.new += usize::from(findings.iter().any(is_new));
            match worst(&found) {
                None => self.fresh.accepted += 1,
                Some(Level::Unproven) => {
                    self.fresh.unproven += 1;
                    self.fresh.unheard += usize::from(found.keys().any(|found| found.is_unheard));
                    count_kinds(&found, Level::Unproven, &mut self.fresh.unproven_by);
                }
                Some(Level::Broken) => {}
            }
            count_kinds(&found, Level::Broken, &mut self.fresh.broken_by);
            for broken in found.into_keys() {
                let site = (broken.claim, broken.endpoint, broken.site);
                sites.entry(site).or_insert((0, broken.what)).0 += 1;
            }
        }
        let mut claims = claims::learned(&learned.contracts);
        sites.keys().for_each(|(claim, ..)| claims.entry(*claim).or_default().broken += 1);
        for (claim, Count { all, of_data, broken }) in claims {
            let sum = self.claims.entry(claim).or_default();
            *sum = Count {
                all: sum.all + all,
                of_data: sum.of_data + of_data,
                broken: sum.broken + broken,
            };
        }
        for (site, (count, what)) in sites {
            self.alarms.entry(site).or_insert((0, what)).0 += count;
        }
    }

    fn check_illegal(
        &mut self,
        protocol: &Protocol,
        learned: &Learned,
        fresh: &[Session],
        random: &mut Random,
    ) {
        for session in fresh {
            let Some(illegal) = protocol.illegal(session, fresh, random) else { continue };
            let mut changed = session.clone();
            let interaction = &mut changed.cassette.interactions[illegal.interaction];
            if let Outcome::Response(response) = &mut interaction.outcome {
                response.body = illegal.body;
            }
            let [was, is] = [session, &changed].map(|session| learned.found([session]));
            let is_new = |(found, count): (&Found, &usize)| {
                was.get(found).copied().unwrap_or_default() < *count
            };
            let (all, refused) = self.edits.entry(illegal.edit).or_default();
            *all += 1;
            if is.iter().any(is_new) {
                *refused += 1;
            } else {
                self.missed.push((illegal.edit, illegal.what));
            }
        }
    }
}

impl Rounds {
    fn count(&mut self, found: &BTreeMap<Found, usize>) {
        self.all += 1;
        count_kinds(found, Level::Broken, &mut self.broken_by);
        for broken in found.keys().filter(|found| found.level == Level::Broken) {
            let site = (broken.claim, broken.endpoint.clone(), broken.site.clone());
            self.alarms.entry(site).or_insert_with(|| (0, broken.what.clone())).0 += 1;
        }
        match worst(found) {
            None => {}
            Some(Level::Unproven) => self.unproven += 1,
            Some(Level::Broken) => self.broken += 1,
        }
    }
}

fn worst(found: &BTreeMap<Found, usize>) -> Option<Level> {
    found.keys().map(|found| found.level).max()
}

/// Counts each kind of claim once by which something is broken, or unproven.
fn count_kinds(found: &BTreeMap<Found, usize>, level: Level, kinds: &mut BTreeMap<Claim, usize>) {
    let broken = found.keys().filter(|found| found.level == level);
    for claim in broken.map(|found| found.claim).collect::<BTreeSet<_>>() {
        *kinds.entry(claim).or_default() += 1;
    }
}

/// The seed of a scenario.
fn seed(protocol: &Protocol, sample: usize, purpose: Purpose, number: usize) -> u64 {
    let (purpose, round) = match purpose {
        Purpose::Learning => (1, 0),
        Purpose::Fresh => (2, 0),
        Purpose::Round(round) => (3, round),
    };
    let name = protocol.name.bytes().fold(7_u64, |sum, byte| Random(sum ^ u64::from(byte)).next());
    let parts = [sample, purpose, round, number];
    parts.iter().fold(name, |sum, part| Random(sum ^ *part as u64).next())
}

/// Contracts, learned from conversations.
struct Learned {
    contracts: Vec<Contract>,
    /// The same with one order for all cases.
    unguarded: Vec<Contract>,
}

impl Learned {
    fn of(sessions: &[Session]) -> Self {
        let contracts = check(sessions, &[]).into_iter().filter_map(|found| match found {
            Finding::New(contract) => Some(contract),
            _ => None,
        });
        let contracts: Vec<Contract> = contracts.collect();
        let unguarded = contracts.iter().map(claims::unguarded).collect();
        Self { contracts, unguarded }
    }

    /// What is not as learned. An order that only another case has is broken by the guard.
    fn found<'a>(
        &self,
        sessions: impl IntoIterator<Item = &'a Session> + Clone,
    ) -> BTreeMap<Found, usize> {
        let broken = found(sessions.clone(), &self.contracts);
        if !broken.keys().any(|found| found.claim == Claim::Case) {
            return broken;
        }
        let left = found(sessions, &self.unguarded);
        let is_left = |endpoint: &Endpoint| {
            left.keys().any(|found| found.claim == Claim::Order && found.endpoint == *endpoint)
        };
        let judged = broken.into_iter().map(|(found, count)| match found.claim {
            Claim::Case if !is_left(&found.endpoint) => {
                (Found { claim: Claim::Guard, ..found }, count)
            }
            _ => (found, count),
        });
        judged.collect()
    }
}

fn found<'a>(
    sessions: impl IntoIterator<Item = &'a Session>,
    contracts: &[Contract],
) -> BTreeMap<Found, usize> {
    claims::found(&checked(sessions, contracts).report, contracts)
}

fn check<'a>(
    sessions: impl IntoIterator<Item = &'a Session>,
    accepted: &[Contract],
) -> Vec<Finding> {
    checked(sessions, accepted).findings
}

/// As `retape check` does it.
fn checked<'a>(sessions: impl IntoIterator<Item = &'a Session>, accepted: &[Contract]) -> Checked {
    let name = |number: u32| Name::new(format!("session-{number}")).expect("it is a name");
    let named = (0..).zip(sessions).map(|(number, it)| (name(number), it.cassette.clone()));
    let cassettes: Vec<(Name, Cassette)> = named.collect();
    let recorded = Known { name: "now", path: "cassettes", cassettes: &cassettes, accepted };
    change::check(&Protocols::default(), recorded)
}
