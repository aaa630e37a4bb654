//! Messages in a JSON answer.

use std::ops::Range;

use super::Protocols;
use crate::json::{Container, Text};

/// The places of the messages in a JSON body, in bytes; `None` if the body is not JSON.
///
/// An array of objects is a list of messages. So is an object that is only the envelope of one
/// (Letta's `{"messages":[…],"stop_reason":{…},"usage":{…}}`, OpenAI's `{"object":"list","data":[…]}`):
/// it has no `id` of its own and few members, and exactly one of them is an array of typed objects;
/// other members that are typed objects are messages too. Everything else is one message. Members have no
/// order that means something: they are taken by their names.
pub fn cut(body: &[u8], protocols: &Protocols) -> Option<Vec<Range<usize>>> {
    let text = Text::parse(body)?;
    let whole = trimmed(text);
    let parts = match text.container() {
        Some(Container::Array) => objects(text),
        Some(Container::Object) => enclosed(text, protocols),
        None => None,
    };
    let parts = parts.unwrap_or_else(|| vec![whole]);
    Some(parts.into_iter().map(|part| place(part, body)).collect())
}

fn objects(array: Text<'_>) -> Option<Vec<&str>> {
    array
        .elements()
        .map(|element| (element.container() == Some(Container::Object)).then_some(element.as_str()))
        .collect()
}

/// An object with more members than this says something of its own.
const MOST_MEMBERS: usize = 8;

fn enclosed<'a>(object: Text<'a>, protocols: &Protocols) -> Option<Vec<&'a str>> {
    let is_typed = |value: Text<'_>| protocols.word(value).is_some();
    let own = protocols.word(object);
    if own.is_some_and(|own| own != "list")
        || object.members().count() > MOST_MEMBERS
        || object.get("id").is_some_and(|id| id.string().is_some())
    {
        return None;
    }
    let mut parts = Vec::new();
    let (mut lists, mut empty) = (0, 0);
    let mut members: Vec<_> = object.members().collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (_, value) in members {
        match value.container() {
            Some(Container::Object) if is_typed(value) => parts.push(value.as_str()),
            Some(Container::Array) if value.elements().next().is_none() => empty += 1,
            Some(Container::Array) if value.elements().all(is_typed) => {
                lists += 1;
                parts.extend(value.elements().map(Text::as_str));
            }
            _ => {}
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
