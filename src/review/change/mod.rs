//! What changed in what a server promises, and whether that breaks anybody.
//!
//! [`compare`] takes two sides, each cassettes and accepted contracts, and gives a [`Report`]: changes
//! with verdicts, the contracts that are not the same, and the cassettes that are not the same but for
//! identifiers and times. The faces of a report are in [`report`](crate::review::report).
//!
//! # Rationale
//!
//! A gate must never hide a breaking change, and nobody keeps one that cries wolf. So *compatible* is said
//! only of what is proved, *breaking* of what recordings show so often that it is no chance, and *unproven*
//! of what is left: it is told first, and fails where that is asked for.

mod about;
mod always;
mod approval;
mod cassettes;
mod cause;
mod codes;
mod compare;
mod cut;
mod draft;
mod endless;
mod exchange;
mod excuse;
mod forms;
mod gap;
mod group;
mod instead;
mod kinds;
mod listed;
mod locate;
mod maps;
mod moved;
mod once;
mod orders;
pub(crate) mod parallel;
mod promised_orders;
mod renames;
mod report;
mod requests;
mod respelled;
mod rows;
mod rule;
mod shapes;
mod swap;
mod ties;
mod traits;
mod unseen;
mod values;
mod varying;
mod weight;

pub use approval::Approval;
pub use compare::{Checked, Known, check, compare, compare_by};
pub use group::Group;
pub use report::{
    CaseEdges, CassettePair, Change, ContractPair, Difference, Direction, Edge, Exchange,
    InteractionPair, Mark, MovedCassette, NewTrace, Part, Place, Possible, Report, Side, State,
    Unreadable, Verdict, Witnesses,
};
pub use rule::Rule;
