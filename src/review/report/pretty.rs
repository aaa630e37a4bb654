//! Bodies laid out to be read.

use crate::text::json::{Indent, Layout, Text};

use super::unit;

/// A body as text: JSON with an indent of 2 and every value spelled as it came, other text as it is,
/// and of anything else its size and first bytes.
pub fn pretty(bytes: &[u8]) -> String {
    if let Some(json) = Text::parse(bytes) {
        let mut out = String::with_capacity(bytes.len() * 2);
        Layout::Indented(Indent::Spaces(2)).write(json, &mut out);
        return out;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text.to_owned(),
        _ => {
            let first: Vec<String> = bytes.iter().take(8).map(|it| format!("{it:02x}")).collect();
            format!("[{} of binary data, beginning {}]", unit::size(bytes.len()), first.join(" "))
        }
    }
}
