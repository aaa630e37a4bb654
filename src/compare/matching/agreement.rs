//! Header fields that do not count, and still tell which of several interactions is meant.

use std::collections::HashMap;

use super::groups::{Candidates, Groups};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::header;
use crate::cassette::{Headers, Request};
use crate::config::Rules;
use crate::identity::Meaning;

/// For requests that are equal in all that counts: the fields in which they differ, and who agrees in them.
///
/// # Rationale
///
/// Clients send the same request with other fields all the time, so these never decide whether a request is
/// answered. But a server that was asked with a key and without one has said two things.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// The names of the fields in which the interactions of a group differ.
    fields: HashMap<u64, Vec<String>, foldhash::fast::FixedState>,
    /// The interactions of a group that agree in a field.
    agreeing: Groups,
    /// The lists that each interaction is on.
    keys: HashMap<usize, Vec<u64>, foldhash::fast::FixedState>,
}

/// Fields that say nothing of what is asked.
const SILENT: [&str; 3] = ["content-length", "date", "host"];

/// Of so few every difference may tell something; of more, a field that is another each time does not.
const FEW: usize = 8;

impl Agreement {
    /// Compares the requests of each group.
    pub(super) fn of<'r>(
        requests: impl Iterator<Item = (&'r Request, u64)>,
        groups: &Groups,
        rules: &Rules,
    ) -> Self {
        let mut several: HashMap<u64, Vec<(usize, &Request)>> = HashMap::new();
        for (number, (request, group)) in requests.enumerate() {
            if groups.get(group).is_some_and(|found| found.len() > 1) {
                several.entry(group).or_default().push((number, request));
            }
        }
        let mut found = Self::default();
        for (group, members) in several {
            let names = differing(&members, rules);
            for (number, request) in members.iter().filter(|_| !names.is_empty()) {
                let keys = names.iter().flat_map(|name| keys(group, name, &request.headers));
                found.keys.insert(*number, keys.collect());
            }
            if !names.is_empty() {
                found.fields.insert(group, names);
            }
        }
        let keyed = found.keys.iter();
        found.agreeing =
            Groups::of(keyed.flat_map(|(number, keys)| keys.iter().map(|key| (*key, *number))));
        found
    }

    /// Whether fields tell the interactions of a group apart.
    pub(super) fn tells(&self, group: u64) -> bool {
        self.fields.contains_key(&group)
    }

    /// The fewest interactions of a group that agree with a header in a field.
    pub(super) fn narrowed(&self, group: u64, headers: &Headers) -> Option<Candidates<'_>> {
        let names = self.fields.get(&group)?.iter();
        let lists = names.flat_map(|name| keys(group, name, headers));
        lists.filter_map(|key| self.agreeing.get(key)).min_by_key(|list| list.len())
    }

    /// The lists that an interaction is on.
    pub(super) fn lists(&self, number: usize) -> impl Iterator<Item = Candidates<'_>> {
        let keys = self.keys.get(&number).into_iter().flatten();
        keys.filter_map(|key| self.agreeing.get(*key))
    }
}

/// In how many fields that may tell something two headers agree.
pub(crate) fn agreeing_fields(recorded: &Headers, asked: &Headers) -> usize {
    let same = header::fields(asked).filter(|(name, value)| {
        tells(name) && recorded.get(name).is_some_and(|it| it.as_bytes() == *value)
    });
    same.count()
}

/// The names of the fields in which requests differ that are equal in all that counts.
fn differing(members: &[(usize, &Request)], rules: &Rules) -> Vec<String> {
    let mut values: HashMap<String, HashMap<u64, usize>> = HashMap::new();
    for (_, request) in members {
        let fields = || header::fields(&request.headers);
        let counted = header::counted(fields(), rules, !request.body.is_empty());
        let counted: Vec<&str> = counted.map(|field| field.name).collect();
        for (name, value) in fields().filter(|(name, _)| tells(name) && !counted.contains(name)) {
            let name = header::lowercase(name).into_owned();
            *values.entry(name).or_default().entry(hash_of(value)).or_default() += 1;
        }
    }
    let all = members.len();
    let differs = |values: &HashMap<u64, usize>| {
        let present: usize = values.values().sum();
        let is_told = values.len() < all || all <= FEW;
        present < all || (values.len() > 1 && is_told)
    };
    let mut names: Vec<String> =
        values.into_iter().filter(|(_, values)| differs(values)).map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

fn tells(name: &str) -> bool {
    !SILENT.iter().any(|silent| silent.eq_ignore_ascii_case(name))
        && !header::counts_attempts(name)
        && Meaning::of(name) != Meaning::Mark
}

/// What a header has in a field: whether it is there, and what it says.
fn keys(group: u64, name: &str, headers: &Headers) -> impl Iterator<Item = u64> + use<> {
    let place = combine(&[group, hash_of(name)]);
    let value = headers.get(name).map(|value| combine(&[place, 2, hash_of(value)]));
    let presence = combine(&[place, u64::from(value.is_some())]);
    value.into_iter().chain([presence])
}
