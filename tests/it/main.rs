//! What the library does, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod early;
mod echoes;
mod format;
mod journal;
mod message;
mod misses;
mod modes;
mod mount;
mod origins;
mod outages;
mod record;
mod redact;
mod replay;
mod rules;
mod sessions;
mod show;
mod stage;
mod true_streams;
