//! How far the learned contracts of protocols whose grammar is known can be trusted.
//!
//! A protocol ([`grammar::Protocol`]) records conversations and knows which streams are legal. From `k`
//! recordings the contracts are learned. Then these are checked against them:
//!
//! - fresh conversations, each alone: all are legal, so whatever is broken is a false alarm;
//! - conversations with one edit that the grammar forbids: they should be refused;
//! - the unchanged server recorded again as a whole, with the same scenarios and with others.
//!
//! Nine of the protocols are held out: only their totals are printed, so that nobody tunes by them.
//! `--findings` prints false alarms and what is not refused of the others, `--held-out` the rows of the nine, and
//! `--thorough` takes more samples, `--reduced` few, for a debug build.

mod claims;
mod grammar;
mod held_out;
mod identifiers;
mod keyed;
mod later;
mod mint;
mod report;
mod shown;
mod talk;
mod tally;
mod tied;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::measure::Effort;
use grammar::Protocol;
use tally::Tally;

/// What [`score`] is called.
pub const SCORE: &str = "trust in learned contracts";

/// What is printed, and how much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The false alarms of the half that is shown.
    pub findings: bool,
    /// The rows of the half that is held out.
    pub held_out: bool,
    /// More samples, for figures that are published.
    pub thorough: bool,
    /// Few samples, for a debug build.
    pub reduced: bool,
}

/// How much is tried.
#[derive(Debug, Clone, Copy)]
struct Size {
    recordings: &'static [usize],
    /// Contracts are learned so often, from other recordings.
    samples: usize,
    /// Fresh conversations and illegal ones for each sample.
    fresh: usize,
    /// Times that all is recorded again for each sample.
    rounds: usize,
    /// Identifiers of each generator.
    values: usize,
}

const SMOKE: Size = Size { recordings: &[1, 3], samples: 1, fresh: 2, rounds: 1, values: 20 };
const USUAL: Size =
    Size { recordings: &[1, 3, 10, 30], samples: 4, fresh: 40, rounds: 5, values: 10_000 };
const REDUCED: Size = Size { recordings: &[10, 30], samples: 1, fresh: 20, rounds: 2, values: 100 };
const THOROUGH: Size = Size { samples: 12, fresh: 100, rounds: 10, ..USUAL };

/// The tables.
pub fn score(effort: Effort, wanted: Wanted) -> String {
    let is_smoke = effort.at_most(usize::MAX) < usize::MAX;
    let size = match wanted.thorough {
        _ if is_smoke => SMOKE,
        _ if wanted.reduced => REDUCED,
        true => THOROUGH,
        false => USUAL,
    };
    let cells = cells(size);
    let identifiers = identifiers::table(size.values);
    format!("## {SCORE}\n\n{}{identifiers}", report::tables(&cells, size, wanted))
}

/// What became of a protocol learned from so many recordings.
struct Cell {
    protocol: &'static str,
    half: Half,
    recordings: usize,
    tally: Tally,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Shown,
    HeldOut,
}

type Task = (usize, Half, &'static Protocol);

/// All protocols with all numbers of recordings.
fn cells(size: Size) -> Vec<Cell> {
    let tasks = tasks(size);
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let cells = numbers.map_while(|number| {
            let (recordings, half, protocol) = *tasks.get(number)?;
            let tally = Tally::of(protocol, recordings, size);
            Some((number, Cell { protocol: protocol.name, half, recordings, tally }))
        });
        cells.collect::<Vec<(usize, Cell)>>()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut cells: Vec<(usize, Cell)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().expect("every protocol is legal")).collect()
    });
    cells.sort_by_key(|(number, _)| *number);
    cells.into_iter().map(|(_, cell)| cell).collect()
}

/// What takes longest begins first.
fn tasks(size: Size) -> Vec<Task> {
    let shown = shown::ALL.iter().map(|protocol| (Half::Shown, protocol));
    let protocols = shown.chain(held_out::ALL.iter().map(|protocol| (Half::HeldOut, protocol)));
    let protocols: Vec<(Half, &'static Protocol)> = protocols.collect();
    let all = |count: &usize| {
        let count = *count;
        protocols.iter().map(move |(half, protocol)| (count, *half, *protocol))
    };
    size.recordings.iter().rev().flat_map(all).collect()
}
