//! What a session is at, for a program.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::event::Miss;
use crate::cassette::{Cassette, Headers, target};
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

/// What was asked and answered in a cassette, bodies as Base64; of one that is `recorded` now, that so far.
pub(super) fn interactions(
    cassette: &Cassette,
    recorded: bool,
    is_played: impl Fn(usize) -> bool,
) -> Vec<Value> {
    let upstream = &cassette.recorded.upstream;
    let all = cassette.interactions.iter().enumerate().map(|(number, interaction)| {
        let request = &interaction.request;
        json!({
            "method": request.method,
            "url": target::absolute(upstream, &request.path),
            "headers": fields(&request.headers),
            "body": BASE64.encode(request.readable()),
            "recorded": recorded,
            "played": is_played(number),
            "response": interaction.response().map(|response| json!({
                "status": response.status,
                "headers": fields(&response.headers),
                "body": BASE64.encode(response.body.bytes()),
            })),
        })
    });
    all.collect()
}

pub(super) fn fields(headers: &Headers) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}
