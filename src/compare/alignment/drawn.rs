//! Names that a client draws from few.

use std::collections::HashSet;

use super::View;
use crate::cassette::{Evidence, Id, Ids};
use crate::identity::Words;

/// What the client of a recording is shown to make up.
pub(super) fn proved(ids: Option<&Ids>) -> impl Iterator<Item = &str> {
    let is_proved = |id: &&Id| matches!(id.evidence, Evidence::Runs | Evidence::Person);
    let proved = ids.into_iter().flat_map(|ids| &ids.client).filter(is_proved);
    proved.map(|id| id.value.as_str())
}

/// The names that each of two clients has said of which either is shown to make them up, if any is the same: who draws
/// from few is given the same one again, and calls something else by it.
pub(super) fn drawn(sides: [&[View<'_>]; 2], ids: [Option<&Ids>; 2]) -> [HashSet<String>; 2] {
    let names: Vec<&str> = ids.into_iter().flat_map(proved).collect();
    if names.is_empty() {
        return Default::default();
    }
    let words = Words::of(names.into_iter());
    let said = sides.map(|views| -> HashSet<String> {
        let asked = views.iter().flat_map(View::asked_texts);
        asked.flat_map(|said| words.find(said.text).map(|at| said.text[at].to_owned())).collect()
    });
    if said[0].is_disjoint(&said[1]) { Default::default() } else { said }
}
