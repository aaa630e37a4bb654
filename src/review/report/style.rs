//! Colour.

/// Whether a text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// Plain text.
    #[default]
    Plain,
    /// With the ANSI sequences that terminals know (SGR).
    Ansi,
}

/// How a piece of text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
    Cyan,
    /// Red and turned over: the very thing that is gone.
    Gone,
    /// Green and turned over: the very thing that is new.
    New,
}

/// Ends a style.
pub(super) const RESET: &str = "\u{1b}[0m";

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Blue => "34",
            Self::Cyan => "36",
            Self::Gone => "31;7",
            Self::New => "32;7",
        }
    }
}

impl Colour {
    /// The text in that style.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        match (self, style) {
            (Self::Plain, _) | (_, Style::Plain) => text.to_owned(),
            _ if text.is_empty() => String::new(),
            (Self::Ansi, style) => format!("\u{1b}[{}m{text}{RESET}", style.code()),
        }
    }
}
