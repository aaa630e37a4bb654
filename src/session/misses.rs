//! The requests that nothing recorded answered.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::event::Miss;
use crate::error::Result;
use crate::store;
use crate::text::percent;

/// The misses of all sessions, in the order in which they came, and the file that tells them.
#[derive(Debug, Default)]
pub(super) struct Misses {
    list: Mutex<Vec<Miss>>,
    file: Option<PathBuf>,
}

/// So many misses are written one by one; later the file is brought up to date whenever their number
/// has doubled, and at the end: a suite that misses everything must not write for ever.
const ONE_BY_ONE: usize = 64;

/// A Rust test names the file in its code, which it finds by the path in the error.
const HINT: &str = "choose a file that can be written: `--misses FILE`";

impl Misses {
    /// Begins with none, and with a file that says so: what an earlier run left there is gone, and a
    /// file that cannot be written is told before anything is asked.
    pub(super) fn begin(file: Option<PathBuf>) -> Result<Self> {
        let misses = Self { list: Mutex::default(), file };
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

    /// Writes what does not depend on which of several sessions was faster.
    fn save(&self, list: &[Miss]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut sorted: Vec<&Miss> = list.iter().collect();
        sorted.sort_by_key(|miss| (&miss.cassette, &miss.session));
        let told = Value::Array(sorted.into_iter().map(Miss::to_json).collect());
        store::write_report(file, &format!("{told:#}\n")).map_err(|error| error.with_hint(HINT))
    }

    fn list(&self) -> MutexGuard<'_, Vec<Miss>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two names mean the same session, however they are percent-encoded.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    percent::decoded(one) == percent::decoded(other)
}
