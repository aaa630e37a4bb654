//! The `name=value` fields of a query or a form, each with its place.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::percent::form_decoded;

/// A field. Offsets count from the beginning of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormField {
    /// Where its name stands.
    pub(crate) name: Range<usize>,
    /// Where its value stands, if there is a `=`.
    pub(crate) value: Option<Range<usize>>,
}

/// The fields that stand in a range of a text, empty ones left out. One of `marks` ends each: `&`.
pub(crate) fn fields<'t>(
    text: &'t str,
    range: Range<usize>,
    marks: &'t [char],
) -> impl Iterator<Item = FormField> + 't {
    let mut next = range.start;
    text[range].split(marks).filter_map(move |field| {
        let (start, end) = (next, next + field.len());
        next = end + 1;
        let equals = field.find('=').map(|at| start + at);
        let name = start..equals.unwrap_or(end);
        (!field.is_empty()).then(|| FormField { name, value: equals.map(|at| at + 1..end) })
    })
}

/// The names and values of a query or a form as they are spelled; empty is a value without a `=`.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = query.split('&').filter(|field| !field.is_empty());
    fields.map(|field| field.split_once('=').unwrap_or((field, "")))
}

/// A form of names and values.
#[cfg(feature = "import")]
pub(crate) fn encoded(fields: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str>)>) -> String {
    let encoded = super::percent::encoded;
    let fields = fields
        .map(|(name, value)| format!("{}={}", encoded(name.as_ref()), encoded(value.as_ref())));
    fields.collect::<Vec<_>>().join("&")
}

/// The fields of a query as a JSON object: texts, or lists of texts where a name comes again.
pub(crate) fn json(query: &str) -> String {
    object(pairs(query).map(|(name, value)| (form_decoded(name), form_decoded(value))))
}

/// The fields of a form as a JSON object.
pub(crate) fn object<'f>(fields: impl Iterator<Item = (Cow<'f, str>, Cow<'f, str>)>) -> String {
    let mut object = serde_json::Map::new();
    for (name, value) in fields {
        let (name, value) = (name.into_owned(), Value::from(value));
        match object.get_mut(&name) {
            None => _ = object.insert(name, value),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::from(vec![first.take(), value]),
        }
    }
    Value::from(object).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_where_they_stand() {
        let text = "/a?b%20c=1&&d&=e#f=g=h";

        let found: Vec<_> = fields(text, 3..text.len(), &['&', '#'])
            .map(|it| (&text[it.name], it.value.map(|range| &text[range])))
            .collect();

        let expected = [("b%20c", Some("1")), ("d", None), ("", Some("e")), ("f", Some("g=h"))];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_query_is_an_object_of_texts() {
        let read = json("q=a+b%21&page=2&tag=x&tag=y&tag&z");

        let expected = r#"{"page":"2","q":"a b!","tag":["x","y",""],"z":""}"#;
        let read: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(read, serde_json::from_str::<Value>(expected).unwrap());
    }
}
