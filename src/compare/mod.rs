//! Which recorded thing this is, and how it differs.

pub mod alignment;
mod decide;
mod difference;
mod hash;
mod header;
#[doc(hidden)] // Its index is measured by the benchmarks.
pub mod matching;
mod names;
mod place;
mod reading;
mod recorded;
#[doc(hidden)] // Its laws are tested with generated changes of real recordings.
pub mod renew;
mod value;

pub use decide::decide;
pub use difference::{Difference, Differences, Open, Sort, documents, requests};
pub use place::Place;
pub use value::Value;
