//! The `retape` command.

fn main() {}
