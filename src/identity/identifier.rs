//! Finding identifiers in text by their plain looks.

use std::ops::Range;

use crate::text::escape;

/// No identifier is shorter (`8f3a9c2b`), and no point in time within a text.
pub(crate) const SHORTEST: usize = 8;

/// A random word behind a prefix is as long, and one without a prefix.
const TAIL: usize = 10;
const BARE: usize = 16;

/// No part of a web token is shorter.
const TOKEN_PART: usize = 10;

/// The length of a UUID with dashes.
pub(crate) const UUID: usize = 36;

/// The length of a ULID.
const ULID: usize = 26;

/// Longer runs of the letters of Base64 are contents.
const CONTENT: usize = 200;

/// The places of the identifiers in a text, in order, whatever stands around them: UUIDs, ULIDs, long
/// hexadecimal words, words in which letters and digits alternate, behind a prefix or long
/// (the prefix is no part of it: `call_…`, `agent-…`), nano ids, JSON web tokens.
///
/// The text may be JSON as it is spelled or what it says, percent-encoded or not: a letter that
/// belongs to an escape is not taken for a part of a word.
///
/// # Rationale
///
/// These rules are frozen: they decide what a cassette without a table of names matches. Whether
/// something is a name is better decided by evidence, such as a second run, so they need not be clever.
pub fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut found: Vec<Range<usize>> = Vec::new();
    std::iter::from_fn(move || {
        while found.is_empty() {
            let span = unescaped(bytes, next_span(bytes, at, SHORTEST, is_word)?);
            if let Some(behind) = behind_content(bytes, &span) {
                at = behind;
                continue;
            }
            at = span.end;
            match web_token(bytes, &span) {
                Some(token) => {
                    at = token.end;
                    found.push(token);
                }
                None => within(bytes, span, &mut found),
            }
            found.reverse();
        }
        found.pop()
    })
}

/// The next run of such bytes that is long enough.
///
/// It covers one of any so many bytes in a row, so most of a text is never looked at.
#[inline]
pub(crate) fn next_span(
    bytes: &[u8],
    mut at: usize,
    shortest: usize,
    is_such: impl Fn(&u8) -> bool,
) -> Option<Range<usize>> {
    while let Some(byte) = bytes.get(at + shortest - 1) {
        let within = at + shortest - 1;
        if !is_such(byte) {
            at = within + 1;
            continue;
        }
        let before = bytes[at..within].iter().rev().take_while(|byte| is_such(byte));
        let start = within - before.count();
        let end = within + bytes[within..].iter().take_while(|byte| is_such(byte)).count();
        if end - start >= shortest {
            return Some(start..end);
        }
        at = end;
    }
    None
}

pub(super) const fn is_word(byte: &u8) -> bool {
    WORD[*byte as usize]
}

const WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        word[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'_');
        byte += 1;
    }
    word
};

/// The length of the run of such bytes at the beginning.
fn run(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len())
}

/// The run without the letters of an escape that it begins with (`\n`, `\u2014`, `%3A`).
fn unescaped(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let mark = span.start.checked_sub(1);
    let letters = mark.map_or(0, |mark| escape::letters(&bytes[mark..span.end]));
    span.start + letters..span.end
}

/// A JSON web token that begins with this run: two or three runs with dots between.
fn web_token(bytes: &[u8], span: &Range<usize>) -> Option<Range<usize>> {
    if !bytes[span.clone()].starts_with(b"eyJ") {
        return None;
    }
    let next = |end: usize| {
        let rest = bytes.get(end..).filter(|rest| rest.first() == Some(&b'.'))?;
        let length = run(&rest[1..]);
        (length >= TOKEN_PART).then_some(end + 1 + length)
    };
    let payload = next(span.end)?;
    Some(span.start..next(payload).unwrap_or(payload))
}

/// A longer run of letters and digits is data, such as an image in Base64.
const LONGEST: usize = 1024;

/// The identifiers in a run of letters, digits, `-` and `_`.
fn within(bytes: &[u8], span: Range<usize>, found: &mut Vec<Range<usize>>) {
    let word = &bytes[span.clone()];
    // Without a digit only the letters of a UUID are left to be one.
    let may_hold = word.len() >= UUID || word.iter().any(u8::is_ascii_digit);
    if word.len() > LONGEST || !may_hold {
        return;
    }
    let before = found.len();
    match nano_id(word) {
        Some(start) => found.push(span.start + start..span.end),
        // A colour is no name.
        None if bytes[..span.start].ends_with(b"#") => {}
        None => pieces(word, span.start, found),
    }
    let is_uuid =
        |range: &Range<usize>| range.len() == UUID && begins_with_uuid(&bytes[range.clone()]);
    if found.len() > before && !is_uuid(&found[before]) && is_content(bytes, &span) {
        found.truncate(before);
    }
}

/// Where a random word with `-` or `_` in it begins, if the run is one, maybe behind a prefix: one with
/// capitals, small letters and digits, and no part of it a word that somebody chose.
fn nano_id(word: &[u8]) -> Option<usize> {
    let mut start = 0;
    for piece in parts(word) {
        let is_prefix = !piece.is_empty() && piece.iter().all(u8::is_ascii_lowercase);
        if !is_prefix {
            break;
        }
        start += piece.len() + 1;
    }
    let rest = word.get(start..).filter(|rest| rest.len() >= BARE)?;
    let has = |class: fn(&u8) -> bool| rest.iter().any(class);
    let is_mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let is_parted = rest.iter().any(|byte| !byte.is_ascii_alphanumeric());
    let says = || parts(rest).any(is_plain_word);
    (is_mixed && is_parted && !says()).then_some(start)
}

/// Whether it reads as a word: `Turbo`, `mini`, `TOKEN`.
fn is_plain_word(piece: &[u8]) -> bool {
    let digits = piece.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let piece = &piece[..piece.len() - digits];
    let Some((first, rest)) = piece.split_first() else { return false };
    let is_one_case =
        rest.iter().all(u8::is_ascii_lowercase) || piece.iter().all(u8::is_ascii_uppercase);
    let has_vowel = piece.iter().any(|letter| b"aeiouAEIOU".contains(letter));
    piece.len() >= 4 && first.is_ascii_alphabetic() && is_one_case && has_vowel
}

fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    word.split(|byte| !byte.is_ascii_alphanumeric())
}

/// The identifiers among the words between `-` and `_`.
fn pieces(word: &[u8], offset: usize, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < word.len() {
        let rest = &word[at..];
        let length =
            rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let ends = |length: usize| !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
        if length == 8 && begins_with_uuid(rest) && ends(UUID) {
            found.push(offset + at..offset + at + UUID);
            at += UUID + 1;
            continue;
        }
        let piece = &rest[..length];
        if is_long_hex(piece) || is_ulid(piece) || is_random(piece, at > 0) {
            found.push(offset + at..offset + at + length);
        }
        at += length + 1;
    }
}

/// Whether a UUID with dashes stands at the beginning.
pub(crate) fn begins_with_uuid(bytes: &[u8]) -> bool {
    bytes.get(..UUID).is_some_and(|window| {
        let dashes = [8, 13, 18, 23];
        dashes.iter().all(|at| window[*at] == b'-')
            && [0..8, 9..13, 14..18, 19..23, 24..UUID]
                .into_iter()
                .all(|part| window[part].iter().all(u8::is_ascii_hexdigit))
    })
}

/// Hexadecimal digits in one case, with letters and digits among them.
fn is_long_hex(piece: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| piece.iter().any(class);
    piece.len() >= SHORTEST
        && piece.iter().all(u8::is_ascii_hexdigit)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
}

pub(super) fn is_ulid(piece: &[u8]) -> bool {
    let crockford =
        |byte: &u8| byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(byte));
    piece.len() == ULID && matches!(piece[0], b'0'..=b'7') && piece.iter().all(crockford)
}

/// Whether letters and digits alternate as they do where they were drawn by lot, and not as in a word
/// with a number behind it.
fn is_random(piece: &[u8], has_prefix: bool) -> bool {
    let turns =
        piece.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    piece.len() >= if has_prefix { TAIL } else { BARE } && turns.count() >= 2
}

/// Where the last run begins of a long Base64 text that begins with this one. There is no identifier before:
/// only a UUID is found in [contents](is_content), and it has dashes.
fn behind_content(bytes: &[u8], span: &Range<usize>) -> Option<usize> {
    let is_joint = |byte: &u8| matches!(byte, b'+' | b'/');
    bytes.get(span.end).filter(|byte| is_joint(byte))?;
    let belongs = |byte: &u8| *byte != b'-' && (is_word(byte) || is_joint(byte));
    let rest = &bytes[span.start..];
    let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
    let last = rest[..length].iter().rposition(is_joint)?;
    (length > CONTENT).then_some(span.start + last + 1)
}

/// Whether a run is a part of Base64 text: contents that the client sends, such as a picture, look
/// random and are not. Hexadecimal digits behind a plus are those of an address, `me+8f3a9c2b@…`.
fn is_content(bytes: &[u8], span: &Range<usize>) -> bool {
    let belongs = |byte: &&u8| is_word(byte) || matches!(byte, b'+' | b'/');
    let before = bytes[..span.start].iter().rev().take(CONTENT).take_while(belongs).count();
    let after = bytes[span.end..].iter().take(CONTENT).take_while(belongs).count();
    let around = &bytes[span.start - before..span.end + after];
    let is_hex = bytes[span.clone()].iter().all(u8::is_ascii_hexdigit);
    around.len() > CONTENT || (around.contains(&b'+') && !is_hex)
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
        check(&format!(r"line\n{uuid}\u2014{uuid}"), &[uuid, uuid]);
        check(&format!("urn%3Auuid%3a{uuid}%2F{uuid}"), &[uuid, uuid]);
    }

    #[test]
    fn tokens_are_found_without_their_prefix() {
        check("call_9pKqLm2XvT8nRw4YbZc6DfGh", &["9pKqLm2XvT8nRw4YbZc6DfGh"]);
        check("toolu_01A09q90qw90lq917835lq9", &["01A09q90qw90lq917835lq9"]);
        check("chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", &["B9MBs8CjcvOU2jLn4n570S5qMJKcT"]);
        check("Expected '['toolu_98a5f7163e0582751f4f3b89']'", &["98a5f7163e0582751f4f3b89"]);
        check("01ARZ3NDEKTSV4RRFFQ69G5FAV", &["01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
        check("/files/V1StGXR8_Z5jdHi6B-myT/", &["V1StGXR8_Z5jdHi6B-myT"]);
        check("req_V1StGXR8_Z5jdHi6B-myTb", &["V1StGXR8_Z5jdHi6B-myTb"]);
        check(
            "task_UG3YlZZWhx1YVxJ2 task_T8h5QvHeNdSBm5lh",
            &["UG3YlZZWhx1YVxJ2", "T8h5QvHeNdSBm5lh"],
        );
        check("agent_UG3YlZZWhx1YVxJ2", &["UG3YlZZWhx1YVxJ2"]);
        check("test-agent-8f3a9c2b", &["8f3a9c2b"]);
        check("report-8f3a9c2b.pdf 8f3a9c2b_report", &["8f3a9c2b", "8f3a9c2b"]);
        check("Bug 8f3a9c2b, by me+8f3a9c2b1d2e@example.com", &["8f3a9c2b", "8f3a9c2b1d2e"]);
        let token =
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
        check(&format!("jwt {token} end"), &[token]);
    }

    #[test]
    fn what_only_resembles_one_is_left_alone() {
        check("deadbeef-dead-beef-dead-beefdeadbee", &[]);
        check("deadbeef 12345678 #ff00aa80 facade 2026112a", &["2026112a"]);
        check("xdeadbeefdeadbeefdeadbeefdeadbeefghij", &[]);
        check("claude-sonnet-4-5-20250929 and text-embedding-3-small", &[]);
        check("get_secret_code_tool letta_v1_agent 2026-11-21T09:00:00", &[]);
        check("Agent-Name-With-Words X-Forwarded-For application/json", &[]);
        check("GPT-4-Turbo-2024-04-09 gpt-4o-mini-2024-07-18", &[]);
        check("Meta-Llama-3-8B-Q4_K_M X_AUTH_TOKEN-V2-Beta1 ISO-IR-100_Latin1-1986", &[]);
        check(&"iVBORw0KGgoAAAANSUhEUgAAAAUA".repeat(10), &[]);
        check("AAAFCAYAAACNbyblAAAAHElEQVQI12P4+8MUEzHEwAEAvLZ", &[]);
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
                    let text = format!("{before}{identifier}");
                    let found = identifiers(&text).any(|range| &text[range] == identifier);
                    assert_eq!(found, free, "{text}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_found_in_contents_and_all_behind_them() {
        let uuid = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
        let contents =
            "iVBORw0KGgo8f3a9c2b/AAAAD9pKqLm2XvT8nRw4YbZc6/2e4fd92f1+eyJhbGciOi/".repeat(8);
        check(&format!("{contents}8f3a9c2b"), &[]);
        check(
            &format!("{contents}8f3a9c2b {uuid} call_9pKqLm2XvT8nRw4YbZc6DfGh"),
            &[uuid, "9pKqLm2XvT8nRw4YbZc6DfGh"],
        );
        check(&format!("{contents}{uuid}/{contents}"), &[uuid]);
        check(&format!("{contents} {contents}#"), &[]);
    }

    #[test]
    fn nano_ids_are_found_as_a_whole_wherever_their_marks_fall() {
        let alphabet = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
        let mut seed = 0x7e7a_9e02_u64;
        let mut draw = |length: usize| -> String {
            let mut next = || {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                char::from(alphabet[(seed >> 20) as usize % alphabet.len()])
            };
            (0..length).map(|_| next()).collect()
        };
        for length in [21, 22, 43] {
            let missed: Vec<String> = (0..10_000)
                .map(|_| draw(length))
                .filter(|id| identifiers(id).next() != Some(0..length))
                .collect();
            assert!(missed.len() <= 800, "{} of length {length}: {:?}", missed.len(), &missed[..5]);
        }
    }
}
