//! The `Bash` tool.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::assessment::{CallDirectory, assess, directory_after, start_directory};
use super::exit_code::{interpret_status, is_silent_on_success};
use super::script::{REPORT_DESCRIPTOR, bash_arguments, parse_final_directory};
use crate::io::{Environment, to_millis};
use crate::process::{Capture, Command, Ended, Finished, Leftovers, Limits, Stdin};
use crate::run::tools::builtin::Parameters;
use crate::run::tools::child_environment::{keep_git_from_writing, search_path};
use crate::run::tools::printed::{DisplayedOutput, Streams, describe_failure, join_lines};
use crate::run::tools::{
    Assessment, CallContext, CallStatus, Content, ContextChange, DecisionContext, InvalidInput,
    PreparedCall, ResultLimit, ShellTimeouts, ToolFailure, ToolKind, ToolReply,
};
use crate::shell::{Analysis, analyse};

/// Maximum length of an inline result of a successful call, in UTF-16 units.
const INLINE_LIMIT: usize = 30_000;

/// Options of bash: no start-up files, so that a call depends only on its text.
const BASH_OPTIONS: [&str; 3] = ["--noprofile", "--norc", "-c"];

/// Path of bash if it is not in `PATH`.
const FALLBACK_SHELL: &str = "/bin/bash";

/// `dangerouslyDisableSandbox` is accepted for compatibility with Claude Code and has no effect:
/// sandboxing depends on the effects of a call and on configuration, never on the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Bash {
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
    parameters: Bash,
    analysis: Analysis,
}

impl ShellCall {
    fn new(parameters: Bash) -> Self {
        Self {
            analysis: analyse(&parameters.command),
            parameters,
        }
    }

    /// Returns the requested timeout, limited to the larger configured one.
    fn timeout(&self, timeouts: ShellTimeouts) -> Duration {
        let ceiling = timeouts.maximum.max(timeouts.default);
        let requested = self.parameters.timeout.map(|milliseconds| {
            Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(ceiling)
        });
        requested.unwrap_or(timeouts.default).min(ceiling)
    }
}

impl PreparedCall for ShellCall {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        assess(&self.parameters.command, &self.analysis, context)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let session = call.session;
        let shell = find_shell(&session.environment)
            .ok_or_else(|| ToolFailure("No bash found in PATH or at /bin/bash".to_owned()))?;
        let start = start_directory(session).ok_or_else(|| {
            let gone = session.directory.display();
            ToolFailure(format!(
                "Neither {gone} nor any other allowed directory exists"
            ))
        })?;
        let timeout = self.timeout(session.shell_timeouts);
        let mut environment = session.child_environment();
        if self.analysis.verdict.is_read_only() {
            let mut variables = environment.to_vec();
            keep_git_from_writing(&mut variables);
            environment = variables.into();
        }
        let options = BASH_OPTIONS.map(OsString::from).into_iter();
        let arguments = options.chain(bash_arguments(&self.parameters.command));
        let command = Command {
            program: shell.into_os_string(),
            arguments: arguments.collect(),
            environment,
            directory: start.path.clone(),
            stdin: Stdin::Null,
            report: Some(REPORT_DESCRIPTOR),
            capture: Capture::default(),
            limits: Limits::with_timeout(timeout),
        };
        let result = session.spawners.run(&command, call.cancel);
        let mut finished = result.map_err(|error| ToolFailure(error.to_string()))?;
        let end = parse_final_directory(std::mem::take(&mut finished.report));
        let moved = directory_after(session, &start.path, end);
        self.build_reply(finished, timeout, &start, moved)
    }
}

impl ShellCall {
    /// Builds the reply of a command that has ended.
    fn build_reply(
        &self,
        mut finished: Finished,
        timeout: Duration,
        start: &CallDirectory,
        moved: Option<CallDirectory>,
    ) -> Result<ToolReply, ToolFailure> {
        let printed = DisplayedOutput::take(&mut finished)?;
        let left_behind = match finished.leftovers {
            Leftovers::Ended => Some("A process that the command left running was ended"),
            Leftovers::Running => {
                Some("A process that the command left running could not be ended")
            }
            Leftovers::None => None,
        };
        let moved_note = moved.as_ref().and_then(|moved| moved.note.as_deref());
        let all_notes = [start.note.as_deref(), left_behind, moved_note];
        let notes = join_lines(all_notes.into_iter().flatten());

        let mut structured = json!({
            "stdout": printed.stdout(INLINE_LIMIT),
            "stderr": join_lines([printed.stderr(INLINE_LIMIT).as_str(), &notes]),
            "interrupted": finished.ended == Ended::Cancelled,
            "isImage": false,
            "noOutputExpected": is_silent_on_success(&self.analysis.line),
        });
        let failure = describe_failure(&finished, "Command", timeout);
        let is_error = matches!(failure, Some((CallStatus::Error, _)));
        let code = finished.status.shell_code();
        let known = interpret_status(&self.analysis.line, code, printed.has_errors());
        let meaning = known.filter(|_| is_error);
        if let Some(meaning) = meaning {
            structured["returnCodeInterpretation"] = meaning.into();
        }
        let (status, content, full) = match failure.filter(|_| meaning.is_none()) {
            None => {
                let shown = printed.format_success(Streams::Both, INLINE_LIMIT);
                (CallStatus::Ok, shown.content, shown.full)
            }
            Some((status, headline)) => {
                if status == CallStatus::TimedOut {
                    structured["timedOutAfterMs"] = to_millis(timeout).into();
                }
                (status, printed.format_failure(&headline), None)
            }
        };
        let failed = matches!(status, CallStatus::Error | CallStatus::TimedOut);
        Ok(ToolReply {
            status,
            content: Content::Text(join_lines([content.as_str(), &notes])),
            structured,
            changes: Vec::from_iter(moved.map(|moved| ContextChange::Directory(moved.path))),
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

/// Whether a path is a file with an execute permission.
fn is_executable_file(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
