//! Recorded text in Markdown: nothing of it is markup.

use crate::review::report::line::{boundary, visible};

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
    escaped(&visible(text), |c| match c {
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '&' => Some("&amp;"),
        // A joiner that nobody sees keeps hosts from taking it for a name or a number.
        '@' => Some("@\u{2060}"),
        '#' => Some("#\u{2060}"),
        '\\' => Some("\\\\"),
        '`' => Some("\\`"),
        '*' => Some("\\*"),
        '_' => Some("\\_"),
        '{' => Some("\\{"),
        '}' => Some("\\}"),
        '[' => Some("\\["),
        ']' => Some("\\]"),
        '|' => Some("\\|"),
        '~' => Some("\\~"),
        '!' => Some("\\!"),
        _ => None,
    })
}

/// A sentence whose literals stand in backticks.
pub(super) fn sentence(text: &str) -> String {
    // A backtick in a literal ends it. What stands there then, such as an address, a server has said.
    let unlinked =
        |text: &str| plain(text).replace("://", ":\u{2060}//").replace("www.", "www\u{2060}.");
    sentence_of(text, unlinked, code)
}

/// A sentence of which what stands in backticks is shown in another way.
pub(super) fn sentence_of(
    text: &str,
    plain: impl Fn(&str) -> String,
    code: impl Fn(&str) -> String,
) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(number, part)| if number % 2 == 0 { plain(part) } else { code(part) }).collect()
}

/// A text with some of its characters spelled in another way.
pub(super) fn escaped(text: &str, spelled: impl Fn(char) -> Option<&'static str>) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match spelled(c) {
            Some(spelled) => escaped.push_str(spelled),
            None => escaped.push(c),
        }
    }
    escaped
}

/// How HTML and XML spell what would be markup.
pub(super) fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

/// As much of a text as there is room for, in bytes.
pub(super) fn within(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    format!("{}…", &text[..boundary(text, room)])
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
        assert_eq!(sentence("see http://a.b"), "see http:\u{2060}//a.b");
        assert_eq!(sentence("`<x>` comes * first"), "`<x>` comes \\* first");
        assert_eq!(code_block("", "```"), "````\n```\n````");
    }
}
