//! Bytes that nobody has chosen: mutations of the corpora in `fuzz/corpus`, the same ones in each run.
//!
//! `RETAPE_FUZZ=3600 cargo test --test fuzz` takes so many seconds for each target, and other mutations each time.
//! `cargo +nightly fuzz run TARGET` looks for those that find new ways through the code.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// So many mutations are tried if no time is named.
const ROUNDS: usize = 300;

/// What stands in the way of readers.
const WORDS: [&[u8]; 16] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\r\n",
    b"\n\n",
    b"\"",
    b"\\u",
    b"{",
    b"]",
    b"9999999999999999999",
    b"-1",
    b"1e999",
    b"data: ",
    b"--b",
    b"%",
    b"<",
];

/// Bytes as they come of others by chance.
struct Mutations {
    seeds: Vec<Vec<u8>>,
    state: u64,
    until: Option<Instant>,
    round: usize,
}

impl Mutations {
    fn of(target: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        walk(&root.join("fuzz/corpus").join(target), &mut files);
        let more = match target {
            "cassette" => "cassettes/compat",
            "contract" => "cassettes/anthropic/contracts",
            _ => "fuzz/corpus/none",
        };
        walk(&root.join(more), &mut files);
        files.sort();
        let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        assert!(!seeds.is_empty(), "`{target}` has no corpus");
        let seconds = std::env::var("RETAPE_FUZZ").ok().map(|seconds| seconds.parse().unwrap());
        let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let state = until.map_or(0x9e37_79b9_7f4a_7c15, |_| now.as_nanos() as u64 | 1);
        Self { seeds, state, until, round: 0 }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % limit.max(1)
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let size = self.below(32);
        from..(from + size).min(length)
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let range = self.range(bytes.len());
        match self.below(7) {
            0 => drop(bytes.drain(range)),
            1 => {
                let again = bytes[range.clone()].repeat(1 + self.below(4));
                bytes.splice(range.start..range.start, again);
            }
            2 => bytes.truncate(range.start),
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(range, word.iter().copied());
            }
            4 => {
                let other = self.below(self.seeds.len());
                let part = self.range(self.seeds[other].len());
                bytes.splice(range, self.seeds[other][part].to_vec());
            }
            _ if range.start < bytes.len() => bytes[range.start] ^= 1 << self.below(8),
            _ => {}
        }
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    /// The corpus first, as it is.
    fn next(&mut self) -> Option<Vec<u8>> {
        let is_over = self.until.map_or(self.round >= ROUNDS, |until| Instant::now() > until);
        let round = self.round;
        self.round += 1;
        if round < self.seeds.len() {
            return Some(self.seeds[round].clone());
        }
        let one = self.below(self.seeds.len());
        let mut bytes = self.seeds[one].clone();
        (0..=self.below(6)).for_each(|_| self.mutate(&mut bytes));
        (!is_over).then_some(bytes)
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// Tries one input after another. One that fails is left in a file.
fn try_all(target: &str, mut one: impl FnMut(&[u8])) {
    for bytes in Mutations::of(target) {
        let begun = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| one(&bytes)));
        if done.is_err() || begun.elapsed() > Duration::from_secs(60) {
            let file = std::env::temp_dir().join(format!("retape-fuzz-{target}"));
            fs::write(&file, &bytes).unwrap();
            panic!("`{target}` fails with what is in {}", file.display());
        }
    }
}

#[test]
fn no_bytes_break_what_reads_them() {
    std::thread::scope(|scope| {
        for (target, one) in targets::TARGETS {
            scope.spawn(move || try_all(target, one));
        }
    });
}

#[test]
fn no_answer_no_frame_and_no_journal_breaks_a_session() {
    let panics = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&panics);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // What is tried beside it may panic, and is told by its own test.
        let thread = std::thread::current();
        if thread.name().is_some_and(|name| name.starts_with("tokio")) {
            noted.lock().unwrap().push(info.to_string());
        }
        hook(info);
    }));
    for (target, one) in targets::OF_SESSIONS {
        try_all(target, one);
    }
    let panics = std::mem::take(&mut *panics.lock().unwrap());
    assert_eq!(panics, Vec::<String>::new());
}

#[test]
fn each_target_is_one_of_cargo_fuzz_and_has_a_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let all = targets::TARGETS.iter().chain(&targets::OF_SESSIONS).map(|target| target.0);
    let mut all: Vec<String> = all.map(|name| format!("{name}.rs")).collect();
    all.sort();

    let mut files = Vec::new();
    walk(&root.join("fuzz_targets"), &mut files);
    files.sort();

    let names = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap());
    assert!(names.eq(all.iter()));
    for file in all {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{file}\"")), "{file}");
    }
}
