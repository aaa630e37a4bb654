//! Names and lists in sentences.

use super::report::Part;

/// So much of a shape or a list is told in a sentence.
const LONGEST: usize = 60;

/// A place in a value, in a sentence.
pub(super) fn at(part: Part, path: &str) -> String {
    match (path.is_empty(), part) {
        (false, _) => format!("`{path}`"),
        (true, Part::Events) => "a message".to_owned(),
        (true, Part::Request) => "the request".to_owned(),
        (true, _) => "the answer".to_owned(),
    }
}

/// A text, or what it begins with.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

/// `"a"`, or `one of "a" | "b"`, in a sentence.
pub(super) fn one_of(text: &str) -> String {
    let among = if text.contains(" | ") { "one of " } else { "" };
    format!("{among}`{}`", cut(text))
}

/// `a`, `b` or `c`.
pub(super) fn either(names: &[String]) -> String {
    const NAMED: usize = 4;
    let quoted: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match (quoted.as_slice(), names.len()) {
        ([], _) => "nothing".to_owned(),
        ([only], _) => only.clone(),
        (_, more) if more > NAMED => format!("{} or another", quoted[..NAMED - 1].join(", ")),
        ([before @ .., last], _) => format!("{} or {last}", before.join(", ")),
    }
}
