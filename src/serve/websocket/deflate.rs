//! Messages that are compressed.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::reader::LIMIT;

/// Decompresses the messages of one side.
///
/// # Rationale
///
/// A decoder takes 43 KB, which many connections do not have. So there is one only while a message arrives. It is
/// told first, as a block that is not compressed, what the message may refer to.
#[derive(Debug)]
pub struct Inflate {
    state: Option<Box<Decompress>>,
    /// The end of what was said before, if a message may refer to it.
    earlier: Option<Vec<u8>>,
}

/// Compresses the messages that we send, each by itself: what is kept from one to the next takes a
/// quarter of a megabyte for each connection.
#[derive(Debug, Clone, Copy)]
pub struct Deflate {
    /// So many bytes back it may refer.
    window: usize,
}

/// The window of an encoder of ours.
const LARGEST: usize = 1 << 15;

/// What ends a flushed block, and is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

impl Inflate {
    pub(super) fn new(takes_over: bool) -> Option<Self> {
        Some(Self { state: None, earlier: takes_over.then(Vec::new) })
    }

    /// Appends what a piece of a message says.
    ///
    /// # Errors
    ///
    /// If it is not compressed, or the message has more than [`LIMIT`] bytes now.
    pub(super) fn push(&mut self, mut piece: &[u8], to: &mut Vec<u8>) -> Result<(), ()> {
        let state = match &mut self.state {
            Some(state) => state,
            none => none.insert(begun(self.earlier.as_deref().unwrap_or_default())?),
        };
        while !piece.is_empty() {
            to.reserve(piece.len().saturating_mul(2).max(64));
            let (before, length) = (state.total_in(), to.len());
            let status = state.decompress_vec(piece, to, FlushDecompress::Sync).map_err(drop)?;
            if to.len() > LIMIT {
                return Err(());
            }
            let taken = (state.total_in() - before) as usize;
            piece = &piece[taken..];
            match status {
                // A block may say that it is the last one; the message goes on all the same.
                Status::StreamEnd => state.reset(false),
                // It may say what it has kept before it reads on.
                _ if taken == 0 && to.len() == length => return Err(()),
                _ => {}
            }
        }
        // What is left in the decoder where the room was too small for it.
        while to.len() == to.capacity() {
            to.reserve(4096);
            let length = to.len();
            state.decompress_vec(&[], to, FlushDecompress::Sync).or_else(ended)?;
            if to.len() == length {
                break;
            }
        }
        Ok(())
    }

    /// The message is over.
    ///
    /// # Errors
    ///
    /// If it was not compressed.
    pub(super) fn finish(&mut self, to: &mut Vec<u8>) -> Result<(), ()> {
        self.push(&TAIL, to)?;
        self.state = None;
        if let Some(earlier) = &mut self.earlier {
            let said = &to[to.len().saturating_sub(LARGEST)..];
            let forgotten = (earlier.len() + said.len()).saturating_sub(LARGEST);
            earlier.drain(..forgotten);
            earlier.reserve_exact(said.len());
            earlier.extend_from_slice(said);
        }
        Ok(())
    }
}

/// A decoder behind what was said earlier.
fn begun(earlier: &[u8]) -> Result<Box<Decompress>, ()> {
    let mut state = Box::new(Decompress::new(false));
    let length = u16::try_from(earlier.len()).map_err(drop)?;
    if length > 0 {
        let head = [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
        let mut said = Vec::with_capacity(earlier.len() + 1);
        for part in [&head[..], earlier] {
            state.decompress_vec(part, &mut said, FlushDecompress::Sync).map_err(drop)?;
        }
    }
    Ok(state)
}

/// A decoder that has nothing to read says so by an error.
fn ended(_: flate2::DecompressError) -> Result<Status, ()> {
    Ok(Status::BufError)
}

impl Deflate {
    pub(super) fn new(window: usize) -> Option<Self> {
        Some(Self { window })
    }

    /// A message that is not empty, compressed. Where the window is not the largest, it is compressed in
    /// parts of its size, of which none refers to another one.
    pub(super) fn message(&mut self, bytes: &[u8]) -> Vec<u8> {
        let whole = if self.window == LARGEST { bytes.len() } else { self.window };
        let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
        for part in bytes.chunks(whole) {
            let mut state = Compress::new(Compression::fast(), false);
            let mut rest = part;
            loop {
                let before = state.total_in();
                let flushed = state.compress_vec(rest, &mut out, FlushCompress::Sync);
                rest = &rest[(state.total_in() - before) as usize..];
                if flushed.is_err() || (rest.is_empty() && out.len() < out.capacity()) {
                    break;
                }
                out.reserve(out.capacity().max(64));
            }
        }
        if out.ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back_in_any_pieces() {
        for length in [1, 5, 100, 4096, 300_000] {
            let text: Vec<u8> = (0..length).map(|at: usize| (at * at / 7) as u8).collect();
            let compressed = Deflate::new(LARGEST).unwrap().message(&text);
            for piece in [1, 7, 1000, compressed.len()] {
                let mut inflate = Inflate::new(true).unwrap();
                for _ in 0..2 {
                    let mut plain = Vec::new();
                    compressed
                        .chunks(piece)
                        .for_each(|piece| inflate.push(piece, &mut plain).unwrap());
                    inflate.finish(&mut plain).unwrap();
                    assert!(plain == text, "{length} in pieces of {piece}");
                }
            }
        }
    }

    #[test]
    fn a_message_may_refer_to_those_before_it() {
        let texts = (0..9_u32).map(|turn| {
            let numbers = (0..900 << turn).map(|at: u32| (at.wrapping_mul(at) / 7 % 251) as u8);
            numbers.collect::<Vec<u8>>()
        });
        let mut state = Compress::new(Compression::fast(), false);
        let mut inflate = Inflate::new(true).unwrap();
        for text in texts.collect::<Vec<_>>().into_iter().flat_map(|text| [text.clone(), text]) {
            let mut compressed = Vec::with_capacity(text.len() + 1000);
            state.compress_vec(&text, &mut compressed, FlushCompress::Sync).unwrap();
            compressed.truncate(compressed.len() - TAIL.len());

            let mut plain = Vec::new();
            inflate.push(&compressed, &mut plain).unwrap();
            inflate.finish(&mut plain).unwrap();
            assert!(plain == text, "{} bytes", text.len());
        }
    }

    #[test]
    fn nothing_refers_farther_back_than_the_window() {
        let text: Vec<u8> = (0..=255).chain([b'a'; 300]).cycle().take(9_000).collect();
        for bits in 8..15 {
            let window = 1 << bits;
            let compressed = Deflate::new(window).unwrap().message(&text);

            // A decoder that begins anew with each part has no more to refer to.
            let (mut plain, mut state) = (Vec::new(), Inflate::new(true).unwrap());
            let mut rest = &compressed[..];
            while !rest.is_empty() {
                state.push(&rest[..1], &mut plain).unwrap();
                rest = &rest[1..];
                if plain.len() % window == 0 && rest.starts_with(&TAIL) {
                    state.push(&TAIL, &mut plain).unwrap();
                    state.state = None;
                    rest = &rest[4..];
                }
            }
            state.finish(&mut plain).unwrap();
            assert!(plain == text, "{bits}");
        }
    }

    #[test]
    fn a_small_message_does_not_fill_the_memory() {
        let compressed = Deflate::new(LARGEST).unwrap().message(&vec![0; LIMIT + 1]);
        let (mut plain, mut inflate) = (Vec::new(), Inflate::new(true).unwrap());

        assert!(compressed.len() < LIMIT / 200);
        assert!(inflate.push(&compressed, &mut plain).is_err());
        assert!(plain.len() < 2 * LIMIT);
    }

    #[test]
    fn what_is_not_compressed_is_an_error() {
        let mut inflate = Inflate::new(true).unwrap();

        assert!(inflate.push(b"\xff\xff\xff\xff", &mut Vec::new()).is_err());
    }
}
