//! What the checks say about some two thousand commands, compared with recorded output. The commands
//! are taken from the recorded lines; add a line with only a `command` to record another one.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use turnpipe::message::{DecidedBy, Decision};
use turnpipe::permission::{Action, Mode, Request, Rule, RuleSource, Rules};
use turnpipe::shell::{Analysis, CommandPart, PartWord, Verdict, analyse};

use crate::recording::{compare, is_updated};
use crate::skip::sample;

/// A mode, and rules to deny, to ask about and to allow.
type RuleSet = (Mode, [&'static [&'static str]; 3]);

const RULES: &[RuleSet] = &[
    (Mode::Default, [&[], &[], &[]]),
    (
        Mode::Default,
        [
            &["Read(.env)", "Bash(rm *)", "Edit(src/secret/**)"],
            &["Bash(git push *)"],
            &["Bash(git *)", "Bash(npm run:*)", "Bash(echo *)"],
        ],
    ),
    (
        Mode::AcceptEdits,
        [
            &["Bash(curl:*)"],
            &["Edit(build/**)", "Read(~/.ssh/**)"],
            &["Bash(*)"],
        ],
    ),
    (
        Mode::DontAsk,
        [
            &["Read(//etc/**)"],
            &[],
            &["Bash(cat a)", "Edit(out/*)", "Read(//usr/**)"],
        ],
    ),
];

/// Compares the record about each command of a sample with the recorded line, or records all lines again.
fn check(name: &str, describe: impl Fn(&str) -> Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded");
    let recorded = fs::read_to_string(file.join(name)).unwrap();
    // Without empty members.
    let describe = |line: &str| {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let mut record = describe(recorded["command"].as_str().unwrap());
        let members = record.as_object_mut().unwrap();
        members.retain(|_, value| *value != json!([]) && *value != Value::Null);
        record.to_string()
    };
    if is_updated() {
        let lines = recorded.lines().map(|line| describe(line) + "\n");
        compare(name, &lines.collect::<String>());
        return;
    }
    let lines = sample(recorded.lines(), 4, |_| ());
    let lines = lines.into_iter().map(|line| (line, describe(line)));
    let differing: Vec<_> = lines.filter(|(line, now)| line != now).take(5).collect();
    assert!(differing.is_empty(), "{name}: {differing:#?}");
}

fn value(word: &PartWord) -> String {
    match &word.value {
        Some(value) => value.clone(),
        None => format!("?{}", word.text),
    }
}

/// Writes a command with the values of its words, its files and what it starts.
fn part(part: &CommandPart) -> String {
    let assignments = part.assignments.iter();
    let mut words: Vec<String> = assignments
        .map(|assignment| format!("{}={}", assignment.name, value(&assignment.word)))
        .collect();
    words.extend(part.words.iter().map(value));
    words.extend(part.input_targets().map(|word| format!("<{}", value(word))));
    words.extend(
        part.output_targets()
            .map(|word| format!(">{}", value(word))),
    );
    words.extend(part.input.text().map(|text| format!("<<<{text}")));
    let inner = part.inner_command().map(|inner| self::part(&inner));
    words.extend(inner.map(|inner| format!("[{inner}]")));
    words.join(" ")
}

#[test]
fn verdicts_and_commands_are_as_recorded() {
    check("shell.jsonl", |command| {
        let analysis = analyse(command);
        let verdict = match &analysis.verdict {
            Verdict::ReadOnly { requires } if analysis.changes_directory => {
                format!("reads {requires:?}, then in another directory")
            }
            Verdict::ReadOnly { requires } => format!("reads {requires:?}"),
            Verdict::Unknown => "Unknown".to_owned(),
        };
        let mut line = json!({
            "command": command,
            "verdict": verdict,
            "why": analysis.why,
            "marked": analysis.span.clone().map(|span| &command[span]),
            "conditions": analysis.conditions(),
            "programs": analysis.programs,
        });
        let words: Vec<_> = command.split_whitespace().collect();
        let parts = analysis.line.all_commands();
        let differs = parts.is_some() && !analysis.line.is_portable(command);
        line["differs"] = json!(differs.then_some(true));
        let parts: Option<Vec<_>> = parts.map(|parts| parts.iter().map(part).collect());
        if parts
            .as_ref()
            .is_none_or(|parts| *parts != [words.join(" ")])
        {
            line["parts"] = json!(parts);
        }
        if let Some(unread) = &analysis.line.unread {
            let read = analysis.line.commands.iter().map(part);
            line["read"] = json!(read.collect::<Vec<_>>());
            line["unread"] = json!(command.get(unread.start..));
        }
        line
    });
}

/// Returns the decision and its cause, those on the parts, and the proposed rule.
fn decision(command: &str, analysis: &Analysis, (mode, rules): &RuleSet) -> String {
    let directory = Path::new("/home/u/project");
    let source = Arc::new(RuleSource {
        name: "settings".to_owned(),
        anchor: directory.to_owned(),
    });
    let kinds = [Decision::Deny, Decision::Ask, Decision::Allow];
    let rules = kinds.into_iter().zip(rules).flat_map(|(kind, rules)| {
        let parse = |rule: &&str| Rule::parse(rule, kind, &source).unwrap();
        rules.iter().map(parse).collect::<Vec<_>>()
    });
    let action = Action::Command {
        script: command.to_owned(),
        only_reads: analysis.verdict.is_read_only(),
        line: std::sync::Arc::clone(&analysis.line),
        is_ambiguous: false,
    };
    let request = Request {
        tool: "Bash",
        input: &serde_json::Map::new(),
        action: &action,
        directory,
        working_directories: &[directory.to_owned()],
        confines_reads: *mode == Mode::DontAsk,
        is_confined: false,
        masks_files: false,
        links: &|_| Some(Vec::new()),
        home: Some(Path::new("/home/u")),
        real_path: &|path| Some(path.to_owned()),
    };
    let decided = Rules::new(rules.collect()).decide(*mode, &request);
    let told = |decision: Decision, by: &DecidedBy| {
        let by = json!(by);
        let (kind, value) = by.as_object().unwrap().iter().next().unwrap();
        format!("{decision:?} {}", value.as_str().unwrap_or(kind))
    };
    let parts = decided.parts.iter();
    let parts = parts.map(|part| told(part.decision, &part.by));
    let all: Vec<String> = std::iter::once(told(decided.decision, &decided.by))
        .chain(parts)
        .collect();
    let hint = decided.hint.map(|hint| format!(" + {}", hint.rule));
    all.join(" | ") + &hint.unwrap_or_default()
}

#[test]
fn decisions_are_as_recorded() {
    check("permission.jsonl", |command| {
        let analysis = analyse(command);
        let decisions = RULES
            .iter()
            .map(|rules| decision(command, &analysis, rules));
        let decisions: Vec<_> = decisions.collect();
        json!({"command": command, "decisions": decisions})
    });
}
