//! An interaction made ready to be laid beside another.

use bytes::Bytes;

use super::Record;
use super::renaming::{Lens, Renaming};
use super::words::{Field, Said, words};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::{Body, Headers, Interaction, Outcome};

/// An interaction made ready to be laid beside another.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) interaction: &'a Interaction,
    /// What the request says.
    pub(crate) asked: Script,
    /// What the answer says.
    pub(crate) answered: Option<Script>,
    /// The method and the path, with what looks like a number or a name masked.
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
    fn of(headers: &Headers, text: Bytes) -> Self {
        let records = Record::all(headers.get("content-type"), &text);
        Self { text, records }
    }

    /// The text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.text).ok()
    }

    fn look(&mut self, lens: Lens<'_>) -> u64 {
        let Self { text, records } = self;
        match std::str::from_utf8(text) {
            Ok(text) => records.iter_mut().for_each(|record| record.look(text, lens)),
            Err(_) => records.iter_mut().for_each(|record| record.look_opaque(text)),
        }
        let said = records.iter().filter(|record| !record.is_keep_alive);
        combine(&said.map(|record| record.hash).collect::<Vec<u64>>())
    }

    fn texts(&self) -> impl Iterator<Item = Said<'_>> {
        let text = self.as_str();
        let nodes = self.records.iter().flat_map(move |record| record.nodes(text.unwrap_or("")));
        nodes.filter_map(move |value| text.and_then(|_| value.said()))
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
    pub(super) fn look(&mut self, lens: Lens<'_>) {
        let request = &self.interaction.request;
        let method = hash_of(&request.method);
        let unknown = Renaming::default();
        let segments = request.path_only().split('/').map(|segment| {
            let is_number = !segment.is_empty() && segment.bytes().all(|it| it.is_ascii_digit());
            if is_number {
                return 0;
            }
            hash_of(&*Lens::Old(&unknown).masked(segment, &words(segment)))
        });
        self.route = combine(&std::iter::once(method).chain(segments).collect::<Vec<u64>>());
        let path = hash_of(&*lens.masked(&request.path, &words(&request.path)));
        self.request = combine(&[method, path, self.asked.look(lens)]);
        let said = self.answered.as_mut().map(|script| script.look(lens));
        let end = hash_of(self.interaction.end().as_str());
        self.response = match &self.interaction.outcome {
            Outcome::Response(response) => {
                combine(&[u64::from(response.status), end, said.unwrap_or_default()])
            }
            Outcome::Nothing(_) => end,
        };
    }

    /// All texts of the request.
    pub(super) fn asked_texts(&self) -> Vec<Said<'_>> {
        let request = &self.interaction.request;
        let path = Said { text: &request.path, field: Field::ID };
        let said = std::iter::once(path).chain(fields(&request.headers));
        said.chain(self.asked.texts()).collect()
    }

    /// All texts of the answer.
    pub(super) fn answered_texts(&self) -> Vec<Said<'_>> {
        let response = self.interaction.response();
        let said = response.into_iter().flat_map(|response| fields(&response.headers));
        said.chain(self.answered.iter().flat_map(Script::texts)).collect()
    }

    /// The hashes of what it consists of, sorted, for telling how alike two are.
    pub(super) fn sketch(&self) -> Vec<u64> {
        let mut hashes = vec![self.request, self.response];
        let scripts = std::iter::once(&self.asked).chain(&self.answered);
        for record in scripts.flat_map(|script| &script.records) {
            let leaves = record.nodes("").map(|value| value.node());
            hashes.extend(leaves.filter(|it| !it.kind.is_container()).map(|it| it.hash));
        }
        hashes.truncate(MOST);
        hashes.sort_unstable();
        hashes
    }
}

/// More hashes tell nothing more.
const MOST: usize = 4096;

/// The time at which a message was sent is nobody's to give back.
fn fields(headers: &Headers) -> impl Iterator<Item = Said<'_>> {
    let meant = headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("date"));
    meant.filter_map(|(name, value)| {
        Some(Said { text: std::str::from_utf8(value).ok()?, field: Field::of(name) })
    })
}
