//! Why nothing recorded answers a request, for a program.

use serde_json::{Value as Json, json};

use super::line::cut;
use super::why;
use crate::cassette::Place;
use crate::compare::Value;
use crate::compare::matching::{Asking, Differing, Mismatch};

/// A difference as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differs {
    /// Where: `/approvals/0/tool_call_id`, `query.limit`, `header.accept`, `path.3` …
    pub at: Place,
    /// What was recorded there, if anything was.
    pub recorded: Option<Value>,
    /// What is asked there, if anything is.
    pub asked: Option<Value>,
    /// Why that counts.
    pub why: String,
}

/// Longer values are cut, and given as texts then.
const LONGEST: usize = 2000;

impl Differs {
    /// What a mismatch tells, difference by difference.
    pub(crate) fn all(mismatch: &Mismatch) -> Vec<Self> {
        let differences = mismatch.nearest.iter().flat_map(|nearest| &nearest.differences);
        differences
            .map(|Differing { difference, why }| Self {
                at: difference.at.clone(),
                recorded: difference.recorded.clone(),
                asked: difference.asked.clone(),
                why: why::text(why),
            })
            .collect()
    }

    /// `{"at", "recorded", "asked", "why"}`; a value that there is none of is left out.
    pub(crate) fn to_json(&self) -> Json {
        let mut told = json!({"at": self.at.to_string()});
        for (name, value) in [("recorded", &self.recorded), ("asked", &self.asked)] {
            if let Some(value) = value {
                told[name] = value_to_json(value);
            }
        }
        told["why"] = Json::from(&*self.why);
        told
    }
}

/// `{"interaction", "method", "path"}`, counted from 1 as people do.
pub(crate) fn asking_to_json(asking: &Asking) -> Json {
    json!({
        "interaction": asking.interaction + 1,
        "method": asking.method,
        "path": asking.path,
    })
}

fn value_to_json(value: &Value) -> Json {
    let short = |text: &str| Json::from(cut(text, LONGEST));
    match value {
        Value::Text(text) => short(text),
        // A number that is too large for others stays as it is spelled.
        Value::Json(spelled) if spelled.len() <= LONGEST => {
            serde_json::from_str(spelled).unwrap_or_else(|_| short(spelled))
        }
        Value::Json(spelled) => short(spelled),
        Value::Binary { length, .. } => json!({"bytes": length}),
    }
}
