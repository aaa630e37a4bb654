//! Changes since a revision that break a client, or may.

use std::path::Path;

use super::walk::{Decision, Key, Keys};
use super::{Talk, decide, sum_up};
use crate::cli::{Exit, diff, tell};
use crate::error::Result;
use crate::review::change::Approval;
use crate::review::report;
use crate::store;

const TALK: Talk = Talk {
    accept: "approve",
    accepted: "approved",
    accepting: "it breaks nobody, for a reason that is asked for, a line",
    rejecting: "it is a fault, and fails until it is mended",
};

/// Lets somebody approve what changed since a revision.
pub(super) fn review(base: &str, cassettes: &Path, file: &Path, keys: &mut Keys) -> Result<Exit> {
    let mut report = diff::since(base, cassettes)?;
    report.approve(&store::load_approvals(file)?);
    let mut failing = report.groups();
    failing.retain(|group| group.change.is_open());
    if failing.is_empty() {
        tell::line("nothing that breaks a client; there is nothing to review");
        return Ok(Exit::Agrees);
    }
    let mut reasons = Reasons { each: vec![None; failing.len()], rest: None };
    let show = |at: usize, options| {
        let group = &failing[at];
        let endpoint = &group.change.place.endpoint;
        let contract = report.contracts.iter().find(|pair| pair.endpoint == *endpoint);
        let page = report::ReviewChange { number: at + 1, total: failing.len(), group, contract };
        report::review_change(&page, options)
    };
    let decisions =
        decide(failing.len(), keys, &TALK, show, |key, at, keys| reasons.ask(key, at, keys));
    let approved =
        failing.iter().zip(&decisions).enumerate().filter_map(|(at, (group, decision))| {
            let reason = reasons.of(at).filter(|_| *decision == Some(Decision::Accepted))?;
            Some(group.all().map(move |change| Approval::of(change, reason)))
        });
    let approved: Vec<Approval> = approved.flatten().collect();
    if !approved.is_empty() {
        store::add_approvals(file, &approved)?;
    }
    Ok(sum_up(&TALK, &decisions))
}

/// Why changes are all right.
struct Reasons {
    each: Vec<Option<String>>,
    /// What was said of all that were left.
    rest: Option<String>,
}

impl Reasons {
    /// Asks why; without a reason nothing is approved.
    fn ask(&mut self, key: Key, at: usize, keys: &mut Keys) -> bool {
        keys.echo("");
        tell::data("why is it all right? ");
        let reason = keys.line();
        let is_given = reason.is_some();
        tell::data(if is_given { "approved\n" } else { "without a reason nothing is approved\n" });
        if matches!(key, Key::DecideAll(_)) {
            self.rest.clone_from(&reason);
        }
        self.each[at] = reason;
        is_given
    }

    fn of(&self, at: usize) -> Option<&str> {
        self.each[at].as_deref().or(self.rest.as_deref())
    }
}
