//! Decides about a shell command by rules:
//! `cargo run --example decide -- 'npm test && git push' 'allow:Bash(npm *)' 'deny:Bash(git push *)'`

#![expect(clippy::print_stdout, reason = "an example program")]

use std::error::Error;
use std::sync::Arc;

use turnpipe::message::Decision;
use turnpipe::permission::{Action, Mode, Request, Rule, RuleSource, Rules};
use turnpipe::shell::analyse;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let script = arguments.next().ok_or("name a command")?;
    let directory = std::env::current_dir()?;
    let source = Arc::new(RuleSource {
        name: "arguments".to_owned(),
        anchor: directory.clone(),
    });
    let mut rules = Vec::new();
    for argument in arguments {
        let (behavior, rule) = match argument.split_once(':') {
            Some(("allow", rule)) => (Decision::Allow, rule),
            Some(("ask", rule)) => (Decision::Ask, rule),
            Some(("deny", rule)) => (Decision::Deny, rule),
            _ => {
                return Err(
                    format!("expected allow:RULE, ask:RULE or deny:RULE: {argument}").into(),
                );
            }
        };
        rules.push(Rule::parse(rule, behavior, &source)?);
    }
    let analysis = analyse(&script);
    let action = Action::Command {
        only_reads: analysis.verdict.is_read_only(),
        parts: analysis.parts,
        is_ambiguous: false,
        script,
    };
    let decided = Rules::new(rules).decide(
        Mode::Default,
        &Request {
            tool: "Bash",
            input: &serde_json::Map::new(),
            action: &action,
            directory: &directory,
            working_directories: std::slice::from_ref(&directory),
            confines_reads: false,
            home: std::env::home_dir().as_deref(),
            real_path: &|path| path.canonicalize().ok(),
            entries: &|_| Box::new(std::iter::empty()),
        },
    );
    println!("{:?}", decided.decision);
    for part in decided.parts {
        println!("  {:?}: {}", part.decision, part.command);
    }
    Ok(())
}
