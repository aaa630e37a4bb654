//! Running a command against a session, or serving until interrupted.

use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::arguments::{Common, LiveServer, Play};
use super::child::{self, Signal, Signals, Zone};
use super::serve::{PATIENCE, Served, Start};
use super::tell::Flaw;
use super::{Exit, tell};
use crate::cassette::Name;
use crate::error::{Error, Result};
use crate::serve::recorder::{Course, Recording, Saved};
use crate::session::{self, Client, Closed, Session, SessionBuilder, Summary};
use crate::store;
use crate::store::mode::is_ci;

/// What is to be run.
pub(super) struct Plan<'a> {
    pub(super) session: SessionBuilder,
    pub(super) common: &'a Common,
    /// The live server, where the mode may need one.
    pub(super) live: Option<&'a LiveServer>,
    pub(super) unplayed: Unplayed,
    pub(super) proof: Proof,
}

/// Whether what was recorded is to be proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    Wanted,
    Spared,
}

/// What it means that something recorded was not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unplayed {
    IsFine,
    Fails,
}

impl Unplayed {
    pub(super) fn of(play: &Play) -> Self {
        if play.strict { Self::Fails } else { Self::IsFine }
    }
}

pub(super) fn conduct(plan: Plan<'_>) -> Result<Exit> {
    on_runtime(perform(plan))
}

/// Runs what a subcommand does where bytes move. On one thread: to wake another one takes as long as
/// to answer a request.
pub(super) fn on_runtime(work: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::machine("start threads", source))?;
    let exit = runtime.block_on(work);
    // A client that never closes its connection does not keep the process alive.
    runtime.shutdown_timeout(Duration::from_secs(1));
    exit
}

async fn perform(plan: Plan<'_>) -> Result<Exit> {
    let Plan { session, common, live, unplayed, proof } = plan;
    let settings = session.clone();
    let mut signals = Signals::listen()?;
    let session = session.on_event(tell::events()).start().await?;
    let served = match live {
        Some(live) => match Served::start(live, &mut signals).await? {
            Start::Ready(served) => served,
            Start::Interrupted(signal) => return Ok(Exit::Command(signal.status())),
        },
        None => None,
    };
    let began = Instant::now();
    let ran = play(&session, common, &mut signals).await;
    let took = began.elapsed();
    let closed = session.close().await;
    let stopped = settle(&closed, &mut signals).await;
    let flaw = flaw(&ran, stopped);
    let idle = closed.idle();
    let summary = closed.save(flaw.map_or(Course::Whole, |_| Course::BrokenOff));
    if let Some(served) = served {
        served.stop(stopped.map_or(PATIENCE, |_| Duration::from_secs(1))).await;
    }
    let summary = summary?;
    tell::recorded(&summary, flaw);
    let ran = match stopped {
        Some(signal) => Exit::Command(signal.status()),
        None => ran?,
    };
    let left = match unplayed {
        Unplayed::Fails => Left::of(&summary, common),
        Unplayed::IsFine => Left::default(),
    };
    if !summary.unused {
        match unplayed {
            Unplayed::Fails => tell::unplayed(&left.unplayed),
            // Nothing else tells why a command fails.
            Unplayed::IsFine
                if ran != Exit::Agrees
                    && signals.heard.is_none()
                    && live.is_none()
                    && summary.misses.is_empty() =>
            {
                tell::first_unplayed(&summary.unplayed);
            }
            Unplayed::IsFine => tell::unplayed(&unfinished(&summary)),
        }
        tell::unopened(&left.unopened);
    }
    tell::faults(&summary);
    tell::idle_rules(&idle.told());
    tell::verdict(&summary, common.way(live));
    if summary.unused && live.is_none() {
        tell::missing_folder(&common.place().0);
    }
    let is_refused = is_ci() && live.is_some_and(|live| !live.allow);
    let exit = judge(ran, &summary, &left, is_refused);
    if exit != Exit::Agrees {
        tell::handshakes(&summary);
    }
    // A command that was told to end would not end by itself.
    let is_interrupted = signals.heard.is_some();
    let is_proved = proof == Proof::Wanted && !common.command.is_empty() && !is_interrupted;
    if is_proved && exit == ran {
        return prove(settings, &summary, (common, took, exit), &mut signals).await;
    }
    Ok(exit)
}

/// Runs the command, which `took` so long and ended so, against what it has just recorded, with no server. One that
/// fails is to fail as it did: of a large suite a test may.
async fn prove(
    settings: SessionBuilder,
    summary: &Summary,
    (common, took, exit): (&Common, Duration, Exit),
    signals: &mut Signals,
) -> Result<Exit> {
    let recordings = &summary.recordings;
    if recordings.iter().all(|it| it.saved != Saved::Cassette || it.path.is_none()) {
        return Ok(exit);
    }
    // A client that goes on after a miss may do so for ever.
    let limit = PROOF.max(took * 10);
    let (mut endless, mut last) = (0, exit);
    let proven = settings.prove(summary, Client::Started, async |session, is_elsewhere| {
        let zone = if is_elsewhere { Zone::Another } else { Zone::Ours };
        // Once more is for when all comes as late as it did.
        if endless > 1 || signals.heard.is_some() {
            return None;
        }
        let ended = child::rerun(common, session, (zone, limit), signals).await;
        endless += usize::from(ended.is_none());
        last = ended.unwrap_or(last);
        ended.map(|ended| ended == exit)
    });
    let proven = proven.await?;
    if let Some(signal) = signals.heard {
        tell::unproven(signal);
        return Ok(Exit::Command(signal.status()));
    }
    let stopped = (endless > 0).then_some(limit);
    if let Some(limit) = stopped.filter(|_| !proven.replays) {
        tell::endless(limit);
    }
    tell::proven(&proven, recordings.len(), [exit, last], stopped);
    Ok(match exit {
        Exit::Agrees if !proven.replays => Exit::Findings,
        exit => exit,
    })
}

/// So long a command may take at least that is run against what it has recorded.
const PROOF: Duration = Duration::from_secs(30);

/// The WebSockets that were opened, and not consumed to their end.
fn unfinished(summary: &Summary) -> Vec<session::Unplayed> {
    summary.unplayed.iter().filter(|it| !it.frames.is_empty()).cloned().collect()
}

/// What `--strict` finds.
#[derive(Debug, Default)]
struct Left {
    unplayed: Vec<session::Unplayed>,
    /// The cassettes of the folder that nobody asked for, where the whole folder is played.
    unopened: Vec<Name>,
    /// Whether a fault met no request.
    is_unmet: bool,
}

impl Left {
    fn of(summary: &Summary, common: &Common) -> Self {
        let (folder, _) = common.place();
        let all = if common.cassette.is_none() { store::playable(&folder) } else { Vec::new() };
        let is_open = |name: &Name| summary.cassettes.contains(name);
        let unopened = all.into_iter().filter(|name| !is_open(name)).collect();
        let is_unmet = !summary.unmet.is_empty();
        Self { unplayed: summary.unplayed.clone(), unopened, is_unmet }
    }

    fn is_empty(&self) -> bool {
        self.unplayed.is_empty() && self.unopened.is_empty() && !self.is_unmet
    }
}

/// Waits for the answers that are under way, until a signal says not to.
async fn settle(closed: &Closed, signals: &mut Signals) -> Option<Signal> {
    let unfinished = closed.unfinished();
    if unfinished.is_empty() {
        return None;
    }
    tell::waiting(&unfinished, signals.heard);
    tokio::select! {
        () = closed.settle() => None,
        signal = signals.next() => {
            tell::line(&format!("stopped by {}; saving what had arrived", signal.name));
            Some(signal)
        }
    }
}

/// Why what was recorded may be less than it should be.
fn flaw(ran: &Result<Exit>, stopped: Option<Signal>) -> Option<Flaw> {
    match (ran, stopped) {
        (_, Some(_)) => Some(Flaw::Interrupted),
        (Ok(Exit::Agrees), None) => None,
        (_, None) => Some(Flaw::CommandFailed),
    }
}

async fn play(session: &Session, common: &Common, signals: &mut Signals) -> Result<Exit> {
    if common.command.is_empty() {
        tell::listening(session);
        let mut left = std::pin::pin!(input_ended());
        loop {
            tokio::select! {
                // A terminal interrupts the test runner too, which says how each session ended.
                signal = signals.next() => if !common.attached || !signal.is_interrupt() { break },
                () = left.as_mut(), if common.attached => break,
            }
        }
        return Ok(Exit::Agrees);
    }
    child::run(common, session, signals).await
}

/// Waits until standard input ends. On a thread, as nothing else can wait for it everywhere.
async fn input_ended() {
    let (tell, told) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = tell.send(());
    });
    let _ = told.await;
}

fn judge(ran: Exit, summary: &Summary, left: &Left, is_refused: bool) -> Exit {
    let found = summary.recordings.iter().any(Recording::is_unheard)
        || (is_refused && summary.recordings.iter().any(|it| !it.suspects.is_empty()))
        || !summary.misses.is_empty()
        || !summary.refused.is_empty()
        || summary.unused
        || !left.is_empty();
    match ran {
        Exit::Agrees if found => Exit::Findings,
        ran => ran,
    }
}
