//! Sessions that go on from others: what those of fixtures record and what those of tests do says the same by the same
//! names.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::gateway::Gateway;
use crate::cassette::Name;
use crate::compare::alignment::Called;
use crate::serve::lock;
use crate::serve::recorder::Tape;
use crate::serve::replayer::Aliases;

/// What a session shares with others: those that it goes on from, such as those of fixtures, and those that go on from
/// it.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) sessions: Vec<Arc<Gateway>>,
    /// What the client calls otherwise in them.
    pub(super) aliases: Aliases,
    /// Whether others go on from this one.
    pub(super) is_shared: AtomicBool,
    /// What names were called before in this one itself, once it is saved.
    called: OnceLock<Vec<Called>>,
}

impl Gateway {
    /// Before it is saved: lets what is recorded call names as the sessions do that it goes on from, and keeps for
    /// those that go on from it what they are called.
    pub(super) fn agree(&self) {
        let tapes = self.tapes();
        for beside in self.beside.sessions.iter().filter(|_| !tapes.is_empty()) {
            let called = beside.called();
            tapes.iter().for_each(|(_, tape)| tape.give(&called));
        }
        if self.beside.is_shared.load(Ordering::Relaxed) {
            let _ = self.beside.called.set(self.called());
        }
    }

    fn called(&self) -> Vec<Called> {
        let called = || self.tapes().iter().flat_map(|(_, tape)| tape.called()).collect();
        self.beside.called.get().cloned().unwrap_or_else(called)
    }

    pub(super) fn tapes(&self) -> Vec<(Name, Arc<Tape>)> {
        let tapes = lock(&self.tapes);
        tapes.iter().filter_map(|(name, cell)| Some((name.clone(), cell.get()?.clone()))).collect()
    }
}
