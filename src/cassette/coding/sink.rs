//! Where decoders write to.

use std::io::{self, Write};

use super::LIMIT;

/// Takes decoded bytes up to the limit.
#[derive(Debug, Default)]
pub(super) struct Sink {
    bytes: Vec<u8>,
    taken: usize,
}

impl Sink {
    /// What came since the last time.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.taken += bytes.len();
        if self.taken > LIMIT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
