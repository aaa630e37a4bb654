//! Finding secrets that are known, in any of their spellings.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::spelling::spellings;
use super::value;
use crate::cassette::splice::{self, Edit};
use crate::text::words::shown;

/// Finds secrets in any of their spellings: plain, escaped in JSON, percent-encoded, in base64.
///
/// # Rationale
///
/// A body may hold thousands of secrets, each of which is searched for in what comes behind it. So a
/// secret is added without preparing all others anew, and a text is read once, whatever their number.
/// What is looked up are the last bytes of a spelling: many secrets begin alike.
#[derive(Clone, Default)]
pub(super) struct Searcher {
    /// Each spelling, and what stands for it.
    spelled: BTreeMap<Arc<[u8]>, Arc<str>>,
    /// How long those are that end in these bytes: placeholders of like names all end alike.
    by_end: HashMap<u64, Vec<usize>, FixedState>,
    /// Which ends there may be: one bit for each hash.
    filter: Vec<u64>,
    /// The same for beginnings.
    begun: Vec<u64>,
    longest: usize,
}

/// The bytes of a spelling that are looked up. None is shorter.
const END: usize = 8;

/// The bytes by which the beginning of a spelling is known.
const BEGINNING: usize = 4;

/// The words of a filter.
const FILTER: usize = 1 << 9;

shown!(Debug: Searcher, it => "Searcher({})", it.spelled.len());

impl Searcher {
    pub(super) fn is_empty(&self) -> bool {
        self.spelled.is_empty()
    }

    /// Adds a secret; what stands for a spelling already stays.
    pub(super) fn add(&mut self, value: &str, placeholder: &str) {
        let placeholder: Arc<str> = placeholder.into();
        for spelling in spellings(value) {
            let Some(end) = spelling.last_chunk::<END>() else { continue };
            let end = u64::from_le_bytes(*end);
            let spelling: Arc<[u8]> = spelling.into();
            if self.spelled.contains_key(&spelling) {
                continue;
            }
            self.longest = self.longest.max(spelling.len());
            self.filter.resize(FILTER, 0);
            let (word, bit) = place(end);
            self.filter[word] |= bit;
            self.begun.resize(FILTER, 0);
            if let Some((word, bit)) = beginning(&spelling) {
                self.begun[word] |= bit;
            }
            let lengths = self.by_end.entry(end).or_default();
            if !lengths.contains(&spelling.len()) {
                lengths.push(spelling.len());
            }
            self.spelled.insert(spelling, Arc::clone(&placeholder));
        }
    }

    /// The edits that take all secrets out of a text, in order.
    pub(super) fn edits(&self, text: &[u8]) -> Vec<Edit> {
        let mut found = self.found(text);
        found.retain_mut(|edit| {
            let is_left = value::in_placeholder(text, edit.range.start);
            // The name of a field may be a secret's value elsewhere. But it may hold a secret, too.
            let holds_secret = is_left && is_random(&text[edit.range.clone()]);
            if holds_secret {
                edit.with = value::WITHIN_NAME.into();
            } else if let Some(with) = self.without_names(&edit.with) {
                edit.with = with.into();
            }
            holds_secret || !is_left
        });
        splice::in_order(found)
    }

    /// A placeholder in whose name there is no secret, if there is one.
    fn without_names(&self, placeholder: &[u8]) -> Option<Vec<u8>> {
        let mut found = self.found(placeholder);
        found.retain_mut(|edit| {
            edit.with = value::WITHIN_NAME.into();
            value::in_placeholder(placeholder, edit.range.start)
                && is_random(&placeholder[edit.range.clone()])
        });
        (!found.is_empty()).then(|| splice::splice(placeholder, &splice::in_order(found)))
    }

    /// Where secrets stand in a text, those that overlap too.
    fn found(&self, text: &[u8]) -> Vec<Edit> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        for (start, window) in text.windows(END).enumerate() {
            let end = u64::from_le_bytes(window.try_into().expect("the window is as long"));
            let (word, bit) = place(end);
            if self.filter[word] & bit != 0 {
                self.ending(&text[..start + END], end, &mut found);
            }
        }
        found
    }

    /// The spellings that end where the text does.
    fn ending(&self, text: &[u8], end: u64, found: &mut Vec<Edit>) {
        for length in self.by_end.get(&end).into_iter().flatten() {
            let start = text.len().checked_sub(*length);
            if let Some((start, with)) =
                start.and_then(|it| Some((it, self.spelled.get(&text[it..])?)))
            {
                found.push(Edit::new(start..text.len(), with.as_bytes().to_vec()));
            }
        }
    }

    /// The same for a text that may be cut in the middle of a secret.
    pub(super) fn edits_of_body(&self, text: &[u8]) -> Vec<Edit> {
        let mut edits = self.edits(text);
        let from = edits.last().map_or(0, |edit| edit.range.end);
        if let Some((start, placeholder)) = self.cut(text, from)
            && text.len() - start >= value::SHORTEST
            && !value::in_placeholder(text, start)
        {
            edits.push(Edit::new(start..text.len(), placeholder.as_bytes().to_vec()));
        }
        edits
    }

    /// The edits for a text of which more is to come, and up to where it is decided.
    pub(super) fn decided_edits(&self, text: &[u8]) -> (Vec<Edit>, usize) {
        let cut = |from| self.cut(text, from).map_or(text.len(), |(start, _)| start);
        let mut end = cut(0);
        let mut decided = Vec::new();
        for edit in self.edits(text) {
            // A secret that ends here may be the beginning of a longer one.
            if edit.range.start >= end {
                break;
            }
            if edit.range.end > end {
                end = cut(edit.range.end);
            }
            decided.push(edit);
        }
        (decided, end)
    }

    /// The first offset, not below `from`, at which a secret begins that the text does not end, and
    /// what stands for it.
    fn cut(&self, text: &[u8], from: usize) -> Option<(usize, &str)> {
        let from = from.max((text.len() + 1).saturating_sub(self.longest));
        (from..text.len()).find_map(|start| {
            let rest = &text[start..];
            if beginning(rest).is_some_and(|(word, bit)| self.begun[word] & bit == 0) {
                return None;
            }
            let behind = (Bound::Excluded(rest), Bound::Unbounded);
            let (next, placeholder) = self.spelled.range::<[u8], _>(behind).next()?;
            next.starts_with(rest).then_some((start, &**placeholder))
        })
    }
}

/// Whether a spelling is of a value that is no word.
fn is_random(spelling: &[u8]) -> bool {
    let is_random = |text| value::is_distinctive(text) && !value::is_made_of_words(text);
    str::from_utf8(spelling).is_ok_and(is_random)
}

/// The bit of the filter that stands for what a text begins with, if it is long enough.
fn beginning(text: &[u8]) -> Option<(usize, u64)> {
    text.first_chunk::<BEGINNING>().map(|first| place(u32::from_le_bytes(*first).into()))
}

/// The bit of a filter that stands for so many bytes.
const fn place(end: u64) -> (usize, u64) {
    let hash = end.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49;
    ((hash >> 6) as usize, 1 << (hash & 63))
}
