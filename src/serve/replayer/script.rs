//! What went over a recorded WebSocket, made ready to be played.

use std::collections::HashMap;

use crate::cassette::{Body, Content, End, Frame, Interaction, Peer, Response};
use crate::compare::matching::Index;
use crate::identity::{Echo, Renamed, Scope};

/// What went over a recorded WebSocket.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The number of the interaction in the cassette.
    pub(super) interaction: usize,
    /// Milliseconds from the request to the answer.
    pub(super) opened: u64,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// A frame.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) frame: Frame,
    /// The exchange of a message of the client.
    pub(super) exchange: Option<usize>,
    /// Where what the client made up comes back.
    echoes: Vec<Echo>,
    /// The message of the client that a frame of the server answers: the latest one whose own names it
    /// repeats.
    answers: Option<usize>,
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
            Step { frame: frame.clone(), exchange, echoes, answers }
        });
        let mut steps: Vec<Step> = steps.collect();
        steps.retain(|step| !is_reaction(step, &response.frames));
        let Response { ms: opened, end, .. } = *response;
        Some(Self { interaction: number, opened, steps, end })
    }

    /// What may be sent now: the first frame of the server that waits for nothing.
    ///
    /// A frame waits for all messages that the client sent before it, as any of them may have led to
    /// it. But where the client sends a later message before an earlier one, the two are independent:
    /// what answers the later one by name does not wait for the earlier one.
    pub(super) fn due(&self, done: &[bool]) -> Option<usize> {
        let mut missing: Option<usize> = None;
        let mut waiting: Vec<Option<usize>> = Vec::new();
        for (at, step) in self.steps.iter().enumerate().filter(|(at, _)| !done[*at]) {
            if step.frame.from == Peer::Client {
                missing = missing.or(Some(at));
                continue;
            }
            let overtook = step
                .answers
                .is_some_and(|asked| done[asked] && missing.is_some_and(|missing| missing < asked));
            let may_pass = overtook && !waiting.contains(&step.answers);
            if missing.is_none() || may_pass {
                return Some(at);
            }
            waiting.push(step.answers);
        }
        None
    }

    /// The frame of the client that something of the server waits for.
    pub(super) fn awaited(&self, done: &[bool]) -> Option<usize> {
        let left = || (0..self.steps.len()).filter(|at| !done[*at]);
        let is_waiting = left().any(|at| self.steps[at].frame.from == Peer::Server);
        let asked = left().find(|at| self.steps[*at].frame.from == Peer::Client);
        asked.filter(|_| is_waiting)
    }

    /// The messages of the client that were not sent.
    pub(super) fn unsent<'a>(
        &'a self,
        is_played: impl Fn(usize) -> bool + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let asked = self.steps.iter().enumerate();
        let asked = asked.filter_map(|(at, step)| Some((at, step.exchange?)));
        asked.filter(move |(_, exchange)| !is_played(*exchange)).map(|(at, _)| at)
    }

    /// What the server said before anything was asked.
    pub(super) fn greeting(&self) -> impl Iterator<Item = &Content> {
        let greeting = self.steps.iter().take_while(|step| step.frame.from == Peer::Server);
        greeting.map(|step| &step.frame.content)
    }

    /// When a frame was sent behind the one before it, in milliseconds.
    pub(super) fn gap(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).map_or(self.opened, |at| self.steps[at].frame.ms);
        self.steps[at].frame.ms.saturating_sub(before)
    }
}

/// Whether a server has closed the connection because of what is no message, and so is not recorded: a
/// client that does it again is told so by us.
fn is_reaction(step: &Step, frames: &[Frame]) -> bool {
    let broken = matches!(step.frame.content, Content::Close { code: Some(1002 | 1007), .. });
    broken && step.frame.from == Peer::Server && !frames.iter().any(Frame::asks)
}

impl Step {
    /// The client's own names that stand in it.
    pub(super) fn names(&self) -> impl Iterator<Item = (Scope, &str)> {
        self.echoes.iter().map(Echo::value)
    }

    /// What it says this time. `shown` are further places that this run has shown.
    pub(super) fn said(&self, renamed: &Renamed, shown: &[Echo]) -> Content {
        let named = |bytes: &bytes::Bytes| {
            let echoes = [&self.echoes[..], shown].concat();
            renamed.body(Body::Whole(bytes.clone()), &echoes).bytes()
        };
        match &self.frame.content {
            content if renamed.is_empty() => content.clone(),
            Content::Text(bytes) => Content::Text(named(bytes)),
            Content::Binary(bytes) => Content::Binary(named(bytes)),
            close @ Content::Close { .. } => close.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is the client's first message, `>a` what answers it by name, `-` what names nothing.
    fn script(words: &str) -> Script {
        let words: Vec<&str> = words.split(' ').collect();
        let step = |word: &&str| {
            let answered = word.strip_prefix('>');
            let is_client = answered.is_none() && *word != "-";
            let from = if is_client { Peer::Client } else { Peer::Server };
            let content = Content::Text((*word).to_owned().into());
            let frame = Frame { ms: 0, from, content, fragments: Vec::new() };
            let answers = answered.and_then(|asked| words.iter().position(|it| *it == asked));
            Step { frame, exchange: None, echoes: Vec::new(), answers }
        };
        Script { steps: words.iter().map(step).collect(), ..Script::default() }
    }

    fn check(words: &str, asked: &str, expected: &str) {
        let script = script(words);
        let word = |at: usize| words.split(' ').nth(at).unwrap();
        let mut done = vec![false; script.steps.len()];
        let mut played = Vec::new();
        for asked in std::iter::once("").chain(asked.split(' ')) {
            if let Some(at) = (0..done.len()).find(|at| word(*at) == asked) {
                done[at] = true;
                played.push(asked);
            }
            while let Some(due) = script.due(&done) {
                done[due] = true;
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
    fn what_answers_a_message_that_was_sent_earlier_than_recorded_does_not_wait() {
        check("a >a b >b", "b a", "b >b a >a");
        check("a b >a >b >a", "b a", "b >b a >a >a");
        check("a b >b >a -", "b a", "b >b a >a -");
        check("a - b >b", "b a", "b >b a -");
        check("a b - >b", "b a", "b >b a -");
    }
}
