//! What ties the events of a stream together.
//!
//! A [`Learner`] sees traces, each a request and the events that came of it, and finds out what holds
//! in all of them: that a field says the same in all events, that a number grows, that an identifier
//! is unique, echoes the request, or refers to an earlier event, of this answer or of one before
//! ([`Earlier`]); that a number bounds, sums or counts others, and that a text is what pieces said. An
//! [`Invariant`] is written as text (`run_id constant`) and read back; [`Invariant::check`] tells where a
//! trace breaks it.
//!
//! # Example: what holds in all traces
//!
//! ```
//! use retape::contract::invariant::{Event, Invariant, Learner, Trace};
//! use retape::contract::order::Extent;
//!
//! let mut learner = Learner::default();
//! for trace in 1..=6 {
//!     let call = format!(r#"{{"run": "run-{trace}0", "call": {{"id": "call-{trace}"}}}}"#);
//!     let answer = format!(r#"{{"run": "run-{trace}0", "call_id": "call-{trace}"}}"#);
//!     let events = [Event { tag: "call", json: &call }, Event { tag: "answer", json: &answer }];
//!     learner.learn(&Trace { request: None, events: &events, earlier: None, extent: Extent::Whole });
//! }
//!
//! let found: Vec<String> = learner.finish().iter().map(ToString::to_string).collect();
//!
//! assert_eq!(found, ["run constant", "answer.call_id refers to call.call.id, each by the end"]);
//! ```

mod alone;
mod check;
mod claim;
mod earlier;
mod echo;
mod first;
mod holding;
mod kept;
mod learn;
mod number;
mod offered;
mod onward;
mod pairing;
#[cfg(feature = "cli")]
mod places;
mod presence;
mod sorted;
mod text;
mod tie;
mod trace;
mod within;

pub use super::syntax::{ParseError, ParseErrors};
pub use alone::Alone;
pub use check::{EventValue, Violation};
pub use claim::{Asked, Field, Invariant, Path, Referred, With};
pub use earlier::Earlier;
pub use echo::Said;
pub(in crate::contract) use first::is_index;
pub use holding::CHANCES;
pub(in crate::contract) use kept::{Thing, place_of, said_of, things};
pub(crate) use learn::FieldNumbers;
pub use learn::Learner;
#[cfg(feature = "review")]
pub(crate) use offered::offered;
pub(in crate::contract) use onward::{is_number, tokens};
#[cfg(feature = "cli")]
pub(crate) use places::{Where, places};
pub use sorted::Direction;
pub use tie::Tie;
pub(crate) use trace::identified;
pub use trace::{Event, Trace};
