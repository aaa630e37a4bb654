//! What a session is at, for a program.

use serde_json::{Value, json};

use super::event::Miss;
use crate::compare::matching::Asking;
use crate::review::report;
use crate::serve::replayer::Replayer;

/// A session: its cassette, what was played of it and what was not, what stands for the identifiers
/// that the client minted when it was recorded, and what was missed.
pub(super) fn session(
    name: &str,
    cassette: &str,
    replayer: Option<&Replayer>,
    misses: &[Miss],
) -> Value {
    let misses: Vec<Value> = misses.iter().map(Miss::to_json).collect();
    let mut told = json!({"session": name, "cassette": cassette, "misses": misses});
    if let Some(replayer) = replayer {
        let all = |askings: Vec<Asking>| -> Vec<Value> {
            askings.iter().map(report::asking_to_json).collect()
        };
        let (played, unplayed) = replayer.progress();
        told["played"] = all(played).into();
        told["unplayed"] = all(unplayed).into();
        told["bindings"] = json!(replayer.bound());
    }
    told
}
