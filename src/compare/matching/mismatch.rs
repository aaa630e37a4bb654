//! Why no interaction answers a request.

use std::borrow::Cow;

use super::nearest::{Library, RankedInteraction, called};
use super::why::{Conflicts, Why};
use super::{Asked, Index, Playlist};
use crate::cassette::Place;
use crate::cassette::exchanges::{self, ExchangePart, ExchangeSpot, Exchanges};
use crate::cassette::reading::Node;
use crate::cassette::{Cassette, Headers, Origins, Request};
use crate::compare::difference::{Difference, Sort, Value, compare};
use crate::config::Repeats;
use crate::redact::{Found as FoundSecrets, Memory, Redactor};

/// A request that no recorded interaction answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The method that was asked.
    pub method: String,
    /// What was asked for, secrets replaced.
    pub path: String,
    /// What was called, if it is a message of JSON-RPC, or an operation of GraphQL.
    pub call: Option<String>,
    /// Which message it is, if a client has sent it over a WebSocket or standard input.
    pub message: Option<Message>,
    /// The recorded interaction whose request is most alike, if one is about the same thing at all.
    pub nearest: Option<Nearest>,
    /// If none is: what was recorded that is least far away.
    pub others: Vec<Asking>,
    /// How many interactions were recorded.
    pub recorded: usize,
    /// The servers that they were recorded from, as a recorder is told them.
    pub servers: Origins,
    /// All that were asked.
    pub origins: Vec<String>,
}

/// A message of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The number of the interaction that is played to the client, counted from 0.
    pub interaction: usize,
    /// How many messages the client had sent before it.
    pub number: usize,
    /// The number of another interaction in which the very same was recorded, counted from 0.
    pub elsewhere: Option<usize>,
}

/// The recorded interaction whose request is most alike.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// It.
    pub asking: Asking,
    /// Whether it was played in this session before.
    pub played: bool,
    /// How many of its values are the same, in thousandths.
    pub alike: u32,
    /// Where the two differ and why that counts.
    pub differences: Vec<Differing>,
    /// How many more differences there are.
    pub more: usize,
    /// The first interaction that was not played yet.
    pub next: Option<Asking>,
    /// How often an answer may be given.
    pub repeats: Repeats,
    /// What its answer, or the rest of it, has waited for in vain.
    pub awaited: Option<Awaited>,
}

/// What an answer waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// What it shows, and was not asked for in this run.
    Asked(Asking),
    /// That the client leaves, as it did.
    Leaving,
}

/// What a recorded interaction asks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asking {
    /// Its number in the cassette, counted from 0.
    pub interaction: usize,
    /// The frame of it, counted from 0, if it is a message of a client.
    pub frame: Option<usize>,
    /// The method.
    pub method: String,
    /// What it asks for.
    pub path: String,
    /// What it calls, if it is a message of JSON-RPC, or an operation of GraphQL.
    pub call: Option<String>,
}

/// A difference and why it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differing {
    /// The difference.
    pub difference: Difference,
    /// Why it counts.
    pub why: Why,
}

impl Mismatch {
    /// Finds what is most alike and where it differs.
    ///
    /// What is compared is redacted by the rules that the cassette names, which may be none, if
    /// somebody wrote it by hand. Nothing is told that the rules of the `veil` take out.
    ///
    /// What is asked comes with the secrets that were found in it.
    pub fn explain(
        (asked, secrets): (Request, FoundSecrets),
        (cassette, index, playlist): (&Cassette, &Index, &Playlist),
        veil: &Redactor,
    ) -> Self {
        let found = |library: &Library<'_>, read: &Asked<'_>| library.nearest(read, &asked);
        Self::found((&asked, secrets), Library { cassette, index, playlist }, veil, found)
    }

    /// The same beside an interaction that is known.
    pub fn beside(
        number: usize,
        asked: &Request,
        cassette: &Cassette,
        index: &Index,
        playlist: &Playlist,
        veil: &Redactor,
    ) -> Self {
        let found = Some(RankedInteraction { interaction: number, alike: 1000 });
        let asked = (asked, FoundSecrets::default());
        Self::found(asked, Library { cassette, index, playlist }, veil, |_, _| found)
    }

    fn found(
        (asked, secrets): (&Request, FoundSecrets),
        library: Library<'_>,
        veil: &Redactor,
        find: impl FnOnce(&Library<'_>, &Asked<'_>) -> Option<RankedInteraction>,
    ) -> Self {
        let Library { cassette, index, .. } = library;
        let body = asked.readable();
        let read = index.read(asked, &body).by(secrets);
        let found = find(&library, &read);
        let asking = |number| library.asking(number, veil);
        let others = if found.is_some() { Vec::new() } else { library.others(asked) };
        Self {
            nearest: found.map(|found| library.told(found, asked, &read, veil)),
            others: others.into_iter().map(asking).collect(),
            recorded: cassette.interactions.len(),
            servers: cassette.recorded.servers(),
            origins: cassette.origins().into_iter().map(str::to_owned).collect(),
            path: veil.target(&asked.path),
            message: None,
            call: called(&body).map(|call| veil.target(&call)),
            method: asked.method.clone(),
        }
    }
}

impl Mismatch {
    /// The same with the numbers and paths of a cassette of so many interactions, of which exchanges were
    /// compared.
    pub(crate) fn numbered(mut self, exchanges: &Exchanges, recorded: usize) -> Self {
        self.recorded = recorded;
        exchanges::forget_socket(&mut self.path);
        let number = |exchange: usize| exchanges.spot(exchange).interaction;
        let asking = |asking: &mut Asking| {
            let ExchangeSpot { interaction, part } = exchanges.spot(asking.interaction);
            asking.interaction = interaction;
            if let ExchangePart::Frame(frame) = part {
                asking.frame = Some(frame);
                exchanges::forget_socket(&mut asking.path);
            }
        };
        self.others.iter_mut().for_each(asking);
        let Some(nearest) = &mut self.nearest else { return self };
        asking(&mut nearest.asking);
        nearest.next.iter_mut().for_each(asking);
        if let Some(Awaited::Asked(awaited)) = &mut nearest.awaited {
            asking(awaited);
        }
        for Differing { why, .. } in &mut nearest.differences {
            match why {
                Why::Issued { interaction, asked, .. } => {
                    *interaction = number(*interaction);
                    asked.iter_mut().for_each(|it| it.interaction = number(it.interaction));
                }
                Why::Given { interaction, .. } => *interaction = number(*interaction),
                Why::CalledBefore { interaction, .. } => {
                    interaction.iter_mut().for_each(|it| *it = number(*it));
                }
                _ => {}
            }
        }
        self
    }
}

impl Library<'_> {
    fn told(
        self,
        found: RankedInteraction,
        asked: &Request,
        read: &Asked<'_>,
        veil: &Redactor,
    ) -> Nearest {
        let recorded = self.request(found.interaction);
        let mut differing = self.differing(recorded, read, found.interaction);
        if [recorded, asked].into_iter().any(|request| is_hidden(request, veil)) {
            differing = self.veiled(differing, found.interaction, asked, veil);
        }
        let (mut differences, more) = differing;
        differences.extend(self.another_secret(found.interaction, read));
        let awaited = self.playlist.awaited(self.index, read);
        Nearest {
            awaited: awaited.map(|number| Awaited::Asked(self.asking(number, veil))),
            asking: self.asking(found.interaction, veil),
            played: self.playlist.was_played(found.interaction),
            alike: found.alike,
            differences,
            more,
            next: self.playlist.unplayed().next().map(|number| self.asking(number, veil)),
            repeats: self.index.repeats(),
        }
    }

    /// Where a client says what it was given in the place of another secret. What is compared does not know secrets of
    /// one name apart.
    fn another_secret(&self, interaction: usize, read: &Asked<'_>) -> Option<Differing> {
        let [recorded, said] = self.index.credentials().contradiction(interaction, &read.found)?;
        let nodes = &read.reading.nodes;
        let name = said.split(['~', ']']).next().unwrap_or_default();
        let is_there = |node: &Node<'_>| !node.kind.is_container() && node.text.contains(name);
        let node = nodes.iter().position(is_there).map(|it| read.reading.place(it));
        let holds = |value: &[u8]| memchr::memmem::find(value, name.as_bytes()).is_some();
        let field = || {
            let mut fields = self.request(interaction).headers.iter();
            let (name, _) = fields.find(|(_, value)| holds(value))?;
            Some(Place::Header(name.to_ascii_lowercase()))
        };
        let at = node.or_else(field)?;
        let [recorded, asked] = [recorded, said].map(|it| Some(Value::text(&it)));
        let difference = Difference { at, recorded, asked, sort: Sort::Changed };
        Some(Differing { difference, why: Why::AnotherSecret })
    }

    fn asking(&self, interaction: usize, veil: &Redactor) -> Asking {
        let request = self.request(interaction);
        let (method, path) = (request.method.clone(), veil.target(&request.path));
        let call = called(&request.readable()).map(Cow::into_owned);
        Asking { interaction, frame: None, method, path, call }
    }

    /// What differs from the request of an interaction, and how much more there is.
    fn differing(
        self,
        recorded: &Request,
        asked: &Asked<'_>,
        interaction: usize,
    ) -> (Vec<Differing>, usize) {
        self.with_recorded(recorded, interaction, |recorded, openings| {
            let found = compare(recorded, &asked.reading);
            let listed = found.listed.into_iter().map(|difference| {
                let why = self.why(&difference, interaction);
                Differing { difference, why }
            });
            let mut differing: Vec<Differing> = listed.collect();
            let conflicts = Conflicts::of(&self, recorded, openings, &found.filled);
            for (at, why) in conflicts {
                let difference =
                    recorded.difference(openings[at.opening].node, at.asked, &asked.reading);
                if differing.iter().all(|other| other.difference.at != difference.at) {
                    differing.push(Differing { difference, why });
                }
            }
            (differing, found.more)
        })
    }

    /// The same as it may be shown: what differs once the secrets are taken out of both, and of the
    /// rest only where it stands.
    fn veiled(
        self,
        (differing, more): (Vec<Differing>, usize),
        interaction: usize,
        asked: &Request,
        redactor: &Redactor,
    ) -> (Vec<Differing>, usize) {
        let memory = Memory::default();
        let [mut recorded, mut asked] = [self.request(interaction), asked].map(Request::clone);
        memory.redact(redactor, &mut recorded);
        memory.redact(redactor, &mut asked);
        // What only the second called a secret may stand in the first as well.
        memory.redact(redactor, &mut recorded);
        let body = asked.readable();
        let read = self.index.read(&asked, &body);
        let (mut shown, _) = self.differing(&recorded, &read, interaction);
        // What the server gave is not looked for: it may be a secret.
        for it in &mut shown {
            if matches!(it.why, Why::Given { .. }) {
                it.why = Why::Value { comes_back: false };
            }
        }
        for Differing { difference, .. } in differing {
            let at = named(difference.at, &memory, redactor);
            if shown.iter().all(|other| other.difference.at != at) {
                shown.push(Differing { difference: Difference::hidden(at), why: Why::Secret });
            }
        }
        (shown, more)
    }
}

/// Whether the rules take something out of a request.
fn is_hidden(request: &Request, veil: &Redactor) -> bool {
    let mut shown = request.clone();
    veil.request(&mut shown);
    shown != *request
}

/// A place whose name is no secret.
fn named(place: Place, memory: &Memory, redactor: &Redactor) -> Place {
    let clean = |name: String| {
        let headers = Headers::new();
        let mut carrier = Request { headers, body: name.into(), ..Request::of("", "") };
        memory.redact(redactor, &mut carrier);
        String::from_utf8_lossy(&carrier.body).into_owned()
    };
    match place {
        Place::Query(name) => Place::Query(clean(name)),
        Place::Form(name) => Place::Form(clean(name)),
        Place::Part(name) => Place::Part(clean(name)),
        Place::InPart { part, pointer } => {
            Place::InPart { part: clean(part), pointer: clean(pointer) }
        }
        Place::Json(pointer) => Place::Json(clean(pointer)),
        other => other,
    }
}
