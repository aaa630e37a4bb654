//! Where a value came from, and what it stands for now.
//!
//! Values that look minted are *identifiers*: UUIDs, ULIDs and other random words, with a prefix or
//! without ([`identifiers`]); so are values of fields that are named like one ([`Meaning`]) and the ids
//! of JSON-RPC. The first place an identifier appears in a recording tells its origin ([`Origins`]): in
//! an answer the server issued it, in a request the client minted it. What the server issued must come
//! back as it is; what the client minted is a [`Hole`] that a replayed client may fill anew,
//! consistently ([`Bindings`]); where the recorded server gave it back ([`Echo`]), the client is given
//! its own. Times ([`moments`]) are holes too, whose value means nothing.

mod bindings;
mod documents;
mod echoes;
mod encoded;
mod field;
mod frames;
mod hole;
mod identifier;
mod issued;
mod ledger;
mod minted;
mod moment;
mod name;
mod nested;
mod origins;
mod plain;
mod shapes;

pub use bindings::Bindings;
pub(crate) use documents::each_document;
pub use echoes::{Echo, Renamed};
pub use encoded::says_something;
pub use field::{Envelopes, Role, may_identify, may_mark, may_number, scope_of};
pub use frames::{Framed, Frames};
pub use hole::{Form, Hole, Scope};
pub(crate) use identifier::SHORTEST;
pub use identifier::{identifiers, identifiers_like};
pub use ledger::{Entry, Ledger, Sign};
pub use moment::{is_epoch, is_moment, moments};
pub use name::Meaning;
pub use origins::{Issuer, Origin, Origins};
pub use shapes::Shapes;
