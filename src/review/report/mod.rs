//! What retape tells people.
//!
//! A report is first a value that says what there is to tell and is then rendered;
//! rendering is pure, so the same input always gives the same text. Text that was recorded is never
//! let through to a terminal with its control characters.

#[cfg(feature = "review")]
mod coverage;
mod difference;
#[cfg(feature = "review")]
mod evidence;
#[cfg(feature = "review")]
mod face;
mod gist;
mod ids;
mod line;
mod miss;
#[cfg(feature = "insta")]
mod order;
#[cfg(feature = "review")]
mod page;
mod rerun;
#[cfg(feature = "review")]
mod review;
mod show;
mod summary;
mod words;

pub use difference::difference;
use gist::Gist;
pub use ids::ids;
pub use line::Colour;
pub(crate) use line::count;
#[cfg(feature = "cli")]
pub(crate) use line::{time, visible, wrap};
pub(crate) use miss::asking_to_json;
pub use miss::{Differs, Unsent, Withheld, miss, unopened, unsent, withheld};
#[cfg(feature = "insta")]
pub(crate) use order::out_of_order;
pub use rerun::Rerun;
pub use show::{Detail, ShowOptions, pretty, show, show_by};
pub use summary::trace;
#[cfg(feature = "review")]
pub use {
    coverage::{coverage, coverage_to_json, coverage_to_markdown},
    evidence::{evidence, evidence_to_json},
    face::{Face, changes},
    review::{Extent, Review, ReviewChange, ReviewOptions, review, review_change},
};
