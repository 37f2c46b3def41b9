//! Counts the messages, tool calls and tokens of session files:
//! `cargo run -p turnpipe-sessions --example session_tokens -- examples/session.jsonl`

#![expect(clippy::print_stdout, reason = "an example program")]

use std::error::Error;
use std::path::Path;

use turnpipe_sessions::{Scope, Session};

pub(crate) fn describe(path: &Path) -> Result<String, Box<dyn Error>> {
    let session = Session::open(path)?;
    let (mut messages, mut calls, mut tokens) = (0, 0, 0);
    for message in session.messages(Scope::Live)? {
        let message = message?;
        messages += 1;
        calls += message.calls().count();
        tokens += message.usage.map_or(0, |usage| usage.total());
    }
    let agent = session.agent().name();
    Ok(format!(
        "{agent}: {messages} messages, {calls} calls, {tokens} tokens"
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        println!("{path}: {}", describe(Path::new(&path))?);
    }
    Ok(())
}
