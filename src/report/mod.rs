//! What retape tells people.
//!
//! A report is first a value ([`Summary`]) that says what there is to tell and is then rendered;
//! rendering is pure, so the same input always gives the same text. Text that was recorded is never
//! let through to a terminal with its control characters.

mod answer;
mod bodies;
mod contract;
mod difference;
mod extract;
mod face;
mod gist;
mod gist_fields;
mod ids;
mod line;
mod miss;
mod miss_json;
mod outline;
mod page;
mod pretty;
mod rerun;
mod show;
mod style;
mod summary;
mod trace;
mod unit;
mod why;
mod words;

pub use contract::findings;
pub use difference::difference;
pub use face::{Face, changes};
pub use gist::Gist;
pub use ids::ids;
#[cfg(feature = "cli")]
pub(crate) use line::visible;
pub use miss::miss;
pub use miss_json::Differs;
pub(crate) use miss_json::asking_to_json;
pub use pretty::pretty;
pub use rerun::Rerun;
pub use show::{Detail, ShowOptions, show};
pub use style::Colour;
pub use summary::{Answer, Line, Role, Row, Summary};
pub use trace::trace;
