//! How values look: with identifiers that are not known by name, and times, masked.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::{FixedState, FoldHasher};

use super::words::{Word, words};
use super::{Field, Kind, Node, Renaming, Sort};
use crate::identity::{is_epoch, is_moment};

/// How the values of one of two recordings look.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lens<'r> {
    /// Those of the old one.
    Old(&'r Renaming),
    /// Those of the new one, under their old names.
    New(&'r Renaming),
    /// Those of any, with no identifier known by name.
    Masked,
}

const TIME: u64 = 1;
const IDENTIFIER: u64 = 2;
const OBJECT: u64 = 3;
const ARRAY: u64 = 4;
const SET: u64 = 5;
const STATE: FixedState = FixedState::with_seed(0xa119);

impl Lens<'_> {
    /// Makes the hashes of a value and of all below it.
    pub(super) fn look(&self, text: &str, node: &mut Node) {
        // Looked at before: it is no other through this lens.
        if node.is_fixed && node.hash != 0 {
            return;
        }
        node.hash = match &mut node.kind {
            Kind::Leaf(leaf) => match leaf.fixed {
                Some(hash) => hash,
                None => self.words(&text[node.range.clone()], &leaf.words),
            },
            Kind::Object(members) => {
                let mut sum = OBJECT;
                for member in members {
                    self.look(text, &mut member.key);
                    self.look(text, &mut member.value);
                    let hash = combine([member.key.hash, member.value.hash]);
                    // The order of members means nothing to a client.
                    sum = sum.wrapping_add(hash);
                }
                combine([sum])
            }
            Kind::Array { items, is_set } => {
                let is_set = *is_set;
                items.iter_mut().for_each(|item| self.look(text, item));
                let hashes = items.iter().map(|item| item.hash);
                match is_set {
                    true => {
                        combine([hashes.fold(SET, |sum, hash| sum.wrapping_add(combine([hash])))])
                    }
                    false => combine(std::iter::once(ARRAY).chain(hashes)),
                }
            }
        };
    }

    /// The hash of a text that is no value.
    pub(super) fn text(&self, text: &str) -> u64 {
        self.words(text, &words(text))
    }

    fn words(&self, text: &str, words: &[Word]) -> u64 {
        let mut hasher: FoldHasher<'_> = STATE.build_hasher();
        let mut rest = 0;
        for Word { range, sort } in words {
            hasher.write(&text.as_bytes()[rest..range.start]);
            rest = range.end;
            match (sort, self.name(&text[range.clone()])) {
                (Sort::Moment, _) => hasher.write_u64(TIME),
                (Sort::Identifier, None) => hasher.write_u64(IDENTIFIER),
                (Sort::Identifier, Some(name)) => hasher.write(name.as_bytes()),
            }
        }
        hasher.write(&text.as_bytes()[rest..]);
        hasher.finish()
    }

    /// The name of an identifier in the old recording, if it has one in both.
    fn name<'n>(&'n self, identifier: &'n str) -> Option<Cow<'n, str>> {
        match self {
            Self::Old(renaming) => renaming.new_of(identifier).map(|_| identifier.into()),
            Self::New(renaming) => renaming.old(identifier),
            Self::Masked => None,
        }
    }
}

/// The hash of a value that looks the same through any lens.
pub(super) fn fixed(text: &str, words: &[Word], field: Field) -> Option<u64> {
    if is_time(text, field) || is_span(text, field) {
        return Some(combine([TIME]));
    }
    words.is_empty().then(|| Lens::Masked.words(text, words))
}

/// Whether a whole value is a time because of the name of its field.
fn is_time(spelled: &str, field: Field) -> bool {
    let said = spelled.trim_matches('"');
    field.is_time && (is_moment(said) || is_epoch(said))
}

/// Whether a whole value is how long something took.
pub(crate) fn is_span(spelled: &str, field: Field) -> bool {
    field.is_span && spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// The hash of hashes in order.
pub(super) fn combine(parts: impl IntoIterator<Item = u64>) -> u64 {
    let mut hasher: FoldHasher<'_> = STATE.build_hasher();
    parts.into_iter().for_each(|part| hasher.write_u64(part));
    hasher.finish()
}

/// The hash of bytes as they are.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    STATE.hash_one(bytes)
}
