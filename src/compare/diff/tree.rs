//! A JSON text made ready to be compared.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::{FixedState, FoldHasher};

use super::Mask;
use crate::text::json::{Container, Layout, Text, canonical_number};

/// A value and all below it.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) text: Text<'a>,
    pub(super) kind: Kind<'a>,
    /// Equal for equal values.
    pub(super) exact: u64,
    /// Equal for values that are equal behind the mask.
    pub(super) masked: u64,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Object(Vec<Member<'a>>),
    Array(Vec<Tree<'a>>),
    Leaf,
}

#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    /// Equal for names that are equal behind the mask.
    pub(super) masked: u64,
    pub(super) value: Tree<'a>,
}

/// What is nested deeper is compared as it is spelled: such bodies are made to exhaust a stack.
const DEEPEST: usize = 100;

impl<'a> Tree<'a> {
    pub(super) fn of(text: Text<'a>, mask: Mask<'_>) -> Self {
        Self::below(text, mask, 0)
    }

    fn below(text: Text<'a>, mask: Mask<'_>, depth: usize) -> Self {
        match text.container() {
            Some(_) if depth == DEEPEST => Self::opaque(text),
            Some(Container::Object) => Self::object(text, mask, depth),
            Some(Container::Array) => Self::array(text, mask, depth),
            None => Self::leaf(text, mask),
        }
    }

    fn object(text: Text<'a>, mask: Mask<'_>, depth: usize) -> Self {
        let mut sums = [OBJECT; 2];
        let mut members = Vec::new();
        for (name, value) in text.members() {
            let value = Self::below(value, mask, depth + 1);
            let exact = hash_of(&name);
            let behind = mask(&name);
            let masked = if behind == name { exact } else { hash_of(&behind) };
            // Members are summed, so that their order does not count.
            sums[0] = sums[0].wrapping_add(combine(&[exact, value.exact]));
            sums[1] = sums[1].wrapping_add(combine(&[masked, value.masked]));
            members.push(Member { name, masked, value });
        }
        let [exact, masked] = sums.map(|sum| combine(&[sum]));
        Self { text, kind: Kind::Object(members), exact, masked }
    }

    fn array(text: Text<'a>, mask: Mask<'_>, depth: usize) -> Self {
        let elements: Vec<_> =
            text.elements().map(|element| Self::below(element, mask, depth + 1)).collect();
        let (mut exact, mut masked) = (ARRAY, ARRAY);
        for element in &elements {
            exact = combine(&[exact, element.exact]);
            masked = combine(&[masked, element.masked]);
        }
        Self { text, kind: Kind::Array(elements), exact, masked }
    }

    fn leaf(text: Text<'a>, mask: Mask<'_>) -> Self {
        let (exact, masked) = match text.string() {
            Some(said) => {
                let exact = combine(&[STRING, hash_of(&said)]);
                let masked = mask(&said);
                (exact, if masked == said { exact } else { combine(&[STRING, hash_of(&masked)]) })
            }
            None => {
                let spelled = text.as_str().trim();
                let number = spelled.starts_with(|it: char| it == '-' || it.is_ascii_digit());
                let meant = if number { canonical_number(spelled) } else { Cow::Borrowed(spelled) };
                let hash = combine(&[SCALAR, hash_of(&meant)]);
                (hash, hash)
            }
        };
        Self { text, kind: Kind::Leaf, exact, masked }
    }

    fn opaque(text: Text<'a>) -> Self {
        let mut spelled = String::new();
        Layout::Compact.write(text, &mut spelled);
        let hash = hash_of(&spelled);
        Self { text, kind: Kind::Leaf, exact: hash, masked: hash }
    }
}

const OBJECT: u64 = 1;
const ARRAY: u64 = 2;
const STRING: u64 = 3;
const SCALAR: u64 = 4;

const STATE: FixedState = FixedState::with_seed(0xd1ff);

pub(super) fn hash_of(text: &str) -> u64 {
    STATE.hash_one(text)
}

fn combine(parts: &[u64]) -> u64 {
    let mut hasher: FoldHasher<'_> = STATE.build_hasher();
    parts.iter().for_each(|part| hasher.write_u64(*part));
    hasher.finish()
}
