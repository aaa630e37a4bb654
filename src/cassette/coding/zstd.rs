//! `zstd`.

use std::io;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::allowed;

/// How many bytes may be decoded again and again so that a stream can be read while it comes.
const PATIENCE: usize = 16 << 20;

/// An empty block that says it is the last one, and room for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decodes the blocks that have come.
///
/// # Rationale
///
/// The decoder keeps back what later blocks may refer to, which is all of an ordinary stream. So each
/// time a frame's blocks are decoded anew and ended with a last block of our own. The work spent on
/// that is limited; a stream that is longer shows the rest when its frame ends.
#[derive(Debug, Default)]
pub(super) struct Zstd {
    /// The frame that is not complete.
    frame: Vec<u8>,
    /// How much of it has been shown.
    shown: usize,
    /// How much came out of all frames.
    total: usize,
    spent: usize,
    /// How many bytes came.
    came: usize,
    begun: bool,
}

impl Zstd {
    /// Whether all of it came.
    pub(super) fn is_whole(&self) -> bool {
        self.begun && self.frame.is_empty()
    }

    /// Takes in more of the body and gives what can be read now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.frame.extend_from_slice(bytes);
        self.came += bytes.len();
        self.begun |= !bytes.is_empty();
        self.decode(PATIENCE)
    }

    /// What else can be read when nothing more comes.
    pub(super) fn finish(&mut self) -> io::Result<Vec<u8>> {
        self.decode(usize::MAX)
    }

    fn decode(&mut self, patience: usize) -> io::Result<Vec<u8>> {
        let (mut readable, mut done) = (Vec::new(), 0);
        while self.spent <= patience && done < self.frame.len() {
            let left = allowed(self.came) - self.total;
            let Some(frame) = Frame::decode(&self.frame[done..], left)? else { break };
            self.spent += frame.readable.len();
            readable.extend_from_slice(&frame.readable[self.shown..]);
            self.shown = frame.readable.len();
            let Some(length) = frame.length else { break };
            done += length;
            self.total += std::mem::take(&mut self.shown);
        }
        self.frame.drain(..done);
        Ok(readable)
    }
}

/// What could be decoded of a frame.
struct Frame {
    readable: Vec<u8>,
    /// Its length in bytes, if all of it came.
    length: Option<usize>,
}

impl Frame {
    /// Nothing if not even the head came.
    fn decode(bytes: &[u8], limit: usize) -> io::Result<Option<Self>> {
        let mut decoder = FrameDecoder::new();
        let mut rest = bytes;
        match decoder.reset(&mut rest) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(error)) => {
                return skipped(&error, bytes.len());
            }
            Err(error) => return Err(damaged(error)),
        }
        let mut frame = Self { readable: Vec::new(), length: None };
        if frame.take_blocks(&mut decoder, &mut rest, limit)? {
            frame.length = Some(bytes.len() - rest.len());
            return if has_right_sum(&decoder) { Ok(Some(frame)) } else { Err(invalid()) };
        }
        let last = decoder.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All);
        last.map_err(damaged)?;
        frame.collect(&mut decoder, limit)?;
        Ok(Some(frame))
    }

    /// Decodes the blocks that are there, and tells whether the last one was.
    fn take_blocks(
        &mut self,
        decoder: &mut FrameDecoder,
        rest: &mut &[u8],
        limit: usize,
    ) -> io::Result<bool> {
        while has_block(rest) {
            match decoder.decode_blocks(&mut *rest, BlockDecodingStrategy::UptoBlocks(1)) {
                Ok(last) => {
                    self.collect(decoder, limit)?;
                    if last {
                        return Ok(true);
                    }
                }
                Err(FrameDecoderError::FailedToReadChecksum(_)) => break,
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn collect(&mut self, decoder: &mut FrameDecoder, limit: usize) -> io::Result<()> {
        self.readable.extend(decoder.collect().unwrap_or_default());
        if self.readable.len() > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }
}

fn has_right_sum(decoder: &FrameDecoder) -> bool {
    let told = decoder.get_checksum_from_data();
    told.is_none() || told == decoder.get_calculated_checksum()
}

/// Whether a block is there from its head to its end.
fn has_block(bytes: &[u8]) -> bool {
    let [first, second, third, content @ ..] = bytes else { return false };
    let head = u32::from_le_bytes([*first, *second, *third, 0]);
    let repeats_one_byte = head >> 1 & 3 == 1;
    let length = if repeats_one_byte { 1 } else { head >> 3 };
    content.len() >= length as usize
}

/// A frame whose head could not be read: one to be skipped, one whose head is not all there, or none.
fn skipped(error: &ReadFrameHeaderError, there: usize) -> io::Result<Option<Frame>> {
    match error {
        ReadFrameHeaderError::SkipFrame { length, .. } => {
            let length = *length as usize + 8;
            let frame = Frame { readable: Vec::new(), length: Some(length) };
            Ok((length <= there).then_some(frame))
        }
        ReadFrameHeaderError::MagicNumberReadError(_)
        | ReadFrameHeaderError::FrameDescriptorReadError(_)
        | ReadFrameHeaderError::WindowDescriptorReadError(_)
        | ReadFrameHeaderError::DictionaryIdReadError(_)
        | ReadFrameHeaderError::FrameContentSizeReadError(_) => Ok(None),
        _ => Err(invalid()),
    }
}

fn invalid() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

fn damaged(error: FrameDecoderError) -> io::Error {
    io::Error::new(invalid().kind(), error)
}
