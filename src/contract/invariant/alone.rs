//! What may hold of a field alone: of its values in a trace, one after the other.

use super::trace::Comparable;

/// What may hold of a field alone. What says more comes first.
///
/// Another one is a variant here, and a row in each function below. `Facts::claim` says when so much
/// is known that it is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Alone {
    /// The field says the same in all events of a trace; another thing in other traces.
    Constant,
    /// The number is one more in each event: none was left out.
    Counting,
    /// The number grows from event to event.
    Increasing,
    /// The number, or the time, never falls.
    NotDecreasing,
    /// The field never says the same twice in a trace.
    Unique,
}

/// What a field said before.
#[derive(Debug, Clone, Copy)]
pub(super) struct PriorValue<'v> {
    /// The last time.
    pub(super) last: &'v Comparable<'v>,
    /// Whether it said then, or before, what it says now.
    pub(super) is_said: bool,
    /// Whether that was in another piece of the same message, in which nothing can be otherwise.
    pub(super) is_same: bool,
    /// Whether that was in another row of the same message: how these follow each other is not how messages do.
    pub(super) is_row: bool,
}

impl Alone {
    /// All that there are.
    pub(super) const ALL: [Self; 5] =
        [Self::Constant, Self::Counting, Self::Increasing, Self::NotDecreasing, Self::Unique];

    /// Whether a number is one more than the one before.
    #[expect(clippy::float_cmp, reason = "numbers that are counted are exact")]
    pub(super) fn follows(last: f64, now: f64) -> bool {
        now == last + 1.0
    }

    /// How it is written behind the field.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Counting => "increasing by 1",
            Self::Increasing => "increasing",
            Self::NotDecreasing => "not decreasing",
            Self::Unique => "unique",
        }
    }

    /// Whether it holds of a value behind others. None if such values cannot break it.
    pub(super) fn holds(self, before: PriorValue<'_>, now: &Comparable<'_>) -> Option<bool> {
        let keys = || Some((before.last.key()?, now.key()?));
        let numbers = || {
            let numbers = Some((before.last.ordered()?, now.ordered()?));
            numbers.filter(|_| !before.is_row)
        };
        match self {
            Self::Constant => keys().filter(|_| !before.is_same).map(|(last, now)| last == now),
            Self::Unique => keys().map(|_| !before.is_said),
            Self::Counting => numbers().map(|(last, now)| Self::follows(last, now)),
            Self::Increasing => numbers().map(|(last, now)| now > last),
            Self::NotDecreasing => numbers().map(|(last, now)| now >= last),
        }
    }
}
