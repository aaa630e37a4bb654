//! The Rust test that runs.

use std::path::Path;
use std::{env, thread};

/// The name of the test that runs: libtest names its thread after it.
pub(super) fn name() -> Option<String> {
    let thread = thread::current();
    let is_path =
        |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:".contains(&b));
    let name = thread.name().filter(is_path).filter(|name| *name != "main");
    name.map(str::to_owned)
}

/// What runs this test alone, as far as it is known: a name alone is a filter, which other tests may pass too.
pub(super) fn command() -> String {
    command_of(name().as_deref(), target().as_deref(), env::var_os("NEXTEST").is_some())
}

fn command_of(name: Option<&str>, target: Option<&str>, is_nextest: bool) -> String {
    let target = target.map(|target| format!(" --test {target}")).unwrap_or_default();
    match name {
        Some(name) if is_nextest => format!("cargo nextest run{target} -E 'test(={name})'"),
        Some(name) => format!("cargo test{target} -- --exact {name}"),
        None if is_nextest => format!("cargo nextest run{target}"),
        None => format!("cargo test{target}"),
    }
}

/// The file of `tests` that this process was made of, if it was: Cargo calls it as the file, and puts a hash behind.
fn target() -> Option<String> {
    let program = env::current_exe().ok()?;
    let (target, _) = program.file_stem()?.to_str()?.rsplit_once('-')?;
    let tests = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("tests");
    let is_file = tests.join(format!("{target}.rs")).is_file();
    let is_there = is_file || tests.join(target).join("main.rs").is_file();
    is_there.then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_runs_one_test() {
        let of = |target, is_nextest| command_of(Some("chat::streams"), target, is_nextest);

        assert_eq!(of(None, false), "cargo test -- --exact chat::streams");
        assert_eq!(of(Some("sdk"), false), "cargo test --test sdk -- --exact chat::streams");
        assert_eq!(of(Some("sdk"), true), "cargo nextest run --test sdk -E 'test(=chat::streams)'");
        assert_eq!(command_of(None, Some("sdk"), false), "cargo test --test sdk");
        assert_eq!(command_of(None, None, true), "cargo nextest run");
    }
}
