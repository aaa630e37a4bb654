//! How a command line names a cassette.

use std::borrow::Cow;
use std::env;
use std::path::Path;

use crate::cassette::Name;

/// The usual folder, which a command line need not name.
const USUAL: &str = "cassettes";

/// What names a cassette on a command line that is typed here: `letta/hello`, or
/// `--cassettes kept letta/hello` where it is not in the usual folder.
pub fn mention(folder: &Path, name: &Name) -> String {
    let (folder, name) = (mention_path(folder), quoted(name.as_str()));
    match folder.as_str() {
        USUAL => name.into_owned(),
        _ => format!("--cassettes {folder} {name}"),
    }
}

/// What names a file or a folder on a command line that is typed here.
pub fn mention_path(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here).unwrap_or(path).to_string_lossy() {
        here if here.is_empty() => ".".to_owned(),
        path => quoted(&path).into_owned(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:=@".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        let check = |word: &str, expected: &str| assert_eq!(quoted(word), expected);
        check("kept/here-1.json", "kept/here-1.json");
        check("my tapes", "'my tapes'");
        check("it's", r"'it'\''s'");
        check("", "''");
        check("a[0]", "'a[0]'");
    }
}
