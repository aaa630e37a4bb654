//! An interaction made ready to be laid beside another.

use bytes::Bytes;

use super::Record;
use super::lens::{Lens, combine, hash_of};
use super::sketch::Sketch;
use crate::cassette::{Body, Headers, Interaction, Outcome};

/// An interaction made ready to be laid beside another.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) interaction: &'a Interaction,
    /// What the request says.
    pub(crate) asked: Script,
    /// What the answer says.
    pub(crate) answered: Option<Script>,
    /// The method and the path, with what looks like a number or an identifier masked.
    pub(super) route: u64,
    /// Equal for requests that ask the same as far as is known.
    pub(super) request: u64,
    /// Equal for answers that say the same as far as is known, keep-alives set aside.
    pub(super) response: u64,
}

/// A body without its content coding, and its pieces.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) text: Bytes,
    pub(crate) records: Vec<Record>,
}

impl Script {
    pub(crate) fn of(headers: &Headers, text: Bytes) -> Self {
        let records = Record::all(headers.get("content-type"), &text);
        Self { text, records }
    }

    /// The text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.text).ok()
    }

    fn look(&mut self, lens: &Lens<'_>) -> u64 {
        let Self { text, records } = self;
        match std::str::from_utf8(text) {
            Ok(text) => records.iter_mut().for_each(|record| record.look(text, lens)),
            Err(_) => records.iter_mut().for_each(|record| record.look_opaque(text)),
        }
        combine(records.iter().filter(|record| !record.is_keep_alive).map(|record| record.hash))
    }
}

impl<'a> View<'a> {
    pub(crate) fn of(interaction: &'a Interaction) -> Self {
        let request = &interaction.request;
        let asked = Script::of(&request.headers, request.readable().into_owned().into());
        let answered = interaction.response().map(|response| {
            let body: &Body = &response.readable();
            Script::of(&response.headers, body.bytes())
        });
        Self { interaction, asked, answered, route: 0, request: 0, response: 0 }
    }

    /// Makes the hashes of all that is in it.
    pub(super) fn look(&mut self, lens: &Lens<'_>) {
        let request = &self.interaction.request;
        let method = hash_of(request.method.as_bytes());
        let segments = request.path_only().split('/').map(|segment| match is_number(segment) {
            true => 0,
            false => Lens::Masked.text(segment),
        });
        self.route = combine(std::iter::once(method).chain(segments));
        let path = lens.text(&request.path);
        self.request = combine([method, path, self.asked.look(lens)]);
        let said = self.answered.as_mut().map(|script| script.look(lens));
        self.response = match &self.interaction.outcome {
            Outcome::Response(response) => {
                let end = hash_of(response.end.as_str().as_bytes());
                combine([u64::from(response.status), end, said.unwrap_or_default()])
            }
            Outcome::Nothing(end) => hash_of(end.as_str().as_bytes()),
        };
    }

    /// What it consists of.
    pub(super) fn sketch(&self) -> Sketch {
        Sketch::of(self)
    }
}

fn is_number(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}
