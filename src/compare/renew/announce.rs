//! The announced length of a body.

use crate::cassette::Headers;

/// A length that was right before is right afterwards.
pub(super) fn announce(headers: &mut Headers, before: usize, now: usize) {
    let announced = headers.get("content-length").and_then(|length| length.trim().parse().ok());
    if before != now && announced == Some(before) {
        headers.set("content-length", now.to_string());
    }
}
