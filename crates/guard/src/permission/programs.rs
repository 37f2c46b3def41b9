//! Variables that name programs, and lines of tables.

use crate::shell::is_one_of;

/// Whether the value of a variable is a program, or a file of commands, that other programs run.
pub(super) fn names_program(variable: &str) -> bool {
    const OTHERS: &str = "BASH_ENV BROWSER ENV GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH \
        GIT_SSH_COMMAND LESSCLOSE LESSOPEN PROMPT_COMMAND RSYNC_RSH SHELL SSH_ASKPASS SUDO_ASKPASS VISUAL";
    variable.ends_with("PAGER") || variable.ends_with("EDITOR") || is_one_of(OTHERS, variable)
}

/// Returns the lines that are neither empty nor comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
