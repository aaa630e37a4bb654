//! Bodies that are not held in memory while they are recorded.

use std::ops::Range;

use bytes::Bytes;

use crate::cassette::large::{Gathered, LARGE, Naming, may_be_passed};
use crate::cassette::{Headers, Large, Larges, Peer};
use crate::redact::{Live, Redactor, Secrets};
use crate::store::{Entry, Journal};

/// Where in the journal a body is, without secrets, and what its name will be.
#[derive(Debug, Default)]
pub(super) struct Noted {
    naming: Naming,
    pieces: Vec<Range<u64>>,
}

impl Noted {
    /// Begins to note what comes behind these header fields, unless it will be held in memory.
    pub(super) fn begin(headers: &Headers) -> Option<Self> {
        let may_come = announced(headers).is_none_or(|length| length > LARGE);
        (may_come && may_be_passed(headers)).then(Self::default)
    }

    /// A piece of it is in the journal.
    pub(super) fn note(&mut self, pieces: &[Bytes], at: Range<u64>) {
        pieces.iter().for_each(|piece| self.naming.push(piece));
        self.pieces.push(at);
    }
}

/// A body that is not held in memory: it stands in the journal alone, and the cassette is made from there.
#[derive(Debug)]
pub(super) struct Passing {
    /// Nothing when it has ended.
    live: Option<Live>,
    noted: Noted,
    place: (usize, Peer),
}

/// Whether a body with these header fields is not to be held, of which so many bytes have come, the last
/// ones in a piece of that length.
pub(super) fn is_due(headers: &Headers, came: usize, piece: usize) -> bool {
    let is_large = came as u64 > LARGE || (came == piece && announced(headers) > Some(LARGE));
    is_large && may_be_passed(headers)
}

/// The length of the body behind these header fields, if it was announced.
pub(super) fn announced(headers: &Headers) -> Option<u64> {
    headers.get("content-length")?.trim().parse().ok()
}

impl Passing {
    /// Begins the body of a request with what has come of it, given the secrets that came before it.
    pub(super) fn of_request(
        redactor: &Redactor,
        secrets: Secrets,
        number: usize,
        came: Gathered,
        journal: &Journal,
    ) -> Self {
        // In replay a request is read in the same way, and placeholders have no numbers there.
        let live = Live::new(&redactor.unnumbered(), secrets);
        let (live, noted) = (Some(live), Noted::default());
        let mut passing = Self { live, noted, place: (number, Peer::Client) };
        for piece in came.into_pieces() {
            passing.push(&piece, journal);
            journal.flush();
        }
        passing
    }

    /// Goes on with the body of an answer of which the journal has all but `seen`.
    pub(super) fn of_answer(
        (live, noted): (Live, Noted),
        number: usize,
        seen: &[Bytes],
        journal: &Journal,
    ) -> Self {
        let mut passing = Self { live: Some(live), noted, place: (number, Peer::Server) };
        passing.note(&seen.concat(), journal);
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
        let Noted { naming, pieces } = &self.noted;
        let (length, file) = (naming.length(), journal.path().to_owned());
        larges.insert(naming.name(), Large { length, file, pieces: pieces.clone() });
        naming.stand_in()
    }

    fn note(&mut self, shown: &[u8], journal: &Journal) {
        if !shown.is_empty() {
            let (n, from) = self.place;
            let at = journal.note(&Entry::Passed { n, from, bytes: shown.into() });
            self.noted.naming.push(shown);
            self.noted.pieces.push(at.behind());
        }
    }
}
