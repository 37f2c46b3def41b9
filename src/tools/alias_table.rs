//! The foreign tools that ours can stand in for.
//!
//! Qwen Code and Gemini CLI (their snake case names), Codex (its shells and its plan) and names
//! that Claude Code once used. Field names are those of the agents' published tool schemas.

use super::alias::Constant::Text;
use super::alias::Conversion::{ArgvToShellWords, CountToReplaceAll, OffsetFromZero, TodoItems};
use super::alias::Step::{Convert, Default, Drop, Rename, RunIn};
use super::alias::{Alias, Step};

/// Sorted by foreign name.
pub(super) const ALIASES: &[Alias] = &[
    alias("GlobTool", "Glob", &[]),
    alias("GrepTool", "Grep", FIND_LINES),
    alias("View", "Read", &[]),
    alias(
        "edit",
        "Edit",
        &[Rename("absolute_path", "file_path"), Drop("instruction")],
    ),
    alias(
        "exec_command",
        "Bash",
        &[
            Rename("cmd", "command"),
            RunIn {
                directory: "workdir",
                command: "command",
            },
            Rename("justification", "description"),
            // How long to wait before looking at what was printed so far, and how much of it to
            // show: here the call ends with the command, and long output goes to a file.
            Drop("yield_time_ms"),
            Drop("max_output_tokens"),
            Drop("tty"),
            Drop("shell"),
            Drop("login"),
            Drop("sandbox_permissions"),
            Drop("additional_permissions"),
            Drop("prefix_rule"),
        ],
    ),
    alias(
        "glob",
        "Glob",
        &[
            Rename("dir_path", "path"),
            Drop("case_sensitive"),
            Drop("respect_git_ignore"),
            Drop("respect_gemini_ignore"),
        ],
    ),
    alias("grep_search", "Grep", FIND_LINES),
    alias("list_directory", "LS", LIST),
    alias("ls", "LS", LIST),
    alias(
        "read_file",
        "Read",
        &[
            Rename("absolute_path", "file_path"),
            Rename("path", "file_path"),
            Convert("offset", OffsetFromZero),
        ],
    ),
    alias(
        "replace",
        "Edit",
        &[
            Rename("absolute_path", "file_path"),
            Convert("expected_replacements", CountToReplaceAll),
            Rename("expected_replacements", "replace_all"),
            Rename("allow_multiple", "replace_all"),
            Drop("instruction"),
        ],
    ),
    alias(
        "run_shell_command",
        "Bash",
        &[
            RunIn {
                directory: "directory",
                command: "command",
            },
            RunIn {
                directory: "dir_path",
                command: "command",
            },
            Rename("is_background", "run_in_background"),
        ],
    ),
    alias("search_file_content", "Grep", FIND_LINES),
    alias("shell", "Bash", CODEX_SHELL),
    alias("shell_command", "Bash", CODEX_SHELL),
    alias("todo_write", "TodoWrite", &[Convert("todos", TodoItems)]),
    alias(
        "update_plan",
        "TodoWrite",
        &[
            Rename("plan", "todos"),
            Convert("todos", TodoItems),
            Drop("explanation"),
        ],
    ),
    alias(
        "write_file",
        "Write",
        &[
            Rename("absolute_path", "file_path"),
            Rename("path", "file_path"),
        ],
    ),
    alias("write_todos", "TodoWrite", &[Convert("todos", TodoItems)]),
];

/// Searches that always show the lines they find.
const FIND_LINES: &[Step] = &[
    Rename("include", "glob"),
    Rename("include_pattern", "glob"),
    Rename("dir_path", "path"),
    Rename("limit", "head_limit"),
    Default("output_mode", Text("content")),
];

const LIST: &[Step] = &[Rename("dir_path", "path"), Drop("file_filtering_options")];

const CODEX_SHELL: &[Step] = &[
    Convert("command", ArgvToShellWords),
    RunIn {
        directory: "workdir",
        command: "command",
    },
    Rename("timeout_ms", "timeout"),
    Rename("justification", "description"),
    Drop("login"),
    Drop("with_escalated_permissions"),
    Drop("sandbox_permissions"),
    Drop("additional_permissions"),
    Drop("prefix_rule"),
];

const fn alias(name: &'static str, tool: &'static str, steps: &'static [Step]) -> Alias {
    Alias { name, tool, steps }
}
