//! What a session has played, and what comes next.

use std::cell::RefCell;
use std::collections::HashMap;

use super::credentials::RunSecrets;
use super::days::Days;
use super::fresh::Fresh;
use super::groups::Candidates;
use super::twins::Roles;
use super::writes::PutState;
use super::{Asked, Index, Recognized};
use crate::config::Repeats;
use crate::identity::{Bindings, Hole, Scope};
use crate::redact::Found;

/// One client's run through a cassette.
#[derive(Debug, Default)]
pub struct Playlist {
    /// As how many each was played last; 0 if it was not.
    played: Vec<u32>,
    plays: u32,
    /// As how many things were last put in these states.
    states: HashMap<PutState, u32, foldhash::fast::FixedState>,
    unplayed: usize,
    pub(super) bindings: Bindings,
    pub(super) roles: Roles,
    keys: RunSecrets,
    days: Days,
    /// Whether only what was asked by the same client is meant.
    is_same_client: bool,
    /// How far each list of candidates has come.
    progress: HashMap<u64, Progress, foldhash::fast::FixedState>,
    /// The interaction that was last found to answer the request, and what stands in its open places there.
    filled: RefCell<Option<(usize, Vec<Hole>)>>,
}

/// How far a list of candidates has come.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// How many of them from the first on have been played.
    front: usize,
    /// The one that was played last.
    latest: Option<usize>,
}

/// How many candidates whose time has not come are passed over in search of one whose time has.
pub(super) const LOOKED_AHEAD: usize = 64;

impl Playlist {
    /// A run in which nothing was played yet.
    pub fn new(index: &Index) -> Self {
        let played = vec![0; index.len()];
        Self { played, unplayed: index.len(), ..Self::default() }
    }

    /// It on a day, counted from 1970-01-01; in a proof the client may have another one.
    pub fn on(mut self, index: &Index, today: u64, is_proof: bool) -> Self {
        self.days = Days::since(index.names().last_day(), today, is_proof);
        self
    }

    /// It, where the client calls recorded names otherwise already.
    pub fn calling<'a>(mut self, names: impl Iterator<Item = (&'a Hole, &'a Hole)>) -> Self {
        names.for_each(|(recorded, live)| self.bindings.bind(recorded, live));
        self
    }

    /// The interaction that answers a request now, if there is one.
    ///
    /// Requests that look the same are answered in recorded order, but not with a state that nobody
    /// has brought about yet: what was recorded behind a write waits until that write was played. When
    /// all of them were played the last answer stays: clients repeat what they ask, by retrying and by
    /// polling. What asks for one thing only is not answered at all before a write that its answer shows
    /// ([`Early`](crate::config::Early)); what writes, or asks for a list, is, if nothing else is left. Where a client counts its attempts, the first one begins a new call.
    ///
    /// Of several, those come first that agree with the request in a field of the header that does not count
    /// (`Authorization` or none).
    ///
    /// A repetition that brings other values of the client's is no repetition, and nothing answers it: a
    /// client that begins anew resets the run, or has one of its own. What is [another one each time](super::passing::Passing)
    /// does not count.
    ///
    /// [`Repeats`] other than the default give each answer once.
    pub fn take(&mut self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        self.filled.take();
        let (all, number) = self.next(index, asked)?;
        self.play(index, number, asked);
        if all.len() > 1 {
            self.note(index, number);
        }
        Some(number)
    }

    /// The interaction that would answer a request now.
    pub fn peek(&mut self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        self.next(index, asked).map(|(_, number)| number)
    }

    /// The first interaction that answers a request and was not played yet.
    pub fn take_next(&mut self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        self.filled.take();
        let mut all = index.candidates(asked).flat_map(Candidates::iter);
        let number =
            all.find(|number| !self.was_played(*number) && self.fits(index, *number, asked))?;
        self.play(index, number, asked);
        Some(number)
    }

    /// The first interaction that would answer a request and was not played yet.
    pub fn answering(&self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        let mut all = index.candidates(asked).flat_map(Candidates::iter);
        all.find(|number| !self.was_played(*number) && self.fits(index, *number, asked))
    }

    /// The first interaction that answers a request, played or not.
    pub fn saying(&self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        let mut all = index.candidates(asked).flat_map(Candidates::iter);
        all.find(|number| self.fits(index, *number, asked))
    }

    /// Lets two interactions that ask the same be each other: what was played, and what stands for what
    /// the client made up in them. Done twice, all is as before.
    pub fn exchange(&mut self, index: &Index, one: usize, other: usize) {
        self.played.swap(one, other);
        for list in [one, other].into_iter().flat_map(|number| index.lists(number)) {
            self.progress.entry(list.key).or_default().front = 0;
        }
        for (one, other) in index.entry(one).holes.iter().zip(&index.entry(other).holes) {
            self.bindings.exchange(one, other);
        }
    }

    /// The same for a request that was recognized.
    pub fn take_recognized(&mut self, index: &Index, recognized: &Recognized<'_>) -> Option<usize> {
        match recognized {
            Recognized::OneOf(asked) => self.take(index, asked),
            Recognized::Only(number) => {
                self.mark_played(index, *number);
                Some(*number)
            }
        }
    }

    /// Takes an interaction for played, whatever was asked.
    pub fn skip(&mut self, index: &Index, number: usize) {
        self.mark_played(index, number);
        self.note(index, number);
    }

    /// What was recorded and not asked for in this run.
    pub fn unplayed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.played.len()).filter(|number| !self.was_played(*number))
    }

    /// Whether an interaction was played in this run.
    pub fn was_played(&self, interaction: usize) -> bool {
        self.played[interaction] > 0
    }

    /// What stands for the client-minted identifiers of the recording in this run.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    fn next<'i>(
        &mut self,
        index: &'i Index,
        asked: &'i Asked<'_>,
    ) -> Option<(Candidates<'i>, usize)> {
        index
            .candidates(asked)
            .find_map(|all| self.meant(index, all, asked).map(|number| (all, number)))
    }

    /// The candidate that answers a request now: where they differ in who asked, one that the same client
    /// asked for, if there is any. It is given again only where others were refused.
    fn meant(&mut self, index: &Index, all: Candidates<'_>, asked: &Asked<'_>) -> Option<usize> {
        let credentials = index.credentials();
        if all.len() > 1 && credentials.differ(all.iter()) {
            self.is_same_client = true;
            let same = self.fitting(index, all, asked);
            self.is_same_client = false;
            let is_next =
                |number: &usize| !self.was_played(*number) || credentials.refuse(all.iter());
            if let Some(number) = same.filter(is_next) {
                return Some(number);
            }
        }
        self.fitting(index, all, asked)
    }

    fn fitting(&mut self, index: &Index, all: Candidates<'_>, asked: &Asked<'_>) -> Option<usize> {
        if index.repeats() == Repeats::Strict {
            let next = self.played.len() - self.unplayed;
            let is_next = all.contains(next);
            return (is_next && self.fits(index, next, asked)).then_some(next);
        }
        if let (Some(only), Repeats::Allowed) = (all.only(), index.repeats()) {
            let fits = self.fits(index, only, asked) && self.may_come(index, only);
            return fits.then_some(only);
        }
        let narrowed = if all.len() > 1 { self.narrowed(index, all, asked) } else { None };
        let chosen = narrowed.and_then(|list| self.choose(index, list, asked));
        let agreeing = || index.agreeing(all, asked).filter(|_| all.len() > 1);
        chosen
            .or_else(|| agreeing().and_then(|list| self.choose(index, list, asked)))
            .or_else(|| self.choose(index, all, asked))
    }

    /// The fewest candidates in which the client says in some place what it says now, by another name or on
    /// another day.
    fn narrowed<'i>(
        &self,
        index: &'i Index,
        all: Candidates<'_>,
        asked: &Asked<'_>,
    ) -> Option<Candidates<'i>> {
        let turn = |list: &Candidates<'_>| list.iter().find(|number| !self.was_played(*number));
        let lists = index.telling(all, asked).filter_map(|(open, live)| {
            let saying = |text: &str| index.saying(all, open.place, text);
            match self.bindings.stands_for(open.scope, live) {
                Some(recorded) => saying(recorded),
                None if open.scope == Scope::Moment => {
                    let is_at_once = |number: usize| index.twins.was_at_once(number);
                    self.days.saying((open.place, live), saying, turn, is_at_once)
                }
                None => saying(live),
            }
        });
        lists.min_by_key(|list| list.len())
    }

    /// The candidate whose turn it is, else the one that was played last, else one that shows what never
    /// came, if it need not have come.
    fn choose(&mut self, index: &Index, list: Candidates<'_>, asked: &Asked<'_>) -> Option<usize> {
        let Progress { front, latest } = self.progress(list);
        let latest = latest.filter(|latest| self.fits_again(index, *latest, asked));
        if let (Some(1..), Some(latest)) = (asked.attempt, latest) {
            return self.attempted_again(index, list, latest, asked);
        }
        let latest = latest.map(|latest| self.restored(index, list, latest, asked));
        let fresh = Fresh { playlist: self, index, asked, list: list.from(front), shown: latest };
        let is_first =
            |number: usize| index.entry(number).attempt.is_none_or(|attempt| attempt == 0);
        let turn = match asked.attempt {
            Some(0) => fresh.due(is_first).or_else(|| fresh.due(|_| true)),
            _ => fresh.due(|_| true),
        };
        let may_mark = |number: usize| self.may_mark(index, number, asked);
        let turn = match turn {
            Some(turn) if may_mark(turn) => Some(turn),
            Some(turn) => fresh.repeated(list, may_mark).or(Some(turn)),
            None if !asked.has_marks() => None,
            None => fresh.repeated(list, |number| self.marks(index, number, asked)),
        };
        let before = |is_meant: &dyn Fn(usize) -> bool| {
            self.played_before(list, |it| is_meant(it) && self.fits_again(index, it, asked))
        };
        let again = || match index.repeats() {
            Repeats::Allowed => latest
                .filter(|it| !asked.has_marks() || self.marks(index, *it, asked))
                .or_else(|| before(&|number| self.marks(index, number, asked)))
                .or(latest)
                .or_else(|| before(&|_| true)),
            _ => None,
        };
        turn.or_else(again).or_else(|| fresh.any())
    }

    /// What answers a further attempt at the call that was answered last: what was recorded for a
    /// further attempt, or what is next if the recorded client did not count; else the same again.
    fn attempted_again(
        &self,
        index: &Index,
        list: Candidates<'_>,
        latest: usize,
        asked: &Asked<'_>,
    ) -> Option<usize> {
        let counted = |number: usize| index.entry(number).attempt;
        let next = list.behind(latest).filter(|next| {
            counted(*next).map_or(counted(latest).is_none(), |attempt| attempt > 0)
                && !self.was_played(*next)
                && self.fits(index, *next, asked)
        });
        next.or_else(|| (index.repeats() == Repeats::Allowed).then_some(latest))
    }

    /// Whether an answer shows an earlier state than another one.
    pub(super) fn shows_earlier(&self, index: &Index, one: usize, other: usize) -> bool {
        self.state(index, one) < self.state(index, other)
    }

    /// How late the state is that an answer shows: when all of it was put last in this run, and which write of the
    /// recording has changed it since. What was put again since that write is changed no more.
    fn state(&self, index: &Index, number: usize) -> (u32, usize) {
        let before = index.entry(number).before;
        let changed = before.write.map_or(0, |write| write + 1);
        let Some(put) = before.state.map(|state| self.put_last(state)) else { return (0, changed) };
        let is_since = before.write.is_some_and(|write| self.played[write] > put);
        match (before.is_whole, is_since) {
            (true, _) => (put, 0),
            (false, true) => (put, changed),
            (false, false) => (0, 0),
        }
    }

    fn put_last(&self, state: PutState) -> u32 {
        self.states.get(&state).copied().unwrap_or_default()
    }

    /// Whether what an interaction asks for was put so, and is shown whole.
    pub(super) fn is_put(&self, index: &Index, number: usize) -> bool {
        let before = index.entry(number).before;
        before.is_whole && before.state.is_some_and(|state| self.put_last(state) > 0)
    }

    /// The answer that was given last, or an earlier one whose state was written again since.
    fn restored(
        &self,
        index: &Index,
        list: Candidates<'_>,
        latest: usize,
        asked: &Asked<'_>,
    ) -> usize {
        if index.entry(latest).before.state.is_none() {
            return latest;
        }
        let played = list.iter().rev().filter(|number| self.was_played(*number));
        played.take(LOOKED_AHEAD).fold(latest, |latest, number| {
            let is_later = self.shows_earlier(index, latest, number);
            if is_later && self.fits_again(index, number, asked) { number } else { latest }
        })
    }

    /// The last one played that is meant.
    fn played_before(
        &self,
        list: Candidates<'_>,
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let played = list.iter().rev().filter(|number| self.was_played(*number));
        played.take(LOOKED_AHEAD).find(|number| is_meant(*number))
    }

    /// Whether the marks in the header of a request may be those of an interaction: a client that uses one
    /// again (an idempotency key) speaks of the same call, and with a fresh one of another. They do not
    /// count, so this only tells which of several it is.
    fn may_mark(&self, index: &Index, number: usize, asked: &Asked<'_>) -> bool {
        let marks: Vec<_> = index.marks(number, asked).collect();
        self.bindings.unify(marks.iter().map(|(recorded, live)| (*recorded, live)))
    }

    /// Whether one of them is that of an interaction that was played.
    fn marks(&self, index: &Index, number: usize, asked: &Asked<'_>) -> bool {
        index.marks(number, asked).any(|(recorded, live)| {
            let known = self.bindings.live(recorded.scope, &recorded.identifier);
            known.is_some_and(|known| known.identifier == live.identifier)
        })
    }

    fn play(&mut self, index: &Index, number: usize, asked: &Asked<'_>) {
        self.mark_played(index, number);
        self.keys.bind(index.credentials(), number, &asked.found);
        let filled = self.filled.take().filter(|(of, _)| *of == number);
        let live = filled.map(|(_, live)| live).or_else(|| index.fill(number, asked));
        for (recorded, live) in index.entry(number).holes.iter().zip(live.iter().flatten()) {
            self.bindings.bind(recorded, live);
            self.days.note(recorded, live);
        }
        for (recorded, live) in index.marks(number, asked) {
            self.bindings.bind(recorded, &live);
        }
    }

    /// Plays an interaction whose request differs, with what stands in those open places that are filled. Returns
    /// what was not known before.
    pub(super) fn assume(
        &mut self,
        index: &Index,
        number: usize,
        bound: &[(Hole, Hole)],
    ) -> Vec<(Hole, Hole)> {
        self.mark_played(index, number);
        let is_known = |(recorded, _): &&(Hole, Hole)| {
            self.bindings.live(recorded.scope, &recorded.identifier).is_some()
        };
        let fresh = bound.iter().filter(|pair| !is_known(pair)).cloned().collect();
        bound.iter().for_each(|(recorded, live)| self.bindings.bind(recorded, live));
        fresh
    }

    /// As if an interaction had not been played, and nothing been bound by it.
    pub(super) fn retract(&mut self, index: &Index, number: usize, fresh: &[(Hole, Hole)]) {
        self.unplayed += usize::from(std::mem::take(&mut self.played[number]) > 0);
        fresh.iter().for_each(|(recorded, live)| self.bindings.unbind(recorded, live));
        for list in index.lists(number) {
            self.progress.entry(list.key).or_default().front = 0;
        }
    }

    /// What stands for a secret of the recording in the answer to a request that has these.
    pub fn secret(
        &self,
        index: &Index,
        (number, found): (usize, &Found),
        secret: &(String, usize),
    ) -> Option<String> {
        self.keys.value(index.credentials(), (number, found), secret)
    }

    /// What was recorded for what the client calls by its own names in a request, and these.
    pub fn called(&self, index: &Index, number: usize, asked: &Asked<'_>) -> Vec<(Hole, Hole)> {
        let live = index.fill(number, asked).unwrap_or_default();
        index.entry(number).holes.iter().cloned().zip(live).collect()
    }

    /// Whether what an answer shows was brought about in this run, or need not be.
    pub(super) fn may_come(&self, index: &Index, number: usize) -> bool {
        index.needed(number).is_none_or(|needed| match needed.only() {
            Some(only) => self.was_played(only),
            None => self.progress.get(&needed.key).is_some_and(|it| it.latest.is_some()),
        })
    }

    /// The write that was not asked for yet and is shown by what would answer a request.
    pub fn awaited(&self, index: &Index, asked: &Asked<'_>) -> Option<usize> {
        let mut all = index.candidates(asked).flat_map(|list| list.iter().take(LOOKED_AHEAD));
        let waiting = all.find(|it| self.fits(index, *it, asked) && !self.may_come(index, *it))?;
        index.entry(waiting).before.needed
    }

    fn mark_played(&mut self, index: &Index, number: usize) {
        self.plays = self.plays.saturating_add(1);
        let before = std::mem::replace(&mut self.played[number], self.plays);
        self.unplayed -= usize::from(before == 0);
        let puts = index.entry(number).before.puts;
        self.states.extend(puts.map(|state| (state, self.plays)));
    }

    /// Notes what of the lists was played last after interactions were exchanged for good.
    pub fn note_exchanged(&mut self, index: &Index, exchanged: &[(usize, usize)]) {
        let numbers = exchanged.iter().flat_map(|(one, other)| [*one, *other]);
        let played: Vec<usize> = numbers.filter(|number| self.was_played(*number)).collect();
        played.into_iter().for_each(|number| self.note(index, number));
    }

    /// Notes how far the lists have come that an interaction is on.
    fn note(&mut self, index: &Index, number: usize) {
        for list in index.lists(number) {
            self.progress.entry(list.key).or_default().latest = Some(number);
        }
    }

    fn progress(&mut self, list: Candidates<'_>) -> Progress {
        if let Some(only) = list.only() {
            let played = self.was_played(only);
            return Progress { front: usize::from(played), latest: played.then_some(only) };
        }
        let progress = self.progress.entry(list.key).or_default();
        while list.get(progress.front).is_some_and(|number| self.played[number] > 0) {
            progress.front += 1;
        }
        *progress
    }

    pub(super) fn fits(&self, index: &Index, number: usize, asked: &Asked<'_>) -> bool {
        self.fits_in(index, number, asked, |_| true)
    }

    /// Whether a request asks once more what was asked, whatever it says for this one question alone.
    fn fits_again(&self, index: &Index, number: usize, asked: &Asked<'_>) -> bool {
        self.fits_in(index, number, asked, |hole| !index.is_passing(number, hole))
    }

    /// Whether an interaction answers a request, as far as the open places that count tell.
    fn fits_in(
        &self,
        index: &Index,
        number: usize,
        asked: &Asked<'_>,
        counts: impl Fn(&Hole) -> bool,
    ) -> bool {
        let credentials = index.credentials();
        if credentials.contradict(number, &asked.found)
            || (self.is_same_client && !self.keys.agree(credentials, number, &asked.found))
        {
            return false;
        }
        let recorded = &index.entry(number).holes;
        let Some(live) = index.fill(number, asked) else { return false };
        let pairs = recorded.iter().zip(&live).filter(|(recorded, _)| counts(recorded));
        let fits = recorded.is_empty() || self.bindings.unify(pairs);
        if fits {
            self.filled.replace(Some((number, live)));
        }
        fits
    }
}
