//! The strings and scalars of a JSON text with where they stand.

use std::borrow::Cow;

use super::pointer::escaped;
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

struct OpenLevel<'a> {
    container: Container,
    /// How long the pointer to what it stands in is.
    above: usize,
    items: usize,
    name: Cow<'a, str>,
    has_key: bool,
}

impl<'a> Text<'a> {
    /// Its leaves in order.
    pub(crate) fn leaves(self) -> Vec<Leaf<'a>> {
        let mut leaves = Vec::new();
        self.each_leaf(|pointer, name, value, spelled| {
            leaves.push(Leaf { pointer: pointer.to_owned(), name, value, spelled });
        });
        leaves
    }

    /// Calls with pointer, name, value and spelling of each leaf, in order: for who needs few pointers.
    pub(crate) fn each_leaf(self, mut told: impl FnMut(&str, Cow<'a, str>, Cow<'a, str>, &'a str)) {
        let mut pointer = String::new();
        let mut open: Vec<OpenLevel<'a>> = Vec::new();
        for token in self.tokens() {
            let above = pointer.len();
            let (value, spelled) = match token {
                Token::Open(container) => {
                    let parent = open.last_mut();
                    let name = parent.map_or_else(Cow::default, |it| it.enter(&mut pointer));
                    open.push(OpenLevel { container, above, items: 0, name, has_key: false });
                    continue;
                }
                Token::Close(_) => {
                    open.pop().into_iter().for_each(|closed| pointer.truncate(closed.above));
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
                    let name = parent.map_or_else(Cow::default, |it| it.enter(&mut pointer));
                    told(&pointer, name, value, spelled);
                    pointer.truncate(above);
                }
            }
        }
    }
}

impl<'a> OpenLevel<'a> {
    /// Goes to the next value, and gives its name.
    fn enter(&mut self, pointer: &mut String) -> Cow<'a, str> {
        self.has_key = false;
        self.items += 1;
        pointer.push('/');
        match self.container {
            Container::Object => pointer.push_str(&escaped(&self.name)),
            Container::Array => pointer.push_str(&(self.items - 1).to_string()),
        }
        self.name.clone()
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
