//! Which recorded thing this is, and how it differs.

pub mod alignment;
pub mod diff;
#[doc(hidden)] // Its index is measured by the benchmarks.
pub mod matching;
#[doc(hidden)] // Its laws are tested with generated changes of real recordings.
pub mod renew;
