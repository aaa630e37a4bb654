//! How a command line names a cassette.

use std::env;
use std::path::{Path, PathBuf};

use crate::cassette::Name;
use crate::text::shell::quoted;

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
    match from_here(path).to_string_lossy() {
        here if here.is_empty() => ".".to_owned(),
        path => quoted(&path).into_owned(),
    }
}

/// A path as it is from the folder in which a command line is typed, if it is below it.
pub fn from_here(path: &Path) -> &Path {
    let here = env::current_dir().unwrap_or_default();
    let typed = env::var_os("PWD").map(PathBuf::from);
    from(typed.as_deref(), &here, path)
}

/// The same from the folder in which retape runs. Cargo runs the tests of a package in the folder of that, below the one
/// in which the shell is, which says so (`PWD`).
fn from<'p>(typed: Option<&Path>, here: &Path, path: &'p Path) -> &'p Path {
    let typed = typed.filter(|typed| typed.is_absolute() && here.starts_with(typed));
    path.strip_prefix(typed.unwrap_or(here)).unwrap_or(path)
}

/// The command that puts a cassette in the place of another, with the bodies beside it.
pub fn taking(from: &Path, to: &Path) -> String {
    let moved = |from: &Path, to: &Path| format!("mv {} {}", mention_path(from), mention_path(to));
    let [bodies, old]: [PathBuf; 2] = [from, to].map(|path| path.with_extension("bodies"));
    let file = moved(from, to);
    if bodies.is_dir() {
        format!("rm -rf {} && {} && {file}", mention_path(&old), moved(&bodies, &old))
    } else {
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_where_the_command_is_typed() {
        let check = |typed: Option<&str>, here: &str, expected: &str| {
            let path = Path::new("/ws/sdk/cassettes/a.json");
            let found = from(typed.map(Path::new), Path::new(here), path);
            assert_eq!(found, Path::new(expected), "{typed:?} {here}");
        };
        check(None, "/ws/sdk", "cassettes/a.json");
        check(Some("/ws/sdk"), "/ws/sdk", "cassettes/a.json");
        check(Some("/ws"), "/ws/sdk", "sdk/cassettes/a.json");
        // Who starts it elsewhere has not said where anything is typed.
        check(Some("/home/me"), "/ws/sdk", "cassettes/a.json");
        check(Some("sdk"), "/ws/sdk", "cassettes/a.json");
        check(Some("/ws"), "/elsewhere", "/ws/sdk/cassettes/a.json");
    }
}
