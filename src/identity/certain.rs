//! Which of the words that look like identifiers are certainly some, wherever they stand.

use std::ops::Range;

use super::identifier::{begins_with_uuid, identifiers, is_ulid};
use super::name::refers;

/// Whether a word is nothing else wherever it stands: a UUID, a ULID, a web token, or a word behind a
/// prefix that names nothing computed: `call_…`, but not `sha256-…`.
///
/// A digest or a random number that stands alone may be what a tool has computed.
pub fn is_certain(text: &str, range: &Range<usize>) -> bool {
    let word = &text[range.clone()];
    begins_with_uuid(word.as_bytes())
        || is_ulid(word.as_bytes())
        || word.starts_with("eyJ")
        || is_prefixed(&text[..range.start])
}

/// Names of what is computed from other things.
const COMPUTED: [&str; 7] = ["sha", "md5", "hash", "digest", "checksum", "crc", "fp"];

fn is_prefixed(before: &str) -> bool {
    let Some(before) = before.strip_suffix(['-', '_']) else { return false };
    let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    let prefix = before[start..].to_ascii_lowercase();
    let named = prefix.starts_with(|first: char| first.is_ascii_alphabetic());
    named && !COMPUTED.iter().any(|computed| prefix.starts_with(computed))
}

/// A state that a server has sealed is longer than this.
const SEALED: usize = 40;

/// Whether a whole text is nothing but random letters and digits, too long for an identifier, and holds
/// none.
pub fn is_sealed(text: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let bytes = text.as_bytes();
    let changes = || bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    bytes.len() >= SEALED
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(byte))
        && changes() * 3 > bytes.len()
        && !identifiers(text).any(|word| is_certain(text, &word))
}

/// A shorter text may mix them and mean something: `gpt4o`.
const MIXED: usize = 8;

/// Whether small letters, capitals and digits stand side by side in a text as in no word.
pub fn is_mixed(text: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        // `claude-3-5` is parted, not mixed.
        _ => None,
    };
    let is_change =
        |one: u8, other: u8| class(one).zip(class(other)).is_some_and(|(one, other)| one != other);
    let changes = text.as_bytes().windows(2).filter(|pair| is_change(pair[0], pair[1])).count();
    text.len() >= MIXED && changes * 3 > text.len()
}

/// Whether a word in a field of this name stands for somebody or something: it is the same in all recordings of a session,
/// and another one in the next.
pub fn stands_for(field: &str, word: &str) -> bool {
    is_mixed(word) || refers(field) && is_minted(word)
}

/// Whether it is more likely minted than a name that somebody chose: letters and digits in one word.
pub fn is_minted(key: &str) -> bool {
    const SHORTEST: usize = 8;
    const FEWEST: usize = 2;
    let mixed = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= SHORTEST && digits >= FEWEST && word.len() - digits >= FEWEST
    };
    key.split(|char: char| !char.is_ascii_alphanumeric()).any(mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_computed_is_no_identifier() {
        for (before, word, expected) in [
            ("", "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", true),
            ("\"call_", "9pKqLm2XvT8nRw4YbZc6DfGh", true),
            ("", "01ARZ3NDEKTSV4RRFFQ69G5FAV", true),
            ("sha256-", "9f86d081884c7d659a2feaa0c55ad015", false),
            ("fp_", "44709d6fcb", false),
            ("", "7512374254209955967", false),
            ("it is ", "5eb63bbbe01eeed093cb22bb8f5acdc3", false),
        ] {
            let text = format!("{before}{word}");
            assert_eq!(is_certain(&text, &(before.len()..text.len())), expected, "{text}");
        }
    }
}
