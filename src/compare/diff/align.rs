//! Which element of an array corresponds to which of another.

use super::tree::{Kind, Member, Tree};
use crate::text::sequence::{self, Rates, Step};

const RATES: Rates = Rates { longest: 2000, most_pairs: 1024, alone: ALONE };

/// What it costs to leave an element without a partner, in hundredths of a wholly different one.
const ALONE: u32 = 50;

/// Aligns two arrays in order.
pub(super) fn align(old: &[Tree<'_>], new: &[Tree<'_>]) -> Vec<Step> {
    let hashes = |all: &[Tree<'_>]| all.iter().map(|element| element.masked).collect::<Vec<u64>>();
    let unlike = |at: usize, with: usize| unlike(&old[at], &new[with]);
    sequence::align(&hashes(old), &hashes(new), RATES, unlike)
}

/// How unlike two values are that are not equal. Up to twice [`ALONE`] they are compared with each
/// other rather than told as one that is gone and one that is new.
fn unlike(old: &Tree<'_>, new: &Tree<'_>) -> u32 {
    const NOT_COMPARABLE: u32 = 3 * ALONE;
    let is_string = |tree: &Tree<'_>| tree.text.string().is_some();
    match (&old.kind, &new.kind) {
        (Kind::Object(olds), Kind::Object(news)) => {
            let alike: usize = olds
                .iter()
                .filter_map(|member| {
                    let named = |other: &&Member<'_>| other.masked == member.masked;
                    let partner = news.iter().find(named)?;
                    Some(1 + usize::from(partner.value.masked == member.value.masked))
                })
                .sum();
            let most = (olds.len() + news.len()).max(1);
            2 * ALONE * most.saturating_sub(alike) as u32 / most as u32
        }
        (Kind::Array(_), Kind::Array(_)) => ALONE,
        (Kind::Leaf, Kind::Leaf) if is_string(old) == is_string(new) => ALONE + 10,
        (Kind::Leaf, Kind::Leaf) => 2 * ALONE - 10,
        _ => NOT_COMPARABLE,
    }
}
