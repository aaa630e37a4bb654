//! Recorded text in Markdown: nothing of it is markup.

use crate::review::report::line::visible;

/// A text as code, in a line.
pub(super) fn code(text: &str) -> String {
    let text = visible(text);
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // A backtick at an end would belong to the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Lines as code.
pub(super) fn code_block(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let lines: Vec<_> = text.lines().map(visible).collect();
    format!("{fence}{language}\n{}\n{fence}", lines.join("\n"))
}

/// A text as it is, none of it markup, and nobody mentioned.
pub(super) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A joiner that nobody sees keeps hosts from taking it for a name or a number.
            '@' | '#' => {
                escaped.push(c);
                escaped.push('\u{2060}');
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A sentence whose literals stand in backticks.
pub(super) fn sentence(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let marked = parts.map(|(number, part)| match number % 2 {
        0 => plain(part),
        _ => code(part),
    });
    marked.collect()
}

/// As much of a text as there is room for, in bytes.
pub(super) fn within(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_is_no_markup() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a\nb"), "`a\\nb`");
        assert_eq!(plain("<b>*x* @you [l](u)"), "&lt;b&gt;\\*x\\* @\u{2060}you \\[l\\](u)");
        assert_eq!(sentence("`<x>` comes * first"), "`<x>` comes \\* first");
        assert_eq!(code_block("", "```"), "````\n```\n````");
    }
}
