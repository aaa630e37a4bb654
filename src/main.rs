//! The `retape` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// What is read and compared is many small values, by several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    retape::cli::main()
}
