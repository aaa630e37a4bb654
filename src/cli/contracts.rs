//! Contracts beside their cassettes: checked, proposed, accepted.

use std::path::Path;

use super::tell;
use crate::assert::{self, Checked};
use crate::contract::{Contract, Endpoint, Finding, UnknownPlace};
use crate::error::Result;
use crate::review::report::count;
use crate::store;
use crate::store::mode::Update;

/// Writes what waits to be accepted.
pub(super) fn propose(cassettes: &Path, checked: &Checked, update: Update) -> Result<()> {
    // What a cassette shows that cannot be read is missing in what would wait.
    if update != Update::Propose || !checked.unread.is_empty() {
        return Ok(());
    }
    let open = checked.findings.iter().filter(|finding| checked.is_open(finding));
    store::propose(cassettes, open.filter_map(Finding::proposed))
}

/// Makes what was found the accepted contract; an orphan is taken back.
pub(super) fn accept(cassettes: &Path, finding: &Finding) -> Result<()> {
    match (finding, finding.proposed()) {
        (_, Some(contract)) => store::accept(cassettes, contract),
        (Finding::Orphaned(endpoint), None) => store::forget(cassettes, endpoint),
        (_, None) => Ok(()),
    }
}

/// The places in invariants that somebody has written and that nothing recorded has. What cannot be read is told
/// elsewhere.
pub(super) fn unknown_places(cassettes: &Path, accepted: &[Contract]) -> Result<Vec<UnknownPlace>> {
    if accepted.iter().all(Contract::is_as_learned) {
        return Ok(Vec::new());
    }
    let (loaded, unread) = assert::load(cassettes);
    if !unread.is_empty() {
        return Ok(Vec::new());
    }
    Ok(assert::traffic(cassettes, &loaded, accepted)?.unknown_places(accepted))
}

/// Says which places in invariants that somebody has written nothing recorded has: these never fail.
pub(super) fn tell_unknown_places(unknown: &[UnknownPlace]) {
    for UnknownPlace { endpoint, invariant, place, in_request, nearest } in unknown {
        let what = if *in_request { "request says" } else { "answer has" };
        tell::line(&format!("no recorded {what} `{place}`: {endpoint}: `{invariant}`"));
        if let Some(nearest) = nearest {
            tell::hint(&format!("did you mean `{nearest}`?"));
        }
    }
}

/// Says of which answers nothing is promised but a status and a media type: they are no JSON.
pub(super) fn tell_unread(contracts: &[Contract]) {
    let unread = contracts.iter().filter(|it| it.is_of_unread());
    tell_unread_at(&unread.map(|it| &it.endpoint).collect::<Vec<_>>());
}

/// The same of the answers of these endpoints.
pub(super) fn tell_unread_at(unread: &[&Endpoint]) {
    const SHOWN: usize = 3;
    if unread.is_empty() {
        return;
    }
    let name = |it: &&Endpoint| format!("{} {}", it.method, it.path);
    let mut names: Vec<String> = unread.iter().take(SHOWN).map(name).collect();
    if unread.len() > SHOWN {
        names.push("…".to_owned());
    }
    let answers = count(unread.len(), "contract");
    let names = names.join(", ");
    tell::line(&format!(
        "{answers} of answers that are no JSON: what they say is not checked ({names})"
    ));
}
