//! Going into a JSON text.

use std::borrow::Cow;

use super::{Container, Text, Token, Tokens, unescape};

/// The members of an object in order: name and value. Repeated names come each time.
#[derive(Debug, Clone)]
pub(crate) struct Members<'a>(Tokens<'a>);

/// The elements of an array in order.
#[derive(Debug, Clone)]
pub(crate) struct Elements<'a>(Tokens<'a>);

impl<'a> Text<'a> {
    /// The members, none if it is not an object.
    pub(crate) fn members(self) -> Members<'a> {
        Members(inside(self, Container::Object))
    }

    /// The elements, none if it is not an array.
    pub(crate) fn elements(self) -> Elements<'a> {
        Elements(inside(self, Container::Array))
    }

    /// How many objects and arrays stand in each other at the deepest place.
    pub(crate) fn levels(self) -> usize {
        let depths = self.tokens().scan(0_usize, |depth, token| {
            match token {
                Token::Open(_) => *depth += 1,
                Token::Close(_) => *depth = depth.saturating_sub(1),
                _ => {}
            }
            Some(*depth)
        });
        depths.max().unwrap_or_default()
    }

    /// The value of a member; the last one if the name is repeated, as most parsers have it.
    pub(crate) fn get(self, name: &str) -> Option<Text<'a>> {
        self.members().filter(|(other, _)| other == name).map(|(_, value)| value).last()
    }

    /// The value at the end of a path of names, with digits for the elements of arrays.
    pub(crate) fn at(self, path: &[impl AsRef<str>]) -> Option<Text<'a>> {
        path.iter().try_fold(self, |text, step| text.step(step.as_ref()))
    }

    /// The value of a member, or an element by its number.
    pub(super) fn step(self, step: &str) -> Option<Text<'a>> {
        match (self.container(), step.parse()) {
            (Some(Container::Array), Ok(index)) => self.elements().nth(index),
            _ => self.get(step),
        }
    }

    /// Whether it is an object or an array, and which.
    pub(crate) fn container(self) -> Option<Container> {
        match self.tokens().peek()? {
            b'{' => Some(Container::Object),
            b'[' => Some(Container::Array),
            _ => None,
        }
    }

    /// What a string says. A lone surrogate, which no Rust string can hold, stays escaped.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let spelled = self.0.trim_ascii();
        (spelled.as_bytes().first() == Some(&b'"')).then(|| unescape(spelled))
    }

    /// A number, `true` or `false` as it is spelled; not `null`.
    pub(crate) fn scalar(self) -> Option<&'a str> {
        let spelled = self.0.trim_ascii();
        let is_scalar =
            !matches!(spelled.as_bytes().first()?, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':');
        (is_scalar && spelled != "null").then_some(spelled)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Text<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next_name()?, self.0.next_value()?))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Text<'a>;

    fn next(&mut self) -> Option<Text<'a>> {
        self.0.next_value()
    }
}

/// The type of a JSON text, as JSON Schema calls it: `object`, `string` …
pub(crate) fn kind(spelled: &str) -> Option<&'static str> {
    Some(match spelled.trim_ascii_start().as_bytes().first()? {
        b'{' => "object",
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "boolean",
        b'n' => "null",
        _ => "number",
    })
}

/// What stands behind the bracket, if it is that container.
fn inside(text: Text<'_>, container: Container) -> Tokens<'_> {
    let mut tokens = text.tokens();
    match tokens.next() {
        Some(Token::Open(found)) if found == container => tokens,
        _ => Text("").tokens(),
    }
}
