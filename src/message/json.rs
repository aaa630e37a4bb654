//! Messages in a JSON answer.

use std::ops::Range;

use super::{Protocols, Tag};
use crate::config::IndexedObject;
use crate::text::json::{Container, Text};

/// The places of the messages in a JSON body, in bytes; `None` if the body is not JSON.
///
/// An array of objects is a list of messages. So is an object that is only the envelope of one
/// (Letta's `{"messages":[…],"stop_reason":{…},"usage":{…}}`, OpenAI's `{"object":"list","data":[…]}`):
/// it has no `id` of its own and few members, and exactly one of them is an array of typed objects;
/// other members that are typed objects are messages too. Everything else is one message. Members have no
/// order that means something: they are taken by their names.
pub fn cut(body: &[u8], protocols: &Protocols) -> Option<Vec<Range<usize>>> {
    Some(typed(body, protocols)?.into_iter().map(|(place, _)| place).collect())
}

/// A part of a body, and its type where that was looked at.
type TypedPart<'a> = (&'a str, Option<Tag>);

/// The same with their types, as far as these were looked at to find them.
pub(super) fn typed(
    body: &[u8],
    protocols: &Protocols,
) -> Option<Vec<(Range<usize>, Option<Tag>)>> {
    let text = Text::parse(body)?;
    let parts = match text.container() {
        Some(Container::Array) => objects(text),
        Some(Container::Object) => enclosed(text, protocols),
        None => None,
    };
    let parts = parts.unwrap_or_else(|| vec![(trimmed(text), None)]);
    Some(parts.into_iter().map(|(part, tag)| (place(part, body), tag)).collect())
}

fn objects(array: Text<'_>) -> Option<Vec<TypedPart<'_>>> {
    let object = |element: Text<'_>| element.container() == Some(Container::Object);
    array.elements().map(|element| object(element).then_some((element.as_str(), None))).collect()
}

/// An object with more members than this says something of its own.
const MOST_MEMBERS: usize = 8;

fn enclosed<'a>(object: Text<'a>, protocols: &Protocols) -> Option<Vec<TypedPart<'a>>> {
    let part =
        |value: Text<'a>| Some((value.as_str(), Some(protocols.typed(&IndexedObject::of(value))?)));
    let object = IndexedObject::of(object);
    let mut members: Vec<_> = object.members().iter().collect();
    let id = members.iter().rev().find(|(name, _)| name == "id");
    if protocols.typed(&object).is_some_and(|own| own.as_str() != "list")
        || members.len() > MOST_MEMBERS
        || id.is_some_and(|(_, id)| id.string().is_some())
    {
        return None;
    }
    let mut parts = Vec::new();
    let (mut lists, mut empty) = (0, 0);
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (_, value) in members {
        match value.container() {
            Some(Container::Object) => parts.extend(part(*value)),
            Some(Container::Array) => {
                match value.elements().map(part).collect::<Option<Vec<_>>>() {
                    Some(all) if all.is_empty() => empty += 1,
                    Some(all) => {
                        lists += 1;
                        parts.extend(all);
                    }
                    None => {}
                }
            }
            None => {}
        }
    }
    let obvious = lists == 1 || lists == 0 && empty == 1 && !parts.is_empty();
    obvious.then_some(parts)
}

fn trimmed(text: Text<'_>) -> &str {
    text.as_str().trim_ascii()
}

/// Where a part of the body stands in it.
fn place(part: &str, body: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - body.as_ptr() as usize;
    start..start + part.len()
}
