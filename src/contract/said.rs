//! What a message says, as far as words go.

use std::borrow::Cow;

use crate::identity::{Meaning, identifiers};
use crate::text::json::{Container, Text};

/// A longer value is no word.
const LONGEST: usize = 40;

/// A longer value is not kept.
const LONGEST_KEPT: usize = 128;

/// Fields below so many objects are not looked at.
const DEEPEST: usize = 4;

/// A field of a message: its path with dots between the names, and its JSON text.
type Field<'d> = (Cow<'d, str>, &'d str);

/// The short scalars of a message outside of arrays, if it is JSON.
fn fields(json: Option<Text<'_>>) -> Vec<Field<'_>> {
    let mut found = Vec::new();
    if let Some(json) = json {
        collect(json, "", DEEPEST, &mut found);
    }
    found
}

/// What all pieces of a message say alike, as far as they are JSON.
pub(super) fn alike<'d>(
    mut pieces: impl Iterator<Item = Option<Text<'d>>>,
) -> Vec<(String, String)> {
    let mut said = pieces.next().map(fields).unwrap_or_default();
    for piece in pieces {
        let other = fields(piece);
        said.retain(|field| other.contains(field));
    }
    said.into_iter().map(|(path, json)| (path.into_owned(), json.to_owned())).collect()
}

fn collect<'d>(json: Text<'d>, path: &str, room: usize, found: &mut Vec<Field<'d>>) {
    for (name, value) in json.members().filter(|(name, _)| is_plain(name)) {
        let path = if path.is_empty() { name } else { format!("{path}.{name}").into() };
        match value.container() {
            Some(Container::Object) if room > 1 => collect(value, &path, room - 1, found),
            None if value.as_str().len() <= LONGEST_KEPT => found.push((path, value.as_str())),
            _ => {}
        }
    }
}

/// Whether it can stand in a path: letters, digits and `_`.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a JSON text is a string that says one word, and not one that was minted or a time.
pub(super) fn is_word(json: &str) -> bool {
    json.starts_with('"')
        && json.len() <= LONGEST
        && !json.contains(char::is_whitespace)
        && !json.contains('\\')
        && identifiers(json).next().is_none()
}

/// Whether what stands in a field may decide about something: it is a word, yes or no, and the field
/// is not named like an identifier or a time.
pub(super) fn may_decide(name: &str, json: &str) -> bool {
    Meaning::of(name) == Meaning::Plain
        && (is_word(json) || matches!(json, "true" | "false" | "null"))
}
