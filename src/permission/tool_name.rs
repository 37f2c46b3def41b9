//! Tool names in rules.

use super::wildcard::Wildcard;
use crate::tool_facts::{Purpose, agent_tool};

/// The tools that a rule matches.
#[derive(Debug, Clone)]
pub(super) enum ToolName {
    /// One tool; `Read`, `Edit` and `Bash` include all tools of the same purpose.
    Exact(String),
    /// Tools whose names match.
    Matching(Wildcard),
}

/// Returns the canonical name of a tool of any agent; unknown names are unchanged.
pub fn canonical_tool(name: &str) -> &str {
    agent_tool(name).map_or(name, |tool| tool.name)
}

impl ToolName {
    pub(super) fn parse(name: &str) -> Self {
        if name.contains('*') {
            Self::Matching(Wildcard::parse(name))
        } else {
            Self::Exact(canonical_tool(name).to_owned())
        }
    }

    /// Whether this names exactly the tool.
    pub(super) fn is(&self, tool: &str) -> bool {
        matches!(self, Self::Exact(name) if name == tool)
    }

    /// Whether the rule covers a tool, given by its canonical name. `Read`, `Edit` and `Bash` cover
    /// all tools that read files, change files and run commands.
    pub(super) fn covers(&self, tool: &str) -> bool {
        let purpose = Purpose::of(tool);
        match self {
            Self::Matching(names) => names.covers(tool),
            Self::Exact(name) => match name.as_str() {
                "Read" => purpose.reads_files(),
                "Edit" => purpose.writes_files(),
                "Bash" => purpose == Purpose::Shell,
                name => name == tool || is_tool_of_server(tool, name),
            },
        }
    }
}

/// Whether `server` is `mcp__NAME` and the tool belongs to it.
fn is_tool_of_server(tool: &str, server: &str) -> bool {
    server.starts_with("mcp__")
        && server.matches("__").count() == 1
        && tool
            .strip_prefix(server)
            .is_some_and(|rest| rest.starts_with("__"))
}
