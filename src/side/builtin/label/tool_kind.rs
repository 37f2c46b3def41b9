//! Which tool a name means, whichever agent it is of.

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Read,
    ReadMany,
    Write,
    Edit,
    Patch,
    Search,
    Find,
    List,
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
    Lsp,
    Memory,
    ToolSearch,
    Mcp,
    Unknown,
}

/// Names in small letters.
const NAMES: &[(ToolKind, &str)] = &[
    (
        ToolKind::Read,
        "read read_file view notebookread view_image",
    ),
    (ToolKind::ReadMany, "read_many_files"),
    (ToolKind::Write, "write write_file create_file"),
    (
        ToolKind::Edit,
        "edit multiedit notebookedit replace edit_file str_replace \
            str_replace_editor str_replace_based_edit_tool notebook_edit",
    ),
    (ToolKind::Patch, "apply_patch patch"),
    (
        ToolKind::Search,
        "grep grep_search search_file_content codebase_search",
    ),
    (ToolKind::Find, "glob file_search find"),
    (ToolKind::List, "ls list_directory list list_dir"),
    (
        ToolKind::Shell,
        "bash run_shell_command shell shell_command exec_command local_shell \
            execute_command powershell",
    ),
    (
        ToolKind::Background,
        "taskoutput bashoutput agentoutput write_stdin",
    ),
    (ToolKind::StopBackground, "killshell killbash taskstop"),
    (ToolKind::Agent, "task agent spawn_agent"),
    (
        ToolKind::Todo,
        "todowrite todo_write update_plan write_todos",
    ),
    (ToolKind::TaskCreate, "taskcreate"),
    (ToolKind::TaskUpdate, "taskupdate"),
    (ToolKind::TaskList, "tasklist"),
    (ToolKind::TaskGet, "taskget"),
    (ToolKind::Fetch, "webfetch web_fetch"),
    (
        ToolKind::WebSearch,
        "websearch web_search google_web_search",
    ),
    (ToolKind::Skill, "skill"),
    (ToolKind::SlashCommand, "slashcommand"),
    (ToolKind::ExitPlan, "exitplanmode exit_plan_mode"),
    (ToolKind::EnterPlan, "enterplanmode enter_plan_mode"),
    (ToolKind::Ask, "askuserquestion ask_user ask_user_question"),
    (ToolKind::Lsp, "lsp"),
    (ToolKind::Memory, "save_memory"),
    (ToolKind::ToolSearch, "toolsearch tool_search"),
];

impl ToolKind {
    /// The tool of this name.
    pub(super) fn of(name: &str) -> Self {
        let lowered = name.to_ascii_lowercase();
        let found = NAMES
            .iter()
            .find(|(_, names)| names.split(' ').any(|name| name == lowered));
        match found {
            Some((kind, _)) => *kind,
            None if lowered.starts_with("mcp__") => Self::Mcp,
            None => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_agents_mean_the_same() {
        assert_eq!(ToolKind::of("Read"), ToolKind::of("read_file"));
        assert_eq!(ToolKind::of("run_shell_command"), ToolKind::Shell);
        assert_eq!(ToolKind::of("mcp__linear__get_issue"), ToolKind::Mcp);
        assert_eq!(ToolKind::of("Frobnicate"), ToolKind::Unknown);
    }
}
