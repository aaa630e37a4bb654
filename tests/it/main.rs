//! What the library does, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod format;
mod message;
mod show;
