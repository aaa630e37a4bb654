//! `retape review`.

mod contracts;
mod keys;
mod walk;

use std::path::PathBuf;

use clap::Args;
use terminal_size::{Width, terminal_size};

use self::keys::Keys;
use self::walk::{Decision, Step, Walk};
use super::arguments::absolute;
use super::{Exit, tell};
use crate::error::Result;
use crate::report::{Colour, ReviewOptions};

/// Look at what `retape check` finds, one contract after the other, and accept or reject it
///
/// What was decided is done at the end, also after `q`; an interruption (Ctrl-C) changes nothing. Where
/// the standard input is no terminal, a key is the first letter of a line.
#[derive(Debug, Args)]
#[command(after_help = "\
Keys:
  a accept    r reject: the accepted contract stays    s skip    n next    p previous
  m more: the whole contract    A R S: this one and all that are left    q quit    ? help
Exit status: 0 nothing is left, 1 something was rejected or skipped, 2 it could not run.")]
pub(super) struct Review {
    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,
}

const KEYS: &str = "a accept  r reject  s skip  m more  p previous  A R S all  q quit  ? help";

const HELP: &str = "\
a  accept: what was recorded becomes the contract
r  reject: it waits no longer, and the accepted contract stays as it is
s  skip: decide later             n  next: the same, but keeps what was decided
m  more: the whole contract, and back
p  previous: back to the one before, to decide anew
A  accept, R  reject, S  skip this one and all that are left
q  quit: what was decided is done, the rest is left
Ctrl-C leaves everything as it was.
";

impl Review {
    pub(super) fn run(self) -> Result<Exit> {
        contracts::review(&absolute(&self.cassettes), &mut Keys::of_this_process())
    }
}

/// Lets somebody decide about things, each of which `show` shows.
fn decide(
    things: usize,
    keys: &mut Keys,
    show: impl Fn(usize, ReviewOptions) -> String,
) -> Vec<Option<Decision>> {
    let mut walk = Walk::new(things);
    let mut step = Step::Show;
    loop {
        match step {
            Step::Show => tell::data(&format!("\n{}\n", show(walk.at(), options(&walk)))),
            Step::Help => tell::data(HELP),
            Step::Ask => {}
            Step::End => return walk.decisions().to_vec(),
        }
        let before = walk.decided().map_or(String::new(), |it| format!(" ({} before)", word(it)));
        tell::data(&format!("{KEYS}{before} > "));
        let key = keys.key();
        let at = walk.at();
        step = walk.press(key);
        keys.echo(walk.decisions()[at].map_or("", word));
    }
}

fn options(walk: &Walk) -> ReviewOptions {
    let columns = terminal_size().map_or(80, |(Width(width), _)| usize::from(width).min(120));
    ReviewOptions { extent: walk.extent(), width: columns, colour: Colour::Ansi }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Accepted => "accepted",
        Decision::Rejected => "rejected",
        Decision::Skipped => "skipped",
    }
}

/// Says what it came to: `3 accepted, 1 rejected, 1 skipped`.
fn sum_up(decisions: &[Option<Decision>]) -> Exit {
    let count = |decision| decisions.iter().filter(|it| **it == decision).count();
    let accepted = count(Some(Decision::Accepted));
    let counted = [
        (accepted, "accepted"),
        (count(Some(Decision::Rejected)), "rejected"),
        (count(Some(Decision::Skipped)), "skipped"),
        (count(None), "left"),
    ];
    let said = counted.iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> = said.map(|(number, word)| format!("{number} {word}")).collect();
    tell::line(&said.join(", "));
    if accepted == decisions.len() { Exit::Agrees } else { Exit::Findings }
}
