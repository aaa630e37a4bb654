//! Contracts as snapshots of insta.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use insta::internals::{Content, SnapshotContents};
use insta::{Comparator, Settings, Snapshot};

use super::checked::{Checked, checked};
use crate::contract::{Contract, Finding};
use crate::error::{Error, Kind, Result};
use crate::review::change::Change;
use crate::review::report::{self, Colour, Face};
use crate::store;

/// Holds cassettes against the contracts that were accepted; `assert` asserts one snapshot by its name,
/// its text and what it is about.
///
/// # Panics
///
/// As [`assert_contract!`](crate::assert_contract) says.
#[track_caller]
pub fn check_contract(
    package: &str,
    cassettes: &(impl AsRef<Path> + ?Sized),
    strict: bool,
    assert: impl Fn(&str, &str, &str),
) {
    let (folder, mut checked) = match look(&Path::new(package).join(cassettes)) {
        Ok(looked) => looked,
        Err(error) => panic!("{error:?}"),
    };
    checked.report.strict = strict;
    let kept = checked.kept.iter().map(|contract| (contract, Judged::Kept));
    let failing = checked.findings.iter().filter(|finding| checked.fails_by(finding));
    let proposed = failing.filter_map(Finding::proposed);
    let judged = kept.chain(proposed.map(|contract| (contract, Judged::Broken)));
    // Each is asserted, so that all that are broken can be reviewed at once.
    let failed = judged.filter(|(contract, judged)| !passes(&folder, contract, *judged, &assert));
    let failed = failed.count();
    let is_lost = |finding: &Finding| finding.proposed().is_none() && checked.fails_by(finding);
    if failed > 0 || checked.findings.iter().any(is_lost) {
        let told = report::changes(&checked.report, Face::Text, Colour::Plain);
        panic!(
            "contracts are not kept\n\n{told}\nhint: if that is right, accept it: `cargo insta review` or `retape accept`"
        );
    }
    if checked.report.changes.iter().any(Change::is_open) {
        let told = report::changes(&checked.report, Face::Text, Colour::Plain);
        let hint = "hint: `assert_contract!(…, strict)` fails by what is unproven";
        // Not by `eprintln!`, since libtest throws away what a test prints that passes.
        let _ = std::io::stderr().write_all(format!("{told}\n{hint}\n").as_bytes());
    }
}

/// What a folder of cassettes, or one cassette in it, shows.
fn look(cassettes: &Path) -> Result<(PathBuf, Checked)> {
    if cassettes.extension().is_none_or(|ending| ending != "json") {
        return Ok((cassettes.to_owned(), checked(cassettes, None)?.whole()?));
    }
    if !cassettes.is_file() {
        let name = cassettes.display().to_string();
        return Err(Error::new(Kind::NoCassette { name }));
    }
    let parent = cassettes.parent().unwrap_or(Path::new("."));
    let has_contracts = |folder: &&Path| folder.join("contracts").is_dir();
    let folder = parent.ancestors().find(has_contracts).unwrap_or(parent);
    Ok((folder.to_owned(), checked(folder, Some(cassettes))?.whole()?))
}

/// Asserts one contract in the folder where it belongs, whatever the settings of the test are: the file
/// is also the command's.
fn passes(
    folder: &Path,
    contract: &Contract,
    judged: Judged,
    assert: &impl Fn(&str, &str, &str),
) -> bool {
    let mut settings = Settings::new();
    settings.set_snapshot_path(folder.join("contracts"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_comparator(Box::new(judged));
    let head = contract.origin.head().into_iter().map(|(name, says)| {
        let text = || says.as_str().unwrap_or_default().into();
        let says = says.as_u64().map_or_else(text, Content::from);
        (name.into(), says)
    });
    settings.set_raw_info(&Content::Map(head.collect()));
    let endpoint = &contract.endpoint;
    let name = store::contract_name(folder, endpoint);
    let assertion = || assert(&name, &contract.to_string(), &endpoint.to_string());
    catch_unwind(AssertUnwindSafe(|| settings.bind(assertion))).is_ok()
}

/// Whether an accepted contract is kept, which its text alone does not tell.
#[derive(Clone, Copy)]
enum Judged {
    Kept,
    Broken,
}

impl Comparator for Judged {
    fn matches(&self, reference: &Snapshot, _: &Snapshot) -> bool {
        matches!((self, reference.contents()), (Self::Kept, SnapshotContents::Text(_)))
    }

    fn dyn_clone(&self) -> Box<dyn Comparator> {
        Box::new(*self)
    }
}
