//! What is said of a recording.

use std::fmt;
use std::path::{Path, PathBuf};

use super::tell::{GREEN, PLAIN, RED, count, hint, line};
use crate::serve::recorder::{Kept, Recording, Saved};
use crate::store::{self, mention, mention_path};

/// Why what was recorded may be less than it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    CommandFailed,
    Interrupted,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandFailed => "the command failed",
            Self::Interrupted => "it was interrupted",
        })
    }
}

/// What a recording came to.
pub(super) fn tell(recording: &Recording, flaw: Option<Flaw>) {
    if recording.is_unheard() {
        line(&format!("{RED}the server did not answer a single request{PLAIN}"));
        recording.fault.iter().for_each(|why| line(why));
    }
    match &recording.path {
        None => line(&format!("nothing new was recorded for `{}`", recording.name)),
        Some(path) => tell_saved(recording, path, flaw),
    }
    if recording.dropped > 0 {
        let requests = count(recording.dropped, "request");
        line(&format!("{requests} never came to an end and was left out"));
    }
}

fn tell_saved(recording: &Recording, path: &Path, flaw: Option<Flaw>) {
    let Recording { folder, name, .. } = recording;
    let number = count(recording.interactions, "interaction");
    let though = flaw.map(|flaw| format!(", though {flaw}")).unwrap_or_default();
    let path = path.display();
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
            let there = match store::exists(folder, name) {
                true => format!("the cassette `{name}` stays as it was"),
                false => format!("no cassette `{name}` was made"),
            };
            line(&format!("{there}; what was asked is in {path}"));
            let mention = mention(folder, &recording.saved_name());
            hint(&format!("to test an outage with it: `retape replay {mention} -- COMMAND`"));
        }
    }
}

/// How much of a cassette is as it was.
fn as_before(recorded: usize, kept: Kept) -> String {
    match kept {
        Kept { interactions, gone: 0 } if interactions >= recorded => ", all as before".to_owned(),
        Kept { interactions, gone: 0 } => format!(", {interactions} as before"),
        Kept { interactions, gone } => format!(", {interactions} as before and {gone} gone"),
    }
}

/// How what was kept beside a cassette becomes the cassette.
pub(super) fn tell_how_to_take(recordings: &[Recording]) {
    let failed = recordings.iter().filter(|recording| recording.saved == Saved::Failed);
    for (at, (recording, path)) in
        failed.filter_map(|it| Some((it, it.path.as_deref()?))).enumerate()
    {
        let command = taking(path, &store::path_of(&recording.folder, &recording.name));
        match at {
            0 => hint(&format!("to take what was recorded: `{command}`")),
            _ => hint(&format!("`{command}`")),
        }
    }
}

/// The command that puts a cassette in the place of another, with the bodies beside it.
fn taking(from: &Path, to: &Path) -> String {
    let moved = |from: &Path, to: &Path| format!("mv {} {}", mention_path(from), mention_path(to));
    let [bodies, old]: [PathBuf; 2] = [from, to].map(|path| path.with_extension("bodies"));
    let file = moved(from, to);
    match bodies.is_dir() {
        false => file,
        true => format!("rm -rf {} && {} && {file}", mention_path(&old), moved(&bodies, &old)),
    }
}
