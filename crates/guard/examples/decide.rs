//! Decides about a shell command by rules:
//! `cargo run -p turnpipe-guard --example decide -- 'npm test && git push' 'allow:Bash(npm *)' 'deny:Bash(git push *)'`

#![expect(clippy::print_stdout, reason = "an example program")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use turnpipe_core::message::Decision;
use turnpipe_guard::permission::{Action, Mode, Request, Rule, RuleSource, Rules};
use turnpipe_guard::shell::analyse;

pub(crate) fn parse_rules(rules: &[String], directory: &Path) -> Result<Rules, Box<dyn Error>> {
    let source = Arc::new(RuleSource {
        name: "arguments".to_owned(),
        anchor: directory.to_owned(),
    });
    let parsed = rules.iter().map(|argument| {
        let (decision, rule) = match argument.split_once(':') {
            Some(("allow", rule)) => (Decision::Allow, rule),
            Some(("ask", rule)) => (Decision::Ask, rule),
            Some(("deny", rule)) => (Decision::Deny, rule),
            _ => {
                return Err(
                    format!("expected allow:RULE, ask:RULE or deny:RULE: {argument}").into(),
                );
            }
        };
        Ok(Rule::parse(rule, decision, &source)?)
    });
    Ok(Rules::new(parsed.collect::<Result<_, Box<dyn Error>>>()?))
}

pub(crate) fn decide(script: &str, rules: &Rules, directory: &Path) -> Decision {
    let analysis = analyse(script);
    let home = std::env::home_dir();
    let request = Request {
        tool: "Bash",
        input: &serde_json::Map::new(),
        action: &Action::Command {
            script: script.to_owned(),
            only_reads: analysis.verdict.is_read_only(),
            line: analysis.line,
            is_ambiguous: false,
        },
        directory,
        working_directories: &[directory.to_owned()],
        confines_reads: false,
        is_confined: false,
        home: home.as_deref(),
        real_path: &|path| path.canonicalize().ok(),
        masks_files: false,
        links: &|_| Some(Vec::new()),
    };
    rules.decide(Mode::Default, &request).decision
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (script, rules) = arguments.split_first().ok_or("name a command")?;
    let directory = std::env::current_dir()?;
    let rules = parse_rules(rules, &directory)?;
    println!("{:?}", decide(script, &rules, &directory));
    Ok(())
}
