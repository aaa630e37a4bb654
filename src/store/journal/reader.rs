//! Reading a journal while it is written.

use std::io;
use std::ops::Range;

use bytes::Bytes;

use super::{Journal, recover};
use crate::cassette::Interaction;
use crate::error::{Error, Result};

/// Reads interactions of a journal, one near the other.
///
/// # Rationale
///
/// The entries of one stand among those of others that were under way. To read each by itself takes as long as
/// to understand it.
#[derive(Debug)]
pub struct Reader<'j> {
    journal: &'j Journal,
    /// What was read, and where it begins.
    window: Vec<u8>,
    start: u64,
    /// The entries of one interaction.
    text: Vec<u8>,
}

/// So much is read at once, if one interaction is not read alone.
const WINDOW: u64 = 256 << 10;

impl<'j> Reader<'j> {
    pub(super) const fn of(journal: &'j Journal) -> Self {
        Self { journal, window: Vec::new(), start: 0, text: Vec::new() }
    }

    /// What it reads.
    pub const fn journal(&self) -> &'j Journal {
        self.journal
    }

    /// The interaction whose entries stand there, as far as they say it; nothing if they say no request.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn interaction(&mut self, entries: &[Range<u64>]) -> Result<Option<Interaction>> {
        self.text.clear();
        let read = self.read(entries);
        read.map_err(|source| Error::io("read file", self.journal.path(), source))?;
        let interaction = recover::interaction(&self.text);
        self.text.shrink_to(WINDOW as usize);
        Ok(interaction)
    }

    /// The bytes that stand there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn bytes(&mut self, pieces: &[Range<u64>]) -> Result<Bytes> {
        let length: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
        self.text = Vec::with_capacity(length as usize);
        let read = self.read(pieces);
        read.map_err(|source| Error::io("read file", self.journal.path(), source))?;
        Ok(std::mem::take(&mut self.text).into())
    }

    fn read(&mut self, entries: &[Range<u64>]) -> io::Result<()> {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Ok(()) };
        let all = first.start..last.end;
        if all.end - all.start <= WINDOW && !self.holds(&all) {
            self.open(&all)?;
        }
        for entry in entries {
            if self.holds(entry) {
                let [start, end] = [entry.start, entry.end].map(|at| (at - self.start) as usize);
                self.text.extend_from_slice(&self.window[start..end]);
            } else {
                self.journal.writer().read(entry, &mut self.text)?;
            }
        }
        Ok(())
    }

    fn holds(&self, entry: &Range<u64>) -> bool {
        let end = self.start + self.window.len() as u64;
        self.start <= entry.start && entry.end <= end
    }

    /// Reads on from there: what comes behind the first interaction too, if others were read before.
    fn open(&mut self, all: &Range<u64>) -> io::Result<()> {
        let mut writer = self.journal.writer();
        let end = if self.window.is_empty() {
            all.end
        } else {
            all.end.max((all.start + WINDOW).min(writer.length))
        };
        self.start = all.start;
        self.window.clear();
        writer.read(&(all.start..end), &mut self.window)
    }
}
