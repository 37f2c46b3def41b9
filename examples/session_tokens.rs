//! Counts the messages, tool calls and tokens of session files:
//! `cargo run --example session_tokens -- examples/session.jsonl`

#![expect(clippy::print_stdout, reason = "an example program")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use turnpipe::session::{Scope, Session};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let session = Session::open(Path::new(&path))?;
        let (mut messages, mut calls, mut tokens) = (0, 0, 0);
        session.each_message(Scope::Live, &mut |message| {
            messages += 1;
            calls += message.calls().count();
            tokens += message.usage.map_or(0, |usage| usage.total());
            ControlFlow::Continue(())
        })?;
        let agent = session.agent().name();
        println!("{path} ({agent}): {messages} messages, {calls} calls, {tokens} tokens");
    }
    Ok(())
}
