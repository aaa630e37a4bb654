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
#[cfg_attr(not(feature = "record"), expect(dead_code, reason = "only a recording lets more count"))]
mod carriers;
mod certain;
mod decide;
mod documents;
mod draws;
mod echoes;
mod encoded;
mod field;
mod hole;
mod identifier;
mod ledger;
mod made_up;
mod moment;
mod name;
pub(crate) mod names;
mod nested;
mod origin;
mod parts;
mod plain;
mod returned;
mod servers;
mod texts;
mod wanted;

pub use bindings::Bindings;
pub(crate) use bindings::may_coincide;
#[cfg(feature = "record")]
pub use carriers::carriers;
pub use certain::{is_certain, is_minted, is_mixed, is_sealed, stands_for};
#[cfg(feature = "record")]
pub use decide::decide_long;
pub use decide::{decide, decide_again, decide_behind};
pub(crate) use documents::{each_document, pieced_together};
pub(crate) use draws::Draw;
pub use echoes::{Echo, Renamed};
pub use encoded::says_something;
pub(crate) use field::fields;
pub use field::{may_identify, may_mark, may_number, scope_of};
pub use hole::{Form, Hole, Scope};
pub use identifier::identifiers;
pub(crate) use identifier::{SHORTEST, UUID, begins_with_uuid, next_span};
pub use ledger::{Entry, Ledger};
pub use made_up::{MadeUp, Words, word_around};
pub(crate) use moment::{EPOCH, epochs, says_when};
pub use moment::{dates, is_epoch, is_moment, moments};
pub use name::{Meaning, refers};
pub use origin::{Issuer, Origin};
pub(crate) use plain::plain;
pub use servers::{Made, decide_servers, is_server, server};
pub(crate) use texts::each_text;
pub(crate) use wanted::{Below, segment_behind};
