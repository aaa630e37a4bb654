//! Recordings as they would be if the server were another one.

use retape::cassette::{Headers, Interaction, Outcome, Response};
use retape::contract::Endpoint;
use retape::message::Message;
use serde_json::{Map, Value};

use super::recorded::{Named, Recordings, said, say, with_value};
use super::set::{At, Site};

/// A change of a server, made to what was recorded of it.
pub struct ServerChange {
    /// Where it is to be seen; nothing if it is everywhere.
    pub endpoint: Option<Endpoint>,
    /// What a report has to speak of, if it is a change of a field.
    pub field: Option<String>,
    /// What was done, for people.
    pub what: String,
    pub edit: Box<dyn Fn(&mut Recordings) + Send + Sync>,
}

impl ServerChange {
    pub fn new(
        what: impl Into<String>,
        edit: impl Fn(&mut Recordings) + Send + Sync + 'static,
    ) -> Self {
        Self { endpoint: None, field: None, what: what.into(), edit: Box::new(edit) }
    }

    pub fn at(self, endpoint: &Endpoint) -> Self {
        Self { endpoint: Some(endpoint.clone()), ..self }
    }

    pub fn of_field(self, name: &str) -> Self {
        Self { field: Some(name.to_owned()), ..self }
    }
}

pub fn interaction(recordings: &mut Recordings, at: At) -> &mut Interaction {
    &mut recordings[at.cassette].1.interactions[at.interaction]
}

/// Every interaction.
pub fn each(recordings: &mut [Named]) -> impl Iterator<Item = &mut Interaction> {
    recordings.iter_mut().flat_map(|(_, cassette)| &mut cassette.interactions)
}

/// Changes an answer as a whole.
pub fn answer(interaction: &mut Interaction, change: impl FnOnce(&mut Response)) {
    if let Outcome::Response(response) = &mut interaction.outcome {
        change(response);
    }
}

pub fn set_header(headers: &mut Headers, name: &str, value: &str) {
    headers.set(name, value.to_owned());
}

/// Changes objects in messages; each is told its number.
pub fn objects(
    recordings: &mut Recordings,
    sites: &[Site],
    change: impl Fn(&mut Map<String, Value>, usize),
) {
    let mut sites: Vec<(usize, &Site)> = sites.iter().enumerate().collect();
    sites.sort_by_key(|(_, site)| (site.at, site.message));
    for of_one in sites.chunk_by(|(_, one), (_, other)| one.at == other.at) {
        let interaction = interaction(recordings, of_one[0].1.at);
        let mut messages = said(interaction);
        for (number, site) in of_one {
            let message = &mut messages[site.message];
            values(message, |value| {
                let object = value.pointer_mut(&site.pointer).and_then(Value::as_object_mut);
                change(object.expect("an object was recorded there"), *number);
            });
        }
        say(interaction, &messages);
    }
}

/// Changes what a message says, if that is JSON.
pub fn values(message: &mut Message, change: impl FnOnce(&mut Value)) {
    if let Ok(mut value) = serde_json::from_str(&message.data) {
        change(&mut value);
        *message = with_value(message, &value);
    }
}
