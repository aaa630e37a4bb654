//! Fields of events, as they are written.

use std::fmt;

/// A field of the events of one type, or of all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// The type; none for all events that have the field.
    pub tag: Option<String>,
    /// Where it stands in them.
    pub path: Path,
}

/// Where a value stands: names with dots between them, `[]` behind the name of an array. Names that are
/// not plain words are written as JSON strings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(String);

impl Path {
    /// The path as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a path as it is written.
    pub(super) fn written(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Goes into a member, and says how to come back.
    pub(super) fn enter(&mut self, name: &str) -> usize {
        let before = self.0.len();
        if before > 0 {
            self.0.push('.');
        }
        Name(name).write(&mut self.0);
        before
    }

    /// Goes into the elements of an array, and says how to come back.
    pub(super) fn enter_elements(&mut self) -> usize {
        let before = self.0.len();
        self.0.push_str("[]");
        before
    }

    pub(super) fn leave(&mut self, before: usize) {
        self.0.truncate(before);
    }

    /// Its last name.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Field {
    /// `run_id`, `tool_call_message.tool_call.name`; `_.tool_call.name` in events of any type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            Some(tag) => write!(f, "{}.{}", Name(tag), self.path),
            None if self.path.0.contains(['.', '"', '[']) => write!(f, "_.{}", self.path),
            None => self.path.fmt(f),
        }
    }
}

/// A name as it is written.
pub(super) struct Name<'a>(pub(super) &'a str);

impl Name<'_> {
    fn is_plain(&self) -> bool {
        !self.0.is_empty() && self.0 != "_" && self.0.bytes().map(char::from).all(is_plain)
    }

    fn write(&self, out: &mut String) {
        match self.is_plain() {
            true => out.push_str(self.0),
            false => out.push_str(&serde_json::Value::from(self.0).to_string()),
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_plain() {
            true => f.write_str(self.0),
            false => write!(f, "{}", serde_json::Value::from(self.0)),
        }
    }
}

/// Whether a name that is not quoted may have this inside.
pub(super) fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '/' | '$')
}
