//! JSON in the strings of JSON: the arguments of a tool call, what a tool returned.

/// What a string says that is JSON itself, and where it is spelled.
#[derive(Debug)]
pub(super) struct Nested {
    pub(super) text: String,
    /// Where each byte of the text is spelled, and where it ends.
    places: Vec<usize>,
}

impl Nested {
    /// Reads a string with its quotes; `None` if it says something else.
    pub(super) fn of(spelled: &str) -> Option<Self> {
        let inside = spelled.strip_prefix('"')?.strip_suffix('"')?;
        if !inside.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let mut nested = Self { text: String::with_capacity(inside.len()), places: Vec::new() };
        let mut rest = inside;
        while let Some(first) = rest.chars().next() {
            let (said, length) = match first {
                '\\' => escape(rest)?,
                plain => (plain, plain.len_utf8()),
            };
            nested.text.push(said);
            nested.places.resize(nested.text.len(), 1 + inside.len() - rest.len());
            rest = &rest[length..];
        }
        nested.places.push(1 + inside.len());
        Some(nested)
    }

    /// Where a place of the text is spelled, counted from the opening quote.
    pub(super) fn place(&self, at: usize) -> usize {
        self.places[at]
    }
}

/// What an escape at the beginning stands for, and how long it is. Pairs of surrogates, which stand in no
/// identifier, are left to others.
fn escape(text: &str) -> Option<(char, usize)> {
    Some(match text.as_bytes().get(1)? {
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'u' => (char::from_u32(u32::from_str_radix(text.get(2..6)?, 16).ok()?)?, 6),
        same @ (b'"' | b'\\' | b'/') => (char::from(*same), 2),
        _ => return None,
    })
}

/// A text as it is spelled in a string that stands in `depth` more.
pub(super) fn spelled(text: &str, depth: usize) -> String {
    (0..=depth).fold(text.to_owned(), |text, _| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_string_says_is_found_where_it_is_spelled() {
        let text = r#""{\"a\": \"\u00e9\\n\\\"b\"}""#;

        let nested = Nested::of(text).expect("it is JSON in a string");

        assert_eq!(nested.text, r#"{"a": "é\n\"b"}"#);
        let b = nested.text.find('b').expect("there is one");
        assert_eq!(&text[nested.place(b)..nested.place(b + 1)], "b");
        assert_eq!(nested.place(nested.text.len()), text.len() - 1);
        for other in [r#""a""#, r#""""#, "1", r#""{\ud83d\ude00""#, r#""{\x""#] {
            assert!(Nested::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_text_is_spelled_as_deep_as_it_stands() {
        assert_eq!(spelled("a-1", 3), "a-1");
        assert_eq!(spelled(r#"a"1"#, 0), r#"a\"1"#);
        assert_eq!(spelled(r#"a"1"#, 1), r#"a\\\"1"#);
    }
}
