//! The strings seen at one place.

use super::format::{DATE, DATE_TIME, Format, ID, INTEGER, PREFIXED, URI, UUID};
use super::sample::Said;
use super::witness::{Tally, Witness};

/// An enum has no more values.
const MOST_VALUES: usize = 12;

/// An enum was seen so often for each of its values.
const EACH: u64 = 5;

/// Fewer strings that are integers may be so by chance.
const INTEGERS: u64 = 20;

/// What the strings of a place have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Strings {
    pub(super) tally: Tally,
    /// The distinct ones in order, as long as they are few and could be words of a vocabulary.
    values: Option<Vec<(Box<str>, Tally)>>,
    looks: Looks,
}

/// The formats that strings have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Looks {
    seen: bool,
    bits: u8,
    /// The prefix that all have before what was minted.
    prefix: Option<Box<str>>,
}

impl Strings {
    pub(super) fn add(&mut self, said: &Said<'_>, witness: Witness) {
        if !self.tally.is_seen() {
            self.values = Some(Vec::new());
        }
        self.tally.add(witness);
        self.looks.add(said);
        if !said.is_word() {
            self.values = None;
        }
        let mut one = Tally::default();
        one.add(witness);
        self.count(&said.text, &one);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if !self.tally.is_seen() {
            self.clone_from(other);
            return;
        }
        self.tally.merge(&other.tally);
        self.looks.merge(&other.looks);
        match &other.values {
            Some(values) => values.iter().for_each(|(value, tally)| self.count(value, tally)),
            None if other.tally.is_seen() => self.values = None,
            None => {}
        }
    }

    /// The values of an enum with who has seen them: few, each seen more than once, so that no single
    /// sample decides.
    pub(super) fn enumerated(&self) -> Option<&[(Box<str>, Tally)]> {
        let values = self.values.as_ref()?;
        let enough = self.tally.count >= EACH * values.len() as u64;
        (enough && values.iter().all(|(_, tally)| tally.count > 1)).then_some(values)
    }

    /// What they look like.
    pub(super) fn format(&self) -> Option<Format> {
        let format = self.looks.format()?;
        (format != Format::Integer || self.tally.count >= INTEGERS).then_some(format)
    }

    fn count(&mut self, value: &str, seen: &Tally) {
        let Some(values) = &mut self.values else { return };
        match values.binary_search_by(|(known, _)| (**known).cmp(value)) {
            Ok(at) => values[at].1.merge(seen),
            Err(_) if values.len() == MOST_VALUES => self.values = None,
            Err(at) => values.insert(at, (value.into(), *seen)),
        }
    }
}

impl Looks {
    pub(super) fn add(&mut self, said: &Said<'_>) {
        let prefix = || (said.formats & PREFIXED != 0).then(|| &said.text[..said.prefix]);
        if !self.seen {
            let prefix = prefix().map(Into::into);
            *self = Self { seen: true, bits: said.formats, prefix };
        } else if self.bits != 0 {
            self.bits &= said.formats;
            if self.prefix.is_some() && self.prefix.as_deref() != prefix() {
                self.prefix = None;
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if !self.seen {
            self.clone_from(other);
        } else if other.seen {
            self.bits &= other.bits;
            if self.prefix != other.prefix {
                self.prefix = None;
            }
        }
    }

    /// The most telling of the formats.
    pub(super) fn format(&self) -> Option<Format> {
        if let Some(prefix) = &self.prefix {
            return Some(Format::Prefixed(prefix.to_string()));
        }
        let formats = [
            (UUID, Format::Uuid),
            (ID, Format::Id),
            (DATE_TIME, Format::DateTime),
            (DATE, Format::Date),
            (URI, Format::Uri),
            (INTEGER, Format::Integer),
        ];
        formats.into_iter().find(|(bit, _)| self.bits & bit != 0).map(|(_, format)| format)
    }
}
