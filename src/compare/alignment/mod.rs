//! Two recordings of the same scenario, laid beside each other.
//!
//! Identifiers and times are others in every recording, and parallel requests come in another order.
//! An [`Alignment`] says which interaction of the old recording is which of the new one, and which
//! old identifier stands for which new one, for the recordings as a whole.
//!
//! # How it is found
//!
//! First with all identifiers masked: interactions that are equal then are partners, then those that
//! ask the same, then those that ask for the same sort of thing. Each pair is walked through side by
//! side, and two names in the same place vote for each other: as a
//! whole, for of what stands in the same place not a part is another name. With those that are known by
//! name all is done once more, so that what only its identifiers tell apart finds its partner too. Of several that are
//! equal with their identifiers masked any may be the partner, so first only those vote that have no equal.

mod anew;
mod beside;
mod clock;
mod counted;
mod drawn;
mod interactions;
mod kin;
mod moved;
#[cfg(feature = "record")]
mod overwritten;
mod renaming;
mod value;
mod view;

pub(crate) use beside::{fields, partners, records};
pub use renaming::Renaming;
pub(crate) use value::{FieldMeaning, KnownText, Sort, Value, between};
pub(crate) use view::{Record, Script, View};

use std::collections::HashMap;

use self::beside::walk;
use self::clock::Clock;
use self::interactions::pair;
pub(crate) use self::moved::Moved;
use self::renaming::{KnownNames, SharedNames, Votes};
use crate::cassette::{Cassette, Ids, Interaction};
use crate::config::Rules;

/// Which interaction of an old recording is which of a new one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Alignment {
    /// Interactions that are the same, or the same but for some values, in the order of the new
    /// recording.
    pub pairs: Vec<Pair>,
    /// Numbers, from 0, of interactions that only the old recording has.
    pub only_old: Vec<usize>,
    /// Numbers, from 0, of interactions that only the new recording has.
    pub only_new: Vec<usize>,
    /// Numbers, from 0, of interactions of the old recording that only say that a client asked before
    /// the answer changed, without a partner: how often it asks is a matter of time.
    pub waits_old: Vec<usize>,
    /// The same of the new recording, where the old one shows what was answered.
    pub waits_new: Vec<usize>,
    /// What the identifiers of the new recording are called in the old one.
    pub renaming: Renaming,
}

/// Two interactions that are the same but for some values. Numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pair {
    /// The number in the old recording.
    pub old: usize,
    /// The number in the new recording.
    pub new: usize,
}

/// A name of a new recording, and what it is in the old one.
pub type Called = (String, String);

/// How often the names that were found are used to find more.
const ROUNDS: usize = 2;

/// The same of names that only what has no equal shows: one leads to the next, as from an agent to its run.
const CERTAIN: usize = 4;

impl Alignment {
    /// Pairs and what stands alone, waits too, in the order of the new recording. What only the old one
    /// has stands behind what it followed there.
    pub(crate) fn in_order(&self) -> Vec<(Option<usize>, Option<usize>)> {
        let alone = |only: &[usize], waits: &[usize]| -> Vec<usize> {
            let mut all = [only, waits].concat();
            all.sort_unstable();
            all
        };
        let gone = alone(&self.only_old, &self.waits_old);
        let pairs = self.pairs.iter().map(|pair| (Some(pair.old), Some(pair.new)));
        let fresh = alone(&self.only_new, &self.waits_new).into_iter();
        let mut steps: Vec<_> = pairs.chain(fresh.map(|new| (None, Some(new)))).collect();
        steps.sort_unstable_by_key(|(_, new)| *new);
        for old in gone {
            let before = old.checked_sub(1);
            let place = steps.iter().position(|(other, _)| before.is_some() && *other == before);
            steps.insert(place.map_or(0, |place| place + 1), (Some(old), None));
        }
        steps
    }
}

/// Equal for answers that say the same but for times and what looks like a name.
pub(crate) fn answer_look(interaction: &Interaction) -> u64 {
    let mut view = View::of(interaction, &Rules::default());
    view.look(&SharedNames::default());
    view.response
}

/// Equal for requests of the same sort of thing: their methods and paths, with what looks like a number or a name masked.
#[cfg(feature = "record")]
pub(crate) fn route(interaction: &Interaction) -> u64 {
    View::of(interaction, &Rules::default()).route
}

/// Whether two numbers are times, as far from when their recordings were made (RFC 3339), but for a day.
#[cfg(feature = "review")]
pub(crate) fn moved_with(recorded: [&str; 2], old: &str, new: &str) -> bool {
    Clock::moved(recorded.map(Clock::of), old, new)
}

/// Two recordings made ready to be walked through, and how they lie beside each other.
pub(crate) struct Sides<'a> {
    pub(crate) old: Vec<View<'a>>,
    pub(crate) new: Vec<View<'a>>,
    /// The tables of names.
    ids: [Option<&'a Ids>; 2],
    clocks: [Option<Clock>; 2],
}

impl<'a> Sides<'a> {
    pub(crate) fn of(old: &'a Cassette, new: &'a Cassette, rules: &Rules) -> Self {
        let clocks = [old, new].map(|cassette| Clock::of(&cassette.recorded.at));
        let ids = [old, new].map(|cassette| cassette.ids.as_ref());
        Self { clocks, ids, ..Self::by(rules, &old.interactions, &new.interactions) }
    }

    /// The same of parts of them, of which it is not known when they were recorded; numbers count from
    /// their beginnings.
    pub(crate) fn between(old: &'a [Interaction], new: &'a [Interaction]) -> Self {
        Self::by(&Rules::default(), old, new)
    }

    fn by(rules: &Rules, old: &'a [Interaction], new: &'a [Interaction]) -> Self {
        let views = |all: &'a [Interaction]| all.iter().map(|it| View::of(it, rules)).collect();
        Self { old: views(old), new: views(new), ids: [None; 2], clocks: [None; 2] }
    }

    /// Finds how they lie beside each other; the views then show values under their common names. Those that are
    /// given are known beforehand.
    pub(crate) fn align(&mut self, given: &[Called]) -> Alignment {
        let known = KnownNames::of([&self.old, &self.new], self.ids, self.clocks);
        let mut renaming = known.renaming(given, Votes::default());
        self.look(&renaming);
        for is_certain in [true, false] {
            for _ in 0..if is_certain { CERTAIN } else { ROUNDS } {
                let mut pairs = pair(&self.old, &self.new).pairs;
                if is_certain && !self.keep_certain(&mut pairs) {
                    break;
                }
                let mut votes = Votes::default();
                for pair in pairs {
                    walk(&self.old[pair.old], &self.new[pair.new], &mut |old, new| {
                        votes.hear(old, new, &known);
                    });
                }
                let before = std::mem::replace(&mut renaming, known.renaming(given, votes));
                // By the same names all looks as it does, and the next round finds them again.
                if (&before.old.olds, &before.new.olds) == (&renaming.old.olds, &renaming.new.olds)
                {
                    break;
                }
                self.look(&renaming);
            }
        }
        Alignment { renaming, ..pair(&self.old, &self.new) }
    }

    /// Leaves the pairs of which neither has an equal in its recording, and tells whether there are some, and others.
    fn keep_certain(&self, pairs: &mut Vec<Pair>) -> bool {
        let said = |view: &View<'_>| (view.request, view.response);
        let counts = [&self.old, &self.new].map(|views| {
            let mut counts: HashMap<(u64, u64), usize> = HashMap::new();
            views.iter().for_each(|view| *counts.entry(said(view)).or_default() += 1);
            counts
        });
        let all = pairs.len();
        pairs.retain(|pair| {
            let (old, new) = (said(&self.old[pair.old]), said(&self.new[pair.new]));
            old == new && counts.iter().all(|counts| counts[&old] == 1)
        });
        !pairs.is_empty() && pairs.len() < all
    }

    /// Whether an old interaction and a new one say the same, under their common names.
    pub(crate) fn are_same(&self, old: usize, new: usize) -> bool {
        let (old, new) = (&self.old[old], &self.new[new]);
        (old.request, old.response) == (new.request, new.response)
    }

    fn look(&mut self, renaming: &Renaming) {
        self.old.iter_mut().for_each(|view| view.look(&renaming.old));
        self.new.iter_mut().for_each(|view| view.look(&renaming.new));
    }
}
