//! Finding identifiers in text.

use std::ops::Range;

/// The places of the identifiers in a text, in order: UUIDs with dashes, and 32 hexadecimal digits
/// in a row, whatever stands around them (`agent-<uuid>`, prose, a path).
pub fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = word_of_digits(bytes, at)?;
            let run = hex_run(&bytes[start..]);
            let ends =
                |length: usize| !bytes.get(start + length).is_some_and(u8::is_ascii_alphanumeric);
            let length = match run {
                8 if dashed(&bytes[start..]) && ends(36) => 36,
                32 if ends(32) => 32,
                _ => 0,
            };
            at = start + length.max(run);
            if length > 0 {
                return Some(start..start + length);
            }
        }
    })
}

/// The next place from `at` on where a word begins with a hexadecimal digit.
fn word_of_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let begins = |index: &usize| {
        bytes[*index].is_ascii_hexdigit()
            && (*index == 0 || !bytes[index - 1].is_ascii_alphanumeric())
    };
    (at..bytes.len()).find(begins)
}

/// The length of the run of hexadecimal digits at the beginning.
fn hex_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(bytes.len())
}

/// Whether a UUID with dashes stands at the beginning.
fn dashed(bytes: &[u8]) -> bool {
    bytes.get(..36).is_some_and(|window| {
        window.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = identifiers(text).map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn uuids_are_found_wherever_they_stand() {
        let uuid = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
        check(uuid, &[uuid]);
        check(&format!("agent-{uuid}"), &[uuid]);
        check(&format!("/v1/agents/agent-{uuid}/messages"), &[uuid]);
        check(&format!("['{uuid}','{uuid}']"), &[uuid, uuid]);
        check(&format!("toolu_{}", uuid.replace('-', "")), &[&uuid.replace('-', "")]);
        check(&format!("cafe {uuid} decade"), &[uuid]);
    }

    #[test]
    fn what_only_resembles_one_is_left_alone() {
        check("deadbeef-dead-beef-dead-beefdeadbee", &[]);
        check("deadbeef-dead-beef-dead-beefdeadbeef0", &[]);
        check("xdeadbeefdeadbeefdeadbeefdeadbeef0000", &[]);
        check("0123456789abcdef0123456789abcdef0123456789abcdef", &[]);
        check("", &[]);
    }
}
