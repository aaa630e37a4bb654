//! Recorded text in HTML: nothing of it is markup.

use crate::review::report::line::visible;

/// A text for an element or an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // They end lines, but only in some languages.
            '\u{2028}' => escaped.push_str("&#8232;"),
            '\u{2029}' => escaped.push_str("&#8233;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text in the letters of a protocol.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(&visible(text)))
}

/// Lines in the letters of a protocol.
pub(super) fn block(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| escaped(&visible(line))).collect();
    format!("<pre>{}</pre>", lines.join("\n"))
}

/// A sentence whose literals stand in backticks.
pub(super) fn sentence(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let marked = parts.map(|(number, part)| match number % 2 {
        0 => escaped(&visible(part)),
        _ => code(part),
    });
    marked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_is_no_markup() {
        assert_eq!(escaped("<b a=\"'&"), "&lt;b a=&quot;&#39;&amp;");
        assert_eq!(sentence("`<x>` is \u{202e}new"), "<code>&lt;x&gt;</code> is \\u202enew");
        assert_eq!(block("a\n<b>\u{7}"), "<pre>a\n&lt;b&gt;\\u0007</pre>");
    }
}
