//! Bodies that are not held in memory while they are recorded.

use std::ops::Range;

use bytes::Bytes;

use crate::cassette::large::{LARGE, Naming, may_be_passed};
use crate::cassette::{Headers, Large, Larges, Peer};
use crate::redact::{Live, Redactor, Secrets};
use crate::store::Journal;

/// A body that is not held in memory: it stands in the journal alone, without secrets, and the cassette
/// is made from there.
#[derive(Debug)]
pub(super) struct Passing {
    /// Nothing when it has ended.
    live: Option<Live>,
    naming: Naming,
    pieces: Vec<Range<u64>>,
    place: (usize, Peer),
}

/// Whether a body with these header fields is not to be held, of which so many bytes have come, the last
/// ones in a piece of that length.
pub(super) fn is_due(headers: &Headers, came: usize, piece: usize) -> bool {
    let announced = || headers.get("content-length")?.trim().parse().ok();
    let is_large = came as u64 > LARGE || (came == piece && announced() > Some(LARGE));
    is_large && may_be_passed(headers)
}

/// So much of what has come is looked at at a time.
const PART: usize = 64 * 1024;

impl Passing {
    /// Begins the body of one side of an interaction with what has come of it, given the secrets that
    /// came before it.
    pub(super) fn begin(
        redactor: &Redactor,
        secrets: Secrets,
        place: (usize, Peer),
        came: Vec<u8>,
        journal: &Journal,
    ) -> Self {
        // In replay a request is read in the same way, and placeholders have no numbers there.
        let mut live = Live::new(&redactor.unnumbered(), secrets);
        let mut shown = Vec::new();
        came.chunks(PART).for_each(|part| shown.extend(live.push(part)));
        drop(came);
        let (live, naming) = (Some(live), Naming::default());
        let mut passing = Self { live, naming, pieces: Vec::new(), place };
        // In one piece: it counts in the place of all that the journal has.
        passing.note(&shown, journal);
        passing
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8], journal: &Journal) {
        let shown = self.live.as_mut().map(|live| live.push(bytes));
        self.note(&shown.unwrap_or_default(), journal);
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, journal: &Journal) {
        let rest = self.live.take().map(|live| live.finish().0);
        self.note(&rest.unwrap_or_default(), journal);
    }

    /// What stands in its place, and where it is.
    pub(super) fn kept(&self, journal: &Journal, larges: &mut Larges) -> Bytes {
        let (length, file) = (self.naming.length(), journal.path().to_owned());
        let large = Large { length, file, pieces: self.pieces.clone() };
        larges.insert(self.naming.name(), large);
        self.naming.stand_in()
    }

    fn note(&mut self, shown: &[u8], journal: &Journal) {
        if !shown.is_empty() {
            let (n, from) = self.place;
            self.naming.push(shown);
            self.pieces.push(journal.pass(n, from, shown));
        }
    }
}
