//! Record a server once, replay it for ever, and review what changed.

pub mod cassette;
mod error;
mod json;
pub mod message;
pub mod report;

pub use cassette::{Cassette, Name};
pub use error::{Error, Result};

/// Placeholder so that the links of the documentation resolve while the crate is being built up.
pub struct Session;
impl Session {
    /// Placeholder.
    pub fn finish(self) {}
}
