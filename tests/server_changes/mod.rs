//! A corpus of server changes whose meaning is known, and what `retape diff` calls them.
//!
//! The recordings of the repository are changed as if the server had changed, one thing at a time, always
//! the same ones. What a change means is known from how it is made, never from what retape says of it:
//! what breaks is something that no recording of the endpoint has (`breaking`); what is harmless is the
//! same server again, or less of what was there before (`harmless`). Old and new recordings are then
//! compared as `retape diff OLD NEW` does.
//!
//! A breaking change counts as told only if something that fails is told where it was made.

pub mod fields;
pub mod recorded;

mod added;
mod breaking;
mod edit;
mod harmless;
mod judge;
mod kind;
mod score;
mod set;

pub use judge::score;
