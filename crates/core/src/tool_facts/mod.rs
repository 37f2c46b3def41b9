//! Facts about the tools of coding agents: names, effects, parameters, and how their calls become calls of
//! built-in tools.
//!
//! The facts are data (`tools.txt`). Permission rules, labels, display and the tool registry all use this
//! table.

mod arguments;
mod rows;
mod table;

pub use arguments::{alias, command_line, in_directory, runs, whole_number, without_namespace};
pub use table::{
    AgentTool, Parameter, Purpose, agent_tool, has_unclear_names, is_known, mcp_name, mcp_prefix,
    parameters, patched_files, possibly_patched, similar_tool, started_name, texts,
};
