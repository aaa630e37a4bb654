//! Identifiers that a server makes anew for each answer.
//!
//! # Rationale
//!
//! `qWmXnRbTvK` may be a word. What shows that it is none is that a server says another one each time in the same
//! place, in both recordings, and each as long: a list of what there is would have something in common. In a place for
//! names that is enough. Elsewhere a client has to come back with them: the tables of names tell so, or its paths, in
//! which it asks for what a write has made.

use std::collections::{HashMap, HashSet};

use super::View;
use super::counted::{issued, issues, uncounted};
use super::value::KnownText;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::{Ids, Request, placeholder};
use crate::identity::{SHORTEST, Words};

/// So many different ones in each recording are no accident.
const SEVERAL: usize = 3;

/// A place in the answers of one sort of request.
type AnswerPlace = (u64, In);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum In {
    /// Of so many places for names, the one with that number.
    Names(usize, usize),
    /// One that a table of names tells.
    Table(u64),
    /// The segment with that number of a path.
    Path(usize),
    /// The value with that number of an answer.
    Answer(usize),
}

/// The names in a place.
type ByPlace<'v> = HashMap<AnswerPlace, HashSet<&'v str>>;

/// The names in each of two recordings that their servers have made anew.
pub(super) fn anew(sides: [&[View<'_>]; 2], ids: [Option<&Ids>; 2]) -> [HashSet<String>; 2] {
    let mut found = in_both(&sides.map(by_place));
    for (side, found) in sides.into_iter().zip(&mut found).filter(|(_, found)| !found.is_empty()) {
        // What the client says itself is not the server's.
        let words = Words::of(found.iter().map(String::as_str));
        let asked = side.iter().flat_map(View::asked_texts);
        let said = asked.flat_map(|said| words.find(said.text).map(|at| said.text[at].to_owned()));
        for said in said.collect::<Vec<String>>() {
            found.remove(&said);
        }
    }
    let [old, new] = sides;
    let returned = in_both(&[returned(old, ids[0]), returned(new, ids[1])]);
    let back = in_both(&sides.map(came_back));
    let mut asked = in_both(&sides.map(by_path));
    sides.into_iter().zip(&mut asked).for_each(|(views, names)| retain_given(views, names));
    for more in [returned, asked, back] {
        found.iter_mut().zip(more).for_each(|(found, more)| found.extend(more));
    }
    found
}

/// What both recordings show to be made anew.
fn in_both([olds, news]: &[ByPlace<'_>; 2]) -> [HashSet<String>; 2] {
    let mut found: [HashSet<String>; 2] = Default::default();
    for (place, were) in olds {
        let Some(are) = news.get(place) else { continue };
        let length = were.iter().next().map_or(0, |name| name.len());
        let is_alike = were.iter().chain(are).all(|name| name.len() == length);
        let are_several = were.len().min(are.len()) >= SEVERAL;
        if length >= SHORTEST && is_alike && are_several && were.is_disjoint(are) {
            let [before, now] = &mut found;
            before.extend(were.iter().map(|name| (*name).to_owned()));
            now.extend(are.iter().map(|name| (*name).to_owned()));
        }
    }
    found
}

/// What stands in the places for names of the answers.
fn by_place<'v>(views: &'v [View<'_>]) -> ByPlace<'v> {
    let mut found = ByPlace::new();
    for view in views {
        let fields = view.answered_fields().filter(|said| said.field.is_id);
        let fields: Vec<&str> = fields.map(KnownText::value).collect();
        for names in view.answered_ids().chain([fields]) {
            for (at, name) in names.iter().enumerate().filter(|(_, name)| is_name(name)) {
                let place = (view.route, In::Names(names.len(), at));
                found.entry(place).or_default().insert(name);
            }
        }
    }
    found
}

/// What a client came back with, by the places that its table of names tells.
fn returned<'v>(views: &[View<'_>], ids: Option<&'v Ids>) -> ByPlace<'v> {
    let mut found = ByPlace::new();
    for id in issued(views, ids).filter(|id| is_name(&id.value)) {
        let at = In::Table(hash_of(&*uncounted(&id.at)));
        found.entry((views[id.interaction].route, at)).or_default().insert(&id.value);
    }
    found
}

/// What answers say in places from which several values came back in requests: `"next_batch"` and `?since=…`. What a
/// client had said before is not the server's.
fn came_back<'v>(views: &'v [View<'_>]) -> ByPlace<'v> {
    let (mut found, mut asked) = (ByPlace::new(), HashSet::new());
    let mut back: HashMap<AnswerPlace, HashSet<&str>> = HashMap::new();
    let mut given: HashMap<&str, AnswerPlace> = HashMap::new();
    for view in views {
        for value in view.asked_texts().into_iter().map(KnownText::value) {
            if let Some(place) = given.get(value) {
                back.entry(*place).or_default().insert(value);
            }
            asked.insert(value);
        }
        for (at, said) in view.answered_values().enumerate() {
            let (value, place) = (said.value(), (view.route, In::Answer(at)));
            if is_name(value) && !asked.contains(value) {
                given.entry(value).or_insert(place);
                found.entry(place).or_default().insert(value);
            }
        }
    }
    found.retain(|place, _| back.get(place).is_some_and(|back| back.len() >= SEVERAL));
    found
}

/// What stands in paths that are the same but for that.
fn by_path<'v>(views: &'v [View<'_>]) -> ByPlace<'v> {
    let mut found = ByPlace::new();
    for Request { method, path, .. } in views.iter().map(|view| &view.interaction.request) {
        let segments: Vec<&str> = path.split(['/', '?']).collect();
        for (at, name) in segments.iter().enumerate().filter(|(_, name)| is_name(name)) {
            let others: Vec<&str> = [&segments[..at], &segments[at + 1..]].concat();
            let place = (combine(&[hash_of(method), hash_of(&others[..])]), In::Path(at));
            found.entry(place).or_default().insert(name);
        }
    }
    found
}

/// Keeps the names that an answer to a write held before the client said them.
fn retain_given(views: &[View<'_>], names: &mut HashSet<String>) {
    if names.is_empty() {
        return;
    }
    let words = Words::of(names.iter().map(String::as_str));
    let in_texts = |texts: Vec<KnownText<'_>>| -> Vec<String> {
        let found = |said: &KnownText<'_>| -> Vec<String> {
            words.find(said.text).map(|at| said.text[at].to_owned()).collect()
        };
        texts.iter().flat_map(found).collect()
    };
    let mut given = HashSet::new();
    for view in views {
        for said in in_texts(view.asked_texts()).iter().filter(|said| !given.contains(*said)) {
            names.remove(said);
        }
        if issues(view.interaction) {
            given.extend(in_texts(view.answered_texts()));
        }
    }
    names.retain(|name| given.contains(name));
}

/// A number may be a count.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !text.contains(placeholder::OPENING)
}
