//! Record a streaming server once, replay it for ever, and review what changed.
//!
//! retape is for people who build SDKs and clients of agent servers. A reverse proxy records what a
//! client and a live server say to each other, byte for byte and chunk for chunk, into a *cassette*:
//! a text file that reads well in a pull request. Later the same client runs against the cassette,
//! with no server. A request that nothing recorded answers is a *miss*: it explains itself, and it
//! cannot be overlooked.
//!
//! The `retape` command does this for clients in any language (`retape record -- pytest`); this
//! library does it inside a Rust test.
//!
//! # Example: a test that records once and replays for ever
//!
//! ```
//! # use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};
//! # async fn live_server() -> MockServer {
//! #     let live = MockServer::start().await;
//! #     let agents = ResponseTemplate::new(200).set_body_json(["agent-1"]);
//! #     Mock::given(path("/v1/agents")).respond_with(agents).mount(&live).await;
//! #     live
//! # }
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let live = live_server().await;
//! # let upstream = live.uri();
//! // `once`: replays the cassette if it is there, else records it from the live server. Under CI
//! // the default is `replay`, which never touches the network.
//! for run in ["recorded", "replayed"] {
//!     let session = retape::Session::builder("agents/list")
//!         .cassettes(folder.path()) // `cassettes` beside Cargo.toml if it is left out
//!         .upstream(&upstream) //      RETAPE_UPSTREAM if it is left out
//!         .mode(retape::Mode::Once) // RETAPE_MODE if it is left out
//!         .start()
//!         .await?;
//!
//!     let agents = reqwest::get(format!("{}/v1/agents", session.url())).await?.text().await?;
//!
//!     assert_eq!(agents, r#"["agent-1"]"#, "{run}");
//!     session.finish().await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Words
//!
//! - **Cassette**: one scenario's recorded interactions, one file. `cassettes/letta/hitl.json` has
//!   the name `letta/hitl`.
//! - **Interaction**: a request and what came of it.
//! - **Stream**: an answer that was sent in chunks; **chunk**: its bytes and when they came.
//! - **Message**: one typed thing cut from a body, such as an SSE event; its **tag** is its type.
//! - **Trace**: the tags of one body in order.
//! - **Session**: one client's run through one cassette.
//! - **Identifier**: a value that was minted, by the server or by the client. What the server issued
//!   must come back as it is; what the client minted may differ, consistently.
//! - **Miss**: a request that no recorded interaction answers.
//!
//! # Layout
//!
//! A room uses only rooms below it; `tests/architecture.rs` holds that.
//!
//! - `cli`: the command, one file per subcommand.
//! - [`session`]: what a Rust test starts; `assert`: the assertion macros.
//! - `serve`: the server, the recorder and the replayer.
//! - [`store`]: files, the journal, git and the environment.
//! - [`review`]: what changed, and how people read about it.
//! - [`contract`]: what a server promises; [`compare`]: which recorded interaction this is.
//! - [`message`]: typed messages; `identity`: who issued which identifier; [`redact`]: what is never written.
//! - [`cassette`]: what was recorded, and its file.
//! - [`config`]: what a person says; `text`: the syntaxes.
//!
//! From [`review`] on, nothing does any IO.
//!
//! # Limits
//!
//! retape fakes nothing that was not recorded, does not check business logic, and does not intercept
//! TLS: a client is pointed at it by its base address. It is a test tool; it binds the loopback
//! address unless told otherwise. WebSocket is not recorded yet.

mod error;

mod text;

pub mod config;

pub mod cassette;

mod identity;
pub mod message;
pub mod redact;

pub mod compare;
pub mod contract;

pub mod review;

pub mod store;

mod serve;

mod assert;
pub mod session;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

#[cfg(feature = "insta")]
#[doc(hidden)]
pub use self::assert::macro_support as _macro_support;
pub use cassette::{Cassette, Name};
pub use error::{Error, Result};
/// The insta that the assertions use; its settings apply to them.
#[cfg(feature = "insta")]
pub use insta;
pub use serve::recorder::{Kept, Recording, Saved};
pub use serve::replayer::Pace;
#[cfg(feature = "wiremock")]
pub use session::mount::{Mounted, mount};
pub use session::{Event, Miss, Session, SessionBuilder, Summary, Unplayed};
pub use store::mode::Mode;
