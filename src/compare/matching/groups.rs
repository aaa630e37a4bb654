//! Numbers of interactions by what they have in common.

use std::collections::HashMap;

/// Numbers by what they have in common.
///
/// # Rationale
///
/// In a large cassette each look into another table is a look into memory that no cache holds, and a
/// smaller table is held longer. Most groups have one number, which stands where it is looked for.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: HashMap<u64, Group, foldhash::fast::FixedState>,
    /// The numbers of groups of several, one group after the other.
    several: Vec<u32>,
}

#[derive(Debug)]
struct Group {
    /// Its only number, or where its numbers begin.
    at: u32,
    len: u32,
}

/// Interactions that may answer a request, in recorded order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates<'a> {
    /// What they have in common.
    pub(super) key: u64,
    numbers: &'a [u32],
}

impl Groups {
    /// Groups numbers by their keys.
    ///
    /// # Panics
    ///
    /// If a number or the count of all of them has more than 32 bits.
    pub(super) fn of(keyed: impl Iterator<Item = (u64, usize)>) -> Self {
        let short = |number: usize| u32::try_from(number).expect("no cassette has so many");
        let mut keyed: Vec<(u64, usize)> = keyed.collect();
        keyed.sort_unstable();
        let groups = HashMap::with_capacity_and_hasher(keyed.len(), Default::default());
        let mut found = Self { groups, several: Vec::new() };
        for same in keyed.chunk_by(|one, other| one.0 == other.0) {
            let len = short(same.len());
            let at = match same {
                [(_, only)] => short(*only),
                several => {
                    let start = short(found.several.len());
                    found.several.extend(several.iter().map(|(_, number)| short(*number)));
                    start
                }
            };
            found.groups.insert(same[0].0, Group { at, len });
        }
        found
    }

    /// Whether any group is one of several.
    pub(super) fn has_several(&self) -> bool {
        !self.several.is_empty()
    }

    /// The group of a key.
    pub(super) fn get(&self, key: u64) -> Option<Candidates<'_>> {
        let group = self.groups.get(&key)?;
        let numbers = match group.len {
            1 => std::slice::from_ref(&group.at),
            len => &self.several[group.at as usize..][..len as usize],
        };
        Some(Candidates { key, numbers })
    }
}

impl<'a> Candidates<'a> {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        self.numbers.len()
    }

    /// The one there is, if there is only one.
    pub(super) fn only(self) -> Option<usize> {
        if let [only] = self.numbers { Some(*only as usize) } else { None }
    }

    /// The one at a place in the list.
    pub(super) fn get(self, at: usize) -> Option<usize> {
        self.numbers.get(at).map(|number| *number as usize)
    }

    /// Whether an interaction is one of them.
    pub(super) fn contains(self, number: usize) -> bool {
        u32::try_from(number).is_ok_and(|number| self.numbers.binary_search(&number).is_ok())
    }

    /// The first one behind an interaction.
    pub(super) fn behind(self, number: usize) -> Option<usize> {
        self.get(self.numbers.partition_point(|other| *other as usize <= number))
    }

    /// Those from a place in the list on.
    pub(super) fn from(self, at: usize) -> Self {
        Self { numbers: &self.numbers[at..], ..self }
    }

    /// All of them.
    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = usize> + 'a {
        self.numbers.iter().map(|number| *number as usize)
    }
}
