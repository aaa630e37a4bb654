//! Entry points of a test: a server that records or replays, by mode.
//!
//! A [`Session`] listens on loopback. Clients are given its [`url`](Session::url) as their base
//! address; one prefix of the path names the cassette (`URL/letta/hitl/-/v1/agents`), so any number
//! of tests share one session and never meet.

#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod attribute;
mod beside;
mod changes;
mod closed;
mod compared;
mod control;
mod event;
mod gateway;
mod guard;
mod hook;
mod hub;
mod idle;
mod inspect;
mod lax;
mod misses;
#[cfg(feature = "wiremock")]
pub(crate) mod mount;
mod opening;
#[cfg(feature = "cli")]
mod piped;
mod proof;
mod proxied;
mod run;
mod servers;
mod service;
mod settings;
mod slot;
mod spoiled;
mod stale;
mod summary;
mod tested;
mod tokens;
mod track;
mod unfinished;
mod unserved;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use crate::serve::server::Cut;
pub use event::{Event, Miss};
#[cfg(feature = "cli")]
pub(crate) use proof::Client;
pub use proof::Proven;
pub use service::{Body, Service};
pub use settings::SessionBuilder;
pub use spoiled::Spoiled;
pub use summary::{Summary, Unplayed};

pub(crate) use closed::Closed;
#[cfg(feature = "cli")]
pub(crate) use servers::named;

use crate::error::Result;
use crate::serve::recorder::Course;
use crate::serve::server::{Address, Server};
use crate::store::mode::Mode;
use hub::Hub;
use unfinished::Unfinished;

/// A running recorder or replayer, and the cassettes it works with.
///
/// The mode is `RETAPE_MODE`, else [`Mode::Replay`] under `CI`, else [`Mode::Once`]: replay what is
/// recorded, record what is not. It runs on the current tokio runtime; a test with a blocking client
/// needs the multi-threaded one.
///
/// # A session is to be finished
///
/// [`finish`](Self::finish) is what fails a test whose requests had no recorded answer, and what
/// saves a recording. A session that is dropped without it fails nothing and saves nothing: the cassette
/// stays as it was, and the next recording of it saves what had arrived as `NAME.recovered`. But it
/// prints each miss with its explanation to standard error, so that a test that fails by its client's
/// error shows why. If it recorded, it prints that nothing is saved, unless the test panics.
///
/// # Rationale
///
/// Dropping saves nothing and does not panic, since nobody could be told that it failed: a destructor
/// returns no error, and a second panic ends the process. To print is all that it can do. This library
/// prints nothing else, but for what a failed test has missed that [`run`](SessionBuilder::run) was given.
///
/// # Example: record a server, then replay it
///
/// ```
/// # use std::error::Error;
/// use retape::{Mode, Session};
/// # use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// # let live = MockServer::start().await;
/// # Mock::given(path("/v1/agents"))
/// #     .respond_with(ResponseTemplate::new(200).set_body_json(["agent"])).mount(&live).await;
/// async fn first_agent(base_url: &str) -> Result<String, reqwest::Error> {
///     let agents: Vec<String> = reqwest::get(format!("{base_url}/v1/agents")).await?.json().await?;
///     Ok(agents[0].clone())
/// }
///
/// // A test leaves mode, server and folder to the environment: `Session::start("agents/list")`.
/// let settings = Session::builder("agents/list").cassettes(folder).upstream(live.uri());
/// let session = settings.clone().mode(Mode::Record).start().await?;
/// assert_eq!(first_agent(&session.url()).await?, "agent");
/// session.finish().await?;
/// drop(live);
///
/// let session = settings.mode(Mode::Replay).start().await?;
/// assert_eq!(first_agent(&session.url()).await?, "agent");
/// session.finish().await?; // fails if a request had no recorded answer
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a session that is not finished saves nothing and fails no test"]
pub struct Session {
    hub: Arc<Hub>,
    server: Server,
    unfinished: Unfinished,
}

/// What is under way has so long to end.
const GRACE: Duration = Duration::from_millis(500);

impl Session {
    /// Starts a session on one cassette with the settings of the environment: `RETAPE_MODE`,
    /// `RETAPE_UPSTREAM`, and the folder `cassettes` of the crate under test.
    ///
    /// # Errors
    ///
    /// As [`SessionBuilder::start`].
    pub async fn start(cassette: &str) -> Result<Self> {
        Self::builder(cassette).start().await
    }

    /// Settings for a session whose default cassette is `cassette`.
    pub fn builder(cassette: &str) -> SessionBuilder {
        SessionBuilder::new(cassette)
    }

    /// The base address for a client of the default cassette: `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The base address for a client of another cassette, `letta/hitl/deny`, or of a separate run
    /// through one, `letta/hitl/deny~2`.
    pub fn url_of(&self, session: &str) -> String {
        format!("{}{}", self.url(), Address::prefix(session))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The certificate, in DER, of the authority that vouches for every host behind the proxy; nothing if
    /// the session is [no proxy](SessionBuilder::proxy).
    #[cfg(feature = "proxy")]
    pub fn proxy_certificate(&self) -> Option<&[u8]> {
        self.hub.main.settings.proxy.as_ref().map(|proxy| &**proxy.certificate())
    }

    /// What is done with requests.
    pub fn mode(&self) -> Mode {
        self.hub.main.mode()
    }

    /// The requests so far that nothing recorded answered.
    pub fn misses(&self) -> Vec<Miss> {
        self.hub.main.misses().all()
    }

    /// Lets every run through a cassette begin anew. What was missed so far stays missed.
    pub fn reset(&self) {
        self.hub.main.reset(None);
    }

    /// Stops, saves what was recorded, and reports.
    ///
    /// # Errors
    ///
    /// If a request had no recorded answer, no request came at all, the server that was recorded gave
    /// no answer at all, a cassette could not be opened, or a recording could not be saved. If it is
    /// [strict](SessionBuilder::strict), also if something recorded was not asked for, or a fault met no request.
    pub async fn finish(self) -> Result<Summary> {
        let main = &self.hub.main;
        let is_strict = main.settings.given.is_strict && main.plan() == Mode::Replay;
        let summary = self.stop().await?.checked()?;
        if is_strict { summary.all_played()?.all_faults_met() } else { Ok(summary) }
    }

    /// Stops, saves what was recorded, and tells what happened, misses and outages included.
    ///
    /// # Errors
    ///
    /// If a cassette could not be opened, or a recording could not be saved.
    pub async fn stop(self) -> Result<Summary> {
        let closed = self.close().await;
        closed.settle().await;
        closed.save(Course::Whole)
    }

    /// Takes no more requests.
    pub(crate) async fn close(self) -> Closed {
        self.hub.end_waiting();
        self.server.stop(GRACE).await;
        self.hub.close_sockets(GRACE).await;
        self.unfinished.finish();
        self.hub.close()
    }
}
