//! A cassette while it is being recorded.

mod under_way;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::Notify;

use super::clock::rfc3339;
use super::fault;
use super::rescue::{free, rescue};
use super::roll::{Roll, Rolled, unfinished};
use super::take::{Take, begun};
use super::takes::{KeptTake, Takes};
use super::verdict;
use crate::cassette::{Cassette, Headers, Interactions, Larges, Name, Recorded, Request, target};
use crate::compare::alignment::Called;
use crate::compare::renew::{Renewed, called, renew_by};
use crate::config::Rules;
use crate::error::{Error, Result};
use crate::identity::{Made, carriers, decide_again, decide_behind, decide_long, decide_servers};
use crate::redact::{Redacted, Redactor, Secrets};
use crate::serve::lock;
use crate::serve::recording::{Change, Course, Kept, Origins, Recording, Saved, Wording};
use crate::store::{self, Alarm, Journal, Recovered};

/// A cassette while it is being recorded: the takes so far and the journal that survives a crash.
#[derive(Debug)]
pub struct Tape {
    folder: PathBuf,
    name: Name,
    pub(super) redactor: Arc<Redactor>,
    /// What the cassette that is replaced says about matching.
    rules: Rules,
    /// What is said of it elsewhere.
    told: Rules,
    /// Whether its clients say whom they trust.
    are_clients_heard: bool,
    wording: Wording,
    pub(super) journal: Journal,
    state: Mutex<TapeState>,
    /// What the journal shows no more, wherever it stands: the first secrets of interactions that are over.
    known: Mutex<Secrets>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct TapeState {
    recorded: Recorded,
    takes: Takes,
    open: BTreeMap<usize, Arc<Take>>,
    /// Why the server gave the first request without an answer none.
    fault: Option<String>,
    /// What names were called before, as cassettes show that are recorded beside it.
    given: Vec<Called>,
    /// Whether a server was not asked because its certificate is not trusted.
    distrusts: bool,
    /// What takes are to be in the cassette, by their numbers.
    changes: BTreeMap<usize, Change>,
    /// The takes that somebody was told of last, if anybody was.
    told: Option<Vec<usize>>,
    /// The secrets of bodies that are not held: what is saved of these has them no more.
    found: Secrets,
    /// Whether something was not recorded because this process may open no more files.
    out_of_files: bool,
}

/// So many secrets are looked for in each message for the journal.
const KNOWN: usize = 64;

impl Tape {
    /// Begins to record a cassette. An earlier one of that name stays until the new one is complete.
    /// What a killed recorder left is saved beside it first and returned with its path.
    ///
    /// # Errors
    ///
    /// If another process records it, the folder cannot be written, or what a person says in the
    /// earlier cassette about matching cannot be read, which is kept.
    pub fn begin(
        folder: &Path,
        name: &Name,
        origins: Origins,
        wording: Wording,
        redactor: Redactor,
        alarm: Alarm,
    ) -> Result<(Self, Option<(Recovered, PathBuf)>)> {
        let redactor = Arc::new(redactor.with_environment(store::environment()));
        let rules = store::load_rules(folder, name)?;
        let (journal, left) = Journal::open(folder, name, alarm)?;
        let rescued = match left {
            Some(mut left) => {
                left.cassette.rules = rules.clone();
                Some(rescue(folder, name, &redactor, left)?)
            }
            None => None,
        };
        let mut recorded = Recorded {
            at: rfc3339(SystemTime::now()),
            origins: origins.named,
            ..Recorded::default()
        };
        recorded.set_address(origins.first);
        if let Err(error) = journal.begin(&recorded) {
            let _ = journal.remove();
            return Err(error);
        }
        let state = TapeState { recorded, ..TapeState::default() };
        let tape = Self {
            folder: folder.to_owned(),
            name: name.clone(),
            known: Mutex::new(redactor.known()),
            redactor,
            rules,
            told: Rules::default(),
            are_clients_heard: false,
            wording,
            journal,
            state: Mutex::new(state),
            ended: Notify::new(),
        };
        Ok((tape, rescued))
    }

    /// Tells it what is said elsewhere about matching it, and whether its clients say whom they trust: whom these do not
    /// trust, retape does not either.
    pub fn tell(&mut self, told: Rules, are_clients_heard: bool) {
        self.told = told;
        self.are_clients_heard = are_clients_heard;
    }

    /// A request has arrived.
    pub(super) fn take(self: &Arc<Self>, request: Request) -> Arc<Take> {
        let mut state = self.state();
        let number = state.takes.len();
        let after = state.under_way();
        let take = Arc::new(Take::new(self, number, begun(after, request)));
        state.takes.push(Arc::clone(&take));
        state.open.insert(number, Arc::clone(&take));
        take
    }

    /// Saves the cassette, behind the interactions of `base` if there is one, and removes the
    /// journal. Nothing is saved if nothing was recorded, and no cassette is replaced by a recording
    /// in which a server failed that had answered, or that was broken off: that is saved beside it, as is that
    /// of a test which failed. All of it is saved also if the journal is not whole, because a disk was
    /// full for a while.
    ///
    /// # Errors
    ///
    /// If something cannot be written. The journal and an earlier cassette are as they were then.
    pub fn finish(&self, base: Option<&Cassette>, course: Course) -> Result<Recording> {
        let complete = self.journal.complete();
        let (mut cassette, roll, takes) = self.roll(base).map_err(|error| self.unsaved(error))?;
        // What is not held in memory is read from there.
        if cassette.larges.values().any(|large| large.file == self.journal.path()) {
            complete.map_err(|error| self.unsaved(error))?;
        }
        // They may have been changed while it was recorded.
        cassette.rules =
            store::load_rules(&self.folder, &self.name).unwrap_or_else(|_| self.rules.clone());
        let before = base.map_or(0, |base| base.interactions.len());
        let new = || roll.each().skip(before);
        // Also those that nobody has asked.
        let servers = self.state().recorded.clone();
        let leads_past = (!self.names_servers()).then(|| verdict::leads_past(&servers, new()));
        let leads_past = leads_past.flatten();
        let mut recording = Recording {
            folder: self.folder.clone(),
            name: self.name.clone(),
            path: None,
            saved: Saved::Cassette,
            saved_name: self.name.clone(),
            interactions: roll.count() - before,
            answered: (before..roll.count()).filter(|it| roll.facts(*it).is_answered).count(),
            kept: None,
            carriers: Vec::new(),
            afresh: None,
            dropped: self.dropped(&takes),
            fault: self.state().fault.take(),
            doubled: verdict::doubled(&cassette.recorded.upstream, new()),
            leads_past,
            suspects: Vec::new(),
            weakened: self.redactor.weakened().to_vec(),
        };
        let (is_own_fault, distrusts) = {
            let state = self.state();
            (state.out_of_files, state.distrusts)
        };
        // That a server which the client itself names cannot be reached may be what it is tested for.
        let has_asked_named = || {
            let mut of_first = new().filter(|it| it.request.path.starts_with('/'));
            !self.names_servers()
                && (of_first.next().is_some() || !cassette.recorded.origins.is_empty())
        };
        let is_unheard = recording.fault.is_some()
            && recording.answered == 0
            && (distrusts || has_asked_named());
        recording.saved = match course {
            _ if is_own_fault => Saved::Failed,
            _ if is_unheard => Saved::Unanswered,
            Course::BrokenOff if store::exists(&self.folder, &self.name) => Saved::Failed,
            Course::Failed => Saved::Failed,
            Course::Whole if base.is_none() && self.is_lost(&cassette, &roll, &mut recording) => {
                Saved::Unanswered
            }
            Course::Whole | Course::BrokenOff | Course::Discarded => Saved::Cassette,
        };
        recording.saved_name = match recording.saved {
            Saved::Cassette => self.name.clone(),
            Saved::Unanswered => self.name.beside("unanswered"),
            Saved::Failed => free(&self.folder, &self.name, "failed"),
        };
        if recording.interactions > 0 {
            recording.path = Some(self.put(cassette, roll, base, &mut recording)?);
        }
        self.journal.remove()?;
        match (is_own_fault, &recording.path) {
            (false, _) => Ok(recording),
            (true, path) => Err(fault::out_of_files(path.as_deref())),
        }
    }

    /// Whether a server failed that had answered before. Then the recording says how.
    fn is_lost(&self, new: &Cassette, roll: &Roll<'_>, recording: &mut Recording) -> bool {
        // Most did not fail, and need not be read for that.
        if (0..roll.count()).all(|it| roll.facts(it).is_good) {
            return false;
        }
        let old = store::open(&self.folder, &self.name);
        let lost = old.ok().and_then(|old| verdict::lost(&old, &new.recorded, roll.each()));
        let Some(why) = lost else { return false };
        recording.fault.get_or_insert(why);
        true
    }

    /// Decides what in it is a name, and saves it.
    fn put(
        &self,
        cassette: Cassette,
        roll: Roll<'_>,
        base: Option<&Cassette>,
        recording: &mut Recording,
    ) -> Result<PathBuf> {
        let old = self.replaced(base, recording.saved);
        let is_alone = base.is_none() && old.is_none() && !self.names_servers();
        if is_alone && roll.is_long() && !roll.has_sockets() {
            return self.put_long(cassette, roll, recording);
        }
        let cassette = held(cassette, roll).map_err(|error| self.unsaved(error))?;
        let decide = |cassette: &Cassette| {
            let ids = decide_behind(base, cassette);
            // A client that was given no address has one of its own.
            if self.names_servers() { decide_servers(None, cassette, ids) } else { ids }
        };
        let mut cassette = self.knowing().recording(cassette).with_ids(decide);
        let given = std::mem::take(&mut self.state().given);
        if old.is_none() && base.is_none() && !given.is_empty() {
            // It is new, and what it goes on from is not.
            let (new, none) = (cassette.into_inner(), Cassette::default());
            let named = renew_by(&self.told, &none, new, given.clone()).cassette;
            cassette = self.redactor.cassette(named).with_ids(decide);
        }
        recording.suspects = self.redactor.audit(&cassette);
        let rules = self.told.clone().and(&cassette.rules);
        let found = cassette.ids.as_ref().map(|ids| carriers(&cassette.interactions, ids, &rules));
        recording.carriers = found.unwrap_or_default();
        let cassette = cassette.counting(&recording.carriers);
        match old {
            None => self.save(&recording.saved_name, &cassette),
            Some(old) => self.renew((&old, given), cassette.into_inner(), recording),
        }
    }

    /// The same for one that is not held.
    fn put_long(
        &self,
        cassette: Cassette,
        roll: Roll<'_>,
        recording: &mut Recording,
    ) -> Result<PathBuf> {
        let redacted = self.knowing().long_recording((cassette, roll));
        let (cassette, roll) = redacted.get();
        // Both read all of it, and neither asks what the other found.
        let ids = std::thread::scope(|scope| {
            let ids = scope.spawn(|| decide_long(roll, &cassette.rules));
            recording.suspects = self.redactor.audit_each(cassette, roll);
            ids.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let rules = self.told.clone().and(&cassette.rules);
        recording.carriers = carriers(roll, &ids, &rules);
        let redacted = redacted.with_ids(ids).counting(&recording.carriers);
        store::save_long(&self.folder, &recording.saved_name, &redacted)
            .map_err(|error| self.unsaved(error))
    }

    /// What was recorded so far, without secrets.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn so_far(&self) -> Result<Cassette> {
        let (cassette, roll, takes) = self.roll(None).map_err(|error| self.unsaved(error))?;
        let cassette = held(cassette, roll).map_err(|error| self.unsaved(error))?;
        self.state().told = Some(takes);
        Ok(self.knowing().recording(cassette).into_inner())
    }

    /// What names in it were called in the cassette whose place it will take.
    pub fn called(&self) -> Vec<Called> {
        let Some(old) = self.replaced(None, Saved::Cassette) else { return Vec::new() };
        // What cannot be read is told when it is saved.
        let Ok(new) = self.roll(None).and_then(|(new, roll, _)| held(new, roll)) else {
            return Vec::new();
        };
        let new = self.knowing().recording(new).with_ids(|new| decide_behind(None, new));
        called(&self.told, &old, &new.into_inner())
    }

    /// Names that are called as cassettes show which are recorded beside it.
    pub fn give(&self, given: &[Called]) {
        self.state().given.extend_from_slice(given);
    }

    /// The takes in what was told last [so far](Self::so_far): others may have come between them since. If nobody
    /// was told, those that are there.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn told(&self) -> Result<Vec<usize>> {
        let told = self.state().told.clone();
        told.map_or_else(|| self.roll(None).map(|(_, _, takes)| takes), Ok)
    }

    /// Changes what is to be saved of a take.
    pub fn change(&self, take: usize, change: Change) {
        self.state().changes.insert(take, change);
    }

    /// Saves nothing, and removes the journal.
    ///
    /// # Errors
    ///
    /// If the journal cannot be removed.
    pub fn discard(&self) -> Result<()> {
        self.journal.remove()
    }

    /// How many bytes there are in bodies that are held.
    #[cfg(test)]
    pub(super) fn bytes_held(&self) -> usize {
        self.state().takes.bytes_held()
    }

    /// Whether the server has said this in any answer so far.
    pub fn has_heard(&self, text: &str) -> bool {
        let count = self.state().takes.len();
        // Others go on meanwhile.
        let take = |number| self.state().takes.get(number);
        let interaction = |take: KeptTake| take.interaction(&self.journal, &mut Larges::new());
        let mut heard =
            (0..count).filter_map(take).filter_map(|take| interaction(take).ok().flatten());
        let stands = |bytes: &[u8]| memchr::memmem::find(bytes, text.as_bytes()).is_some();
        heard.any(|interaction| {
            interaction.response().is_some_and(|response| {
                stands(&response.readable().bytes())
                    || response.headers.iter().any(|(_, value)| stands(value))
            })
        })
    }

    /// Saves a cassette in the words of the one whose place it takes.
    fn renew(
        &self,
        (old, given): (&Cassette, Vec<Called>),
        new: Cassette,
        recording: &mut Recording,
    ) -> Result<PathBuf> {
        let made = Made::of(&new);
        let afresh = new.larges.is_empty().then(|| Arc::new(new.clone()));
        let Renewed { cassette, kept, gone } = renew_by(&self.told, old, new, given);
        let is_whole = cassette.interactions == old.interactions;
        recording.kept = Some(Kept { interactions: kept, gone, is_whole });
        recording.afresh = afresh.filter(|it| it.interactions != cassette.interactions);
        let shows_moved = self.names_servers() && made.shows_moved(old);
        if cassette == *old && !shows_moved {
            // It stays to the byte: an older release may have laid it out in another way.
            return Ok(store::path_of(&self.folder, &self.name));
        }
        let cassette = self.redactor.cassette(cassette).with_ids(|cassette| {
            let ids = decide_again(old, &made.ids, cassette);
            let again = self.names_servers().then_some((old, &made));
            if again.is_some() { decide_servers(again, cassette, ids) } else { ids }
        });
        self.save(&self.name, &cassette)
    }

    /// Saves it. If that fails, the journal has it still.
    fn save(&self, name: &Name, cassette: &Redacted<Cassette>) -> Result<PathBuf> {
        store::save(&self.folder, name, cassette).map_err(|error| self.unsaved(error))
    }

    fn unsaved(&self, error: Error) -> Error {
        let hint = error.hint().map(|hint| format!("{hint}: ")).unwrap_or_default();
        let named = store::mention(&self.folder, &self.name);
        error.with_hint(format!("{hint}`retape recover {named}` saves what the journal has"))
    }

    /// The cassette whose place is taken, if its words are to be used. One that cannot be read has
    /// none.
    fn replaced(&self, base: Option<&Cassette>, saved: Saved) -> Option<Cassette> {
        let is_asked = self.wording == Wording::AsBefore && saved == Saved::Cassette;
        // One that is extended keeps its words.
        if !is_asked || base.is_some() || !store::exists(&self.folder, &self.name) {
            return None;
        }
        store::open(&self.folder, &self.name).ok().filter(|old| !old.interrupted)
    }

    /// The first answer tells what the server calls itself.
    pub(super) fn note_server(&self, headers: &Headers) {
        let mut state = self.state();
        if state.recorded.server.is_none() {
            state.recorded.server = headers.get("server").map(str::to_owned);
        }
    }

    pub(super) fn note_fault(&self, why: String) {
        self.state().fault.get_or_insert(why);
    }

    pub(super) fn note_distrust(&self) {
        self.state().distrusts = !self.are_clients_heard;
    }

    /// Secrets in a body that is not held.
    pub(super) fn note_found(&self, secrets: Secrets) {
        self.state().found.extend(secrets);
    }

    /// The secrets that are known by now.
    pub(super) fn known(&self) -> Secrets {
        lock(&self.known).clone()
    }

    /// The secrets of an interaction that is over: the journal is not to have them in a later one either. A server that
    /// issues something with each answer is not searched for all of it.
    pub(super) fn note_known(&self, secrets: Secrets) {
        let mut known = lock(&self.known);
        if known.len() < KNOWN && !known.covers(&secrets) {
            known.extend(secrets);
        }
    }

    /// What takes the secrets out of all that was recorded.
    fn knowing(&self) -> Redactor {
        self.redactor.knowing(self.state().found.clone())
    }

    pub(super) fn note_out_of_files(&self) {
        self.state().out_of_files = true;
    }

    /// An interaction is over, with bodies of so many bytes.
    pub(super) fn over(self: &Arc<Self>, number: usize, bytes: usize) {
        let is_due = {
            let mut state = self.state();
            state.open.remove(&number);
            state.takes.over(number, bytes)
        };
        self.ended.notify_waiters();
        if !is_due {
            return;
        }
        // Whoever records it anew waits until nobody has it any more.
        let tape = Arc::downgrade(self);
        let put_away = move || while tape.upgrade().is_some_and(|tape| tape.puts_away()) {};
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(put_away)),
            Err(_) => put_away(),
        }
    }

    /// Lets an interaction live in the journal alone that is over. Gives whether there was one.
    fn puts_away(&self) -> bool {
        let next = self.state().takes.next();
        let Some((number, take)) = next else { return false };
        // One that cannot be read from there is held.
        if let Ok(Some(finished)) = take.finished(&self.journal) {
            self.state().takes.put_away(number, finished);
        }
        true
    }

    /// What was recorded, without what never came to be, and the takes that are in it.
    fn roll(&self, base: Option<&Cassette>) -> Result<(Cassette, Roll<'_>, Vec<usize>)> {
        let state = self.state();
        let (mut cassette, mut roll) =
            (base.cloned().unwrap_or_default(), Roll::new(&self.journal));
        let before = std::mem::take(&mut cassette.interactions);
        roll.reserve(before.len() + state.takes.len());
        before.into_iter().for_each(|it| roll.push(Rolled::Held(Box::new(it))));
        if base.is_none() {
            cassette.recorded = state.recorded.clone();
        }
        let mut numbers = BTreeMap::new();
        for (number, take) in state.takes.iter().enumerate() {
            let rolled = take.rolled(&self.journal, &mut cassette.larges)?;
            let Some(mut rolled) = rolled else { continue };
            if let Some(change) = state.changes.get(&number) {
                let changed = change.applied(rolled.into_held(&mut self.journal.reader())?);
                let Some(changed) = changed else { continue };
                rolled = Rolled::Held(Box::new(changed));
            }
            let new = roll.count();
            roll.push(rolled);
            let mut after = roll.after(new);
            if !after.is_empty() {
                after.retain_mut(|progress| {
                    let Some(new) = numbers.get(&progress.interaction) else { return false };
                    progress.interaction = *new;
                    unfinished(progress, roll.facts(*new))
                });
                roll.set_after(new, after);
            }
            numbers.insert(number, new);
        }
        roll.complete()?;
        drop(state);
        self.settle_origins(&mut cassette.recorded, &mut roll);
        Ok((cassette, roll, numbers.into_keys().collect()))
    }

    /// How many takes besides these never came to be.
    fn dropped(&self, takes: &[usize]) -> usize {
        let state = self.state();
        let left_out = state.changes.values().filter(|change| **change == Change::Drop).count();
        state.takes.len() - takes.len() - left_out
    }

    /// Whether its client names the servers, as nobody did when it was begun.
    fn names_servers(&self) -> bool {
        self.state().recorded.upstream.is_empty()
    }

    /// Where no server was named, that which was the first one before stays it.
    fn settle_origins(&self, recorded: &mut Recorded, roll: &mut Roll<'_>) {
        if self.names_servers()
            && let Ok(old) = store::open(&self.folder, &self.name)
        {
            let first = old.recorded.upstream;
            let origin = target::split(&first).0;
            let mut asked = roll.each();
            if !origin.is_empty() && asked.any(|it| target::split(&it.request.path).0 == origin) {
                recorded.upstream = first;
            }
        }
        recorded.settle_origins(roll);
    }

    fn state(&self) -> MutexGuard<'_, TapeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cassette with all that is in it held in memory.
fn held(cassette: Cassette, roll: Roll<'_>) -> Result<Cassette> {
    Ok(Cassette { interactions: roll.into_held()?, ..cassette })
}
