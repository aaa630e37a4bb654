//! JSON Pointers (RFC 6901).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{Container, Text};

/// A name as a step of a pointer.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if !name.contains(['~', '/']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
}

/// The name that a step of a pointer stands for.
pub(crate) fn unescaped(step: &str) -> Cow<'_, str> {
    if !step.contains('~') {
        return Cow::Borrowed(step);
    }
    Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
}

/// The names and numbers of a pointer.
pub(crate) fn steps(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// Whether a step is the number of an element, or may be.
pub(crate) fn is_index(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name may stand in a path without quotes: letters, digits and `_`, no digit first.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// The name of the field that a value belongs to: that of an array, for its items.
pub(crate) fn field(pointer: &str) -> Cow<'_, str> {
    pointer.rsplit('/').find(|step| !is_index(step)).map_or(Cow::Borrowed(""), unescaped)
}

impl<'a> Text<'a> {
    /// The value at a pointer.
    pub(crate) fn pointed(self, pointer: &str) -> Option<Text<'a>> {
        steps(pointer).try_fold(self, |text, step| text.step(&step))
    }
}

/// The values in a text by their pointers: each list and object is cut once, however often it is asked for.
pub(crate) struct Pointed<'t> {
    known: HashMap<String, Text<'t>>,
    cut: HashSet<String>,
}

impl<'t> Pointed<'t> {
    pub(crate) fn of(whole: Text<'t>) -> Self {
        Self { known: HashMap::from([(String::new(), whole)]), cut: HashSet::new() }
    }

    /// The value at a pointer.
    pub(crate) fn at(&mut self, pointer: &str) -> Option<Text<'t>> {
        if let Some(known) = self.known.get(pointer) {
            return Some(*known);
        }
        let (around, _) = pointer.rsplit_once('/')?;
        if !self.cut.contains(around) {
            let container = self.at(around)?;
            self.cut(around, container);
        }
        self.known.get(pointer).copied()
    }

    /// The element of the outermost list in which a value is.
    pub(crate) fn outermost_element(&mut self, pointer: &str) -> Option<Text<'t>> {
        let mut ends: Vec<usize> = pointer.match_indices('/').map(|(at, _)| at).collect();
        ends.push(pointer.len());
        let mut pairs = ends.windows(2);
        pairs.find_map(|ends| {
            let around = self.at(&pointer[..ends[0]])?;
            let is_list = around.container() == Some(Container::Array);
            is_list.then(|| self.at(&pointer[..ends[1]]))?
        })
    }

    fn cut(&mut self, around: &str, container: Text<'t>) {
        let elements = container.elements().enumerate();
        let elements = elements.map(|(number, it)| (format!("{around}/{number}"), it));
        let members = container.members();
        let members = members.map(|(name, it)| (format!("{around}/{}", escaped(&name)), it));
        self.known.extend(elements.chain(members));
        self.cut.insert(around.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_at_its_pointer() {
        let json = Text::read(r#"{"a/b~": [0, {"~1": 5}]}"#).expect("it is JSON");

        let pointer = format!("/{}/1/{}", escaped("a/b~"), escaped("~1"));

        assert_eq!(pointer, "/a~1b~0/1/~01");
        assert_eq!(json.pointed(&pointer).map(Text::as_str), Some("5"));
        assert_eq!(json.pointed("/x"), None);
    }

    #[test]
    fn values_are_found_however_often_they_are_asked_for() {
        let json = Text::read(r#"{"a": [{"b/": [5]}], "c": 6, "c": 7}"#).expect("it is JSON");
        let mut values = Pointed::of(json);

        for _ in 0..2 {
            assert_eq!(values.at("/a/0/b~1/0").map(Text::as_str), Some("5"));
            assert_eq!(values.at("/c"), json.pointed("/c"));
            assert_eq!(values.at("/a/1"), None);
            assert_eq!(values.at("/c/x"), None);
            assert_eq!(values.outermost_element("/a/0/b~1/0"), json.pointed("/a/0"));
            assert_eq!(values.outermost_element("/c"), None);
        }
    }

    #[test]
    fn the_field_of_a_value_is_the_last_step_that_counts_no_items() {
        for (pointer, expected) in [
            ("/a/request_id", "request_id"),
            ("/message_ids/0/1", "message_ids"),
            ("/ext~1request_id", "ext/request_id"),
            ("/0", ""),
            ("", ""),
        ] {
            assert_eq!(field(pointer), expected, "{pointer}");
        }
    }
}
