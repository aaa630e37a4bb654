//! The live server that `--serve` starts.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, Version};
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::arguments::LiveServer;
use super::child::{Signal, Signals};
use super::tell;
use crate::error::{Error, Kind, Result};
use crate::redact::Redactor;

/// A server that we started, and stop with all that it started.
pub(super) struct Served {
    command: String,
    child: Child,
    /// What it starts belongs to its group, also when it has ended itself.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups"))]
    group: Option<u32>,
    log: PathBuf,
}

/// How starting a server ended.
pub(super) enum Start {
    /// It answers. It is ours to stop if we started it.
    Ready(Option<Box<Served>>),
    /// We were told to stop before.
    Interrupted(Signal),
}

/// So many of the last lines of a server that does not start are told.
const TOLD: usize = 20;

const UNSAID: &str = "say when the server is up: `--ready http://127.0.0.1:PORT`";

/// How long a server that was asked to stop may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

impl Served {
    /// Starts the server if one is to be started, and waits until it answers.
    pub(super) async fn start(live: &LiveServer, signals: &mut Signals) -> Result<Start> {
        let upstream = live.upstream()?;
        let (ready, question) = match (&live.ready, &live.serve, upstream.as_deref()) {
            (Some(ready), ..) => {
                (ready.as_str(), Question::at(ready).map_err(|it| it.of_ready(ready))?)
            }
            (None, Some(_), Some(upstream)) => {
                (upstream, Question::at(upstream).map_err(|it| it.of_upstream(upstream))?)
            }
            (None, Some(_), None) => return Err(Error::new(Kind::NoUpstream).with_hint(UNSAID)),
            (None, None, _) => return Ok(Start::Ready(None)),
        };
        let mut served = None;
        if let Some(command) = &live.serve {
            if question.answer().await.is_some_and(is_up) {
                return Err(not_ready(ready, "something answers there already").with_hint(
                    "stop what runs on that port, or leave `--serve` out to record from it",
                ));
            }
            served = Some(Self::spawn(command)?);
        }
        let deadline = Instant::now() + live.ready_timeout;
        loop {
            let status = question.answer().await;
            if status.is_some_and(is_up) {
                return Ok(Start::Ready(served.map(Box::new)));
            }
            let late = || status.map_or("the time is up".into(), |it| format!("it answers {it}"));
            let ended = served.as_mut().is_some_and(Self::has_ended);
            let why = if ended {
                Some("the server has ended".into())
            } else {
                (Instant::now() >= deadline).then(late)
            };
            if let Some(why) = why {
                return Err(Self::failed(served, ready, why).await);
            }
            tokio::select! {
                () = sleep(Duration::from_millis(100)) => {}
                signal = signals.next() => {
                    if let Some(served) = served {
                        served.stop(PATIENCE).await;
                    }
                    return Ok(Start::Interrupted(signal));
                }
            }
        }
    }

    /// Asks the server to stop, and all that it started; insists after that time.
    pub(super) async fn stop(mut self, patience: Duration) {
        self.end(patience).await;
        let _ = std::fs::remove_file(&self.log);
    }

    fn spawn(command: &str) -> Result<Self> {
        let log = std::env::temp_dir().join(format!("retape-serve-{}.log", std::process::id()));
        // The folder is everybody's: nothing that another has put there is written to or read.
        let _ = std::fs::remove_file(&log);
        let failed = |source| Error::io("create file", &log, source);
        let file = OpenOptions::new().write(true).create_new(true).open(&log).map_err(failed)?;
        let copy = file.try_clone().map_err(failed)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null()).stdout(file).stderr(copy);
        #[cfg(unix)]
        shell.process_group(0);
        let child = shell.spawn().map_err(|source| {
            let _ = std::fs::remove_file(&log);
            Error::said(format!("cannot start `{command}`")).because(source)
        })?;
        let group = child.id();
        Ok(Self { command: command.to_owned(), child, group, log })
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    async fn failed(served: Option<Self>, ready: &str, why: String) -> Error {
        let error = not_ready(ready, why);
        let Some(mut server) = served else {
            return error.with_hint("start the server, or let retape start it: `--serve COMMAND`");
        };
        server.end(PATIENCE).await;
        let said = std::fs::read(&server.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let skipped = said.lines().count().saturating_sub(TOLD);
        said.lines().skip(skipped).for_each(|line| tell::line(&format!("server: {line}")));
        if skipped > 0 {
            return error.with_hint(format!("all that it said is in `{}`", server.log.display()));
        }
        let _ = std::fs::remove_file(&server.log);
        error.with_hint(format!("does it start by itself? `{}`", server.command))
    }

    async fn end(&mut self, patience: Duration) {
        self.signal(Insistence::Asks);
        if timeout(patience, self.ended()).await.is_err() {
            self.signal(Insistence::Insists);
            let _ = self.child.wait().await;
        }
    }

    /// Waits until the shell and all that it started have ended: the server may outlive the shell.
    async fn ended(&mut self) {
        let _ = self.child.wait().await;
        #[cfg(unix)]
        if let Some(group) = self.group.and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            while rustix::process::test_kill_process_group(group).is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
        }
    }

    #[cfg(unix)]
    fn signal(&mut self, insistence: Insistence) {
        use rustix::process::{Pid, Signal as Number, kill_process_group};
        let signal = match insistence {
            Insistence::Asks => Number::TERM,
            Insistence::Insists => Number::KILL,
        };
        if let Some(group) = self.group.and_then(|id| Pid::from_raw(id as i32)) {
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: Insistence) {
        let _ = self.child.start_kill();
    }
}

#[derive(Clone, Copy)]
enum Insistence {
    Asks,
    Insists,
}

/// What a server is asked until it answers.
struct Question {
    client: Client<HttpConnector, Empty<Bytes>>,
    request: Request<Empty<Bytes>>,
}

/// What is asked over HTTP/2 where no path is named: a server of gRPC resets any other request, and answers this one
/// also if it has no such method.
const HEALTH: &str = "/grpc.health.v1.Health/Check";

impl Question {
    /// For that address; over TLS there is nobody to ask.
    fn at(address: &str) -> Result<Self, NoQuestion> {
        let (address, version) = match address.strip_prefix("h2c://") {
            Some(rest) => (format!("http://{rest}"), Version::HTTP_2),
            None => (address.to_owned(), Version::HTTP_11),
        };
        let uri: http::Uri = address.parse().map_err(NoQuestion::Address)?;
        if uri.scheme() != Some(&http::uri::Scheme::HTTP) || uri.authority().is_none() {
            return Err(NoQuestion::Scheme);
        }
        let is_of_grpc = version == Version::HTTP_2 && uri.path() == "/";
        let request = Request::builder().version(version);
        let request = if is_of_grpc {
            let health = format!("{}{HEALTH}", address.trim_end_matches('/'));
            let request = request.method(Method::POST).uri(health);
            request.header("content-type", "application/grpc").header("te", "trailers")
        } else {
            request.uri(uri)
        };
        let request = request.body(Empty::new()).map_err(|_| NoQuestion::Scheme)?;
        let mut client = Client::builder(TokioExecutor::new());
        let client = client.http2_only(version == Version::HTTP_2).build(HttpConnector::new());
        Ok(Self { client, request })
    }

    /// What the server answers, if it does.
    async fn answer(&self) -> Option<StatusCode> {
        let asked = self.client.request(self.request.clone());
        let asked = timeout(Duration::from_secs(2), asked).await;
        asked.ok()?.ok().map(|answer| answer.status())
    }
}

/// Why an address cannot be asked.
enum NoQuestion {
    Address(http::uri::InvalidUri),
    Scheme,
}

impl NoQuestion {
    fn of_ready(self, ready: &str) -> Error {
        let expected = "http://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]";
        let error = Error::setting("ready", ready, expected);
        let error = match self {
            Self::Address(source) => error.because(source),
            Self::Scheme => error,
        };
        error.with_hint("it is a whole address, such as `http://127.0.0.1:8283/v1/health`")
    }

    /// Nobody named that option: what is missing is one that can be asked.
    fn of_upstream(self, upstream: &str) -> Error {
        let error = match self {
            Self::Address(source) => not_ready(upstream, "it is no address").because(source),
            Self::Scheme => not_ready(upstream, "over TLS it is not asked whether it is"),
        };
        error.with_hint(UNSAID)
    }
}

fn not_ready(url: &str, why: impl std::fmt::Display) -> Error {
    let url = Redactor::standard().url(url);
    Error::said(format!("`{url}` did not become ready: {why}"))
}

/// Many a server has nothing at `/`, wants a key there, or takes no `GET`: whatever it answers, it is up, but for
/// faults of its own, such as 503 while it starts.
fn is_up(status: StatusCode) -> bool {
    !status.is_server_error() || status == StatusCode::NOT_IMPLEMENTED
}
