//! Messages from what a test has at hand.

use serde_json::Value;

use super::{Message, Messages, Tag};

impl Message {
    fn of(tag: Tag, data: String) -> Self {
        Self { tag, event: None, data, range: 0..0, chunk: 0, ms: 0 }
    }
}

/// One of which only the type is known.
impl From<&str> for Message {
    fn from(tag: &str) -> Self {
        Self::of(Tag::named(tag), String::new())
    }
}

impl From<&&str> for Message {
    fn from(tag: &&str) -> Self {
        Self::from(*tag)
    }
}

impl From<String> for Message {
    fn from(tag: String) -> Self {
        Self::from(tag.as_str())
    }
}

impl From<&String> for Message {
    fn from(tag: &String) -> Self {
        Self::from(tag.as_str())
    }
}

/// One that says what a JSON value says.
impl From<&Value> for Message {
    fn from(value: &Value) -> Self {
        let data = value.to_string();
        Self::of(Tag::of(&data, None), data)
    }
}

impl From<Value> for Message {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Self> for Message {
    fn from(message: &Self) -> Self {
        message.clone()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
