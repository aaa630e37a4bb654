//! Which recorded thing this is, and how it differs.

#[cfg(any(feature = "record", feature = "review"))]
pub(crate) mod alignment;
mod difference;
#[doc(hidden)] // Its index is measured by the benchmarks.
pub mod matching;
mod recorded;
#[cfg(feature = "record")]
#[doc(hidden)] // Its laws are tested with generated changes of real recordings.
pub mod renew;

pub use difference::{Difference, Differences, Open, Sort, Value, documents, requests};
