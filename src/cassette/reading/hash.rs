//! Hashes of values and of places.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FixedState, FoldHasher};

const STATE: FixedState = FixedState::with_seed(0x7e7a_9e00);

/// The hash of hashes in order.
pub(crate) fn combine(parts: &[u64]) -> u64 {
    let mut hasher: FoldHasher<'_> = STATE.build_hasher();
    parts.iter().for_each(|part| hasher.write_u64(*part));
    hasher.finish()
}

pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    STATE.hash_one(value)
}
