//! What an answer waits for that was still being sent when something was asked.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::cancel;
use crate::cassette::{Cassette, End};
use crate::serve::server::Cut;

/// What holds answers back: for each, which requests arrived meanwhile, and how many chunks it had been sent
/// by then.
///
/// # Rationale
///
/// A client opens such a stream (`GET` of an MCP server) to be told of what comes of its other requests,
/// and opens it again when it ends. Were all of it sent at once, it would be told of what it has not asked
/// for yet, and would ask for more than was recorded. Other streams are sent as fast as they are read:
/// what came after them waits for their end. But what came only behind a request that ends an answer waits
/// for that request, and an answer that its client gave up stays silent until it is given up again.
#[derive(Debug, Default)]
pub(super) struct Meanwhile(HashMap<usize, Vec<Gate>>);

/// Behind so many chunks, what comes next waits.
#[derive(Debug, Clone, Copy)]
struct Gate {
    chunks: usize,
    until: Until,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// This request, for as long as the client asks for anything.
    Asked(usize),
    /// This request, which ends the answer.
    Ended(usize),
    /// That the client leaves.
    Left,
}

/// A client that asks for nothing for so long does without what was recorded meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);

/// A client that has not ended an answer by then does not do it.
const UNTIL_ENDED: Duration = Duration::from_secs(30);

/// A client that has not left by then does not leave.
const UNTIL_LEFT: Duration = Duration::from_secs(300);

/// What a run has come to.
#[derive(Debug)]
pub(super) struct Run {
    /// Which interactions were asked for.
    asked: Vec<bool>,
    /// Answers that were not ended in time, and by which requests they should have been.
    overdue: Vec<(usize, usize)>,
    /// Whether the server goes away.
    is_over: bool,
}

impl Run {
    /// A run in which nothing was asked for yet.
    pub(super) fn begin(length: usize) -> watch::Sender<Self> {
        watch::Sender::new(Self { asked: vec![false; length], overdue: Vec::new(), is_over: false })
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

    /// Answers that were not ended in time, and by which requests they should have been, since this was
    /// asked last.
    pub(super) fn take_overdue(run: &watch::Sender<Self>) -> Vec<(usize, usize)> {
        if run.borrow().overdue.is_empty() {
            return Vec::new();
        }
        let mut overdue = Vec::new();
        run.send_modify(|run| overdue = std::mem::take(&mut run.overdue));
        overdue
    }
}

impl Meanwhile {
    pub(super) fn of(cassette: &Cassette) -> Self {
        let mut gates: HashMap<usize, Vec<Gate>> = HashMap::new();
        let all = &cassette.interactions;
        for (number, interaction) in
            all.iter().enumerate().filter(|(_, it)| !it.request.only_reads())
        {
            let under_way =
                interaction.after.iter().filter(|it| !all[it.interaction].is_listening());
            let is_only = under_way.count() == 1;
            for progress in &interaction.after {
                let answer = &all[progress.interaction];
                let until = if answer.is_listening() {
                    Until::Asked(number)
                } else if cancel::ends(&interaction.request, answer, is_only) {
                    Until::Ended(number)
                } else {
                    continue;
                };
                let gate = Gate { chunks: progress.chunks, until };
                gates.entry(progress.interaction).or_default().push(gate);
            }
        }
        for (number, _) in all.iter().enumerate().filter(|(_, it)| it.end() == End::ClientClosed) {
            let gate = Gate { chunks: usize::MAX, until: Until::Left };
            gates.entry(number).or_default().push(gate);
        }
        Self(gates)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that an interaction was asked for. Who asks again when all that was recorded meanwhile was
    /// asked for begins anew.
    pub(super) fn note(&self, number: usize, run: &mut Run) {
        let asked = &mut run.asked;
        let meanwhile = self.0.get(&number).into_iter().flatten();
        let requests = meanwhile.filter_map(|gate| gate.until.request());
        if requests.clone().all(|request| asked[request]) {
            requests.for_each(|request| asked[request] = false);
        }
        asked[number] = true;
    }

    /// What holds an answer back in a run, if anything does.
    pub(super) fn hold(&self, number: usize, run: &watch::Sender<Run>) -> Option<Hold> {
        let gates = self.0.get(&number)?.clone();
        Some(Hold { number, gates, run: run.clone(), waiting: None })
    }
}

impl Until {
    fn request(self) -> Option<usize> {
        match self {
            Self::Asked(request) | Self::Ended(request) => Some(request),
            Self::Left => None,
        }
    }
}

/// What holds an answer back.
pub(super) struct Hold {
    number: usize,
    gates: Vec<Gate>,
    run: watch::Sender<Run>,
    waiting: Option<Pin<Box<dyn Future<Output = Came> + Send + Sync>>>,
}

/// Whether what was waited for has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Yes,
    /// The client does without it.
    No,
    /// It does not come, and nothing else comes without it.
    Never,
}

impl Hold {
    /// Holds back the end of an answer until its client leaves.
    pub(super) fn silent(run: &watch::Sender<Run>) -> Self {
        let gates = vec![Gate { chunks: usize::MAX, until: Until::Left }];
        Self { number: 0, gates, run: run.clone(), waiting: None }
    }

    /// Ready when the next thing behind so many chunks may be sent, or never will be.
    pub(super) fn poll(&mut self, sent: usize, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                let came = ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                match came {
                    Came::Yes => {}
                    Came::No => self.gates.retain(|gate| !matches!(gate.until, Until::Asked(_))),
                    Came::Never => return Poll::Ready(Err(Cut)),
                }
            }
            let Some(at) = self.gates.iter().position(|gate| gate.chunks <= sent) else {
                return Poll::Ready(Ok(()));
            };
            let until = self.gates.remove(at).until;
            self.waiting = Some(Box::pin(come(until, self.number, self.run.clone())));
        }
    }

    /// The same for the end of the answer.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        self.poll(usize::MAX, context)
    }

    /// Waits until an answer in one piece may be sent.
    pub(super) async fn whole(&mut self) -> Result<(), Cut> {
        std::future::poll_fn(|context| self.poll(0, context)).await
    }

    /// Waits until an answer that never came may end.
    pub(super) async fn end(&mut self) {
        let _ = std::future::poll_fn(|context| self.poll_end(context)).await;
    }
}

/// Waits for something, which holds back the answer of that number.
async fn come(until: Until, number: usize, run: watch::Sender<Run>) -> Came {
    let mut changes = run.subscribe();
    let begun = Instant::now();
    loop {
        {
            let run = changes.borrow_and_update();
            if until.request().is_some_and(|request| run.asked.get(request) == Some(&true)) {
                return Came::Yes;
            }
            if run.is_over {
                return Came::Never;
            }
        }
        let limit = match until {
            Until::Asked(_) => Instant::now() + PATIENCE,
            Until::Ended(_) => begun + UNTIL_ENDED,
            Until::Left => begun + UNTIL_LEFT,
        };
        let changed = tokio::time::timeout_at(limit, changes.changed()).await;
        match (changed, until) {
            (Ok(Ok(())), _) => {}
            (_, Until::Asked(_)) => return Came::No,
            (_, Until::Left) => return Came::Never,
            (_, Until::Ended(request)) => {
                run.send_modify(|run| run.overdue.push((number, request)));
                return Came::Never;
            }
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("gates", &self.gates).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cassette() -> Cassette {
        let text = r#"{"retape": 1, "interactions": [
            {"request": {"method": "POST", "path": "/runs/run-1/stream"},
             "response": {"ms": 0, "status": 200, "end": "complete",
              "headers": {"content-type": "text/event-stream"},
              "stream": [{"ms": 0, "text": "data: 1\n\n"}, {"ms": 1, "text": "data: 2\n\n"}]}},
            {"after": {"1": 1}, "request": {"method": "POST", "path": "/runs/run-1/cancel"},
             "response": {"ms": 0, "status": 202, "headers": {}, "end": "complete"}}]}"#;
        crate::cassette::format::decode(text, |_| unreachable!()).expect("a cassette")
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_ended_in_time_is_cut_and_overdue() {
        let meanwhile = Meanwhile::of(&cassette());
        let run = Run::begin(2);
        let mut hold = meanwhile.hold(0, &run).expect("its tail is held back");
        let begun = Instant::now();

        assert_eq!(hold.whole().await, Ok(()));
        let tail = std::future::poll_fn(|context| hold.poll(1, context)).await;

        assert_eq!((tail, begun.elapsed()), (Err(Cut), UNTIL_ENDED));
        assert_eq!(Run::take_overdue(&run), [(0, 1)]);
        assert_eq!(Run::take_overdue(&run), []);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_goes_on_at_once_when_it_is_ended() {
        let meanwhile = Meanwhile::of(&cassette());
        let run = Run::begin(2);
        let mut hold = meanwhile.hold(0, &run).expect("its tail is held back");
        let begun = Instant::now();
        run.send_modify(|run| meanwhile.note(1, run));

        let tail = std::future::poll_fn(|context| hold.poll(1, context)).await;

        assert_eq!((tail, begun.elapsed()), (Ok(()), Duration::ZERO));
    }
}
