//! The `retape` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    retape::cli::main()
}
