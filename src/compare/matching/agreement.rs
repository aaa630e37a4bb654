//! What does not count, and still tells which of several interactions is meant: header fields, and the order of
//! fields that have one name.

use std::collections::{HashMap, HashSet};

use super::groups::{Candidates, Groups};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::{PathStep, Reading, header};
use crate::cassette::{Headers, Request};
use crate::config::Rules;
use crate::identity::Meaning;

/// For requests that are equal in all that counts: the fields in which they differ, and who agrees in them.
///
/// # Rationale
///
/// Clients send the same request with other fields all the time, so these never decide whether a request is
/// answered. But a server that was asked with a key and without one has said two things. The same goes for
/// `sort=name&sort=date` and `sort=date&sort=name`: both were asked for, so each has its own answer.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// The names of the fields in which the interactions of a group differ.
    fields: HashMap<u64, Vec<String>, foldhash::fast::FixedState>,
    /// The groups whose interactions have the fields of one name in other orders.
    ordered: HashSet<u64, foldhash::fast::FixedState>,
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
    /// Compares the requests of each group, each with the [order] of its fields.
    pub(super) fn of<'r>(
        requests: impl Iterator<Item = (&'r Request, u64, u64)>,
        groups: &Groups,
        rules: &Rules,
    ) -> Self {
        let mut several: HashMap<u64, Vec<Member<'_>>> = HashMap::new();
        for (number, (request, group, order)) in requests.enumerate() {
            if groups.get(group).is_some_and(|found| found.len() > 1) {
                let members = several.entry(group).or_default();
                members.push(Member { number, request, order });
            }
        }
        let mut found = Self::default();
        for (group, members) in several {
            let names = differing(&members, rules);
            let is_ordered = members.iter().any(|member| member.order != members[0].order);
            for member in &members {
                let of_fields = |of: u64| {
                    names.iter().flat_map(move |name| keys(of, name, &member.request.headers))
                };
                let ordered = is_ordered.then(|| in_order(group, member.order));
                let within = ordered.into_iter().flat_map(of_fields);
                let all = ordered.into_iter().chain(within).chain(of_fields(group));
                found.keys.insert(member.number, all.collect());
            }
            if is_ordered {
                found.ordered.insert(group);
            }
            if !names.is_empty() {
                found.fields.insert(group, names);
            }
        }
        found.keys.retain(|_, keys| !keys.is_empty());
        let keyed = found.keys.iter();
        found.agreeing =
            Groups::of(keyed.flat_map(|(number, keys)| keys.iter().map(|key| (*key, *number))));
        found
    }

    /// Whether something tells the interactions of a group apart.
    pub(super) fn tells(&self, group: u64) -> bool {
        self.fields.contains_key(&group) || self.ordered.contains(&group)
    }

    /// The fewest interactions of a group that agree with a request: in the order of its fields, if any does,
    /// and in a field of its header.
    pub(super) fn narrowed(
        &self,
        group: u64,
        headers: Option<&Headers>,
        reading: &Reading<'_>,
    ) -> Option<Candidates<'_>> {
        let is_ordered = self.ordered.contains(&group);
        let ordered = is_ordered.then(|| in_order(group, order(reading)));
        let ordered = ordered.and_then(|key| self.agreeing.get(key));
        let of = ordered.map_or(group, |list| list.key);
        let names = self.fields.get(&group).into_iter().flatten();
        let lists = headers
            .into_iter()
            .flat_map(|headers| names.clone().flat_map(move |name| keys(of, name, headers)));
        let lists = lists.filter_map(|key| self.agreeing.get(key));
        lists.min_by_key(|list| list.len()).or(ordered)
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

/// A request among others of its group.
struct Member<'r> {
    number: usize,
    request: &'r Request,
    order: u64,
}

/// In which order a request has the values of the fields and parts that have one name.
pub(super) fn order(reading: &Reading<'_>) -> u64 {
    let mut named: HashMap<u64, (usize, u64), foldhash::fast::FixedState> = HashMap::default();
    for at in reading.inside(None) {
        let node = &reading.nodes[at];
        let (is_field, is_part) = node.step.is_of_form();
        if is_field || is_part || matches!(node.step, PathStep::Query(_)) {
            let (count, order) = named.entry(node.place).or_default();
            *count += 1;
            *order = combine(&[*order, reading.weight(at)]);
        }
    }
    let several = named.into_iter().filter(|(_, (count, _))| *count > 1);
    several.fold(0, |sum, (place, (_, order))| sum.wrapping_add(combine(&[place, order])))
}

fn in_order(group: u64, order: u64) -> u64 {
    combine(&[group, 3, order])
}

/// The names of the fields in which requests differ that are equal in all that counts.
fn differing(members: &[Member<'_>], rules: &Rules) -> Vec<String> {
    let mut values: HashMap<String, HashMap<u64, usize>> = HashMap::new();
    for Member { request, .. } in members {
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
