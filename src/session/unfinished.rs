//! A session that nobody finished.

use std::io::Write as _;
use std::sync::Arc;
use std::thread;

use super::event::Miss;
use super::gateway::Gateway;
use crate::error::Error;
use crate::review::report::count;
use crate::serve::lock;

/// Prints what was missed, why else nothing answered, and what is not saved, if it is dropped: the test came to no end, or
/// forgot to finish its session.
///
/// # Rationale
///
/// The library prints nothing of a test that may pass, but for this: the client's own error says `470 Not
/// Recorded` at best, and nobody else is left who could say why. It goes to the standard error of the process and not through
/// `eprintln!`, since libtest throws away what a test prints that passes.
#[derive(Debug)]
pub(super) struct Unfinished(Option<Arc<Gateway>>);

/// So many misses are explained.
const EXPLAINED: usize = 5;

const HEAD: &str = "a session was not finished, and these requests have no recorded answer";

impl Unfinished {
    pub(super) fn new(gateway: Arc<Gateway>) -> Self {
        Self(Some(gateway))
    }

    /// Whoever finishes the session says what was missed.
    pub(super) fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(gateway) = &self.0 else { return };
        let misses = gateway.misses().all();
        let mut told = String::new();
        if !misses.is_empty() {
            told = text(HEAD, &misses);
        }
        // What the client was told it may have told nobody.
        for why in others(gateway) {
            told.push_str(&format!("retape: a session was not finished: {why}\n"));
        }
        // What a test that panics has recorded is not missed by anybody.
        let recorded = if thread::panicking() { 0 } else { recorded(gateway) };
        if recorded > 0 {
            let recorded = count(recorded, "interaction");
            told.push_str(&format!(
                "retape: a session was not finished: it recorded {recorded}, and nothing is saved: call `finish`\n"
            ));
        }
        // With standard error closed there is nobody to tell.
        let _ = std::io::stderr().write_all(told.as_bytes());
    }
}

/// Why else a client got no answer of its server, each reason once.
fn others(gateway: &Gateway) -> Vec<String> {
    let said = |error: &Error| match error.hint() {
        Some(hint) => format!("{}\n  hint: {hint}", error.why()),
        None => error.why(),
    };
    let failure = lock(&gateway.failure).as_ref().map(said);
    let unanswered = gateway.unanswered().into_iter().chain(gateway.misses().refused());
    let mut all: Vec<String> = failure.into_iter().chain(unanswered).collect();
    all.dedup();
    all.truncate(EXPLAINED);
    all
}

/// How many interactions a session has recorded, as far as they can be read.
fn recorded(gateway: &Gateway) -> usize {
    let tapes = gateway.tapes().into_iter();
    tapes.filter_map(|(_, tape)| Some(tape.so_far().ok()?.interactions.len())).sum()
}

/// Misses with their explanations, behind what they are.
pub(super) fn text(head: &str, misses: &[Miss]) -> String {
    let mut text = format!("retape: {head}\n");
    for miss in misses.iter().take(EXPLAINED) {
        miss.explanation.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    if misses.len() > EXPLAINED {
        text.push_str(&format!("  and {} more\n", misses.len() - EXPLAINED));
    }
    text
}
