//! All interactions of a recording, of which a long one holds the last ones only.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use super::finished::{Differences, Facts, Finished};
use super::take::begun;
use crate::cassette::{Interaction, Interactions, Progress, Request};
use crate::error::{Error, Result};
use crate::store::{Journal, Reader};

/// All interactions of a recording, in order. Those that live in the journal are read from there each time
/// they are looked at.
#[derive(Debug)]
pub(super) struct Roll<'j> {
    all: Vec<Rolled>,
    journal: &'j Journal,
    /// Reads what is to be changed, one after the other.
    reader: Reader<'j>,
    differences: Differences,
    /// Why one could not be read.
    failed: Mutex<Option<Error>>,
}

/// An interaction as it is to be saved.
#[derive(Debug)]
pub(super) enum Rolled {
    Held(Box<Interaction>),
    Finished(Finished),
}

impl<'j> Roll<'j> {
    /// None yet. Others are read from that journal.
    pub(super) fn new(journal: &'j Journal) -> Self {
        let (all, differences, failed) = Default::default();
        Self { all, journal, reader: journal.reader(), differences, failed }
    }

    /// Makes room for so many more at once.
    pub(super) fn reserve(&mut self, count: usize) {
        self.all.reserve_exact(count);
    }

    /// Adds the next one.
    pub(super) fn push(&mut self, rolled: Rolled) {
        self.all.push(rolled);
    }

    /// Whether there are some that are not held.
    pub(super) fn is_long(&self) -> bool {
        self.all.iter().any(|it| matches!(it, Rolled::Finished(_)))
    }

    /// Whether a WebSocket is among them. Those are held.
    pub(super) fn has_sockets(&self) -> bool {
        let is_socket = |it: &Rolled| matches!(it, Rolled::Held(it) if it.is_socket());
        self.all.iter().any(is_socket)
    }

    /// All of them, held.
    ///
    /// # Errors
    ///
    /// If one cannot be read from the journal.
    pub(super) fn into_held(self) -> Result<Vec<Interaction>> {
        let Self { all, mut reader, .. } = self;
        all.into_iter().map(|it| it.into_held(&mut reader)).collect()
    }

    /// What is often asked of the one of that number.
    pub(super) fn facts(&self, number: usize) -> Facts {
        match &self.all[number] {
            Rolled::Held(interaction) => Facts::of(interaction),
            Rolled::Finished(finished) => finished.facts,
        }
    }

    /// Says anew what was going on when the one of that number was asked.
    pub(super) fn set_after(&mut self, number: usize, after: Vec<Progress>) {
        let is_set = match &mut self.all[number] {
            Rolled::Finished(finished) => finished.set_after(&after),
            Rolled::Held(_) => false,
        };
        if !is_set {
            self.change(number, |interaction| interaction.after = after);
        }
    }

    fn read<'r>(&self, rolled: &'r Rolled, reader: &mut Reader<'_>) -> Cow<'r, Interaction> {
        match rolled {
            Rolled::Held(interaction) => Cow::Borrowed(interaction),
            Rolled::Finished(finished) => {
                let read = finished.interaction(reader);
                Cow::Owned(read.unwrap_or_else(|error| {
                    self.fail(error);
                    nothing()
                }))
            }
        }
    }

    fn fail(&self, error: Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl Rolled {
    /// It, held.
    ///
    /// # Errors
    ///
    /// If it cannot be read from the journal.
    pub(super) fn into_held(self, reader: &mut Reader<'_>) -> Result<Interaction> {
        match self {
            Self::Held(interaction) => Ok(*interaction),
            Self::Finished(finished) => finished.interaction(reader),
        }
    }
}

impl Interactions for Roll<'_> {
    fn count(&self) -> usize {
        self.all.len()
    }

    fn at(&self, number: usize) -> Cow<'_, Interaction> {
        self.read(&self.all[number], &mut self.journal.reader())
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut Interaction)) {
        let finished = match &mut self.all[number] {
            Rolled::Held(interaction) => return change(interaction),
            Rolled::Finished(finished) => finished,
        };
        match finished.change(&mut self.reader, &mut self.differences, change) {
            Ok(None) => {}
            Ok(Some(other)) => self.all[number] = Rolled::Held(Box::new(other)),
            Err(error) => self.fail(error),
        }
    }

    fn complete(&self) -> Result<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }

    fn each(&self) -> impl Iterator<Item = Cow<'_, Interaction>> {
        let mut reader = self.journal.reader();
        self.all.iter().map(move |rolled| self.read(rolled, &mut reader))
    }

    fn after(&self, number: usize) -> Vec<Progress> {
        match &self.all[number] {
            Rolled::Held(interaction) => interaction.after.clone(),
            Rolled::Finished(finished) => finished.after(),
        }
    }

    fn names_origin(&self, number: usize) -> bool {
        self.facts(number).names_origin
    }
}

/// What stands for an interaction that cannot be read. It is never saved.
fn nothing() -> Interaction {
    begun(Vec::new(), Request::of("", ""))
}

/// Whether an answer had still something to send. One of which only the end was missing had said
/// all, unless the client listened for more, or never got the answer to its call: servers are often a
/// moment late with the end. What a body in one piece had sent of itself depends on the network and is
/// not kept.
pub(super) fn unfinished(progress: &mut Progress, earlier: Facts) -> bool {
    if earlier.chunks == 0 {
        progress.chunks = 0;
        return true;
    }
    progress.chunks < earlier.chunks as usize || earlier.is_listening || earlier.is_unanswered
}
