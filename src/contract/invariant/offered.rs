//! What a server of MCP always lists: its tools, prompts and resources by their names.
//!
//! # Rationale
//!
//! A client calls a tool by its name. One that is gone, or has another name, keeps to every shape. What other servers
//! list is data, and comes and goes.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{Check, EventValue};
use super::claim::{Field, Invariant};
use super::holding::{CHANCES, Trials};
use super::learn::{FieldNumbers, Sights};
use super::trace::{Event, Trace};
use crate::text::json::Text;

/// Where the names stand, and what they are the names of.
const PLACES: [(&str, &str); 3] = [
    ("result.tools[].name", "tools"),
    ("result.prompts[].name", "prompts"),
    ("result.resources[].name", "resources"),
];

/// What lists named so far, by the numbers of their paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Offered(BTreeMap<u32, Listed>);

#[derive(Debug, Clone, Default)]
struct Listed {
    recordings: Trials,
    /// What each of the lists names.
    names: BTreeSet<String>,
}

impl Offered {
    /// Learns from the messages of an answer.
    pub(super) fn learn(
        &mut self,
        names: &FieldNumbers,
        recording: u32,
        trace: &Trace<'_>,
        events: &[Sights<'_>],
    ) {
        for (event, (_, sights)) in trace.events.iter().zip(events) {
            for (place, what) in PLACES {
                let Some(path) = names.find(place).filter(|_| lists_all(trace, event, what)) else {
                    continue;
                };
                let of_path = sights.iter().filter(|sight| sight.path == path);
                let said: BTreeSet<String> =
                    of_path.filter_map(|sight| Some(sight.value.said()?.into_owned())).collect();
                let listed = self
                    .0
                    .entry(path)
                    .or_insert_with(|| Listed { names: said.clone(), ..Listed::default() });
                listed.names.retain(|name| said.contains(name));
                listed.recordings.see(recording, true);
            }
        }
    }

    /// What every list named, in so many recordings.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let known = self.0.iter().filter(|(_, listed)| listed.recordings.hold(CHANCES));
        let offers = known.flat_map(|(path, listed)| {
            let field = Field::of_all(names.spelled(*path));
            listed.names.iter().map(move |name| Invariant::Offers(field.clone(), name.clone()))
        });
        offers.collect()
    }
}

/// What the names in a place are the names of.
pub(crate) fn offered(field: &Field) -> Option<&'static str> {
    PLACES.iter().find(|(place, _)| *place == field.path.as_str()).map(|(_, what)| *what)
}

/// Whether a message of JSON-RPC lists all that there is of something.
fn lists_all(trace: &Trace<'_>, event: &Event<'_>, what: &str) -> bool {
    let asked = trace.request.and_then(Text::read);
    let leads_on = asked.is_some_and(|asked| asked.at(&["params", "cursor"]).is_some());
    let is_all = |json: Text<'_>| {
        let cursor = json.at(&["result", "nextCursor"]);
        json.get("jsonrpc").is_some()
            && json.at(&["result", what]).is_some()
            && cursor.is_none_or(|it| it.as_str() == "null")
    };
    !leads_on && Text::read(event.json).is_some_and(is_all)
}

impl Check<'_> {
    /// The lists in which a name is missing.
    pub(super) fn unoffered(&self, field: &Field, name: &str) -> Vec<EventValue> {
        let (rows, what) = (self.all(field), offered(field).unwrap_or_default());
        let events = self.trace.events.iter().enumerate();
        let lists = events.filter(|(event, json)| {
            let mut said = rows.iter().filter(|at| at.event == Some(*event));
            lists_all(self.trace, json, what)
                && said.all(|at| at.value.said().is_none_or(|it| it != name))
        });
        let says = format!("`{name}`");
        let missing = lists.map(|(event, _)| EventValue {
            event: Some(event),
            pointer: String::new(),
            says: says.clone(),
        });
        missing.collect()
    }
}
