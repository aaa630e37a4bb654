//! What may be played next.

use super::groups::Candidates;
use super::playlist::LOOKED_AHEAD;
use super::{Asked, Index, Playlist};

/// Candidates that were not played.
pub(super) struct Fresh<'a> {
    pub(super) playlist: &'a Playlist,
    pub(super) index: &'a Index,
    pub(super) asked: &'a Asked<'a>,
    pub(super) list: Candidates<'a>,
    /// The answer that was given last.
    pub(super) shown: Option<usize>,
}

impl Fresh<'_> {
    /// The first one that fits of those that show the latest state which was brought about, and none
    /// that lies before what was shown.
    pub(super) fn due(&self, is_meant: impl Fn(usize) -> bool) -> Option<usize> {
        let write = |number: usize| self.index.entry(number).before.write;
        // Behind the others no earlier state was recorded.
        let latest = self.list.iter().next_back().and_then(write);
        let mut due: Option<usize> = None;
        for number in self.unplayed().take(LOOKED_AHEAD) {
            let is_before = |one, other| self.playlist.shows_earlier(self.index, one, other);
            // An equal write does as well, but for what was shown since.
            let is_over = write(number).is_none_or(|write| self.playlist.was_played(write))
                || self.playlist.is_put(self.index, number)
                    && self.shown.is_none_or(|shown| is_before(shown, number));
            let came = is_over && self.may_come(number);
            let is_later = self.shown.is_none_or(|shown| !is_before(number, shown))
                && due.is_none_or(|due| is_before(due, number));
            if came && is_later && is_meant(number) && self.fits(number) {
                due = Some(number);
            }
            let has_state = self.index.entry(number).before.state.is_some();
            if due.is_some() && write(number) == latest && !has_state {
                break;
            }
        }
        due
    }

    /// The first one that fits of those that repeat what another one has written, whether that was asked
    /// for or not.
    pub(super) fn repeated(
        &self,
        list: Candidates<'_>,
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let write = |number: usize| self.index.entry(number).before.write;
        let mut repeated = self.unplayed().take(LOOKED_AHEAD);
        repeated.find(|number| {
            write(*number).is_some_and(|write| list.contains(write))
                && is_meant(*number)
                && self.fits(*number)
        })
    }

    /// The first one that fits, and shows nothing that has to be asked for before.
    pub(super) fn any(&self) -> Option<usize> {
        self.unplayed().find(|number| self.fits(*number) && self.may_come(*number))
    }

    fn unplayed(&self) -> impl Iterator<Item = usize> + '_ {
        self.list.iter().filter(|number| !self.playlist.was_played(*number))
    }

    fn may_come(&self, number: usize) -> bool {
        self.playlist.may_come(self.index, number)
    }

    fn fits(&self, number: usize) -> bool {
        self.playlist.fits(self.index, number, self.asked)
    }
}
