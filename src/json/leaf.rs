//! The strings and scalars of a JSON text with where they stand.

use std::borrow::Cow;

use super::{Container, Text, Token, unescape};

/// A string, a number, `true`, `false` or `null` within a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf<'a> {
    /// Where it stands, as a JSON Pointer (RFC 6901).
    pub(crate) pointer: String,
    /// The name of the member that it is, or that the array is in which it stands.
    pub(crate) name: Cow<'a, str>,
    /// What it says, without quotes and escapes.
    pub(crate) value: Cow<'a, str>,
    /// The same as it is spelled.
    pub(crate) spelled: &'a str,
}

struct Open<'a> {
    container: Container,
    pointer: String,
    items: usize,
    name: Cow<'a, str>,
    has_key: bool,
}

impl<'a> Text<'a> {
    /// Its leaves in order.
    pub(crate) fn leaves(self) -> Vec<Leaf<'a>> {
        let mut leaves = Vec::new();
        let mut open: Vec<Open<'a>> = Vec::new();
        for token in self.tokens() {
            let (value, spelled) = match token {
                Token::Open(container) => {
                    let (pointer, name) = open.last_mut().map_or_else(Default::default, Open::next);
                    open.push(Open { container, pointer, items: 0, name, has_key: false });
                    continue;
                }
                Token::Close(_) => {
                    open.pop();
                    continue;
                }
                Token::Comma | Token::Colon => continue,
                Token::String(spelled) => (unescape(spelled), spelled),
                Token::Scalar(spelled) => (spelled.into(), spelled),
            };
            match open.last_mut() {
                Some(parent) if parent.container == Container::Object && !parent.has_key => {
                    parent.name = value;
                    parent.has_key = true;
                }
                parent => {
                    let (pointer, name) = parent.map_or_else(Default::default, Open::next);
                    leaves.push(Leaf { pointer, name, value, spelled });
                }
            }
        }
        leaves
    }
}

impl<'a> Open<'a> {
    /// Where the next value stands, and its name.
    fn next(&mut self) -> (String, Cow<'a, str>) {
        self.has_key = false;
        self.items += 1;
        let step = match self.container {
            Container::Object => self.name.replace('~', "~0").replace('/', "~1"),
            Container::Array => (self.items - 1).to_string(),
        };
        (format!("{}/{step}", self.pointer), self.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_named_by_pointers() {
        let text = br#"{"a": [1, {"b/~": "x\n"}, []], "c": {"d": null}, "e": true}"#;

        let leaves = Text::parse(text).expect("it is JSON").leaves();

        let shown: Vec<String> = leaves
            .iter()
            .map(|leaf| format!("{} {} {:?}", leaf.pointer, leaf.name, leaf.value))
            .collect();
        assert_eq!(
            shown,
            [r#"/a/0 a "1""#, r#"/a/1/b~1~0 b/~ "x\n""#, r#"/c/d d "null""#, r#"/e e "true""#,]
        );
    }
}
