//! Lines that fit.

use std::borrow::Cow;

use crate::text::json::push_escape;

/// How many columns a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text, or as much of it as fits with a `…` behind it.
pub(super) fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    Cow::Owned(head(text, room.saturating_sub(1)).trim_end().to_owned() + "…")
}

/// The text, or its two ends with a `…` between them, the end being the longer one.
pub(super) fn cut_middle(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let room = room.saturating_sub(1);
    let backward: String = text.chars().rev().collect();
    let end: String = head(&backward, room - room / 3).chars().rev().collect();
    Cow::Owned(format!("{}…{end}", head(text, room / 3)))
}

/// The text in as many lines as it takes, but no more than allowed: the last one is cut.
pub(crate) fn wrap(text: &str, room: usize, lines: usize) -> Vec<Cow<'_, str>> {
    let mut wrapped = Vec::new();
    let mut rest = text;
    while wrapped.len() + 1 < lines && width(rest) > room {
        let fits = head(rest, room);
        // A word that fits on a line of its own stays whole: people search for it.
        let is_whole = |space: usize| {
            let word = rest[space + 1..].split(' ').next().unwrap_or_default();
            width(word) <= room
        };
        let end = match fits.rfind(' ') {
            Some(space) if space > fits.len() / 2 || space > 0 && is_whole(space) => space,
            _ => fits.len(),
        };
        let (line, behind) = rest.split_at(end);
        wrapped.push(Cow::Borrowed(line));
        rest = behind.trim_start();
    }
    wrapped.push(cut(rest, room));
    wrapped
}

/// The text with spaces behind it, to that many columns.
pub(super) fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// The text with spaces before it, to that many columns.
pub(super) fn pad_left(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// The text with its control characters, and those that turn the direction of writing, spelled out,
/// so that a recording cannot play with the terminal that shows it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            push_escape(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A path with its long identifiers cut in the middle: `/v1/agents/agent-6f1c…a2b0/messages`.
pub(super) fn shorten_ids(path: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut short = String::with_capacity(path.len());
    let mut rest = path;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        short.push_str(&shorten_id(token));
        let next = behind.find(is_part).unwrap_or(behind.len());
        short.push_str(&behind[..next]);
        rest = &behind[next..];
    }
    short
}

fn shorten_id(token: &str) -> Cow<'_, str> {
    const ENDS: usize = 4;
    const SHORTEST: usize = 16;
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let kind = token.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let kind = token[..kind].rfind(['-', '_']).map_or(0, |separator| separator + 1);
    if digits < 4 || token.len() < kind + SHORTEST {
        return Cow::Borrowed(token);
    }
    Cow::Owned(format!("{}…{}", &token[..kind + ENDS], &token[token.len() - ENDS..]))
}

/// As many characters as fit.
fn head(text: &str, room: usize) -> &str {
    &text[..fitting(text, room)]
}

/// How many bytes of it fit.
pub(super) fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += columns(*c);
        used > room
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// The last place up to `at` where a character begins.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Letters of East Asia and emoji take two columns, marks upon letters none.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}

/// `86 B`, `8.4 kB`, `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..99_950 => format!("{:.1} kB", bytes as f64 / 1e3),
        99_950..999_500 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `381 ms`, `1.42 s`, `2 min 05 s`.
pub(crate) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.2} s", ms as f64 / 1e3),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `381 ms`, `381–549 ms`, `0.98–1.42 s`: both ends in the unit of the second.
pub(super) fn span(first: u64, last: u64) -> String {
    let (first_said, last_said) = (time(first), time(last));
    if first_said == last_said {
        return last_said;
    }
    match last {
        0..1_000 => format!("{first}–{last_said}"),
        1_000..60_000 => format!("{:.2}–{last_said}", first as f64 / 1e3),
        _ => format!("{first_said} – {last_said}"),
    }
}

/// `1 event`, `28 events`, `2 misses`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let ending = match thing {
        _ if number == 1 => "",
        thing if thing.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {thing}{ending}")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_in_the_middle_and_keep_their_kind() {
        let cases = [
            ("/v1/agents", "/v1/agents"),
            (
                "/v1/agents/agent-c8f6a366-9064-4315-a2e4-19337cbf1042/messages?after=message-61dfa4ca-b90e-4112-9284-5bbab8250271",
                "/v1/agents/agent-c8f6…1042/messages?after=message-61df…0271",
            ),
            ("/x/mcp_server-9064a366-9064-4315", "/x/mcp_server-9064…4315"),
            ("/x/claude-sonnet-4-5-20250929", "/x/claude-sonnet-4-5-20250929"),
            ("/x/61dfa4ca-b90e-4112-9284-5bbab8250271.json", "/x/61df…0271.json"),
            ("/v1/chat/completions-with-a-long-name", "/v1/chat/completions-with-a-long-name"),
            ("?q=%20a", "?q=%20a"),
        ];
        for (path, expected) in cases {
            assert_eq!(shorten_ids(path), expected);
        }
    }

    #[test]
    fn a_word_that_fits_on_a_line_is_not_parted() {
        let long = "`choices[].message.tool_calls[].function`";
        let text = format!("POST: {long} is new");
        assert_eq!(wrap(&text, 44, 3), ["POST:", long, "is new"]);
        assert_eq!(wrap("a abcdefghij", 6, 3), ["a abcd", "efghij"]);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(cut_middle("/abcdefghij", 8), "/a…fghij");
    }

    #[test]
    fn nothing_that_plays_with_the_terminal_is_shown() {
        assert_eq!(visible("a\u{1b}[31m\n\u{202e}b"), "a\\u001b[31m\\n\\u202eb");
    }

    #[test]
    fn numbers_have_the_unit_that_reads_best() {
        assert_eq!(
            [0, 999, 1_000, 99_949, 99_950, 1_234_567].map(size),
            ["0 B", "999 B", "1.0 kB", "99.9 kB", "100 kB", "1.2 MB"]
        );
        assert_eq!(
            [0, 999, 1_000, 59_994, 125_000].map(time),
            ["0 ms", "999 ms", "1.00 s", "59.99 s", "2 min 05 s"]
        );
        assert_eq!(span(5, 5), "5 ms");
        assert_eq!(span(5, 7), "5–7 ms");
        assert_eq!(span(980, 1_420), "0.98–1.42 s");
        assert_eq!(span(1_001, 1_002), "1.00 s");
        assert_eq!(span(59_000, 61_000), "59.00 s – 1 min 01 s");
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(0, "event"), "0 events");
    }
}
