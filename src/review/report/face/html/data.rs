//! What is drawn when it is opened.

use serde_json::Value;

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
    let mut inert = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                inert.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => inert.push(c),
        }
    }
    inert
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
