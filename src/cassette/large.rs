//! Bodies that are too large to be held.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;

use super::{Headers, Media, coding};

/// A body of more bytes is not held in memory. Tests need not move that much.
pub(crate) const LARGE: u64 = if cfg!(test) { 64 << 10 } else { 16 << 20 };

/// How many hexadecimal digits of its hash the name of a body has.
pub(super) const DIGITS: usize = 32;

/// What a stand-in begins with. It is no text, so nothing is read in it.
const MARK: &[u8] = b"\xff\0";

/// Where the bytes of a body are that is not held in memory. Two are equal if they are as long, wherever
/// they are: their names are hashes.
///
/// # Rationale
///
/// In the interaction stand a few bytes in its place, its *stand-in*, which says its name and its length.
/// So all that compares, shows or redacts bodies knows bytes and nothing else, and two stand-ins are equal
/// if the bodies are.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Large {
    /// How many bytes.
    pub length: u64,
    /// The file that they are in.
    pub file: PathBuf,
    /// Where in it, piece by piece.
    pub pieces: Vec<Range<u64>>,
}

impl PartialEq for Large {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length
    }
}

impl Eq for Large {}

/// Bodies that are not held in memory, by their names.
pub type Larges = BTreeMap<String, Large>;

/// Whether a body behind these header fields may be compared and kept without being read: nothing in it is
/// decoded, it has no parts, and no pieces that mean something of their own.
pub(crate) fn may_be_passed(headers: &Headers) -> bool {
    let media = Media::of_headers(headers);
    coding::listed(headers).is_empty()
        && !media.is_stream()
        && !matches!(media, Media::Form | Media::Multipart)
}

/// A body that comes in pieces, as long as it is held.
///
/// # Rationale
///
/// What is read from a connection is a small piece of a large buffer. Keeping it would keep the buffer,
/// so it is copied. It is copied into blocks: one place that grows is there twice while it is moved.
#[derive(Debug)]
pub(crate) enum Gathered {
    /// More may come.
    Growing {
        /// What is full.
        blocks: Vec<Bytes>,
        /// What is behind them.
        last: Vec<u8>,
    },
    /// In one piece.
    Settled(Bytes),
}

const BLOCK: usize = 256 << 10;

impl Default for Gathered {
    fn default() -> Self {
        Self::Growing { blocks: Vec::new(), last: Vec::new() }
    }
}

impl Gathered {
    /// Makes room for so many bytes, which were announced: they need not be moved then.
    pub(crate) fn expect(&mut self, length: usize) {
        if let Self::Growing { last, .. } = self {
            last.reserve_exact(length);
        }
    }

    /// Takes the next piece, unless it is settled.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        let Self::Growing { blocks, last } = self else { return };
        while let room = last.capacity().max(BLOCK)
            && last.len() + bytes.len() > room
        {
            let (fits, rest) = bytes.split_at(room - last.len());
            last.extend_from_slice(fits);
            blocks.push(std::mem::take(last).into());
            bytes = rest;
        }
        last.extend_from_slice(bytes);
    }

    /// How many bytes have come.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Growing { blocks, last } => {
                blocks.iter().map(Bytes::len).sum::<usize>() + last.len()
            }
            Self::Settled(bytes) => bytes.len(),
        }
    }

    /// All of it, without a copy once it is settled.
    pub(crate) fn joined(&self) -> Bytes {
        match self {
            Self::Growing { blocks, last } => {
                let mut joined = Vec::with_capacity(self.len());
                blocks.iter().for_each(|block| joined.extend_from_slice(block));
                joined.extend_from_slice(last);
                joined.into()
            }
            Self::Settled(bytes) => bytes.clone(),
        }
    }

    /// Nothing more comes.
    pub(crate) fn settle(&mut self) {
        *self = Self::Settled(match self {
            Self::Growing { blocks, last } if blocks.is_empty() => std::mem::take(last).into(),
            ref grown => grown.joined(),
        });
    }

    /// What has come, piece by piece; each is gone when the next one is taken.
    pub(crate) fn into_pieces(self) -> impl Iterator<Item = Bytes> {
        let (blocks, last) = match self {
            Self::Growing { blocks, last } => (blocks, last.into()),
            Self::Settled(bytes) => (Vec::new(), bytes),
        };
        blocks.into_iter().chain(std::iter::once(last))
    }
}

/// What makes the name of a body that comes in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Naming {
    hasher: blake3::Hasher,
    /// How many bytes have come.
    pub(crate) length: u64,
    begins: Vec<u8>,
}

impl Naming {
    /// Takes the next piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let missing = bytes.len().min(4 - self.begins.len());
        self.begins.extend_from_slice(&bytes[..missing]);
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// The name of what has come.
    pub(crate) fn name(&self) -> String {
        self.hasher.finalize().to_hex()[..DIGITS].to_owned()
    }

    /// What stands in its place.
    pub(crate) fn stand_in(&self) -> Bytes {
        let hides = OPAQUE.iter().any(|begins| self.begins.starts_with(begins));
        let kind = if hides { UNREAD } else { READ };
        let said = format!("{kind}{} bytes, {}", self.length, self.name());
        [MARK, said.as_bytes()].concat().into()
    }
}

/// What a body begins with in which no secret is found: gzip, Zstandard and UTF-16.
const OPAQUE: [&[u8]; 4] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd], &[0xff, 0xfe], &[0xfe, 0xff]];
const UNREAD: &str = "an unread body of ";
const READ: &str = "a body of ";

/// The name and the length of the body in whose place these bytes may stand.
fn named(bytes: &[u8]) -> Option<(&str, u64)> {
    let said = str::from_utf8(bytes.strip_prefix(MARK)?).ok()?;
    let said = said.strip_prefix(READ).or_else(|| said.strip_prefix(UNREAD))?;
    let (length, name) = said.split_once(" bytes, ")?;
    let is_name = name.len() == DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit());
    Some((name, length.parse().ok().filter(|_| is_name)?))
}

/// Whether these bytes may stand in the place of a body. There is no secret in them.
pub(crate) fn is_stand_in(bytes: &[u8]) -> bool {
    named(bytes).is_some()
}

/// Whether nobody can say what is in the body in whose place these bytes stand.
pub(crate) fn is_unread(bytes: &[u8]) -> bool {
    is_stand_in(bytes) && bytes[MARK.len()..].starts_with(UNREAD.as_bytes())
}

/// The body in whose place these bytes stand, with its name.
pub(crate) fn of<'a>(larges: &'a Larges, bytes: &[u8]) -> Option<(&'a str, &'a Large)> {
    if larges.is_empty() {
        return None;
    }
    let (name, length) = named(bytes)?;
    let (name, large) = larges.get_key_value(name)?;
    (large.length == length).then_some((name, large))
}

/// The length of a body, or of that in whose place it stands.
pub(crate) fn length(body: &[u8]) -> u64 {
    named(body).map_or(body.len() as u64, |(_, length)| length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_pieces_is_the_same_when_it_is_joined() {
        for (length, piece) in
            [(0, 1), (7, 3), (BLOCK, BLOCK), (2 * BLOCK + 5, 1000), (BLOCK + 1, 3 * BLOCK)]
        {
            let all: Vec<u8> = (0..length).map(|at| at as u8).collect();
            for announced in [0, length / 2, length, length + 1] {
                let mut gathered = Gathered::default();
                gathered.expect(announced);
                all.chunks(piece).for_each(|piece| gathered.push(piece));

                assert_eq!(gathered.len(), length);
                assert_eq!(gathered.joined(), all);
                gathered.settle();
                assert_eq!((gathered.len(), gathered.joined()), (length, all.clone().into()));
                let pieces: Vec<Bytes> = gathered.into_pieces().collect();
                assert_eq!(pieces.concat(), all);
            }
        }
    }
}
