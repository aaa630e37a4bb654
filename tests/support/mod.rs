//! Both ends of a connection under a test's control: a scripted server and a client that shows the
//! bytes and chunks as they arrive. Plain sockets and threads; nothing here interprets what it need
//! not.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod client;
pub mod engine;
pub mod gate;
pub mod socket;
pub mod upstream;
pub mod wire;

use std::time::Duration;

/// Nothing in a test takes that long; what does has hung.
pub const LIMIT: Duration = Duration::from_secs(60);
