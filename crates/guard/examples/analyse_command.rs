//! Prints whether a shell command only reads, and the commands in it:
//! `cargo run -p turnpipe-guard --example analyse_command -- 'git log | head; rm -rf build'`

#![expect(clippy::print_stdout, reason = "an example program")]

use turnpipe_core::text::terminal_safe_line;
use turnpipe_guard::shell::{GitUse, PartWord, Verdict, analyse};

pub(crate) fn describe(command: &str) -> Vec<String> {
    let analysis = analyse(command);
    let verdict = match &analysis.verdict {
        Verdict::ReadOnly { .. } => "read-only",
        Verdict::Unknown => "unknown",
    };
    let mut lines = vec![format!("{verdict}: {}", analysis.why)];
    if let Verdict::ReadOnly { requires } = &analysis.verdict {
        lines.extend(
            requires
                .iter()
                .map(|_| format!("requires {}", GitUse::CONDITION)),
        );
    }
    for command in &analysis.line.commands {
        let words: Vec<&str> = command.words.iter().map(PartWord::value_or_text).collect();
        // Escape sequences of a command must not reach the terminal.
        let safe = terminal_safe_line(&words.join(" "));
        lines.push(format!("runs {safe}"));
    }
    lines
}

fn main() {
    let command = std::env::args().nth(1).unwrap_or_else(|| "ls".to_owned());
    for line in describe(&command) {
        println!("{line}");
    }
}
