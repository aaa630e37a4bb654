//! What a run has come to.

use std::collections::HashMap;

use tokio::sync::watch;
use tokio::time::Instant;

/// More chunks than any answer has: it is over.
pub(super) const ENDED: usize = usize::MAX;

/// What a run has come to.
#[derive(Debug)]
pub(super) struct RunProgress {
    /// Which interactions were asked for.
    pub(super) asked: Vec<bool>,
    /// How many chunks of answers were sent for which others wait, or that all came to its [end](ENDED), and since when.
    pub(super) said: HashMap<usize, (usize, Instant)>,
    /// When one was asked for that had not been before.
    pub(super) latest: Option<Instant>,
    pub(super) overdue: Vec<Overdue>,
    /// Whether the server goes away.
    pub(super) is_over: bool,
}

/// An answer that has waited in vain, and for which request; for none, if its client was to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overdue {
    pub(super) answer: usize,
    pub(super) request: Option<usize>,
}

impl RunProgress {
    /// A run in which nothing was asked for yet.
    pub(super) fn begin(length: usize) -> watch::Sender<Self> {
        let asked = vec![false; length];
        let said = HashMap::new();
        watch::Sender::new(Self { asked, said, latest: None, overdue: Vec::new(), is_over: false })
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Notes that an interaction was asked for otherwise, which nothing answers.
    pub(super) fn miss(&mut self, number: usize) {
        self.asked[number] = true;
    }

    pub(super) fn reset(&mut self) {
        self.asked.fill(false);
        self.said.clear();
    }

    /// Nothing is held back any more: what was comes to no end.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Answers that have waited in vain since this was asked last.
    pub(super) fn take_overdue(run: &watch::Sender<Self>) -> Vec<Overdue> {
        if run.borrow().overdue.is_empty() {
            return Vec::new();
        }
        let mut overdue = Vec::new();
        run.send_modify(|run| overdue = std::mem::take(&mut run.overdue));
        overdue
    }
}

/// Tells those that wait for an answer how many chunks of it were sent.
#[derive(Debug)]
pub(super) struct Teller {
    pub(super) number: usize,
    pub(super) run: watch::Sender<RunProgress>,
    pub(super) told: usize,
}

impl Teller {
    pub(super) fn tell(&mut self, sent: usize) {
        if sent > self.told {
            self.told = sent;
            let said = (self.number, (sent, Instant::now()));
            self.run.send_modify(|run| run.said.extend([said]));
        }
    }
}

/// To a client that has left nothing more is sent.
impl Drop for Teller {
    fn drop(&mut self) {
        self.tell(ENDED);
    }
}
