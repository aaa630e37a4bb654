//! Replaying: a server that answers from a cassette.

mod answers;
mod body;
mod chunking;
mod drift;
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

pub use chunking::Chunking;
pub use miss::miss_answer;
#[cfg(feature = "wiremock")]
pub use miss::{MISS, SHOULD_RETRY};
pub use pace::Pace;
pub use replay::{Recorded, Replayer};
pub use socket::{Lost, Opened, Socket};
pub use sockets::Upgraded;
