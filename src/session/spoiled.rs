//! What went wrong on purpose.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::gateway::Gateway;
use crate::serve::lock;
use crate::serve::replayer::Call;

/// A call in which a fault was injected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spoiled {
    /// The session as its prefix names it; empty for the default one.
    pub session: String,
    /// The cassette.
    pub cassette: String,
    /// What was asked for, and what came of each attempt.
    pub call: Call,
}

/// The calls that went wrong, the faults that met one, and those that met none.
pub(super) fn of(gateway: &Gateway) -> (Vec<Spoiled>, BTreeSet<String>, BTreeSet<String>) {
    let mut unmet: BTreeSet<String> =
        gateway.settings.given.faults.iter().map(ToString::to_string).collect();
    let (mut all, mut met) = (Vec::new(), BTreeSet::new());
    for (session, slot) in lock(&gateway.tracks).iter() {
        let Some(replayer) = slot.replayer() else { continue };
        for (fault, is_met) in replayer.faults() {
            if is_met {
                met.insert(fault)
            } else {
                unmet.insert(fault)
            };
        }
        all.extend(replayer.spoiled().into_iter().map(|call| Spoiled {
            session: session.clone(),
            cassette: slot.cassette.to_string(),
            call,
        }));
    }
    unmet.retain(|fault| !met.contains(fault));
    (all, met, unmet)
}

impl Spoiled {
    pub(super) fn to_json(&self) -> Value {
        let attempts = self.call.attempts.iter().map(
            |attempt| json!({"gap_ms": attempt.gap.as_millis() as u64, "fault": attempt.fault}),
        );
        json!({
            "session": self.session,
            "cassette": self.cassette,
            "method": self.call.method,
            "path": self.call.path,
            "attempts": attempts.collect::<Vec<_>>(),
        })
    }
}
