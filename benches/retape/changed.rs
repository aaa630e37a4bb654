//! What `retape diff` takes when a thousand cassettes have changed, phase by phase.
//!
//! Each is a copy of a recording of a real server, with identifiers of its own; beside it stands what
//! another run of a changed server would have recorded: something is as it was not. retape tells it in the
//! words of the old one; in the harder case (`--fresh`) all identifiers are others as well.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regex::{Captures, Regex};
use retape::Name;
use retape::review::change::{Known, compare};
use retape::review::report::{Colour, Face, changes};
use retape::store::{self, Side};
use serde_json::Value;

use crate::cpu;
use crate::measure::Effort;

/// What [`diff`] is called.
pub const DIFF: &str = "diff of 1,000 changed cassettes of 100 to 150 KB";

/// What is wanted of all of it.
const LIMIT: Duration = Duration::from_secs(5);

/// What a changed server says otherwise.
const CHANGES: [fn(&str) -> String; 6] = [
    without_usage,
    |text| text.replace("\"reasoning\": ", "\"thinking\": "),
    |text| text.replace("\"stop_reason\": \"end_turn\"", "\"stop_reason\": \"max_steps\""),
    |text| text.replace("\"total_tokens\": ", "\"tokens\": "),
    |text| text.replace("\"assistant_message\"", "\"answer_message\""),
    |text| text.replace("\"step_id\": ", "\"revision\": 2, \"step_id\": "),
];

/// How the new recordings are told.
#[derive(Clone, Copy)]
enum Words {
    OfTheOldOnes,
    Fresh,
}

/// The tables of what each phase takes.
pub fn diff(effort: Effort) -> String {
    let stable = table(effort, Words::OfTheOldOnes);
    let fresh = table(effort, Words::Fresh);
    format!("## {DIFF}\n\n{stable}\nThe same, recorded with `--fresh`:\n\n{fresh}")
}

fn table(effort: Effort, words: Words) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = ["old", "new"].map(|side| folder.path().join(side));
    write(&old, &new, words, effort.at_most(1000));
    let mut phases = Phases::default();
    phases.measure("serde_json, into values", || parse(&[&old, &new]));
    let (was, is) = phases.measure("reading both sides", || (read(&old), read(&new)));
    let [was, is] = [known("old", &was), known("new", &is)];
    let report = phases.measure("comparing", || compare(was, is));
    let mut sizes = String::new();
    for (face, name, _) in Face::ALL {
        let told = phases.measure(&format!("as {name}"), || changes(&report, face, Colour::Plain));
        let _ = write!(sizes, ", {} KB as {name}", told.len() / 1000);
    }
    let (found, cassettes) = (report.changes.len(), report.cassettes.len());
    format!("{phases}\n{found} changes in {cassettes} cassettes{sizes}\n")
}

#[derive(Default)]
struct Phases(Vec<(String, Spent)>);

/// Time on the clock, and on all processors.
#[derive(Clone, Copy, Default)]
struct Spent {
    clock: Duration,
    cpu: Duration,
}

impl Phases {
    fn measure<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let (begun, cpu) = (Instant::now(), cpu::process());
        let done = work();
        let cpu = cpu::process().zip(cpu).map(|(after, before)| after - before);
        let spent = Spent { clock: begun.elapsed(), cpu: cpu.unwrap_or_default() };
        self.0.push((name.to_owned(), spent));
        done
    }
}

impl std::fmt::Display for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limit = self.0[0].1.cpu.as_secs_f64();
        let row = |f: &mut std::fmt::Formatter<'_>, name: &str, spent: Spent| {
            let (clock, cpu) = (spent.clock.as_secs_f64(), spent.cpu.as_secs_f64());
            writeln!(f, "| {name} | {clock:.2} | {cpu:.2} | {:.2} |", cpu / limit)
        };
        writeln!(f, "| | s | CPU s | CPU beside the limit |\n|---|---|---|---|")?;
        let mut all = Spent::default();
        for (number, (name, spent)) in self.0.iter().enumerate() {
            row(f, name, *spent)?;
            if number > 0 {
                all = Spent { clock: all.clock + spent.clock, cpu: all.cpu + spent.cpu };
            }
        }
        row(f, "all but the first", all)?;
        writeln!(f, "\nAt most {} s are wanted, on 2 processors.", LIMIT.as_secs())
    }
}

fn known<'a>(name: &'a str, side: &'a Side) -> Known<'a> {
    Known { name, path: name, cassettes: &side.cassettes, accepted: &side.accepted }
}

fn read(folder: &Path) -> Side {
    let unused = Name::new("unused").expect("a name");
    store::load_side(folder, &unused).expect("cassettes that were written")
}

/// Reads the same files as JSON, once.
fn parse(folders: &[&PathBuf; 2]) {
    for folder in folders {
        for file in fs::read_dir(folder).expect("a folder").flatten() {
            let text = fs::read(file.path()).expect("a file");
            std::hint::black_box(serde_json::from_slice::<Value>(&text).expect("it is JSON"));
        }
    }
}

fn write(old: &Path, new: &Path, words: Words, cassettes: usize) {
    let recordings = recordings();
    for folder in [old, new] {
        fs::create_dir(folder).expect("a new folder");
    }
    for number in 0..cassettes {
        let recorded = &recordings[number % recordings.len()];
        // Each recording comes with each change.
        let change = CHANGES[(number / recordings.len()) % CHANGES.len()];
        let file = format!("talk-{number:04}.json");
        let was = minted_anew(recorded, 2 * number);
        let is = match words {
            Words::OfTheOldOnes => change(&was),
            Words::Fresh => minted_anew(&change(recorded), 2 * number + 1),
        };
        fs::write(old.join(&file), was).expect("room for a file");
        fs::write(new.join(&file), is).expect("room for a file");
    }
}

/// The texts of those that are of that length.
fn recordings() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta");
    let names = read(&folder).cassettes.into_iter().map(|(name, _)| name);
    let texts = names.map(|name| fs::read_to_string(store::path_of(&folder, &name)));
    let texts = texts.map(|text| text.expect("a cassette"));
    texts.filter(|text| (90_000..150_000).contains(&text.len())).collect()
}

/// letta-agent-sdk's issue 300: the stream ends after `stop_reason`.
fn without_usage(text: &str) -> String {
    let says_it = |line: &&str| !line.contains("\"message_type\": \"usage_statistics\"");
    text.lines().filter(says_it).collect::<Vec<_>>().join("\n")
}

/// With other identifiers, as another run has them: what was different stays different.
fn minted_anew(text: &str, run: usize) -> String {
    let uuid = Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)[0-9a-f]{12}");
    let mixed = (run as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let other = |found: &Captures<'_>| {
        let number = |digits: &str| u64::from_str_radix(digits, 16).expect("digits");
        let first = number(&found[0][..8]) ^ (mixed & 0xffff_ffff);
        // The last digits tell which part of a message it is.
        let last = number(&found[0][24..]) ^ ((mixed >> 32) << 8);
        format!("{first:08x}{}{:012x}", &found[1], last & 0xffff_ffff_ffff)
    };
    uuid.expect("a pattern").replace_all(text, other).into_owned()
}
