//! What `retape diff` calls changes of servers whose meaning is known.

use crate::measure::Effort;
use crate::server_changes;

/// What [`score`] is called.
pub const SCORE: &str = "server changes by what they are called";

/// So many changes of each kind make the corpus, if there are as many.
const OF_EACH: usize = 9;

/// The table, and what was called wrongly.
///
/// # Panics
///
/// If a breaking change is hidden, or too much is a false alarm or unproven.
pub fn score(effort: Effort) -> String {
    let is_smoke = effort.at_most(usize::MAX) < usize::MAX;
    let score = server_changes::score(if is_smoke { 1 } else { OF_EACH });
    assert!(score.holds(), "{score}");
    format!("## {SCORE}\n\n{score}")
}
