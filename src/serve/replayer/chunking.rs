//! In which pieces a stream is sent.

use std::cell::LazyCell;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::str::FromStr;

use bytes::Bytes;

use crate::error::Error;
use crate::text::sse;

/// In which pieces a recorded stream comes. Its bytes are the same in all of them, but for
/// [`Chunking::Crlf`].
///
/// A network cuts streams anywhere, so a client must read the same from any pieces. Each piece is sent on
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Chunking {
    /// As they were recorded.
    #[default]
    Recorded,
    /// One for each event, or each line where no event ends with an empty one.
    Event,
    /// All in one.
    Coalesced,
    /// So many bytes each.
    Bytes(NonZeroUsize),
    /// Cut within each character of several bytes, and as recorded elsewhere.
    SplitUtf8,
    /// Lines that end in CR and LF in an event stream, cut between the two.
    Crlf,
    /// Of one to forty bytes, by this seed.
    Random(u64),
}

impl Chunking {
    /// The recorded pieces in other pieces, each with the number of the recorded one that it begins in;
    /// `None` if they stay.
    pub(super) fn cut(
        self,
        recorded: &[Bytes],
        is_event_stream: bool,
    ) -> Option<Vec<(usize, Bytes)>> {
        let ends: Vec<usize> = added(recorded.iter().map(Bytes::len)).collect();
        let body = LazyCell::new(|| recorded.concat());
        let cuts: Vec<usize> = match self {
            Self::Recorded => return None,
            Self::Crlf => return is_event_stream.then(|| with_crlf(recorded)),
            Self::Coalesced => Vec::new(),
            Self::Bytes(size) => (size.get()..body.len()).step_by(size.get()).collect(),
            Self::Event => event_ends(&body),
            Self::SplitUtf8 => {
                let within = (1..body.len()).filter(|at| body[*at] & 0xC0 == 0x80);
                let first = within.filter(|at| body[at - 1] & 0xC0 != 0x80);
                let mut cuts: Vec<usize> = first.chain(ends.iter().copied()).collect();
                cuts.sort_unstable();
                cuts
            }
            Self::Random(seed) => {
                let mut state = seed;
                let sizes = std::iter::repeat_with(|| 1 + (random(&mut state) % 40) as usize);
                added(sizes).take_while(|at| *at < body.len()).collect()
            }
        };
        // What a piece ends with must have come.
        let number = |to| ends.partition_point(|end| *end < to).min(ends.len().saturating_sub(1));
        let pieces = between(cuts, body.len());
        Some(pieces.map(|it| (number(it.end), Bytes::copy_from_slice(&body[it]))).collect())
    }
}

/// Where pieces of these sizes end, one behind the other.
fn added(sizes: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    sizes.scan(0, |at, size| {
        *at += size;
        Some(*at)
    })
}

/// The pieces of a body that is cut there; none of them is empty.
pub(super) fn between(
    cuts: impl IntoIterator<Item = usize>,
    length: usize,
) -> impl Iterator<Item = Range<usize>> {
    let ends = cuts.into_iter().filter(move |to| *to <= length).chain([length]);
    let pieces = ends.scan(0, |at, to| {
        let from = *at;
        *at = from.max(to);
        Some(from..to)
    });
    pieces.filter(|piece| piece.start < piece.end)
}

/// Where events end: behind an empty line; behind each line, if there is no empty one.
pub(super) fn event_ends(body: &[u8]) -> Vec<usize> {
    let ends = sse::event_ends(body);
    if ends.is_empty() { sse::event_lines(body).map(|line| line.end).collect() } else { ends }
}

fn with_crlf(recorded: &[Bytes]) -> Vec<(usize, Bytes)> {
    let mut pieces: Vec<(usize, Bytes)> = Vec::new();
    let mut last = 0;
    for (number, chunk) in recorded.iter().enumerate() {
        let mut piece: Vec<u8> = Vec::new();
        for byte in chunk {
            if *byte == b'\n' && last != b'\r' {
                piece.push(b'\r');
                pieces.push((number, std::mem::take(&mut piece).into()));
            }
            piece.push(*byte);
            last = *byte;
        }
        if !piece.is_empty() {
            pieces.push((number, piece.into()));
        }
    }
    pieces
}

/// The next number of a sequence that looks random (SplitMix64).
pub(super) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl FromStr for Chunking {
    type Err = Error;

    /// Reads `recorded`, `event`, `coalesced`, a number of bytes, `split-utf8`, `crlf` or `random:SEED`.
    fn from_str(word: &str) -> Result<Self, Error> {
        let known = match word {
            "recorded" => Some(Self::Recorded),
            "event" => Some(Self::Event),
            "coalesced" => Some(Self::Coalesced),
            "split-utf8" => Some(Self::SplitUtf8),
            "crlf" => Some(Self::Crlf),
            _ => match word.strip_prefix("random:") {
                Some(seed) => seed.parse().ok().map(Self::Random),
                None => word.parse().ok().map(Self::Bytes),
            },
        };
        known.ok_or_else(|| {
            let expected =
                "recorded, event, coalesced, a number of bytes, split-utf8, crlf, or random:SEED";
            Error::setting("chunks", word, expected)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: [&str; 2] = ["data: é\n\nda", "ta: [DONE]\n\n"];

    fn cut(how: &str) -> Vec<String> {
        let recorded = STREAM.map(|piece| Bytes::from_static(piece.as_bytes()));
        let how: Chunking = how.parse().expect("it is one");
        let pieces = how.cut(&recorded, true).expect("they are others");
        pieces.iter().map(|(_, piece)| piece.escape_ascii().to_string()).collect()
    }

    #[test]
    fn a_stream_is_cut_as_one_says() {
        assert_eq!(cut("coalesced"), [r"data: \xc3\xa9\n\ndata: [DONE]\n\n"]);
        assert_eq!(cut("event"), [r"data: \xc3\xa9\n\n", r"data: [DONE]\n\n"]);
        assert_eq!(cut("split-utf8"), [r"data: \xc3", r"\xa9\n\nda", r"ta: [DONE]\n\n"]);
        assert_eq!(cut("9"), [r"data: \xc3\xa9\n", r"\ndata: [D", r"ONE]\n\n"]);
        assert_eq!(
            cut("crlf"),
            [r"data: \xc3\xa9\r", r"\n\r", r"\nda", r"ta: [DONE]\r", r"\n\r", r"\n"]
        );
    }

    #[test]
    fn random_pieces_are_the_same_for_a_seed_and_leave_nothing_out() {
        assert_eq!(cut("random:7"), cut("random:7"));
        assert_ne!(cut("random:7"), cut("random:8"));
        assert_eq!(cut("random:7").concat(), cut("coalesced").concat());
    }

    #[test]
    fn what_is_no_way_to_cut_is_refused() {
        for word in ["", "0", "random", "random:x", "lines"] {
            assert!(word.parse::<Chunking>().is_err(), "{word}");
        }
        assert!(Chunking::Recorded.cut(&[], true).is_none());
    }
}
