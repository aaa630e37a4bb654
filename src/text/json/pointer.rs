//! JSON Pointers (RFC 6901).

use std::borrow::Cow;

use super::Text;

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
