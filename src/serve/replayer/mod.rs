//! Replaying: a server that answers from a cassette.

mod across;
mod answers;
mod assume;
mod body;
mod chunking;
mod drift;
mod faults;
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command begins them"))]
mod lines;
mod meanwhile;
mod miss;
mod naming;
mod pace;
mod ports;
mod progress;
mod recorded;
mod replay;
mod resume;
mod run;
mod script;
mod shelf;
mod socket;
mod sockets;
mod spoil;
mod stored;

pub use chunking::Chunking;
pub use faults::{Attempt, Call};
#[cfg(feature = "cli")]
pub use lines::EXIT_STATUS;
pub use miss::miss_answer;
#[cfg(feature = "wiremock")]
pub use miss::{MISS, SHOULD_RETRY};
pub use pace::Pace;
pub use recorded::{Compared, Recorded, Source, Transport};
pub use replay::{Aliases, Replayer};
pub use socket::{Lost, Notice, Opened, Socket};
pub use sockets::Upgraded;
pub use stored::Hashed;
