//! Settings of a session.

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::beside::Beside;
use super::gateway::Gateway;
use super::hook::Hook;
use super::hub::Hub;
use super::misses::Report;
use super::servers::{self, Any, Servers, no_upstream};
use super::unfinished::Unfinished;
use super::{Event, Session, tested};
use crate::cassette::Name;
use crate::config::{Compare, Config, Fault, Redaction, Rules};
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::review::report::Rerun;
use crate::serve::recorder::{Patience, Wording};
use crate::serve::replayer::{Chunking, Compared, Pace, Source, Transport};
use crate::serve::server::{FieldNames, Proxy, Server};
use crate::store;
use crate::store::mode::Mode;
use crate::text::words::shown;

/// Is told what happens.
pub(super) type Listener = Arc<dyn Fn(Event) + Send + Sync>;

/// Settings of a [`Session`]; what is not set comes from the environment.
#[derive(Clone)]
#[must_use = "settings do nothing until `start` or `run` is called"]
pub struct SessionBuilder {
    cassette: String,
    /// Files that are played behind it.
    also: Vec<PathBuf>,
    pub(super) opening: Opening,
    cassettes: Option<PathBuf>,
    upstream: Option<String>,
    named: Vec<(String, String)>,
    is_proxy: bool,
    pub(super) transport: Transport,
    mode: Option<Mode>,
    listen: SocketAddr,
    /// The hosts beside those of this machine that requests may name.
    pub(super) allowed_hosts: Vec<String>,
    pub(super) pace: Option<Pace>,
    pub(super) chunking: Chunking,
    pub(super) faults: Vec<Fault>,
    pub(super) patience: Patience,
    pub(super) wording: Wording,
    misses: Option<PathBuf>,
    lax: Option<PathBuf>,
    pub(super) may_be_unused: bool,
    pub(super) is_strict: bool,
    pub(super) is_proving: bool,
    is_upstream_spared: bool,
    /// Whether it is opened in a running session.
    pub(super) is_opened: bool,
    rerun: Option<Rerun>,
    config: Option<PathBuf>,
    /// What the test itself says about matching.
    rules: Rules,
    /// A function of the test that changes what is compared.
    pub(super) compared: Option<Compared>,
    /// Who is asked what counts in a request.
    pub(super) hook: Option<Hook>,
    redaction: Redaction,
    pub(super) listener: Listener,
}

/// What a clock can count to for sure: `Duration::MAX` means no limit, and none is added to it.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// What is wrong where the clock of a test stands still, and what helps.
const STANDS_STILL: &str =
    "the clock of the runtime stands still, so no live server can be waited for";
const ANOTHER_CLOCK: &str = "leave out `start_paused` to record, or call `tokio::time::resume()` before the session \
                             starts; it replays with either clock";

/// Whether the clock of the runtime stands still: then no time passes while a live server is waited for, and what
/// limits that is over at once.
fn stands_still() -> bool {
    let (begun, now) = (Instant::now(), tokio::time::Instant::now());
    while begun.elapsed().is_zero() {}
    now.elapsed().is_zero()
}

/// When the default cassette is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// At once: what is wrong with it is told before anything is asked, and what is not asked for
    /// is left unplayed.
    AtOnce,
    /// When something is asked for that names no cassette.
    WhenAsked,
}

/// Settings that are complete.
pub(super) struct Settings {
    /// What holds as it was given.
    pub(super) given: SessionBuilder,
    pub(super) cassette: Name,
    pub(super) folder: PathBuf,
    pub(super) servers: Servers,
    /// If clients may ask for any host through us.
    pub(super) proxy: Option<Arc<Proxy>>,
    pub(super) mode: Mode,
    pub(super) misses: Report,
    /// Where to tell what strict matching would have refused.
    pub(super) lax: Option<PathBuf>,
    /// How what is missed is recorded.
    pub(super) rerun: Rerun,
    pub(super) config: Config,
    /// What is a secret beside what retape knows, and what is none.
    pub(super) redaction: Redaction,
}

impl SessionBuilder {
    pub(super) fn new(cassette: &str) -> Self {
        Self {
            cassette: cassette.to_owned(),
            also: Vec::new(),
            opening: Opening::AtOnce,
            cassettes: None,
            upstream: None,
            named: Vec::new(),
            is_proxy: false,
            transport: Transport::Http,
            mode: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            allowed_hosts: Vec::new(),
            pace: None,
            chunking: Chunking::Recorded,
            faults: Vec::new(),
            patience: Patience::default(),
            wording: Wording::default(),
            misses: None,
            lax: None,
            may_be_unused: false,
            is_strict: false,
            is_proving: false,
            is_upstream_spared: false,
            is_opened: false,
            rerun: None,
            config: None,
            rules: Rules::default(),
            compared: None,
            hook: None,
            redaction: Redaction::default(),
            listener: Arc::new(|_| {}),
        }
    }

    /// Nobody chose the default cassette: it is none of the session's if nobody asks for it.
    #[cfg(feature = "cli")]
    pub(crate) fn open_when_asked(mut self) -> Self {
        self.opening = Opening::WhenAsked;
        self
    }

    /// The folder of the cassettes; `cassettes` if it is not set. A relative one is looked for below
    /// the crate that cargo runs, else below the current folder.
    pub fn cassettes(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cassettes = Some(folder.into());
        self
    }

    /// The live server to record from; `RETAPE_UPSTREAM` if it is not set, which may name others behind it:
    /// `http://127.0.0.1:8283 openai=https://api.openai.com`.
    pub fn upstream(mut self, address: impl Into<String>) -> Self {
        self.upstream = Some(address.into());
        self
    }

    /// Another live server beside it, which clients ask for below `/-NAME/` in the place of `/-/`. What
    /// it says goes into the same cassette.
    ///
    /// # Example: an agent server, and the model provider that its client asks as well
    ///
    /// ```no_run
    /// # async fn example() -> retape::Result<()> {
    /// let session = retape::Session::builder("agents/list")
    ///     .upstream("http://127.0.0.1:8283")
    ///     .named_upstream("openai", "https://api.openai.com")
    ///     .start()
    ///     .await?;
    /// let base_url = format!("{}/-openai/v1", session.url());
    /// # session.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn named_upstream(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.named.push((name.into(), address.into()));
        self
    }

    /// Serves as a forward proxy too: a client asks for any host at [`Session::url`] as its proxy, and needs
    /// no base address. Over TLS it has to trust [`Session::proxy_certificate`]. The proxy's user names the
    /// cassette: `http://CASSETTE@127.0.0.1:PORT`.
    #[cfg(feature = "proxy")]
    pub fn proxy(mut self) -> Self {
        self.is_proxy = true;
        self
    }

    /// The client talks over standard input and output, so there is no server at an address.
    #[cfg(feature = "cli")]
    pub(super) fn through_pipes(mut self) -> Self {
        self.transport = Transport::Lines;
        self
    }

    /// What is done with requests; [`Mode::from_env`] if it is not set.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Where to listen; a free port of the loopback address if it is not set.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// A further host by whose name retape is asked, or whose pages may ask it. Without this, only
    /// addresses, `localhost`, names that end in `.localhost` or `.internal`, and names without a dot
    /// are answered, and only pages of this machine: any page that is open in a browser could use
    /// retape otherwise.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into());
        self
    }

    /// How fast recorded answers come. If nothing is said, the cassette's rules decide
    /// ([`Timing`](crate::config::Timing)).
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = Some(pace);
        self
    }

    /// In which pieces recorded streams come; those of the recording if it is not set.
    pub fn chunks(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// What goes wrong in replay, beside what `retape.toml` says. Of several that mean a request, the first
    /// one counts.
    ///
    /// # Example: the first two attempts at each request are refused
    ///
    /// ```no_run
    /// # async fn example() -> retape::Result<()> {
    /// let session = retape::Session::builder("agents/list").fault("503 x2".parse()?).start().await?;
    /// # session.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// How long the recorder waits for a silent server; 300 s if it is not set, a year at most.
    pub fn silence(mut self, limit: Duration) -> Self {
        self.patience.silence = limit.min(LONGEST);
        self
    }

    /// How long the recorder goes on reading an answer after its client has left, 250 ms if it is not set, and a
    /// request that the server does not wait for, 5 s if it is not set; a year at most.
    pub fn grace(mut self, limit: Duration) -> Self {
        self.patience.grace = limit.min(LONGEST);
        self.patience.rest = self.patience.grace;
        self
    }

    /// A cassette that is recorded anew is written as the server said it. Without this, it is told in
    /// the words of the one whose place it takes: what differs only by identifiers, times, and how the
    /// network cut it up keeps its old text, so that the difference of the two files is what changed.
    pub fn fresh(mut self) -> Self {
        self.wording = Wording::Fresh;
        self
    }

    /// A file that tells what was missed, as JSON: `[]` from the start, and brought up to date with
    /// each miss; `RETAPE_MISSES` if it is not set. A relative one is below the crate that cargo runs,
    /// else below the current folder.
    ///
    /// Each session has a file of its own: the last one to be started empties it. The file that
    /// `RETAPE_MISSES` names is shared by all sessions of a process; one of another process empties it.
    pub fn misses(mut self, file: impl Into<PathBuf>) -> Self {
        self.misses = Some(file.into());
        self
    }

    /// Compares method, server, path and query alone, and tells in a file what strict matching would have
    /// refused: as JSON like that of [`misses`](Self::misses), or, if its name ends in `.md`, as a report
    /// for people. It fails nothing. What a cassette itself says about matching holds.
    pub fn report_lax(mut self, file: impl Into<PathBuf>) -> Self {
        self.rules = self.rules.compare(Compare::Path);
        self.lax = Some(file.into());
        self
    }

    /// Nothing has to be asked. Without this, a session that no request reaches fails: a client that
    /// talks to another address would pass every test.
    pub fn allow_unused(mut self) -> Self {
        self.may_be_unused = true;
        self
    }

    /// In replay, everything recorded has to be asked for, and every fault has to meet a request: as
    /// [`Summary::all_played`](super::Summary::all_played) and
    /// [`Summary::all_faults_met`](super::Summary::all_faults_met).
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// A session on another cassette with the same settings. What it misses counts where it was opened.
    pub(super) fn opened(mut self, cassette: &str) -> Self {
        self.cassette = cassette.to_owned();
        self.opening = Opening::WhenAsked;
        self.is_opened = true;
        self
    }

    /// A file that is played behind the cassette.
    pub(super) fn also(mut self, file: PathBuf) -> Self {
        self.also.push(file);
        self
    }

    /// Who is asked what counts in a request, before it is compared.
    pub(super) fn hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Each test says which server it means. What asks for none is refused.
    #[cfg(feature = "cli")]
    pub(crate) fn spare_upstream(mut self, is_spared: bool) -> Self {
        self.is_upstream_spared = is_spared;
        self
    }

    /// The mode, unless a recording is being proved.
    pub(super) fn mode_unless_proving(self, mode: Mode) -> Self {
        if self.is_proving { self } else { self.mode(mode) }
    }

    /// What differs in values only from what was recorded is answered, and noted. The reports are of the run that is
    /// proved.
    pub(super) fn proving(mut self) -> Self {
        self.is_proving = true;
        (self.misses, self.lax) = (None, None);
        self
    }

    /// The command that a miss tells for recording anew.
    pub(crate) fn rerun(mut self, rerun: Rerun) -> Self {
        self.rerun = Some(rerun);
        self
    }

    /// The file that says what counts in requests; if it is not set, the nearest `retape.toml` above
    /// the folder of cassettes, or in it, up to the root of the repository. A relative path is looked
    /// for below the crate that cargo runs, else below the current folder.
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// What counts in requests, beside what `retape.toml` and the cassettes say.
    ///
    /// # Example: a field that changes with each release of a client
    ///
    /// ```no_run
    /// use retape::config::Rules;
    ///
    /// # async fn example() -> retape::Result<()> {
    /// let rules = Rules::default().ignore("$.client.version")?;
    /// let session = retape::Session::builder("agents/list").rules(rules).start().await?;
    /// # session.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = self.rules.and(&rules);
        self
    }

    /// What is a secret beside what retape knows, and what is none, beside what `retape.toml` says.
    ///
    /// # Example: account numbers that a function finds
    ///
    /// ```no_run
    /// use retape::config::Redaction;
    ///
    /// # async fn example() -> retape::Result<()> {
    /// let accounts = |line: &str| {
    ///     line.match_indices("ACME-").map(|(start, _)| start..line.len().min(start + 11)).collect()
    /// };
    /// let redaction = Redaction::default().code("account", accounts)?.not_secret("theme")?;
    /// let session = retape::Session::builder("agents/list").redact_with(redaction).start().await?;
    /// # session.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn redact_with(mut self, redaction: Redaction) -> Self {
        self.redaction = self.redaction.and(&redaction);
        self
    }

    /// Is called with what happens while it happens.
    pub fn on_event(mut self, listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.listener = Arc::new(listener);
        self
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// If a setting or a rule is not valid, the mode needs a server that is not given, the cassette cannot be
    /// opened, or the address cannot be listened on.
    pub async fn start(self) -> Result<Session> {
        let listen = self.listen;
        let settings = self.clone();
        let gateway = Arc::new(Gateway::open(self.complete()?, Beside::default()).await?);
        if gateway.plan() != Mode::Replay && stands_still() {
            return Err(Error::said(STANDS_STILL).with_hint(ANOTHER_CLOCK));
        }
        let listener = Server::bind(listen).await?;
        gateway.listens_at(listener.local_addr().ok());
        let names = match gateway.mode() {
            Mode::Replay => FieldNames::AsMeant,
            _ => FieldNames::AsSent,
        };
        let unfinished = Unfinished::new(Arc::clone(&gateway));
        let hub = Arc::new(Hub::new(gateway, settings));
        let server = Server::start(listener, Arc::clone(&hub), names)?;
        Ok(Session { unfinished, hub, server })
    }

    pub(super) fn complete(self) -> Result<Settings> {
        let mode = self.mode.map_or_else(Mode::from_env, Ok)?;
        let servers = match self.transport {
            Transport::Http => self.servers()?,
            Transport::Lines => Servers::default(),
        };
        if self.transport == Transport::Http && !matches!(mode, Mode::Replay | Mode::Once) {
            if servers.is_empty() && !self.is_upstream_spared {
                return Err(no_upstream(mode));
            }
            servers.check_built()?;
        }
        let folder = below_crate(self.cassettes.as_deref().unwrap_or(Path::new("cassettes")));
        let config = match &self.config {
            Some(file) => store::load_config(&below_crate(file))?,
            None => store::find_config(&folder)?,
        };
        let proxy = self.is_proxy.then(|| Proxy::new(config.hosts().clone())).transpose()?;
        let cassette = Name::new(self.cassette.as_str())?;
        Ok(Settings {
            cassette,
            folder,
            servers,
            proxy: proxy.map(Arc::new),
            mode,
            lax: self.lax.as_deref().map(below_crate),
            misses: match &self.misses {
                _ if self.is_opened || self.is_proving => Report::None,
                Some(file) => Report::Own(below_crate(file)),
                None => shared(),
            },
            rerun: self.rerun.clone().unwrap_or_else(|| self.test()),
            redaction: config.redaction().clone().and(&self.redaction),
            config,
            given: self,
        })
    }

    /// The live servers that are named, or else those of the environment.
    fn servers(&self) -> Result<Servers> {
        let (mut named, mut first) = (self.named.clone(), self.upstream.clone());
        if first.is_none() {
            let said = env::var("RETAPE_UPSTREAM").unwrap_or_default();
            let said = servers::named(said.split_whitespace())?;
            first = Some(said.first);
            named.extend(said.named);
        }
        let first = first.filter(|address| !address.is_empty());
        // The clients of a test runner name the server that they mean, as those of the proxy do.
        let any = if self.is_proxy || self.is_opened { Any::Allowed } else { Any::Refused };
        Servers::new(first.as_deref(), &named, any)
    }

    /// The test that starts this session.
    fn test(&self) -> Rerun {
        Rerun::Test { command: tested::command(), sets_mode: self.mode.is_some() }
    }
}

impl Settings {
    /// Whether requests may go to the live server in every mode.
    pub(super) fn may_pass(&self) -> bool {
        self.proxy.is_some() || self.given.hook.is_some()
    }

    /// What takes secrets out of what is kept or shown.
    pub(super) fn redactor(&self) -> Redactor {
        let redactor = Redactor::standard().with_environment(store::environment());
        redactor.with_own(&self.redaction)
    }

    /// What a cassette is made ready from.
    pub(super) fn source(&self, cassette: &Name) -> Source {
        Source {
            folder: self.folder.clone(),
            name: cassette.clone(),
            also: self.also_of(cassette).to_owned(),
            rules: self.rules_of(cassette),
            transport: self.given.transport,
            redaction: self.redaction.clone(),
            compared: self.given.compared.clone(),
        }
    }

    /// The files that are played behind a cassette.
    fn also_of(&self, cassette: &Name) -> &[PathBuf] {
        if *cassette == self.cassette { &self.given.also } else { &[] }
    }

    /// Whether there is something to be played under that name.
    pub(super) fn exists(&self, cassette: &Name) -> bool {
        store::exists(&self.folder, cassette) || !self.also_of(cassette).is_empty()
    }

    /// What is said about matching a cassette, but for what it says itself.
    pub(super) fn rules_of(&self, cassette: &Name) -> Rules {
        self.config.rules(cassette.as_str()).and(&self.given.rules)
    }

    /// What is to go wrong when a cassette is replayed. What is to prove a recording goes well.
    pub(super) fn faults_of(&self, cassette: &Name) -> Vec<Fault> {
        let all = || [&self.given.faults[..], &self.config.faults(cassette.as_str())].concat();
        if self.given.is_proving { Vec::new() } else { all() }
    }
}

/// The file for the misses of all sessions of this process.
fn shared() -> Report {
    let file = env::var_os("RETAPE_MISSES").filter(|file| !file.is_empty());
    file.map_or(Report::None, |file| Report::Shared(below_crate(Path::new(&file))))
}

fn below_crate(folder: &Path) -> PathBuf {
    match env::var_os("CARGO_MANIFEST_DIR") {
        Some(of_crate) if folder.is_relative() => Path::new(&of_crate).join(folder),
        _ => folder.to_owned(),
    }
}

shown!(Debug: SessionBuilder, it => "SessionBuilder {{ cassette: {:?}, .. }}", it.cassette);

shown!(Debug: Settings, it => "Settings {{ cassette: {:?}, .. }}", it.cassette);
