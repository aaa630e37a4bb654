//! Changes that somebody has approved.

use serde::Serialize;
use toml::de::{DeTable, DeValue};

use super::report::{Change, Report};
use crate::error::{Error, Kind, Result};
use crate::text::nearest;

/// A change that somebody has approved, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Approval {
    /// Which one, by its fingerprint.
    pub fingerprint: String,
    /// Why it is all right.
    pub reason: String,
    /// What it was about when it was approved, for whoever reads the file; may be empty.
    pub what: String,
}

/// The keys of an approval.
const KEYS: [&str; 3] = ["fingerprint", "reason", "what"];

/// What the array of tables is called.
const ARRAY: &str = "approve";

impl Approval {
    /// Reads the text of a file of approvals.
    ///
    /// # Errors
    ///
    /// If it is not TOML, has a key that is not known, or an approval lacks its fingerprint or reason.
    ///
    /// # Example: one approval
    ///
    /// ```
    /// use retape::review::change::Approval;
    ///
    /// let approvals = Approval::parse_all(r#"
    ///     [[approve]]
    ///     fingerprint = "92635975a9d5"
    ///     reason = "no client reads it"
    /// "#)?;
    ///
    /// assert_eq!(approvals[0].reason, "no client reads it");
    /// # Ok::<(), retape::Error>(())
    /// ```
    pub fn parse_all(text: &str) -> Result<Vec<Self>> {
        let not_toml =
            |error: toml::de::Error| wrong("it is not TOML").because(error.message().to_owned());
        let table = DeTable::parse(text).map_err(not_toml)?;
        let mut approvals = Vec::new();
        for (name, value) in table.get_ref() {
            if name.get_ref() != ARRAY {
                return Err(unknown(name.get_ref(), &[ARRAY]));
            }
            let DeValue::Array(tables) = value.get_ref() else {
                return Err(wrong("`approve` is no array of tables")
                    .with_hint("write `[[approve]]` with two brackets: there may be several"));
            };
            for table in tables {
                approvals.push(Self::read(table.get_ref())?);
            }
        }
        Ok(approvals)
    }

    fn read(value: &DeValue<'_>) -> Result<Self> {
        let DeValue::Table(table) = value else { return Err(wrong("an approval is no table")) };
        let mut said = [None, None, None];
        for (name, value) in table {
            let key = KEYS.iter().position(|key| key == name.get_ref());
            let Some(key) = key else { return Err(unknown(name.get_ref(), &KEYS)) };
            let DeValue::String(text) = value.get_ref() else {
                return Err(wrong("what an approval says is no string"));
            };
            said[key] = Some(text.to_string());
        }
        let [fingerprint, reason, what] = said;
        match (fingerprint, reason.filter(|reason| !reason.trim().is_empty())) {
            (Some(fingerprint), Some(reason)) => {
                Ok(Self { fingerprint, reason, what: what.unwrap_or_default() })
            }
            _ => Err(wrong("an approval needs both `fingerprint` and `reason`")),
        }
    }

    /// That a change is all right, and why.
    pub fn of(change: &Change, reason: &str) -> Self {
        Self {
            fingerprint: change.fingerprint.clone(),
            reason: reason.to_owned(),
            what: format!("{}: {}", change.place.endpoint, change.what),
        }
    }

    /// It as a part of a file of approvals.
    pub fn to_toml(&self) -> String {
        let mut text = format!("[[{ARRAY}]]\n");
        for (key, value) in KEYS.iter().zip([&self.fingerprint, &self.reason, &self.what]) {
            if !value.is_empty() {
                text.push_str(&format!("{key} = {}\n", quoted(value)));
            }
        }
        text
    }
}

impl Report {
    /// Marks the changes that are approved, and notes the approvals that match none.
    pub fn approve(&mut self, approvals: &[Approval]) {
        for change in &mut self.changes {
            let approval = approvals.iter().find(|it| it.fingerprint == change.fingerprint);
            change.approved = approval.map(|approval| approval.reason.clone());
        }
        // Who approves that an answer is of another endpoint now knows that nothing is accepted there.
        let changes = &self.changes;
        self.unaccepted.retain(|endpoint| {
            let mut here = changes.iter().filter(|change| change.place.endpoint == *endpoint);
            !here.clone().any(|it| it.approved.is_some()) || here.any(Change::is_open)
        });
        let matches = |approval: &&Approval| {
            self.changes.iter().any(|change| change.fingerprint == approval.fingerprint)
        };
        let stale = approvals.iter().filter(|approval| !matches(approval));
        self.stale = stale.cloned().collect();
    }
}

/// A basic string of TOML, which escapes as JSON does, and DEL besides.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn unknown(name: &str, known: &[&str]) -> Error {
    Error::new(Kind::UnknownKey { name: name.to_owned() }).with_hint(nearest::hint(name, known))
}

fn wrong(why: &'static str) -> Error {
    Error::new(Kind::Approval { why })
        .with_hint("`retape diff … --approve FINGERPRINT --reason TEXT` writes one")
}
