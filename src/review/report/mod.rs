//! What retape tells people.
//!
//! A report is first a value ([`Summary`]) that says what there is to tell and is then rendered;
//! rendering is pure, so the same input always gives the same text. Text that was recorded is never
//! let through to a terminal with its control characters.

mod answer;
mod bodies;
mod check_json;
mod contract;
mod coverage;
mod coverage_json;
mod coverage_markdown;
mod difference;
mod evidence;
mod extract;
mod face;
mod gist;
mod gist_fields;
mod ids;
mod line;
mod miss;
mod miss_json;
#[cfg(feature = "insta")]
mod order;
mod outline;
mod page;
mod pretty;
mod rerun;
mod review;
mod rules;
mod show;
mod style;
mod summary;
mod trace;
mod unit;
mod why;
mod withheld;
mod words;

pub use check_json::{evidence_to_json, findings_to_json};
pub use contract::findings;
pub use coverage::coverage;
pub use coverage_json::coverage_to_json;
pub use coverage_markdown::coverage_to_markdown;
pub use difference::difference;
pub use evidence::evidence;
pub use face::{Face, changes};
pub use gist::Gist;
pub use ids::ids;
#[cfg(feature = "cli")]
pub(crate) use line::visible;
pub use miss::miss;
pub use miss_json::Differs;
pub(crate) use miss_json::asking_to_json;
#[cfg(feature = "insta")]
pub(crate) use order::out_of_order;
pub use pretty::pretty;
pub use rerun::Rerun;
pub use review::{Extent, Review, ReviewChange, ReviewOptions, review, review_change};
pub use show::{Detail, ShowOptions, show, show_by};
pub use style::Colour;
pub use summary::{Answer, Line, Role, Row, Summary};
pub use trace::trace;
pub use withheld::{Withheld, withheld};
