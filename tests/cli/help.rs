//! What `--help` says.

use insta::assert_snapshot;

use crate::retape::{Stage, told};

fn help(arguments: &[&str]) -> String {
    let output = Stage::new().retape(arguments).output().unwrap();
    assert!(output.status.success());
    told(&output)
}

#[test]
fn each_subcommand_explains_itself() {
    let all = [
        "record", "replay", "run", "show", "check", "accept", "review", "diff", "coverage",
        "export", "recover", "scan", "matrix",
    ];
    for subcommand in all {
        assert_snapshot!(subcommand, help(&[subcommand, "--help"]));
    }
    assert_snapshot!("retape", help(&["--help"]));
}

#[test]
fn the_version_is_told() {
    assert_eq!(help(&["--version"]), format!("retape {}\n", env!("CARGO_PKG_VERSION")));
}
