//! Which interaction answers a request, and else why none does.
//!
//! A request is reduced to its [`Skeleton`]: method, path, query and body as values, with the
//! identifiers that the client minted replaced by holes. Its hash leads to the interactions that
//! look the same in one step, whatever the size of the cassette ([`Index`]). Among them a session's
//! [`Playlist`] takes the first that was not played and whose holes can be filled.
//!
//! If there is none, a [`Mismatch`] says which interaction is most alike, where it differs, and why
//! each difference counts.

mod apart;
mod bodies;
mod body;
mod counterfactual;
mod fresh;
mod given;
mod groups;
mod hash;
mod header;
mod index;
mod likeness;
mod mismatch;
mod nearest;
mod playlist;
mod route;
mod skeleton;
mod value;
mod verbatim;
mod why;
mod writes;

pub use index::{Index, Recognized};
pub use mismatch::{Asking, Differing, Mismatch, Nearest};
pub use playlist::Playlist;
pub use skeleton::Skeleton;
pub use why::Why;
