//! What a call does, for those who decide whether it may: any agent's call, run or not.

use std::path::PathBuf;

use serde_json::Value;

use super::paths::absolute;
use super::{DecisionContext, Input, Registry};
use crate::permission::{Action, canonical_tool};
use crate::shell::analyse;

/// Fields of agents' tools that hold the path of the file or tree that they are about.
const PATH_FIELDS: [&str; 4] = ["file_path", "notebook_path", "absolute_path", "path"];

/// How a patch names the files that it changes.
const PATCHED_FILES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// A call as permission rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    /// The tool's own name, not an alias.
    pub tool: String,
    /// The arguments, under the tool's own field names.
    pub input: Input,
    /// What it does.
    pub action: Action,
}

impl Registry {
    /// A call of a tool of any agent as rules see it. One that cannot run here, because its tool is
    /// not known or its input is another agent's, does what its fields say.
    pub fn asked(&self, name: &str, input: &Input, context: &DecisionContext) -> AskedCall {
        if let Some(files) = patched_files(name, input) {
            let writes = files.iter().map(|file| absolute(file, context)).collect();
            return AskedCall {
                tool: "Edit".to_owned(),
                input: input.clone(),
                action: Action::Files {
                    reads: Vec::new(),
                    writes,
                },
            };
        }
        let Ok(resolved) = self.resolve(name, input.clone()) else {
            let tool = canonical_tool(name);
            return AskedCall {
                tool: tool.to_owned(),
                action: action_by_fields(tool, input, context),
                input: input.clone(),
            };
        };
        let tool = resolved.tool.name().to_owned();
        let action = resolved.tool.prepare(&resolved.input).map_or_else(
            |_| action_by_fields(&tool, &resolved.input, context),
            |call| call.assess(context).action,
        );
        AskedCall {
            tool,
            input: resolved.input,
            action,
        }
    }
}

/// What a call of one of the usual tools does, by its fields alone.
fn action_by_fields(tool: &str, input: &Input, context: &DecisionContext) -> Action {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let path = || {
        let text = PATH_FIELDS.iter().find_map(|name| field(name));
        text.map(|text| absolute(text, context))
    };
    let files = |reads: Option<PathBuf>, writes: Option<PathBuf>| Action::Files {
        reads: reads.into_iter().collect(),
        writes: writes.into_iter().collect(),
    };
    let action = match tool {
        "Bash" => field("command").map(|script| Action::Command {
            script: script.to_owned(),
            parts: analyse(script).parts,
            only_reads: false,
        }),
        "Read" => path().map(|path| files(Some(path), None)),
        "Glob" | "Grep" | "LS" => {
            let tree = path().unwrap_or_else(|| context.directory.clone());
            Some(files(Some(tree), None))
        }
        "Edit" | "MultiEdit" | "NotebookEdit" | "Write" => {
            path().map(|path| files(None, Some(path)))
        }
        "WebFetch" => field("url").map(|url| Action::Fetch {
            url: url.to_owned(),
        }),
        _ => None,
    };
    action.unwrap_or(Action::Anything)
}

/// The files that a call of Codex's `apply_patch` changes.
fn patched_files<'a>(name: &str, input: &'a Input) -> Option<Vec<&'a str>> {
    let patch = input.get("command").or_else(|| input.get("input"))?;
    let patch = patch.as_str().filter(|_| name == "apply_patch")?;
    let named = patch.lines().filter_map(|line| {
        let mut headers = PATCHED_FILES.iter();
        let file = headers.find_map(|header| line.trim_start().strip_prefix(header));
        file.map(str::trim)
    });
    let files: Vec<&str> = named.collect();
    (!files.is_empty()).then_some(files)
}
