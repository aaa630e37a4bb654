//! What was asked while an answer was still being sent.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::watch;

use crate::cassette::{Cassette, End};
use crate::serve::server::Cut;

/// For each answer that a client listens to beside what else it does: which requests arrived meanwhile, and
/// how many chunks it had been sent by then.
///
/// # Rationale
///
/// A client opens such a stream (`GET` of an MCP server) to be told of what comes of its other requests,
/// and opens it again when it ends. Were all of it sent at once, it would be told of what it has not asked
/// for yet, and would ask for more than was recorded. Other streams are sent as fast as they are read:
/// what came after them waits for their end.
#[derive(Debug, Default)]
pub(super) struct Meanwhile(HashMap<usize, Vec<Gate>>);

/// Behind so many chunks, what comes next waits for this request.
#[derive(Debug, Clone, Copy)]
struct Gate {
    chunks: usize,
    request: usize,
}

/// No request: a stream that the client left was not at its end.
const NEVER: usize = usize::MAX;

/// A client that asks for nothing for so long does without what was recorded meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a run has come to.
#[derive(Debug)]
pub(super) struct Run {
    /// Which interactions were asked for.
    asked: Vec<bool>,
    /// Whether the server goes away.
    is_over: bool,
}

impl Run {
    /// A run in which nothing was asked for yet.
    pub(super) fn begin(length: usize) -> watch::Sender<Self> {
        watch::Sender::new(Self { asked: vec![false; length], is_over: false })
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn reset(&mut self) {
        self.asked.fill(false);
    }

    /// Nothing is held back any more: what was comes to no end.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }
}

impl Meanwhile {
    pub(super) fn of(cassette: &Cassette) -> Self {
        let mut gates: HashMap<usize, Vec<Gate>> = HashMap::new();
        let all = &cassette.interactions;
        for (request, interaction) in
            all.iter().enumerate().filter(|(_, it)| !it.request.only_reads())
        {
            for progress in interaction.after.iter().filter(|it| all[it.interaction].is_listening())
            {
                let gate = Gate { chunks: progress.chunks, request };
                gates.entry(progress.interaction).or_default().push(gate);
            }
        }
        for (listening, gates) in &mut gates {
            if all[*listening].end() == End::ClientClosed {
                gates.push(Gate { chunks: usize::MAX, request: NEVER });
            }
        }
        Self(gates)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that an interaction was asked for. Who listens again when all that was recorded meanwhile was
    /// asked for begins anew.
    pub(super) fn note(&self, number: usize, run: &mut Run) {
        let asked = &mut run.asked;
        let meanwhile = self.0.get(&number).into_iter().flatten();
        let requests = meanwhile.map(|gate| gate.request).filter(|request| *request != NEVER);
        if requests.clone().all(|request| asked[request]) {
            requests.for_each(|request| asked[request] = false);
        }
        asked[number] = true;
    }

    /// What holds an answer back in a run, if anything does.
    pub(super) fn hold(&self, number: usize, run: &watch::Sender<Run>) -> Option<Hold> {
        let gates = self.0.get(&number)?.clone();
        Some(Hold { gates, run: run.subscribe(), waiting: None })
    }
}

/// What holds an answer back.
pub(super) struct Hold {
    gates: Vec<Gate>,
    run: watch::Receiver<Run>,
    waiting: Option<Pin<Box<dyn Future<Output = Came> + Send + Sync>>>,
}

/// Whether what was waited for has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Yes,
    No,
    /// The server goes away before.
    Never,
}

impl Hold {
    /// Ready when the next thing behind so many chunks may be sent, or never will be.
    pub(super) fn poll(&mut self, sent: usize, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                let came = ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                match came {
                    Came::Yes => {}
                    Came::No => self.gates.clear(),
                    Came::Never => return Poll::Ready(Err(Cut)),
                }
            }
            let here = |gate: &Gate| gate.chunks <= sent;
            let needed: Vec<usize> =
                self.gates.iter().filter(|gate| here(gate)).map(|gate| gate.request).collect();
            if needed.is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.gates.retain(|gate| !here(gate));
            self.waiting = Some(Box::pin(come(needed, self.run.clone())));
        }
    }

    /// The same for the end of the answer.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        self.poll(usize::MAX, context)
    }
}

/// Waits until these requests have come.
async fn come(requests: Vec<usize>, mut run: watch::Receiver<Run>) -> Came {
    loop {
        {
            let run = run.borrow_and_update();
            if requests.iter().all(|request| run.asked.get(*request) == Some(&true)) {
                return Came::Yes;
            }
            if run.is_over {
                return Came::Never;
            }
        }
        if !matches!(tokio::time::timeout(PATIENCE, run.changed()).await, Ok(Ok(()))) {
            return Came::No;
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("gates", &self.gates).finish_non_exhaustive()
    }
}
