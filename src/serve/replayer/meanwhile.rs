//! What an answer waits for that was still being sent when something was asked.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::across::Across;
use super::naming::Naming;
use super::run::{ENDED, Overdue, RunProgress, Teller};
use crate::cassette::{Body, Cassette, End, Interaction, Progress, Request};
use crate::compare::matching::{Feeds, Index};
use crate::serve::server::Cut;
use crate::text::words::shown;

/// What holds answers back: for each, which requests arrived meanwhile, and how many chunks it had been sent
/// by then.
///
/// # Rationale
///
/// What an answer said after a request had come may show what that request did
/// ([`Index::may_show`]), so it waits for it, as [whole answers](crate::config::Early) do. It is of no
/// account how fast either side is. Whoever asked so once had not seen the rest, so it costs no time.
///
/// A client opens some streams (`GET` of an MCP server) to be told of what comes of all its other requests,
/// and opens them again when they end. Were all of such a stream sent at once, it would be told of what it
/// has not asked for yet, and would ask for more than was recorded. So it waits for all that was asked
/// meanwhile, but not for long. So does a question that had no answer yet when something was written at the
/// same address: it polls for what comes of it ([`Index::polls`]). So does the end of a stream that had nothing more
/// to say: a server that never answers a cancelled call ends its stream with the session. Other streams are sent as
/// fast as they are read: a client may ask in turn what it once asked at the same time.
///
/// An answer that its client gave up stays silent until it is given up again. What names a thing waits for
/// [another stream](Across) that has told of it.
#[derive(Debug, Default)]
pub(super) struct Meanwhile {
    gates: HashMap<usize, Vec<Gate>>,
    /// The answers that tell others how far they have come.
    telling: HashSet<usize>,
}

/// Behind so many chunks, what comes next waits.
#[derive(Debug, Clone, Copy)]
struct Gate {
    chunks: usize,
    until: Until,
    /// Whether the head waits as well: it came with the body.
    head: bool,
    /// How long after what came before it that was sent which is held back, in milliseconds.
    gap: u64,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// This request, for as long as the client asks for anything.
    Asked(usize),
    /// This request, whose doing the rest may show.
    Done(usize),
    /// That another answer was sent so far.
    Said { answer: usize, chunks: usize },
    /// That the client leaves.
    Left,
}

/// A client that asks for nothing new for so long does without what was recorded meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);

/// A client that asks for nothing new for so long, and twice as long as it took when it was recorded, does
/// not ask for what the rest of an answer shows.
const UNTIL_DONE: Duration = Duration::from_secs(30);

/// A client that has not left by then does not leave.
const UNTIL_LEFT: Duration = Duration::from_secs(300);

/// So long a client takes at most to read what was sent on one connection before it reads another one.
const UNTIL_READ: Duration = Duration::from_millis(10);

impl Meanwhile {
    /// What holds the answers of a cassette back. `whole` is the interaction that one opens: with all that
    /// went over it, if it is a WebSocket.
    pub(super) fn of<'c>(
        cassette: &'c Cassette,
        index: &Index,
        whole: impl Fn(usize) -> &'c Interaction,
    ) -> Self {
        let (mut gates, mut telling) = (HashMap::<usize, Vec<Gate>>::new(), HashSet::new());
        let (all, feeds) = (&cassette.interactions, Feeds::of(cassette));
        let may_cause = |it: &Interaction| !it.request.only_reads() || is_answered_elsewhere(it);
        for (asking, interaction) in all.iter().enumerate().filter(|(_, it)| may_cause(it)) {
            let beside = interaction.after.iter().map(|it| (whole(it.interaction), it.chunks));
            let is_reply = index.replies_beside(interaction, beside);
            for Progress { interaction: number, chunks } in interaction.after.iter().copied() {
                let answer = whole(number);
                let pair = ((number, answer), (asking, interaction));
                let shows = index.may_show(pair.0, chunks, pair.1)
                    && !index.is_said_before(cassette, pair.0, pair.1);
                let until = if shows {
                    Until::Done(asking)
                } else if answer.is_listening()
                    || is_left(answer)
                    || is_silent(answer, chunks)
                    || index.polls(answer, chunks, interaction, &feeds)
                {
                    Until::Asked(asking)
                } else if is_reply && index.awaits(cassette, pair.0, pair.1) {
                    Until::Done(asking)
                } else {
                    continue;
                };
                let gate =
                    Gate { chunks, until, head: came_whole(answer), gap: gap(answer, chunks) };
                gates.entry(number).or_default().push(gate);
                if ends_with(answer, chunks, &interaction.request) {
                    let until = Until::Said { answer: number, chunks: ENDED };
                    let gate = Gate { chunks: 0, until, head: true, gap: 0 };
                    gates.entry(asking).or_default().push(gate);
                    telling.insert(number);
                }
            }
        }
        for (number, _) in all.iter().enumerate().filter(|(_, it)| it.end() == End::ClientClosed) {
            let gate = Gate { chunks: usize::MAX, until: Until::Left, head: false, gap: 0 };
            gates.entry(number).or_default().push(gate);
        }
        for Across { answer, chunks, other, said } in Across::all(cassette) {
            let until = Until::Said { answer: other, chunks: said };
            gates.entry(answer).or_default().push(Gate { chunks, until, head: false, gap: 0 });
            gates.entry(other).or_default();
            telling.insert(other);
        }
        Self { gates, telling }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// Notes that an interaction was asked for. Who asks again when all that was recorded meanwhile was
    /// asked for begins anew.
    pub(super) fn note(&self, number: usize, run: &mut RunProgress) {
        let asked = &mut run.asked;
        let meanwhile = self.gates.get(&number).into_iter().flatten();
        let requests = meanwhile.filter_map(|gate| gate.until.request());
        if !asked[number] {
            run.latest = Some(Instant::now());
        } else if requests.clone().all(|request| asked[request]) {
            requests.for_each(|request| asked[request] = false);
        }
        asked[number] = true;
        run.said.remove(&number);
    }

    /// What holds an answer back in a run, if anything does.
    pub(super) fn hold(&self, number: usize, run: &watch::Sender<RunProgress>) -> Option<Hold> {
        let gates = self.gates.get(&number)?.clone();
        let teller = || Teller { number, run: run.clone(), told: 0 };
        let teller = self.telling.contains(&number).then(teller);
        Some(Hold { gates, teller, ..Hold::of(number, run) })
    }
}

impl Until {
    fn request(self) -> Option<usize> {
        match self {
            Self::Asked(request) | Self::Done(request) => Some(request),
            Self::Said { .. } | Self::Left => None,
        }
    }
}

/// What holds an answer back.
pub(super) struct Hold {
    number: usize,
    gates: Vec<Gate>,
    run: watch::Sender<RunProgress>,
    waiting: Option<Pin<Box<dyn Future<Output = WaitOutcome> + Send + Sync>>>,
    /// What is said by then, and whether anything has come since it was asked last.
    naming: Option<Box<Naming>>,
    has_passed: bool,
    /// Tells those that wait for it, if any do.
    teller: Option<Teller>,
}

/// Whether what was waited for has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitOutcome {
    Yes,
    /// The client does without it.
    No,
    /// It does not come, and nothing else comes without it.
    Never,
}

impl Hold {
    /// Holds back the end of an answer until its client leaves.
    pub(super) fn silent(run: &watch::Sender<RunProgress>) -> Self {
        let gates = vec![Gate { chunks: usize::MAX, until: Until::Left, head: false, gap: 0 }];
        Self { gates, ..Self::of(0, run) }
    }

    fn of(number: usize, run: &watch::Sender<RunProgress>) -> Self {
        let (gates, run) = (Vec::new(), run.clone());
        let (waiting, naming) = (None, None);
        Self { number, gates, run, waiting, naming, has_passed: false, teller: None }
    }

    /// Lets the rest have the names that the client has made up by then.
    pub(super) fn naming(self, naming: Naming) -> Self {
        Self { naming: Some(Box::new(naming)), ..self }
    }

    /// The whole body by the names of now, if anything has come that the rest of it waited for.
    pub(super) fn named(&mut self) -> Option<Body> {
        let naming = self.naming.as_ref()?;
        std::mem::take(&mut self.has_passed).then(|| naming.body()).flatten()
    }

    /// Ready when the next thing behind so many chunks may be sent, or never will be.
    pub(super) fn poll(&mut self, sent: usize, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        self.teller.iter_mut().for_each(|teller| teller.tell(sent.min(ENDED - 1)));
        loop {
            if let Some(waiting) = &mut self.waiting {
                let came = ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                self.has_passed = true;
                match came {
                    WaitOutcome::Yes => {}
                    WaitOutcome::No => {
                        self.gates.retain(|gate| !matches!(gate.until, Until::Asked(_)))
                    }
                    WaitOutcome::Never => return Poll::Ready(Err(Cut)),
                }
            }
            let Some(at) = self.gates.iter().position(|gate| gate.chunks <= sent) else {
                self.teller.iter_mut().for_each(|teller| teller.tell(sent));
                return Poll::Ready(Ok(()));
            };
            let gate = self.gates.remove(at);
            self.waiting = Some(Box::pin(come(gate, self.number, self.run.clone())));
        }
    }

    /// The same for the end of the answer.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        self.poll(usize::MAX, context)
    }

    /// Whether even the head waits.
    pub(super) fn holds_head(&self) -> bool {
        self.gates.iter().any(|gate| gate.head)
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
async fn come(gate: Gate, answer: usize, run: watch::Sender<RunProgress>) -> WaitOutcome {
    let Gate { until, gap, .. } = gate;
    let mut changes = run.subscribe();
    let begun = Instant::now();
    loop {
        let said = match until {
            Until::Said { answer, chunks } => {
                let said = changes.borrow_and_update().said.get(&answer).copied();
                said.filter(|(sent, _)| *sent >= chunks)
            }
            Until::Asked(_) | Until::Done(_) | Until::Left => None,
        };
        if let Some((_, sent)) = said {
            tokio::time::sleep_until(sent + UNTIL_READ).await;
            return WaitOutcome::Yes;
        }
        let latest = {
            let run = changes.borrow_and_update();
            let is_asked = |number: usize| run.asked.get(number) == Some(&true);
            let is_done = match until {
                Until::Asked(request) | Until::Done(request) => is_asked(request),
                // What is not open does not end.
                Until::Said { answer, chunks } => chunks == ENDED && !is_asked(answer),
                Until::Left => false,
            };
            if is_done {
                return WaitOutcome::Yes;
            }
            if run.is_over {
                return WaitOutcome::Never;
            }
            run.latest.map_or(begun, |latest| latest.max(begun))
        };
        let limit = match until {
            Until::Asked(_) | Until::Said { .. } => latest + PATIENCE,
            Until::Done(_) => latest + UNTIL_DONE + Duration::from_millis(gap.saturating_mul(2)),
            Until::Left => begun + UNTIL_LEFT,
        };
        let changed = tokio::time::timeout_at(limit, changes.changed()).await;
        if let Ok(Ok(())) = changed {
            continue;
        }
        match until {
            Until::Asked(_) => return WaitOutcome::No,
            // What was said otherwise then is said otherwise now.
            Until::Said { .. } => return WaitOutcome::Yes,
            Until::Done(_) | Until::Left => {}
        }
        run.send_modify(|run| run.overdue.push(Overdue { answer, request: until.request() }));
        return WaitOutcome::Never;
    }
}

/// Whether an answer came in one piece. The head of a stream comes before its first event.
fn came_whole(answer: &Interaction) -> bool {
    let body = answer.response().map(|response| &response.body);
    !answer.is_listening() && matches!(body, Some(Body::Whole(_)))
}

/// Whether the client left a stream that went on: it listened there beside what else it did, as to a `GET`.
fn is_left(answer: &Interaction) -> bool {
    let body = answer.response().map(|response| &response.body);
    answer.end() == End::ClientClosed && matches!(body, Some(Body::Stream(_)))
}

/// Whether nothing came behind so many chunks but the end. It came a while later, or what the client had asked was
/// never answered: else the cassette does not say that it was still open.
fn is_silent(answer: &Interaction, chunks: usize) -> bool {
    let body = answer.response().map_or(&[][..], |response| response.body.chunks());
    let rest = body.get(chunks..).filter(|rest| chunks > 0 || !rest.is_empty());
    rest.is_some_and(|rest| rest.iter().all(|it| it.bytes.is_empty()))
}

/// Whether what a question asks for came elsewhere: it was sent in a body, and was accepted with an empty one. A `GET` of
/// nothing asks whether anything is there.
fn is_answered_elsewhere(question: &Interaction) -> bool {
    let response = question.response().filter(|it| (200..300).contains(&it.status));
    !question.request.body.is_empty() && response.is_some_and(|it| it.body.bytes().is_empty())
}

/// Whether a request ends a session that its client listens to, and so the stream of it, which had no more to say: the
/// server closes that while it answers. A client that hears the answer first breaks the stream off.
fn ends_with(answer: &Interaction, chunks: usize, asked: &Request) -> bool {
    asked.method == "DELETE"
        && answer.is_listening()
        && answer.end() == End::Complete
        && answer.request.path_only() == asked.path_only()
        && answer.response().is_some_and(|it| it.body.chunks().len() <= chunks)
}

/// How long after its first chunks the next one was sent, in milliseconds.
fn gap(answer: &Interaction, chunks: usize) -> u64 {
    let Some(response) = answer.response() else { return 0 };
    let frames = response.frames.iter().map(|frame| frame.ms);
    let mut times = response.body.chunks().iter().map(|chunk| chunk.ms).chain(frames);
    let before = chunks.checked_sub(1).map_or(Some(0), |last| times.nth(last));
    let next = times.next().unwrap_or(response.ms);
    next.saturating_sub(before.unwrap_or(next))
}

shown!(Debug: Hold, it => "Hold {{ gates: {:?}, .. }}", it.gates);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Meanwhile {
        let cassette =
            crate::cassette::format::decode(text, |_| unreachable!()).expect("a cassette");
        let index = Index::of(&cassette, crate::config::Rules::default());
        Meanwhile::of(&cassette, &index, |number| &cassette.interactions[number])
    }

    /// A stream that ends behind a request that names what it has told of, and one that its client gave up.
    fn meanwhile() -> Meanwhile {
        let text = r#"{"retape": 1, "interactions": [
            {"request": {"method": "POST", "path": "/chat"},
             "response": {"ms": 0, "status": 200, "end": "complete",
              "headers": {"content-type": "text/event-stream"},
              "stream": [{"ms": 0, "text": "data: {\"run\": \"run-48992ed470c7\"}\n\n"},
                         {"ms": 500, "text": "data: 2\n\n"}]}},
            {"after": {"1": 1}, "request": {"method": "POST", "path": "/runs/run-48992ed470c7/finish"},
             "response": {"ms": 0, "status": 202, "headers": {}, "end": "complete"}},
            {"request": {"method": "POST", "path": "/slow"},
             "response": {"ms": 0, "status": 200, "end": "client_closed",
              "headers": {"content-type": "text/event-stream"},
              "stream": [{"ms": 0, "text": "data: 1\n\n"}]}}]}"#;
        of(text)
    }

    /// Whether the answer to a question that was asked twice, or that to an upload beside it, waits for an upload.
    fn waits(first: &str, second: &str, [one, other]: [&str; 2]) -> [bool; 2] {
        let answer = |text: &str| {
            format!(
                r#""response": {{"ms": 0, "status": 200, "headers": {{}}, "end": "complete", "text": "{text}"}}"#
            )
        };
        let asked = |after: &str, method: &str, path: &str, said: &str| {
            format!(
                r#"{{{after}"request": {{"method": "{method}", "path": "/d-48992ed470c7{path}"}}, {}}}"#,
                answer(said)
            )
        };
        let all = [
            asked("", "GET", "", first),
            asked("", "GET", "", second),
            asked(r#""after": {"2": 0}, "#, "PUT", one, "made"),
            asked(r#""after": {"2": 0, "3": 0}, "#, "PUT", other, "made"),
        ];
        let meanwhile = of(&format!(r#"{{"retape": 1, "interactions": [{}]}}"#, all.join(",")));
        [1, 2].map(|number| meanwhile.gates.contains_key(&number))
    }

    #[test]
    fn what_was_answered_so_before_and_what_is_put_beside_waits_for_nothing() {
        assert_eq!(waits("two", "three", ["/1", "/2"]), [true, false]);
        assert_eq!(waits("two", "two", ["/1", "/2"]), [false, false]);
        // What is done to one thing may show in the other.
        assert_eq!(waits("two", "two", ["/run", "/stop"]), [false, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_waited_for_in_vain_cuts_the_answer_and_is_overdue() {
        let (meanwhile, run) = (meanwhile(), RunProgress::begin(3));
        let mut hold = meanwhile.hold(0, &run).expect("its tail is held back");
        let begun = Instant::now();

        assert_eq!(hold.whole().await, Ok(()));
        let tail = std::future::poll_fn(|context| hold.poll(1, context)).await;

        assert_eq!((tail, begun.elapsed()), (Err(Cut), UNTIL_DONE + Duration::from_secs(1)));
        assert_eq!(RunProgress::take_overdue(&run), [Overdue { answer: 0, request: Some(1) }]);
        assert_eq!(RunProgress::take_overdue(&run), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_asks_for_something_new_is_waited_for_longer() {
        let (meanwhile, run) = (meanwhile(), RunProgress::begin(3));
        let mut hold = meanwhile.hold(0, &run).expect("its tail is held back");
        let begun = Instant::now();
        let asks = async {
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                run.send_modify(|run| meanwhile.note(2, run));
            }
        };

        let tail = async {
            let tail = std::future::poll_fn(|context| hold.poll(1, context)).await;
            (tail, begun.elapsed())
        };
        let (tail, ()) = tokio::join!(tail, asks);

        // It asked for the same again and again, which is nothing new.
        assert_eq!(tail, (Err(Cut), Duration::from_secs(20 + 31)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_goes_on_at_once_when_what_it_shows_was_asked() {
        let (meanwhile, run) = (meanwhile(), RunProgress::begin(3));
        let mut hold = meanwhile.hold(0, &run).expect("its tail is held back");
        let begun = Instant::now();
        run.send_modify(|run| meanwhile.note(1, run));

        let tail = std::future::poll_fn(|context| hold.poll(1, context)).await;

        assert_eq!((tail, begun.elapsed()), (Ok(()), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_waits_for_a_write_to_any_path_as_long_as_anything_is_asked() {
        let ask = |after: &str, method: &str, path: &str| {
            format!(
                r#"{{{after}"request": {{"method": "{method}", "path": "{path}"}},
                "response": {{"ms": 9, "status": 200, "headers": {{}}, "end": "complete"}}}}"#
            )
        };
        let held = |path: &str| {
            let text = [
                ask("", "GET", path),
                ask(r#""after": {"1": 0}, "#, "PUT", "/rooms/lobby/send"),
                ask("", "GET", path),
            ];
            let text = format!(r#"{{"retape": 1, "interactions": [{}]}}"#, text.join(", "));
            of(&text)
        };
        let (meanwhile, run) = (held("/sync"), RunProgress::begin(3));
        let mut hold = meanwhile.hold(0, &run).expect("it waits for what is sent");
        let begun = Instant::now();

        assert_eq!(hold.whole().await, Ok(()));
        assert_eq!(begun.elapsed(), PATIENCE);
        // What names one thing waits only for what names it too.
        assert!(held("/rooms/48992ed470c7b3").is_empty());
    }

    #[test]
    fn a_stream_waits_for_a_question_that_is_answered_there() {
        let is_held = |body: &str, answer: &str| {
            let text = format!(
                r#"{{"retape": 1, "interactions": [
                {{"request": {{"method": "GET", "path": "/graphql"}},
                 "response": {{"ms": 0, "status": 200, "end": "client_closed",
                  "headers": {{"content-type": "text/event-stream"}},
                  "stream": [{{"ms": 0, "text": ":\n\n"}}, {{"ms": 900, "text": "data: 1\n\n"}}]}}}},
                {{"after": {{"1": 1}},
                 "request": {{"method": "POST", "path": "/graphql", "text": {body}}},
                 "response": {{"ms": 0, "headers": {{}}, "end": "complete", {answer}}}}}]}}"#
            );
            let gates = &of(&text).gates[&0];
            gates.iter().any(|gate| gate.chunks == 1 && gate.until == Until::Asked(1))
        };
        let query = r#""{\"query\": \"{ name }\"}""#;

        assert!(is_held(query, r#""status": 202"#));
        assert!(!is_held(query, r#""status": 200, "text": "{\"data\": {}}""#));
        assert!(!is_held(query, r#""status": 400"#));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_stream_that_says_nothing_more_waits_for_what_was_asked_meanwhile() {
        let ends = |late: &str| {
            let text = format!(
                r#"{{"retape": 1, "interactions": [
                {{"request": {{"method": "POST", "path": "/call"}},
                 "response": {{"ms": 0, "status": 200, "end": "complete",
                  "headers": {{"content-type": "text/event-stream"}},
                  "stream": [{{"ms": 0, "text": "data: 1\n\n"}}, {{"ms": 900, "text": "{late}"}}]}}}},
                {{"after": {{"1": 1}}, "request": {{"method": "DELETE", "path": "/session"}},
                 "response": {{"ms": 0, "status": 204, "headers": {{}}, "end": "complete"}}}}]}}"#
            );
            of(&text)
        };
        let (meanwhile, run) = (ends(""), RunProgress::begin(2));
        let begun = Instant::now();
        let mut hold = meanwhile.hold(0, &run).expect("its end is held back");
        assert_eq!(std::future::poll_fn(|context| hold.poll(0, context)).await, Ok(()));

        let asks = async {
            tokio::time::sleep(PATIENCE / 2).await;
            run.send_modify(|run| meanwhile.note(1, run));
        };
        let (end, ()) = tokio::join!(std::future::poll_fn(|context| hold.poll_end(context)), asks);

        assert_eq!((end, begun.elapsed()), (Ok(()), PATIENCE / 2));
        // Nobody waits long for a client that asks for less, nor for what a stream goes on to say.
        let (run, begun) = (RunProgress::begin(2), Instant::now());
        let mut hold = meanwhile.hold(0, &run).expect("its end is held back");
        let end = std::future::poll_fn(|context| hold.poll_end(context)).await;
        assert_eq!((end, begun.elapsed()), (Ok(()), PATIENCE));
        assert!(ends("data: 2\\n\\n").is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_was_given_up_waits_for_its_client_alone() {
        let text = r#"{"retape": 1, "interactions": [
            {"request": {"method": "POST", "path": "/runs/run-48992ed470c7"},
             "response": {"end": "client_closed"}},
            {"after": {"1": 0}, "request": {"method": "POST", "path": "/runs/run-48992ed470c7"},
             "response": {"ms": 0, "status": 200, "headers": {}, "end": "complete"}}]}"#;
        let meanwhile = of(text);
        let run = RunProgress::begin(2);
        let mut hold = meanwhile.hold(0, &run).expect("it is silent");
        let begun = Instant::now();

        hold.end().await;

        assert_eq!(begun.elapsed(), UNTIL_LEFT);
        assert_eq!(RunProgress::take_overdue(&run), [Overdue { answer: 0, request: None }]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_leave_as_it_did_is_told_in_the_end() {
        let (meanwhile, run) = (meanwhile(), RunProgress::begin(3));
        let mut hold = meanwhile.hold(2, &run).expect("its end is held back");
        let begun = Instant::now();

        let end = std::future::poll_fn(|context| hold.poll_end(context)).await;

        assert_eq!((end, begun.elapsed()), (Err(Cut), UNTIL_LEFT));
        assert_eq!(RunProgress::take_overdue(&run), [Overdue { answer: 2, request: None }]);
    }
}
