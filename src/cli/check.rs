//! `retape check`.

use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::arguments::Folder;
use super::{Exit, contracts, tell};
use crate::assert::{self, Checked};
use crate::cassette::Name;
use crate::contract::Evidence;
use crate::error::Result;
use crate::review::report::{self, Colour, Face, count};
use crate::store;
use crate::store::mode::Update;
use crate::text::shell::quoted;

/// Check that the cassettes keep the contracts that were accepted
///
/// Compares what the cassettes show with what was accepted at each endpoint, and says whether it breaks a
/// client: the same rules, verdicts and approvals as `retape diff`, which compares two sets of recordings.
/// What is new, breaking or unproven waits beside the accepted contract (contracts/NAME.snap.new) to be
/// accepted; nothing is written where CI is set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape check
  retape check && retape accept
  retape check --strict                    what is unproven fails as well
  retape check --evidence                  who has seen what, and what to record next
Exit status: 0 nothing breaks a contract, 1 something is breaking or was never accepted, 2 it could not run.")]
pub(super) struct Check {
    #[command(flatten)]
    folder: Folder,

    /// Print also which cassette shows each optional field, branch, known value and step of an order,
    /// how likely another recording says nothing new, and what to record next
    #[arg(long)]
    evidence: bool,

    /// What is unproven fails as well: what too few recordings show to tell it from chance
    #[arg(long)]
    strict: bool,

    /// How it is printed: text, markdown, html, json, junit, sarif or github
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Face,
}

impl Check {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = self.folder.absolute();
        let update = Update::unless_ci();
        let mut checked = assert::checked(&folder, None)?;
        checked.report.strict = self.strict;
        let text = |name: &str| store::text_of(&folder, &Name::new(name).ok()?);
        checked.report.locate(text);
        self.tell(&folder, &checked)?;
        // What was found is told wherever nothing can be written.
        let proposed = contracts::propose(&folder, &checked, update);
        tell_failed(&folder);
        let accepted = store::contracts(&folder)?;
        contracts::tell_unread(&accepted);
        contracts::tell_unknown_places(&contracts::unknown_places(&folder, &accepted)?);
        if is_all_seen(&checked) {
            tell::line("all contracts are kept");
            return proposed.map(|()| Exit::Agrees);
        }
        let new = checked.findings.iter().filter(|it| checked.is_unknown(it)).count();
        if new > 0 {
            tell::line(&format!("{} without an accepted contract", count(new, "endpoint")));
        }
        let is_open = checked.findings.iter().any(|finding| checked.is_open(finding));
        if !checked.unread.is_empty() {
            tell::line("the other cassettes were checked");
            return tell::unread(checked.unread, Exit::Findings);
        }
        match proposed {
            Err(error) if checked.fails() => tell::error(&error),
            proposed => {
                proposed?;
                let folder = self.folder.cassettes.to_string_lossy();
                let names = match &*folder {
                    "cassettes" => String::new(),
                    folder => format!(" --cassettes {}", quoted(folder)),
                };
                if update == Update::Propose && is_open {
                    tell::hint(&format!(
                        "look at {folder}/contracts/*.snap.new; if the server is meant to do that, `retape accept{names}` \
                         accepts it"
                    ));
                } else if checked.fails() {
                    tell::hint(&format!(
                        "if the server is meant to do that, run `retape accept{names}` where `CI` is not set, and \
                         commit the contracts; if not, mend the server"
                    ));
                }
            }
        }
        Ok(if checked.fails() { Exit::Findings } else { Exit::Agrees })
    }

    fn tell(&self, folder: &Path, checked: &Checked) -> Result<()> {
        let mut told = match self.format {
            Face::Text if is_all_seen(checked) => String::new(),
            face => report::changes(&checked.report, face, Colour::Ansi),
        };
        if self.evidence {
            let ((loaded, _), accepted) = (assert::load(folder), store::contracts(folder)?);
            let evidence = assert::traffic(folder, &loaded, &accepted)?.evidence();
            told = match self.format {
                Face::Json => with_evidence(&told, &evidence),
                _ if told.is_empty() => report::evidence(&evidence, Colour::Ansi),
                _ => format!("{told}\n{}", report::evidence(&evidence, Colour::Ansi)),
            };
        }
        tell::report(self.format, &told)
    }
}

/// Whether all cassettes were read, contracts are kept, and all is seen that they have shown often.
fn is_all_seen(checked: &Checked) -> bool {
    let Checked { findings, report, unread, .. } = checked;
    findings.is_empty() && report.changes.is_empty() && unread.is_empty()
}

/// Says that there are recordings at which nobody has looked: a server that breaks its client makes a test fail.
fn tell_failed(folder: &Path) {
    let all = |ending: &str| {
        let is_it = |stem: &String| {
            let (_, what) = stem.rsplit_once('.').unwrap_or_default();
            what.starts_with(ending) && Name::new(stem.as_str()).is_ok_and(|name| name.is_beside())
        };
        store::stems(folder).filter(is_it).count()
    };
    let kinds = [("failed", "commands that failed"), ("unanswered", "servers that did not answer")];
    let mut is_any = false;
    for (ending, of) in kinds {
        let number = all(ending);
        if number > 0 {
            let recordings = count(number, "recording");
            tell::line(&format!("{recordings} of {of}: not checked (NAME.{ending}.json)"));
            is_any = true;
        }
    }
    if is_any {
        tell::hint("if that is what the server does now, move them to NAME.json, and check again");
    }
}

/// The report with one more member.
fn with_evidence(report: &str, evidence: &[Evidence]) -> String {
    let mut report: Value = serde_json::from_str(report).expect("a report is JSON");
    report["evidence"] = report::evidence_to_json(evidence);
    format!("{report}\n")
}
