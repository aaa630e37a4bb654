//! What retape does, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod format;
