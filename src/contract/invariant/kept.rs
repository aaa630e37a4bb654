//! What is read of a thing: what was said of it before.
//!
//! # Rationale
//!
//! A server that forgets what it was told answers as before, in the same shape. So what an answer says of a thing, an
//! object that has an identifier, is held against what the last answer of the same recording said of it, whatever
//! endpoint that was of, if nothing but reads and what speaks of other things came between; and the rows of a list
//! against what was made and deleted. Only texts are held that differ from thing to thing: a status or a time may move
//! by itself. But also what moves may do so in one direction only: a progress never falls, and a status that was left
//! never comes back. And a request with a key that is sent again comes to the same thing again.

use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::check::{At, Broken, Check, EventValue};
use super::claim::{Field, Invariant};
use super::earlier::Earlier;
use super::echo::Said;
use super::holding::{CHANCES, Chances, Trials};
use super::learn::{FieldNumbers, Map, Sight, Sights};
use super::sorted::is_of_row;
use super::tie::Tie;
use super::trace::{Comparable, RowNumber, Trace};
use crate::identity::{Meaning, is_moment};
use crate::text::json::Text;

/// More fields of things are not held against each other.
const MOST: usize = 1 << 12;

/// An object with an identifier, as an answer says it.
#[derive(Debug)]
pub(in crate::contract) struct Thing {
    pub(in crate::contract) id: String,
    /// Whether it is a row of a list.
    pub(in crate::contract) is_row: bool,
    /// What it says, by what is said and where.
    pub(in crate::contract) said: Vec<(Said, Said)>,
    /// The numbers that it says.
    pub(in crate::contract) counted: Vec<(Said, f64)>,
}

/// The values of an object with an identifier.
struct IdentifiedObject<'s> {
    /// What stands before the names of its members: `data[].`.
    prefix: &'s str,
    key: &'s Sight<'s>,
    id: &'s str,
    said: Vec<&'s Sight<'s>>,
}

/// What answers said of things that earlier ones had spoken of, and of what was made.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    /// By the numbers of the paths of the identifier and of the field.
    fields: BTreeMap<(u32, u32), FieldTally>,
    /// How often the rows of a list were all that was made, by the path of their identifier.
    lists: BTreeMap<u32, Chances>,
    /// The answers that came when something had been made.
    answers: u64,
    /// How often a request that was sent again came to the same, by the path of its identifier.
    again: BTreeMap<u32, Trials>,
}

/// What reads said in a place of things.
#[derive(Debug, Clone, Default)]
struct FieldTally {
    /// The texts that were as before.
    stays: TextTally,
    /// How texts moved: each recording in which one was left, and then the next one.
    moves: MoveTally,
    /// How numbers did.
    rises: MoveTally,
    falls: MoveTally,
}

#[derive(Debug, Clone, Default)]
struct TextTally {
    trials: Trials,
    said: HashSet<Said, FixedState>,
}

/// How often something moved in one direction, and whether it never moved in the other.
#[derive(Debug, Clone, Default)]
struct MoveTally {
    trials: Trials,
    moves: u64,
}

/// Numbers that rise so often and never fall do not do so by chance.
const MOVES: u64 = 10;

/// A server that mints an identifier does not mint the same one twice by chance, but two recordings are what shows that
/// it means it.
const AGAIN: u64 = 2;

impl Kept {
    /// Learns from a message that is an answer by itself.
    pub(super) fn learn(
        &mut self,
        names: &FieldNumbers,
        recording: u32,
        (trace, is_asked): (&Trace<'_>, bool),
        events: &[Sights<'_>],
    ) {
        let Some(earlier) = trace.earlier else { return };
        for (_, sights) in events {
            for object in objects(names, sights) {
                for sight in &object.said {
                    let place = object.place(names.spelled(sight.path));
                    let before = Before::of(earlier, (object.id, place), &sight.value);
                    let key = (object.key.path, sight.path);
                    let is_kept = self.fields.len() < MOST || self.fields.contains_key(&key);
                    if let Some(before) = before.filter(|_| is_kept) {
                        self.fields.entry(key).or_default().see(recording, before);
                    }
                }
            }
            // What the client names comes back in any case.
            let is_named = |id: &str| trace.request.is_some_and(|asked| asked.contains(id));
            if let Some((first, before)) = thing(names, sights).zip(earlier.again())
                && !is_named(first.id)
            {
                self.again.entry(first.key.path).or_default().see(recording, first.id == before);
            }
        }
        let is_part = is_asked || trace.events.iter().any(|event| goes_on(event.json));
        let made = if is_part { Vec::new() } else { earlier.made() };
        if !made.is_empty() {
            self.answers += 1;
            let rows = events.iter().flat_map(|(_, sights)| rows(names, sights));
            for (path, ids) in rows.collect::<BTreeMap<u32, HashSet<&str>>>() {
                let are_there = made.iter().all(|(id, is)| ids.contains(id) == *is);
                self.lists.entry(path).or_default().count(are_there);
            }
        }
    }

    /// What was never otherwise, in so many recordings that it could have been.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let field = |path: u32| Field::of_all(names.spelled(path));
        let tied = self.fields.iter().flat_map(|((key, path), seen)| {
            seen.ties().map(|tie| Invariant::Tied(tie, field(*path), field(*key)))
        });
        let again = self.again.iter().filter(|(_, seen)| seen.hold(AGAIN));
        let again = again.map(|(path, _)| Invariant::Again(field(*path)));
        let all = self.lists.iter().filter(|(_, listed)| listed.always(self.answers));
        let list = all.map(|(path, _)| *path).min_by_key(|path| names.spelled(*path).len());
        tied.chain(again).chain(list.map(|path| Invariant::Lists(field(path)))).collect()
    }
}

/// What a read says in a place of a thing, and what was said there before.
enum Before<'e> {
    Text(&'e [(usize, Said)], Said),
    Number(f64, f64),
}

impl<'e> Before<'e> {
    fn of(
        earlier: &'e dyn Earlier,
        (id, place): (&str, &str),
        now: &Comparable<'_>,
    ) -> Option<Self> {
        if let Some(now) = counted(now) {
            return earlier.counted(id, place).last().map(|(_, last)| Self::Number(*last, now));
        }
        let now = said_by(now)?;
        let said = earlier.said(id, place);
        (!said.is_empty()).then_some(Self::Text(said, now))
    }

    /// Whether it breaks a tie.
    fn breaks(&self, tie: Tie) -> bool {
        match (self, tie) {
            (Self::Text(said, now), Tie::Stays) => last(said) != Some(*now),
            (Self::Text(said, now), Tie::NeverReturns) => {
                last(said) != Some(*now) && said.iter().any(|(_, said)| said == now)
            }
            (Self::Number(last, now), Tie::NeverFalls) => now < last,
            (Self::Number(last, now), Tie::NeverRises) => now > last,
            _ => false,
        }
    }
}

fn last(said: &[(usize, Said)]) -> Option<Said> {
    said.last().map(|(_, said)| *said)
}

impl FieldTally {
    fn see(&mut self, recording: u32, before: Before<'_>) {
        let Self { stays, moves, rises, falls } = self;
        match before {
            Before::Text(said, now) => {
                stays.see(recording, !before.breaks(Tie::Stays), now);
                let is_left =
                    last(said) != Some(now) && said.iter().any(|(_, it)| last(said) != Some(*it));
                moves.see(recording, is_left, before.breaks(Tie::NeverReturns));
            }
            Before::Number(..) => {
                let [is_less, is_more] =
                    [Tie::NeverFalls, Tie::NeverRises].map(|it| before.breaks(it));
                rises.see(recording, is_more, is_less);
                falls.see(recording, is_less, is_more);
            }
        }
    }

    /// What never was otherwise.
    fn ties(&self) -> impl Iterator<Item = Tie> {
        let Self { stays, moves, rises, falls } = self;
        let ties = [
            (Tie::Stays, stays.holds()),
            (Tie::NeverReturns, moves.holds(CHANCES)),
            (Tie::NeverFalls, rises.holds(MOVES)),
            (Tie::NeverRises, falls.holds(MOVES)),
        ];
        ties.into_iter().filter_map(|(tie, holds)| holds.then_some(tie))
    }
}

impl MoveTally {
    fn see(&mut self, recording: u32, moves: bool, is_back: bool) {
        self.moves += u64::from(moves);
        if moves || is_back {
            self.trials.see(recording, !is_back);
        }
    }

    fn holds(&self, moves: u64) -> bool {
        self.moves >= moves && self.trials.hold(CHANCES)
    }
}

impl TextTally {
    fn see(&mut self, recording: u32, is_same: bool, said: Said) {
        self.trials.see(recording, is_same);
        if (self.said.len() as u64) < CHANCES {
            self.said.insert(said);
        }
    }

    fn holds(&self) -> bool {
        self.trials.hold(CHANCES) && self.said.len() as u64 >= CHANCES
    }
}

impl IdentifiedObject<'_> {
    /// Where in the object a path leads.
    fn place<'p>(&self, path: &'p str) -> &'p str {
        &path[self.prefix.len()..]
    }
}

/// What stands for a place of a thing.
pub(in crate::contract) fn place_of(id: &str, place: &str) -> Said {
    FixedState::default().hash_one((id, place))
}

/// What a text says that is no time.
fn said_by(value: &Comparable<'_>) -> Option<Said> {
    let said = value.said().filter(|said| !is_moment(said))?;
    Some(FixedState::default().hash_one(&*said))
}

/// The number that a value is.
fn counted(value: &Comparable<'_>) -> Option<f64> {
    match value {
        Comparable::Number(number) => Some(*number),
        _ => None,
    }
}

/// The same of a value, which may be `null`, or true or false.
pub(in crate::contract) fn said_of(value: Text<'_>) -> Option<Said> {
    let said = value.string().unwrap_or_else(|| value.as_str().trim_ascii().into());
    (!is_moment(&said)).then(|| FixedState::default().hash_one(&*said))
}

/// The objects of an answer that have an identifier, and those of its rows.
fn objects<'s>(names: &'s FieldNumbers, sights: &'s [Sight<'_>]) -> Vec<IdentifiedObject<'s>> {
    let mut found: Map<RowNumber, Vec<IdentifiedObject<'s>>> = Map::default();
    for (sight, id) in super::learn::keys(sights) {
        let path = names.spelled(sight.path);
        let (prefix, name) = path.split_at(path.rfind('.').map_or(0, |dot| dot + 1));
        if Meaning::of(name) != Meaning::Identity || prefix.matches("[]").count() > 1 {
            continue;
        }
        let row = found.entry(sight.row).or_default();
        match row.iter_mut().find(|object| object.prefix == prefix) {
            Some(known) if name == "id" => (known.key, known.id) = (sight, id),
            Some(_) => {}
            None => row.push(IdentifiedObject { prefix, key: sight, id, said: Vec::new() }),
        }
    }
    for sight in sights {
        let path = names.spelled(sight.path);
        for object in found.get_mut(&sight.row).into_iter().flatten() {
            let inside = path.strip_prefix(object.prefix);
            if inside.is_some_and(|inside| !inside.contains("[]")) && sight.path != object.key.path
            {
                object.said.push(sight);
            }
        }
    }
    let mut all: Vec<(RowNumber, Vec<IdentifiedObject<'s>>)> = found.into_iter().collect();
    all.sort_by_key(|(row, _)| *row);
    all.into_iter().flat_map(|(_, objects)| objects).collect()
}

/// The thing that an answer came to.
fn thing<'s>(names: &'s FieldNumbers, sights: &'s [Sight<'_>]) -> Option<IdentifiedObject<'s>> {
    objects(names, sights).into_iter().find(|object| object.key.row == 0)
}

/// The things of which an answer speaks.
pub(in crate::contract) fn things(names: &mut FieldNumbers, json: &str) -> Vec<Thing> {
    let sights = names.sights(json);
    let thing = |object: IdentifiedObject<'_>| {
        let places = object.said.iter().map(|sight| {
            (place_of(object.id, object.place(names.spelled(sight.path))), &sight.value)
        });
        Thing {
            id: object.id.to_owned(),
            is_row: object.key.row > 0,
            said: places.clone().filter_map(|(at, value)| Some((at, said_by(value)?))).collect(),
            counted: places.filter_map(|(at, value)| Some((at, counted(value)?))).collect(),
        }
    };
    objects(names, &sights).into_iter().map(thing).collect()
}

/// Whether an answer says something true beside its lists: it may be that there is more.
fn goes_on(json: &str) -> bool {
    let Some(json) = Text::read(json) else { return false };
    json.members().any(|(_, value)| value.as_str() == "true")
}

/// The lists of an answer, by the path of what identifies their rows.
fn rows<'s>(
    names: &'s FieldNumbers,
    sights: &'s [Sight<'_>],
) -> impl Iterator<Item = (u32, HashSet<&'s str>)> {
    let mut lists: BTreeMap<u32, HashSet<&str>> = BTreeMap::new();
    let rows =
        objects(names, sights).into_iter().filter(|it| is_of_row(names.spelled(it.key.path)));
    rows.for_each(|row| _ = lists.entry(row.key.path).or_default().insert(row.id));
    lists.into_iter()
}

impl Check<'_> {
    /// Where a field does not say of a thing what it may after the answers before.
    pub(super) fn moved(&self, tie: Tie, field: &Field, key: &Field) -> Broken<'_> {
        let Some(earlier) = self.trace.earlier else { return Broken::new() };
        let path = key.path.as_str();
        let prefix = &path[..path.rfind('.').map_or(0, |dot| dot + 1)];
        let Some(place) = field.path.as_str().strip_prefix(prefix) else { return Broken::new() };
        let moved = self.all(field).into_iter().filter_map(|at| {
            let id = self.beside(&at, key)?.value.said()?;
            let before = Before::of(earlier, (&id, place), at.value)?;
            before.breaks(tie).then_some((at, None))
        });
        moved.collect()
    }

    /// The identifier of what a request came to that had come to something else before.
    pub(super) fn made_again(&self, field: &Field) -> Broken<'_> {
        let before = self.trace.earlier.and_then(Earlier::again);
        let first = self.all(field).into_iter().next().filter(|at| {
            before.is_some_and(|before| at.value.said().is_none_or(|said| said != before))
        });
        first.into_iter().map(|at| (at, None)).collect()
    }

    /// What was made and is not in a list.
    pub(super) fn unlisted(&self, field: &Field) -> Option<EventValue> {
        let (missing, _) = self.listed(field)?;
        let event = self.trace.events.len().checked_sub(1);
        Some(EventValue { event, pointer: String::new(), says: format!("`{}`", missing?) })
    }

    /// The rows of a list that were deleted.
    pub(super) fn listed_again(&self, field: &Field) -> Vec<At<'_>> {
        self.listed(field).map(|(_, deleted)| deleted).unwrap_or_default()
    }

    /// What was made and is missing, and what was deleted and is there.
    fn listed(&self, field: &Field) -> Option<(Option<String>, Vec<At<'_>>)> {
        let is_part = self.is_asked() || self.trace.events.iter().any(|it| goes_on(it.json));
        let made = self.trace.earlier.filter(|_| !is_part)?.made();
        let rows = self.all(field);
        let is_row = |id: &str| rows.iter().any(|at| at.value.key() == Some(id));
        let missing = made.iter().find(|(id, is_there)| *is_there && !is_row(id));
        let missing = missing.map(|(id, _)| (*id).to_owned());
        let is_gone = |at: &&At<'_>| made.iter().any(|(id, is)| !is && at.value.key() == Some(id));
        let deleted = rows.iter().filter(is_gone).copied().collect();
        Some((missing, deleted))
    }
}
