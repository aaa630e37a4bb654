//! What stands in a cassette where a secret was.

/// How it begins.
pub(crate) const OPENING: &str = "[redacted:";

/// A placeholder that is as long, in bytes, if there is room for one; else it as it is. What tells it from others stands
/// at its end.
pub(crate) fn of_length(placeholder: &str, length: usize) -> String {
    let name = placeholder.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(']'));
    let room = length.checked_sub(OPENING.len() + 1).filter(|room| *room > 0);
    let (Some(name), Some(room)) = (name, room) else { return placeholder.to_owned() };
    let short = name.char_indices().map(|(at, _)| &name[at..]).find(|end| end.len() <= room);
    format!("{OPENING}{:.>room$}]", short.unwrap_or_default())
}

/// Whether a text stands for a secret, and says nothing else.
pub(crate) fn is_placeholder(text: &str) -> bool {
    text.strip_prefix(OPENING)
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|name| !name.contains([']', '[']) && !name.contains(char::is_whitespace))
}
