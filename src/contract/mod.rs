//! What a server promises: learned from recordings, accepted by a person, checked in every run.
//!
//! A [`Contract`] says of one [`Endpoint`] in which order its messages come, what ties them together, and
//! what they and its answers look like, in a text that can be read and edited. [`check`] finds the
//! contracts that recordings ([`Traffic`]) do not keep.

mod check;
mod clients;
mod cut;
mod endpoint;
mod evidence;
mod history;
pub mod invariant;
mod kinds;
pub mod openapi;
pub mod order;
mod orders;
mod paths;
mod samples;
pub mod shape;
mod situation;
mod syntax;
mod template;
mod text;
mod traffic;

pub use check::{Breach, Finding, check};
pub use endpoint::Endpoint;
pub use evidence::{At, Claimed, Edge, Evidence, OrderEvidence, Place};
pub use history::History;
pub use kinds::Kinds;
pub use orders::{Case, Orders};
pub use situation::{Condition, Feature};
pub(crate) use traffic::Answer;
pub use traffic::Traffic;

use crate::contract::invariant::Invariant;
use crate::message::TagSource;

/// What a server promises at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// Which one.
    pub endpoint: Endpoint,
    /// What tells the types of its messages, where that is neither a known protocol nor usual.
    pub tag: Option<TagSource>,
    /// In which order the messages of an answer come; nothing if an answer is none in messages.
    pub order: Option<Orders>,
    /// What ties the messages of a stream together.
    pub invariants: Vec<Invariant>,
    /// What each message of a stream looks like.
    pub events: Option<Kinds>,
    /// What an answer that is no stream looks like.
    pub body: Option<Kinds>,
}
