//! Recorded text in HTML: nothing of it is markup.

use serde_json::Value;

use crate::review::report::face::markup;
use crate::review::report::line::visible;

/// A text for an element or an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    markup::escaped(text, |c| match c {
        '\'' => Some("&#39;"),
        // They end lines, but only in some languages.
        '\u{2028}' => Some("&#8232;"),
        '\u{2029}' => Some("&#8233;"),
        c => markup::entity(c),
    })
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
    markup::sentence_of(text, |part| escaped(&visible(part)), code)
}

/// Fills each `{{name}}` of a template. What is put in is not looked at again.
pub(super) fn fill(template: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, behind)) = behind.split_once("}}") else { break };
        filled.push_str(before);
        filled.push_str(&value(name));
        rest = behind;
    }
    filled + rest
}

/// So many bytes of JSON lie in a page. A browser opens that at once; ten times as much it does not.
const MOST: usize = 24_000_000;

/// How much room is left in a page.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MOST }
    }
}

impl Budget {
    /// A value as an element of the page, if there is room.
    pub(super) fn element(&mut self, id: &str, value: &Value) -> Option<String> {
        let json = inert(&value.to_string());
        self.left = self.left.checked_sub(json.len())?;
        Some(format!("<script type=\"application/json\" id=\"{id}-data\">{json}</script>\n"))
    }
}

/// JSON that ends no element and begins no comment, in whatever way the page is read. These characters
/// stand in strings only.
fn inert(json: &str) -> String {
    markup::escaped(json, |c| match c {
        '<' => Some("\\u003c"),
        '>' => Some("\\u003e"),
        '&' => Some("\\u0026"),
        '\u{2028}' => Some("\\u2028"),
        '\u{2029}' => Some("\\u2029"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recorded_text_is_no_markup() {
        assert_eq!(escaped("<b a=\"'&"), "&lt;b a=&quot;&#39;&amp;");
        assert_eq!(sentence("`<x>` is \u{202e}new"), "<code>&lt;x&gt;</code> is \\u202enew");
        assert_eq!(block("a\n<b>\u{7}"), "<pre>a\n&lt;b&gt;\\u0007</pre>");
    }

    #[test]
    fn what_is_put_in_is_not_filled_again() {
        let filled = fill("a {{x}} b {{y}}{{x}}", &|name| format!("<{name} {{{{y}}}}>"));

        assert_eq!(filled, "a <x {{y}}> b <y {{y}}><x {{y}}>");
    }

    #[test]
    fn recorded_text_ends_no_element_and_is_the_same_when_read() {
        let value = json!({"</script>": "<!--\u{2028}&amp;\u{2029}]]>"});

        let element = Budget::default().element("x", &value).unwrap_or_default();

        let json = element.trim_start_matches(|c| c != '{').trim_end();
        let json = json.trim_end_matches("</script>");
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<Value>(json).ok(), Some(value));
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let mut budget = Budget { left: 10 };

        assert_eq!(budget.element("x", &json!("more than there is room for")), None);
        assert!(budget.element("x", &json!("little")).is_some());
    }
}
