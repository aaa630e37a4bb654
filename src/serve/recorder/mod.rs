//! Recording: a reverse proxy that keeps what passes through it.
//!
//! Nothing is collected before it is passed on. What the client receives is what the server sent,
//! chunk for chunk; a copy goes to the [`Tape`] first.

mod arrived;
mod clock;
mod coming;
mod connection;
mod crash;
mod driver;
mod end_to_end;
mod expected;
mod fault;
mod finished;
mod forward;
mod interim;
mod location;
mod passing;
#[cfg(feature = "cli")]
mod pipes;
mod pool;
mod prompt;
mod recoded;
mod reframed;
mod relay;
mod rescue;
mod roll;
mod sent;
mod shown;
mod take;
mod takes;
mod tape;
mod tee;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod upstream;
mod verdict;

pub use forward::{Recorder, RequestBody};
#[cfg(feature = "cli")]
pub use pipes::Pipes;
#[cfg(feature = "cli")]
pub use rescue::recover;
pub use tape::Tape;
#[cfg(feature = "cli")]
pub use tls::{BUNDLES, bundles};
pub use upstream::Upstream;

pub use super::recording::{Change, Course, Kept, Origins, Patience, Recording, Saved, Wording};
