//! Which names are made of one another, and stay so.
//!
//! # Rationale
//!
//! Letta makes the name of a part (`otid`) of the id of its message: it writes the number of the part over the last
//! seven bits. Whoever reads both sees that. If each name were exchanged on its own, the part could get a name that was
//! made of another message, or of none, and no server says that.

use std::collections::{HashMap, HashSet};

use crate::identity::{UUID, begins_with_uuid};

/// The last byte of a UUID, as it is written.
const BYTE: usize = 2;

/// The bits of it that a number takes.
pub(super) const NUMBER: u8 = 0x7f;

/// The names of two recordings that are made of others.
#[derive(Debug, Default)]
pub(super) struct Kin<'v> {
    /// What the stem of a new name is in the old recording. One stands for one.
    olds: HashMap<Stem<'v>, Stem<'v>>,
}

/// What a name has in common with those that are made of it: all but its number.
type Stem<'v> = (&'v str, u8);

impl<'v> Kin<'v> {
    /// Of names that are the same in both, and of pairs of new and old names with their weights.
    pub(super) fn of(
        same: impl Iterator<Item = &'v str>,
        votes: impl Iterator<Item = ((&'v str, &'v str), usize)>,
    ) -> Self {
        let mut olds: HashMap<_, _> = same.filter_map(stem).map(|stem| (stem, stem)).collect();
        let mut taken: HashSet<_> = olds.values().copied().collect();
        let mut weights: HashMap<_, (usize, usize)> = HashMap::new();
        for (at, ((new, old), weight)) in votes.enumerate() {
            if let (Some(new), Some(old)) = (stem(new), stem(old)) {
                weights.entry((new, old)).or_insert((0, at)).0 += weight;
            }
        }
        let mut pairs: Vec<_> = weights.into_iter().collect();
        pairs.sort_by_key(|(_, (weight, at))| (std::cmp::Reverse(*weight), *at));
        for ((new, old), _) in pairs {
            if !olds.contains_key(&new) && taken.insert(old) {
                olds.insert(new, old);
            }
        }
        Self { olds }
    }

    /// Whether a new name may be that old one as far as those go that it is made of.
    pub(super) fn may_be_called(&self, new: &str, old: &str) -> bool {
        let (Some(new), Some(old)) = (stem(new), stem(old)) else { return true };
        self.olds.get(&new) == Some(&old)
    }

    /// What a new name without an old one may be called by those that it is made of: its number over theirs, then the
    /// next ones.
    pub(super) fn names(&self, new: &str) -> impl Iterator<Item = String> + use<'v> {
        let known = stem(new).and_then(|stem| self.olds.get(&stem)).copied();
        let known = known.zip(last_byte(new).map(|(_, byte)| byte));
        known.into_iter().flat_map(|((text, top), byte)| {
            let numbers = (0..=NUMBER).map(move |more| byte.wrapping_add(more) & NUMBER);
            numbers.map(move |number| format!("{text}{:02x}", top | number))
        })
    }
}

/// The stem of a random UUID. That two of these are equal so far is no chance.
fn stem(name: &str) -> Option<Stem<'_>> {
    /// Where a UUID says how it was made, and what stands there if it is random.
    const VERSION: (usize, u8) = (14, b'4');
    /// Whoever counts in UUIDs begins the last part with these.
    const ZEROS: &str = "00000";
    const LAST_PART: usize = 24;
    let (text, byte) = last_byte(name)?;
    let is_random =
        name.as_bytes()[VERSION.0] == VERSION.1 && !text[LAST_PART..].starts_with(ZEROS);
    is_random.then_some((text, byte & !NUMBER))
}

/// What a UUID begins with, and its last byte.
pub(super) fn last_byte(name: &str) -> Option<(&str, u8)> {
    let is_uuid = name.len() == UUID && begins_with_uuid(name.as_bytes());
    let (stem, byte) = name.split_at_checked(UUID - BYTE).filter(|_| is_uuid)?;
    Some((stem, u8::from_str_radix(byte, 16).ok()?))
}

/// The UUID that 32 hexadecimal digits are.
pub(super) fn with_dashes(word: &str) -> Option<String> {
    const DIGITS: usize = 32;
    let is_hex = word.len() == DIGITS && word.bytes().all(|it| it.is_ascii_hexdigit());
    let part = |from: usize, to: usize| &word[from..to];
    let parts = || [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, DIGITS)];
    is_hex.then(|| parts().join("-"))
}
