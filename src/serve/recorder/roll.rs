//! All interactions of a recording, of which a long one holds the last ones only.

use std::borrow::Cow;
use std::cell::RefCell;

use super::finished::{Differences, Finished};
use crate::cassette::{End, Interaction, Interactions, Outcome, Request};
use crate::error::{Error, Result};
use crate::store::Journal;

/// All interactions of a recording, in order. Those that live in the journal are read from there each time
/// they are looked at.
#[derive(Debug)]
pub(super) struct Roll<'j> {
    all: Vec<Rolled>,
    journal: &'j Journal,
    differences: Differences,
    /// Why one could not be read.
    failed: RefCell<Option<Error>>,
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
        Self { all, journal, differences, failed }
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
        let Self { all, journal, .. } = self;
        all.into_iter().map(|it| it.into_held(journal)).collect()
    }
}

impl Rolled {
    /// It, held.
    ///
    /// # Errors
    ///
    /// If it cannot be read from the journal.
    pub(super) fn into_held(self, journal: &Journal) -> Result<Interaction> {
        match self {
            Self::Held(interaction) => Ok(*interaction),
            Self::Finished(finished) => finished.interaction(journal),
        }
    }
}

impl Interactions for Roll<'_> {
    fn count(&self) -> usize {
        self.all.len()
    }

    fn at(&self, number: usize) -> Cow<'_, Interaction> {
        match &self.all[number] {
            Rolled::Held(interaction) => Cow::Borrowed(interaction),
            Rolled::Finished(finished) => match finished.interaction(self.journal) {
                Ok(interaction) => Cow::Owned(interaction),
                Err(error) => {
                    self.failed.borrow_mut().get_or_insert(error);
                    Cow::Owned(nothing())
                }
            },
        }
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut Interaction)) {
        let finished = match &mut self.all[number] {
            Rolled::Held(interaction) => return change(interaction),
            Rolled::Finished(finished) => finished,
        };
        match finished.change(self.journal, &mut self.differences, change) {
            Ok(None) => {}
            Ok(Some(other)) => self.all[number] = Rolled::Held(Box::new(other)),
            Err(error) => _ = self.failed.get_mut().get_or_insert(error),
        }
    }

    fn complete(&self) -> Result<()> {
        self.failed.borrow_mut().take().map_or(Ok(()), Err)
    }
}

/// What stands for an interaction that cannot be read. It is never saved.
fn nothing() -> Interaction {
    let (method, path, headers, body) = Default::default();
    let request = Request { method, path, headers, body };
    Interaction { after: Vec::new(), request, outcome: Outcome::Nothing(End::Interrupted) }
}
