//! What changed, whether it breaks a client, and how people are told.

pub mod change;
pub mod coverage;
pub mod report;
