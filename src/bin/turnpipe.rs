//! The `turnpipe` command.

fn main() {}
