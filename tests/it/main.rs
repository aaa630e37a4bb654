//! What the library does, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod assertion;
mod change;
mod contract;
mod correlation;
mod early;
mod echoes;
mod explained;
mod format;
mod invariant;
mod journal;
mod matching;
mod message;
mod misses;
mod modes;
mod mount;
mod order;
mod origins;
mod outages;
mod page;
mod parallel;
mod record;
mod redact;
mod replay;
mod retries;
mod rules;
mod sessions;
mod shape;
mod show;
mod stage;
mod states;
mod true_streams;
