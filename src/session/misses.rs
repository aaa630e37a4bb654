//! The requests that nothing recorded answered.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

use super::event::Miss;
use crate::error::Result;
use crate::serve::lock;
use crate::store;
use crate::text::percent;

/// The misses of all sessions, in the order in which they came, and the file that tells them.
#[derive(Debug, Default)]
pub(super) struct Misses {
    list: Mutex<Vec<Miss>>,
    file: Report,
    /// What the file has of this session, where it is shared.
    told: Mutex<Vec<Value>>,
    refused: Mutex<Vec<String>>,
}

/// The file that tells what was missed.
#[derive(Debug, Clone, Default)]
pub(super) enum Report {
    #[default]
    None,
    /// Of this session only.
    Own(PathBuf),
    /// Of all sessions of this process.
    Shared(PathBuf),
}

/// So many misses are written one by one; later the file is brought up to date whenever their number
/// has doubled, and at the end: a suite that misses everything must not write for ever.
const ONE_BY_ONE: usize = 64;

/// More refusals are not counted: a page that nobody trusts may ask without end.
const MOST_REFUSED: usize = 1 << 12;

/// A Rust test that names the file in its code finds it by the path in the error.
const HINT: &str = "choose a file that can be written: `--misses FILE` or `RETAPE_MISSES`";

impl Misses {
    /// Begins with none, and with a file that says so: what an earlier run left there is gone, and a
    /// file that cannot be written is told before anything is asked.
    pub(super) fn begin(file: Report) -> Result<Self> {
        let misses = Self { file, ..Self::default() };
        misses.save(&misses.list())?;
        Ok(misses)
    }

    pub(super) fn note(&self, miss: Miss) {
        let mut list = self.list();
        list.push(miss);
        if list.len() <= ONE_BY_ONE || list.len().is_power_of_two() {
            // The file is for whoever looks while the run goes on, or after it was killed. What is
            // wrong with it is told at the end.
            let _ = self.save(&list);
        }
    }

    pub(super) fn all(&self) -> Vec<Miss> {
        self.list().clone()
    }

    /// Notes why a request was refused that no recording was asked for.
    pub(super) fn refuse(&self, why: &str) {
        let mut refused = lock(&self.refused);
        if refused.len() < MOST_REFUSED {
            refused.push(why.to_owned());
        }
    }

    /// Why requests were refused, each time.
    pub(super) fn refused(&self) -> Vec<String> {
        lock(&self.refused).clone()
    }

    /// Those of one session.
    pub(super) fn of(&self, session: &str) -> Vec<Miss> {
        self.list().iter().filter(|miss| is_same(&miss.session, session)).cloned().collect()
    }

    /// Forgets those of a session, or all. Tells how many there were.
    pub(super) fn clear(&self, session: Option<&str>) -> usize {
        let mut list = self.list();
        let before = list.len();
        list.retain(|miss| session.is_some_and(|session| !is_same(&miss.session, session)));
        let _ = self.save(&list);
        before - list.len()
    }

    /// Brings the file up to date.
    pub(super) fn finish(&self) -> Result<()> {
        self.save(&self.list())
    }

    fn save(&self, list: &[Miss]) -> Result<()> {
        let saved = match &self.file {
            Report::None => Ok(()),
            Report::Own(file) => {
                store::write_report(file, &text(list.iter().map(Miss::to_json).collect()))
            }
            Report::Shared(file) => store::change_report(file, |before| self.among(before, list)),
        };
        saved.map_err(|error| error.with_hint(HINT))
    }

    /// The text of a file in which this session's misses stand beside those of the others of this process.
    /// What another process left is gone.
    fn among(&self, before: &str, list: &[Miss]) -> String {
        let process = Value::from(std::process::id());
        let mut all: Vec<Value> = serde_json::from_str(before).unwrap_or_default();
        all.retain(|miss| miss["process"] == process);
        let mut told = lock(&self.told);
        for old in told.drain(..) {
            if let Some(at) = all.iter().position(|miss| *miss == old) {
                all.swap_remove(at);
            }
        }
        told.extend(list.iter().map(|miss| {
            let mut told = miss.to_json();
            told["process"] = process.clone();
            told
        }));
        all.extend(told.iter().cloned());
        text(all)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Miss>> {
        lock(&self.list)
    }
}

/// A text that does not depend on which of several sessions was faster.
fn text(mut misses: Vec<Value>) -> String {
    let by = |miss: &Value, name: &str| miss[name].as_str().unwrap_or_default().to_owned();
    misses.sort_by_key(|miss| (by(miss, "cassette"), by(miss, "session")));
    format!("{:#}\n", Value::Array(misses))
}

/// Whether two names mean the same session, however they are percent-encoded.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    percent::decoded(one) == percent::decoded(other)
}
