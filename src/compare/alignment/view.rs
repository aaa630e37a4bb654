//! An interaction made ready to be laid beside another.

use std::ops::Range;

use bytes::Bytes;

use super::renaming::SharedNames;
use super::value::{self, FieldMeaning, KnownText, Node, Value, words};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::{Kind, is_set};
use crate::cassette::{Body, Headers, Interaction, Media, Outcome, Request};
use crate::config::Rules;
use crate::message::keeps_alive;
use crate::text::json::Text;
use crate::text::multipart::{ANY_BOUNDARY, boundary, with_boundary};
use crate::text::{form, markup, sse};

/// An interaction made ready to be laid beside another.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) interaction: &'a Interaction,
    /// What the request says, between any boundary if it is in parts.
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
    fn of(headers: &Headers, text: Bytes, rules: &Rules) -> Self {
        let records = Record::all(headers.get("content-type"), &text, rules);
        Self { text, records }
    }

    /// Takes it for what a client says.
    fn ask(&mut self) {
        self.records.iter_mut().flat_map(|record| &mut record.nodes).for_each(Node::ask);
    }

    /// What a message says.
    #[cfg(feature = "record")]
    pub(crate) fn of_message(text: Bytes) -> Self {
        Self::of(&Headers::new(), text, &Rules::default())
    }

    /// Equal for what says the same but for names, times and numbers, in any recording.
    #[cfg(feature = "record")]
    pub(crate) fn kind(&self) -> u64 {
        let Some(text) = self.as_str() else { return hash_of(&self.text[..]) };
        let values = self.records.iter().flat_map(|record| record.values(text));
        combine(&values.map(Value::likeness).collect::<Vec<u64>>())
    }

    /// The text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.text).ok()
    }

    pub(super) fn look(&mut self, names: &SharedNames) -> u64 {
        let Self { text, records } = self;
        match std::str::from_utf8(text) {
            Ok(text) => records.iter_mut().for_each(|record| record.look(text, names)),
            Err(_) => records.iter_mut().for_each(|record| record.look_opaque(text)),
        }
        let said = records.iter().filter(|record| !record.is_keep_alive);
        combine(&said.map(|record| record.hash).collect::<Vec<u64>>())
    }

    fn texts(&self) -> impl Iterator<Item = KnownText<'_>> {
        let text = self.as_str();
        let nodes = self.records.iter().flat_map(move |record| record.nodes(text.unwrap_or("")));
        nodes.filter_map(move |value| text.and_then(|_| value.said()))
    }
}

impl<'a> View<'a> {
    /// The rules say of which lists the order means nothing.
    pub(crate) fn of(interaction: &'a Interaction, rules: &Rules) -> Self {
        let request = &interaction.request;
        let mut asked: Bytes = request.readable().into_owned().into();
        if let Some(boundary) = request.headers.get("content-type").and_then(boundary) {
            asked = with_boundary(&asked, &boundary, ANY_BOUNDARY).into();
        }
        let mut asked = Script::of(&request.headers, asked, rules);
        asked.ask();
        let answered = interaction.response().map(|response| {
            let body: &Body = &response.readable();
            let mut script = Script::of(&response.headers, body.bytes(), rules);
            if asks_for_a_set(request)
                && let [Record { nodes, .. }] = &mut script.records[..]
                && let Some(node) = nodes.first_mut().filter(|it| it.kind == Kind::Array)
            {
                node.kind = Kind::Set;
            }
            script
        });
        let route = route(request);
        Self { interaction, asked, answered, route, request: 0, response: 0 }
    }

    /// Makes the hashes of all that is in it.
    pub(super) fn look(&mut self, names: &SharedNames) {
        let request = &self.interaction.request;
        let method = hash_of(&request.method);
        let path = hash_of(&*names.masked(&request.path, &words(&request.path)));
        self.request = combine(&[method, path, self.asked.look(names)]);
        let said = self.answered.as_mut().map(|script| script.look(names));
        let end = hash_of(self.interaction.end().as_str());
        self.response = match &self.interaction.outcome {
            Outcome::Response(response) => {
                combine(&[u64::from(response.status), end, said.unwrap_or_default()])
            }
            Outcome::Nothing(_) => end,
        };
    }

    /// All texts of the request.
    pub(super) fn asked_texts(&self) -> Vec<KnownText<'_>> {
        let request = &self.interaction.request;
        // Each part of a target is a value of its own: all of it looks like Base64.
        let parts = request.path.split(['/', '?', '&']).flat_map(|part| part.splitn(2, '='));
        let said = parts
            .map(|part| KnownText::new(part, FieldMeaning::ID))
            .chain(fields(&request.headers));
        said.chain(self.asked.texts()).collect()
    }

    /// The header fields of the request.
    pub(super) fn asked_fields(&self) -> impl Iterator<Item = KnownText<'_>> {
        fields(&self.interaction.request.headers)
    }

    /// All texts of the answer.
    pub(super) fn answered_texts(&self) -> Vec<KnownText<'_>> {
        self.answered_fields().chain(self.answered.iter().flat_map(Script::texts)).collect()
    }

    /// The header fields of the answer.
    pub(super) fn answered_fields(&self) -> impl Iterator<Item = KnownText<'_>> {
        let response = self.interaction.response();
        response.into_iter().flat_map(|response| fields(&response.headers))
    }

    /// The values in the body of the answer.
    pub(super) fn answered_values(&self) -> impl Iterator<Item = KnownText<'_>> {
        self.answered.iter().flat_map(Script::texts)
    }

    /// The whole values in places for names, of each piece of the answer.
    pub(super) fn answered_ids(&self) -> impl Iterator<Item = Vec<&str>> {
        let script = self.answered.as_ref();
        let text = script.and_then(Script::as_str).unwrap_or_default();
        let records = script.into_iter().flat_map(|script| &script.records);
        records.filter(|_| !text.is_empty()).map(move |record| {
            let said = record.nodes(text).filter_map(Value::said).filter(|said| said.field.is_id);
            said.map(KnownText::value).collect()
        })
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

fn route(request: &Request) -> u64 {
    let unknown = SharedNames::default();
    let segments = request.path_only().split('/').map(|segment| {
        let is_number = !segment.is_empty() && segment.bytes().all(|it| it.is_ascii_digit());
        if is_number { 0 } else { hash_of(&*unknown.masked(segment, &words(segment))) }
    });
    let method = std::iter::once(hash_of(&request.method));
    combine(&method.chain(segments).collect::<Vec<u64>>())
}

/// Whether the answer, if it is a list, means the same in any order: `GET /v1/tools`.
fn asks_for_a_set(request: &Request) -> bool {
    let asked = request.path_only().rsplit('/').find(|segment| !segment.is_empty());
    let is_sorted = request.query().is_some_and(|it| it.contains("order") || it.contains("sort"));
    request.method == "GET" && asked.is_some_and(is_set) && !is_sorted
}

/// More hashes tell nothing more.
const MOST: usize = 4096;

/// The time at which a message was sent is nobody's to give back, also by the name that a signed request has for it
/// (`x-amz-date`).
fn fields(headers: &Headers) -> impl Iterator<Item = KnownText<'_>> {
    let is_sent_at = |name: &str| {
        let name = name.to_ascii_lowercase();
        name == "date" || (name.starts_with("x-") && name.ends_with("-date"))
    };
    let meant = headers.iter().filter(move |(name, _)| !is_sent_at(name));
    meant.filter_map(|(name, value)| {
        let text = std::str::from_utf8(value).ok()?;
        Some(KnownText::new(text, FieldMeaning::of(&name.to_ascii_lowercase())))
    })
}

/// A piece of a body with what ends it: an event, a line, a field of a form, a value of XML, or all of it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) range: Range<usize>,
    /// The values in it, in order. What stands between them is compared as it is.
    nodes: Vec<Node>,
    /// Whether it only says that the other side is still there.
    pub(crate) is_keep_alive: bool,
    /// Equal for records that are the same as far as is known. Set by looking at it.
    pub(crate) hash: u64,
}

impl Record {
    /// Cuts a body.
    fn all(content_type: Option<&str>, body: &[u8], rules: &Rules) -> Vec<Self> {
        let Ok(text) = std::str::from_utf8(body) else { return vec![Self::of(0..body.len())] };
        match Media::of(content_type) {
            Media::EventStream => events(text, rules),
            Media::Form => form_fields(text),
            _ if Text::parse_container(body).is_some() => {
                let mut record = Self::of(0..text.len());
                value::read(text, 0..text.len(), rules, &mut record.nodes);
                vec![record]
            }
            _ if markup::is_markup(text) => elements(text, rules),
            _ => lines(text, rules),
        }
    }

    /// The values in it that are in no others.
    pub(crate) fn values<'v>(&'v self, text: &'v str) -> Vec<Value<'v>> {
        Value::all(text, &self.nodes)
    }

    /// All its values.
    pub(super) fn nodes<'v>(&'v self, text: &'v str) -> impl Iterator<Item = Value<'v>> {
        (0..self.nodes.len()).map(move |at| Value { text, nodes: &self.nodes, at })
    }

    /// Makes the hashes of a piece of what is no text.
    pub(super) fn look_opaque(&mut self, body: &[u8]) {
        self.hash = hash_of(&body[self.range.clone()]);
    }

    /// Makes the hashes of a piece of a text.
    pub(super) fn look(&mut self, text: &str, names: &SharedNames) {
        value::look(&mut self.nodes, text, names);
        let mut rest = self.range.start;
        let mut hashes = Vec::new();
        for value in Value::all(text, &self.nodes) {
            let node = value.node();
            hashes.extend([hash_of(&text[rest..node.range.start]), node.hash]);
            rest = node.range.end;
        }
        hashes.push(hash_of(&text[rest..self.range.end]));
        self.hash = combine(&hashes);
    }

    fn of(range: Range<usize>) -> Self {
        Self { range, nodes: Vec::new(), is_keep_alive: false, hash: 0 }
    }
}

fn lines(text: &str, rules: &Rules) -> Vec<Record> {
    let mut start = 0;
    let line = |line: sse::Line| {
        let mut record = Record::of(start..line.end);
        value::read(text, line.content, rules, &mut record.nodes);
        start = line.end;
        record
    };
    sse::lines(text.as_bytes()).map(line).collect()
}

/// The values of XML or HTML, each with the marks before it. A change of one leaves all others as they were, also
/// where the whole text is one line.
fn elements(text: &str, rules: &Rules) -> Vec<Record> {
    let record = |markup::MarkupValue { before, name, value }: markup::MarkupValue| {
        let mut record = Record::of(before.start..value.end);
        value::leaf(text, before, FieldMeaning::PLAIN, &mut record.nodes);
        let field = FieldMeaning::of(&text[name]);
        match Text::parse_container(text[value.clone()].as_bytes()) {
            Some(_) => value::read(text, value, rules, &mut record.nodes),
            None => value::leaf(text, value, field, &mut record.nodes),
        }
        record
    };
    markup::pieces(text).into_iter().map(record).collect()
}

fn form_fields(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for field in form::fields(text, 0..text.len(), &['&']) {
        let start = if records.is_empty() { 0 } else { field.name.start };
        records.last_mut().into_iter().for_each(|before| before.range.end = start);
        let mut record = Record::of(start..text.len());
        let name = FieldMeaning::of(&text[field.name.clone()]);
        let end = field.value.map_or(field.name.end, |value| value.end);
        value::leaf(text, field.name.start..end, name, &mut record.nodes);
        records.push(record);
    }
    records
}

/// The events, each with the empty line that ends it.
fn events(text: &str, rules: &Rules) -> Vec<Record> {
    let mut events = Vec::new();
    let mut lines = sse::event_lines(text.as_bytes()).peekable();
    let mut start = 0;
    while lines.peek().is_some() {
        let mut event = Record::of(start..start);
        let (mut data, mut name, mut is_comment) = (String::new(), None, true);
        for line in lines.by_ref() {
            event.range.end = line.end;
            if line.content.is_empty() {
                break;
            }
            let field = line.field(text.as_bytes());
            is_comment &= field.name.is_empty();
            match &text[field.name.clone()] {
                "data" => {
                    data.push_str(&text[field.value.clone()]);
                    value::read(text, field.value, rules, &mut event.nodes);
                }
                "event" => name = Some(&text[field.value]),
                "id" => value::leaf(text, field.value, FieldMeaning::ID, &mut event.nodes),
                _ => value::leaf(text, line.content, FieldMeaning::PLAIN, &mut event.nodes),
            }
        }
        event.is_keep_alive = is_comment || (!data.is_empty() && keeps_alive(&data, name));
        start = event.range.end;
        events.push(event);
    }
    events
}
