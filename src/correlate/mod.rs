//! Where a value came from, and what it stands for now.
//!
//! Values that look minted (UUIDs, for now) are *identifiers*. The first place an identifier appears
//! in a recording tells its [`Origin`]: in an answer the server issued it, in a request the client
//! minted it. What the server issued must come back as it is; what the client minted is a hole that
//! a replayed client may fill anew, consistently ([`Bindings`]).

mod bindings;
mod identifier;
mod origins;

pub use bindings::Bindings;
pub use identifier::identifiers;
pub use origins::{Origin, Origins};
