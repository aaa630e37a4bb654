//! What went over a recorded WebSocket, made ready to be played.

use std::collections::{BTreeSet, HashMap};

use crate::cassette::exchanges::MESSAGE;
use crate::cassette::{Body, Content, End, Frame, Interaction, Peer, Response, target};
use crate::compare::matching::Index;
use crate::config::RequestLine;
use crate::identity::{Echo, Renamed, Scope};
use crate::redact::Unveiled;

/// What went over a recorded WebSocket.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The number of the interaction in the cassette.
    pub(super) interaction: usize,
    /// Milliseconds from the request to the answer.
    pub(super) opened: u64,
    pub(super) steps: Vec<ScriptFrame>,
    pub(super) end: End,
}

/// How far one has come.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// The frames of the client that have not come.
    to_come: BTreeSet<usize>,
    /// Those of the server that were not sent.
    to_send: BTreeSet<usize>,
    /// How many have passed.
    pub(super) count: usize,
    /// The last one of the client that has come.
    latest: Option<usize>,
    /// Those of the client that are not waited for any more.
    pub(super) over: Vec<usize>,
    /// Behind how many frames the client is waited for, as it may be another one.
    pub(super) held: Option<usize>,
}

impl Passed {
    /// So many frames have passed, from the beginning.
    pub(super) fn behind(count: usize, script: &Script) -> Self {
        let count = count.min(script.steps.len());
        let left = count..script.steps.len();
        let (to_come, to_send) = left.partition(|at| script.is_of_client(*at));
        let latest = (0..count).rev().find(|at| script.is_of_client(*at));
        Self { to_come, to_send, count, latest, ..Self::default() }
    }

    /// Whether it is the first frames that have passed, and no more than so many.
    pub(super) fn is_within(&self, beginning: usize) -> bool {
        let next = [self.to_come.first(), self.to_send.first()].into_iter().flatten().min();
        self.count <= beginning && next.is_none_or(|next| *next == self.count)
    }

    /// A frame passes.
    pub(super) fn pass(&mut self, at: usize) {
        let comes = self.to_come.remove(&at);
        self.count += usize::from(comes || self.to_send.remove(&at));
        self.latest = self.latest.max(Some(at).filter(|_| comes));
    }
}

/// A frame.
#[derive(Debug)]
pub(super) struct ScriptFrame {
    pub(super) frame: Frame,
    /// The exchange of a message of the client.
    pub(super) exchange: Option<usize>,
    /// Whether the client may leave it out.
    pub(super) is_optional: bool,
    /// Where what the client made up comes back.
    echoes: Vec<Echo>,
    /// The message of the client that a frame of the server answers: the latest one whose own names it
    /// repeats.
    answers: Option<usize>,
    /// The message of the client that it is about, if that is the only one whose answers were not over.
    about: Option<usize>,
    /// Whether it is a message of the client that something answers by name.
    is_call: bool,
}

impl Script {
    /// Reads a WebSocket. `asked` tells the exchange of a message of the client.
    pub(super) fn of(
        interaction: &Interaction,
        number: usize,
        index: &Index,
        asked: impl Fn(usize) -> Option<usize>,
    ) -> Option<Self> {
        let response = interaction.response()?;
        let mut born: HashMap<(Scope, String), usize> = HashMap::new();
        let path = target::split(interaction.request.path_only()).1;
        let is_optional = |frame: &Frame| {
            let body = frame.message().map_or(&[][..], |message| message);
            index.rules().is_optional(RequestLine {
                method: MESSAGE,
                path,
                interaction: number,
                body,
            })
        };
        let steps = response.frames.iter().enumerate().map(|(at, frame)| {
            let exchange = asked(at).filter(|_| frame.asks());
            for (scope, name) in exchange.into_iter().flat_map(|it| index.made_up_in(it)) {
                born.entry((scope, name.to_owned())).or_insert(at);
            }
            let text = frame.message().filter(|_| frame.from == Peer::Server);
            let echoes = text.map(|text| Echo::all(text, index.made_up())).unwrap_or_default();
            let known = echoes.iter().filter_map(|echo| {
                let (scope, name) = echo.value();
                born.get(&(scope, name.to_owned())).copied()
            });
            let answers = known.max();
            let is_optional = exchange.is_some() && is_optional(frame);
            let frame = frame.clone();
            ScriptFrame {
                frame,
                exchange,
                is_optional,
                echoes,
                answers,
                about: None,
                is_call: false,
            }
        });
        let mut steps: Vec<ScriptFrame> = steps.collect();
        steps.retain(|step| !is_reaction(step, &response.frames));
        tell_calls(&mut steps);
        let Response { ms: opened, end, .. } = *response;
        Some(Self { interaction: number, opened, steps, end })
    }

    /// What may be sent now: the first frame of the server that waits for nothing.
    ///
    /// A frame waits for all messages that the client sent before it, as any of them may have led to
    /// it. One that the client may leave out is waited for until it is passed over, or the client has sent a
    /// later one; only what answers it by name waits on. And where the client sends a later message before
    /// an earlier one, the two are independent: what is about the later one does not wait for the earlier one. It
    /// waits for what else the client said about the later one, such as that it approves a tool.
    pub(super) fn due(&self, passed: &Passed) -> Option<usize> {
        let Passed { to_come, to_send, latest, over, held, .. } = passed;
        let first = [to_come.first(), to_send.first()].into_iter().flatten().min();
        if held.is_some_and(|held| first.is_none_or(|first| *first >= held)) {
            return None;
        }
        let is_over = |at: usize| over.contains(&at) || latest.is_some_and(|latest| at < latest);
        let is_missing = |at: &usize| !(self.steps[*at].is_optional && is_over(*at));
        let missing = to_come.iter().copied().find(is_missing).unwrap_or(usize::MAX);
        let is_overtaken = latest.is_some_and(|latest| missing < latest);
        let mut left = to_send.iter().copied().take_while(|at| *at < missing || is_overtaken);
        left.find(|at| {
            let ScriptFrame { answers, about, .. } = self.steps[*at];
            let is_asked = answers.is_none_or(|asked| !to_come.contains(&asked));
            let is_independent = || {
                // What names no message may be about any that nothing answers by name.
                let first = answers.unwrap_or_default();
                let call = answers.or(about).filter(|call| *call > missing);
                call.is_some_and(|call| !self.waits(call, to_come.range(first..*at)))
            };
            is_asked && (*at < missing || is_independent())
        })
    }

    /// Whether something of what is to come may be about a message of the client, or is that.
    fn waits<'a>(&self, call: usize, mut to_come: impl Iterator<Item = &'a usize>) -> bool {
        to_come.any(|said| {
            let ScriptFrame { is_call, about, .. } = self.steps[*said];
            *said == call || !is_call && about.is_none_or(|about| about == call)
        })
    }

    /// The frame of the client that something of the server waits for.
    pub(super) fn awaited(&self, Passed { to_come, to_send, over, .. }: &Passed) -> Option<usize> {
        let asked = to_come.iter().find(|at| !over.contains(at));
        asked.copied().filter(|_| !to_send.is_empty())
    }

    /// Whether all was said, but for what the client has left out.
    pub(super) fn is_over(&self, passed: &Passed) -> bool {
        let is_out = |at: &usize| {
            let ScriptFrame { is_optional, answers, .. } = self.steps[*at];
            is_optional || answers.is_some_and(|asked| self.steps[asked].is_optional)
        };
        passed.to_send.iter().chain(&passed.to_come).all(is_out)
    }

    fn is_of_client(&self, at: usize) -> bool {
        self.steps[at].frame.from == Peer::Client
    }

    /// The messages of the client that were not sent, but for those that it may leave out.
    pub(super) fn unsent<'a>(
        &'a self,
        is_played: impl Fn(usize) -> bool + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let asked = self.steps.iter().enumerate();
        let asked = asked.filter(|(_, step)| !step.is_optional);
        let asked = asked.filter_map(|(at, step)| Some((at, step.exchange?)));
        asked.filter(move |(_, exchange)| !is_played(*exchange)).map(|(at, _)| at)
    }

    /// How much the server said before anything was asked.
    fn greeting(&self) -> usize {
        self.steps.iter().take_while(|step| step.frame.from == Peer::Server).count()
    }

    /// How many frames it begins with that another one begins with too.
    pub(super) fn shared_beginning(&self, other: &Self) -> usize {
        let both = self.steps.iter().zip(&other.steps);
        let is_same = |(one, other): &(&ScriptFrame, &ScriptFrame)| {
            (one.frame.from, &one.frame.content) == (other.frame.from, &other.frame.content)
        };
        both.take_while(is_same).count()
    }

    /// The exchanges of the messages of the client among its first frames, each beside that of another one.
    pub(super) fn shared_messages<'s>(
        &'s self,
        other: &'s Self,
        beginning: usize,
    ) -> impl Iterator<Item = (usize, usize)> + 's {
        let both = self.steps.iter().zip(&other.steps).take(beginning);
        both.filter_map(|(one, other)| one.exchange.zip(other.exchange))
    }

    /// Whether the client has sent messages.
    pub(super) fn is_spoken_to(&self) -> bool {
        self.steps.iter().any(|step| step.exchange.is_some())
    }

    /// Behind how much of its greeting the client may speak, as that of another one has shown: it had heard no more
    /// by then. Nothing, if that is all.
    pub(super) fn may_speak_behind(&self, other: &Self) -> Option<usize> {
        let shared = self.shared_beginning(other).min(self.greeting());
        let is_shorter = shared == other.greeting() && shared < self.greeting();
        (is_shorter && self.is_spoken_to() && other.is_spoken_to()).then_some(shared)
    }

    /// When a frame was sent behind the one before it, in milliseconds.
    pub(super) fn gap(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).map_or(self.opened, |at| self.steps[at].frame.ms);
        self.steps[at].frame.ms.saturating_sub(before)
    }
}

/// Says of each frame which message of the client it is about.
fn tell_calls(steps: &mut [ScriptFrame]) {
    let mut last: HashMap<usize, usize> = HashMap::new();
    last.extend(steps.iter().enumerate().filter_map(|(at, step)| Some((step.answers?, at))));
    let mut open: BTreeSet<usize> = BTreeSet::new();
    for (at, step) in steps.iter_mut().enumerate() {
        step.is_call = last.contains_key(&at);
        if step.is_call {
            open.insert(at);
        } else if open.len() == 1 {
            step.about = open.first().copied();
        }
        if let Some(call) = step.answers.filter(|call| last[call] == at) {
            open.remove(&call);
        }
    }
}

/// Whether a server has closed the connection because of what is no message, and so is not recorded: a
/// client that does it again is told so by us.
fn is_reaction(step: &ScriptFrame, frames: &[Frame]) -> bool {
    let broken = matches!(step.frame.content, Content::Close { code: Some(1002 | 1007), .. });
    broken && step.frame.from == Peer::Server && !frames.iter().any(Frame::asks)
}

impl ScriptFrame {
    /// The client's own names that stand in it.
    pub(super) fn names(&self) -> impl Iterator<Item = (Scope, &str)> {
        self.echoes.iter().map(Echo::value)
    }

    /// What it says this time. `shown` are further places that this run has shown.
    pub(super) fn said(&self, renamed: &Renamed, shown: &[Echo], unveiled: &Unveiled) -> Content {
        let named = |bytes: &bytes::Bytes| {
            let echoes = [&self.echoes[..], shown].concat();
            unveiled.body(renamed.body(Body::Whole(bytes.clone()), &echoes)).bytes()
        };
        match &self.frame.content {
            content if renamed.is_empty() && unveiled.is_empty() => content.clone(),
            Content::Text(bytes) => Content::Text(named(bytes)),
            Content::Binary(bytes) => Content::Binary(named(bytes)),
            close @ Content::Close { .. } => close.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is the client's first message, `b?` one that it may leave out, `>a` what answers it by name, `-`
    /// what names nothing.
    fn script(words: &str) -> Script {
        let words: Vec<&str> = words.split(' ').collect();
        let step = |word: &&str| {
            let answered = word.strip_prefix('>');
            let is_client = answered.is_none() && *word != "-";
            let from = if is_client { Peer::Client } else { Peer::Server };
            let content = Content::Text((*word).to_owned().into());
            let frame = Frame { ms: 0, from, content, fragments: Vec::new() };
            let answers = answered.and_then(|asked| words.iter().position(|it| *it == asked));
            let is_optional = word.ends_with('?');
            let (exchange, echoes) = (None, Vec::new());
            ScriptFrame {
                frame,
                exchange,
                is_optional,
                echoes,
                answers,
                about: None,
                is_call: false,
            }
        };
        let mut steps: Vec<ScriptFrame> = words.iter().map(step).collect();
        tell_calls(&mut steps);
        Script { steps, ..Script::default() }
    }

    fn check(words: &str, asked: &str, expected: &str) {
        let script = script(words);
        let word = |at: usize| words.split(' ').nth(at).unwrap();
        let mut passed = Passed::behind(0, &script);
        let mut played = Vec::new();
        for asked in std::iter::once("").chain(asked.split(' ')) {
            if asked == "wait" {
                passed.over.extend(script.awaited(&passed));
            }
            if let Some(at) = (0..script.steps.len()).find(|at| word(*at) == asked) {
                passed.pass(at);
                played.push(asked);
            }
            while let Some(due) = script.due(&passed) {
                passed.pass(due);
                played.push(word(due));
            }
        }
        assert_eq!(played.join(" "), expected, "{words} / {asked}");
    }

    #[test]
    fn a_frame_waits_for_what_the_client_sent_before_it() {
        check("- a - - b -", "a b", "- a - - b -");
        check("- a - - b -", "a", "- a - -");
        // `b` may be what has ended it, such as an interrupt.
        check("a >a b >a >b", "a b", "a >a b >a >b");
        check("a >a b >a >b", "a", "a >a");
    }

    #[test]
    fn what_a_client_may_leave_out_holds_up_only_what_answers_it() {
        check("a >a b? >b? - c >c", "a b? c", "a >a b? >b? - c >c");
        check("a >a b? >b? - c >c", "a c", "a >a c - >c");
        check("a >a b? >b? - c >c", "a", "a >a");
        check("a >a b? >b? - c >c", "a wait", "a >a -");
        check("a >a b? >b? - c >c", "a wait c b?", "a >a - c >c b? >b?");
    }

    #[test]
    fn what_answers_a_message_that_was_sent_earlier_than_recorded_does_not_wait() {
        check("a >a b >b", "b a", "b >b a >a");
        check("a b >a >b >a", "b a", "b >b a >a >a");
        check("a b >b >a -", "b a", "b >b a >a -");
        check("a - b >b", "b a", "b >b a -");
        check("a b - >b", "b a", "b >b a -");
    }

    #[test]
    fn what_answers_a_message_waits_for_what_the_client_was_asked_about_it() {
        let apart = "a - yes >a b - no >b";
        check(apart, "a yes b no", "a - yes >a b - no >b");
        check(apart, "b no a yes", "b - no >b a - yes >a");
        check(apart, "b a yes no", "b - a - yes >a no >b");
        check(apart, "b", "b -");
        // Of which of the two the client is asked is not known.
        check("a b - yes - no >a >b", "b a yes no", "b a - yes - no >a >b");
        check("a b - yes - no >a >b", "b", "b");
        // What it says later is no answer to what was asked before.
        check("a >a b >b c", "b c a", "b >b c a >a");
    }

    #[test]
    fn a_long_script_is_played_step_by_step() {
        let pairs = 20_000;
        let script = script(&vec!["a -"; pairs].join(" "));

        let mut passed = Passed::behind(0, &script);
        for pair in 0..pairs {
            assert_eq!(script.awaited(&passed), Some(2 * pair));
            passed.pass(2 * pair);
            assert_eq!(script.due(&passed), Some(2 * pair + 1));
            passed.pass(2 * pair + 1);
        }

        assert!(script.is_over(&passed));
    }
}
