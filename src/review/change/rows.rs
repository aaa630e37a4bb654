//! What the rows of lists show of a change.

use std::collections::BTreeSet;

use super::about::{About, Identities};
use super::draft::Draft;
use super::excuse::all_showing;
use super::weight::is_outcome;
use crate::contract::Answer;

/// How many rows show a change, how many could, and how many of before could.
pub(super) struct RowCounts {
    pub broken: usize,
    pub all: usize,
    pub before: usize,
    /// Whether an answer that shows it has rows that do not.
    pub is_beside_others: bool,
}

impl RowCounts {
    /// Nothing if anything but rows could show it, or if one that was there before does: that it was
    /// another then is no chance.
    pub(super) fn of(
        draft: &Draft,
        about: &About,
        [old, new]: [&[&Answer]; 2],
        identities: &Identities,
    ) -> Option<Self> {
        let before = about.rows(old, draft.part, identities)?;
        let all = about.rows(new, draft.part, identities)?;
        let broken = draft.rows.iter().filter_map(|row| all.get(row.as_str()));
        let broken: Vec<&String> = broken.collect();
        let known: BTreeSet<&String> = before.values().collect();
        let is_known = broken.iter().any(|row| known.contains(row));
        let places = &draft.shown.as_ref()?.places;
        let shown: Vec<&Answer> =
            new.iter().copied().filter(|answer| places.contains(&answer.place)).collect();
        let beside = about.rows(&shown, draft.part, identities)?;
        let counts = Self {
            broken: broken.len(),
            all: all.len(),
            before: before.len(),
            is_beside_others: beside.keys().any(|row| !draft.rows.contains(*row)),
        };
        (!is_known && counts.broken > 0).then_some(counts)
    }
}

/// Whether a word that decides nothing stands in a row of its own wherever it is shown, beside those that were there:
/// one more thing, and no other one.
pub(super) fn is_one_more(draft: &Draft, old: &[&Answer], new: &[&Answer]) -> bool {
    let Some((list, field)) = draft.path.rsplit_once("[].") else { return false };
    let is_of_row = !list.contains("[]") && !field.contains('.') && !is_outcome(&draft.path);
    if !is_of_row {
        return false;
    }
    let is_more = |answer: &Answer| {
        let now = draft.about.words(answer, draft.part, field);
        let all: BTreeSet<&str> = now.iter().map(|word| &**word).collect();
        let is_kept = match old.iter().find(|old| old.place == answer.place) {
            Some(old) => {
                let before = draft.about.words(old, draft.part, field);
                before.iter().all(|word| all.contains(&**word))
            }
            None => all.iter().any(|word| *word != draft.key),
        };
        is_kept && now.len() > 1 && all.len() == now.len()
    };
    all_showing(draft, new, is_more)
}
