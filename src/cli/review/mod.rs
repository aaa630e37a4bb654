//! `retape review`.

mod changes;
mod contracts;
mod walk;

use std::path::{Path, PathBuf};

use clap::Args;
use terminal_size::{Width, terminal_size};

use self::walk::{Decision, Key, Keys, Reaction, Walk};
use super::arguments::{Folder, absolute};
use super::{Exit, tell};
use crate::error::Result;
use crate::review::report::{Colour, ReviewOptions};
use crate::store;

/// Look at what `retape check` finds, one contract after the other, and accept or reject it
///
/// With --base it goes through what `retape diff` finds breaking or unproven since a revision, and asks for
/// a reason for each approval. What was decided is done at the end, also after `q`; an interruption
/// (Ctrl-C) changes nothing. Where the standard input is no terminal, a key is the first letter of a line.
#[derive(Debug, Args)]
#[command(after_help = "\
Keys:
  a accept    r reject: the accepted contract stays    s skip    n next    p previous
  m more: the whole contract    A R S: this one and all that are left    q quit    ? help
Examples:
  retape review
  retape review --base origin/main
Exit status: 0 nothing is left, 1 something was rejected or skipped, 2 it could not run.")]
pub(super) struct Review {
    #[command(flatten)]
    folder: Folder,

    /// Go through what changed since this git revision instead
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,

    /// The file of approvals; the nearest retape-approvals.toml if it is left out
    #[arg(long, value_name = "FILE", requires = "base")]
    approvals: Option<PathBuf>,
}

/// What is said about keys and decisions, in the words of what is decided about.
struct Talk {
    /// What the key `a` does.
    accept: &'static str,
    /// What is accepted is called this.
    accepted: &'static str,
    /// What it means to accept something.
    accepting: &'static str,
    /// What it means to reject something.
    rejecting: &'static str,
}

impl Review {
    pub(super) fn run(self) -> Result<Exit> {
        let mut keys = Keys::of_this_process();
        let Some(base) = &self.base else {
            return contracts::review(&self.folder.absolute(), &mut keys);
        };
        let file = self.approvals.as_deref().map(absolute);
        let file = file.unwrap_or_else(|| store::find_approvals(&absolute(Path::new("."))));
        changes::review(base, &self.folder.cassettes, &file, &mut keys)
    }
}

/// Lets somebody decide about things, each of which `show` shows; `may_accept` is asked before one is
/// accepted, and says so.
fn decide(
    things: usize,
    keys: &mut Keys,
    talk: &Talk,
    show: impl Fn(usize, ReviewOptions) -> String,
    mut may_accept: impl FnMut(Key, usize, &mut Keys) -> bool,
) -> Vec<Option<Decision>> {
    let mut walk = Walk::new(things);
    let mut reaction = Reaction::Show;
    loop {
        match reaction {
            Reaction::Show => tell::data(&format!("\n{}\n", show(walk.at, options(&walk)))),
            Reaction::Help => tell::data(&talk.help()),
            Reaction::Ask => {}
            Reaction::End => return walk.decisions,
        }
        let before = walk.decided().map(|it| format!(" ({} before)", talk.word(it)));
        let (accept, before) = (talk.accept, before.unwrap_or_default());
        tell::data(&format!(
            "a {accept}  r reject  s skip  m more  p previous  A R S all  q quit  ? help{before} > "
        ));
        let mut key = keys.key();
        let at = walk.at;
        match key.decides() {
            // Whether it is accepted is known when the reason is.
            Some(Decision::Accepted) if !may_accept(key, at, keys) => key = Key::Unknown,
            Some(Decision::Accepted) => {}
            decision => keys.echo(decision.map_or("", |decision| talk.word(decision))),
        }
        reaction = walk.press(key);
    }
}

fn options(walk: &Walk) -> ReviewOptions {
    let columns = terminal_size().map_or(80, |(Width(width), _)| usize::from(width).min(120));
    ReviewOptions { extent: walk.extent, width: columns, colour: Colour::Ansi }
}

impl Talk {
    /// What the keys do.
    fn help(&self) -> String {
        let Self { accept, accepting, rejecting, .. } = self;
        format!(
            "\
a  {accept}: {accepting}
r  reject: {rejecting}
s  skip: decide later             n  next: the same, but keeps what was decided
m  more: the whole contract, and back
p  previous: back to the one before, to decide anew
A  {accept}, R  reject, S  skip this one and all that are left
q  quit: what was decided is done, the rest is left
Ctrl-C leaves everything as it was.
"
        )
    }

    fn word(&self, decision: Decision) -> &'static str {
        match decision {
            Decision::Accepted => self.accepted,
            Decision::Rejected => "rejected",
            Decision::Skipped => "skipped",
        }
    }
}

/// Says what it came to: `3 accepted, 1 rejected, 1 skipped`.
fn sum_up(talk: &Talk, decisions: &[Option<Decision>]) -> Exit {
    let count = |decision| decisions.iter().filter(|it| **it == decision).count();
    let decided = [Decision::Accepted, Decision::Rejected, Decision::Skipped];
    let decided = decided.map(|decision| (count(Some(decision)), talk.word(decision)));
    let all = decided.into_iter().chain([(count(None), "left")]);
    let said = all.filter(|(number, _)| *number > 0);
    let said: Vec<String> = said.map(|(number, word)| format!("{number} {word}")).collect();
    tell::line(&said.join(", "));
    let is_done = count(Some(Decision::Accepted)) == decisions.len();
    if is_done { Exit::Agrees } else { Exit::Findings }
}
