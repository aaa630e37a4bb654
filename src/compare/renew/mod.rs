//! A recording that takes the place of an older one and says the same in the same words.
//!
//! What an unchanged server says is another in every recording: identifiers, times, how the network
//! cut it up, how often it said that it is still there. [`renew`] lays the new recording beside the
//! old one and keeps the old text wherever nothing else differs, so that the difference of the two
//! files is what changed.
//!
//! # What is kept, and what is not
//!
//! *Names* are exchanged in the whole recording at once, one for one, so that an identifier is the
//! same wherever it stands and a replay of the result works as that of the new recording. *Times*,
//! chunks, offsets, keep-alives, the order of independent messages, `after` and the header fields that tell
//! of one transfer stay as they were, and so do digests of bodies that are as they were. Everything else is
//! taken from the new recording, value by value and byte by byte.

mod body;
mod channels;
mod exchange;
mod foreign;
mod message;
mod order;
mod settle;
mod sockets;
mod spans;
mod ties;

use std::collections::{BTreeMap, HashMap};

use self::foreign::Foreign;
use self::order::{OrderEntry, RenewedInteraction};
use self::settle::{Settle, Spans, Stayed, Times};
use self::ties::Ties;
use crate::cassette::exchanges::{ExchangePart, Exchanges, MESSAGE};
use crate::cassette::{Cassette, Interaction};
use crate::compare::alignment::{Called, Moved, Sides};
use crate::config::Rules;

/// A recording in the words of an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renewed {
    /// It.
    pub cassette: Cassette,
    /// How many of its interactions are as they were.
    pub kept: usize,
    /// How many of the old one's are not in it any more.
    pub gone: usize,
}

/// Tells a new recording in the words of the old one, by its own rules.
pub fn renew(old: &Cassette, new: Cassette) -> Renewed {
    renew_by(&Rules::default(), old, new, Vec::new())
}

/// What names of a new recording were called in an older one: another recording may say them, too.
pub fn called(rules: &Rules, old: &Cassette, new: &Cassette) -> Vec<Called> {
    let rules = &rules.clone().and(&new.rules).of_order();
    let alignment = Sides::of(old, new, rules).align(&[]);
    alignment.renaming.called().collect()
}

/// The same, by what is said of the recording elsewhere too: in which lists the order means nothing. What other
/// recordings have shown of its names is `given`.
pub fn renew_by(
    rules: &Rules,
    old: &Cassette,
    mut new: Cassette,
    mut given: Vec<Called>,
) -> Renewed {
    let rules = &rules.clone().and(&new.rules).of_order();
    given.extend(Moved::back(old, &mut new));
    let sockets = sockets::pairs(old, &mut new);
    let foreign = Foreign::apart(old, &mut new, &sockets);
    let whole = old;
    let old = foreign.as_ref().map_or(old, |foreign| &foreign.old);
    let [olds, mut news] = [old, &new].map(Exchanges::by_message);
    if let (Some(before), Some(now)) = (&olds, &news)
        && channels::restore(old, (before, now), (rules, &given), &mut new)
    {
        news = Exchanges::by_message(&new);
    }
    let (told, gone) = tell(
        olds.as_ref().map_or(old, |it| &it.cassette),
        news.as_ref().map_or(&new, |it| &it.cassette),
        (rules, &given),
    );
    let kept = told.iter().filter(|it| it.is_kept).count();
    // The times that stay are by the clock of the old one.
    if told.iter().any(|it| it.old.is_some()) {
        new.recorded.at.clone_from(&old.recorded.at);
    }
    let mut opened = HashMap::new();
    let mut interactions: Vec<_> = match &news {
        None => told.into_iter().map(|it| it.interaction).collect(),
        Some(news) => {
            let closed =
                |told: &RenewedInteraction| closed(old, olds.as_ref()?.spot(told.old?).interaction);
            let spots = told.iter().map(|it| it.new.map(|number| news.spot(number)));
            let begun =
                spots.filter(|spot| spot.is_none_or(|spot| spot.part == ExchangePart::Request));
            let numbered = begun.enumerate();
            opened.extend(numbered.filter_map(|(at, spot)| Some((at, spot?.interaction))));
            let told = told.into_iter().map(|it| (closed(&it), it.interaction, it.new));
            news.fold(&new, told.collect())
        }
    };
    let kept = match &news {
        None => kept,
        // Of a WebSocket all has to be as it was.
        Some(_) => interactions.iter().filter(|it| old.interactions.contains(it)).count(),
    };
    let is_same = interactions == old.interactions && new.interrupted == old.interrupted;
    let cassette = if is_same {
        // Rules that had nothing to redact are no change.
        Cassette { rules: new.rules, ..whole.clone() }
    } else {
        if let Some(foreign) = foreign {
            foreign.put_back(&mut interactions, &opened);
        }
        // What was kept may name a body of the old one.
        let larges = whole.larges.clone().into_iter().chain(new.larges).collect();
        Cassette { interactions, larges, ..new }
    };
    Renewed { cassette, kept, gone }
}

/// So often it is looked whether the old times say what the server did not: what is not told by them any more may tell
/// against others.
const ROUNDS: usize = 32;

/// The interactions of a new recording in the words of the old one.
fn tell(
    old: &Cassette,
    new: &Cassette,
    (rules, given): (&Rules, &[Called]),
) -> (Vec<RenewedInteraction>, usize) {
    let mut sides = Sides::of(old, new, rules);
    let alignment = sides.align(given);
    let times = Times::default();
    let settle = Settle { renaming: &alignment.renaming, times: &times, spans: Spans::Stay };
    let (mut entries, mut answered) = (Vec::new(), Vec::new());
    let (mut asked, mut stayed) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut pairs = alignment.pairs.iter().peekable();
    for (number, view) in sides.new.iter().enumerate() {
        if alignment.waits_new.contains(&number) {
            continue;
        }
        let old = pairs.next_if(|pair| pair.new == number).map(|pair| pair.old);
        let interaction = exchange::told(old.map(|old| &sides.old[old]), view, settle);
        let entry = OrderEntry { old, new: Some(number), interaction };
        let stays = &mut stayed[usize::from(is_changed(&entry, &sides))];
        let (in_request, in_answer) = (times.asked(), times.heard());
        stays.extend(in_request.iter().chain(&in_answer).cloned());
        asked.extend(in_request.iter().cloned());
        entries.push(entry);
        answered.push((in_request, in_answer));
    }
    let again = |entry: &mut OrderEntry, (times, spans): (&Times, Spans)| {
        if let Some(view) = entry.new.map(|number| &sides.new[number]) {
            let old = entry.old.map(|old| &sides.old[old]);
            entry.interaction = exchange::told(old, view, Settle { times, spans, ..settle });
        }
    };
    let [sure, other] = stayed;
    let mut known = Times::agreed([asked, sure, other]);
    for (entry, (_, answered)) in entries.iter_mut().zip(&answered) {
        if !known.is_empty() && (is_changed(entry, &sides) || known.contradict(answered)) {
            again(entry, (&known, Spans::Stay));
        }
    }
    for round in 0..ROUNDS {
        let ties = ties(round, entries.iter().zip(&answered), &sides, rules);
        if ties.is_empty() && round > 0 {
            break;
        }
        known = known.but_for(ties);
        for (entry, (asked, answered)) in entries.iter_mut().zip(&answered) {
            let has_own = known.has_own(asked) || known.has_own(answered);
            if !known.is_empty() && (is_changed(entry, &sides) || has_own) {
                again(entry, (&known, Spans::Stay));
            }
        }
    }
    for entry in entries.iter_mut().filter(|entry| is_changed(entry, &sides)) {
        let Some(number) = entry.new else { continue };
        let old = entry.old.map(|old| sides.old[old].interaction);
        if Spans::of(old, &new.interactions[number], &entry.interaction, rules) == Spans::New {
            again(entry, (&known, Spans::New));
        }
    }
    let both = entries
        .iter_mut()
        .filter_map(|entry| Some((&new.interactions[entry.new?], &mut entry.interaction)));
    let etags = exchange::told_etags(&mut both.collect::<Vec<_>>());
    for entry in &mut entries {
        exchange::same_etags(&etags, &mut entry.interaction.request);
    }
    let kept = order::restored(entries, &alignment.waits_old, old, new);
    (kept, alignment.only_old.len())
}

/// What the old times would say that the server did not, of interactions with the times that stayed in requests and
/// answers.
fn ties<'e>(
    round: usize,
    entries: impl Iterator<Item = (&'e OrderEntry, &'e (Vec<Stayed>, Vec<Stayed>))>,
    sides: &Sides<'_>,
    rules: &Rules,
) -> Ties {
    let mut ties = Ties::default();
    let mut messages: BTreeMap<&str, Vec<(&Interaction, &Interaction)>> = BTreeMap::new();
    for (OrderEntry { old, new, interaction: told }, (asked, answered)) in entries {
        if let Some(number) = new.filter(|_| told.request.method == MESSAGE) {
            let new = sides.new[number].interaction;
            messages.entry(&new.request.path).or_default().push((new, told));
        }
        let is_moved = asked.iter().chain(answered).any(|(new, old)| new != old);
        let Some(number) = new.filter(|_| is_moved) else { continue };
        let [old, new] = [(*old, &sides.old), (Some(number), &sides.new)]
            .map(|(at, side)| at.map(|at| side[at].interaction));
        match new {
            Some(new) if round == 0 => ties.add(new, told, rules),
            Some(new) => ties.give_up(old, new, told, rules),
            None => {}
        }
    }
    if round == 0 {
        messages.values().for_each(|messages| ties.add_messages(messages, rules));
    }
    ties
}

/// Whether an interaction does not say what it said before.
fn is_changed(entry: &OrderEntry, sides: &Sides<'_>) -> bool {
    let before = entry.old.map(|old| sides.old[old].interaction);
    before.is_none_or(|before| {
        before.outcome != entry.interaction.outcome || before.request != entry.interaction.request
    })
}

/// When a WebSocket was closed.
fn closed(cassette: &Cassette, interaction: usize) -> Option<u64> {
    let last = cassette.interactions[interaction].frames().last()?;
    last.message().is_none().then_some(last.ms)
}
