//! Rows of commands and what is to be said about them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{GitScope, Requirement, Verdict, analyse};

fn rows(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Read-only without a look at any other repository than the one the shell starts in.
fn accepted(command: &str) -> bool {
    match analyse(command).verdict {
        Verdict::ReadOnly { requires } => requires.iter().all(|requirement| {
            let Requirement::CleanGitConfig(place) = requirement;
            place.is_here() || place.scope == GitScope::Objects
        }),
        Verdict::Writes | Verdict::Unknown => false,
    }
}

#[test]
fn zz_corpus() {
    let dir = std::path::PathBuf::from("/work/shared/vectors");
    let (mut must, mut hit, mut nice, mut nicehit) = (0, 0, 0, 0);
    for row in rows(&dir.join("shell-readonly.jsonl")) {
        let command = row["command"].as_str().unwrap();
        let a = accepted(command);
        if row["read_only"] == Value::Bool(false) {
            if a {
                println!("FALSE ACCEPT {command:?}");
            }
        } else if row["tier"] == "must" {
            must += 1;
            if a {
                hit += 1;
            } else {
                println!("MISS {command:?} {:?}", analyse(command).why);
            }
        } else {
            nice += 1;
            if a {
                nicehit += 1;
            } else {
                println!("nice miss {command:?} {:?}", analyse(command).why);
            }
        }
    }
    println!("must {hit}/{must} nice {nicehit}/{nice}");
    for row in rows(&dir.join("shell-context.jsonl")) {
        let command = row["command"].as_str().unwrap();
        println!(
            "context {command:?} ro={} -> {:?}",
            row["read_only"],
            analyse(command).verdict
        );
    }
    for row in rows(&dir.join("shell-peer-verdicts.jsonl")) {
        let command = row["command"].as_str().unwrap();
        let a = accepted(command);
        if row["expected_safe"] == Value::Bool(false) && a {
            println!("PEER REFUSES {command:?}");
        }
        if row["expected_safe"] == Value::Bool(true) && !a {
            println!("peer accepts {command:?} {}", analyse(command).why);
        }
    }
    for row in rows(&dir.join("qwen-code.jsonl")) {
        let area = row["area"].as_str().unwrap();
        let Some(command) = row["input"].as_str() else {
            continue;
        };
        let expected = match area {
            "shell.isReadOnly.sync" => row["expected"].as_bool().unwrap(),
            "shell.classifySafety.ast" => row["expected"] == "read-only",
            _ => continue,
        };
        let a = accepted(command);
        if !expected && a {
            println!("QWEN REFUSES {area} {command:?}");
        }
        if expected && !a {
            println!("qwen accepts {command:?} {}", analyse(command).why);
        }
    }
}
