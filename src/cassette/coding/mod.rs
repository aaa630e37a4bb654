//! Content codings: what a compressed body reads as.
//!
//! [`decode_whole`] is for a body that is there, [`Live`] for one that is still coming in. Both stop
//! at [`LIMIT`] bytes, and far earlier if a body is denser than any text, so that a small one cannot fill
//! the memory. Several codings on top of each
//! other are not undone. Without the feature `compression` none is known, and nothing is decoded.

#[cfg(feature = "compression")]
mod encode;
#[cfg(not(feature = "compression"))]
#[path = "no_encode.rs"]
mod encode;
#[cfg(feature = "compression")]
mod live;
#[cfg(not(feature = "compression"))]
#[path = "no_live.rs"]
mod live;
#[cfg(feature = "compression")]
mod zstd;

pub(crate) use encode::{Encoder, Passed};
pub use live::Live;
pub(super) use live::reads_as;

use super::Headers;

/// The most bytes that a body is decoded to: 32 MiB.
pub const LIMIT: usize = 32 << 20;

/// How many bytes may come of each, beyond the first mebibyte. What is denser is no text.
const RATIO: usize = 128;
const FREE: usize = 1 << 20;

/// The most bytes that so many may be decoded to.
const fn allowed(came: usize) -> usize {
    let dense = FREE.saturating_add(came.saturating_mul(RATIO));
    if dense < LIMIT { dense } else { LIMIT }
}

/// All codings of a body, in the order in which they were applied: `gzip, br`.
pub(crate) fn listed(headers: &Headers) -> String {
    let fields = headers.get_all("content-encoding").filter_map(|it| str::from_utf8(it).ok());
    let codings = fields.flat_map(|field| field.split(',')).map(str::trim);
    let codings =
        codings.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    codings.collect::<Vec<_>>().join(", ")
}

/// What a body reads as to which several codings were applied; nothing if one of them is not known, or
/// the body is damaged, cut short, or too large.
pub(crate) fn decode_listed(codings: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    codings.rsplit(',').try_fold(bytes.to_vec(), |bytes, coding| decode_whole(coding, &bytes))
}

/// A way to compress a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coding {
    /// `gzip`, also called `x-gzip`.
    Gzip,
    /// `deflate`: with the zlib wrapping that the standard asks for, or bare as some servers send it.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// The coding that a `content-encoding` names, if it is a single one that is known.
    pub fn of(content_encoding: &str) -> Option<Self> {
        match content_encoding.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "br" => Some(Self::Brotli),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// What a compressed body reads as; nothing if the coding is not known, or the body is damaged, cut
/// short, or over [`LIMIT`].
///
/// # Example: a body that is not what it says it is
///
/// ```
/// use retape::cassette::coding::decode_whole;
///
/// assert_eq!(decode_whole("gzip", b"not gzip"), None);
/// ```
pub fn decode_whole(content_encoding: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Live::new(content_encoding)?.whole(bytes)
}

/// Whether a body is of that coding and all of it is there, also if it is denser than any text.
#[cfg(feature = "import")]
pub(crate) fn is_whole(content_encoding: &str, bytes: &[u8]) -> bool {
    /// Of so many bytes come a thousand times as many at most.
    const PIECE: usize = 1 << 10;
    let is_dense = |mut live: Live| {
        bytes.chunks(PIECE).for_each(|piece| drop(live.push(piece)));
        live.finish().is_some()
    };
    decode_whole(content_encoding, bytes).is_some()
        || Live::endless(content_encoding).is_some_and(is_dense)
}

/// Decodes a body as far as it goes: all of it, or what can be read of one that was cut short.
/// Nothing if the coding is not known.
pub fn decode_readable(content_encoding: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Live::new(content_encoding).map(|live| live.readable(bytes))
}
