//! Manifests: files that declare command tools.
//!
//! ```toml
//! [[tool]]
//! name = "Outline"
//! description = "Lists the functions of a source file"
//! command = ["./outline.py", "--", "{path}"]
//! input_schema = { type = "object", properties = { path = { type = "string" } }, required = ["path"] }
//! access = { reads = ["{path}"] }
//! ```
//!
//! JSON has the same structure: `{"tool": [{"name": …}]}`. All values are checked when the file is read, so that
//! mistakes are reported before anything runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::template::Template;
use super::tool::{AccessRule, CommandTool, Declaration, ToolInput};
use crate::run::tools::check_input_schema;
use crate::run::tools::{InterruptBehavior, NameClash, Registry, ResultLimit, Tool};

/// Maximum length of a name that all model APIs accept, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// A tool of a manifest, with its aliases.
pub struct DeclaredTool {
    pub tool: CommandTool,
    pub aliases: Vec<String>,
}

/// An error in a manifest; none of its tools are used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct ManifestError {
    pub file: PathBuf,
    pub problem: ManifestProblem,
}

#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// The file name does not end with `.toml` or `.json`.
    #[error("not a .toml or .json file")]
    UnknownFormat,
    /// The file is not TOML or JSON, or not a manifest. The reason, on one line.
    #[error("{0}")]
    Malformed(String),
    /// A key of a tool is missing, unknown or invalid.
    #[error("tool {tool}: {key}: {reason}")]
    Tool {
        /// The tool's name, or its position (`#2`).
        tool: String,
        key: String,
        reason: String,
    },
    /// Another tool has the same name.
    #[error(transparent)]
    Clash(#[from] NameClash),
}

/// Reads a manifest. Relative program paths with a slash are relative to its directory.
///
/// # Errors
/// The manifest is invalid.
pub fn load_manifest(file: &Path) -> Result<Vec<DeclaredTool>, ManifestError> {
    fs::read_to_string(file)
        .map_err(ManifestProblem::from)
        .and_then(|text| parse_manifest(file, &text))
        .map_err(|problem| ManifestError {
            file: file.to_owned(),
            problem,
        })
}

fn parse_manifest(file: &Path, text: &str) -> Result<Vec<DeclaredTool>, ManifestProblem> {
    let malformed = |reason: String| {
        let lines: Vec<&str> = reason.lines().map(str::trim).collect();
        ManifestProblem::Malformed(lines.join(" "))
    };
    let extension = file.extension().and_then(|extension| extension.to_str());
    let document: Document = match extension {
        Some("toml") => toml::from_str(text).map_err(|error| malformed(error.to_string()))?,
        Some("json") => serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?,
        _ => return Err(ManifestProblem::UnknownFormat),
    };
    // Absolute, because the tools run in other directories.
    let directory = std::path::absolute(file)
        .ok()
        .and_then(|file| file.parent().map(Path::to_owned))
        .unwrap_or_default();
    let tools = document.tool.into_iter().enumerate();
    tools
        .map(|(index, table)| {
            let label = match table.get("name") {
                Some(Value::String(name)) => name.clone(),
                _ => format!("#{}", index + 1),
            };
            parse_tool(&table, &directory).map_err(|problem| ManifestProblem::Tool {
                tool: label,
                key: problem.key,
                reason: problem.reason,
            })
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    tool: Vec<Map<String, Value>>,
}

/// The keys of a tool.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Keys {
    name: Option<String>,
    description: Option<String>,
    command: Option<Vec<String>>,
    input_schema: Option<Value>,
    stdin: ToolInput,
    access: Option<AccessValue>,
    interrupt: Option<InterruptBehavior>,
    timeout_ms: Option<NonZeroU64>,
    max_result_chars: Option<NonZeroUsize>,
    aliases: Vec<String>,
    deferred: bool,
    environment: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be \"read-only\", \"world\" or { reads = [..], writes = [..] }"
)]
enum AccessValue {
    Word(AccessWord),
    Paths(AccessPaths),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AccessWord {
    World,
    ReadOnly,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessPaths {
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
}

/// A problem with a key.
struct KeyProblem {
    key: String,
    reason: String,
}

impl KeyProblem {
    fn new(key: &str, reason: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            reason: reason.into(),
        }
    }
}

/// Parses the keys of a tool. Serde does not report which key it rejects, so each is tried separately.
fn parse_keys(table: &Map<String, Value>) -> Result<Keys, KeyProblem> {
    Keys::deserialize(table).map_err(|error| {
        let culprit = table.iter().find_map(|(key, value)| {
            let single = Map::from_iter([(key.clone(), value.clone())]);
            let error = Keys::deserialize(single).err()?;
            Some(KeyProblem::new(key, error.to_string()))
        });
        culprit.unwrap_or_else(|| KeyProblem::new("tool", error.to_string()))
    })
}

fn parse_tool(table: &Map<String, Value>, directory: &Path) -> Result<DeclaredTool, KeyProblem> {
    let keys = parse_keys(table)?;
    let missing = |key| KeyProblem::new(key, "is missing");
    let name = keys.name.ok_or_else(|| missing("name"))?;
    check_name("name", &name)?;
    let description = keys.description.ok_or_else(|| missing("description"))?;
    if description.trim().is_empty() {
        return Err(KeyProblem::new("description", "is empty"));
    }
    let schema = parse_input_schema(keys.input_schema)?;
    let command = keys.command.ok_or_else(|| missing("command"))?;
    let (program, arguments) = parse_command(&command, directory, &schema)?;
    for alias in &keys.aliases {
        check_name("aliases", alias)?;
    }
    let is_variable_name = |name: &&String| !name.is_empty() && !name.contains(['=', '\0']);
    if let Some(variable) = keys.environment.keys().find(|name| !is_variable_name(name)) {
        let reason = format!("\"{variable}\" is not the name of a variable");
        return Err(KeyProblem::new("environment", reason));
    }
    let access = parse_access(keys.access, &schema)?;
    Ok(DeclaredTool {
        tool: CommandTool::new(Declaration {
            name,
            description,
            schema,
            program,
            arguments,
            stdin: keys.stdin,
            access,
            interrupt: keys.interrupt.unwrap_or(InterruptBehavior::Cancel),
            timeout: keys.timeout_ms.map(|ms| Duration::from_millis(ms.get())),
            result_limit: keys
                .max_result_chars
                .map_or(ResultLimit::Default, |characters| {
                    ResultLimit::Characters(characters.get())
                }),
            deferred: keys.deferred,
            environment: keys.environment,
        }),
        aliases: keys.aliases,
    })
}

fn check_name(key: &str, name: &str) -> Result<(), KeyProblem> {
    let is_accepted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.bytes().all(is_accepted) {
        return Ok(());
    }
    Err(KeyProblem::new(
        key,
        format!("\"{name}\" is not 1 to {MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _ -"),
    ))
}

/// Returns the input schema. A tool without a schema has no parameters.
fn parse_input_schema(schema: Option<Value>) -> Result<Value, KeyProblem> {
    const KEY: &str = "input_schema";
    let Some(schema) = schema else {
        return Ok(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    };
    check_input_schema(&schema).map_err(|reason| KeyProblem::new(KEY, reason))?;
    Ok(schema)
}

/// Returns the program, which never depends on the input, and the templates of its arguments.
fn parse_command(
    words: &[String],
    directory: &Path,
    schema: &Value,
) -> Result<(OsString, Vec<Template>), KeyProblem> {
    const KEY: &str = "command";
    let unnamed = || KeyProblem::new(KEY, "must name a program");
    let mut templates = words.iter().map(|word| parse_template(KEY, word, schema));
    let first = templates.next().ok_or_else(unnamed)??;
    let name = first
        .as_literal()
        .ok_or_else(|| KeyProblem::new(KEY, "the program must not depend on the input"))?;
    if name.is_empty() || name.contains('\0') {
        return Err(unnamed());
    }
    let program = if name.contains('/') {
        directory.join(name).into_os_string()
    } else {
        name.into()
    };
    Ok((program, templates.collect::<Result<_, _>>()?))
}

fn parse_template(key: &str, text: &str, schema: &Value) -> Result<Template, KeyProblem> {
    let to_problem = |reason: String| KeyProblem::new(key, format!("\"{text}\": {reason}"));
    let template = Template::parse(text).map_err(|error| to_problem(error.to_string()))?;
    let properties = schema.get("properties");
    let unknown = template
        .fields()
        .find(|name| properties.and_then(|known| known.get(*name)).is_none());
    match unknown {
        Some(name) => Err(to_problem(format!(
            "`{name}` is not among the properties of input_schema"
        ))),
        None => Ok(template),
    }
}

fn parse_access(access: Option<AccessValue>, schema: &Value) -> Result<AccessRule, KeyProblem> {
    let parse_paths = |paths: Vec<String>| -> Result<Vec<Template>, KeyProblem> {
        paths
            .iter()
            .map(|path| parse_template("access", path, schema))
            .collect()
    };
    Ok(match access {
        None | Some(AccessValue::Word(AccessWord::World)) => AccessRule::World,
        Some(AccessValue::Word(AccessWord::ReadOnly)) => AccessRule::ReadOnly,
        Some(AccessValue::Paths(paths)) => AccessRule::Paths {
            reads: parse_paths(paths.reads)?,
            writes: parse_paths(paths.writes)?,
        },
    })
}

impl Registry {
    /// Adds the tools of a manifest.
    ///
    /// # Errors
    /// The manifest is invalid, or a name is already taken. Nothing is added.
    pub fn add_manifest(&mut self, file: &Path) -> Result<(), ManifestError> {
        let tools = load_manifest(file)?
            .into_iter()
            .map(|declared| (Arc::new(declared.tool) as Arc<dyn Tool>, declared.aliases))
            .collect();
        self.add(tools).map_err(|clash| ManifestError {
            file: file.to_owned(),
            problem: clash.into(),
        })
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
