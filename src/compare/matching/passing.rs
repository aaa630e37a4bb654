//! What a client makes up for one question, and never says again.

use std::collections::{HashMap, HashSet};

use super::groups::Groups;
use super::index::Entry;
use crate::cassette::{Cassette, Response};
use crate::identity::{Hole, Words, each_text, plain};

/// The open places, by the group, in which each of several questions said another value that nobody else said:
/// `?t=8f3a9c2b`, against caches.
///
/// # Rationale
///
/// Who asks once more under another name begins anew, and is another one. But such a value names nothing: no answer
/// held it, and no other request. So who asks with a fresh one asks the same again, as polls do.
#[derive(Debug, Default)]
pub(super) struct Passing(HashSet<OpenPlace, foldhash::fast::FixedState>);

/// A group and a place in its requests.
type OpenPlace = (u64, u64);

impl Passing {
    pub(super) fn of(cassette: &Cassette, entries: &[Entry], groups: &Groups) -> Self {
        let mut said: HashMap<OpenPlace, Vec<(&str, usize)>> = HashMap::new();
        for (number, entry) in entries.iter().enumerate().filter(|_| groups.has_several()) {
            let is_several = groups.get(entry.group()).is_some_and(|all| all.len() > 1);
            let holes = entry.holes.iter().filter(|hole| hole.scope.is_lasting());
            if is_several && cassette.interactions[number].request.only_reads() {
                for hole in holes {
                    let place = (entry.group(), hole.place);
                    said.entry(place).or_default().push((&hole.identifier, number));
                }
            }
        }
        let mut places: HashMap<&str, Vec<(OpenPlace, usize)>> = HashMap::new();
        for (place, said) in &said {
            said.iter()
                .for_each(|(value, by)| places.entry(value).or_default().push((*place, *by)));
        }
        let lasting = said_elsewhere(cassette, &places);
        said.retain(|place, said| {
            let values: HashSet<&str> = said.iter().map(|(value, _)| *value).collect();
            values.len() == said.len() && !lasting.contains(place)
        });
        Self(said.into_keys().collect())
    }

    pub(super) fn contains(&self, group: u64, hole: &Hole) -> bool {
        self.0.contains(&(group, hole.place))
    }
}

/// The places of values that another request or any answer says.
fn said_elsewhere(
    cassette: &Cassette,
    places: &HashMap<&str, Vec<(OpenPlace, usize)>>,
) -> HashSet<OpenPlace> {
    let words = Words::of(places.keys().copied());
    let mut found = HashSet::new();
    let interactions = cassette.interactions.iter().enumerate().filter(|_| !places.is_empty());
    for (number, interaction) in interactions {
        let mut note = |text: &str, asking: Option<usize>| {
            let said = words.find(text).filter_map(|range| places.get(&text[range])).flatten();
            let others = said.filter(|(_, by)| asking != Some(*by));
            found.extend(others.map(|(place, _)| *place));
        };
        each_text(&interaction.request, |text| note(text, Some(number)));
        let Some(response) = interaction.response() else { continue };
        let Response { headers, frames, .. } = response;
        headers.iter().for_each(|(_, value)| note(&plain(value), None));
        note(&plain(&response.readable().bytes()), None);
        let messages = frames.iter().filter_map(|frame| frame.message());
        messages.for_each(|message| note(&plain(message), None));
    }
    found
}
