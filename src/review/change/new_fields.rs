//! What fields that are new mean to clients.

use super::report::{Change, Report, Verdict};
use super::rule::Rule;
use crate::config::NewFields;

impl Report {
    /// Judges the fields that are new in what the server sends. Where nothing is said they are compatible:
    /// clients read what they know.
    pub fn new_fields(&mut self, mean: NewFields) {
        let is_new = |change: &&mut Change| change.rule == Rule::FieldNew;
        for change in self.changes.iter_mut().filter(is_new) {
            let is_shown = change.witnesses.is_some() || change.example.is_some();
            let (verdict, why) = match (mean, is_shown) {
                (NewFields::Compatible, _) => (Verdict::Compatible, TOLERANT),
                (NewFields::Breaking, true) => (Verdict::Breaking, STRICT),
                (NewFields::Breaking, false) => (Verdict::Unproven, UNSHOWN),
            };
            (change.verdict, change.why) = (verdict, why.to_owned());
        }
        self.sort();
    }
}

/// Why it breaks nobody.
pub(super) const TOLERANT: &str = "clients read the fields that they know";

const STRICT: &str = "there is a client that refuses what it does not know, as is configured";

const UNSHOWN: &str =
    "no recording shows it, and no value was found that only the new contract allows";
