//! What is read of a thing: what was said of it before.
//!
//! # Rationale
//!
//! A server that forgets what it was told answers as before, in the same shape. So what an answer says of a thing, an
//! object that has an identifier, is held against what the last answer of the same recording said of it, whatever
//! endpoint that was of, if nothing but reads and what speaks of other things came between; and the rows of a list
//! against what was made and deleted. Only texts are held that differ from thing to thing: a status or a time may move
//! by itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::check::{At, Broken, Check, EventValue};
use super::claim::{Field, Invariant, Path};
use super::echo::Said;
use super::holding::{CHANCES, Chances};
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
}

#[derive(Debug, Clone, Default)]
struct FieldTally {
    recordings: BTreeSet<u32>,
    said: HashSet<Said, FixedState>,
    is_broken: bool,
}

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
                    let before = earlier.said(object.id, place);
                    let Some((before, said)) = before.zip(said_by(&sight.value)) else { continue };
                    let key = (object.key.path, sight.path);
                    if self.fields.len() < MOST || self.fields.contains_key(&key) {
                        self.fields.entry(key).or_default().see(recording, before, said);
                    }
                }
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
        let field = |path: u32| Field { tag: None, path: Path::written(names.spelled(path)) };
        let stays = self.fields.iter().filter(|(_, seen)| seen.holds());
        let stays =
            stays.map(|((key, path), _)| Invariant::Tied(Tie::Stays, field(*path), field(*key)));
        let all = self.lists.iter().filter(|(_, listed)| listed.always(self.answers));
        let list = all.map(|(path, _)| *path).min_by_key(|path| names.spelled(*path).len());
        stays.chain(list.map(|path| Invariant::Lists(field(path)))).collect()
    }
}

impl FieldTally {
    fn see(&mut self, recording: u32, before: Said, said: Said) {
        self.is_broken |= before != said;
        if !enough(self.recordings.len()) {
            self.recordings.insert(recording);
        }
        if !enough(self.said.len()) {
            self.said.insert(said);
        }
    }

    fn holds(&self) -> bool {
        !self.is_broken && enough(self.recordings.len()) && enough(self.said.len())
    }
}

fn enough(count: usize) -> bool {
    count as u64 >= CHANCES
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

/// The things of which an answer speaks.
pub(in crate::contract) fn things(names: &mut FieldNumbers, json: &str) -> Vec<Thing> {
    let sights = names.sights(json);
    let thing = |object: IdentifiedObject<'_>| {
        let said = object.said.iter().filter_map(|sight| {
            let place = object.place(names.spelled(sight.path));
            Some((place_of(object.id, place), said_by(&sight.value)?))
        });
        Thing { id: object.id.to_owned(), is_row: object.key.row > 0, said: said.collect() }
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
    /// Where a field says something else of a thing than the answer before.
    pub(super) fn moved(&self, field: &Field, key: &Field) -> Broken<'_> {
        let Some(earlier) = self.trace.earlier else { return Broken::new() };
        let path = key.path.as_str();
        let prefix = &path[..path.rfind('.').map_or(0, |dot| dot + 1)];
        let Some(place) = field.path.as_str().strip_prefix(prefix) else { return Broken::new() };
        let moved = self.all(field).into_iter().filter_map(|at| {
            let id = self.beside(&at, key)?.value.said()?;
            let before = earlier.said(&id, place)?;
            (said_by(at.value) != Some(before)).then_some((at, None))
        });
        moved.collect()
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
