//! The recorded interaction that is most alike.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::route::{Route, sort};
use super::{Asked, Index, Playlist};
use crate::cassette::reading::Reading;
use crate::cassette::{Cassette, Request};
use crate::compare::difference::{Differences, compare};
use crate::compare::recorded::Recorded;
use crate::identity::names::Opening;
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// What is looked through.
#[derive(Clone, Copy)]
pub(super) struct Library<'a> {
    pub(super) cassette: &'a Cassette,
    pub(super) index: &'a Index,
    pub(super) playlist: &'a Playlist,
}

/// An interaction and how alike it is, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankedInteraction {
    pub(super) interaction: usize,
    pub(super) alike: u32,
}

/// So many interactions of each sort are looked at: a miss must be told within a moment.
const LOOKS: usize = 12;

/// So many bytes of theirs, if there are more than two.
const BYTES: usize = 1 << 20;

/// So many messages are read to find out what they call.
const CALLS: usize = 1000;

/// So many other requests are told.
const OTHERS: usize = 5;

/// An interaction that was looked at.
#[derive(Debug)]
struct Look {
    found: RankedInteraction,
    /// Whether its request is the same but for what is open.
    is_same: bool,
    /// Whether it was not played yet.
    fresh: bool,
    /// How far it is apart.
    apart: usize,
}

impl Look {
    /// The highest is the nearest.
    fn rank(&self) -> impl Ord + use<> {
        let apart = self.apart * if self.fresh { 2 } else { 3 };
        let next = self.fresh && self.apart == 0;
        let RankedInteraction { interaction, alike } = self.found;
        (self.is_same, Reverse(apart), next, alike, self.fresh, Reverse(interaction))
    }
}

/// The interactions of a cassette by where their requests go.
#[derive(Debug)]
pub(super) struct Routes(Vec<Same>);

/// Interactions whose requests go to the same sort of thing.
#[derive(Debug)]
struct Same {
    /// The first of them.
    first: usize,
    all: Vec<usize>,
    by_path: HashMap<String, Vec<usize>>,
}

impl Routes {
    pub(super) fn of(cassette: &Cassette) -> Self {
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        let mut routes: Vec<Same> = Vec::new();
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let path = interaction.request.path_only();
            let key = (interaction.request.method.clone(), sort(path));
            let at = *known.entry(key).or_insert(routes.len());
            if at == routes.len() {
                routes.push(Same { first: number, all: Vec::new(), by_path: HashMap::new() });
            }
            routes[at].all.push(number);
            routes[at].by_path.entry(path.to_owned()).or_default().push(number);
        }
        Self(routes)
    }
}

impl Library<'_> {
    /// The interaction that is most alike, if one is about the same thing at all.
    ///
    /// # Rationale
    ///
    /// Method and path say what a request is about, so they come first: another method costs as much
    /// as two and a half segments (one of `PATCH`, `POST`, `PUT` for another less than one), another
    /// number or identifier in the path nearly nothing. Among the interactions that are equally near by
    /// that, the fewest differences decide, since those are what is shown. What was played before is as
    /// near as one that differs in half as much again: of about equally near ones it is rather what
    /// comes next that is meant. A share of what both have does not tell that: it is about the same for
    /// all where bodies are large.
    ///
    /// However large the cassette is, only some of them are looked at: those with the same key, those
    /// that come next, those whose body is about as long, and the last ones that were played.
    pub(super) fn nearest(
        &self,
        asked: &Asked<'_>,
        request: &Request,
    ) -> Option<RankedInteraction> {
        let same: Vec<usize> =
            self.index.candidates(asked).flat_map(|same| same.iter().take(LOOKS)).collect();
        let near = self.near(request);
        let is_related = |number: &usize| Route::of(request).is_related(self.request(*number));
        let near = self.of_call(near, request);
        if same.is_empty() && !near.first().is_some_and(is_related) {
            return None;
        }
        let mut bytes = 0;
        let worth = self.worth_a_look(request, near, &same).into_iter().enumerate();
        let worth = worth.take_while(|(at, number)| {
            bytes += self.request(*number).body.len() + request.body.len();
            *at < 2 || bytes <= BYTES
        });
        let looks = worth.map(|(_, interaction)| {
            let found = self.compared(interaction, asked);
            Look {
                is_same: found.listed.is_empty(),
                fresh: !self.playlist.was_played(interaction),
                apart: found.weight,
                found: RankedInteraction { interaction, alike: alike(&found) },
            }
        });
        looks.max_by_key(Look::rank).map(|look| look.found)
    }

    /// What differs between a recorded request and what is asked.
    pub(super) fn compared(&self, interaction: usize, asked: &Asked<'_>) -> Differences {
        self.with_recorded(self.request(interaction), interaction, |recorded, _| {
            compare(recorded, &asked.reading)
        })
    }

    /// Reads the request of an interaction, and what in it is open.
    pub(super) fn with_recorded<T>(
        &self,
        request: &Request,
        interaction: usize,
        work: impl FnOnce(&Recorded<'_, '_>, &[Opening]) -> T,
    ) -> T {
        let body = request.readable();
        let reading = Reading::of(request, &body, self.index.rules());
        let openings = self.index.names().openings(&reading, interaction);
        work(&Recorded::new(&reading, &openings), &openings)
    }

    /// Those of interactions that call what a request calls. What calls something else in JSON-RPC is about something
    /// else, as a request to another path is.
    fn of_call(&self, mut near: Vec<usize>, request: &Request) -> Vec<usize> {
        let body = request.readable();
        let Some(method) = called(&body) else { return near };
        let word = format!("\"{method}\"");
        let finder = memchr::memmem::Finder::new(word.as_bytes());
        // To read each of many bodies would take too long.
        near.retain(|number| finder.find(&self.request(*number).readable()).is_some());
        near.truncate(CALLS);
        near.retain(|number| called(&self.request(*number).readable()) == Some(method.clone()));
        near
    }

    /// What other interactions call of which the path is the same, each once.
    fn other_calls(&self, asked: &Request) -> Vec<usize> {
        let mut known = HashSet::new();
        let mut numbers = self.near(asked);
        numbers.truncate(CALLS);
        numbers.retain(|number| {
            let call = called(&self.request(*number).readable()).map(Cow::into_owned);
            call.is_some_and(|call| known.insert(call))
        });
        numbers.truncate(OTHERS);
        numbers
    }

    /// Requests about other things, each sort once, the nearest first: those with the same method, or
    /// if there are none any.
    pub(super) fn others(&self, asked: &Request) -> Vec<usize> {
        if called(&asked.readable()).is_some() {
            let calls = self.other_calls(asked);
            if !calls.is_empty() {
                return calls;
            }
        }
        let route = Route::of(asked);
        let firsts = self.index.routes(self.cassette).0.iter().map(|same| same.first);
        let same_method = |number: &usize| self.request(*number).method == asked.method;
        let mut numbers: Vec<usize> = firsts.clone().filter(same_method).collect();
        if numbers.is_empty() {
            numbers = firsts.collect();
        }
        numbers.sort_by_cached_key(|number| route.distance(self.request(*number)));
        numbers.truncate(OTHERS);
        numbers
    }

    pub(super) fn request(&self, interaction: usize) -> &Request {
        &self.cassette.interactions[interaction].request
    }

    /// The interactions that are nearest by method and path.
    fn near(&self, asked: &Request) -> Vec<usize> {
        let route = Route::of(asked);
        let routes = &self.index.routes(self.cassette).0;
        let here = |same: &Same| same.by_path.contains_key(asked.path_only());
        let distance = |same: &Same| route.distance_of_sort(self.request(same.first));
        let Some(closest) = routes.iter().map(|it| (distance(it), !here(it))).min() else {
            return Vec::new();
        };
        let closest = routes.iter().filter(|same| (distance(same), !here(same)) == closest);
        let mut near: Vec<usize> = closest
            .flat_map(|same| same.by_path.get(asked.path_only()).unwrap_or(&same.all))
            .copied()
            .collect();
        near.sort_unstable();
        near
    }

    fn worth_a_look(&self, asked: &Request, near: Vec<usize>, same: &[usize]) -> Vec<usize> {
        let played = |number: &&usize| self.playlist.was_played(**number);
        let mut chosen: Vec<usize> = Vec::with_capacity(5 * LOOKS);
        chosen.extend(same.iter().filter(|number| !played(number)).take(LOOKS));
        chosen.extend(same.iter().rev().take(LOOKS));
        chosen.extend(near.iter().filter(|number| !played(number)).take(LOOKS));
        chosen.extend(near.iter().rev().filter(played).take(LOOKS));
        let length = |number: &usize| self.request(*number).body.len().abs_diff(asked.body.len());
        let mut by_length = near;
        if by_length.len() > LOOKS {
            by_length.select_nth_unstable_by_key(LOOKS, |number| (length(number), *number));
            by_length.truncate(LOOKS);
        }
        chosen.extend(by_length);
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}

/// What a message of JSON-RPC calls, or which operation of GraphQL is asked for.
pub fn called(body: &[u8]) -> Option<Cow<'_, str>> {
    let message = Text::parse_container(body)?;
    if let Some(call) = Envelope::of(message).filter(Envelope::is_certain) {
        return call.method;
    }
    // A query that the server knows is named by its hash.
    let is_operation = ["query", "extensions"].iter().any(|name| message.get(name).is_some());
    message.get("operationName").filter(|_| is_operation).and_then(Text::string)
}

/// The share of values that both have, in thousandths.
fn alike(found: &Differences) -> u32 {
    let all = found.same + found.apart();
    (1000 * found.same).checked_div(all).map_or(1000, |share| share as u32)
}
