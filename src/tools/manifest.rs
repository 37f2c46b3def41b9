//! Manifests: files in which a user declares command tools.
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
//! The same as JSON: `{"tool": [{"name": …}]}`. Everything is checked when it is read, so that a
//! mistake stops the program before anything runs. Running the tools is not this file's business.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::command_tool::{AccessRule, CommandTool, Declaration, ToolInput};
use super::manifest_fields::{Fields, Problem};
use super::schema_check::SchemaCheck;
use super::template::Template;
use super::{InterruptBehavior, NameClash, ResultLimit};

/// The longest name that every model API accepts, in characters.
const LONGEST_NAME: usize = 64;

/// A tool of a manifest, with the further names it answers to.
pub struct Declared {
    /// The tool.
    pub tool: CommandTool,
    /// Its `aliases`.
    pub aliases: Vec<String>,
}

/// What is wrong with a manifest. Nothing of it is used then.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It cannot be read.
    #[error("{}: {source}", file.display())]
    Unreadable {
        /// The manifest.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is neither named `.toml` nor `.json`.
    #[error("{}: not a .toml or .json file", file.display())]
    UnknownFormat {
        /// The manifest.
        file: PathBuf,
    },
    /// It is no TOML or JSON, or not of the form of a manifest.
    #[error("{}: {reason}", file.display())]
    Malformed {
        /// The manifest.
        file: PathBuf,
        /// Why, on one line.
        reason: String,
    },
    /// A field of a tool is missing, unknown or unusable.
    #[error("{}: tool {tool}: {field}: {reason}", file.display())]
    Field {
        /// The manifest.
        file: PathBuf,
        /// The tool's name, or its place (`#2`) if it has none.
        tool: String,
        /// The key.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name is already taken, by a built-in tool or by another one.
    #[error("{}: {clash}", file.display())]
    Clash {
        /// The manifest.
        file: PathBuf,
        /// The names.
        clash: NameClash,
    },
}

/// Reads a manifest. Programs named by a relative path with a slash are looked for beside it.
///
/// # Errors
/// See [`ManifestError`].
pub fn load_manifest(file: &Path) -> Result<Vec<Declared>, ManifestError> {
    let text = fs::read_to_string(file).map_err(|source| ManifestError::Unreadable {
        file: file.to_owned(),
        source,
    })?;
    parse_manifest(file, &text)
}

fn parse_manifest(file: &Path, text: &str) -> Result<Vec<Declared>, ManifestError> {
    let malformed = |reason: String| ManifestError::Malformed {
        file: file.to_owned(),
        reason: reason.lines().map(str::trim).collect::<Vec<_>>().join(" "),
    };
    let extension = file
        .extension()
        .map(|extension| extension.to_string_lossy());
    let mut document: Map<String, Value> = match extension.as_deref() {
        Some("toml") => toml::from_str(text).map_err(|error| malformed(error.to_string()))?,
        Some("json") => serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?,
        _ => {
            return Err(ManifestError::UnknownFormat {
                file: file.to_owned(),
            });
        }
    };
    let tools = match document.shift_remove("tool") {
        None => Vec::new(),
        Some(Value::Array(tools)) => tools,
        Some(_) => return Err(malformed("`tool` must be a list of tools".to_owned())),
    };
    if let Some(key) = document.keys().next() {
        return Err(malformed(format!("unknown key `{key}`")));
    }

    // An absolute path, because the tools run in other directories.
    let directory = std::path::absolute(file)
        .ok()
        .and_then(|file| file.parent().map(Path::to_owned))
        .unwrap_or_default();
    let mut declared: Vec<Declared> = Vec::new();
    for (index, tool) in tools.into_iter().enumerate() {
        let Value::Object(fields) = tool else {
            return Err(malformed(format!("tool #{} is not an object", index + 1)));
        };
        let label = match fields.get("name") {
            Some(Value::String(name)) => name.clone(),
            _ => format!("#{}", index + 1),
        };
        let tool = declared_tool(Fields::new(fields), &directory).map_err(|problem| {
            ManifestError::Field {
                file: file.to_owned(),
                tool: label,
                field: problem.field,
                reason: problem.reason,
            }
        })?;
        declared.push(tool);
    }
    Ok(declared)
}

fn declared_tool(mut fields: Fields, directory: &Path) -> Result<Declared, Problem> {
    let name: String = fields.required("name")?;
    check_name("name", &name)?;
    let description: String = fields.required("description")?;
    if description.trim().is_empty() {
        return Err(Problem::new("description", "is empty"));
    }
    let schema = input_schema(fields.optional("input_schema")?)?;
    let (program, arguments) = command(fields.required("command")?, directory, &schema)?;
    let stdin = fields
        .word(
            "stdin",
            &[("json", ToolInput::JsonLine), ("none", ToolInput::Nothing)],
        )?
        .unwrap_or(ToolInput::Nothing);
    let access = access(fields.optional("access")?, &schema)?;
    let interrupt = fields
        .word(
            "interrupt",
            &[
                ("cancel", InterruptBehavior::Cancel),
                ("block", InterruptBehavior::Block),
            ],
        )?
        .unwrap_or(InterruptBehavior::Cancel);
    let timeout = fields.positive("timeout_ms")?.map(Duration::from_millis);
    let result_limit = fields
        .positive("max_result_chars")?
        .map_or(ResultLimit::Default, |characters| {
            ResultLimit::Characters(usize::try_from(characters).unwrap_or(usize::MAX))
        });
    let aliases: Vec<String> = fields.optional("aliases")?.unwrap_or_default();
    for alias in &aliases {
        check_name("aliases", alias)?;
    }
    let deferred = fields.optional("deferred")?.unwrap_or(false);
    let environment: BTreeMap<String, String> = fields.optional("environment")?.unwrap_or_default();
    if let Some(variable) = environment.keys().find(|name| !is_variable_name(name)) {
        return Err(Problem::new(
            "environment",
            format!("\"{variable}\" is no variable name"),
        ));
    }
    fields.finish()?;
    Ok(Declared {
        tool: CommandTool::new(Declaration {
            name,
            description,
            schema,
            program,
            arguments,
            stdin,
            access,
            interrupt,
            timeout,
            result_limit,
            deferred,
            environment,
        }),
        aliases,
    })
}

fn check_name(field: &str, name: &str) -> Result<(), Problem> {
    let accepted = (1..=LONGEST_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if accepted {
        Ok(())
    } else {
        Err(Problem::new(
            field,
            format!("\"{name}\" is not 1 to {LONGEST_NAME} of the characters A-Z a-z 0-9 _ -"),
        ))
    }
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Without one the tool takes no parameters.
fn input_schema(schema: Option<Value>) -> Result<Value, Problem> {
    const FIELD: &str = "input_schema";
    let Some(schema) = schema else {
        return Ok(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    };
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Problem::new(
            FIELD,
            "must be an object schema (`type = \"object\"`)",
        ));
    }
    SchemaCheck::new(&schema).map_err(|error| Problem::new(FIELD, error.to_string()))?;
    Ok(schema)
}

/// The program, which is never taken from the input, and the templates of its arguments.
fn command(
    words: Vec<String>,
    directory: &Path,
    schema: &Value,
) -> Result<(OsString, Vec<Template>), Problem> {
    const FIELD: &str = "command";
    let mut words = words.into_iter();
    let program = words
        .next()
        .ok_or_else(|| Problem::new(FIELD, "must name a program"))?;
    let program = template(FIELD, &program, schema)?
        .as_literal()
        .filter(|program| !program.is_empty() && !program.contains('\0'))
        .map(str::to_owned)
        .ok_or_else(|| Problem::new(FIELD, "the program must not depend on the input"))?;
    let program = if program.contains('/') {
        directory.join(program).into_os_string()
    } else {
        program.into()
    };
    let arguments = words
        .map(|word| template(FIELD, &word, schema))
        .collect::<Result<_, _>>()?;
    Ok((program, arguments))
}

fn template(field: &str, text: &str, schema: &Value) -> Result<Template, Problem> {
    let template = Template::parse(text)
        .map_err(|error| Problem::new(field, format!("\"{text}\": {error}")))?;
    let properties = schema.get("properties").and_then(Value::as_object);
    let unknown = template
        .fields()
        .find(|name| !properties.is_some_and(|properties| properties.contains_key(*name)));
    match unknown {
        Some(name) => Err(Problem::new(
            field,
            format!("\"{text}\": `{name}` is not among the properties of input_schema"),
        )),
        None => Ok(template),
    }
}

fn access(access: Option<Value>, schema: &Value) -> Result<AccessRule, Problem> {
    const FIELD: &str = "access";
    match access {
        None => Ok(AccessRule::World),
        Some(Value::String(word)) => match word.as_str() {
            "world" => Ok(AccessRule::World),
            "read-only" => Ok(AccessRule::ReadOnly),
            other => Err(Problem::new(
                FIELD,
                format!("\"{other}\" is not \"read-only\" or \"world\""),
            )),
        },
        Some(Value::Object(sets)) => {
            let mut sets = Fields::new(sets);
            let mut paths = |name: &str| -> Result<Vec<Template>, Problem> {
                sets.optional::<Vec<String>>(name)
                    .map_err(|problem| {
                        Problem::new("access", format!("{name}: {}", problem.reason))
                    })?
                    .unwrap_or_default()
                    .iter()
                    .map(|path| template(FIELD, path, schema))
                    .collect()
            };
            let (reads, writes) = (paths("reads")?, paths("writes")?);
            sets.finish().map_err(|problem| {
                Problem::new(FIELD, format!("unknown key `{}`", problem.field))
            })?;
            Ok(AccessRule::Paths { reads, writes })
        }
        Some(_) => Err(Problem::new(
            FIELD,
            "must be \"read-only\", \"world\" or { reads = [..], writes = [..] }",
        )),
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
