//! The white space between the tokens.

use std::fmt::{self, Write};

use super::{Text, Token};

/// A way to lay out a JSON text that some serialiser writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// No white space: `{"a":1,"b":[2]}`.
    Compact,
    /// A space behind `,` and `:`, as Python's `json.dumps` writes: `{"a": 1, "b": [2]}`.
    Spaced,
    /// A line for each value, as `JSON.stringify(value, null, 2)` or `json.dumps(indent=4)` write.
    Indented(Indent),
}

/// What a level is indented by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indent {
    /// That many spaces, 1 to 8.
    Spaces(u8),
    /// A tab.
    Tab,
}

impl Layout {
    /// The layout that gives back exactly this text, if there is one.
    pub(crate) fn of(text: Text<'_>) -> Option<Self> {
        let layout = Self::guess(text);
        layout.fits(text).then_some(layout)
    }

    /// Whether laying out the text so would change nothing.
    pub(crate) fn fits(self, text: Text<'_>) -> bool {
        let mut expected = Expected(text.as_str());
        self.lay(text, &mut expected).is_ok() && expected.0.is_empty()
    }

    /// Writes the tokens of `text` in this layout behind what is in `out`.
    pub(crate) fn write(self, text: Text<'_>, out: &mut String) {
        self.lay(text, out).expect("a string takes everything");
    }

    fn lay(self, text: Text<'_>, out: &mut impl Write) -> fmt::Result {
        let mut depth = 0;
        let mut opened = false;
        for token in text.tokens() {
            let closes = matches!(token, Token::Close(_));
            depth -= usize::from(closes);
            if opened != closes {
                self.line(depth, out)?;
            }
            opened = matches!(token, Token::Open(_));
            match token {
                Token::Open(container) => out.write_str(container.opening())?,
                Token::Close(container) => out.write_str(container.closing())?,
                Token::Comma => {
                    out.write_str(if self == Self::Spaced { ", " } else { "," })?;
                    self.line(depth, out)?;
                }
                Token::Colon => out.write_str(if self == Self::Compact { ":" } else { ": " })?,
                Token::String(spelled) | Token::Scalar(spelled) => out.write_str(spelled)?,
            }
            depth += usize::from(opened);
        }
        Ok(())
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

    fn line(self, depth: usize, out: &mut impl Write) -> fmt::Result {
        let Self::Indented(indent) = self else { return Ok(()) };
        out.write_char('\n')?;
        let unit = match indent {
            Indent::Spaces(width) => &"        "[..usize::from(width.min(8))],
            Indent::Tab => "\t",
        };
        (0..depth).try_for_each(|_| out.write_str(unit))
    }
}

/// Takes only what stands in the text, so that nothing longer than the text is ever laid out.
struct Expected<'a>(&'a str);

impl Write for Expected<'_> {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(written).ok_or(fmt::Error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<Layout>) {
        let text = Text::read(json).expect(json);

        assert_eq!(Layout::of(text), expected, "{json}");
    }

    #[test]
    fn the_layout_of_a_text_is_the_one_that_gives_it_back() {
        let spaces = |width| Some(Layout::Indented(Indent::Spaces(width)));
        check(r#"{"a":1,"b":[2,{}]}"#, Some(Layout::Compact));
        check(r#"{"a": 1, "b": [2, {}]}"#, Some(Layout::Spaced));
        check("{\n  \"a\": [\n    [],\n    1\n  ]\n}", spaces(2));
        check("[\n        1\n]", spaces(8));
        check("[\n\t{\n\t\t\"a\": 1\n\t}\n]", Some(Layout::Indented(Indent::Tab)));
        check("1e400", Some(Layout::Compact));
    }

    #[test]
    fn a_text_that_no_layout_gives_back_has_none() {
        for json in [
            r#"{"a": 1,"b":2}"#,
            r#"{"a" :1}"#,
            " {}",
            "{} ",
            "[ ]",
            "[\n]",
            "[\n1\n]",
            "[\n         1\n]",
            "[\n  1,\n   2\n]",
            "[\n  [\n  ]\n]",
            "[\r\n  1\r\n]",
        ] {
            check(json, None);
        }
    }

    #[test]
    fn judging_a_layout_costs_no_more_than_the_text_is_long() {
        let deep = format!("[\n        {}{}", "[".repeat(1_000_000), "]".repeat(1_000_001));

        check(&deep, None);
    }
}
