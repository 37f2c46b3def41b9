//! Decisions, row by row.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, Behavior, Decided, Mode, Request, Rule, RuleSource, Rules};
use crate::sample::sample;
use crate::shell::{MAX_LENGTH, analyse, cpu_time};
use turnpipe_core::message::{BuiltinRule, DecidedBy, Decision};

pub(super) const DIRECTORY: &str = "/home/u/proj";

/// A call, the rules and the expected decision. Paths are relative to the directory.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default)]
    pub(super) deny: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) allow: Vec<String>,
    pub(super) mode: Option<String>,
    pub(super) command: Option<String>,
    pub(super) read: Option<String>,
    pub(super) write: Option<String>,
    pub(super) url: Option<String>,
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// Targets of links; null for a dangling link.
    #[serde(default)]
    pub(super) links: BTreeMap<PathBuf, Option<PathBuf>>,
    #[serde(default)]
    pub(super) decision: String,
    #[serde(default)]
    pub(super) by: String,
    /// What enforces the rules: `rule`, `asks`, `sandbox`, or `not seen` with the reason.
    #[serde(default)]
    pub(super) held: String,
}

pub(super) fn source() -> Arc<RuleSource> {
    Arc::new(RuleSource {
        name: "settings.json".to_owned(),
        anchor: PathBuf::from(DIRECTORY),
    })
}

impl Row {
    pub(super) fn rules(&self) -> Rules {
        let parsed = |texts: &[String], behavior| -> Vec<Rule> {
            let parse = |text: &String| Rule::parse(text, behavior, &source()).unwrap();
            texts.iter().map(parse).collect()
        };
        let mut rules = parsed(&self.allow, Behavior::Allow);
        rules.extend(parsed(&self.ask, Behavior::Ask));
        rules.extend(parsed(&self.deny, Behavior::Deny));
        Rules::new(rules)
    }

    pub(super) fn decide(&self) -> Decided {
        let name = self.mode.as_deref().unwrap_or("default");
        let mode = Mode::by_name(name).unwrap();
        self.with_request(|request| self.rules().decide(mode, request))
    }

    pub(super) fn with_request<T>(&self, run: impl FnOnce(&Request<'_>) -> T) -> T {
        let directory = Path::new(DIRECTORY);
        let paths = |name: &Option<String>| -> Vec<PathBuf> {
            name.iter().map(|name| directory.join(name)).collect()
        };
        let (tool, action) = if let Some(command) = &self.command {
            let analysis = analyse(command);
            let action = Action::Command {
                only_reads: analysis.verdict.is_read_only(),
                is_ambiguous: false,
                script: command.clone(),
                line: analysis.line,
            };
            ("Bash", action)
        } else if let Some(url) = &self.url {
            ("WebFetch", Action::Fetch { url: url.clone() })
        } else if self.tool.is_some() {
            ("", Action::Anything)
        } else {
            let action = Action::Files {
                reads: paths(&self.read),
                writes: paths(&self.write),
            };
            (if self.read.is_some() { "Read" } else { "Write" }, action)
        };
        run(&Request {
            tool: self.tool.as_deref().unwrap_or(tool),
            input: &self.input,
            action: &action,
            directory,
            working_directories: &[directory.to_owned()],
            confines_reads: false,
            is_confined: false,
            masks_files: false,
            home: Some(Path::new("/home/u")),
            real_path: &|path| self.real_path(path),
            links: &|directory| {
                let links = self
                    .links
                    .keys()
                    .filter(|link| link.parent() == Some(directory));
                let names = links.filter_map(|link| link.file_name()?.to_str());
                Some(names.map(str::to_owned).collect())
            },
        })
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        for (link, target) in &self.links {
            if let Ok(below) = path.strip_prefix(link) {
                return Some(self.real_path(target.as_ref()?)?.join(below));
            }
        }
        Some(path.to_owned())
    }
}

/// Returns the cause as the tables write it.
pub(super) fn name_cause(by: &DecidedBy) -> &str {
    match by {
        DecidedBy::Rule { rule, .. } => rule,
        DecidedBy::Mode { mode } => mode.name(),
        DecidedBy::Builtin { builtin } => match builtin {
            BuiltinRule::Confined => "confined",
            BuiltinRule::ReadOnly => "read-only",
            BuiltinRule::CriticalPath => "critical-path",
            BuiltinRule::Protected => "protected",
            BuiltinRule::Unparsable => "unparsable",
            BuiltinRule::Unresolved => "unresolved",
        },
        DecidedBy::Default { .. } => "default",
        DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => unreachable!("rules do not ask"),
    }
}

#[test]
fn decisions() {
    let rows = include_str!("../../../../tests/data/permission/decisions.jsonl").lines();
    let modes = include_str!("../../../../tests/data/permission/modes.jsonl").lines();
    let rows = rows.chain(modes).map(|line| {
        let row: Row = serde_json::from_str(line).unwrap();
        (line, row)
    });
    let mut wrong = Vec::new();
    let kind = |(_, row): &(&str, Row)| (row.decision.clone(), row.mode.clone());
    for (line, row) in sample(rows, 8, kind) {
        let restricts = !row.deny.is_empty() || !row.ask.is_empty();
        let holders: &[&str] = match (row.decision.as_str(), row.by.as_str()) {
            _ if row.held.is_empty() => &[""],
            ("ask", "unresolved") => &["asks"],
            ("allow", _) | ("ask", "default" | "unparsable") => &["sandbox", "not seen: "],
            _ => &["rule"],
        };
        let is_known = holders.iter().any(|holder| row.held.starts_with(holder));
        assert!(is_known && (restricts || row.held.is_empty()), "{line}");
        let decided = row.decide();
        let decision = serde_json::to_value(decided.decision).unwrap();
        if decision != row.decision.as_str() || name_cause(&decided.by) != row.by {
            wrong.push(format!("{line}\n   {decided:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The hook of agents changes commands to such lines.
#[test]
fn a_command_in_a_sandbox_is_decided_like_one_in_bash() {
    let rows = include_str!("../../../../tests/data/permission/decisions.jsonl").lines();
    let rows = rows.map(|line| ((), serde_json::from_str::<Row>(line).unwrap()));
    let rows = rows.filter(|((), row)| row.decision != "allow" && row.command.is_some());
    for ((), mut row) in sample(rows, 8, |((), row)| row.decision.clone()) {
        let plain = row.command.take().unwrap();
        let in_bash = format!("bash -c '{}'", plain.replace('\'', r"'\''"));
        let mut decision = |line: String| {
            row.command = Some(line);
            row.decide().decision
        };
        let wrapped = decision(format!("/x/turnpipe sandbox --settings /s -- {in_bash}"));
        let expected = decision(plain.clone()).min(decision(in_bash));
        assert!(wrapped >= expected, "{wrapped:?} {plain}");
    }
}

/// The commands of a long line are still denied, and it needs approval in every mode.
#[test]
fn a_long_line_needs_approval() {
    let blanks = " ".repeat(MAX_LENGTH);
    for (command, expected) in [
        (format!("{blanks}rm x"), Decision::Deny),
        (format!("rm x{blanks}"), Decision::Deny),
        (format!("ls #{blanks}\nls x"), Decision::Ask),
    ] {
        for mode in ["default", "bypassPermissions"] {
            let row = Row {
                allow: vec!["Bash".to_owned()],
                deny: vec!["Bash(rm *)".to_owned()],
                command: Some(command.clone()),
                mode: Some(mode.to_owned()),
                ..Row::default()
            };
            let decided = row.decide();
            assert_eq!(decided.decision, expected, "{} {mode}", command.trim());
        }
    }
}

/// Wrappers with unknown options may start their commands at many words.
#[test]
fn a_line_of_wrappers_is_decided_in_time() {
    let row = Row {
        allow: vec!["Bash".to_owned()],
        deny: vec!["Bash(rm *)".to_owned()],
        command: Some("sudo --x ".repeat(1500) + "ls"),
        ..Row::default()
    };
    let begun = cpu_time();
    assert_eq!(row.decide().decision, Decision::Ask);
    assert!(cpu_time().saturating_sub(begun) < Duration::from_secs(5));
}

#[test]
fn each_part_names_what_decided_it() {
    let row = Row {
        allow: vec!["Bash(npm test)".to_owned()],
        deny: vec!["Bash(git push *)".to_owned()],
        command: Some("ls && npm test; git push origin | rm -f x".to_owned()),
        ..Row::default()
    };
    let decided = row.decide();
    let parts: Vec<_> = decided
        .parts
        .iter()
        .map(|part| (part.command.as_str(), part.decision, name_cause(&part.by)))
        .collect();
    let expected = [
        ("ls", Decision::Allow, "read-only"),
        ("npm test", Decision::Allow, "Bash(npm test)"),
        ("git push origin", Decision::Deny, "Bash(git push *)"),
        ("rm -f x", Decision::Ask, "default"),
    ];
    assert_eq!(parts, expected);
    let reason = "Permission to use Bash was denied: the rule `Bash(git push *)` of settings.json denies `git push origin`.";
    assert_eq!(decided.reason("Bash", None), reason);
}

#[test]
fn hints_allow_the_call() {
    let command = |text: &str| Row {
        command: Some(text.to_owned()),
        ..Row::default()
    };
    let write = |path: &str| Row {
        write: Some(path.to_owned()),
        ..Row::default()
    };
    let url = Row {
        url: Some("https://a.example:8000/b?c".to_owned()),
        ..Row::default()
    };
    let tool = Row {
        tool: Some("mcp__a__b".to_owned()),
        ..Row::default()
    };
    let rows = [
        (command("npm test"), Some("Bash(npm test *)")),
        (command("npm run build:all -- -x"), Some("Bash(npm run *)")),
        (
            command("ls && timeout 9 npm test"),
            Some("Bash(npm test *)"),
        ),
        (command("pytest -q"), Some("Bash(pytest *)")),
        (command("pytest tests/x.py"), Some("Bash(pytest *)")),
        (command("python -c 'f(1)'"), Some("Bash(python -c 'f(1)')")),
        (command("rm -rf 'a*b'"), Some("Bash(rm -rf 'a\\*b')")),
        (command("sudo npm test"), Some("Bash(sudo npm test)")),
        (command("python $x"), None),
        (command("$x y"), None),
        (command("LD_PRELOAD=x npm test"), None),
        (command("npm test > /etc/x"), None),
        (command("npm test && cargo build"), None),
        (command("f() { npm test; }; f"), None),
        (command("rm -rf /"), None),
        (write("src/a.rs"), Some("Edit(./src/**)")),
        (write("a.rs"), Some("Edit(./a.rs)")),
        (write("/etc/a"), Some("Edit(//etc/a)")),
        (write(".git/config"), None),
        (url, Some("WebFetch(domain:a.example)")),
        (tool, Some("mcp__a__b")),
    ];
    for (mut row, expected) in rows {
        let decided = row.decide();
        let rule = decided.hint.as_ref().map(|hint| &*hint.rule);
        assert_eq!(rule, expected, "{row:?}");
        if let Some(hint) = decided.hint {
            row.allow.push(hint.rule);
            assert_eq!(row.decide().decision, Decision::Allow, "{row:?}");
        }
    }
}

#[test]
fn a_reason_names_the_rule_or_the_mode() {
    let rows = [
        (
            r#"{"command":"npm test && cargo build"}"#,
            "no rule allows `npm test`; `--allow 'Bash(npm test *)' --allow 'Bash(cargo build *)'` would allow it.",
        ),
        (
            r#"{"command":"npm test","mode":"dontAsk"}"#,
            "the mode `dontAsk` denies what no rule allows; `--allow 'Bash(npm test *)'` would allow it.",
        ),
        (
            r#"{"command":"npm test","ask":["Bash(npm *)"]}"#,
            "the rule `Bash(npm *)` of settings.json requires approval for it, and no approver is available.",
        ),
        (
            r#"{"command":"rm -rf /"}"#,
            "it removes a critical path, and no approver is available.",
        ),
        (
            r#"{"write":".envrc"}"#,
            "it changes a file that determines which programs run, and no approver is available.",
        ),
        (
            r#"{"write":"a","mode":"plan"}"#,
            "the mode `plan` allows only read-only calls.",
        ),
        (
            r#"{"command":"coproc npm test"}"#,
            "the command cannot be parsed, and no rule allows all commands.",
        ),
    ];
    for (row, expected) in rows {
        let row: Row = serde_json::from_str(row).unwrap();
        let expected = format!("Permission to use Bash was denied: {expected}");
        assert_eq!(row.decide().reason("Bash", None), expected);
    }
}
