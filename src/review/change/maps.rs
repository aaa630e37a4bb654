//! Objects that have members whose names are data.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::report::Part;
use crate::contract::Contract;

/// The step of a place to a member whose name is data.
const ANY: &str = "{}";

/// The objects of a contract that have members whose names are data.
#[derive(Debug, Default)]
pub(super) struct Maps(BTreeMap<(Part, Option<String>), ByPlace>);

/// By their places, with the names of their other members.
type ByPlace = BTreeMap<String, BTreeSet<String>>;

impl Maps {
    pub(super) fn of(was: &Contract) -> Self {
        let parts =
            [(Part::Headers, &was.headers), (Part::Body, &was.body), (Part::Events, &was.events)];
        let all = parts.into_iter().filter_map(|(part, kinds)| Some((part, kinds.as_ref()?)));
        let all = all.flat_map(|(part, kinds)| {
            kinds.all().map(move |(kind, it)| ((part, kind.map(str::to_owned)), it.maps()))
        });
        Self(all.filter(|(_, maps)| !maps.is_empty()).collect())
    }

    /// What stands at a place, `rooms.join`, in messages of a kind.
    pub(super) fn at(&self, part: Part, kind: Option<&str>, place: &str) -> FixedMembers<'_> {
        if self.0.is_empty() {
            return FixedMembers(None);
        }
        let of_kind = self.0.get(&(part, kind.map(str::to_owned)));
        let all = of_kind.or_else(|| self.0.get(&(part, None)));
        FixedMembers(all.and_then(|all| all.get(place)))
    }
}

/// The members of an object that are no data; nothing if none is.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedMembers<'m>(Option<&'m BTreeSet<String>>);

impl FixedMembers<'_> {
    /// The step to a member.
    pub(super) fn step<'n>(&self, name: Cow<'n, str>) -> Cow<'n, str> {
        match self.0 {
            Some(named) if !named.contains(&*name) => Cow::Borrowed(ANY),
            _ => name,
        }
    }
}
