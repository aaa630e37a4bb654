//! Why a difference counts, in words.

use crate::compare::matching::Why;
use crate::identity::{Issuer, Origin};

/// A sentence without its full stop. Interactions are counted from 1 here, as people do.
pub(super) fn text(why: &Why) -> String {
    match why {
        Why::Issued { value, interaction, asked } => {
            let number = interaction + 1;
            let behind = asked.map_or_else(String::new, origin);
            format!("the server issued `{value}` in interaction {number}{behind}")
        }
        Why::Given { interaction, at } => {
            format!("the server gave the recorded one in interaction {} (`{at}`)", interaction + 1)
        }
        Why::CalledBefore { before, interaction } => {
            let first = interaction.map(|it| format!(" (first seen in interaction {})", it + 1));
            format!("this client called it `{before}` before{}", first.unwrap_or_default())
        }
        Why::StandsFor { other } => {
            format!("this client uses it already for what was recorded as `{other}`")
        }
        Why::NotRecorded => "the recording has no such field".to_owned(),
        Why::NotAsked => "missing: only the recording has it".to_owned(),
        Why::Kind(recorded, asked) => format!("{} was recorded, this is {}", a(recorded), a(asked)),
        Why::Order => "the elements are the same, in another order".to_owned(),
        Why::Value { .. } => "another value was recorded".to_owned(),
        Why::Secret => "a secret, which is not shown; another one was recorded".to_owned(),
    }
}

fn origin(of: Origin) -> String {
    let number = of.interaction + 1;
    match of.issuer {
        Issuer::Server => format!("; the asked one is what it issued in interaction {number}"),
        Issuer::Client => format!("; the asked one is the client's own, from interaction {number}"),
    }
}

fn a(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "object" | "array" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}
