//! A JSON value in one line that is too big for one.

use super::gist_fields::LEADING;
use super::line::shorten_ids;
use crate::text::json::{Container, Text};

/// The members of an object that tell one from another, or what the elements of an array are called.
/// Nothing for any other value.
pub(super) fn outline(json: Text<'_>) -> Option<String> {
    match json.container()? {
        Container::Object => object(json),
        Container::Array => Some(array(json)),
    }
}

fn object(json: Text<'_>) -> Option<String> {
    const MOST: usize = 12;
    let mut members: Vec<(String, Text<'_>)> =
        json.members().map(|(name, value)| (name.into_owned(), value)).collect();
    let all = members.len();
    let rank = |name: &str| LEADING.iter().position(|it| *it == name).unwrap_or(LEADING.len());
    members.sort_by_key(|(name, _)| rank(name));
    let told = members.iter().filter(|(name, _)| !is_dull(name));
    let pairs: Vec<String> = told
        .filter_map(|(name, value)| Some(format!("{name}: {}", short(*value)?)))
        .take(MOST)
        .collect();
    let more = if pairs.len() < all { ", …" } else { "" };
    (!pairs.is_empty()).then(|| pairs.join(", ") + more)
}

/// Who made it and when is the same for all things of a recording, or differs in every recording.
fn is_dull(name: &str) -> bool {
    ["_by_id", "_at"].iter().any(|ending| name.ends_with(ending))
}

fn array(json: Text<'_>) -> String {
    let name = |element: Text<'_>| {
        let called = LEADING.iter().find_map(|name| short(element.get(name)?));
        called.or_else(|| short(element))
    };
    let count = json.elements().count();
    let names: Vec<String> = json.elements().filter_map(name).take(20).collect();
    let colon = if names.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", super::unit::count(count, "item"), names.join(", "))
}

/// A string without its quotes, a number, a truth value, or the length of an array.
fn short(value: Text<'_>) -> Option<String> {
    const LONGEST: usize = 60;
    if let Some(text) = value.string() {
        let fits = !text.is_empty() && text.chars().count() <= LONGEST;
        return fits.then(|| shorten_ids(&text));
    }
    match value.container() {
        None => value.scalar().map(str::to_owned),
        Some(Container::Object) => None,
        Some(Container::Array) => {
            let count = value.elements().count();
            (count > 0).then(|| format!("[{count}]"))
        }
    }
}
