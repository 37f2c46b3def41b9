//! Tools as rules name them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::wildcard::Wildcard;

/// Tools that a rule is about.
#[derive(Debug, Clone)]
pub(super) enum ToolName {
    /// This one, and what belongs to it.
    Exact(String),
    /// All whose names match.
    Matching(Wildcard),
}

struct Row {
    name: &'static str,
    also_about: Vec<&'static str>,
}

static TOOLS: LazyLock<HashMap<&str, Row>> = LazyLock::new(|| {
    let mut tools = HashMap::new();
    for line in super::table::lines(include_str!("tables/tools.txt")) {
        let name = line.split(' ').next().unwrap_or_default();
        let (also_about, names): (Vec<&str>, Vec<&str>) =
            line.split(' ').partition(|word| word.starts_with('+'));
        for alias in names {
            let also_about = also_about
                .iter()
                .map(|other| other.trim_start_matches('+'))
                .collect();
            tools.insert(alias, Row { name, also_about });
        }
    }
    tools
});

/// Our name of a tool, whatever agent's name is given. A name that is not known stays.
pub fn canonical_tool(name: &str) -> &str {
    TOOLS.get(name).map_or(name, |row| row.name)
}

impl ToolName {
    pub(super) fn parse(name: &str) -> Self {
        if name.contains('*') {
            Self::Matching(Wildcard::parse(name))
        } else {
            Self::Exact(canonical_tool(name).to_owned())
        }
    }

    /// Whether this is the name of the tool, without a pattern.
    pub(super) fn is(&self, tool: &str) -> bool {
        matches!(self, Self::Exact(name) if name == tool)
    }

    /// Whether a tool is among them; `tool` is our name for it.
    pub(super) fn covers(&self, tool: &str) -> bool {
        match self {
            Self::Matching(names) => names.covers(tool),
            Self::Exact(name) => {
                name == tool
                    || TOOLS
                        .get(name.as_str())
                        .is_some_and(|row| row.also_about.contains(&tool))
                    || is_tool_of_server(tool, name)
            }
        }
    }
}

/// Whether `server` is `mcp__NAME`, and the tool is one of its.
fn is_tool_of_server(tool: &str, server: &str) -> bool {
    server.starts_with("mcp__")
        && server.matches("__").count() == 1
        && tool
            .strip_prefix(server)
            .is_some_and(|rest| rest.starts_with("__"))
}
