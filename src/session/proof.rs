//! Proves that a recording replays.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::tokens::Tokens;
use super::{Miss, Session, SessionBuilder, Summary, Unplayed};
use crate::cassette::{Cassette, Evidence, Id, Name, Place};
use crate::compare::matching::{Learned, Proof, likewise};
use crate::config::Timing;
use crate::error::{Error, Result};
use crate::identity::may_coincide;
use crate::redact::Redactor;
use crate::serve::recorder::{Course, Recording, Saved};
use crate::serve::replayer::Pace;
use crate::store;
use crate::store::mode::Mode;

/// How often a client is run against its recording at most, if the last run has shown nothing new.
const RUNS: usize = 3;

/// How often at most if each run shows something new, or misses something else: a client that draws from a short list
/// says the same as before by chance, now here and now there.
const MOST: usize = 6;

/// What became of the proof that recordings replay.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Proven {
    /// How often the client was run against the recordings.
    pub runs: usize,
    /// Whether the last run was answered without a miss, and the client was content.
    pub replays: bool,
    /// What differed from run to run, so the client makes it up: it was written into the table of names.
    pub made_up: Vec<(Name, Id)>,
    /// What had looked made up and never differed: it must come back as it was recorded.
    pub fixed: Vec<(Name, Id)>,
    /// Places that differ although a person says that nothing there is made up: the person wins.
    pub denied: Vec<(Name, String)>,
    /// Whether the client was content only when all came at the recorded pace: the recordings ask for it now.
    pub paced: bool,
    /// Whether it was content only on its own day: not where its time zone made it another one.
    pub only_today: bool,
    /// Header fields that carry what the server issued, and do not say the same in each run: they do not count.
    pub uncounted: Vec<(Name, String)>,
    /// The recordings that replay only in the words of the server, in which they are written now.
    pub afresh: Vec<Name>,
    /// What the last run missed.
    pub misses: Vec<Miss>,
    /// What it did not ask for: without a server a client may have no time, or no reason, to.
    pub unplayed: Vec<Unplayed>,
    /// The tokens that the client got placeholders for, where the recordings do not replay.
    pub(crate) tokens: Option<Tokens>,
}

/// What runs again to prove a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Client {
    /// A command.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command starts one"))]
    Started,
    /// A function of this process.
    Here,
}

impl Client {
    /// What a run of it has shown.
    ///
    /// # Rationale
    ///
    /// What a process makes up once, such as the name of its run, is the same as often as it says so. What is always
    /// the same is written into the program.
    fn shown(self, proof: Proof) -> Proof {
        match self {
            Self::Started => proof,
            Self::Here => {
                let same = proof.same().cloned().collect();
                proof.with_sameness_of(&store::written(&same))
            }
        }
    }
}

impl SessionBuilder {
    /// Runs a client against what it has just recorded, until nothing is missed. `run` is given the
    /// session and whether it should be another day for the client, and tells whether the client was content; nothing if
    /// it is not run any more: what the runs before have shown counts.
    ///
    /// What is told in the words of an older recording may be told wrongly: that shows where it does not replay, and
    /// does so in the words of the server. Then these are kept.
    pub(crate) async fn prove(
        self,
        recorded: &Summary,
        client: Client,
        mut run: impl AsyncFnMut(&Session, bool) -> Option<bool>,
    ) -> Result<Proven> {
        let proven = self.clone().prove_as_written(recorded, client, &mut run).await?;
        let renewed = recorded.recordings.iter().filter(|it| is_whole(it));
        let renewed = renewed.filter_map(|it| Some((it, it.afresh.as_deref()?)));
        let renewed: Vec<(&Recording, &Cassette)> = renewed.collect();
        if proven.replays || proven.runs == 0 || renewed.is_empty() {
            return Ok(proven);
        }
        let mut before = Vec::new();
        for (recording, _) in &renewed {
            let told = store::open(&recording.folder, &recording.name)?;
            // A body that is not held would be gone with its file.
            if !told.larges.is_empty() {
                return Ok(proven);
            }
            before.push(told);
        }
        for ((recording, afresh), told) in renewed.iter().zip(&before) {
            write(&recording.folder, &recording.name, with_words_of(told, afresh))?;
        }
        let again = self.prove_as_written(recorded, client, &mut run).await;
        if again.as_ref().is_ok_and(|it| it.replays) {
            let afresh = renewed.iter().map(|(it, _)| it.name.clone()).collect();
            return again.map(|it| Proven { afresh, ..proven.and(it) });
        }
        // Also where that could not be tried.
        for ((recording, _), told) in renewed.iter().zip(before) {
            write(&recording.folder, &recording.name, told)?;
        }
        again.map(|_| proven)
    }

    /// The same of what is written now.
    async fn prove_as_written(
        self,
        summary: &Summary,
        client: Client,
        run: &mut impl AsyncFnMut(&Session, bool) -> Option<bool>,
    ) -> Result<Proven> {
        let mut proven = Proven::default();
        let recordings = &summary.recordings;
        let recorded: HashMap<&Name, &Path> = recordings
            .iter()
            .filter(|it| is_whole(it))
            .map(|it| (&it.name, it.folder.as_path()))
            .collect();
        if recorded.is_empty() {
            return Ok(proven);
        }
        let untimed = self.clone().complete()?;
        let is_untimed =
            self.pace.is_none() && recorded.keys().all(|name| !untimed.rules_of(name).is_timed());
        let (mut is_elsewhere, mut is_failed_elsewhere) = (true, false);
        let (mut has_news, mut content, mut was_paced) = (true, 0, false);
        loop {
            if !proven.is_open(has_news, content) {
                // What came too early may be what was missed, or what it waits for.
                if proven.replays || !is_untimed || was_paced {
                    break;
                }
                proven.paced = true;
            }
            was_paced |= proven.paced;
            let settings =
                if proven.paced { self.clone().pace(Pace::Times(1.0)) } else { self.clone() };
            let (ran, proofs, Summary { mut misses, unused, unplayed, .. }) =
                settings.replayed(run, is_elsewhere).await?;
            misses.retain(|miss| !is_without_recording(miss, summary));
            let Some(is_content) = ran else {
                // Why it went on for ever.
                proven.misses = misses;
                if !is_untimed || was_paced {
                    break;
                }
                proven.paced = true;
                continue;
            };
            proven.runs += 1;
            let has_made_up = proofs.iter().any(|(_, proof)| proof.has_made_up());
            // A client that asks nothing this time proves nothing.
            let is_played = misses.is_empty() && !has_made_up && !unused;
            proven.replays = is_content && is_played;
            content = if proven.replays { content + 1 } else { 0 };
            proven.only_today = proven.replays && !is_elsewhere && is_failed_elsewhere;
            // All that was asked for came. What is left is when it came, and then which day it is.
            let is_failed = is_played && !is_content;
            let is_late = is_failed && is_untimed && !proven.paced;
            is_failed_elsewhere |= is_failed && is_elsewhere;
            proven.paced = is_late || proven.paced && !is_failed;
            is_elsewhere = is_late;
            for recording in recordings.iter().filter(|it| is_whole(it)) {
                proven.uncount(recording, &misses)?;
            }
            let known = drawn(&proven.misses);
            (proven.misses, proven.unplayed) = (misses, unplayed);
            for (name, proof) in proofs {
                proven.deny(&name, &proof);
                if let Some(folder) = recorded.get(&name) {
                    proven.add(&name, learn(folder, &name, &client.shown(proof))?);
                }
            }
            has_news = has_made_up || drawn(&proven.misses) != known;
        }
        proven.keep_in(&recorded)
    }

    /// Runs a client once against what is written: whether it was content, what it has shown, and what it missed.
    async fn replayed(
        self,
        run: &mut impl AsyncFnMut(&Session, bool) -> Option<bool>,
        is_elsewhere: bool,
    ) -> Result<(Option<bool>, Vec<(Name, Proof)>, Summary)> {
        let session = self.mode(Mode::Replay).proving().start().await?;
        let ran = run(&session, is_elsewhere).await;
        let closed = session.close().await;
        let proofs = closed.proofs();
        Ok((ran, proofs, closed.save(Course::Whole)?))
    }
}

/// What was drawn otherwise in what was missed.
fn drawn(misses: &[Miss]) -> Vec<String> {
    let differences = misses.iter().flat_map(|miss| &miss.differences);
    let changed = differences.filter(|it| it.recorded.is_some());
    let drawn = changed.filter_map(|it| it.asked.as_ref()?.said());
    drawn.filter(|word| may_coincide(word)).collect()
}

/// Writes into a cassette that it replays at the recorded pace only.
fn keep_pace(folder: &Path, name: &Name) -> Result<()> {
    rewrite(folder, name, |cassette| {
        cassette.rules = std::mem::take(&mut cassette.rules).timed(Timing::Recorded);
    })
}

impl Proven {
    /// It, if the recordings replay.
    ///
    /// # Errors
    ///
    /// If they do not; the hint says why.
    pub fn checked(self) -> Result<Self> {
        if self.replays {
            return Ok(self);
        }
        let why = self.misses.first().map_or_else(
            || "the client failed, asked nothing, or made up something else in each run".to_owned(),
            |miss| miss.explanation.clone(),
        );
        let tokens = self.tokens.map(|tokens| format!("\nhint: {}", tokens.hint()));
        let why = why + &tokens.unwrap_or_default();
        let runs = if self.runs == 1 { String::new() } else { format!(" in {} runs", self.runs) };
        Err(Error::said(format!("the recording does not replay{runs}")).with_hint(why))
    }

    /// Whether to run the client once more, where the last run may have shown something new, and so many one after
    /// another have replayed: what is drawn from a short list may be the same as before once.
    fn is_open(&self, has_news: bool, content: usize) -> bool {
        // Of numbers with three digits there are enough.
        let is_of_few = |value: &str| {
            may_coincide(value) && (value.len() < 3 || value.contains(char::is_alphabetic))
        };
        let needed = 1 + usize::from(self.made_up.iter().any(|(_, id)| is_of_few(&id.value)));
        let most = if has_news || content > 0 { MOST } else { RUNS };
        self.runs < most && content < needed
    }

    /// Writes into the recordings what all runs together have shown.
    fn keep_in(mut self, recorded: &HashMap<&Name, &Path>) -> Result<Self> {
        self.paced &= self.replays;
        if !self.replays {
            self.tokens = self.tokens_in(recorded);
            return Ok(self);
        }
        recorded.iter().try_for_each(|(name, folder)| self.learn_likewise(folder, name))?;
        if self.paced {
            recorded.iter().try_for_each(|(name, folder)| keep_pace(folder, name))?;
        }
        Ok(self)
    }

    /// Notes where a person says that nothing is made up, and a run shows that something is.
    fn deny(&mut self, name: &Name, proof: &Proof) {
        let denied = proof.denied().map(|place| (name.clone(), place.to_owned()));
        let denied: Vec<_> = denied.filter(|it| !self.denied.contains(it)).collect();
        self.denied.extend(denied);
    }

    /// Writes into the table of a cassette what the requests show that the last run did not ask for.
    fn learn_likewise(&mut self, folder: &Path, name: &Name) -> Result<()> {
        let left = self.unplayed.iter().filter(|left| left.cassette == name.as_str());
        let left: BTreeSet<usize> = left.map(|left| left.interaction).collect();
        if left.is_empty() {
            return Ok(());
        }
        let made_up = rewrite(folder, name, |cassette| {
            let Some(mut ids) = cassette.ids.take() else { return Vec::new() };
            let found = likewise(cassette, &ids, &left);
            ids.client.extend(found.iter().cloned());
            ids.client.sort_by_key(|id| id.interaction);
            cassette.ids = Some(ids);
            found
        })?;
        self.add(name, Learned { made_up, fixed: Vec::new() });
        Ok(())
    }

    /// The tokens in the recordings, first in those that the last run did not play as they are.
    fn tokens_in(&self, recorded: &HashMap<&Name, &Path>) -> Option<Tokens> {
        let has_failed = |name: &Name| {
            self.misses.iter().any(|miss| miss.cassette == name.as_str())
                || self.unplayed.iter().any(|left| left.cassette == name.as_str())
        };
        let mut names: Vec<_> = recorded.iter().collect();
        names.sort_by_key(|(name, _)| (!has_failed(name), *name));
        names.into_iter().find_map(|(name, folder)| {
            let cassette = store::open(folder, name).ok()?;
            Tokens::of(name, &cassette)
        })
    }

    /// Lets header fields not count that do so only since the recording, where nothing but them was another one in a
    /// run: requests at once may carry them in turns.
    fn uncount(&mut self, recording: &Recording, misses: &[Miss]) -> Result<()> {
        let Recording { folder, name, carriers, .. } = recording;
        let field = |at: &Place| match at {
            Place::Header(field) => carriers.iter().find(|it| it.eq_ignore_ascii_case(field)),
            _ => None,
        };
        let here = misses.iter().filter(|miss| miss.cassette == name.as_str());
        let differing = here.filter_map(|miss| {
            miss.differences.iter().map(|it| field(&it.at)).collect::<Option<Vec<_>>>()
        });
        let fields: BTreeSet<String> = differing.flatten().cloned().collect();
        if fields.is_empty() {
            return Ok(());
        }
        let fields: Vec<String> = fields.into_iter().collect();
        rewrite(folder, name, |cassette| {
            cassette.rules = std::mem::take(&mut cassette.rules).without_headers(&fields);
        })?;
        self.uncounted.extend(fields.into_iter().map(|field| (name.clone(), field)));
        Ok(())
    }

    /// It, and what became of the proof when it was tried once more.
    fn and(mut self, mut again: Self) -> Self {
        self.made_up.append(&mut again.made_up);
        self.fixed.append(&mut again.fixed);
        let (made_up, fixed, uncounted) = (self.made_up, self.fixed, self.uncounted);
        Self { runs: self.runs + again.runs, made_up, fixed, uncounted, ..again }
    }

    fn add(&mut self, name: &Name, learned: Learned) {
        let Learned { made_up, fixed } = learned;
        for id in made_up {
            let is_same = |(of, known): &(Name, Id)| {
                let place = |it: &Id| (it.interaction, it.at.clone(), it.value.clone());
                of == name && place(known) == place(&id)
            };
            if !self.made_up.iter().any(is_same) {
                self.made_up.push((name.clone(), id));
            }
        }
        self.fixed.extend(fixed.into_iter().map(|id| (name.clone(), id)));
    }
}

/// Writes into the tables of cassettes what a second run of a test in the same process has shown: what differs is
/// made up, but what is the same may be so because the process is.
pub(super) fn learn_more(folder: &Path, proofs: &[(Name, Proof)]) -> Result<Vec<Id>> {
    let mut made_up = Vec::new();
    for (name, proof) in proofs {
        made_up
            .extend(learn(folder, name, &proof.clone().with_sameness_of(&HashSet::new()))?.made_up);
    }
    Ok(made_up)
}

/// Writes into the table of a cassette what a run has shown.
fn learn(folder: &Path, name: &Name, proof: &Proof) -> Result<Learned> {
    rewrite(folder, name, |cassette| {
        let mut ids = match &cassette.ids {
            Some(ids) => ids.clone(),
            None => crate::identity::decide(cassette, &cassette.rules),
        };
        let learned = proof.learn(cassette, &mut ids);
        cassette.ids = Some(ids);
        learned
    })
}

/// Changes what a cassette says of its replay.
fn rewrite<T>(folder: &Path, name: &Name, change: impl FnOnce(&mut Cassette) -> T) -> Result<T> {
    let mut cassette = store::open(folder, name)?;
    let before = (cassette.ids.clone(), cassette.rules.clone());
    let changed = change(&mut cassette);
    if before != (cassette.ids.clone(), cassette.rules.clone()) {
        write(folder, name, cassette)?;
    }
    Ok(changed)
}

fn write(folder: &Path, name: &Name, cassette: Cassette) -> Result<()> {
    let redactor = Redactor::of_rules(&cassette.redactions)?;
    store::save(folder, name, &redactor.cassette(cassette)).map(drop)
}

/// A recording in the words of the server, with what people have written into the file.
fn with_words_of(told: &Cassette, afresh: &Cassette) -> Cassette {
    let mut cassette = Cassette { rules: told.rules.clone(), ..afresh.clone() };
    let written = told.ids.iter().flat_map(|ids| &ids.client);
    let written = written.filter(|id| id.evidence == Evidence::Person);
    if let Some(ids) = &mut cassette.ids {
        ids.client.retain(|id| !written.clone().any(|it| it.value == id.value));
        ids.client.extend(written.cloned());
        ids.client.sort_by_key(|id| id.interaction);
    }
    cassette
}

/// Whether a request had no answer because what its test recorded was not kept as a cassette: that proves nothing of the
/// others.
fn is_without_recording(miss: &Miss, recorded: &Summary) -> bool {
    let is_here = |name: &Name| name.as_str() == miss.cassette;
    let (kept, beside): (Vec<_>, Vec<_>) = recorded.recordings.iter().partition(|it| is_whole(it));
    let mut lost = beside.into_iter().map(|it| &it.name).chain(&recorded.discarded);
    lost.any(is_here) && !kept.into_iter().any(|it| is_here(&it.name))
}

pub(super) fn is_whole(recording: &Recording) -> bool {
    recording.saved == Saved::Cassette && recording.path.is_some()
}
