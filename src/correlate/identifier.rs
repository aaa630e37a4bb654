//! Finding identifiers in text.

use std::ops::Range;

/// The first part of a UUID with dashes.
const SHORTEST: usize = 8;

/// The places of the identifiers in a text, in order: UUIDs with dashes, and 32 hexadecimal digits
/// in a row, whatever stands around them (`agent-<uuid>`, prose, a path).
pub fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let Range { start, end } = next_run(bytes, at)?;
            let run = end - start;
            let ends =
                |length: usize| !bytes.get(start + length).is_some_and(u8::is_ascii_alphanumeric);
            let length = match run {
                SHORTEST if dashed(&bytes[start..]) && ends(36) => 36,
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

/// The next run of eight or more hexadecimal digits from `at` on with which a word begins.
///
/// Such a run covers one of any eight bytes in a row that is not its own end, so most of a text is
/// never looked at.
fn next_run(bytes: &[u8], mut at: usize) -> Option<Range<usize>> {
    while let Some(byte) = bytes.get(at + SHORTEST - 1) {
        let within = at + SHORTEST - 1;
        if !byte.is_ascii_hexdigit() {
            at = within + 1;
            continue;
        }
        let before = bytes[at..within].iter().rev().take_while(|byte| byte.is_ascii_hexdigit());
        let start = within - before.count();
        let end = within + hex_run(&bytes[within..]);
        if start == 0 || !bytes[start - 1].is_ascii_alphanumeric() {
            return Some(start..end);
        }
        at = end;
    }
    None
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

    #[test]
    fn nothing_is_passed_over_wherever_it_stands() {
        let uuid = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
        let plain = uuid.replace('-', "");
        for before in ["", "x", "a", "a-", "-", "beef ", "deadbee-", "deadbeef-", "zdeadbeef "] {
            for filling in 0..20 {
                let before = format!("{}{before}", "ab ".repeat(filling));
                let free = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
                for identifier in [uuid, &plain] {
                    let found = if free { vec![identifier] } else { vec![] };
                    check(&format!("{before}{identifier}"), &found);
                    check(&format!("{before}{identifier} bad"), &found);
                }
            }
        }
    }
}
