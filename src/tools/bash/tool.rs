//! The `Bash` tool, with the exit statuses that are results, not failures, and the commands that print nothing on
//! success.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::assessment::{
    Move, REPORT, Start, arguments, assess, directory_after, final_directory, start_directory,
};
use crate::io::Environment;
use crate::process::{Capture, Command, Ended, Finished, Leftovers, Limits, Stdin};
use crate::shell::{Analysis, Follows, SimpleCommand, analyse, program_name, simple_commands};
use crate::tools::builtin::Parameters;
use crate::tools::child_environment::{keep_git_from_writing, search_path};
use crate::tools::printed::{Printed, Streams, failure_of, joined_lines, milliseconds};
use crate::tools::{
    Assessment, CallContext, CallStatus, Content, ContextChange, DecisionContext, InvalidInput,
    PreparedCall, ResultLimit, ShellTimeouts, ToolFailure, ToolKind, ToolReply,
};

/// Maximum length of an inline result of a successful call, in UTF-16 units.
const INLINE_LIMIT: usize = 30_000;

/// No start-up files, so that a call depends only on its text.
const BASH_OPTIONS: [&str; 3] = ["--noprofile", "--norc", "-c"];

/// Path of bash if it is not in `PATH`.
const FALLBACK_SHELL: &str = "/bin/bash";

/// `dangerouslyDisableSandbox` is accepted for compatibility with Claude Code and has no effect:
/// sandboxing depends on the effects of a call and on configuration, never on the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct Bash {
    /// The command to run
    command: String,
    #[schemars(
        description = "After how many milliseconds the command is ended; more than the \
                              configured maximum counts as the maximum"
    )]
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout: Option<f64>,
    /// What the command does, in five to ten words
    #[serde(rename = "description")]
    _description: Option<String>,
    /// Not supported: leave it out or false
    run_in_background: Option<bool>,
    /// Accepted, without effect
    #[serde(rename = "dangerouslyDisableSandbox")]
    _dangerously_disable_sandbox: Option<bool>,
}

impl Parameters for Bash {
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = "Runs a bash command and returns what it prints. Each call \
        is a shell of its own: the working directory carries over to the next call as long as it \
        stays inside the allowed directories; variables, functions and shell options do not. \
        Standard input is empty and there is no terminal, so commands that ask questions fail at \
        once; pass the options that make them non-interactive. Processes that are still running \
        when the shell ends are ended. Quote paths that contain spaces. Prefer the dedicated \
        tools for reading, searching and editing files.";
    const KIND: ToolKind = ToolKind::Shell;
    const RESULT_LIMIT: ResultLimit = ResultLimit::Characters(INLINE_LIMIT);

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let problem = if self.command.trim().is_empty() {
            "The command is empty"
        } else if self.command.contains('\0') {
            "The command contains a NUL character"
        } else if self.run_in_background == Some(true) {
            "Commands cannot run in the background here: every process of a call is ended with \
             the call. Run the command in the foreground, with a timeout if it may take long; a \
             server and the requests to it can share one call (`server & ...; kill $!`)."
        } else {
            return Ok(Box::new(ShellCall::new(self)));
        };
        Err(InvalidInput(problem.to_owned()))
    }
}

/// A command and its analysis.
struct ShellCall {
    command: String,
    /// The requested timeout, in milliseconds.
    timeout: Option<f64>,
    analysis: Analysis,
}

impl ShellCall {
    fn new(parameters: Bash) -> Self {
        Self {
            analysis: analyse(&parameters.command),
            command: parameters.command,
            timeout: parameters.timeout,
        }
    }

    /// Returns the requested timeout, limited to the larger configured one.
    fn timeout(&self, timeouts: ShellTimeouts) -> Duration {
        let ceiling = timeouts.maximum.max(timeouts.default);
        self.timeout
            .map_or(timeouts.default, |milliseconds| {
                Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(ceiling)
            })
            .min(ceiling)
    }
}

impl PreparedCall for ShellCall {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        assess(&self.command, &self.analysis, context)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let session = call.session;
        let shell = find_shell(&session.environment)
            .ok_or_else(|| ToolFailure("No bash found in PATH or at /bin/bash".to_owned()))?;
        let start = start_directory(session).ok_or_else(|| {
            ToolFailure(format!(
                "Neither {} nor any other allowed directory exists",
                session.directory.display()
            ))
        })?;
        let script = arguments(&self.command)
            .map_err(|error| ToolFailure(format!("The command cannot be run: {error}")))?;
        let timeout = self.timeout(session.shell_timeouts);
        let mut environment = session.child_environment();
        if self.analysis.verdict.is_read_only() {
            let mut variables = environment.to_vec();
            keep_git_from_writing(&mut variables);
            environment = variables.into();
        }
        let mut finished = session
            .spawners
            .run(
                &Command {
                    program: shell.into_os_string(),
                    arguments: [BASH_OPTIONS.map(OsString::from).to_vec(), script].concat(),
                    environment,
                    directory: start.directory.clone(),
                    stdin: Stdin::Null,
                    report: Some(REPORT),
                    capture: Capture::default(),
                    limits: Limits::with_timeout(timeout),
                },
                call.cancel,
            )
            .map_err(|error| ToolFailure(error.to_string()))?;
        let end = final_directory(std::mem::take(&mut finished.report));
        let moved = directory_after(session, &start.directory, end);
        self.reply(finished, timeout, &start, moved)
    }
}

impl ShellCall {
    fn reply(
        &self,
        mut finished: Finished,
        timeout: Duration,
        start: &Start,
        moved: Option<Move>,
    ) -> Result<ToolReply, ToolFailure> {
        let printed = Printed::by(&mut finished)?;
        let left_behind = match finished.leftovers {
            Leftovers::Ended => Some("A process that the command left running was ended"),
            Leftovers::Running => {
                Some("A process that the command left running could not be ended")
            }
            Leftovers::None => None,
        };
        let moved_note = moved.as_ref().and_then(|moved| moved.note.as_deref());
        let notes = [start.note.as_deref(), left_behind, moved_note];
        let notes = joined_lines(notes.into_iter().flatten());

        let mut structured = json!({
            "stdout": printed.stdout(INLINE_LIMIT),
            "stderr": joined_lines([printed.stderr(INLINE_LIMIT).as_str(), &notes]),
            "interrupted": finished.ended == Ended::Cancelled,
            "isImage": false,
            "noOutputExpected": expects_no_output(&self.command),
        });
        let failure = failure_of(&finished, "Command", timeout);
        let is_error = matches!(failure, Some((CallStatus::Error, _)));
        let code = finished.status.shell_code();
        let meaning = interpretation(&self.command, code, printed.has_errors());
        let meaning = meaning.filter(|_| is_error);
        if let Some(meaning) = meaning {
            structured["returnCodeInterpretation"] = meaning.into();
        }
        let (status, content, full) = match failure.filter(|_| meaning.is_none()) {
            None => {
                let shown = printed.success(Streams::Both, INLINE_LIMIT);
                (CallStatus::Ok, shown.content, shown.full)
            }
            Some((status, headline)) => {
                if status == CallStatus::TimedOut {
                    structured["timedOutAfterMs"] = milliseconds(timeout).into();
                }
                (status, printed.failure(&headline), None)
            }
        };
        let failed = matches!(status, CallStatus::Error | CallStatus::TimedOut);
        Ok(ToolReply {
            status,
            content: Content::Text(joined_lines([content.as_str(), &notes])),
            structured,
            changes: moved
                .map(|moved| ContextChange::Directory(moved.to))
                .into_iter()
                .collect(),
            cancels_siblings: failed && !self.analysis.verdict.is_read_only(),
            full,
        })
    }
}

/// Returns `bash` in the search path of children, else its usual path.
fn find_shell(environment: &Environment) -> Option<PathBuf> {
    std::env::split_paths(&search_path(environment))
        .map(|directory| directory.join("bash"))
        .chain([PathBuf::from(FALLBACK_SHELL)])
        .find(|candidate| is_executable_file(candidate))
}

fn is_executable_file(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Commands whose exit status 1 is a result, with its meaning.
const RESULTS: &[(&str, &str)] = &[
    ("grep,egrep,fgrep,rg,git grep", "No matches found"),
    ("find", "Some directories were inaccessible"),
    ("diff,git diff", "Files differ"),
    ("test,[", "Condition is false"),
];

/// Commands that print nothing on success.
const SILENT: &[&str] = &[
    ":", "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir",
    "touch", "true", "unset", "wait",
];

/// Returns the meaning of exit status `code`, if it is a result of a known command and not a
/// failure. `printed_errors`: stderr was not empty.
pub(super) fn interpretation(
    command: &str,
    code: i32,
    printed_errors: bool,
) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    let last = last_command(command)?;
    if last.after_cd && printed_errors {
        return None;
    }
    let mut name = program_of(&last.command).to_owned();
    if name == "git" {
        name = format!("git {}", last.command.operands().first().unwrap_or(&""));
    }
    RESULTS
        .iter()
        .find(|(names, _)| names.split(',').any(|known| known == name))
        .map(|(_, meaning)| *meaning)
}

/// Whether a command line prints nothing on success.
pub(super) fn expects_no_output(command: &str) -> bool {
    let list = simple_commands(command);
    list.certain
        && !list.commands.is_empty()
        && list
            .commands
            .iter()
            .all(|command| SILENT.contains(&program_of(command)))
}

/// Returns the name of the program, which may be a wrapper.
fn program_of(command: &SimpleCommand) -> &str {
    let program = command.words.first();
    program.map_or("", |program| program_name(program))
}

/// The command that determined the exit status.
#[derive(Debug, PartialEq, Eq)]
struct LastCommand {
    /// Never without words.
    command: SimpleCommand,
    /// Whether `cd … &&` precedes it: a failing `cd` also determines the status, but prints an
    /// error.
    after_cd: bool,
}

/// Commands that, before `&&`, cannot be the source of the exit status.
const NEVER_FAIL: &[&str] = &["echo", "printf", "true", ":", "pwd", "export"];

/// Commands that change which command determines the status.
const CHANGE_THE_RULES: &[&str] = &[
    "set", "trap", "exit", "exec", "eval", "return", "source", ".",
];

/// Returns the command that determines the status, if certain.
fn last_command(line: &str) -> Option<LastCommand> {
    let read = simple_commands(line);
    let changes_the_rules = read.commands.iter().any(|command| {
        let first = command.words.first().map(String::as_str);
        first.is_some_and(|word| CHANGE_THE_RULES.contains(&word))
    });
    if !read.certain || changes_the_rules {
        return None;
    }
    let mut after_cd = false;
    let mut commands = read.commands.into_iter().rev();
    let last = commands.next()?;
    let mut follows = last.follows;
    for before in commands {
        match follows {
            Follows::And => match before.words.first().map(String::as_str) {
                Some("cd") => after_cd = true,
                Some(word) if NEVER_FAIL.contains(&word) => {}
                _ => return None,
            },
            Follows::Pipe => {}
            // After `||`, the last command determines the status, unless everything before it
            // succeeded.
            Follows::Or | Follows::Next | Follows::Background => break,
        }
        follows = before.follows;
    }
    (!last.words.is_empty()).then_some(LastCommand {
        command: last,
        after_cd,
    })
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
