//! Replaying: a server that answers from a cassette.

mod answers;
mod body;
mod chunking;
mod drift;
mod faults;
mod meanwhile;
mod miss;
mod pace;
mod progress;
mod replay;
mod resume;
mod script;
mod shelf;
mod socket;
mod sockets;
mod spoil;

pub use chunking::Chunking;
pub use faults::{Attempt, Call};
pub use miss::miss_answer;
#[cfg(feature = "wiremock")]
pub use miss::{MISS, SHOULD_RETRY};
pub use pace::Pace;
pub use replay::{Recorded, Replayer};
pub use socket::{Lost, Opened, Socket};
pub use sockets::Upgraded;
