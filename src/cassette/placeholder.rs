//! What stands in a cassette where a secret was.

/// How it begins.
pub(crate) const OPENING: &str = "[redacted:";

/// Whether a text stands for a secret, and says nothing else.
pub(crate) fn is_placeholder(text: &str) -> bool {
    text.strip_prefix(OPENING)
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|name| !name.contains([']', '[']) && !name.contains(char::is_whitespace))
}
