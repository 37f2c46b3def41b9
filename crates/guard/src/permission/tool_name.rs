//! The tools that a rule names.

use std::borrow::Cow;

use super::pattern::{GAP, Pattern};
use turnpipe_core::tool_facts::{Purpose, agent_tool, mcp_name, mcp_prefix};

/// The tools that a rule matches.
#[derive(Debug, Clone)]
pub(super) enum ToolName {
    /// One tool; `Read`, `Edit` and `Bash` include all tools of the same purpose.
    Exact(String),
    /// Tools whose names match.
    Matching(Pattern),
}

/// Returns the canonical name of a tool of any agent; unknown names are unchanged.
pub fn canonical_tool(name: &str) -> &str {
    agent_tool(name).map_or(name, |tool| tool.name)
}

impl ToolName {
    /// Parses a canonical name, or a pattern for names.
    pub(super) fn parse(name: &str) -> Self {
        let name = normalise_mcp_name(name);
        if name.contains('*') {
            Self::Matching(Pattern::from_text(&name))
        } else {
            Self::Exact(name.into_owned())
        }
    }

    /// Whether it is the name of the tool, not a pattern.
    pub(super) fn names(&self, tool: &str) -> bool {
        matches!(self, Self::Exact(name) if name == tool)
    }

    /// Whether it covers a tool, given by its canonical name. `Read`, `Edit`, `Bash`, `Agent` and `Skill` cover
    /// all tools that read files, change files, run commands, and start agents and skills.
    pub(super) fn covers(&self, tool: &str) -> bool {
        let purpose = Purpose::from_tool(tool);
        let tool = normalise_mcp_name(tool);
        match self {
            Self::Matching(names) => names.covers(&tool),
            Self::Exact(name) => match name.as_str() {
                "Read" => purpose.reads_files(),
                "Edit" => purpose.writes_files(),
                "Bash" => purpose == Purpose::Shell,
                "Agent" => purpose == Purpose::Agent,
                "Skill" => matches!(purpose, Purpose::Skill | Purpose::SlashCommand),
                name => tool.strip_prefix(name).is_some_and(|rest| {
                    rest.is_empty() || is_server(name) && rest.starts_with("__")
                }),
            },
        }
    }

    /// Whether it covers a tool of an MCP server, or of any server if `server` is `None`. The name of a resource is
    /// empty, so that only rules about the whole server cover it.
    pub(super) fn covers_on(&self, server: Option<&str>, tool: &str) -> bool {
        let tool = mcp_name(tool);
        match (server, self) {
            (Some(server), _) => self.covers(&(mcp_prefix(server) + &tool)),
            (None, Self::Exact(name)) => {
                is_server(name) || name.starts_with("mcp__") && name.ends_with(&format!("__{tool}"))
            }
            (None, Self::Matching(names)) => names.may_cover(&format!("mcp__{GAP}__{tool}")),
        }
    }
}

/// Replaces the characters of the name of an MCP tool, or of a pattern for such names, that some agents replace: the
/// dots in the name of a server. Other names are unchanged.
fn normalise_mcp_name(name: &str) -> Cow<'_, str> {
    if !name.starts_with("mcp__") {
        return name.into();
    }
    let pieces: Vec<String> = name.split('*').map(mcp_name).collect();
    pieces.join("*").into()
}

/// Whether a name is `mcp__SERVER`.
fn is_server(name: &str) -> bool {
    name.starts_with("mcp__") && name.matches("__").count() == 1
}
