//! Which interaction answers a request, and else why none does.
//!
//! A request is reduced to its [`Skeleton`]: method, path, query and body as values, with the
//! identifiers that the client minted replaced by holes. Its hash leads to the interactions that
//! look the same in one step, whatever the size of the cassette ([`Index`]). Among them a session's
//! [`Playlist`] takes the first that was not played and whose holes can be filled.

mod body;
mod hash;
mod header;
mod index;
mod mismatch;
mod playlist;
mod skeleton;
mod value;
mod writes;

pub use index::Index;
pub use mismatch::{Mismatch, Nearest};
pub use playlist::Playlist;
pub use skeleton::Skeleton;
