//! The wrapped command, and the signals it shares with us.

#[cfg(unix)]
use std::future::poll_fn;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
#[cfg(unix)]
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::process::{Child, Command};
#[cfg(unix)]
use tokio::signal::unix;

use super::arguments::Common;
use super::proxy::Trust;
use super::{Exit, tell};
use crate::error::{Error, Kind, Result};
use crate::session::Session;

/// Starts the command with the address in its environment, waits for it, and passes signals on.
pub(super) async fn run(common: &Common, session: &Session, signals: &mut Signals) -> Result<Exit> {
    let (mut process, _trust) = process(common, session)?;
    let program = &common.command[0];
    let mut child = spawn(&mut process, program)?;
    let status = wait(&mut child, session, signals).await;
    Ok(exit_of(status, program))
}

/// How a command ended whose output was kept.
#[derive(Debug)]
pub(super) struct Ended {
    /// Nothing if the time was up.
    pub(super) status: Option<u8>,
    /// What it said, on both outputs.
    pub(super) said: String,
}

/// Runs the command, keeps what it says, and kills it with all that it started when the time is up.
pub(super) async fn listen_to(
    common: &Common,
    session: &Session,
    limit: Duration,
) -> Result<Ended> {
    let (mut process, _trust) = process(common, session)?;
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    let child = spawn(&mut process, &common.command[0])?;
    let mut started = Started(child.id());
    let Ok(output) = tokio::time::timeout(limit, child.wait_with_output()).await else {
        return Ok(Ended { status: None, said: String::new() });
    };
    let failed = |source| Error::new(Kind::Io("wait for the command")).because(source);
    let output = output.map_err(failed)?;
    started.0 = None;
    let said = [output.stdout, output.stderr].concat();
    let status = if output.status.success() { 0 } else { status_of(output.status) };
    Ok(Ended { status: Some(status), said: String::from_utf8_lossy(&said).into_owned() })
}

/// A command, and all that it started, which are killed with this.
struct Started(Option<u32>);

impl Drop for Started {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

pub(super) fn spawn(process: &mut Command, program: &str) -> Result<Child> {
    process.spawn().map_err(|source| {
        let hint = "is it installed, and spelled as the shell would find it?";
        Error::said(format!("cannot start `{program}`")).because(source).with_hint(hint)
    })
}

/// So often it is looked whether there is something to tell.
const MOMENT: Duration = Duration::from_secs(1);

/// The time zone of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    Ours,
    /// One in which it is another day, so that what depends on the date differs.
    Another,
}

impl Zone {
    /// Where it is another day than in Greenwich at an hour. Without a list of zones, the offset alone
    /// is understood.
    fn elsewhere(hour: u64) -> &'static str {
        match (hour < 12, Path::new("/usr/share/zoneinfo").exists()) {
            (true, true) => "Etc/GMT+12",
            (false, true) => "Pacific/Kiritimati",
            (true, false) => "WEST12",
            (false, false) => "EAST-14",
        }
    }
}

/// Runs the command once more, and keeps what it says to itself. Tells how it ended; nothing if it was
/// interrupted or the time was up, and it was killed with all that it started.
pub(super) async fn rerun(
    common: &Common,
    session: &Session,
    (zone, limit): (Zone, Duration),
    signals: &mut Signals,
) -> Option<Exit> {
    let unstarted = Some(Exit::Command(2));
    let Ok((mut process, _trust)) = process(common, session) else { return unstarted };
    let is_said = common.variables.iter().any(|variable| variable.starts_with("TZ="));
    if zone == Zone::Another && !is_said {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        process.env("TZ", Zone::elsewhere(now.as_secs() / 3600 % 24));
    }
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    process.process_group(0);
    let Ok(mut child) = process.spawn() else { return unstarted };
    // A signal of the terminal does not reach its group: what proves nothing any more is killed.
    let mut started = Started(child.id());
    let ended = tokio::select! {
        ended = child.wait() => ended.map_or(unstarted, |status| Some(Exit::of(status))),
        _ = signals.next() => None,
        () = tokio::time::sleep(limit) => None,
    };
    if let Ok(Some(_)) = child.try_wait() {
        started.0 = None;
    }
    ended
}

/// The command with the address in its environment, and what it trusts as long as it runs.
fn process(common: &Common, session: &Session) -> Result<(Command, Option<Trust>)> {
    let trust = common.proxy.then(|| Trust::new(session)).transpose()?;
    let url = session.url();
    let with_url = |text: &str| text.replace("{url}", &url);
    let (program, arguments) = common.command.split_first().expect("the caller has looked");
    let mut process = Command::new(with_url(program));
    process.args(arguments.iter().map(|argument| with_url(argument))).env("RETAPE_URL", &url);
    process.envs(trust.iter().flat_map(|trust| trust.variables(session)));
    for variable in &common.variables {
        let (name, value) = variable.split_once('=').unwrap_or((variable, "{url}"));
        if value == "url" || value.starts_with("url/") {
            tell::without_braces(name, value);
        }
        process.env(name, with_url(value));
    }
    Ok((process, trust))
}

async fn wait(
    child: &mut Child,
    session: &Session,
    signals: &mut Signals,
) -> std::io::Result<ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            signal = signals.next() => signal.pass_on(child),
            // What was held back in vain is told while the command may hang by it.
            () = tokio::time::sleep(MOMENT) => drop(session.misses()),
        }
    }
}

fn exit_of(status: std::io::Result<ExitStatus>, program: &str) -> Exit {
    match status {
        Ok(status) => {
            if !status.success() {
                tell::line(&format!("`{program}` ended with {status}"));
            }
            Exit::of(status)
        }
        Err(error) => {
            tell::line(&format!("cannot wait for `{program}`: {error}"));
            Exit::Command(2)
        }
    }
}

impl Exit {
    fn of(status: ExitStatus) -> Self {
        if status.success() { Self::Agrees } else { Self::Command(status_of(status)) }
    }
}

/// The status as a shell gives it: 128 and the signal for a command that was killed.
pub(super) fn status_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128_u8.saturating_add(signal as u8);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(1)
}

/// A signal that asks us to stop: its name, and its number as POSIX has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signal {
    pub(super) name: &'static str,
    number: u8,
}

const INTERRUPT: Signal = Signal { name: "SIGINT", number: 2 };
#[cfg(unix)]
const TERMINATE: Signal = Signal { name: "SIGTERM", number: 15 };
#[cfg(unix)]
const HANG_UP: Signal = Signal { name: "SIGHUP", number: 1 };

impl Signal {
    /// The status that a shell gives to who ends by it.
    pub(super) fn status(self) -> u8 {
        128 + self.number
    }

    /// Whether a terminal sends it, to all that run there.
    pub(super) fn is_interrupt(self) -> bool {
        self == INTERRUPT
    }

    /// Passes it on to the command. A terminal sends its interrupt to the command itself.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "there are no signals"))]
    pub(super) fn pass_on(self, child: &Child) {
        if self.is_interrupt() && std::io::stdin().is_terminal() {
            return;
        }
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal as Number, kill_process};
            let number = Number::from_named_raw(self.number.into());
            let pid = child.id().and_then(|id| Pid::from_raw(id as i32));
            if let Some((pid, number)) = pid.zip(number) {
                let _ = kill_process(pid, number);
            }
        }
    }
}

/// The signals of this process.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(unix)]
    streams: [(Signal, unix::Signal); 3],
    /// The last one that came.
    pub(super) heard: Option<Signal>,
}

impl Signals {
    /// From now on signals do not end the process.
    pub(super) fn listen() -> Result<Self> {
        #[cfg(unix)]
        let listen = |signal: Signal| {
            let stream = unix::signal(unix::SignalKind::from_raw(signal.number.into()));
            let stream = stream
                .map_err(|source| Error::new(Kind::Io("listen for signals")).because(source))?;
            Ok((signal, stream))
        };
        Ok(Self {
            #[cfg(unix)]
            streams: [listen(INTERRUPT)?, listen(TERMINATE)?, listen(HANG_UP)?],
            heard: None,
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        let signal = poll_fn(|context| {
            let mut streams = self.streams.iter_mut();
            let ready = streams.find_map(|(signal, stream)| {
                stream.poll_recv(context).is_ready().then_some(*signal)
            });
            ready.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        #[cfg(not(unix))]
        let signal = match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPT,
            Err(_) => std::future::pending().await,
        };
        self.heard = Some(signal);
        signal
    }
}
