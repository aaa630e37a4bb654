//! Finding identifiers in text.

use std::ops::Range;

use super::minted;
use super::shapes::Shapes;

/// No identifier is shorter (`8f3a9c2b`), and no point in time within a text.
pub(crate) const SHORTEST: usize = 8;

/// No part of a web token is shorter.
const TOKEN_PART: usize = 10;

/// The length of a UUID with dashes.
const UUID: usize = 36;

/// URL-safe tokens of the usual sizes: 16 characters of a nano id and more, 16 and 32 bytes of Base64.
const TOKENS: [usize; 3] = [21, 22, 43];

/// The longer of those that a word with a short prefix may be as long as.
const NANO: usize = 22;

/// Longer runs of the letters of Base64 are contents.
const CONTENT: usize = 200;

/// The places of the identifiers in a text, in order, whatever stands around them: UUIDs, ULIDs, long
/// hexadecimal and random words, random words behind a prefix (the prefix is no part of it:
/// `call_…`, `agent-…`), nano ids, JSON web tokens.
///
/// The text may be JSON as it is spelled or what it says, percent-encoded or not: a letter that
/// belongs to an escape is not taken for a part of a word.
pub fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    identifiers_like(text, &Shapes::NONE)
}

/// The same with what looks like identifiers that are known: random letters spell something now and
/// then.
pub fn identifiers_like<'a>(
    text: &'a str,
    shapes: &'a Shapes,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut found: Vec<Range<usize>> = Vec::new();
    std::iter::from_fn(move || {
        while found.is_empty() {
            let span = unescaped(bytes, next_span(bytes, at, SHORTEST)?);
            at = span.end;
            match web_token(bytes, &span) {
                Some(token) => {
                    at = token.end;
                    found.push(token);
                }
                None if span.len() < PLAIN && !is_parted(&bytes[span.clone()]) => {
                    found.extend(shapes.short(text, span));
                }
                None => {
                    within(bytes, span.clone(), &mut found);
                    if found.is_empty() {
                        found.extend(
                            shapes.find(&text[span.clone()]).map(|at| span.start + at..span.end),
                        );
                    }
                }
            }
            found.reverse();
        }
        found.pop()
    })
}

/// Shorter ones are words as often as not.
pub(super) const PLAIN: usize = 16;

/// Shorter ones behind a prefix are told by their look alone.
pub(super) const TAIL: usize = 10;

/// Whether a word has digits, or capitals within: one that somebody chose has neither as a rule.
pub(super) fn is_mixed(word: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| word[1..].iter().any(class);
    has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

/// A prefix has so many parts at most.
pub(super) const MOST_PARTS: usize = 4;

/// The next run of letters, digits, `-` and `_` that is long enough.
///
/// Such a run covers one of any so many bytes in a row, so most of a text is never looked at.
#[inline]
pub(super) fn next_span(bytes: &[u8], mut at: usize, shortest: usize) -> Option<Range<usize>> {
    while let Some(byte) = bytes.get(at + shortest - 1) {
        let within = at + shortest - 1;
        if !is_word(byte) {
            at = within + 1;
            continue;
        }
        let before = bytes[at..within].iter().rev().take_while(|byte| is_word(byte));
        let start = within - before.count();
        let end = within + run(&bytes[within..]);
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
    let mark = span.start.checked_sub(1).map(|before| bytes[before]);
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let letters = match (mark, &bytes[span.clone()]) {
        (Some(b'\\'), [b'n' | b'r' | b't' | b'b' | b'f', ..]) => 1,
        (Some(b'\\'), [b'u', code @ ..]) if hex(&code[..4]) => 5,
        (Some(b'%'), run) if hex(&run[..2]) => 2,
        _ => 0,
    };
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

fn within(bytes: &[u8], span: Range<usize>, found: &mut Vec<Range<usize>>) {
    let word = &bytes[span.clone()];
    let before = found.len();
    match whole_token(word) {
        Some(start) => found.push(span.start + start..span.end),
        None => pieces(word, span.start, found),
    }
    let is_uuid = |range: &Range<usize>| range.len() == UUID && is_uuid(&bytes[range.clone()]);
    if found.len() > before && !is_uuid(&found[before]) && is_content(bytes, &span) {
        found.truncate(before);
    }
}

/// Where a token with `-` or `_` inside begins, if the run is one, maybe behind a prefix.
fn whole_token(word: &[u8]) -> Option<usize> {
    // What is minted so has small and capital letters; nearly no run has both.
    if !word.iter().any(u8::is_ascii_uppercase) || !word.iter().any(u8::is_ascii_lowercase) {
        return None;
    }
    let sized = TOKENS.contains(&word.len()) && is_parted(word) && !has_prefix(word);
    let says = || says_something(word, 4) && !(word.len() > NANO && has_minted(word));
    if sized && (minted::is_minted_whole(word) || (minted::is_minted_token(word) && !says())) {
        return Some(0);
    }
    let mut start = 0;
    for piece in parts(word) {
        if piece.is_empty() || !piece.iter().all(u8::is_ascii_lowercase) {
            break;
        }
        start += piece.len() + 1;
    }
    let rest = word.get(start..)?;
    let token = is_parted(rest) && !says_something(rest, 3) && minted::is_minted_whole(rest);
    token.then_some(start)
}

/// Whether it begins with a word that somebody chose: with `task_` before them, 16 letters are as many
/// as a nano id has. Of those, one in 500 begins so by chance.
fn has_prefix(word: &[u8]) -> bool {
    let first = parts(word).next().unwrap_or_default();
    let is_word = first.len() >= 3 && first.iter().all(u8::is_ascii_lowercase);
    word.len() <= NANO && is_word && has_vowel(first)
}

fn has_minted(word: &[u8]) -> bool {
    parts(word).any(minted::is_minted)
}

fn has_vowel(word: &[u8]) -> bool {
    word.iter().any(|letter| b"aeiouyAEIOUY".contains(letter))
}

fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    word.split(|byte| !byte.is_ascii_alphanumeric())
}

/// Whether a word of so many letters or more stands between the marks: `Turbo`, `mini`.
fn says_something(word: &[u8], letters: usize) -> bool {
    parts(word).any(|piece| {
        piece.len() >= letters
            && piece[1..].iter().all(u8::is_ascii_lowercase)
            && piece[0].is_ascii_alphabetic()
            && has_vowel(piece)
    })
}

fn is_parted(word: &[u8]) -> bool {
    word.iter().any(|byte| !byte.is_ascii_alphanumeric())
}

/// The identifiers among the words between `-` and `_`.
fn pieces(word: &[u8], offset: usize, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < word.len() {
        let rest = &word[at..];
        let length =
            rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let ends = |length: usize| !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
        let length = if length == 8 && is_uuid(rest) && ends(UUID) {
            found.push(offset + at..offset + at + UUID);
            UUID
        } else {
            let piece = &rest[..length];
            let is_tail = || at > 0 && minted::is_minted_tail(piece);
            if minted::is_minted(piece) || minted::is_bare_hex(piece) || is_tail() {
                found.push(offset + at..offset + at + length);
            }
            length
        };
        at += length + 1;
    }
}

/// Whether a UUID with dashes stands at the beginning.
fn is_uuid(bytes: &[u8]) -> bool {
    bytes.get(..UUID).is_some_and(|window| {
        let dashes = [8, 13, 18, 23];
        dashes.iter().all(|at| window[*at] == b'-')
            && [0..8, 9..13, 14..18, 19..23, 24..UUID]
                .into_iter()
                .all(|part| window[part].iter().all(u8::is_ascii_hexdigit))
    })
}

/// Whether a run is a part of Base64 text: contents that the client sends, such as a picture, look
/// random and are not. Hexadecimal digits behind a plus are those of an address, `me+8f3a9c2b@…`.
fn is_content(bytes: &[u8], span: &Range<usize>) -> bool {
    let belongs = |byte: &&u8| is_word(byte) || matches!(byte, b'+' | b'/');
    let before = bytes[..span.start].iter().rev().take(CONTENT).take_while(belongs).count();
    let after = bytes[span.end..].iter().take(CONTENT).take_while(belongs).count();
    let around = &bytes[span.start - before..span.end + after];
    around.len() > CONTENT || (around.contains(&b'+') && !minted::is_hex(&bytes[span.clone()]))
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
    fn a_word_that_spells_something_is_known_by_others_like_it() {
        let mut shapes = Shapes::default();
        for minted in ["ord_x7Kp2mQ9vT4z", "test-8f3a9c2b1d", "run_9pKqLm2XvT8nRw4Y"] {
            let found = identifiers(minted).next().expect("it looks minted");
            shapes.learn(minted, &found);
        }

        for (text, expected) in [
            ("ord_theReason1st", Some("theReason1st")),
            ("ord_something123", Some("something123")),
            ("ord_theReason1", None),
            ("req_theReason1st", None),
            ("test-permission", None),
            ("run_interestingothe", None),
            ("run_interestingother", Some("interestingother")),
        ] {
            let found = identifiers_like(text, &shapes).next().map(|range| &text[range]);
            assert_eq!(found, expected, "{text}");
        }
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
            assert!(missed.len() <= 100, "{} of length {length}: {:?}", missed.len(), &missed[..5]);
        }
    }
}
