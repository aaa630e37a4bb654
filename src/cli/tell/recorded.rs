//! What is said of recordings.

use std::fmt;
use std::path::Path;

use super::{GREEN, PLAIN, RED, YELLOW, hint, line, tell_suspects};
use crate::review::report::count;
use crate::serve::recorder::{Kept, Recording, Saved};
use crate::session::Summary;
use crate::store::{self, from_here, mention};

/// What was recorded.
pub(in crate::cli) fn recorded(summary: &Summary, flaw: Option<Flaw>) {
    let mut told = None;
    for recording in &summary.recordings {
        // One outage is told once, however many cassettes it meant.
        let new = recording.fault.as_deref().filter(|fault| told != Some(*fault));
        if let Some(fault) = new {
            if recording.is_unheard() {
                let what = match recording.answered {
                    0 => "the server did not answer a single request",
                    _ => "a server failed that had answered before",
                };
                line(&format!("{RED}{what}{PLAIN}"));
            }
            line(fault);
            if !recording.is_unheard() {
                hint(
                    "such a request gets no answer in replay either; if no test means that, record it again",
                );
            }
            told = new;
        }
        one_recorded(recording, flaw);
    }
    tell_how_to_ask(&summary.recordings);
    tell_how_to_take(&summary.recordings);
    if flaw.is_none() {
        tell_what_is_left(&summary.recordings);
    }
}

/// Why what was recorded may be less than it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Flaw {
    CommandFailed,
    Interrupted,
    ServerFailed,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandFailed => "the command failed",
            Self::Interrupted => "it was interrupted",
            Self::ServerFailed => "the server failed",
        })
    }
}

/// What a recording came to.
fn one_recorded(recording: &Recording, flaw: Option<Flaw>) {
    match &recording.path {
        None => line(&format!("nothing new was recorded for `{}`", recording.name)),
        Some(path) => tell_saved(recording, path, flaw),
    }
    for header in &recording.carriers {
        line(&format!("counts, as it carries what the server issued: header field `{header}`"));
    }
    if !recording.weakened.is_empty() {
        let names = recording.weakened.join(", ");
        line(&format!(
            "{YELLOW}not replaced{PLAIN}, because somebody says that it is no secret: {names}"
        ));
    }
    if !recording.suspects.is_empty() {
        tell_suspects(&recording.suspects);
        hint("look at them; `--allow` takes the recording as it is");
    }
    if let Some(doubled) = &recording.doubled {
        let why =
            "the server's address and the client add the same path; leave it out of one of them";
        hint(&format!("`{doubled}` was answered 404: {why}"));
    }
    if let Some((asked, server)) = &recording.leads_past {
        hint(&format!(
            "the answer to `{asked}` leads to {server}, which goes past retape; to record it too, add \
             `--upstream NAME={server}`, or use `--proxy`"
        ));
    }
    if recording.dropped > 0 {
        let requests = count(recording.dropped, "request");
        let was = if recording.dropped == 1 { "was" } else { "were" };
        line(&format!("{requests} never came to an end and {was} left out"));
    }
}

fn tell_saved(recording: &Recording, path: &Path, flaw: Option<Flaw>) {
    let Recording { folder, name, .. } = recording;
    let number = count(recording.interactions, "interaction");
    let though = flaw.map(|flaw| format!(", though {flaw}")).unwrap_or_default();
    let path = from_here(path).display();
    match recording.saved {
        Saved::Cassette => {
            let kept = recording.kept.map(|kept| as_before(recording.interactions, kept));
            let kept = kept.unwrap_or_default();
            line(&format!("recorded {number} in {GREEN}{path}{PLAIN}{kept}{though}"));
        }
        Saved::Failed => line(&format!(
            "{}: the cassette `{name}` stays as it was; {number} recorded in {path}",
            flaw.unwrap_or(Flaw::Interrupted)
        )),
        Saved::Unanswered => {
            let there = if store::exists(folder, name) {
                format!("the cassette `{name}` stays as it was")
            } else {
                format!("no cassette `{name}` was made")
            };
            line(&format!("{there}; what was asked is in {path}"));
        }
    }
}

/// How much of a cassette is as it was.
fn as_before(recorded: usize, kept: Kept) -> String {
    let Kept { interactions, gone, is_whole } = kept;
    match (interactions >= recorded, gone) {
        _ if is_whole => ", all as before".to_owned(),
        (true, 0) => ", all as before, in another order".to_owned(),
        (false, 0) => format!(", {interactions} as before"),
        (_, gone) => format!(", {interactions} as before and {gone} gone"),
    }
}

/// What a recording without answers is good for; one stands for all.
fn tell_how_to_ask(recordings: &[Recording]) {
    if let Some(it) = recordings.iter().find(|it| it.saved == Saved::Unanswered) {
        let mention = mention(&it.folder, &it.saved_name);
        hint(&format!("to test an outage with it: `retape replay {mention} -- COMMAND`"));
    }
}

/// What attempts before have left beside a cassette that is whole now.
fn tell_what_is_left(recordings: &[Recording]) {
    let whole = recordings.iter().filter(|it| it.saved == Saved::Cassette && it.path.is_some());
    let left = whole.flat_map(|it| {
        let beside = |what| store::path_of(&it.folder, &it.name.beside(what));
        ["failed", "unanswered"].map(beside)
    });
    let mut left = left.filter(|path| path.exists());
    if let Some(first) = left.next() {
        let others = match left.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let first = from_here(&first).display().to_string();
        hint(&format!("`{first}`{others} is left from an earlier attempt; you can delete it"));
    }
}

/// How what was kept beside a cassette becomes the cassette.
fn tell_how_to_take(recordings: &[Recording]) {
    let is_of_worth = |it: &&Recording| match it.saved {
        Saved::Failed => true,
        Saved::Unanswered => it.answered > 0,
        Saved::Cassette => false,
    };
    let failed = recordings.iter().filter(is_of_worth);
    let mut commands = failed.filter_map(|recording| {
        let cassette = store::path_of(&recording.folder, &recording.name);
        Some(store::taking(recording.path.as_deref()?, &cassette))
    });
    if let Some(first) = commands.next() {
        let others = match commands.count() {
            0 => String::new(),
            more => format!(", and so for {more} more"),
        };
        hint(&format!("to take what was recorded: `{first}`{others}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_another_order_is_not_as_it_was() {
        let told = |interactions: usize, gone: usize, is_whole: bool| {
            as_before(2, Kept { interactions, gone, is_whole })
        };

        assert_eq!(told(2, 0, true), ", all as before");
        assert_eq!(told(2, 0, false), ", all as before, in another order");
        assert_eq!(told(1, 0, false), ", 1 as before");
        assert_eq!(told(2, 3, false), ", 2 as before and 3 gone");
    }
}
