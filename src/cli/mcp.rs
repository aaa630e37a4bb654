//! `retape mcp`.

use std::io::Read as _;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use clap::{Args, Subcommand};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, join, stdout};
use tokio::process::{Child, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::arguments::{Folder, absolute, named};
use super::child::{Signals, spawn, status_of};
use super::conduct::on_runtime;
use super::tell::{Flaw, Way};
use super::{Exit, tell};
use crate::cassette::Peer;
use crate::error::{Error, Kind, Result};
use crate::review::report::Rerun;
use crate::serve::recorder::{Course, Pipes, Recording};
use crate::session::{Session, SessionBuilder};
use crate::store::mode::{Mode, is_ci};

/// Record and replay a server that talks over standard input and output
///
/// For MCP, and for whatever else is JSON-RPC in lines. Give it to the client in the place of the server's own
/// command.
#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Record(Record),
    Replay(Replay),
}

/// Start the server, pass on what both say, and write it down
///
/// What the client and the server say passes through byte by byte, and so does what the server says on
/// standard error. The cassette is written when the client has left, or the server has ended. Then retape
/// says to it once more what the client said, to see that it is answered.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: the command of the server in the settings of an MCP client
  before  npx -y @modelcontextprotocol/server-memory
  now     retape mcp record memory -- npx -y @modelcontextprotocol/server-memory")]
struct Record {
    #[command(flatten)]
    which: Which,

    /// Keep the sessions that the cassette has, and add this one
    #[arg(long)]
    append: bool,

    /// Write what is recorded anew as the server said it, and not with the identifiers and times of the
    /// cassette whose place it takes
    #[arg(long)]
    fresh: bool,

    /// Do not prove that the recording answers what the client said
    #[arg(long)]
    no_prove: bool,

    /// Take a recording in which values look like secrets
    #[arg(long)]
    allow: bool,

    /// The command that starts the server
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Answer as the server did when it was recorded; it is not started
///
/// A request that nothing recorded answers gets an error with the code 470 and an explanation, which is on
/// standard error too. retape ends with status 1 then, else with 0, or with the status of a server that
/// ended by itself.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: the command of the server in the settings of an MCP client
  retape mcp replay memory")]
struct Replay {
    #[command(flatten)]
    which: Which,

    /// How fast: instant, recorded, or a factor such as 2x
    #[arg(long, default_value = "instant")]
    pace: crate::Pace,

    /// Fail also if the client did not say all that it said when it was recorded
    #[arg(long)]
    strict: bool,

    /// Write what was missed to this file, as JSON: [] if nothing was
    #[arg(long, value_name = "FILE", env = "RETAPE_MISSES")]
    misses: Option<PathBuf>,

    /// The command of the server, which is not started
    #[arg(last = true, value_name = "COMMAND")]
    _command: Vec<String>,
}

/// Which cassette, and where.
#[derive(Debug, Args)]
struct Which {
    /// The cassette: a name below the folder of cassettes (`mcp/memory`), or the path of a file
    #[arg(value_name = "CASSETTE")]
    cassette: String,

    #[command(flatten)]
    folder: Folder,

    /// The file that says what counts in messages; else the nearest retape.toml above the cassettes
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// A server that was asked to stop may take so long, and so long what it has started may say nothing behind its end.
const PATIENCE: Duration = Duration::from_secs(1);

/// So much that the client has said waits to be read.
const BUFFER: usize = 64 * 1024;

impl Mcp {
    pub(super) fn run(self) -> Result<Exit> {
        match self.action {
            Action::Record(record) => on_runtime(record.perform()),
            Action::Replay(replay) => on_runtime(replay.perform()),
        }
    }
}

impl Which {
    fn session(&self) -> SessionBuilder {
        let (folder, name) = self.folder.place(&self.cassette);
        let session = Session::builder(&name).cassettes(absolute(&folder)).on_event(tell::events());
        let session = session.rerun(Rerun::Lines(folder.display().to_string()));
        self.config.iter().map(|file| absolute(file)).fold(session, SessionBuilder::config)
    }
}

impl Replay {
    async fn perform(self) -> Result<Exit> {
        let mut signals = Signals::listen()?;
        let session = self.which.session().mode(Mode::Replay).pace(self.pace);
        let session = named(&self.misses).fold(session, SessionBuilder::misses);
        let piped = session.piped().await?;
        let played = tokio::select! {
            status = piped.play(join(stdin(), stdout())) => status?.map(Exit::Command),
            signal = signals.next() => Some(Exit::Command(signal.status())),
        };
        let summary = piped.close().save(Course::Whole)?;
        tell::unplayed(&summary.unplayed);
        tell::verdict(&summary, Way::Streams);
        let is_left = self.strict && !summary.unplayed.is_empty();
        Ok(match played {
            _ if is_left || !summary.misses.is_empty() => Exit::Findings,
            Some(exit) => exit,
            None => Exit::Agrees,
        })
    }
}

impl Record {
    async fn perform(self) -> Result<Exit> {
        let mut signals = Signals::listen()?;
        let session = self.which.session();
        let session = if self.fresh { session.fresh() } else { session };
        let mode = if self.append { Mode::NewEpisodes } else { Mode::Record };
        let piped = session.mode(mode).piped().await?;
        let mut server = self.spawn()?;
        let pipes = piped.record().await?;
        let (by, status) = pass(&pipes, &mut server, &mut signals).await?;
        pipes.end(by, Some(status));
        let is_silent = pipes.said_by(Peer::Server).is_empty();
        let has_failed = by == Peer::Server && status != 0;
        let course = match (is_silent, has_failed) {
            (true, _) => Course::Discarded,
            (false, true) => Course::BrokenOff,
            (false, false) => Course::Whole,
        };
        let is_proved = !self.no_prove && course == Course::Whole;
        let missed =
            if is_proved { piped.rehearse(pipes.said_by(Peer::Client)).await? } else { None };
        drop(pipes);
        let summary = piped.close().save(course)?;
        if is_silent {
            tell::line("the server said nothing, so nothing was recorded");
            tell::hint("does its command start it by itself? what it needs may be missing here");
            return Ok(Exit::Command(status.max(1)));
        }
        tell::recorded(&summary, has_failed.then_some(Flaw::ServerFailed));
        if is_proved {
            tell::rehearsed(missed.as_ref());
        }
        let is_suspect = |it: &Recording| !it.suspects.is_empty();
        let is_refused = is_ci() && !self.allow && summary.recordings.iter().any(is_suspect);
        Ok(match status {
            0 if is_refused || missed.is_some() => Exit::Findings,
            0 => Exit::Agrees,
            status => Exit::Command(status),
        })
    }

    fn spawn(&self) -> Result<Child> {
        let (program, arguments) =
            self.command.split_first().expect("clap wants at least one word");
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        spawn(&mut command, program)
    }
}

/// Passes on what both sides say until the server has ended, and what it said was taken. Tells which side left first,
/// and the status.
async fn pass(pipes: &Pipes, server: &mut Child, signals: &mut Signals) -> Result<(Peer, u8)> {
    let to_server = server.stdin.take().expect("it was asked for");
    let from_server = server.stdout.take().expect("it was asked for");
    let mut asking = pin!(pipes.pass(Peer::Client, stdin(), to_server));
    let (ended, has_ended) = watch::channel(false);
    let mut answering = pin!(answer(pipes, from_server, has_ended));
    let (mut left, mut status, mut deadline) = (None, None, None);
    let (mut is_asking, mut is_answering) = (true, true);
    let status = loop {
        if let Some(status) = status.filter(|_| !is_answering) {
            break status;
        }
        tokio::select! {
            // What it said last is passed on before its end is.
            biased;
            by = &mut answering, if is_answering => {
                is_answering = false;
                left = left.or(Some(by).filter(|by| *by == Peer::Client));
            }
            end = server.wait(), if status.is_none() => {
                let failed = |source| Error::new(Kind::Io("wait for the server")).because(source);
                let end = end.map_err(failed)?;
                status = Some(if end.success() { 0 } else { status_of(end) });
                ended.send_replace(true);
            }
            by = &mut asking, if is_asking => {
                is_asking = false;
                left = left.or(Some(by));
            }
            signal = signals.next() => {
                if status.is_none() {
                    left = Some(Peer::Client);
                    signal.pass_on(server);
                }
                deadline = Some(Instant::now() + PATIENCE);
            }
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                match status {
                    Some(status) => break status,
                    None => _ = server.start_kill(),
                }
            }
        }
    };
    Ok((left.unwrap_or(Peer::Server), status))
}

/// Passes on what the server says until nobody says more, or the client takes no more: tells which of them has left.
async fn answer(pipes: &Pipes, server: ChildStdout, has_ended: watch::Receiver<bool>) -> Peer {
    let (heard, said) = duplex(BUFFER);
    let mut passing = pin!(pipes.pass(Peer::Server, heard, stdout()));
    tokio::select! {
        by = &mut passing => by,
        () = hear(server, said, has_ended) => passing.await,
    }
}

/// Hears a server until it has said all. What it has started may hold its output open: behind its end it is heard
/// until it is silent for a while, however slowly the client takes what it says.
async fn hear(mut server: ChildStdout, mut said: DuplexStream, mut ended: watch::Receiver<bool>) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let silence = async {
            let _ = ended.wait_for(|ended| *ended).await;
            sleep(PATIENCE).await;
        };
        let read = tokio::select! {
            read = server.read(&mut buffer) => read,
            () = silence => return,
        };
        let Ok(length @ 1..) = read else { return };
        if said.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Standard input, read on a thread of its own that nobody waits for at the end.
fn stdin() -> DuplexStream {
    let (ours, mut theirs) = duplex(BUFFER);
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let mut buffer = vec![0; BUFFER];
        let mut input = std::io::stdin().lock();
        while let Ok(length @ 1..) = input.read(&mut buffer) {
            if runtime.block_on(theirs.write_all(&buffer[..length])).is_err() {
                return;
            }
        }
    });
    ours
}
