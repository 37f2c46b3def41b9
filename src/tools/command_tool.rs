//! Tools that a user declared: one program run per call, without a shell.
//!
//! An argument that the model supplies through a bare `{field}` reaches the program as it is, also
//! when it begins with `-`. A manifest that does not want it taken for an option puts `--` before
//! it, or writes `--option={field}`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::child_environment::child_environment;
use super::printed::{LARGEST_LIMIT, Printed, Streams};
use super::template::{Template, value_of};
use super::{
    Access, AccessError, CallContext, CallStatus, Content, Input, InterruptBehavior, InvalidInput,
    ResultLimit, Tool, ToolContext, ToolFailure, ToolReply, Touch,
};
use crate::process::{Capture, Command, Ended, Finished, Limits, Stdin, Variables};

/// What stays inline of a tool that says nothing about it, in UTF-16 units.
const DEFAULT_INLINE_LIMIT: usize = LARGEST_LIMIT;

/// Everything a manifest says about a tool, checked.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Value,
    /// A name for `PATH`, or an absolute path.
    pub(super) program: OsString,
    pub(super) arguments: Vec<Template>,
    pub(super) stdin: ToolInput,
    pub(super) access: AccessRule,
    pub(super) interrupt: InterruptBehavior,
    /// `None`: that of shell calls.
    pub(super) timeout: Option<Duration>,
    pub(super) result_limit: ResultLimit,
    pub(super) deferred: bool,
    /// Added to the environment of the session.
    pub(super) environment: BTreeMap<String, String>,
}

/// What the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolInput {
    /// An empty standard input.
    Nothing,
    /// The input object as one line of JSON.
    JsonLine,
}

/// What a call touches, before the input is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AccessRule {
    /// Anything.
    World,
    /// Reads anything, writes nothing.
    ReadOnly,
    /// Reads and writes the places that these templates name; relative ones are taken from the
    /// working directory. A field that is missing makes the call count as touching anything; a
    /// bare field that holds a list names every path in it.
    Paths {
        reads: Vec<Template>,
        writes: Vec<Template>,
    },
}

/// A tool declared in a manifest.
#[derive(Debug)]
pub struct CommandTool {
    declaration: Declaration,
}

impl CommandTool {
    pub(super) fn new(declaration: Declaration) -> Self {
        Self { declaration }
    }

    fn arguments(&self, input: &Input) -> Vec<String> {
        self.declaration
            .arguments
            .iter()
            .filter_map(|argument| argument.expand(input))
            .collect()
    }

    fn inline_limit(&self) -> usize {
        match self.declaration.result_limit {
            ResultLimit::Characters(characters) => characters.min(DEFAULT_INLINE_LIMIT),
            ResultLimit::Default | ResultLimit::Unlimited => DEFAULT_INLINE_LIMIT,
        }
    }

    fn command(&self, input: &Input, session: &ToolContext) -> Command {
        Command {
            program: self.declaration.program.clone(),
            arguments: self
                .arguments(input)
                .into_iter()
                .map(OsString::from)
                .collect(),
            environment: self.environment(session),
            directory: session.directory.clone(),
            stdin: match self.declaration.stdin {
                ToolInput::Nothing => Stdin::Null,
                ToolInput::JsonLine => {
                    Stdin::Bytes(format!("{}\n", Value::Object(input.clone())).into_bytes())
                }
            },
            capture: Capture::default(),
            limits: Limits::with_timeout(self.timeout(session)),
        }
    }

    fn environment(&self, session: &ToolContext) -> Variables {
        let variables = child_environment(session);
        if self.declaration.environment.is_empty() {
            return variables;
        }
        let declared = self.declaration.environment.iter();
        let mut all: BTreeMap<OsString, OsString> = variables.iter().cloned().collect();
        all.extend(declared.map(|(name, value)| (name.into(), value.into())));
        all.into_iter().collect()
    }

    fn timeout(&self, session: &ToolContext) -> Duration {
        self.declaration
            .timeout
            .unwrap_or(session.shell_timeouts.default)
    }

    fn reply(&self, mut finished: Finished, timeout: Duration) -> Result<ToolReply, ToolFailure> {
        let printed = Printed::from_streams(
            std::mem::take(&mut finished.stdout),
            std::mem::take(&mut finished.stderr),
        )
        .map_err(|error| ToolFailure(format!("The output was lost: {error}")))?;
        let code = finished.status.shell_code();
        let limit = self.inline_limit();
        let mut structured = json!({
            "stdout": printed.stdout(limit),
            "stderr": printed.stderr(limit),
            "exitCode": code,
            "interrupted": finished.ended == Ended::Cancelled,
        });
        let (status, headline) = match finished.ended {
            Ended::Exited if code == 0 => {
                let shown = printed.success(Streams::Stdout, limit);
                let mut reply = ToolReply::text(shown.content, structured);
                reply.full = shown.full;
                return Ok(reply);
            }
            Ended::Exited => (CallStatus::Error, format!("Exit code {code}")),
            Ended::TimedOut => {
                structured["timedOutAfterMs"] = u64::try_from(timeout.as_millis())
                    .unwrap_or(u64::MAX)
                    .into();
                (
                    CallStatus::TimedOut,
                    format!("{} timed out after {}s", self.name(), timeout.as_secs_f64()),
                )
            }
            Ended::Cancelled => (
                CallStatus::Cancelled,
                format!("{} was interrupted before it finished", self.name()),
            ),
        };
        Ok(ToolReply {
            status,
            content: Content::Text(printed.failure(&headline)),
            ..ToolReply::text("", structured)
        })
    }
}

impl Tool for CommandTool {
    fn name(&self) -> &str {
        &self.declaration.name
    }

    fn description(&self) -> &str {
        &self.declaration.description
    }

    fn input_schema(&self) -> &Value {
        &self.declaration.schema
    }

    fn is_deferred(&self) -> bool {
        self.declaration.deferred
    }

    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError> {
        match &self.declaration.access {
            AccessRule::World => Ok(Access::world()),
            AccessRule::ReadOnly => Ok(Access::reads_world()),
            AccessRule::Paths { reads, writes } => Ok(Access {
                reads: places(reads, input, &context.directory)?,
                writes: places(writes, input, &context.directory)?,
            }),
        }
    }

    fn interrupt(&self) -> InterruptBehavior {
        self.declaration.interrupt
    }

    fn result_limit(&self) -> ResultLimit {
        self.declaration.result_limit
    }

    fn validate(&self, input: &Input, _context: &ToolContext) -> Result<(), InvalidInput> {
        if self
            .arguments(input)
            .iter()
            .any(|argument| argument.contains('\0'))
        {
            return Err(InvalidInput(
                "A parameter contains a NUL character, which no program can be given".to_owned(),
            ));
        }
        Ok(())
    }

    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let session = call.session;
        let finished = session
            .spawners
            .run(&self.command(input, session), call.cancel)
            .map_err(|error| ToolFailure(error.to_string()))?;
        self.reply(finished, self.timeout(session))
    }
}

fn places(templates: &[Template], input: &Input, directory: &Path) -> Result<Touch, AccessError> {
    let mut paths = Vec::new();
    for template in templates {
        if let Some(missing) = template
            .fields()
            .find(|name| value_of(input, name).is_none())
        {
            return Err(AccessError(format!("`{missing}` is not given")));
        }
        let list = template
            .as_field()
            .and_then(|name| value_of(input, name))
            .and_then(Value::as_array);
        match list {
            Some(list) => {
                for path in list {
                    let path = path
                        .as_str()
                        .ok_or_else(|| AccessError(format!("{path} is no path")))?;
                    paths.push(place(directory, path));
                }
            }
            None => paths.extend(template.expand(input).map(|path| place(directory, &path))),
        }
    }
    if paths.is_empty() {
        return Ok(Touch::Nothing);
    }
    Ok(Touch::Paths(paths))
}

/// The absolute path that a call names. Links in the part that exists are followed, so that two
/// names of one place are seen to be the same; `.` and `..` of the rest are worked out lexically.
fn place(directory: &Path, path: &str) -> PathBuf {
    let path = lexical(&directory.join(path));
    path.ancestors()
        .find_map(|ancestor| {
            let physical = ancestor.canonicalize().ok()?;
            let rest = path.strip_prefix(ancestor).ok()?;
            // Joining nothing would add a slash.
            Some(physical.components().chain(rest.components()).collect())
        })
        .unwrap_or(path)
}

fn lexical(path: &Path) -> PathBuf {
    let mut lexical = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                lexical.pop();
            }
            other => lexical.push(other),
        }
    }
    lexical
}

#[cfg(test)]
#[path = "command_tool_tests.rs"]
mod tests;
