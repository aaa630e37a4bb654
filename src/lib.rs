//! Record a server once, replay it for ever, and review what changed.

pub mod cassette;
#[cfg(feature = "cli")]
pub mod cli;
pub mod correlate;
mod error;
mod json;
pub mod matching;
pub mod message;
mod mode;
#[cfg(feature = "wiremock")]
mod mount;
mod recorder;
pub mod redact;
mod replayer;
pub mod report;
mod server;
pub mod session;
pub mod store;

pub use cassette::{Cassette, Name};
pub use error::{Error, Result};
pub use mode::Mode;
#[cfg(feature = "wiremock")]
pub use mount::{Mounted, mount};
pub use recorder::Recording;
pub use replayer::Pace;
pub use session::{Event, Miss, Session, SessionBuilder, Summary, Unplayed};
