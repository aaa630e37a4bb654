//! How fast retape is, beside the limits of what it is built on.
//!
//! Each table has the limit in its first row: a bare hyper server with the answer at hand, a bare
//! hyper proxy, `serde_json` reading the same text. The rows take turns, so that what else the
//! machine does hits all of them; a share is the median over the rounds, with the lowest and the
//! highest. Nothing is asserted about a time.
//!
//! - `cargo bench` runs everything, `cargo bench -- replay` what has this in its name;
//! - `cargo bench -- --smoke` runs everything once, for a moment: it fails if something does not work;
//! - `cargo bench -- trust` takes `--findings`, `--held-out` and `--thorough` as well: see [`trust`];
//! - `taskset -c 0 cargo bench` keeps all on one processor, where a request wakes nobody up elsewhere.

#![expect(clippy::print_stdout, reason = "the tables are what it is for")]

mod bare;
mod changed;
mod changing;
mod client;
mod cpu;
#[path = "../../tests/it/order/dice.rs"]
mod dice;
mod learning;
mod loading;
mod matching;
mod measure;
mod mutants;
mod ordering;
mod recording;
mod replaying;
mod sample;
mod served;
#[path = "../../tests/server_changes/mod.rs"]
mod server_changes;
mod trust;

use measure::Effort;
use mimalloc::MiMalloc;

/// That of the binary.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let smoke = has("--smoke");
    let effort = if smoke { Effort::SMOKE } else { Effort::FULL };
    let words: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let all =
        [replaying::ALL, recording::ALL, matching::ALL, loading::ALL, learning::ALL, ordering::ALL];
    for (name, bench) in all.concat() {
        if wanted(name) {
            println!("{}", bench(effort).titled(name));
        }
    }
    if wanted(ordering::ACCURACY) {
        println!("{}", ordering::accuracy(effort));
    }
    if wanted(changed::DIFF) {
        println!("{}", changed::diff(effort));
    }
    if wanted(mutants::SCORE) {
        println!("{}", mutants::score(effort));
    }
    if wanted(changing::SCORE) {
        println!("{}", changing::score(effort));
    }
    if wanted(trust::SCORE) {
        let wanted = trust::Wanted {
            findings: has("--findings"),
            held_out: has("--held-out"),
            thorough: has("--thorough"),
            reduced: has("--reduced"),
        };
        println!("{}", trust::score(effort, wanted));
    }
}
