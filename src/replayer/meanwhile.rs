//! What was asked while an answer was still being sent.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::watch;

use crate::cassette::{Cassette, End};

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

/// Which interactions were asked for in a run.
type Asked = Vec<bool>;

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
    pub(super) fn note(&self, number: usize, asked: &mut Asked) {
        let meanwhile = self.0.get(&number).into_iter().flatten();
        let requests = meanwhile.map(|gate| gate.request).filter(|request| *request != NEVER);
        if requests.clone().all(|request| asked[request]) {
            requests.for_each(|request| asked[request] = false);
        }
        asked[number] = true;
    }

    /// What holds an answer back in a run, if anything does.
    pub(super) fn hold(&self, number: usize, asked: &watch::Sender<Asked>) -> Option<Hold> {
        let gates = self.0.get(&number)?.clone();
        Some(Hold { gates, asked: asked.subscribe(), waiting: None })
    }
}

/// What holds an answer back.
pub(super) struct Hold {
    gates: Vec<Gate>,
    asked: watch::Receiver<Asked>,
    waiting: Option<Pin<Box<dyn Future<Output = Came> + Send + Sync>>>,
}

/// Whether what was waited for has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Yes,
    No,
}

impl Hold {
    /// Ready when the next thing behind so many chunks may be sent.
    pub(super) fn poll(&mut self, sent: usize, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                let came = ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                if came == Came::No {
                    self.gates.clear();
                }
            }
            let here = |gate: &Gate| gate.chunks <= sent;
            let needed: Vec<usize> =
                self.gates.iter().filter(|gate| here(gate)).map(|gate| gate.request).collect();
            if needed.is_empty() {
                return Poll::Ready(());
            }
            self.gates.retain(|gate| !here(gate));
            self.waiting = Some(Box::pin(come(needed, self.asked.clone())));
        }
    }

    /// The same for the end of the answer.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll(usize::MAX, context)
    }
}

/// Waits until these requests have come.
async fn come(requests: Vec<usize>, mut asked: watch::Receiver<Asked>) -> Came {
    loop {
        let came = {
            let asked = asked.borrow_and_update();
            requests.iter().all(|request| asked.get(*request) == Some(&true))
        };
        if came {
            return Came::Yes;
        }
        if !matches!(tokio::time::timeout(PATIENCE, asked.changed()).await, Ok(Ok(()))) {
            return Came::No;
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("gates", &self.gates).finish_non_exhaustive()
    }
}
