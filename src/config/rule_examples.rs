//! Examples of permission rules, which are checked when a rule is read.

use std::path::Path;

use serde_json::Map;

use super::permission_table::TestedRule;
use crate::message::{DecidedBy, Decision};
use crate::permission::{Action, Behavior, Mode, Request, Rule, Rules, canonical_tool};
use crate::shell::analyse;

impl TestedRule {
    /// Checks the examples, for a session that starts in `directory`.
    ///
    /// # Errors
    /// Describes the first failing example on one line.
    pub(super) fn try_examples(
        &self,
        rule: &Rule,
        directory: &Path,
        home: Option<&Path>,
    ) -> Result<(), String> {
        let wanted = [(&self.matching, true), (&self.not_match, false)];
        for (examples, matches) in wanted {
            for example in examples {
                if holds(rule, example, directory, home) != matches {
                    let verb = if matches { "does not match" } else { "matches" };
                    return Err(format!("`{}` {verb} `{example}`", self.rule));
                }
            }
        }
        Ok(())
    }
}

/// Whether a rule applies to an example.
fn holds(rule: &Rule, example: &str, directory: &Path, home: Option<&Path>) -> bool {
    let tool = canonical_tool(rule.text.split('(').next().unwrap_or_default());
    let path = || vec![directory.join(example)];
    let (field, action) = match tool {
        "Bash" => {
            let action = Action::Command {
                script: example.to_owned(),
                parts: analyse(example).parts,
                only_reads: false,
                is_ambiguous: false,
            };
            ("command", action)
        }
        "WebFetch" => {
            let url = example.to_owned();
            ("url", Action::Fetch { url })
        }
        "Read" | "Grep" | "Glob" | "LS" => {
            let (reads, writes) = (path(), Vec::new());
            ("file_path", Action::Files { reads, writes })
        }
        _ => {
            let (reads, writes) = (Vec::new(), path());
            ("file_path", Action::Files { reads, writes })
        }
    };
    let input = Map::from_iter([(field.to_owned(), example.into())]);
    let request = Request {
        tool,
        input: &input,
        action: &action,
        directory,
        working_directories: &[directory.to_owned()],
        confines_reads: false,
        home,
        real_path: &|path| Some(path.to_owned()),
        branches: &|_| Vec::new(),
    };
    if rule.behavior != Behavior::Allow || tool == "Read" {
        return rule.matches(&request);
    }
    // Every command of a command line has to be allowed.
    let decided = Rules::new(vec![rule.clone()]).decide(Mode::Default, &request);
    decided.decision == Decision::Allow && matches!(decided.by, DecidedBy::Rule { .. })
}
