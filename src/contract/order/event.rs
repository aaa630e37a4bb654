//! What an order is about.

use std::borrow::Cow;
use std::fmt;

/// What guards and slices can see of an event. Any `Fn(&str) -> Option<String>` will do.
pub trait Fields {
    /// The JSON text of what stands at a path, if anything does.
    fn field(&self, path: &str) -> Option<Cow<'_, str>>;
}

/// One event of a trace, as far as an order has to know it.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// Its type.
    pub tag: &'a str,
    fields: Option<&'a dyn Fields>,
}

impl<F: Fn(&str) -> Option<String>> Fields for F {
    fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        self(path).map(Cow::from)
    }
}

impl<'a> Event<'a> {
    /// An event with fields.
    pub fn new(tag: &'a str, fields: &'a dyn Fields) -> Self {
        Self { tag, fields: Some(fields) }
    }

    /// An event without fields.
    pub fn plain(tag: &'a str) -> Self {
        Self { tag, fields: None }
    }

    /// The JSON text of a field.
    pub fn field(&self, path: &str) -> Option<Cow<'a, str>> {
        self.fields.and_then(|fields| fields.field(path))
    }

    /// The slice of a key that it belongs to: none if the field is missing or `null`.
    pub(super) fn slice(&self, key: &str) -> Option<Cow<'a, str>> {
        self.field(key).filter(|json| json != "null")
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.tag).finish()
    }
}
