//! Which recorded thing this is, and how it differs.

#[cfg_attr(
    not(all(feature = "record", feature = "review")),
    allow(
        dead_code,
        unused_imports,
        reason = "each feature uses a part of it; replay asks which answers are alike"
    )
)]
pub(crate) mod alignment;
mod difference;
#[doc(hidden)] // Its index is measured by the benchmarks.
pub mod matching;
mod recorded;
#[cfg(feature = "record")]
#[doc(hidden)] // Its laws are tested with generated changes of real recordings.
pub mod renew;

pub use difference::{Difference, Differences, Open, Sort, Value, documents, requests};
