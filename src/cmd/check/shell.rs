//! `check shell`: analysis of shell commands.

use std::fmt::Write as _;

use anyhow::Context as _;
use clap::Args;

use super::input::{Check, CheckInput, CheckOutput};
use crate::cmd::output::name_of;
use crate::cmd::{Form, Globals, Run, Status};
use crate::io::Io;
use crate::jsonl::{LineContext, TextLine, TextLineForm};
use crate::records::{CheckShellRecord, ShellCheck, VerdictAccess};
use crate::shell::{Analysis, Verdict, analyse};
use crate::text::{display_width, terminal_safe_line};
use crate::tools::{DecisionContext, ShellGuarantees, WriteProtection, settled_analysis};

/// Check whether shell commands only read
///
/// Reads one command per line: a JSON string, or an object with a `command` and an optional `cwd`. Writes
/// one record per line with the `verdict`: read-only, writes or unknown. If the verdict depends on the
/// directory, `cwd` is checked; without it, the condition is listed in `requires`. So are conditions on
/// how the command runs: `kernel-enforcement` (a sandbox, for commands such as `awk`), `no-terminal` (git
/// would start a pager), `no-index-refresh` (`GIT_OPTIONAL_LOCKS=0` and `diff.autoRefreshIndex=false`),
/// `temporary-directory` (a directory for `sort` to write to), `no-leftovers` (processes that outlive
/// the command are killed) and `network`. As text, the deciding word is marked.
#[derive(Debug, Args)]
pub(crate) struct CheckShellArguments {
    #[command(flatten)]
    pub(crate) input: CheckInput,
    /// Count commands that only read from servers, such as `gh pr view`, as reading
    #[arg(long)]
    pub(crate) allow_network_reads: bool,
    /// The former name of `-o text`
    #[arg(long, hide = true, conflicts_with_all = ["output", "json"])]
    pub(crate) explain: bool,
}

impl Run for CheckShellArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let here = std::env::current_dir().context("cannot find the working directory")?;
        // The record lists what the shell must guarantee.
        let shell = ShellGuarantees::foreign(WriteProtection::Assumed);
        let context = DecisionContext::without_run(Vec::new(), io.environment.clone(), shell)?;
        let look = |line: &TextLine| {
            let mut analysis = analyse(&line.text);
            if self.allow_network_reads {
                analysis = analysis.allowing_network_reads();
            }
            let conditions = analysis.conditions();
            let analysis = match &line.directory {
                Some(directory) => {
                    // The session may write to this directory.
                    let context = context.in_directory(here.join(directory));
                    settled_analysis(analysis, &context)
                }
                None => analysis.without_a_look(),
            };
            (analysis, conditions)
        };
        let prints = if self.explain {
            Form::Text
        } else {
            self.input.form.form(io.terminal)
        };
        let check = Check {
            name: "shell",
            prints,
            form: TextLineForm::Json {
                field: "command",
                context: LineContext::Directory,
            },
            examine: &|line| {
                let (analysis, conditions) = look(line);
                if prints == Form::Text {
                    CheckOutput::Text(explanation(&line.text, &analysis))
                } else {
                    CheckOutput::Records(vec![record(&line.text, analysis, conditions)])
                }
            },
        };
        self.input.check_each(&check, io)
    }
}

fn record(command: &str, analysis: Analysis, conditions: Vec<&str>) -> CheckShellRecord {
    let mut requires = Vec::new();
    if let Verdict::ReadOnly { requires: open } = &analysis.verdict {
        for requirement in open {
            let name = requirement.to_string();
            if !requires.contains(&name) {
                requires.push(name);
            }
        }
        requires.extend(conditions.into_iter().map(str::to_owned));
    }
    CheckShellRecord {
        check: ShellCheck::Only,
        command: command.to_owned(),
        verdict: access(&analysis.verdict),
        why: analysis.why,
        requires,
        span: analysis.span.map(|span| (span.start, span.end)),
        changes_directory: analysis.changes_directory,
    }
}

fn access(verdict: &Verdict) -> VerdictAccess {
    match verdict {
        Verdict::ReadOnly { .. } => VerdictAccess::ReadOnly,
        Verdict::Writes => VerdictAccess::Writes,
        Verdict::Unknown => VerdictAccess::Unknown,
    }
}

/// Returns the command with the deciding word underlined, then the verdict.
fn explanation(command: &str, analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut start = 0;
    for line in command.split('\n') {
        let end = start + line.len();
        text.push_str(&terminal_safe(line));
        text.push('\n');
        if let Some(span) = &analysis.span
            && (start..=end).contains(&span.start)
        {
            let before = line.get(..span.start - start).unwrap_or_default();
            let marked = command
                .get(span.start..span.end.min(end))
                .unwrap_or_default();
            let indent = display_width(&terminal_safe(before));
            let width = display_width(&terminal_safe(marked)).max(1);
            text.push_str(&" ".repeat(indent));
            text.push_str(&"^".repeat(width));
            text.push('\n');
        }
        start = end + 1;
    }
    let verdict = name_of(access(&analysis.verdict));
    // Writing to a string cannot fail.
    let _ = write!(text, "{verdict}: {}", analysis.why);
    if let Verdict::ReadOnly { requires } = &analysis.verdict
        && let Some(requirement) = requires.first()
    {
        let _ = write!(text, " (requires {requirement})");
    }
    text.push_str("\n\n");
    text
}

/// Returns a terminal-safe line with the same columns: unprintable characters become U+FFFD.
fn terminal_safe(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for letter in line.chars() {
        let mut buffer = [0; 4];
        let encoded: &str = letter.encode_utf8(&mut buffer);
        if letter == ' ' || terminal_safe_line(encoded) == encoded {
            shown.push(letter);
        } else {
            shown.push('\u{fffd}');
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deciding_word_is_marked() {
        let rows = [
            (
                "ls | tee x",
                "ls | tee x\n     ^^^\nwrites: `tee` changes files\n\n",
            ),
            (
                "ls\n  rm a",
                "ls\n  rm a\n  ^^\nwrites: `rm` changes files\n\n",
            ),
            (
                "ls",
                "ls\nread-only: ls: options within the accepted set\n\n",
            ),
            (
                "git log",
                "git log\nread-only: git log: options within the accepted set (requires clean-git-config)\n\n",
            ),
        ];
        for (command, expected) in rows {
            assert_eq!(explanation(command, &analyse(command)), expected);
        }
    }

    #[test]
    fn text_is_terminal_safe() {
        let shown = explanation(
            "echo \u{1b}[31m\u{202e}x",
            &analyse("echo \u{1b}[31m\u{202e}x"),
        );
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}
