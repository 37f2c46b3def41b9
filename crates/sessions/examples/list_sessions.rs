//! Lists the sessions of all coding agents of this user, or below a directory, with their tokens and costs:
//! `cargo run -p turnpipe-sessions --example list_sessions -- examples`

#![expect(clippy::print_stdout, reason = "an example program")]

use std::error::Error;
use std::path::{Path, PathBuf};

use turnpipe_core::io::Environment;
use turnpipe_sessions::{Prices, Root, Session, Tally, discover, list_session_roots};

pub(crate) fn list(directory: Option<PathBuf>) -> Vec<String> {
    let roots = match directory {
        Some(path) => vec![Root { agent: None, path }],
        None => list_session_roots(&Environment::from_process()),
    };
    let prices = Prices::built_in();
    let files = discover(&roots).into_iter();
    let lines = files.map(|file| match describe(&file.path, &prices) {
        Ok(totals) => format!("{}: {totals}", file.path.display()),
        Err(error) => format!("{}: {error}", file.path.display()),
    });
    lines.collect()
}

fn describe(path: &Path, prices: &Prices) -> Result<String, Box<dyn Error>> {
    let session = Session::open(path)?;
    let total = Tally::from_session(&session, prices)?.total();
    let usage = total.spending.usage;
    let tokens = usage.total();
    let cost = usage
        .cost
        .map_or("unknown".to_owned(), |cost| format!("{cost:.2}"));
    Ok(format!(
        "{}, {tokens} tokens, $ {cost}",
        session.agent().name()
    ))
}

fn main() {
    for line in list(std::env::args_os().nth(1).map(PathBuf::from)) {
        println!("{line}");
    }
}
