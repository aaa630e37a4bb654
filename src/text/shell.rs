//! Words as a shell takes them.

use std::borrow::Cow;

/// A word that a shell takes as one, on one line, quoted where it would be split or read otherwise.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:=@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    if word.contains(char::is_control) {
        // The shells that people type into know this form.
        return Cow::Owned(format!("$'{}'", word.chars().map(escaped).collect::<String>()));
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_it() {
        for (word, expected) in [
            ("target/debug/retape", "target/debug/retape"),
            ("my demo/it's.json", r"'my demo/it'\''s.json'"),
            ("{a,b}", "'{a,b}'"),
            ("a'b\n\\\u{7}", r"$'a\'b\n\\\x07'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
