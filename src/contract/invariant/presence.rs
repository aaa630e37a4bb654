//! What comes exactly where something is asked for, or is so: `owner` with `?expand=owner`, `next` with
//! `"has_more": true`.
//!
//! # Rationale
//!
//! A field that comes now and then may be missing, says its shape, and a server that has forgotten it keeps to
//! that. So it is looked for what decides: something that is there in just those messages that have the field.
//! How likely that is by chance is known: there are only so many ways to choose those messages. What says the
//! same but for identifiers and times is there once: a server that has two tools shows both in every recording.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::fast::FixedState;

use super::claim::{Field, Invariant, Path, With};
use super::echo::{Said, said};
use super::holding::CHANCES;
use super::learn::{FieldNumbers, Map, Sight};
use super::number::CHANCE;
use super::trace::is_tuple;
use crate::identity::Meaning;
use crate::text::json::{Container, Text};

/// What is said more deeply is not looked at.
const DEEPEST: usize = 8;

/// In so many objects stands what a request asks for: `variables.orderBy.direction`.
const DEEPEST_ASKED: usize = 2;

/// A message with more fields is a table, and one that says more is no question of yes or no.
const MOST: usize = 512;

/// A longer value is no word.
const LONGEST: usize = 40;

/// Where fields are in messages that are answers by themselves, by the numbers of paths and of messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Presence {
    /// Of which recording each message is, and what it says.
    messages: Vec<(u32, Said)>,
    /// The objects, by path.
    objects: Map<u32, Messages>,
    fields: Map<u32, Holder>,
    /// What may decide.
    conditions: BTreeMap<With, Messages>,
}

/// Numbers of messages in their order.
type Messages = Vec<usize>;

#[derive(Debug, Clone)]
struct Holder {
    /// The path of the object that has the field.
    object: u32,
    messages: Messages,
    /// Whether one of several objects of a message has it and another one does not: nothing outside of them decides.
    varies: bool,
}

impl Presence {
    pub(super) fn learn(
        &mut self,
        names: &mut FieldNumbers,
        recording: u32,
        (request, json): (Option<&str>, &str),
        sights: [&[Sight<'_>]; 2],
    ) {
        let number = self.messages.len();
        self.messages.push((recording, content(names, sights)));
        if self.fields.len() > MOST || self.conditions.len() > MOST {
            return;
        }
        let (mut objects, mut having) =
            (Map::<u32, usize>::default(), Map::<u32, usize>::default());
        each(json, &mut |path, object, value| {
            if object.is_none() && !is_object(value) {
                return;
            }
            let word = names.word(path.as_str());
            if let Some(object) = object {
                let object = names.word(object);
                let place = || Holder { object, messages: Messages::new(), varies: false };
                note(&mut self.fields.entry(word).or_insert_with(place).messages, number);
                *having.entry(word).or_default() += 1;
            }
            if is_object(value) {
                note(self.objects.entry(word).or_default(), number);
                *objects.entry(word).or_default() += 1;
            }
        });
        for (word, count) in having {
            let Some(place) = self.fields.get_mut(&word) else { continue };
            place.varies |= objects.get(&place.object).is_some_and(|all| count < *all);
        }
        for condition in conditions(request, json) {
            note(self.conditions.entry(condition).or_default(), number);
        }
    }

    /// What comes exactly where something else is, and not by chance.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        if self.fields.len() > MOST || self.conditions.len() > MOST {
            return Vec::new();
        }
        let decided = self.fields.iter().filter(|(_, place)| !place.varies);
        let optional = decided.filter_map(|(path, place)| {
            let all = self.objects.get(&place.object)?;
            let absent = all.iter().filter(|it| place.messages.binary_search(it).is_err());
            let counts = [self.count(place.messages.iter()), self.count(absent)];
            let is_shown = counts.iter().all(|count| *count as u64 >= CHANCES);
            is_shown.then_some((names.spelled(*path), place, all, counts))
        });
        let optional: Vec<_> = optional.collect();
        let claims = optional.len() * self.conditions.len();
        let mut found = Vec::new();
        for (path, place, all, counts) in optional {
            if ways(counts) * CHANCE <= claims as f64 {
                continue;
            }
            let path = Path::written(path);
            let decides = |(condition, messages): &(&With, &Messages)| {
                let here = messages.iter().filter(|it| all.binary_search(it).is_ok());
                condition.may_decide(&path) && here.eq(&place.messages)
            };
            let deciding = self.conditions.iter().filter(decides).map(|(condition, _)| condition);
            let deciding: Vec<&With> = deciding.collect();
            let names_it = |it: &With| {
                it.path.last() == path.last()
                    || it.says.as_ref().is_some_and(|says| says.contains(path.last()))
            };
            // Which of several words of a request it is no recording shows.
            let is_only = |it: &&&With| {
                !it.in_request || names_it(it) || deciding.iter().all(|other| other.path == it.path)
            };
            let best = deciding.iter().filter(is_only).copied().min_by_key(|it| {
                (it.in_request, !names_it(it), it.says.is_none(), it.path.as_str().len(), *it)
            });
            let field = Field { tag: None, path: path.clone() };
            found.extend(best.map(|condition| Invariant::Comes(field, condition.clone())));
        }
        found
    }

    /// Of how many recordings messages are, at most one of those that say the same.
    fn count<'m>(&self, messages: impl Iterator<Item = &'m usize>) -> usize {
        let (recordings, said): (BTreeSet<u32>, BTreeSet<Said>) =
            messages.map(|message| self.messages[*message]).unzip();
        recordings.len().min(said.len())
    }
}

/// In how many ways so many can be chosen of both.
fn ways([one, other]: [usize; 2]) -> f64 {
    (1..=one.min(other)).map(|it| (one.max(other) + it) as f64 / it as f64).product()
}

/// Whether a field that may come is missing, by the path of its object.
pub(super) fn is_missing(json: &str, field: &Path) -> bool {
    let (mut has_object, mut has_field) = (false, false);
    each(json, &mut |path, object, value| {
        has_object |= is_object(value) && field.is_member_of(path);
        has_field |= object.is_some() && path == field;
    });
    has_object && !has_field
}

/// Whether a field comes although the answer says the opposite of what it comes with. What was asked for may come
/// unasked.
pub(super) fn comes_without(json: &str, field: &Path, with: &With) -> bool {
    let opposite = match with.says.as_deref() {
        Some("true") if !with.in_request => "false",
        Some("false") if !with.in_request => "true",
        _ => return false,
    };
    let (mut has_field, mut is_opposite) = (false, false);
    each(json, &mut |path, object, value| {
        if object.is_some() {
            has_field |= path == field;
            is_opposite |= *path == with.path && value.as_str() == opposite;
        }
    });
    has_field && is_opposite
}

/// What may decide what comes: what the request says in its fields, and what is true or false in an answer.
pub(super) fn conditions(request: Option<&str>, json: &str) -> BTreeSet<With> {
    let mut found = BTreeSet::new();
    let with = |in_request, path: &Path, says| With { in_request, path: path.clone(), says };
    each(request.unwrap_or("null"), &mut |path, object, value| {
        let is_deep = object.is_none_or(|object| object.matches('.').count() >= DEEPEST_ASKED);
        if is_deep || path.is_in_array() || is_object(value) {
            return;
        }
        let list: Vec<_> = value.elements().filter_map(Text::string).collect();
        let words: Vec<_> = value.string().into_iter().chain(list).collect();
        let words: Vec<&str> = words.iter().flat_map(|said| said.split(',')).collect();
        if words.iter().all(|word| is_name(word)) {
            found.extend(words.iter().map(|word| with(true, path, Some(format!("\"{word}\"")))));
        }
        if matches!(value.as_str(), "true" | "false") {
            found.insert(with(true, path, Some(value.as_str().to_owned())));
        }
        found.insert(with(true, path, None));
    });
    each(json, &mut |path, object, value| {
        if object.is_some() && matches!(value.as_str(), "true" | "false") && !path.is_in_array() {
            found.insert(with(false, path, Some(value.as_str().to_owned())));
        }
    });
    found
}

/// What a request and its answer say, but for identifiers and times.
fn content(names: &FieldNumbers, sights: [&[Sight<'_>]; 2]) -> Said {
    let mut hasher = FixedState::default().build_hasher();
    for Sight { path, value, .. } in sights.into_iter().flatten() {
        let name = Path::written(names.spelled(*path));
        let is_content = value.key().is_none() && Meaning::of(name.last()) == Meaning::Plain;
        said(value).filter(|_| is_content).map(|said| (path, said)).hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether it may stand for something: a name.
fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(is_plain)
}

fn note(messages: &mut Messages, number: usize) {
    if messages.last() != Some(&number) {
        messages.push(number);
    }
}

/// Tells what stands in a JSON text and is not null: where, in which object if it is a member of one, and the value.
fn each<'j>(json: &'j str, told: &mut dyn FnMut(&Path, Option<&str>, Text<'j>)) {
    let Some(json) = Text::read(json) else { return };
    let mut stands = |path: &Path, object: Option<&str>, value: Text<'j>| {
        if value.as_str() != "null" {
            told(path, object, value);
        }
    };
    stands(&Path::default(), None, json);
    walk(json, &mut Path::default(), DEEPEST, &mut stands);
}

fn is_object(value: Text<'_>) -> bool {
    value.container() == Some(Container::Object)
}

/// Tells each value that is in no more containers than there is room for: its place, that of the object of which it
/// is a member, and the value.
pub(super) fn walk<'j>(
    json: Text<'j>,
    path: &mut Path,
    room: usize,
    told: &mut dyn FnMut(&Path, Option<&str>, Text<'j>),
) {
    let Some(room) = room.checked_sub(1) else { return };
    match json.container() {
        Some(Container::Object) => {
            for (name, value) in json.members() {
                let above = path.enter(&name);
                told(path, Some(&path.as_str()[..above]), value);
                walk(value, path, room, told);
                path.leave(above);
            }
        }
        Some(Container::Array) => {
            let is_tuple = path.as_str().is_empty() && is_tuple(json);
            for (place, value) in json.elements().enumerate() {
                let above = match is_tuple {
                    true => path.enter(&place.to_string()),
                    false => path.enter_elements(),
                };
                told(path, None, value);
                walk(value, path, room, told);
                path.leave(above);
            }
        }
        None => {}
    }
}
