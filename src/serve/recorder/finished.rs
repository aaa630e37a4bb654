//! Interactions that are over, which live in the journal.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::verdict::is_good;

use crate::cassette::{
    Body, Chunk, Headers, Interaction, Media, Outcome, Progress, Response, target,
};
use crate::error::{Error, Kind, Result};
use crate::identity::each_document;
use crate::store::{Journal, Reader};
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// An interaction that is over: where the journal has it, what is different there, and what is often asked.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    entries: Arc<[Range<u64>]>,
    staged: Staged,
    different: Arc<Difference>,
    after: Arc<[(u32, u32)]>,
    pub(super) facts: Facts,
}

/// Where the journal has the body of an answer that was never held, if it has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Staged(Arc<[Range<u64>]>);

/// What is asked of all interactions, which takes longer to read than to hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// How many chunks its answer has, or a WebSocket frames.
    pub(super) chunks: u32,
    pub(super) is_answered: bool,
    /// Whether that answer is no error of the server, and no refusal of who asks.
    pub(super) is_good: bool,
    pub(super) is_listening: bool,
    /// Whether it is a call of JSON-RPC that the events of its answer do not answer.
    pub(super) is_unanswered: bool,
    pub(super) names_origin: bool,
}

/// The differences there are: the requests of one client have the same key in the same place.
#[derive(Debug, Default)]
pub(super) struct Differences(HashSet<Arc<Difference>>);

/// What is different in the journal: secrets are not in it, it shows what is compressed as it reads, and
/// what may be the beginning of a secret with the next chunk.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Difference {
    path: Option<Box<str>>,
    headers: Box<[ChangedField]>,
    body: Option<Bytes>,
    answer: Option<Box<AnswerChanges>>,
}

/// The same of an answer.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AnswerChanges {
    headers: Box<[ChangedField]>,
    trailers: Box<[ChangedField]>,
    body: Option<BodyChange>,
    left: Option<u64>,
}

/// A field that the journal does not have, or with another value.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ChangedField {
    at: usize,
    /// Its name, if the journal does not have it.
    name: Option<Box<str>>,
    value: Bytes,
}

/// The body of an answer.
#[derive(Debug, PartialEq, Eq, Hash)]
enum BodyChange {
    /// The same bytes, in one piece.
    Whole,
    /// The same bytes in chunks: when each came, and its length.
    Cut(Box<[(u64, usize)]>),
    /// Others.
    Other(Body),
}

impl Finished {
    /// What is needed of an interaction beside the journal. Nothing if that has it otherwise in a way that
    /// is not known here: then it has to be kept.
    pub(super) fn of(
        interaction: &Interaction,
        (entries, staged): (&[Range<u64>], Staged),
        journal: &Journal,
    ) -> Result<Option<Self>> {
        let Some(mut said) = journal.interaction(entries)? else { return Ok(None) };
        said.after.clone_from(&interaction.after);
        staged.put(&mut said, || Ok(Bytes::new()))?;
        let different = Difference::between(&said, interaction);
        let is_same = different.applied(said) == *interaction;
        let finished = |after| Self {
            entries: entries.into(),
            staged,
            different: Arc::new(different),
            after,
            facts: Facts::of(interaction),
        };
        Ok(packed(&interaction.after).filter(|_| is_same).map(finished))
    }

    /// It shares what is different with others.
    pub(super) fn shared(mut self, known: &mut Differences) -> Self {
        self.different = known.share(self.different);
        self
    }

    /// The interaction as it was, or was changed.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn interaction(&self, reader: &mut Reader<'_>) -> Result<Interaction> {
        Ok(self.different.applied(self.said(reader)?))
    }

    /// What was going on when it was asked.
    pub(super) fn after(&self) -> Vec<Progress> {
        let progress = |(interaction, chunks): &(u32, u32)| Progress {
            interaction: *interaction as usize,
            chunks: *chunks as usize,
        };
        self.after.iter().map(progress).collect()
    }

    /// Changes that. Gives whether it can be held so.
    pub(super) fn set_after(&mut self, after: &[Progress]) -> bool {
        let packed = packed(after);
        let is_held = packed.is_some();
        if let Some(packed) = packed.filter(|packed| *packed != self.after) {
            self.after = packed;
        }
        is_held
    }

    /// Changes it. Gives what it is then, if that has to be held.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn change(
        &mut self,
        reader: &mut Reader<'_>,
        known: &mut Differences,
        change: impl FnOnce(&mut Interaction),
    ) -> Result<Option<Interaction>> {
        let mut said = self.said(reader)?;
        let before = self.different.applied(said.clone());
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(None);
        }
        said.after.clone_from(&after.after);
        let different = Difference::between(&said, &after);
        if different.applied(said) != after || !self.set_after(&after.after) {
            return Ok(Some(after));
        }
        self.different = known.share(Arc::new(different));
        self.facts = Facts::of(&after);
        Ok(None)
    }

    fn said(&self, reader: &mut Reader<'_>) -> Result<Interaction> {
        let said = reader.interaction(&self.entries)?;
        let foreign = || Error::new(Kind::ForeignJournal).at(reader.journal().path());
        let mut said = said.ok_or_else(foreign)?;
        said.after = self.after();
        self.staged.put_into(&mut said, reader)?;
        Ok(said)
    }
}

impl Staged {
    pub(super) fn new(pieces: &[Range<u64>]) -> Self {
        Self(pieces.into())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads it into its interaction.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub(super) fn put_into(
        &self,
        interaction: &mut Interaction,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        self.put(interaction, || reader.bytes(&self.0))
    }

    fn put(
        &self,
        interaction: &mut Interaction,
        read: impl FnOnce() -> Result<Bytes>,
    ) -> Result<()> {
        if let (false, Outcome::Response(response)) = (self.is_empty(), &mut interaction.outcome) {
            response.body = Body::Whole(read()?);
        }
        Ok(())
    }
}

impl Facts {
    pub(super) fn of(interaction: &Interaction) -> Self {
        let response = interaction.response();
        let chunks = response.map_or(0, |it| it.body.chunks().len().max(it.frames.len()));
        Self {
            chunks: u32::try_from(chunks).unwrap_or(u32::MAX),
            is_answered: response.is_some(),
            is_good: response.is_some_and(|response| is_good(response.status)),
            is_listening: interaction.is_listening(),
            is_unanswered: is_unanswered(interaction),
            names_origin: !target::split(&interaction.request.path).0.is_empty(),
        }
    }
}

/// Whether a server lets a call of JSON-RPC, to which it sends events, without an answer: it had more to say.
fn is_unanswered(interaction: &Interaction) -> bool {
    let streamed = interaction.response().filter(|response| {
        Media::of_headers(&response.headers) == Media::EventStream && !interaction.is_socket()
    });
    let Some(response) = streamed else { return false };
    let body = interaction.request.readable();
    let call = Text::parse_container(&body).and_then(Envelope::of);
    let Some(call) = call.filter(|call| call.is_certain() && call.asked().is_some()) else {
        return false;
    };
    let mut is_answered = false;
    each_document(&String::from_utf8_lossy(&response.readable().bytes()), |_, message| {
        is_answered |= Envelope::of(message).is_some_and(|answer| answer.answers(&call));
    });
    !is_answered
}

/// What was going on in half the room, if the numbers are not too large for it.
fn packed(after: &[Progress]) -> Option<Arc<[(u32, u32)]>> {
    let pair =
        |it: &Progress| Some((u32::try_from(it.interaction).ok()?, u32::try_from(it.chunks).ok()?));
    after.iter().map(pair).collect()
}

impl Differences {
    fn share(&mut self, different: Arc<Difference>) -> Arc<Difference> {
        if let Some(same) = self.0.get(&different) {
            return Arc::clone(same);
        }
        self.0.insert(Arc::clone(&different));
        different
    }
}

impl Difference {
    fn between(said: &Interaction, interaction: &Interaction) -> Self {
        let (old, new) = (&said.request, &interaction.request);
        let answers = said.response().zip(interaction.response());
        Self {
            path: (old.path != new.path).then(|| new.path.as_str().into()),
            headers: fields_between(&old.headers, &new.headers),
            body: (old.body != new.body).then(|| new.body.clone()),
            answer: answers.and_then(|(old, new)| AnswerChanges::between(old, new)).map(Box::new),
        }
    }

    fn applied(&self, mut said: Interaction) -> Interaction {
        let request = &mut said.request;
        if let Some(path) = &self.path {
            request.path = path.to_string();
        }
        apply(&self.headers, &mut request.headers);
        if let Some(body) = &self.body {
            request.body = body.clone();
        }
        if let (Some(answer), Outcome::Response(response)) = (&self.answer, &mut said.outcome) {
            answer.apply(response);
        }
        said
    }
}

impl AnswerChanges {
    fn between(old: &Response, new: &Response) -> Option<Self> {
        let answer = Self {
            headers: fields_between(&old.headers, &new.headers),
            trailers: fields_between(&old.trailers, &new.trailers),
            body: (old.body != new.body).then(|| BodyChange::between(&old.body, &new.body)),
            left: new.left,
        };
        let is_same = answer.headers.is_empty()
            && answer.trailers.is_empty()
            && answer.body.is_none()
            && old.left == new.left;
        (!is_same).then_some(answer)
    }

    fn apply(&self, response: &mut Response) {
        apply(&self.headers, &mut response.headers);
        apply(&self.trailers, &mut response.trailers);
        response.left = self.left;
        match &self.body {
            None => {}
            Some(BodyChange::Whole) => response.body = Body::Whole(response.body.bytes()),
            Some(BodyChange::Cut(chunks)) => response.body = cut(&response.body.bytes(), chunks),
            Some(BodyChange::Other(body)) => response.body = body.clone(),
        }
    }
}

impl BodyChange {
    fn between(old: &Body, new: &Body) -> Self {
        match new {
            new if old.bytes() != new.bytes() => Self::Other(new.clone()),
            Body::Whole(_) => Self::Whole,
            Body::Stream(chunks) => {
                Self::Cut(chunks.iter().map(|it| (it.ms, it.bytes.len())).collect())
            }
        }
    }
}

fn cut(bytes: &Bytes, chunks: &[(u64, usize)]) -> Body {
    let mut start = 0;
    let chunk = |(ms, length): &(u64, usize)| {
        let end = bytes.len().min(start + length);
        let piece = bytes.slice(start..end);
        start = end;
        Chunk { ms: *ms, bytes: piece }
    };
    Body::Stream(chunks.iter().map(chunk).collect())
}

fn fields_between(old: &Headers, new: &Headers) -> Box<[ChangedField]> {
    let mut old = old.iter().peekable();
    let field = |(at, (name, value)): (usize, (&str, &Bytes))| {
        let there = old.next_if(|(other, _)| *other == name);
        if there.is_some_and(|(_, other)| other == value) {
            return None;
        }
        let name = there.is_none().then(|| name.into());
        // It would keep what it is a piece of.
        Some(ChangedField { at, name, value: Bytes::copy_from_slice(value) })
    };
    new.iter().enumerate().filter_map(field).collect()
}

fn apply(fields: &[ChangedField], headers: &mut Headers) {
    if fields.is_empty() {
        return;
    }
    let old = std::mem::take(headers);
    let (mut old, mut fields) = (old.iter(), fields.iter().peekable());
    for at in 0.. {
        match fields.next_if(|field| field.at == at) {
            Some(ChangedField { name: Some(name), value, .. }) => {
                headers.append(name, value.clone())
            }
            field => {
                let Some((name, value)) = old.next() else { return };
                headers.append(name, field.map_or(value, |field| &field.value).clone());
            }
        }
    }
}
