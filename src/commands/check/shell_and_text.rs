//! `check shell` and `check text`: the analysis of commands, and cleaned texts.

use std::cell::Cell;

use clap::Args;

use super::input::{Check, CheckInput, CheckOutput};
use crate::commands::inputs::working_directory;
use crate::commands::{Form, Globals, Run, Status};
use crate::io::Io;
use crate::jsonl::{LineContext, TextLine, TextLineForm};
use crate::records::{CheckShellRecord, CheckTextRecord, TextCheck, TextKind};
use crate::render::verdict_text;
use crate::run::tools::{DecisionContext, ShellGuarantees, WriteProtection, check_requirements};
use crate::shell::{Verdict, analyse};
use crate::summaries::label::{CallsEnded, clean_label};
use crate::summaries::recap::clean_recap;
use crate::summaries::title::{TitleStyle, clean_title};
use crate::text::terminal_safe_line;

/// Check whether shell commands only read
///
/// Reads one command per line: a JSON string, or an object with a `command` and an optional `cwd`. Writes
/// one record per line with the `verdict`: read-only, writes or unknown. If the verdict depends on the
/// directory, `cwd` is checked; without it, the condition is listed in `requires`. So are conditions on
/// how the command runs: `kernel-enforcement` (a sandbox, for commands such as `awk`), `no-terminal` (git
/// would start a pager), `no-index-refresh` (`GIT_OPTIONAL_LOCKS=0` and `diff.autoRefreshIndex=false`),
/// `temporary-directory` (a directory for `sort` to write to), `no-leftovers` (processes that outlive
/// the command are killed), `clean-environment` (no variables with secrets, which the command may print).
/// `clean-git-config` is a repository whose settings run no program. As text, the deciding word is marked.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  echo 'git log | head' | turnpipe check shell --plain
  echo 'rm -rf build' | turnpipe check shell --plain -o text")]
pub(crate) struct CheckShellArguments {
    #[command(flatten)]
    pub(crate) input: CheckInput,
    /// Exit with 1 if a verdict is not read-only or a line is unusable
    #[arg(long, hide_short_help = true)]
    pub(crate) exit_status: bool,
}

impl Run for CheckShellArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let here = working_directory()?;
        // The record lists what the shell must guarantee.
        let shell = ShellGuarantees {
            has_clean_environment: true,
            ..ShellGuarantees::foreign(WriteProtection::Assumed)
        };
        let context = DecisionContext::for_decisions(Vec::new(), io.environment.clone(), shell)?;
        let examine = |line: &TextLine| {
            let analysis = analyse(&line.text);
            let conditions = analysis.conditions();
            let analysis = match &line.directory {
                Some(directory) => {
                    // The session may write to this directory.
                    let context = context.with_directory(here.join(directory));
                    check_requirements(analysis, &context)
                }
                None => analysis.restrict_to_start(),
            };
            (analysis, conditions)
        };
        let output_form = self.input.form.form(io.terminal);
        let all_read_only = Cell::new(true);
        let check = Check {
            name: "shell",
            output_form,
            form: TextLineForm::Json {
                field: "command",
                context: LineContext::Directory,
            },
            passed: self.exit_status.then_some(&all_read_only),
            examine: &|line| {
                let (analysis, conditions) = examine(line);
                let is_read_only = matches!(analysis.verdict, Verdict::ReadOnly { .. });
                all_read_only.set(all_read_only.get() && is_read_only);
                if output_form == Form::Text {
                    CheckOutput::Text(verdict_text(&line.text, &analysis))
                } else {
                    CheckOutput::Records(vec![CheckShellRecord::new(
                        &line.text, analysis, conditions,
                    )])
                }
            },
        };
        self.input.check_each(&check, io)
    }
}

/// Clean text that a model wrote
///
/// Reads one text per line: a JSON string, or an object with a `text`. Writes one record per line with the
/// cleaned `output`, or with an `error` if the line is neither. As text, prints one line per text, which
/// is empty if the text was rejected.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Examples:
  echo '"Fixed it\u001b]0;x\u0007"' | turnpipe check text --kind terminal
  echo '"Fix the login button"' | turnpipe check text --kind title
  ls | turnpipe check text --kind terminal --plain -o text"#)]
pub(crate) struct CheckTextArguments {
    /// The use of the text
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: TextKind,
    #[command(flatten)]
    pub(crate) input: CheckInput,
}

impl Run for CheckTextArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let output_form = self.input.form.form(io.terminal);
        let check = Check {
            name: "text",
            output_form,
            form: TextLineForm::Json {
                field: "text",
                context: LineContext::Ignored,
            },
            passed: None,
            examine: &|line| {
                let record = check_text(self.kind, &line.text);
                match output_form {
                    Form::Text => CheckOutput::Text(record.output + "\n"),
                    Form::Jsonl => CheckOutput::Records(vec![record]),
                }
            },
        };
        self.input.check_each(&check, io)
    }
}

fn check_text(kind: TextKind, text: &str) -> CheckTextRecord {
    let cleaned = match kind {
        TextKind::Terminal => Ok(terminal_safe_line(text)),
        TextKind::Label => clean_label(text, CallsEnded::Well),
        TextKind::Title => clean_title(text, TitleStyle::Sentence),
        TextKind::Recap => clean_recap(text),
    };
    CheckTextRecord {
        check: TextCheck::Only,
        kind,
        rejected: cleaned.as_ref().err().copied(),
        output: cleaned.unwrap_or_default(),
    }
}
