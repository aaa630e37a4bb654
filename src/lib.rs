//! Record a streaming server once, replay it forever, and review what changed.
//!
//! retape helps you test SDKs and clients of agent servers. A reverse proxy records what a client and
//! a live server send each other, byte for byte and chunk for chunk. The recording is a *cassette*, a
//! text file that reads well in a pull request. Later the same client runs against the cassette, with
//! no server. A request that no recording answers is a *miss*: it explains itself, and fails the test.
//!
//! The `retape` command does this for clients in any language (`retape record -- pytest`). This
//! library does it inside a Rust test.
//!
//! # Example: a test that records once and replays forever
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
//! // `once` replays the cassette if it is there, and else records it from the live server. Under CI
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
//! - **Cassette**: the recorded interactions of one scenario, in one file. `cassettes/letta/hitl.json`
//!   has the name `letta/hitl`.
//! - **Interaction**: a request and what came of it.
//! - **Stream**: an answer that was sent in chunks. A **chunk** is some bytes and the time they came.
//! - **Message**: one typed thing in a body, such as an SSE event. Its **tag** is its type.
//! - **Trace**: the tags of one body, in order.
//! - **Session**: one client's run through one cassette.
//! - **Identifier**: a value that was generated, by the server or by the client. What the server
//!   issued must come back as it is. What the client made up may differ, consistently. The recording
//!   decides which is which, and the cassette lists it.
//! - **Miss**: a request that no recorded interaction answers.
//!
//! # Limits
//!
//! retape does not invent what was not recorded, and does not check business logic. You point a client at
//! it by its base address, or as its proxy. It is a test tool and binds the loopback address unless you say
//! otherwise.

#![cfg_attr(
    not(all(feature = "record", feature = "review")),
    allow(
        dead_code,
        unused_imports,
        reason = "the lower rooms are whole, whoever stands above them"
    )
)]

mod error;

mod text;

pub mod config;

pub mod cassette;

mod identity;
pub mod message;
pub mod redact;

pub mod compare;
#[cfg(feature = "review")]
pub mod contract;

pub mod review;

pub mod store;

mod serve;

#[cfg(feature = "review")]
mod assert;
pub mod session;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

#[cfg(feature = "insta")]
#[doc(hidden)]
pub use self::assert::macro_support as _macro_support;
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use self::session::attribute as _attribute;
pub use cassette::{Cassette, Name};
pub use error::{Error, Result};
/// The insta that the assertions use; its settings apply to them.
#[cfg(feature = "insta")]
pub use insta;
/// Makes a test of a function that takes a session.
///
/// The test starts the session, runs the function, and finishes the session. It fails as
/// [`SessionBuilder::run`] does: if the function fails, if a request had no recorded answer, or if what was
/// recorded does not replay. The function is `async` or not. It returns nothing, or a [`Result`](std::result::Result)
/// whose error is [`Debug`](std::fmt::Debug).
///
/// The cassette is named after the path of the test: `tests/agents.rs` has `agents/are_listed`, and
/// `my_sdk::chat::tests::streams` has `my_sdk/chat/tests/streams`.
///
/// # Settings
///
/// `cassette = "NAME"` names another cassette. Every other setting is a method of [`SessionBuilder`]:
/// `mode = Mode::Replay`, or `allow_unused` for one without a value.
///
/// # Runtime
///
/// The function runs on a tokio runtime with another thread that serves the session. So a client may
/// block.
///
/// # Example: a test that records once and replays forever
///
/// ```
/// use retape::Session;
///
/// #[retape::test(upstream = "http://127.0.0.1:8283")]
/// async fn agents_are_listed(session: &Session) -> reqwest::Result<()> {
///     let agents = reqwest::get(format!("{}/v1/agents", session.url())).await?.text().await?;
///
///     assert_eq!(agents, r#"["agent-1"]"#);
///     Ok(())
/// }
/// # fn main() {}
/// ```
#[cfg(feature = "macros")]
pub use retape_macros::test;
pub use serve::recorder::{Kept, Recording, Saved};
pub use serve::replayer::{Attempt, Call, Chunking, Pace};
#[cfg(feature = "wiremock")]
pub use session::mount::{Mounted, mount};
pub use session::{Event, Miss, Proven, Session, SessionBuilder, Spoiled, Summary, Unplayed};
pub use store::mode::Mode;
