//! `retape diff`.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use clap::Args;

use super::arguments::absolute;
use super::{Exit, contracts, tell};
use crate::cassette::Name;
use crate::config::NewFields;
use crate::error::{Error, Result};
use crate::message::Protocols;
use crate::review::change::{self, Approval, Change, Known, Report};
use crate::review::report::{self, Colour, Face};
use crate::store::{self, Side};

/// Tell what changed in what the server promises, and whether that breaks a client
///
/// Compares two folders of cassettes, two cassettes, two contracts, or the cassettes of two git revisions.
/// What is breaking fails unless it is approved: in retape-approvals.toml, by --approve. What is unproven is
/// told behind it, and fails with --strict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape diff --base origin/main                    the working tree beside a revision
  retape diff --base v1.2 --head v1.3
  retape diff before/cassettes cassettes
  retape diff --base origin/main --output report.html --output report.json
  retape diff --base origin/main --approve 92635975a9d5 --reason \"no client reads it\"
Exit status: 0 nothing that breaks a client, 1 something is breaking, 2 it could not run.")]
pub(super) struct Diff {
    /// What was before: a folder of cassettes, a cassette, or a contract
    #[arg(value_name = "OLD", required_unless_present = "base", requires = "new")]
    old: Option<PathBuf>,

    /// What is now
    #[arg(value_name = "NEW", conflicts_with = "base")]
    new: Option<PathBuf>,

    /// What was before: a git revision, of which the files are read without a checkout
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,

    /// What is now: a git revision instead of the working tree
    #[arg(long, value_name = "REVISION", requires = "base")]
    head: Option<String>,

    /// The folder of cassettes that is compared between revisions
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,

    /// How it is printed: text, markdown, html, json, junit, sarif or github
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Face,

    /// Write it to a file as well, in the format of its ending: .txt .md .html .json .xml .sarif; may be
    /// repeated. Folders that are not there are made
    #[arg(long, value_name = "FILE", value_parser = output)]
    output: Vec<Output>,

    /// What a field that is new in an answer means: compatible or breaking; else what `[diff]` in the
    /// nearest retape.toml above the cassettes says, or compatible
    #[arg(long, value_name = "VERDICT")]
    new_fields: Option<NewFields>,

    /// What is unproven fails as well: what too few recordings show to tell it from chance
    #[arg(long)]
    strict: bool,

    /// Approve the change with this fingerprint; may be repeated
    #[arg(long, value_name = "FINGERPRINT", requires = "reason")]
    approve: Vec<String>,

    /// Why it is all right
    #[arg(long, value_name = "TEXT", requires = "approve")]
    reason: Option<String>,

    /// The file of approvals; the nearest retape-approvals.toml if it is left out
    #[arg(long, value_name = "FILE")]
    approvals: Option<PathBuf>,
}

/// A file to be written, and how.
#[derive(Debug, Clone)]
struct Output {
    file: PathBuf,
    face: Face,
}

fn output(file: &str) -> Result<Output, String> {
    let file = PathBuf::from(file);
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let face = Face::of_ending(ending);
    let endings = Face::ALL.iter().flat_map(|(.., endings)| *endings);
    let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    let unknown = || format!("its ending is none of {}", endings.join(" "));
    Ok(Output { face: face.ok_or_else(unknown)?, file })
}

/// A side with what it is called.
struct NamedSide {
    name: String,
    /// The folder of its cassettes, or the only file there is, from the root of the repository.
    path: String,
    side: Side,
    /// The folder or the file, if it is no revision.
    place: Option<PathBuf>,
    /// What the `retape.toml` beside its cassettes says; of a revision, the one that is there now.
    protocols: Protocols,
    new_fields: NewFields,
}

impl NamedSide {
    fn known(&self) -> Known<'_> {
        let Self { name, path, side, .. } = self;
        Known { name, path, cassettes: &side.cassettes, accepted: &side.accepted }
    }

    /// The file of a cassette as it stands there, if it is one that an editor can open.
    fn text_of(&self, cassette: &str) -> Option<String> {
        store::text_of(self.place.as_deref()?, &Name::new(cassette).ok()?)
    }
}

impl Diff {
    pub(super) fn run(self) -> Result<Exit> {
        let (mut old, mut new) = self.sides()?;
        let unread = set_aside(&mut old, &mut new);
        let mut report = compared(&old, &new, self.new_fields);
        report.unreadable = unread.iter().map(store::unreadable).collect();
        let file = self.approvals.as_deref().map(absolute);
        let file = file.unwrap_or_else(|| store::find_approvals(&absolute(Path::new("."))));
        self.note_approvals(&report, &file)?;
        report.approve(&store::load_approvals(&file)?);
        report.strict = self.strict;
        report.locate(|name| new.text_of(name));
        self.write(&report)?;
        tell::report(self.format, &report::changes(&report, self.format, Colour::Ansi))?;
        if !report.cassettes.is_empty() {
            contracts::tell_unread_at(&report.unread.iter().collect::<Vec<_>>());
        }
        let exit = if report.fails() { Exit::Findings } else { Exit::Agrees };
        let is_alone = [&old, &new].iter().all(|it| it.side.cassettes.is_empty());
        if !unread.is_empty() && !is_alone {
            tell::line("the other cassettes were compared");
        }
        let exit = tell::unread(unread, exit);
        // The process ends here: to give back what a thousand cassettes take, piece by piece, is for nothing.
        std::mem::forget((old, new, report));
        exit
    }

    /// Writes the faces that are asked for, all made at once.
    fn write(&self, report: &Report) -> Result<()> {
        let texts = thread::scope(|scope| {
            let make = |output: &Output| {
                let face = output.face;
                scope.spawn(move || report::changes(report, face, Colour::Plain))
            };
            let made: Vec<_> = self.output.iter().map(make).collect();
            let text = |made: ScopedJoinHandle<'_, String>| {
                made.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            made.into_iter().map(text).collect::<Vec<String>>()
        });
        for (Output { file, .. }, text) in self.output.iter().zip(texts) {
            let hint = "choose a file that can be written: `--output FILE`";
            store::write_report(&absolute(file), &text).map_err(|error| error.with_hint(hint))?;
        }
        Ok(())
    }

    fn sides(&self) -> Result<(NamedSide, NamedSide)> {
        if let (Some(old), Some(new)) = (&self.old, &self.new) {
            let name = name_of(new);
            return Ok((side(old, &name)?, side(new, &name)?));
        }
        let base = self.base.as_deref().unwrap_or_default();
        let old = revision(base, &self.cassettes)?;
        let new = match &self.head {
            Some(head) => revision(head, &self.cassettes)?,
            None => side(&self.cassettes, &name_of(&self.cassettes))?,
        };
        let revisions = (base, self.head.as_deref());
        Ok((or_moved(old, revisions, &self.cassettes, &new)?, new))
    }

    /// Writes what is approved now.
    fn note_approvals(&self, report: &Report, file: &Path) -> Result<()> {
        let Some(reason) = &self.reason else { return Ok(()) };
        let known = store::load_approvals(file)?;
        let mut approvals: Vec<Approval> = Vec::new();
        let groups = report.groups();
        for fingerprint in &self.approve {
            let is_it = |change: &Change| change.fingerprint == *fingerprint;
            let group = groups.iter().find(|group| group.all().any(is_it));
            let group = group.ok_or_else(|| {
                Error::said(format!("no change has `{fingerprint}`"))
                    .with_hint("the report shows the fingerprint of each change beside its rule")
            })?;
            let is_new = |change: &&Change| {
                known.iter().chain(&approvals).all(|it| it.fingerprint != change.fingerprint)
            };
            let new: Vec<Approval> =
                group.all().filter(is_new).map(|change| Approval::of(change, reason)).collect();
            approvals.extend(new);
        }
        store::add_approvals(file, &approvals)
    }
}

/// What changed in a folder of cassettes since a revision.
pub(super) fn since(base: &str, cassettes: &Path) -> Result<Report> {
    let old = revision(base, cassettes)?;
    let mut new = side(cassettes, &name_of(cassettes))?;
    let mut old = or_moved(old, (base, None), cassettes, &new)?;
    match set_aside(&mut old, &mut new).pop() {
        Some(error) => Err(error),
        None => Ok(compared(&old, &new, None)),
    }
}

/// Takes cassettes out of both sides that cannot be read on one: what they said is neither gone nor new. Gives why.
fn set_aside(old: &mut NamedSide, new: &mut NamedSide) -> Vec<Error> {
    let unread = [old, new].map(|side| (std::mem::take(&mut side.side.unread), side));
    let names = unread.iter().flat_map(|(unread, _)| unread).map(|(name, _)| name.clone());
    let names: BTreeSet<Name> = names.collect();
    let each = unread.into_iter().map(|(unread, side)| {
        side.side.cassettes.retain(|(name, _)| !names.contains(name));
        unread.into_iter().map(|(_, error)| error)
    });
    let mut told = BTreeSet::new();
    each.flatten().filter(|error| told.insert(error.to_string())).collect()
}

/// What changed, judged as the configuration of the new side says.
fn compared(old: &NamedSide, new: &NamedSide, new_fields: Option<NewFields>) -> Report {
    let mut report = change::compare_by(&new.protocols, old.known(), new.known());
    report.new_fields(new_fields.unwrap_or(new.new_fields));
    report
}

/// What a folder was at a revision; where it had nothing, the folder that it was moved from. That all is new is said, as the
/// name of the folder may be wrong.
fn or_moved(
    old: NamedSide,
    revisions: (&str, Option<&str>),
    cassettes: &Path,
    new: &NamedSide,
) -> Result<NamedSide> {
    let base = revisions.0;
    let is_empty = |side: &Side| side.cassettes.is_empty() && side.unread.is_empty();
    if !is_empty(&old.side) || is_empty(&new.side) {
        return Ok(old);
    }
    let names = new.side.cassettes.iter().map(|(name, _)| name);
    let shown = cassettes.display();
    let Some(moved) = store::moved_from(&absolute(cassettes), revisions, names)? else {
        tell::line(&format!("`{base}` has no cassettes in `{shown}`: all of them are new"));
        return Ok(old);
    };
    let before = store::mention_path(&store::in_repository(&moved));
    tell::line(&format!("`{base}` has the cassettes of `{shown}` in `{before}`"));
    Ok(NamedSide { name: format!("{base}:{before}"), ..revision(base, &moved)? })
}

fn revision(revision: &str, cassettes: &Path) -> Result<NamedSide> {
    let side = store::load_revision(&absolute(cassettes), revision)?;
    named(format!("{revision}:{}", cassettes.display()), cassettes, side)
}

fn side(path: &Path, name: &Name) -> Result<NamedSide> {
    let side = store::load_side(&absolute(path), name)?;
    let named = named(path.display().to_string(), path, side)?;
    Ok(NamedSide { place: Some(absolute(path)), ..named })
}

fn named(name: String, file: &Path, side: Side) -> Result<NamedSide> {
    let path = store::in_repository(file).display().to_string();
    let config = store::find_config(&absolute(file))?;
    let (protocols, new_fields) = (Protocols::of(&config), config.new_fields());
    Ok(NamedSide { name, path, side, place: None, protocols, new_fields })
}

/// What a cassette is called that is given by its file: as the file, if that is a name.
fn name_of(file: &Path) -> Name {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    Name::new(stem).or_else(|_| Name::new("cassette")).expect("a plain word is a name")
}
