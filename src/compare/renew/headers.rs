//! Header fields.

use super::settle::Settle;
use crate::cassette::Headers;
use crate::compare::alignment::{Field, Said};

/// Fields that tell of one transfer and not of what is transferred.
const OF_TRANSFER: [&str; 14] = [
    "age",
    "cf-ray",
    "date",
    "expires",
    "last-modified",
    "openai-processing-ms",
    "server-timing",
    "x-amz-cf-id",
    "x-amzn-trace-id",
    "x-envoy-upstream-service-time",
    "x-process-time",
    "x-response-time",
    "x-runtime",
    "x-timer",
];

/// New fields, with the old values where they may stay.
pub(super) fn both(old: &Headers, new: &Headers, settle: Settle<'_>) -> Headers {
    let mut nth: Vec<String> = Vec::new();
    let settled = new.iter().map(|(name, value)| {
        let folded = name.to_ascii_lowercase();
        let before = nth.iter().filter(|other| **other == folded).count();
        let partner = old.get_all(name).nth(before);
        let texts =
            partner.map(|partner| (std::str::from_utf8(partner), std::str::from_utf8(value)));
        let settled = match (partner, texts) {
            (Some(partner), _) if is_of_transfer(&folded) => partner.clone(),
            (_, Some((Ok(old), Ok(new)))) => {
                let said = [old, new].map(|text| Said::of(text, Field::of(name)));
                settle.text(&said[0], &said[1]).into_owned().into()
            }
            _ => named(value, settle),
        };
        nth.push(folded);
        (name, settled)
    });
    settled.collect()
}

/// Fields that have none beside them.
pub(super) fn alone(new: &Headers, settle: Settle<'_>) -> Headers {
    new.iter().map(|(name, value)| (name, named(value, settle))).collect()
}

fn named(value: &bytes::Bytes, settle: Settle<'_>) -> bytes::Bytes {
    match std::str::from_utf8(value) {
        Ok(text) => settle.named(text).into_owned().into(),
        Err(_) => value.clone(),
    }
}

fn is_of_transfer(name: &str) -> bool {
    OF_TRANSFER.contains(&name)
        || (name.contains("ratelimit") && (name.contains("remaining") || name.contains("reset")))
}
