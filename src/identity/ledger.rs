//! Which identifiers a recording holds, who issued each, and where it came back.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Issuer, Origin, Words, decide, each_document, identifiers, plain};
use crate::cassette::exchanges::Exchanges;
use crate::cassette::{Cassette, Evidence, Headers, Id, Ids, Interaction, Reach, text};
use crate::text::percent;

/// Which identifiers a recording holds: those of its table of names, and what else the server issued.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// One for each identifier, in the order in which they came up.
    pub entries: Vec<Entry>,
}

/// An identifier of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// It, with its prefix if it has one.
    pub value: String,
    /// What decided that it is one.
    pub evidence: Evidence,
    /// Where it came from.
    pub origin: Origin,
    /// Where it stood then: `path.2`, `query.NAME`, `header.NAME`, a JSON Pointer, `part.NAME` or `body`.
    pub at: String,
    /// The interactions, counted from 0, whose request held it later.
    pub asked_in: Vec<usize>,
    /// The interactions whose answer held it later.
    pub answered_in: Vec<usize>,
}

/// The ledger as it is written.
struct LedgerWriter {
    entries: Vec<Entry>,
    known: HashMap<String, usize, foldhash::fast::RandomState>,
    /// What else the client said: the server only gives it back.
    said: HashSet<String, foldhash::fast::RandomState>,
    words: Words,
    fields: bool,
}

impl Ledger {
    /// Goes through a recording once.
    pub fn of(cassette: &Cassette) -> Self {
        let exchanges = Exchanges::by_message(cassette);
        let cassette = exchanges.as_ref().map_or(cassette, |exchanges| &exchanges.cassette);
        let decided;
        let ids = match &cassette.ids {
            Some(ids) => ids,
            None => {
                decided = decide(cassette, &cassette.rules);
                &decided
            }
        };
        let mut writer = LedgerWriter::of(ids);
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            writer.interaction(number, interaction);
        }
        let mut entries = writer.entries;
        let client_first = |entry: &Entry| entry.origin.issuer != Issuer::Client;
        entries.sort_by_key(|entry| (entry.origin.interaction, client_first(entry)));
        Self { entries }
    }
}

impl LedgerWriter {
    fn of(ids: &Ids) -> Self {
        let client = ids.client.iter().map(|id| entry(id, Issuer::Client));
        let server = ids.server.iter().map(|id| entry(id, Issuer::Server));
        let entries: Vec<Entry> = client.chain(server).collect();
        let mut known = HashMap::default();
        for (at, entry) in entries.iter().enumerate() {
            known.entry(entry.value.clone()).or_insert(at);
        }
        let all = || ids.client.iter().chain(&ids.server);
        let is_word = |id: &&Id| id.reach != Reach::Field && id.value.len() >= TELLING;
        let words = Words::of(all().filter(is_word).map(|id| id.value.as_str()));
        let fields = all().any(|id| !is_word(&id));
        Self { entries, known, said: HashSet::default(), words, fields }
    }

    fn interaction(&mut self, number: usize, interaction: &Interaction) {
        let from = |issuer| Origin { issuer, interaction: number };
        let request = &interaction.request;
        self.text(&percent::decoded(&request.path), "path", from(Issuer::Client));
        self.header(&request.headers, from(Issuer::Client));
        self.body(&request.readable(), from(Issuer::Client));
        if let Some(response) = interaction.response() {
            self.header(&response.headers, from(Issuer::Server));
            self.body(&response.readable().bytes(), from(Issuer::Server));
        }
    }

    fn header(&mut self, headers: &Headers, from: Origin) {
        for (name, value) in headers.iter() {
            let at = format!("header.{}", name.to_ascii_lowercase());
            self.text(&text(value), &at, from);
        }
    }

    fn body(&mut self, body: &[u8], from: Origin) {
        let body = plain(body);
        let mut is_read = false;
        each_document(&body, |_, document| {
            document.each_leaf(|pointer, _, value, spelled| {
                is_read = true;
                if self.fields {
                    self.again(&value, from);
                }
                self.text(spelled, pointer, from);
            });
        });
        if !is_read {
            self.text(&body, "body", from);
        }
    }

    /// Notes what stands in a text.
    fn text(&mut self, text: &str, at: &str, from: Origin) {
        let found: Vec<Range<usize>> = self.words.find(text).collect();
        for range in &found {
            self.with_prefix(text, range, from);
            self.again(&text[range.clone()], from);
        }
        let is_free = |range: &Range<usize>| {
            found.iter().all(|known| range.end <= known.start || known.end <= range.start)
        };
        for range in identifiers(text).filter(is_free) {
            let value = &text[range.clone()];
            if self.known.contains_key(value) {
                self.again(value, from);
                continue;
            }
            if self.said.contains(value) {
                continue;
            }
            if from.issuer == Issuer::Client {
                self.said.insert(value.to_owned());
                continue;
            }
            self.known.insert(value.to_owned(), self.entries.len());
            self.entries.push(Entry {
                value: text[prefix(&text[..range.start])..range.end].to_owned(),
                evidence: Evidence::Look,
                origin: from,
                at: at.to_owned(),
                asked_in: Vec::new(),
                answered_in: Vec::new(),
            });
        }
    }

    /// Notes the prefix of a name where it came up.
    fn with_prefix(&mut self, text: &str, range: &Range<usize>, from: Origin) {
        let value = &text[range.clone()];
        let Some(entry) = self.known.get(value).map(|at| &mut self.entries[*at]) else { return };
        if entry.origin == from && entry.value == value {
            entry.value = text[prefix(&text[..range.start])..range.end].to_owned();
        }
    }

    /// Notes that a known value came again.
    fn again(&mut self, value: &str, from: Origin) {
        let Some(entry) = self.known.get(value).map(|at| &mut self.entries[*at]) else { return };
        if entry.origin == from {
            return;
        }
        let list = match from.issuer {
            Issuer::Client => &mut entry.asked_in,
            Issuer::Server => &mut entry.answered_in,
        };
        if list.last() != Some(&from.interaction) {
            list.push(from.interaction);
        }
    }
}

/// A shorter word is the same by chance as often as not.
const TELLING: usize = 4;

fn entry(id: &Id, issuer: Issuer) -> Entry {
    let looks = || identifiers(&id.value).next() == Some(0..id.value.len());
    let is_return = id.evidence == Evidence::Return;
    Entry {
        value: id.value.clone(),
        evidence: if is_return && looks() { Evidence::Look } else { id.evidence },
        origin: Origin { issuer, interaction: id.interaction },
        at: id.at.clone(),
        asked_in: Vec::new(),
        answered_in: Vec::new(),
    }
}

/// Where the prefix of an identifier begins that stands at the end of a text: `agent-`, `call_`.
fn prefix(before: &str) -> usize {
    let bytes = before.as_bytes();
    if !matches!(bytes.last(), Some(b'-' | b'_')) {
        return bytes.len();
    }
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    bytes.len() - bytes.iter().rev().take_while(part).count()
}
