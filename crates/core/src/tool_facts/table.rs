//! The table of tools: the effect of each, and which parameters hold paths, commands and URLs.

use serde_json::{Map, Value};

use crate::text::find_similar;

/// The effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each has rows in `tools.txt`")]
pub enum Purpose {
    Read,
    ReadMany,
    Write,
    Edit,
    Patch,
    Delete,
    Search,
    Find,
    List,
    Lsp,
    Shell,
    Background,
    StopBackground,
    Agent,
    Todo,
    TaskCreate,
    TaskUpdate,
    TaskList,
    TaskGet,
    Fetch,
    WebSearch,
    Skill,
    SlashCommand,
    ExitPlan,
    EnterPlan,
    Ask,
    Memory,
    ToolSearch,
    Mcp,
    McpResource,
    Other,
}

/// The meaning of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each has a row in `tools.txt`")]
pub enum Parameter {
    Path,
    Glob,
    Filter,
    Command,
    Directory,
    Terminal,
    Harmless,
    Stdin,
    Url,
    Patch,
    Agent,
    Skill,
}

/// A tool of a coding agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentTool {
    /// The name in rules and messages.
    pub name: &'static str,
    /// The effect.
    pub purpose: Purpose,
}

/// Tools by lower-case name, sorted.
static TOOLS: &[(&str, AgentTool)] = include!(concat!(env!("OUT_DIR"), "/tools.rs"));

static PARAMETERS: &[(Parameter, &[&str])] = include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// Returns the tool with this name, in any letter case.
pub fn agent_tool(name: &str) -> Option<AgentTool> {
    let name = name.to_ascii_lowercase();
    let found = TOOLS.binary_search_by(|(known, _)| (*known).cmp(&name));
    found.ok().map(|at| TOOLS[at].1)
}

/// Whether this is the name of a tool of a coding agent or an MCP server.
pub fn is_known(name: &str) -> bool {
    agent_tool(name).is_some() || Purpose::from_tool(name) == Purpose::Mcp
}

/// Returns the tool of a coding agent with a similar name, by its name in rules.
pub fn similar_tool(name: &str) -> Option<&'static str> {
    let similar = find_similar(name, TOOLS.iter().map(|(known, _)| *known))?;
    agent_tool(similar).map(|tool| tool.name)
}

/// Returns the names of the parameters with this meaning, the most specific first.
pub fn parameters(parameter: Parameter) -> &'static [&'static str] {
    let mut rows = PARAMETERS.iter();
    let found = rows.find(|(meaning, _)| *meaning == parameter);
    found.map_or(&[], |(_, names)| names)
}

/// Returns the strings in parameters with this meaning, including those in lists and in objects in lists. `None` if a value
/// has an unexpected form.
pub fn texts(input: &Map<String, Value>, parameter: Parameter) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    for (name, value) in input {
        let is_named = parameters(parameter).contains(&name.as_str());
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            match value {
                Value::Null => {}
                Value::Object(inner) => texts.extend(self::texts(inner, parameter)?),
                Value::String(text) if is_named => {
                    texts.extend(Some(text.as_str()).filter(|text| !text.is_empty()));
                }
                _ if is_named => return None,
                _ => {}
            }
        }
    }
    Some(texts)
}

/// Returns the name of the agent or skill that a call of a tool starts; `None` if its arguments do not name it.
pub fn subagent_or_skill_name<'a>(tool: &str, input: &'a Map<String, Value>) -> Option<&'a str> {
    let first = |parameter| {
        let mut names = parameters(parameter).iter();
        names.find_map(|name| input.get(*name)?.as_str())
    };
    let name = match Purpose::from_tool(tool) {
        Purpose::Agent => first(Parameter::Agent)?.trim(),
        // `/deploy now`
        _ => first(Parameter::Skill)?.split_whitespace().next()?,
    };
    Some(name.trim_start_matches('/')).filter(|name| !name.is_empty())
}

/// Whether an object, or an object inside it, has a member whose name differs from a parameter's in letter case only.
/// Some agents accept such a member: [Go] prefers an exact match, but takes the last of several members.
///
/// [Go]: https://pkg.go.dev/encoding/json#Unmarshal
pub fn has_unclear_names(input: &Map<String, Value>) -> bool {
    let rows = PARAMETERS
        .iter()
        .filter(|(meaning, _)| *meaning != Parameter::Harmless);
    let names = || rows.clone().flat_map(|(_, names)| *names);
    input.iter().any(|(name, value)| {
        let folded = fold_case(name);
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        let mut inner = values.iter().filter_map(Value::as_object);
        !names().any(|known| known == name) && names().any(|known| self::fold_case(known) == folded)
            || inner.any(has_unclear_names)
    })
}

/// Returns a text without the differences of letter case, also of `ſ` and the sign for kelvin.
fn fold_case(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// Returns the files that a patch names, in the format of Codex or `git diff`.
pub fn patch_files(patch: &str) -> impl Iterator<Item = &str> {
    const HEADERS: [&str; 5] = [
        "*** Update File:",
        "*** Add File:",
        "*** Delete File:",
        "*** Move to:",
        "+++ b/",
    ];
    patch.lines().filter_map(|line| {
        let line = line.trim_start();
        let file = HEADERS
            .iter()
            .find_map(|header| line.strip_prefix(header))?;
        Some(file.trim())
    })
}

/// Returns the files that a patch names, in the format of Codex or in any that `patch` reads.
pub fn possible_patch_files(patch: &str) -> impl Iterator<Item = &str> {
    const HEADERS: [&str; 7] = [
        "+++ ",
        "--- ",
        "Index: ",
        "rename to ",
        "rename from ",
        "copy to ",
        "diff --git ",
    ];
    let others = patch.lines().filter_map(|line| {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let rest = HEADERS
            .iter()
            .find_map(|header| line.strip_prefix(header))?;
        // `diff` writes a tab and the time after the name.
        let names = rest.split('\t').next()?.trim();
        // `diff --git a/x b/y`
        let (_, last) = names.rsplit_once(" b/").unwrap_or(("", names));
        let name = last.trim_matches('"');
        let mut sides = ["a/", "b/"].iter();
        Some(
            sides
                .find_map(|side| name.strip_prefix(side))
                .unwrap_or(name),
        )
    });
    let names = patch_files(patch)
        .map(|name| name.trim_matches('"'))
        .chain(others);
    names.filter(|name| !matches!(*name, "" | "/dev/null" | "dev/null"))
}

/// Prefix of the names of all tools of MCP servers.
const MCP_PREFIX: &str = "mcp__";

/// Returns the prefix of the names of a server's tools.
pub fn mcp_prefix(server: &str) -> String {
    format!("{MCP_PREFIX}{}__", mcp_name(server))
}

/// Replaces every character that model APIs reject in names with an underscore.
pub fn mcp_name(name: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(letter).collect()
}

impl Purpose {
    /// Returns the purpose of the tool of this name.
    pub fn from_tool(name: &str) -> Self {
        match agent_tool(name) {
            Some(tool) => tool.purpose,
            None if name.to_ascii_lowercase().starts_with(MCP_PREFIX) => Self::Mcp,
            None => Self::Other,
        }
    }

    /// Whether it reads, searches or lists files.
    pub fn reads_files(self) -> bool {
        use Purpose::{Find, List, Lsp, Read, ReadMany, Search};
        matches!(self, Read | ReadMany | Search | Find | List | Lsp)
    }

    /// Whether parameters name the files, so that patterns can only narrow them down.
    pub fn is_about_named_files(self) -> bool {
        (self.reads_files() || self.writes_files()) && self != Self::Find
    }

    /// Whether it starts an agent or a skill that has a name.
    pub fn has_named_target(self) -> bool {
        matches!(self, Self::Agent | Self::Skill | Self::SlashCommand)
    }

    /// Whether it changes files.
    pub fn writes_files(self) -> bool {
        matches!(self, Self::Write | Self::Edit | Self::Patch | Self::Delete)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::super::rows::rows;
    use super::*;

    #[test]
    fn published_tools_are_known() {
        let agents = include_str!("../../../../tests/data/permission/agent-tools.jsonl").lines();
        for agent in agents.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            for tool in agent["tools"].as_array().unwrap() {
                let known = agent_tool(tool.as_str().unwrap());
                assert!(known.is_some(), "{tool} of {}", agent["agent"]);
            }
        }
    }

    #[test]
    fn a_name_denotes_one_tool() {
        let mut seen = HashMap::new();
        let is_tool = |row: &Vec<&str>| row[0].starts_with(|first: char| first.is_uppercase());
        for row in rows().filter(is_tool) {
            let mut names = row.into_iter().skip(1);
            let name = names.next().unwrap();
            for other in std::iter::once(name).chain(names) {
                let earlier = seen.insert(other.to_ascii_lowercase(), name);
                assert!(earlier.is_none_or(|earlier| earlier == name), "{other}");
            }
            assert_eq!(agent_tool(name).unwrap().name, name);
        }
    }

    #[test]
    fn names_of_several_agents_denote_the_same_tool() {
        assert_eq!(Purpose::from_tool("Read"), Purpose::from_tool("read_file"));
        assert_eq!(Purpose::from_tool("run_shell_command"), Purpose::Shell);
        assert_eq!(Purpose::from_tool("mcp__linear__get_issue"), Purpose::Mcp);
        assert_eq!(Purpose::from_tool("Frobnicate"), Purpose::Other);
    }

    #[test]
    fn parameters_are_found_in_lists_and_objects() {
        let rows = [
            (json!({"file_path": "a", "content": "b"}), Some(vec!["a"])),
            (
                json!({"paths": ["a", "b"], "path": null}),
                Some(vec!["a", "b"]),
            ),
            (
                json!({"edits": [{"filePath": "a"}, {"x": 1}]}),
                Some(vec!["a"]),
            ),
            (json!({"args": {"file": [{"path": "a"}]}}), Some(vec!["a"])),
            (json!({"path": "", "x": [1]}), Some(vec![])),
            (json!({"path": 1}), None),
            (json!({"paths": ["a", ["b"]]}), None),
        ];
        for (input, expected) in rows {
            let found = texts(input.as_object().unwrap(), Parameter::Path);
            assert_eq!(found, expected, "{input}");
        }
    }

    #[test]
    fn other_characters_become_underscores() {
        assert_eq!(mcp_prefix("files"), "mcp__files__");
        assert_eq!(mcp_prefix("my server.v2"), "mcp__my_server_v2__");
        assert_eq!(mcp_name("größe/max-1"), "gr__e_max-1");
    }
}
