//! Hashes of values and of places.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FixedState, FoldHasher};

// Roots of the places, and what stands for a hole.
pub(super) const PATH: u64 = 1;
pub(super) const QUERY: u64 = 2;
pub(super) const BODY: u64 = 3;
pub(super) const KEY: u64 = 4;
pub(super) const HOLE: u64 = 5;
pub(super) const HEADER: u64 = 6;
pub(super) const FORM: u64 = 7;
pub(super) const PART: u64 = 8;

const STATE: FixedState = FixedState::with_seed(0x7e7a_9e00);

pub(super) fn hasher() -> FoldHasher<'static> {
    STATE.build_hasher()
}

/// The hash of hashes in order.
pub(super) fn combine(parts: &[u64]) -> u64 {
    let mut hasher = hasher();
    parts.iter().for_each(|part| hasher.write_u64(*part));
    hasher.finish()
}

pub(super) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    STATE.hash_one(value)
}

/// The place of the member of an object: it depends on the way there, not on the order of members.
pub(super) fn member(place: u64, key: u64) -> u64 {
    combine(&[place, key])
}

/// The place of an item of an array.
pub(super) fn item(place: u64, index: u64) -> u64 {
    combine(&[place, index])
}
