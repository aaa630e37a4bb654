//! JSON in the strings of JSON: the arguments of a tool call, what a tool returned.

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
    fn a_text_is_spelled_as_deep_as_it_stands() {
        assert_eq!(spelled("a-1", 3), "a-1");
        assert_eq!(spelled(r#"a"1"#, 0), r#"a\"1"#);
        assert_eq!(spelled(r#"a"1"#, 1), r#"a\\\"1"#);
    }
}
