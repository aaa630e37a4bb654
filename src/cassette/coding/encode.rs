//! Encoding once more what was changed after it had been decoded.

use std::io::Write;

use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::Coding;

/// Encodes a body piece by piece: each piece is all there when it is read.
pub enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(ZlibEncoder<Vec<u8>>),
    Rest(Rest),
}

/// What comes behind the first blocks of a gzip body, which somebody else has compressed.
pub struct Rest {
    blocks: Compress,
    /// Of all that the body says.
    sum: Crc,
}

/// The beginning of a gzip body that was passed on as it came.
#[derive(Default)]
pub struct Passed {
    sum: Crc,
    tail: Vec<u8>,
    /// Whether it may have several members, each with a sum of its own.
    is_several: bool,
}

/// How a member begins (RFC 1952, section 2.3.1).
const MEMBER: [u8; 3] = [0x1f, 0x8b, 8];

/// How a block ends behind which another one may stand (RFC 1951, section 3.2.4: an empty block of its own).
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

impl Passed {
    /// None yet of a body with that `content-encoding`; nothing for those that cannot be gone on with.
    pub fn new(content_encoding: &str) -> Option<Self> {
        (Coding::of(content_encoding)? == Coding::Gzip).then(Self::default)
    }

    /// Notes what it says.
    pub fn says(&mut self, plain: &[u8]) {
        self.sum.update(plain);
    }

    /// Notes a piece that was passed on.
    pub fn ends(&mut self, bytes: &[u8]) {
        let own = usize::from(self.tail.is_empty());
        let come = [&self.tail, bytes].concat();
        self.is_several |=
            memchr::memmem::find(come.get(own..).unwrap_or_default(), &MEMBER).is_some();
        self.tail = come[come.len().saturating_sub(FLUSHED.len())..].to_vec();
    }

    /// What encodes the rest of the body, if something else may stand there.
    pub fn rest(self) -> Option<Encoder> {
        if self.tail.is_empty() {
            return Encoder::new("gzip");
        }
        let blocks = Compress::new(Compression::fast(), false);
        (self.tail == FLUSHED && !self.is_several)
            .then_some(Encoder::Rest(Rest { blocks, sum: self.sum }))
    }
}

impl Rest {
    fn push(&mut self, bytes: &[u8], flush: FlushCompress) -> Vec<u8> {
        self.sum.update(bytes);
        let (mut out, mut rest) = (Vec::new(), bytes);
        loop {
            out.reserve(rest.len().max(FLUSHED.len() + 64));
            let before = self.blocks.total_in();
            let written = self.blocks.compress_vec(rest, &mut out, flush);
            debug_assert!(written.is_ok(), "there is room");
            rest = &rest[(self.blocks.total_in() - before) as usize..];
            if rest.is_empty() && out.len() < out.capacity() {
                return out;
            }
        }
    }

    /// The end, and what stands behind it (RFC 1952, section 2.3.1).
    fn finish(mut self) -> Vec<u8> {
        let mut last = self.push(&[], FlushCompress::Finish);
        last.extend_from_slice(&self.sum.sum().to_le_bytes());
        last.extend_from_slice(&self.sum.amount().to_le_bytes());
        last
    }
}

impl Encoder {
    /// An encoder for that `content-encoding`; nothing for those that are only read.
    pub fn new(content_encoding: &str) -> Option<Self> {
        match Coding::of(content_encoding)? {
            Coding::Gzip => Some(Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast()))),
            Coding::Deflate => {
                Some(Self::Deflate(ZlibEncoder::new(Vec::new(), Compression::fast())))
            }
            Coding::Brotli | Coding::Zstd => None,
        }
    }

    /// What a piece becomes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let written = match self {
            Self::Gzip(encoder) => encoder.write_all(bytes).and_then(|()| encoder.flush()),
            Self::Deflate(encoder) => encoder.write_all(bytes).and_then(|()| encoder.flush()),
            Self::Rest(rest) => return rest.push(bytes, FlushCompress::Sync),
        };
        debug_assert!(written.is_ok(), "a vector takes all");
        std::mem::take(match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Deflate(encoder) => encoder.get_mut(),
            Self::Rest(_) => return Vec::new(),
        })
    }

    /// What ends the body.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Deflate(encoder) => encoder.finish(),
            Self::Rest(rest) => Ok(rest.finish()),
        }
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::coding::decode_whole;

    /// A server's pieces, each flushed.
    fn flushed(said: &[&str]) -> Vec<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let mut piece = |said: &&str| {
            gzip.write_all(said.as_bytes()).unwrap();
            gzip.flush().unwrap();
            std::mem::take(gzip.get_mut())
        };
        said.iter().map(&mut piece).collect()
    }

    fn passed(said: &[&str], pieces: &[Vec<u8>]) -> Passed {
        let mut passed = Passed::new("gzip").unwrap();
        said.iter().for_each(|said| passed.says(said.as_bytes()));
        pieces.iter().for_each(|piece| passed.ends(piece));
        passed
    }

    #[test]
    fn a_gzip_body_that_somebody_else_began_is_gone_on_with() {
        let said = ["one ", "two "];
        let pieces = flushed(&said);
        let mut rest = passed(&said, &pieces).rest().unwrap();
        let large = "three ".repeat(100_000);
        let mut body = pieces.concat();
        body.extend(rest.push(large.as_bytes()));
        body.extend(rest.push(b"four"));
        body.extend(rest.finish());
        let expected = format!("one two {large}four");
        assert!(decode_whole("gzip", &body).is_some_and(|plain| plain == expected.as_bytes()));
    }

    #[test]
    fn where_no_other_block_may_stand_a_body_is_not_gone_on_with() {
        let whole = |said: &str| {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(said.as_bytes()).unwrap();
            gzip.finish().unwrap()
        };
        let body = whole("one two ");
        assert!(passed(&["one "], &[body[..14].to_vec()]).rest().is_none(), "not flushed");

        let (first, second) = (whole("one "), flushed(&["two "]));
        let pieces = [first.clone(), second[0].clone()];
        assert!(passed(&["one ", "two "], &pieces).rest().is_none(), "two members");
        let (begun, rest) = second[0].split_at(2);
        let pieces = [[&first, begun].concat(), rest.to_vec()];
        assert!(passed(&["one ", "two "], &pieces).rest().is_none(), "cut within the second");
    }
}
