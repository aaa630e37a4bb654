//! Finding what matters in a message.

use std::borrow::Cow;

use super::gist::compact;
use super::gist_fields::{Path, UNTELLING};
use crate::text::json::{Container, Text};

/// The values at these places, each once.
pub(super) fn words(jsons: &[Text<'_>], paths: &[Path]) -> Vec<String> {
    const MOST: usize = 4;
    let mut words = Vec::new();
    for path in paths {
        let found = jsons.iter().map(|json| values(*json, path)).find(|values| !values.is_empty());
        for value in found.unwrap_or_default() {
            let word = word(path.last().copied().unwrap_or_default(), value);
            words.extend(word.filter(|word| !words.contains(word)));
        }
    }
    words.truncate(MOST);
    words
}

/// A string as it is, anything else that is one value with its name.
fn word(name: &str, value: Text<'_>) -> Option<String> {
    const LONGEST: usize = 60;
    match value.string() {
        Some(said) => {
            (!said.is_empty() && said.chars().count() <= LONGEST).then(|| said.into_owned())
        }
        None => Some(format!("{name} {}", value.scalar()?)),
    }
}

/// What is said at that place, all deltas together.
pub(super) fn said(jsons: &[Text<'_>], path: Path) -> String {
    let name = path.last().copied().unwrap_or_default();
    let one = |json: &Text<'_>| {
        let texts: Vec<_> = values(*json, path).into_iter().map(|it| prose(name, it)).collect();
        texts.join(", ")
    };
    jsons.iter().map(one).collect()
}

/// The text of a value: a string, the parts of a content array, or arguments as JSON.
fn prose<'a>(name: &str, value: Text<'a>) -> Cow<'a, str> {
    match value.container() {
        None => value.string().unwrap_or_default(),
        Some(Container::Array) => {
            let parts: Vec<_> = value.elements().map(part).collect();
            Cow::Owned(parts.join(" "))
        }
        Some(Container::Object) if matches!(name, "arguments" | "input" | "data") => {
            Cow::Owned(compact(value))
        }
        Some(Container::Object) => Cow::Borrowed(""),
    }
}

/// A part of a content array: its text, else its type in brackets.
fn part(part: Text<'_>) -> String {
    if let Some(text) = part.string() {
        return text.into_owned();
    }
    let text = ["text", "content", "thinking"].iter().find_map(|it| part.get(it)?.string());
    match (text, part.get("type").and_then(Text::string)) {
        (Some(text), _) => text.into_owned(),
        (None, Some(kind)) => format!("[{kind}]"),
        (None, None) => compact(part),
    }
}

/// The first members that hold one short value, with their names.
pub(super) fn members(json: Text<'_>) -> Vec<String> {
    const MOST: usize = 3;
    let telling = json.members().filter(|(name, _)| {
        !UNTELLING.contains(&name.as_ref()) && !["_id", "_at"].iter().any(|it| name.ends_with(it))
    });
    let words = telling.filter_map(|(name, value)| match value.string() {
        Some(_) => Some(format!("{name} {}", word(&name, value)?)),
        None => word(&name, value),
    });
    words.take(MOST).collect()
}

/// The values at the end of a path that are not `null`.
fn values<'a>(json: Text<'a>, path: &[&str]) -> Vec<Text<'a>> {
    let Some(star) = path.iter().position(|part| *part == "*") else {
        let said = |it: &Text<'_>| it.as_str() != "null";
        return json.at(path).filter(said).into_iter().collect();
    };
    let elements = json.at(&path[..star]).into_iter().flat_map(Text::elements);
    elements.flat_map(|element| values(element, &path[star + 1..])).collect()
}
