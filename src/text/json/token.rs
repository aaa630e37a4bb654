//! Walking a JSON text.

use serde_json::value::RawValue;

/// A text that is one valid JSON value, with white space around it or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(super) &'a str);

/// One token of a JSON text, spelled as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
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
pub(crate) enum Container {
    /// `{…}`.
    Object,
    /// `[…]`.
    Array,
}

/// The tokens of a text in order. [`Tokens::end`] tells where the last one ended.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    /// Takes bytes that are a JSON text. Depth is not limited.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Self::read(std::str::from_utf8(bytes).ok()?)
    }

    /// The same of what is known to be text.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok()?;
        Some(Self(text))
    }

    /// Takes what was read before.
    pub(crate) fn known(text: &'a str) -> Self {
        Self(text)
    }

    /// Takes bytes that are an object or an array.
    pub(crate) fn parse_container(bytes: &'a [u8]) -> Option<Self> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
        if matches!(first, b'{' | b'[') { Self::parse(bytes) } else { None }
    }

    /// Takes a text that is an object or an array.
    pub(crate) fn read_container(text: &'a str) -> Option<Self> {
        Self(text).container().and_then(|_| Self::read(text))
    }

    /// The text itself.
    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }

    /// Its tokens.
    pub(crate) fn tokens(self) -> Tokens<'a> {
        Tokens::of(self.0)
    }
}

impl Container {
    /// Its opening bracket.
    pub(crate) const fn opening(self) -> &'static str {
        match self {
            Self::Object => "{",
            Self::Array => "[",
        }
    }

    /// Its closing bracket.
    pub(crate) const fn closing(self) -> &'static str {
        match self {
            Self::Object => "}",
            Self::Array => "]",
        }
    }
}

impl<'a> Tokens<'a> {
    /// The tokens of a text that may not be JSON: they make sense as far as it is.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The offset in bytes behind the token that was given last.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// The first byte of the next token. Passes the white space before it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// The next value on this level, the name of a member too; none if the container ends. Of what is
    /// inside no more than brackets and strings is looked at.
    pub(super) fn next_value(&mut self) -> Option<Text<'a>> {
        let bytes = self.text.as_bytes();
        let between = |byte: &u8| matches!(byte, b',' | b':') || byte.is_ascii_whitespace();
        while bytes.get(self.at).is_some_and(between) {
            self.at += 1;
        }
        let start = self.at;
        self.at += match *bytes.get(start)? {
            b'"' => 1 + string_length(&bytes[start + 1..]),
            b'{' | b'[' => container_length(&bytes[start..])?,
            b'}' | b']' => return None,
            _ => scalar_length(&bytes[start..]),
        };
        Some(Text(&self.text[start..self.at]))
    }

    /// Passes a whole value, where one begins.
    pub(crate) fn value(&mut self) -> Option<Text<'a>> {
        let first = self.peek()?;
        let start = self.at;
        if matches!(first, b'{' | b'[') {
            let rest = &self.text.as_bytes()[start..];
            self.at += container_length(rest).unwrap_or(rest.len());
            return Some(Text(&self.text[start..self.at]));
        }
        let mut depth = 0_usize;
        for token in self.by_ref() {
            match token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        Some(Text(&self.text[start..self.at]))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.peek()?;
        let bytes = self.text.as_bytes();
        let start = self.at;
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

/// The length of a container with its brackets.
fn container_length(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => at += string_length(&bytes[at + 1..]),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of a string behind its opening quote, with the closing one.
pub(super) fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
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
