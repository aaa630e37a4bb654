//! Header fields in order, with repetition.

use bytes::Bytes;
use smol_str::SmolStr;

/// Header fields as they were sent: order, repetition, and values that are not text are kept.
///
/// Names are compared without regard to case and kept as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(SmolStr, Bytes)>);

/// RFC 9110, section 7.6.1: fields that a proxy does not pass on, besides those that `connection`
/// names. Cassettes do not have them.
pub(crate) const HOP_BY_HOP: [&str; 6] =
    ["connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade"];

impl Headers {
    /// No header fields.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a field after the ones that are there, of the same name or not.
    pub fn append(&mut self, name: impl AsRef<str>, value: impl Into<Bytes>) {
        self.0.push((SmolStr::new(name), value.into()));
    }

    /// The first value of that name, if it is text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name))
            .find_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// All values of that name, in order.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Bytes> + 'a {
        self.iter()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Whether there is a field of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.get_all(name).next().is_some()
    }

    /// Removes all fields of that name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    }

    /// Replaces the first field of that name in its place and removes the others, or adds it.
    pub fn set(&mut self, name: &str, value: impl Into<Bytes>) {
        let value = value.into();
        match self.0.iter().position(|(other, _)| other.eq_ignore_ascii_case(name)) {
            None => self.append(name, value),
            Some(first) => {
                self.0[first].1 = value;
                let mut index = 0;
                self.0.retain(|(other, _)| {
                    index += 1;
                    index - 1 <= first || !other.eq_ignore_ascii_case(name)
                });
            }
        }
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The fields in order, with values that can be replaced.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Bytes)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// The number of fields, repeated ones counted each.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: AsRef<str>, V: Into<Bytes>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self(fields.map(|(name, value)| (SmolStr::new(name), value.into())).collect())
    }
}
