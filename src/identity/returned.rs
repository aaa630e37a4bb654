//! Header fields of requests whose random words come back in answers.

use std::collections::{BTreeSet, HashMap};

use super::{Meaning, Words, identifiers};
use crate::cassette::reading::header;
use crate::cassette::{Cassette, Ids, text};

/// The header fields that do not count, and whose random words an answer repeats: what a client stores with a thing
/// (`x-amz-meta-owner`), and reads again. What the server has issued is not the client's.
pub(super) fn returned(cassette: &Cassette, ids: &Ids) -> BTreeSet<String> {
    let issued: BTreeSet<&str> = ids.server.iter().map(|id| id.value.as_str()).collect();
    let mut said: HashMap<String, BTreeSet<String>> = HashMap::new();
    let requests = cassette.interactions.iter().map(|it| &it.request);
    for (name, value) in requests.flat_map(|request| request.headers.iter()) {
        let is_free = !header::counts(name) && Meaning::of(name) != Meaning::Mark;
        let value = text(value);
        for word in identifiers(&value).map(|at| &value[at]).filter(|_| is_free) {
            if !issued.contains(word) {
                let name = header::lowercase(name).into_owned();
                said.entry(word.to_owned()).or_default().insert(name);
            }
        }
    }
    let mut found = BTreeSet::new();
    let words = Words::of(said.keys().map(String::as_str));
    let answers = cassette.interactions.iter().filter_map(|it| it.response());
    for answer in answers.filter(|_| !said.is_empty()) {
        let body = answer.readable().bytes();
        let fields = answer.headers.iter().map(|(_, value)| &value[..]);
        for told in fields.chain([&body[..]]).map(text) {
            found.extend(words.find(&told).flat_map(|at| said[&told[at]].iter().cloned()));
        }
    }
    found
}
