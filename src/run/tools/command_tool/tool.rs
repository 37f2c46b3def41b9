//! Tools of manifests: one program per call, without a shell.
//!
//! An argument from a bare `{field}` is passed unchanged, even if it starts with `-`. To prevent it from being
//! mistaken for an option, a manifest can put `--` before it or use `--option={field}`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::template::{Template, input_value};
use crate::io::to_millis;
use crate::permission::Action;
use crate::process::{Capture, Command, Ended, Finished, Limits, Stdin, Variables};
use crate::run::tools::access::resolve_links;
use crate::run::tools::printed::{DisplayedOutput, MAX_LIMIT, Streams, describe_failure};
use crate::run::tools::{
    Access, Assessment, CallContext, CallStatus, DecisionContext, Input, InterruptBehavior,
    InvalidInput, PathSet, PreparedCall, ResultLimit, Tool, ToolContext, ToolFailure, ToolReply,
};

/// Default size of inline output, in UTF-16 units.
const DEFAULT_INLINE_LIMIT: usize = MAX_LIMIT;

/// The validated declaration of a tool.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Value,
    /// A name that is looked up in `PATH`, or an absolute path.
    pub(super) program: OsString,
    pub(super) arguments: Vec<Template>,
    pub(super) stdin: ToolInput,
    pub(super) access: AccessRule,
    pub(super) interrupt: InterruptBehavior,
    /// By default the timeout of shell calls.
    pub(super) timeout: Option<Duration>,
    pub(super) result_limit: ResultLimit,
    pub(super) deferred: bool,
    /// Added to the environment of the session.
    pub(super) environment: BTreeMap<String, String>,
}

/// The standard input of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum ToolInput {
    /// Empty.
    #[default]
    #[serde(rename = "none")]
    Nothing,
    /// The input object as one line of JSON.
    #[serde(rename = "json")]
    JsonLine,
}

/// The declared access of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AccessRule {
    /// May change everything.
    World,
    /// Reads everything, writes nothing.
    ReadOnly,
    /// Reads and writes the paths of these templates, relative to the working directory. With a missing field,
    /// the call may change everything. A bare field with a list names every path in it.
    Paths {
        reads: Vec<Template>,
        writes: Vec<Template>,
    },
}

/// A tool declared in a manifest.
#[derive(Debug)]
pub struct CommandTool {
    declaration: Arc<Declaration>,
}

impl CommandTool {
    pub(super) fn new(declaration: Declaration) -> Self {
        Self {
            declaration: Arc::new(declaration),
        }
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

    fn interrupt(&self) -> InterruptBehavior {
        self.declaration.interrupt
    }

    fn result_limit(&self) -> ResultLimit {
        self.declaration.result_limit
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let templates = self.declaration.arguments.iter();
        let arguments: Vec<String> = templates
            .filter_map(|argument| argument.expand(input))
            .collect();
        if arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(InvalidInput(
                "A parameter contains a NUL character, which cannot be passed to a program"
                    .to_owned(),
            ));
        }
        Ok(Box::new(CommandCall {
            declaration: Arc::clone(&self.declaration),
            arguments,
            input: input.clone(),
        }))
    }
}

/// A run of the program.
struct CommandCall {
    declaration: Arc<Declaration>,
    arguments: Vec<String>,
    input: Input,
}

impl PreparedCall for CommandCall {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        let access = match &self.declaration.access {
            AccessRule::World => Ok(Access::everything()),
            AccessRule::ReadOnly => Ok(Access::reads_everything()),
            AccessRule::Paths { reads, writes } => self.resolve_access(reads, writes, context),
        };
        let action = match &access {
            Ok(access) if access.is_read_only() => match &access.reads {
                PathSet::Paths(paths) => Action::Files {
                    reads: paths.clone(),
                    writes: Vec::new(),
                },
                PathSet::Nothing | PathSet::Session | PathSet::Everything => Action::Harmless,
            },
            _ => Action::Anything,
        };
        Assessment::of(&self.declaration.name, access, action)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let session = call.session;
        let timeout = self
            .declaration
            .timeout
            .unwrap_or(session.shell_timeouts.default);
        let command = Command {
            program: self.declaration.program.clone(),
            arguments: self.arguments.iter().map(OsString::from).collect(),
            environment: self.environment(session),
            directory: session.directory.clone(),
            stdin: match self.declaration.stdin {
                ToolInput::Nothing => Stdin::Null,
                ToolInput::JsonLine => {
                    Stdin::Bytes(format!("{}\n", Value::Object(self.input.clone())).into_bytes())
                }
            },
            report: None,
            capture: Capture::default(),
            limits: Limits::with_timeout(timeout),
        };
        let finished = session
            .spawners
            .run(&command, call.cancel)
            .map_err(|error| ToolFailure(error.to_string()))?;
        self.build_reply(finished, timeout)
    }
}

impl CommandCall {
    fn resolve_access(
        &self,
        reads: &[Template],
        writes: &[Template],
        context: &DecisionContext,
    ) -> Result<Access, String> {
        Ok(Access {
            reads: resolve_paths(reads, &self.input, &context.directory)?,
            writes: resolve_paths(writes, &self.input, &context.directory)?,
        })
    }

    fn environment(&self, session: &ToolContext) -> Variables {
        let variables = session.child_environment();
        if self.declaration.environment.is_empty() {
            return variables;
        }
        let declared = self.declaration.environment.iter();
        let mut all: BTreeMap<OsString, OsString> = variables.iter().cloned().collect();
        all.extend(declared.map(|(name, value)| (name.into(), value.into())));
        all.into_iter().collect()
    }

    fn build_reply(
        &self,
        mut finished: Finished,
        timeout: Duration,
    ) -> Result<ToolReply, ToolFailure> {
        let output = DisplayedOutput::take(&mut finished)?;
        let limit = inline_limit(self.declaration.result_limit);
        let mut structured = json!({
            "stdout": output.stdout(limit),
            "stderr": output.stderr(limit),
            "exitCode": finished.status.shell_code(),
            "interrupted": finished.ended == Ended::Cancelled,
        });
        let Some((status, headline)) = describe_failure(&finished, &self.declaration.name, timeout)
        else {
            let inline = output.format_success(Streams::Stdout, limit);
            return Ok(ToolReply {
                full: inline.full,
                ..ToolReply::text(inline.content, structured)
            });
        };
        if status == CallStatus::TimedOut {
            structured["timedOutAfterMs"] = to_millis(timeout).into();
        }
        let text = output.format_failure(&headline);
        Ok(ToolReply::with_status(status, text, structured))
    }
}

/// Returns the size of inline output, in UTF-16 units.
fn inline_limit(limit: ResultLimit) -> usize {
    match limit {
        ResultLimit::Characters(characters) | ResultLimit::Raised(characters) => {
            characters.min(DEFAULT_INLINE_LIMIT)
        }
        ResultLimit::Default | ResultLimit::Unlimited => DEFAULT_INLINE_LIMIT,
    }
}

fn resolve_paths(
    templates: &[Template],
    input: &Input,
    directory: &Path,
) -> Result<PathSet, String> {
    let mut paths = Vec::new();
    for template in templates {
        if let Some(missing) = template
            .fields()
            .find(|name| input_value(input, name).is_none())
        {
            return Err(format!("`{missing}` is missing"));
        }
        let list = template
            .as_field()
            .and_then(|name| input_value(input, name))
            .and_then(Value::as_array);
        match list {
            Some(list) => {
                for path in list {
                    let path = path
                        .as_str()
                        .ok_or_else(|| format!("{path} is not a path"))?;
                    paths.push(resolve_directory(directory, path)?);
                }
            }
            None => {
                if let Some(path) = template.expand(input) {
                    paths.push(resolve_directory(directory, &path)?);
                }
            }
        }
    }
    if paths.is_empty() {
        return Ok(PathSet::Nothing);
    }
    Ok(PathSet::Paths(paths))
}

/// Returns the canonical path of a path in the input.
fn resolve_directory(directory: &Path, path: &str) -> Result<PathBuf, String> {
    resolve_links(&directory.join(path)).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
