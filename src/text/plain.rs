//! Which bytes are text, and what version control makes of it.

use std::borrow::Cow;

/// The text that bytes are, if they are one.
///
/// A NUL is a sign of binary data, but for one that ends a piece of text: each frame of STOMP has one. So what stands
/// before it has to be text without other control characters, and longer than a letter: UTF-16 has a NUL behind each.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let Some((ended, last)) = text.rsplit_once('\0') else { return Some(text) };
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    let is_piece = |piece: &str| piece.len() > 1 && !piece.contains(is_control);
    (ended.split('\0').all(is_piece) && !last.contains(is_control)).then_some(text)
}

/// Whether bytes may be how a text begins, which may end within a letter.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    let is_utf8 = str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && !bytes.contains(&0)
}

/// So many characters of a text at most, with a `…` where others are left out.
pub(crate) fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

/// The line, counted from 1, at which a merge has left two versions of a text.
pub(crate) fn conflict(text: &str) -> Option<usize> {
    text.lines().position(|line| line.starts_with("<<<<<<< ")).map(|at| at + 1)
}

/// A text with the ends of lines that it has where nothing has changed them.
pub(crate) fn with_unix_ends(text: &[u8]) -> Vec<u8> {
    let is_changed = |at: usize| text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
    (0..text.len()).filter(|at| !is_changed(*at)).map(|at| text[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_nul_that_ends_a_text_is_part_of_it() {
        for it in [
            "",
            "one\u{1}two",
            "SEND\ndestination:/a\n\nm1\0",
            "SEND\n\nm1\0\n",
            "SEND\n\na\0\nSEND\n\nb\0",
        ] {
            assert_eq!(text(it.as_bytes()), Some(it));
        }
        let grpc = b"\0\0\0\0\"\n two and thirty letters, all text";
        for it in [grpc, b"\x89PNG\0".as_slice(), b"h\0i\0", b"\0one", b"one\0\0", b"\n\x05hello\0"]
        {
            assert_eq!(text(it), None, "{it:?}");
        }
    }
}
