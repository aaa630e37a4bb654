//! Walking a JSON text.

use serde_json::value::RawValue;

/// A text that is one valid JSON value, with white space around it or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(pub(super) &'a str);

/// One token of a JSON text, spelled as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{` or `[`.
    Open(Container),
    /// `}` or `]`.
    Close(Container),
    /// `,`.
    Comma,
    /// `:`.
    Colon,
    /// A string with its quotes and escapes.
    String(&'a str),
    /// A number, `true`, `false` or `null`.
    Scalar(&'a str),
}

/// What holds other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// `{…}`.
    Object,
    /// `[…]`.
    Array,
}

/// The tokens of a text in order. [`Tokens::end`] tells where the last one ended.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    /// Takes bytes that are a JSON text. Depth is not limited.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        serde_json::from_str::<&RawValue>(text).ok()?;
        Some(Self(text))
    }

    /// Takes bytes that are an object or an array.
    pub fn parse_container(bytes: &'a [u8]) -> Option<Self> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
        if matches!(first, b'{' | b'[') { Self::parse(bytes) } else { None }
    }

    /// Takes a value that `serde_json` has checked already.
    pub fn of_raw(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    /// The text itself.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Its tokens.
    pub fn tokens(self) -> Tokens<'a> {
        Tokens { text: self.0, at: 0 }
    }
}

impl Tokens<'_> {
    /// The offset in bytes behind the token that was given last.
    pub fn end(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        let first = *bytes.get(start)?;
        self.at = match first {
            b'"' => start + 1 + string_length(&bytes[start + 1..]),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => start + 1,
            _ => start + scalar_length(&bytes[start..]),
        };
        let spelled = &self.text[start..self.at];
        Some(match first {
            b'{' => Token::Open(Container::Object),
            b'[' => Token::Open(Container::Array),
            b'}' => Token::Close(Container::Object),
            b']' => Token::Close(Container::Array),
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => Token::String(spelled),
            _ => Token::Scalar(spelled),
        })
    }
}

/// The length of a string behind its opening quote, with the closing one.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn scalar_length(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| {
        matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace()
    };
    bytes.iter().position(ends).unwrap_or(bytes.len())
}
