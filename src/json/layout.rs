//! The white space between the tokens.

use super::{Container, Text, Token};

/// A way to lay out a JSON text that some serialiser writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// No white space: `{"a":1,"b":[2]}`.
    Compact,
    /// A space behind `,` and `:`, as Python's `json.dumps` writes: `{"a": 1, "b": [2]}`.
    Spaced,
    /// A line for each value, as `JSON.stringify(value, null, 2)` or `json.dumps(indent=4)` write.
    Indented(Indent),
}

/// What a level is indented by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indent {
    /// That many spaces, 1 to 8.
    Spaces(u8),
    /// A tab.
    Tab,
}

impl Layout {
    /// The layout that gives back exactly this text, if there is one.
    pub fn of(text: Text<'_>) -> Option<Self> {
        let layout = Self::guess(text);
        let mut again = String::with_capacity(text.as_str().len());
        layout.write(text, &mut again);
        (again == text.as_str()).then_some(layout)
    }

    /// Writes the tokens of `text` in this layout behind what is in `out`.
    pub fn write(self, text: Text<'_>, out: &mut String) {
        let mut depth = 0;
        let mut tokens = text.tokens().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Open(container) => {
                    out.push_str(opening(container));
                    if !matches!(tokens.peek(), Some(Token::Close(_))) {
                        depth += 1;
                        self.line(depth, out);
                    } else if let Some(Token::Close(container)) = tokens.next() {
                        out.push_str(closing(container));
                    }
                }
                Token::Close(container) => {
                    depth -= 1;
                    self.line(depth, out);
                    out.push_str(closing(container));
                }
                Token::Comma => {
                    out.push_str(if self == Self::Spaced { ", " } else { "," });
                    self.line(depth, out);
                }
                Token::Colon => out.push_str(if self == Self::Compact { ":" } else { ": " }),
                Token::String(spelled) | Token::Scalar(spelled) => out.push_str(spelled),
            }
        }
    }

    /// The only layout that the text can have, judged by its first break.
    fn guess(text: Text<'_>) -> Self {
        let bytes = text.as_str().as_bytes();
        if bytes.get(1) == Some(&b'\n') {
            return match bytes[2..].iter().position(|byte| *byte != b' ') {
                Some(0) if bytes.get(2) == Some(&b'\t') => Self::Indented(Indent::Tab),
                Some(width @ 1..=8) => Self::Indented(Indent::Spaces(width as u8)),
                _ => Self::Compact,
            };
        }
        let mut tokens = text.tokens();
        while let Some(token) = tokens.next() {
            if matches!(token, Token::Comma | Token::Colon) {
                let spaced = bytes.get(tokens.end()) == Some(&b' ');
                return if spaced { Self::Spaced } else { Self::Compact };
            }
        }
        Self::Compact
    }

    fn line(self, depth: usize, out: &mut String) {
        let Self::Indented(indent) = self else { return };
        out.push('\n');
        let (unit, count) = match indent {
            Indent::Spaces(width) => (' ', usize::from(width) * depth),
            Indent::Tab => ('\t', depth),
        };
        out.extend(std::iter::repeat_n(unit, count));
    }
}

const fn opening(container: Container) -> &'static str {
    match container {
        Container::Object => "{",
        Container::Array => "[",
    }
}

const fn closing(container: Container) -> &'static str {
    match container {
        Container::Object => "}",
        Container::Array => "]",
    }
}
