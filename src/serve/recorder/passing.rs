//! Bodies that are not held in memory while they are recorded.

use std::ops::Range;

use bytes::Bytes;

use crate::cassette::large::{Gathered, LARGE, Naming, may_be_passed};
use crate::cassette::{Headers, Large, Larges, Peer};
use crate::redact::{Live, Redactor, Secrets, drop_sums};
use crate::store::{Entry, Journal};
use crate::text::plain;

/// Where in the journal a body is, without secrets, and what its name will be, if it needs one.
#[derive(Debug, Default)]
pub(super) struct Noted {
    naming: Option<Naming>,
    length: u64,
    pieces: Vec<Range<u64>>,
}

/// An answer of more bytes that is no text is read from the journal when it is saved: nobody reads in it before.
const STAGED: u64 = LARGE / 16;

impl Noted {
    /// Begins to note what comes behind these header fields, unless it will be held in memory.
    pub(super) fn begin(headers: &Headers) -> Option<Self> {
        let may_come = announced(headers).is_none_or(|length| length > LARGE);
        (may_come && may_be_passed(headers)).then(Self::named)
    }

    fn named() -> Self {
        Self { naming: Some(Naming::default()), ..Self::default() }
    }

    /// A piece of it is in the journal.
    pub(super) fn note(&mut self, pieces: &[Bytes], at: Range<u64>) {
        pieces.iter().for_each(|piece| self.add(piece));
        self.pieces.push(at);
    }

    fn add(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        if let Some(naming) = &mut self.naming {
            naming.push(piece);
        }
    }
}

/// A body that is not held in memory: it stands in the journal alone, and the cassette is made from there.
#[derive(Debug)]
pub(super) struct Passing {
    /// Nothing when it has ended.
    live: Option<Live>,
    /// Whether a secret was taken out of it.
    is_changed: bool,
    noted: Noted,
    place: (usize, Peer),
}

/// Whether a body with these header fields is not to be held, of which so many bytes have come, the last
/// ones in a piece of that length.
pub(super) fn is_due(headers: &Headers, came: usize, piece: usize) -> bool {
    let is_large = came as u64 > LARGE || (came == piece && announced(headers) > Some(LARGE));
    is_large && may_be_passed(headers)
}

/// Whether an answer with these header fields is staged, of which this has come.
pub(super) fn is_staged(headers: &Headers, came: &[u8]) -> bool {
    let is_long = announced(headers).is_some_and(|length| (STAGED..=LARGE).contains(&length));
    is_long && !plain::may_begin(came) && may_be_passed(headers)
}

/// Says how long a body is, if that was said: addresses, or secrets, may have been replaced in it.
pub(super) fn announce(headers: &mut Headers, length: u64) {
    let announced = headers.get("content-length");
    if announced.is_some_and(|announced| announced.trim().parse() != Ok(length)) {
        headers.set("content-length", length.to_string());
    }
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
        let (live, noted) = (Some(live), Noted::named());
        let mut passing = Self { live, is_changed: false, noted, place: (number, Peer::Client) };
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
        let (live, is_changed) = (Some(live), false);
        let mut passing = Self { live, is_changed, noted, place: (number, Peer::Server) };
        passing.note(&seen.concat(), journal);
        passing
    }

    /// Begins the body of an answer that is staged.
    pub(super) fn staging(live: Live, number: usize) -> Self {
        let (live, noted) = (Some(live.fitting()), Noted::default());
        Self { live, is_changed: false, noted, place: (number, Peer::Server) }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8], journal: &Journal) {
        let shown = self.live.as_mut().map(|live| live.push(bytes));
        self.note(&shown.unwrap_or_default(), journal);
    }

    /// Nothing more comes. Gives the secrets up to here.
    pub(super) fn finish(&mut self, journal: &Journal) -> Secrets {
        let (rest, secrets, is_changed) = self.live.take().map(Live::end).unwrap_or_default();
        self.is_changed |= is_changed;
        self.note(&rest, journal);
        secrets
    }

    /// Says of it what is true of it as it is noted, where the header fields say that of what came.
    pub(super) fn describe(&self, headers: &mut Headers) {
        if self.is_changed {
            drop_sums(headers);
        }
        announce(headers, self.noted.length);
    }

    /// What stands in its place, and where it is; nothing yet if it is staged.
    pub(super) fn kept(&self, journal: &Journal, larges: &mut Larges) -> Bytes {
        let Noted { naming, length, pieces } = &self.noted;
        let Some(naming) = naming else { return Bytes::new() };
        let (length, file) = (*length, journal.path().to_owned());
        larges.insert(naming.name(), Large { length, file, pieces: pieces.clone() });
        naming.stand_in()
    }

    /// Where it is, if it is staged.
    pub(super) fn staged(&self) -> &[Range<u64>] {
        if self.noted.naming.is_none() { &self.noted.pieces } else { &[] }
    }

    fn note(&mut self, shown: &[u8], journal: &Journal) {
        if !shown.is_empty() {
            let (n, from) = self.place;
            let at = journal.note(&Entry::Passed { n, from, bytes: shown.into() });
            self.noted.add(shown);
            self.noted.pieces.push(at.behind());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_announced_to_be_long_and_is_no_text_is_staged() {
        let is_staged = |length: Option<u64>, kind: &str, came: &[u8]| {
            let mut headers = Headers::new();
            headers.append("content-type", kind.to_owned());
            length.iter().for_each(|length| headers.append("content-length", length.to_string()));
            super::is_staged(&headers, came)
        };
        let (bytes, kind) = ([0x93, 0xff, 0x01], "application/octet-stream");
        assert!(is_staged(Some(STAGED), kind, &bytes) && is_staged(Some(LARGE), kind, &bytes));
        assert!(!is_staged(Some(STAGED - 1), kind, &bytes));
        assert!(!is_staged(Some(LARGE + 1), kind, &bytes));
        assert!(!is_staged(None, kind, &bytes));
        assert!(!is_staged(Some(LARGE), kind, b"words"));
        assert!(!is_staged(Some(LARGE), "text/event-stream", &bytes));
    }
}
