//! What changed, whether it breaks a client, and how people are told.

#[cfg(feature = "review")]
pub mod change;
#[cfg(feature = "review")]
pub mod coverage;
pub mod report;
