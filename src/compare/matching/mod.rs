//! Which interaction answers a request, and else why none does.
//!
//! Of each recorded request it is known what in it is open: what the client makes up, and times. A live
//! request is read once; what is left of it without the open places leads to the interactions that ask
//! the same ([`Index`]). Among them a session's [`Playlist`] takes the first that was not played and
//! whose open places can be filled.
//!
//! If there is none, a [`Mismatch`] says which interaction is most alike, where it differs, and why
//! each difference counts.

mod agreement;
mod assumed;
mod causes;
mod credentials;
mod days;
mod fresh;
mod given;
mod groups;
mod index;
mod marks;
mod mismatch;
mod nearest;
mod passing;
mod playlist;
mod proof;
mod route;
mod spoken;
mod telling;
mod twins;
mod verbatim;
mod why;
mod writes;

pub(crate) use agreement::agreeing_fields;
pub use causes::Feeds;
pub use credentials::{Credentials, without_numbers};
pub use given::issued_in;
pub use index::{Asked, Index, Recognized};
pub use mismatch::{Asking, Awaited, Differing, Message, Mismatch, Nearest};
pub use nearest::called;
pub use playlist::Playlist;
pub use proof::{Learned, Proof, likewise};
pub use why::Why;
