//! Secrets that were found.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::rule::Rule;
use super::searcher::Searcher;
use super::{Redactor, name, value};
use crate::cassette::placeholder::OPENING;
use crate::text::words::shown;

/// Secret values that were found so far, with what stands in their place.
///
/// Shows their number and nothing of them.
#[derive(Clone, Default)]
pub struct Secrets {
    known: HashMap<String, String, RandomState>,
    /// The known ones as they were found.
    found: Vec<String>,
    named: HashMap<String, NamedValues, RandomState>,
    /// What stands where a person says that no secret is.
    spared: HashSet<String, RandomState>,
    /// Finds the first ones, so many: to prepare a search for all of them takes long.
    pub(super) searcher: Arc<Searcher>,
    searched: usize,
    /// So many stand within others, as a password in `Basic …` does.
    within: usize,
}

/// The secrets of one request: the values of each name, in the order in which they stand there.
///
/// Shows their number and nothing of them.
#[derive(Clone, Default)]
pub struct Found {
    named: HashMap<String, Vec<String>, RandomState>,
    within: usize,
}

/// The values that one name had.
#[derive(Clone, Default)]
struct NamedValues {
    /// So many stand in the recording already.
    before: usize,
    values: Vec<String>,
    numbers: HashMap<String, usize, RandomState>,
}

impl Secrets {
    /// The number of secrets.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Forgets all but the first ones.
    pub(super) fn truncate(&mut self, count: usize) {
        for value in self.found.drain(count..) {
            self.known.remove(&value);
        }
        if self.searched > count {
            self.search_anew();
        }
    }

    /// None yet, which go on counting where these are; [extend](Self::extend) brings the count back.
    pub(super) fn begin(&mut self) -> Self {
        let spared = std::mem::take(&mut self.spared);
        Self { named: std::mem::take(&mut self.named), spared, ..Self::default() }
    }

    /// Adds the secrets of `other`; what stood for a value before stays.
    pub fn extend(&mut self, other: Self) {
        let Self { mut known, found, named, spared, .. } = other;
        spared.into_iter().for_each(|value| self.spare(value));
        for value in found.into_iter().filter(|value| !value::is_placeholder(value)) {
            if let Some(placeholder) = known.remove(&value) {
                self.add(&value, placeholder);
            }
        }
        if self.named.is_empty() {
            self.named = named;
            return;
        }
        for (name, named) in named {
            for value in named.values {
                self.number(&name, &value);
            }
        }
    }

    /// Those that `others` has not, which count nowhere.
    #[cfg(feature = "record")]
    pub(crate) fn beyond(self, others: &Self) -> Self {
        let Self { known, mut found, .. } = self;
        found.retain(|value| !others.known.contains_key(value));
        Self { known, found, ..Self::default() }
    }

    /// Whether all of these are among them, under the same names.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.known.iter().all(|(value, placeholder)| self.known.get(value) == Some(placeholder))
    }

    /// Notes a value, and gives what stands for it from now on.
    pub(super) fn note(&mut self, value: &str, placeholder: String) -> String {
        self.add(value, placeholder.clone());
        self.known.get(value).cloned().unwrap_or(placeholder)
    }

    /// Leaves a value alone that stands where a person says that no secret is, unless a telling name
    /// stands before it elsewhere.
    pub(super) fn spare(&mut self, value: String) {
        if self.known.contains_key(&value) && !self.is_spared(&value) {
            self.search_anew();
        }
        self.spared.insert(value);
    }

    /// None yet, which leave the same alone.
    pub(super) fn sparing(&self) -> Self {
        Self { spared: self.spared.clone(), ..Self::default() }
    }

    pub(super) fn is_spared(&self, value: &str) -> bool {
        self.spared.contains(value)
    }

    /// Notes that one placeholder is to be written as another.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.add(from, to.to_owned());
    }

    /// Which of the values that had this name a value is, counted from 1.
    pub(super) fn number(&mut self, name: &str, value: &str) -> usize {
        if !self.named.contains_key(name) {
            self.named.insert(name.to_owned(), NamedValues::default());
        }
        let Some(named) = self.named.get_mut(name) else { return 1 };
        if let Some(number) = named.numbers.get(value) {
            return *number;
        }
        named.values.push(value.to_owned());
        let number = named.before.saturating_add(named.values.len());
        named.numbers.insert(value.to_owned(), number);
        number
    }

    /// The same of one that stands within another value.
    pub(super) fn number_within(&mut self, name: &str, value: &str) {
        let count = |it: &Self| it.named.get(name).map_or(0, |named| named.values.len());
        let before = count(self);
        self.number(name, value);
        self.within += count(self) - before;
    }

    /// Counts on from the values of a name that a recording has placeholders for.
    pub(super) fn count_from(&mut self, name: &str, last: usize) {
        let named = self.named.entry(name.to_owned()).or_default();
        named.before = named.before.max(last);
    }

    /// What stands for a value that had this name in any case; the one in lower case is that of a field.
    pub(super) fn placeholder_of(&self, name: &str, value: &str) -> Option<String> {
        let named = self.named.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let (name, number) = named
            .filter_map(|(name, named)| Some((name, named.numbers.get(value)?)))
            .max_by_key(|(name, _)| *name)?;
        Some(value::numbered(name, *number))
    }

    /// Whether something stands for a value, whatever it was called.
    pub(super) fn has_placeholder(&self, value: &str) -> bool {
        self.named.values().any(|named| named.numbers.contains_key(value))
    }

    /// How long those are whose names say little.
    pub(super) fn lengths(&self) -> HashMap<String, HashSet<usize>> {
        let weak = self.named.iter().filter(|(name, _)| name::is_weak(name));
        let lengths = weak.map(|(name, named)| {
            let values = named.values.iter().filter(|value| value::may_be_random(value));
            (name.clone(), values.map(String::len).collect::<HashSet<_>>())
        });
        lengths.filter(|(_, lengths)| !lengths.is_empty()).collect()
    }

    /// The values of each name, in the order in which they were found.
    pub(super) fn into_found(self) -> Found {
        let named = self.named.into_iter().map(|(name, named)| (name, named.values)).collect();
        Found { named, within: self.within }
    }

    /// What finds all of them.
    pub(super) fn searcher(&mut self) -> Arc<Searcher> {
        self.learn();
        Arc::clone(&self.searcher)
    }

    /// Searches for all that were found from now on.
    pub(super) fn learn(&mut self) {
        if self.searched < self.found.len() {
            let mut searcher = std::mem::take(&mut self.searcher);
            self.add_to(Arc::make_mut(&mut searcher), self.searched);
            (self.searcher, self.searched) = (searcher, self.found.len());
        }
    }

    /// Adds those to a search that were found behind the first ones.
    pub(super) fn add_to(&self, searcher: &mut Searcher, first: usize) {
        for value in self.found[first..].iter().filter(|value| !self.is_spared(value)) {
            if let Some(placeholder) = self.known.get(value) {
                searcher.add(value, placeholder);
            }
        }
    }

    /// What was learned is no longer so.
    fn search_anew(&mut self) {
        (self.searcher, self.searched) = Default::default();
    }

    fn add(&mut self, value: &str, placeholder: String) {
        if !self.known.contains_key(value) {
            self.known.insert(value.to_owned(), placeholder);
            self.found.push(value.to_owned());
        }
    }
}

impl Found {
    /// The values of a name.
    pub(crate) fn values(&self, name: &str) -> &[String] {
        self.named.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds placeholders, each by its name and number, as secrets, if they are none of these.
    pub(crate) fn add(&mut self, placeholders: impl Iterator<Item = (String, usize)>) {
        for (name, number) in placeholders {
            let text = value::numbered(&name, number);
            if self.named.values().flatten().all(|known| *known != text) {
                self.named.entry(name).or_default().push(text);
            }
        }
    }

    /// Whether a client says what it was given in the place of a secret.
    pub(crate) fn has_placeholders(&self) -> bool {
        self.named.values().flatten().any(|value| value.contains(OPENING))
    }

    /// How many there are, without those that stand within others.
    pub(crate) fn len(&self) -> usize {
        self.named.values().map(Vec::len).sum::<usize>().saturating_sub(self.within)
    }
}

shown!(Debug: Found, it => "Found({})", it.len());

impl Redactor {
    /// Whether a value is searched for wherever else it may stand.
    pub(super) fn is_searched_for(&self, value: &str) -> bool {
        value::is_distinctive(value)
            && !(self.applies(Rule::Harmless) && value::is_made_of_words(value))
    }
}

shown!(Debug: Secrets, it => "Secrets({})", it.found.len());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_on_from_what_it_knows_until_that_is_no_longer_so() {
        let text = b"first-5ecret and second-5ecret";
        let mut secrets = Secrets::default();
        secrets.note("first-5ecret", "[1]".to_owned());
        let before = Arc::as_ptr(&secrets.searcher());

        secrets.note("second-5ecret", "[2]".to_owned());

        assert_eq!(Arc::as_ptr(&secrets.searcher()), before);
        assert_eq!(secrets.searcher().edits(text).len(), 2);
        secrets.spare("first-5ecret".to_owned());
        assert_eq!(secrets.searcher().edits(text).len(), 1);
        secrets.truncate(1);
        assert_eq!(secrets.searcher().edits(text).len(), 0);
    }
}
