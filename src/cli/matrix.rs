//! `retape matrix`.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Args;
use tokio::task::JoinSet;

use super::arguments::{Common, duration, fault};
use super::child::{self, Ended, Signals};
use super::conduct::on_runtime;
use super::{Exit, tell};
use crate::Chunking;
use crate::config::Fault;
use crate::error::{Error, Result};
use crate::review::report::{count, visible};
use crate::serve::lock;
use crate::session::{SessionBuilder, Summary};
use crate::store::mode::Mode;

/// Run a command once for each way to cut streams, and for each fault
///
/// A network cuts a stream anywhere, and servers fail. The command runs once for each way, against what was
/// recorded and with no server, several at a time. A table says what passed and what failed.
#[derive(Debug, Args)]
#[command(mut_arg("attached", |it| it.hide(true)))]
#[command(mut_arg("command", |it| it.help("The command to run; {url} in an argument stands for the address")))]
#[command(after_help = "\
Examples:
  retape matrix letta/hello -- python hello.py {url}
  retape matrix --faults --jobs 2 -- pytest
  retape matrix --chunks recorded --fault 'POST /v1/agents: 503 x2' -- npm test
Exit status: 0 all passed, 1 one failed, 2 it could not run.")]
pub(super) struct Matrix {
    #[command(flatten)]
    common: Common,

    /// The ways in which streams are cut
    #[arg(
        long,
        value_name = "HOW,…",
        value_delimiter = ',',
        default_value = "recorded,event,coalesced,1,split-utf8,crlf,random:1"
    )]
    chunks: Vec<String>,

    /// A fault, with streams as they were recorded. Can be given several times; docs/faults.md lists all
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault)]
    faults: Vec<Fault>,

    /// The usual faults, each at the first attempt at each request
    #[arg(long = "faults")]
    usual: bool,

    /// How many commands run at once; half of the processors if it is not set
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// How long a command may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
}

/// What `--faults` means.
const USUAL: [&str; 11] = [
    "429 retry-after=0 x1",
    "500 x1",
    "503 retry-after=0 x2",
    "529 x1",
    "refuse x1",
    "reset x1",
    "cut x1",
    "reset after=1 x1",
    "malformed x1",
    "oversized x1",
    "drip size=64 every=5ms",
];

/// So many lines of a failure are shown.
const SHOWN: usize = 6;

/// A row of the table.
#[derive(Debug, Clone)]
struct Row {
    chunks: String,
    fault: Option<Fault>,
}

/// What came of a row.
#[derive(Debug)]
struct RowResult {
    ended: Ended,
    summary: Summary,
    took: Duration,
}

impl Matrix {
    pub(super) fn run(self) -> Result<Exit> {
        if self.common.command.is_empty() {
            return Err(Error::rule("COMMAND", "is missing").with_hint(
                "it stands behind `--`: `retape matrix letta/hello -- python hello.py`",
            ));
        }
        let rows = self.rows()?;
        on_runtime(self.perform(rows))
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let chunks = self.chunks.iter().map(|word| {
            word.parse::<Chunking>().map(|_| Row { chunks: word.clone(), fault: None })
        });
        let mut rows: Vec<Row> = chunks.collect::<Result<_>>()?;
        let usual: &[&str] = if self.usual { &USUAL } else { &[] };
        let usual = usual.iter().map(|fault| fault.parse());
        for fault in usual.chain(self.faults.iter().cloned().map(Ok)) {
            rows.push(Row { chunks: "recorded".to_owned(), fault: Some(fault?) });
        }
        Ok(rows)
    }

    async fn perform(self, rows: Vec<Row>) -> Result<Exit> {
        let mut signals = Signals::listen()?;
        let half = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
        let jobs = self.jobs.map_or(half, NonZeroUsize::get).min(rows.len());
        let total = rows.len();
        let queue = Arc::new(Mutex::new(rows.iter().cloned().enumerate().collect::<VecDeque<_>>()));
        let matrix = Arc::new(self);
        let mut workers = JoinSet::new();
        for _ in 0..jobs {
            let (queue, matrix) = (Arc::clone(&queue), Arc::clone(&matrix));
            workers.spawn(async move {
                let mut done = Vec::new();
                loop {
                    let next = lock(&queue).pop_front();
                    let Some((number, row)) = next else { return Ok(done) };
                    done.push((number, row.run(&matrix).await?));
                }
            });
        }
        let mut outcomes: Vec<(usize, RowResult)> = Vec::with_capacity(total);
        loop {
            tokio::select! {
                worker = workers.join_next() => match worker {
                    Some(done) => outcomes.extend(done.expect("a worker does not panic")?),
                    None => break,
                },
                // The commands are killed with what waits for them.
                signal = signals.next() => return Ok(Exit::Command(signal.status())),
            }
        }
        outcomes.sort_by_key(|(number, _)| *number);
        let outcomes: Vec<RowResult> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        tell_all(&rows, &outcomes)
    }
}

impl Row {
    async fn run(&self, matrix: &Matrix) -> Result<RowResult> {
        let begun = Instant::now();
        let session = matrix.common.session().listen(([127, 0, 0, 1], 0).into());
        let session = session.mode(Mode::Replay).chunks(self.chunks.parse()?);
        let session = self.fault.iter().cloned().fold(session, SessionBuilder::fault);
        let session = session.start().await?;
        let ended = child::listen_to(&matrix.common, &session, matrix.timeout).await?;
        Ok(RowResult { ended, summary: session.stop().await?, took: begun.elapsed() })
    }

    fn fault(&self) -> String {
        self.fault.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
    }
}

impl RowResult {
    fn passed(&self) -> bool {
        self.ended.status == Some(0) && self.summary.misses.is_empty() && !self.summary.unused
    }

    /// In a few words.
    fn verdict(&self) -> String {
        let Summary { misses, unused, unmet, spoiled, .. } = &self.summary;
        let mut words = Vec::new();
        match self.ended.status {
            None => words.push("timed out".to_owned()),
            Some(0) if self.passed() => words.push("passed".to_owned()),
            Some(0) => words.push("failed".to_owned()),
            Some(status) => words.push(format!("failed with status {status}")),
        }
        if !misses.is_empty() {
            words.push(count(misses.len(), "miss"));
        }
        if *unused {
            words.push("no request reached retape".to_owned());
        }
        if !unmet.is_empty() {
            words.push("the fault met no request".to_owned());
        }
        let attempts = spoiled.iter().map(|it| it.call.attempts.len()).max();
        words
            .extend(attempts.filter(|most| *most > 1).map(|most| format!("up to {most} attempts")));
        words.join(", ")
    }
}

/// Prints the table, and the first lines of what failed.
fn tell_all(rows: &[Row], outcomes: &[RowResult]) -> Result<Exit> {
    let width = |column: &dyn Fn(&Row) -> String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
    };
    let (chunks, fault) = (width(&|row| row.chunks.clone()).max(6), width(&Row::fault).max(5));
    let mut table = format!("{:chunks$}  {:fault$}  {:>7}  result\n", "chunks", "fault", "seconds");
    for (row, outcome) in rows.iter().zip(outcomes) {
        let seconds = outcome.took.as_secs_f64();
        let (cut, what) = (&row.chunks, visible(&row.fault()).into_owned());
        let verdict = outcome.verdict();
        table.push_str(&format!("{cut:chunks$}  {what:fault$}  {seconds:>7.2}  {verdict}\n"));
    }
    tell::shown(&table)?;
    let usual: BTreeSet<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.passed())
        .flat_map(|outcome| outcome.ended.said.lines())
        .collect();
    let failed = rows.iter().zip(outcomes).filter(|(_, outcome)| !outcome.passed());
    for (row, outcome) in failed.clone() {
        tell::shown(&format!("\n{} {}:\n", row.chunks, visible(&row.fault())))?;
        let missed = outcome.summary.misses.iter().flat_map(|miss| miss.explanation.lines());
        // What those say that passed is no sign of a failure.
        let said = outcome.ended.said.lines().filter(|line| !usual.contains(line));
        let lines: Vec<&str> = missed.chain(said).filter(|line| !line.trim().is_empty()).collect();
        // A miss begins with what counts, and what a command says ends with it.
        let is_missed = !outcome.summary.misses.is_empty();
        let from = if is_missed { 0 } else { lines.len().saturating_sub(SHOWN) };
        for line in lines[from..].iter().take(SHOWN) {
            tell::shown(&format!("  {}\n", visible(line)))?;
        }
    }
    let failures = failed.count();
    let passed = outcomes.len() - failures;
    tell::line(&format!("{passed} of {} passed", count(outcomes.len(), "run")));
    Ok(if failures == 0 { Exit::Agrees } else { Exit::Findings })
}
