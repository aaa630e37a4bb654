//! What holds in every trace.

use std::fmt;

use super::field::{Field, Path};

/// Something that holds in every trace of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Invariant {
    /// The field says the same in all events of a trace; another thing in other traces.
    Constant(Field),
    /// The number is one more in each event: none was left out.
    Counting(Field),
    /// The number grows from event to event.
    Increasing(Field),
    /// The number never falls.
    NotDecreasing(Field),
    /// The field never says the same twice in a trace.
    Unique(Field),
    /// The field says what the request says there, in any element where that is in an array.
    Echoes(Field, Path),
    /// The field says what the other field has said in an earlier event.
    Refers(Field, Field, Referred),
    /// The field says what the other one has said before, in this answer or in an earlier one. A field
    /// of the request has the type `request`.
    RefersEarlier(Field, Field),
}

/// What becomes of what can be referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Referred {
    /// Some of it is never referred to.
    Some,
    /// All of it has been referred to at the end of the trace.
    Each,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(field) => write!(f, "{field} constant"),
            Self::Counting(field) => write!(f, "{field} increasing by 1"),
            Self::Increasing(field) => write!(f, "{field} increasing"),
            Self::NotDecreasing(field) => write!(f, "{field} not decreasing"),
            Self::Unique(field) => write!(f, "{field} unique"),
            Self::Echoes(field, path) => write!(f, "{field} equals request.{path}"),
            Self::RefersEarlier(field, to) => write!(f, "{field} refers to earlier {to}"),
            Self::Refers(field, to, Referred::Some) => write!(f, "{field} refers to {to}"),
            Self::Refers(field, to, Referred::Each) => {
                write!(f, "{field} refers to {to}, each by the end")
            }
        }
    }
}
