//! Where a value came from, and what it stands for now.
//!
//! Values that look minted (UUIDs, for now) are *identifiers*. The first place an identifier appears
//! in a recording tells its origin ([`Origins`]): in an answer the server issued it, in a request the client
//! minted it. What the server issued must come back as it is; what the client minted is a hole that
//! a replayed client may fill anew, consistently ([`Bindings`]); where the recorded server gave it back
//! ([`Echo`]), the client is given its own.

mod bindings;
mod echoes;
mod identifier;
mod origins;

pub use bindings::Bindings;
pub use echoes::{Echo, Renamed};
pub use identifier::identifiers;
pub use origins::{Issuer, Origin, Origins};
