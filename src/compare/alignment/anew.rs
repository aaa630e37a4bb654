//! Identifiers that a server makes anew for each answer, and with which nobody comes back.
//!
//! # Rationale
//!
//! `qWmXnRbTvK` may be a word. What shows that it is none is that a server says another one each time in the same
//! place, in both recordings, and each as long: a list of what there is would have something in common.

use std::collections::{HashMap, HashSet};

use super::View;
use super::value::Said;
use crate::identity::{SHORTEST, Words};

/// So many different ones in each recording are no accident.
const SEVERAL: usize = 3;

/// A place for names: in answers of one sort, of so many names the one with that number.
type Place = (u64, usize, usize);

/// The names in each of two recordings that their servers have made anew.
pub(super) fn anew(sides: [&[View<'_>]; 2]) -> [HashSet<String>; 2] {
    let [olds, news] = sides.map(by_place);
    let mut found: [HashSet<String>; 2] = Default::default();
    for (place, were) in &olds {
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
    for (side, found) in sides.into_iter().zip(&mut found).filter(|(_, found)| !found.is_empty()) {
        let words = Words::of(found.iter().map(String::as_str));
        let asked = side.iter().flat_map(View::asked_texts);
        let said = asked.flat_map(|said| words.find(said.text).map(|at| said.text[at].to_owned()));
        for said in said.collect::<Vec<String>>() {
            found.remove(&said);
        }
    }
    found
}

/// What stands in the places for names of the answers.
fn by_place<'v>(views: &'v [View<'_>]) -> HashMap<Place, HashSet<&'v str>> {
    let mut found: HashMap<Place, HashSet<&str>> = HashMap::new();
    for view in views {
        let fields = view.answered_fields().filter(|said| said.field.is_id);
        let fields: Vec<&str> = fields.map(Said::value).collect();
        for names in view.answered_ids().chain([fields]) {
            for (at, name) in names.iter().enumerate().filter(|(_, name)| is_name(name)) {
                found.entry((view.route, names.len(), at)).or_default().insert(name);
            }
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains("[redacted:")
}
