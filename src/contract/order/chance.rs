//! Whether what goes together does so by chance.

use std::collections::BTreeSet;

use super::choice::factorial;

/// What was tried goes together by chance so rarely, if it is to count.
pub const BY_CHANCE: f64 = 0.01;

/// So many independent recordings have to be on each side of what tells two things apart.
pub const FEWEST: usize = 5;

/// How likely chance alone divides one of several outcomes as unevenly between two sides: Fisher's exact
/// test for the best of them, times how many there are.
///
/// Each outcome has those in which it was seen. One that was seen in all, or that goes along with another
/// one, is no other outcome.
pub fn by_chance<'w, W: Ord + Copy + 'w>(
    one: &BTreeSet<W>,
    other: &BTreeSet<W>,
    outcomes: impl Iterator<Item = &'w BTreeSet<W>>,
) -> f64 {
    let tables: BTreeSet<Vec<bool>> = outcomes
        .filter_map(|seen| {
            let all: Vec<bool> =
                one.iter().chain(other).map(|witness| seen.contains(witness)).collect();
            let first = *all.first()?;
            // What is missing wherever another is there is the same outcome.
            all.contains(&!first).then(|| all.iter().map(|it| *it == first).collect())
        })
        .collect();
    let least = tables.iter().map(|all| {
        let (one, other) = all.split_at(one.len());
        exact([one, other].map(|side| (seen(side), side.len() as u64)))
    });
    least.fold(1.0, f64::min) * tables.len() as f64
}

fn seen(side: &[bool]) -> u64 {
    side.iter().filter(|seen| **seen).count() as u64
}

/// Fisher's exact test, on both ends, for two sides with how often something was seen of how many times.
pub fn exact([(seen, all), (other_seen, other_all)]: [(u64, u64); 2]) -> f64 {
    let chosen = seen + other_seen;
    let ways = |all: u64, some: u64| factorial(all) - factorial(some) - factorial(all - some);
    let bits = |seen: u64| {
        ways(all + other_all, chosen) - ways(all, seen) - ways(other_all, chosen - seen)
    };
    let is_as_uneven = |other: &f64| *other >= bits(seen) - 1e-9;
    let possible = chosen.saturating_sub(other_all)..=chosen.min(all);
    possible.map(bits).filter(is_as_uneven).map(|bits| (-bits).exp2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fishers_exact_test() {
        // R. A. Fisher's tea, and a table of 2 × 12 as textbooks have it.
        for (table, expected) in [
            ([(3, 4), (1, 4)], 34.0 / 70.0),
            ([(1, 12), (9, 12)], 0.002_759_456),
            ([(5, 5), (0, 5)], 2.0 / 252.0),
        ] {
            assert!(
                (exact(table) - expected).abs() < 1e-4 * expected,
                "{} {expected}",
                exact(table)
            );
        }
    }
}
