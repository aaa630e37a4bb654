//! Changes that no client can notice, and such as it was ready for.

pub mod narrower;
pub mod runs;
pub mod scenarios;
pub mod spelling;
mod wholes;
