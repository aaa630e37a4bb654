//! Changes that somebody has approved.

/// A change that somebody has approved, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Approval {
    /// Which one, by its fingerprint.
    pub fingerprint: String,
    /// Why it is all right.
    pub reason: String,
    /// What it was about when it was approved, for whoever reads the file; may be empty.
    pub what: String,
}
