//! The `Bash` tool: from its input to its reply.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::assessment::assess;
use super::directory::{self, Move, Start};
use super::exit_code::{expects_no_output, interpretation};
use super::script::Script;
use crate::io::Environment;
use crate::process::{Capture, Command, Ended, Finished, Leftovers, Limits, Stdin};
use crate::shell::analyse;
use crate::tools::child_environment::{child_environment, keep_git_from_writing};
use crate::tools::printed::{Printed, Streams, joined_lines};
use crate::tools::{
    Access, AccessError, Assessment, CallContext, CallStatus, Content, ContextChange, Input,
    InterruptBehavior, InvalidInput, ResultLimit, ShellTimeouts, Tool, ToolContext, ToolFailure,
    ToolKind, ToolReply,
};

/// The most of a successful call that stays inline, in UTF-16 units.
const INLINE_LIMIT: usize = 30_000;

/// Where bash is when it is not in `PATH`.
const FALLBACK_SHELL: &str = "/bin/bash";

const DESCRIPTION: &str = "Runs a bash command and returns what it prints. \
Each call is a shell of its own: the working directory carries over to the next call as long as \
it stays inside the allowed directories; variables, functions and shell options do not. \
Standard input is empty and there is no terminal, so commands that ask questions fail at once; \
pass the options that make them non-interactive. \
Processes that are still running when the shell ends are ended. \
Quote paths that contain spaces. Prefer the dedicated tools for reading, searching and editing \
files.";

/// Runs a command line in a shell.
///
/// `dangerouslyDisableSandbox` is part of the schema, so that calls made for Claude Code run, and
/// has no effect: whether a call is sandboxed is decided by what it touches and by configuration,
/// never by the model.
#[derive(Debug)]
pub struct Bash {
    schema: Value,
}

impl Default for Bash {
    fn default() -> Self {
        Self::new()
    }
}

impl Bash {
    /// The tool.
    pub fn new() -> Self {
        Self {
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {
                        "type": "string",
                        "description": "The command to run"
                    },
                    "timeout": {
                        "type": "number",
                        "description": "After how many milliseconds the command is ended; more \
                                        than the configured maximum counts as the maximum",
                        "exclusiveMinimum": 0
                    },
                    "description": {
                        "type": "string",
                        "description": "What the command does, in five to ten words"
                    },
                    "run_in_background": {
                        "type": "boolean",
                        "description": "Not supported: leave it out or false"
                    },
                    "dangerouslyDisableSandbox": {
                        "type": "boolean",
                        "description": "Accepted, without effect"
                    }
                },
                "required": ["command"],
                "additionalProperties": false
            }),
        }
    }
}

impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError> {
        Ok(assess(command_of(input), context).access)
    }

    fn assess(&self, input: &Input, context: &ToolContext) -> Result<Assessment, AccessError> {
        Ok(assess(command_of(input), context))
    }

    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Cancel
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Shell
    }

    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Characters(INLINE_LIMIT)
    }

    fn validate(&self, input: &Input, _context: &ToolContext) -> Result<(), InvalidInput> {
        let command = command_of(input);
        if command.trim().is_empty() {
            return Err(InvalidInput("The command is empty".to_owned()));
        }
        if command.contains('\0') {
            return Err(InvalidInput(
                "The command contains a NUL character".to_owned(),
            ));
        }
        if input.get("run_in_background") == Some(&Value::Bool(true)) {
            return Err(InvalidInput(
                "Commands cannot run in the background here: every process of a call is ended \
                 with the call. Run the command in the foreground, with a timeout if it may take \
                 long; a server and the requests to it can share one call \
                 (`server & ...; kill $!`)."
                    .to_owned(),
            ));
        }
        Ok(())
    }

    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let session = call.session;
        let command = command_of(input);
        let shell = find_shell(&session.environment)
            .ok_or_else(|| ToolFailure("No bash found in PATH or at /bin/bash".to_owned()))?;
        let start = directory::start(session).ok_or_else(|| {
            ToolFailure(format!(
                "Neither {} nor any other allowed directory exists",
                session.directory.display()
            ))
        })?;
        let script = Script::new(command, &session.scratch_directory)
            .map_err(|error| ToolFailure(format!("The command cannot be run: {error}")))?;
        let timeout = timeout_of(input, session.shell_timeouts);
        let effect = if analyse(command).verdict.is_read_only() {
            Effect::Reads
        } else {
            Effect::MayWrite
        };
        let mut environment = child_environment(session);
        if effect == Effect::Reads {
            let mut variables = environment.to_vec();
            keep_git_from_writing(&mut variables);
            environment = variables.into();
        }
        let finished = session
            .spawners
            .run(
                &Command {
                    program: shell.into_os_string(),
                    arguments: [
                        OsString::from("--noprofile"),
                        OsString::from("--norc"),
                        OsString::from("-c"),
                        script.text().clone(),
                    ]
                    .into(),
                    environment,
                    directory: start.directory.clone(),
                    stdin: Stdin::Null,
                    capture: Capture::default(),
                    limits: Limits::with_timeout(timeout),
                },
                call.cancel,
            )
            .map_err(|error| ToolFailure(error.to_string()))?;
        let moved = directory::after(session, &start.directory, script.final_directory());
        reply(command, effect, finished, timeout, &start, moved)
    }
}

/// What the text of a command says that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It only reads.
    Reads,
    /// Anything else.
    MayWrite,
}

/// How a shell call went, for the model.
enum Verdict {
    Success(Option<&'static str>),
    Failure {
        status: CallStatus,
        headline: String,
    },
}

fn verdict(command: &str, finished: &Finished, printed: &Printed, timeout: Duration) -> Verdict {
    match finished.ended {
        Ended::TimedOut => Verdict::Failure {
            status: CallStatus::TimedOut,
            headline: format!("Command timed out after {}s", timeout.as_secs_f64()),
        },
        Ended::Cancelled => Verdict::Failure {
            status: CallStatus::Cancelled,
            headline: "Command was interrupted before it finished".to_owned(),
        },
        Ended::Exited => {
            let code = finished.status.shell_code();
            let answer = interpretation(command, code, printed.has_errors());
            if code == 0 || answer.is_some() {
                Verdict::Success(answer)
            } else {
                Verdict::Failure {
                    status: CallStatus::Error,
                    headline: format!("Exit code {code}"),
                }
            }
        }
    }
}

fn reply(
    command: &str,
    effect: Effect,
    mut finished: Finished,
    timeout: Duration,
    start: &Start,
    moved: Option<Move>,
) -> Result<ToolReply, ToolFailure> {
    let printed = Printed::from_streams(
        std::mem::take(&mut finished.stdout),
        std::mem::take(&mut finished.stderr),
    )
    .map_err(|error| ToolFailure(format!("The output was lost: {error}")))?;
    let left_behind = match finished.leftovers {
        Leftovers::Ended => Some("A process that the command left running was ended"),
        Leftovers::Running => Some("A process that the command left running could not be ended"),
        Leftovers::None => None,
    };
    let moved_note = moved.as_ref().and_then(|moved| moved.note.as_deref());
    let notes = joined_lines(
        [start.note.as_deref(), left_behind, moved_note]
            .into_iter()
            .flatten(),
    );

    let mut structured = json!({
        "stdout": printed.stdout(INLINE_LIMIT),
        "stderr": joined_lines([printed.stderr(INLINE_LIMIT).as_str(), &notes]),
        "interrupted": finished.ended == Ended::Cancelled,
        "isImage": false,
        "noOutputExpected": expects_no_output(command),
    });
    let (status, content, full) = match verdict(command, &finished, &printed, timeout) {
        Verdict::Success(answer) => {
            if let Some(answer) = answer {
                structured["returnCodeInterpretation"] = answer.into();
            }
            let shown = printed.success(Streams::Both, INLINE_LIMIT);
            (CallStatus::Ok, shown.content, shown.full)
        }
        Verdict::Failure { status, headline } => {
            if status == CallStatus::TimedOut {
                structured["timedOutAfterMs"] = milliseconds(timeout).into();
            }
            (status, printed.failure(&headline), None)
        }
    };
    Ok(ToolReply {
        status,
        content: Content::Text(joined_lines([content.as_str(), &notes])),
        structured,
        changes: moved
            .map(|moved| ContextChange::Directory(moved.to))
            .into_iter()
            .collect(),
        cancels_siblings: effect == Effect::MayWrite
            && matches!(status, CallStatus::Error | CallStatus::TimedOut),
        full,
    })
}

fn command_of(input: &Input) -> &str {
    input
        .get("command")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The timeout that was asked for, at most the larger one of the configured ones.
fn timeout_of(input: &Input, timeouts: ShellTimeouts) -> Duration {
    let ceiling = timeouts.maximum.max(timeouts.default);
    input
        .get("timeout")
        .and_then(Value::as_f64)
        .map_or(timeouts.default, |asked| {
            Duration::try_from_secs_f64(asked / 1000.0).unwrap_or(ceiling)
        })
        .min(ceiling)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `bash` in an absolute directory of `PATH` (a relative one would let the working directory
/// choose the shell), else at its usual place.
fn find_shell(environment: &Environment) -> Option<PathBuf> {
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("bash"))
        .chain([PathBuf::from(FALLBACK_SHELL)])
        .find(|candidate| is_executable_file(candidate))
}

fn is_executable_file(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
