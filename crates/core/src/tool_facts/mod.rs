//! Facts about the tools of coding agents: names, effects, parameters, and how their calls become calls of
//! built-in tools.
//!
//! The facts are data (`tools.txt`). Permission rules, labels, display and the tool registry all use this
//! table.

mod arguments;
mod rows;
mod table;

pub use arguments::{
    alias_rows, command_line, find_alias, whole_number, without_namespace, wrap_in_directory,
};
pub use table::{
    AgentTool, Parameter, Purpose, agent_tool, has_unclear_names, is_known, mcp_name, mcp_prefix,
    parameters, patch_files, possible_patch_files, similar_tool, subagent_or_skill_name, texts,
};
