//! Prints the verdict and the words of the commands of each line of standard input, a JSON string.
use std::io::BufRead;
use turnpipe_rules::shell::{Verdict, analyse};
fn main() {
    for line in std::io::stdin().lock().lines() {
        let command: String = serde_json::from_str(&line.unwrap()).unwrap();
        let a = analyse(&command);
        let v = match a.verdict {
            Verdict::ReadOnly { .. } => "reads",
            Verdict::Writes => "writes",
            Verdict::Unknown => "unknown",
        };
        let words: Vec<Vec<String>> = a
            .line
            .commands
            .iter()
            .map(|c| {
                c.words
                    .iter()
                    .map(|w| w.value.clone().unwrap_or_else(|| format!("?{}", w.text)))
                    .collect()
            })
            .collect();
        println!(
            "{}",
            serde_json::json!({"command": command, "verdict": v, "why": a.why, "language": a.language, "whole": a.line.unread.is_none(), "unread": a.line.unread.as_ref().map(|u| (u.start, u.why.clone())), "words": words,
          "requires": match &a.verdict { Verdict::ReadOnly{requires} => format!("{requires:?}"), _ => String::new() }, "cd": a.changes_directory, "programs": a.programs, "reveals": a.reveals, "leaves": a.may_leave_processes})
        );
    }
}
