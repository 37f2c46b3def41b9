//! The assessment of a shell command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git_repository;
use super::script::FinalDirectory;
use super::workspace_programs::WorkspacePrograms;
use crate::io::is_per_process_path;
use crate::permission::Action;
use crate::run::tools::{Access, Assessment, DecisionContext, ToolContext};
use crate::shell::{self, Analysis, CommandPart};

/// Assesses a command line that starts now.
pub(in crate::run::tools) fn assess(
    command: &str,
    analysis: &Analysis,
    context: &DecisionContext,
) -> Assessment {
    let mut workspace = WorkspacePrograms::new(context);
    let mut settled = settle(analysis.clone(), context, &mut workspace);
    let is_ambiguous = context.shell.is_ambiguous(command, &analysis.line);
    let unclear = if is_ambiguous {
        Some("bash, zsh and dash do not parse it alike")
    } else if !command.is_ascii() && !keeps_ascii(context) {
        Some("characters of the shell's locale may contain signs of its syntax")
    } else {
        None
    };
    if let Some(why) = unclear.filter(|_| settled.verdict.is_read_only()) {
        settled = settled.with_refusal(why.to_owned());
    }
    let only_reads = settled.verdict.is_read_only();
    let access = match (only_reads, settled.changes_directory) {
        (false, _) => Access::everything(),
        (true, true) => Access::changes_directory(),
        (true, false) => Access::reads_everything(),
    };
    let mut line = Arc::clone(&analysis.line);
    if !only_reads {
        // A command that only reads by its text may do more in this context.
        for part in &mut Arc::make_mut(&mut line).commands {
            part.verdict = settle(analysis.for_command(part), context, &mut workspace).verdict;
        }
    }
    let action = Action::Command {
        script: command.to_owned(),
        line,
        only_reads,
        is_ambiguous,
    };
    Assessment {
        access,
        why: settled.why,
        action,
    }
}

/// Whether the locale of the shell has ASCII bytes only in ASCII characters.
fn keeps_ascii(context: &DecisionContext) -> bool {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    let value =
        |name: &&str| Some(context.environment.get(name)?).filter(|value| !value.is_empty());
    let locale = names.find_map(value);
    locale.is_none_or(|locale| locale.to_str().is_some_and(shell::keeps_ascii))
}

/// Returns the analysis with its verdict in `context`. A line that only reads by its text is read-only if neither its
/// programs nor a shell are in a directory where the session may write, commands that interpret a language are
/// confined, and all requirements hold.
pub fn check_requirements(analysis: Analysis, context: &DecisionContext) -> Analysis {
    settle(analysis, context, &mut WorkspacePrograms::new(context))
}

fn settle(
    analysis: Analysis,
    context: &DecisionContext,
    workspace: &mut WorkspacePrograms,
) -> Analysis {
    if !analysis.verdict.is_read_only() {
        return analysis;
    }
    match find_doubt(&analysis, context, workspace) {
        Some(why) => analysis.with_refusal(why),
        None if !context.shell.reads_git_settings => analysis.check_requirements(|_| Ok(())),
        None => analysis.check_requirements(|git| git_repository::check(git, context)),
    }
}

/// Returns the reason why a command line that only reads by its text may do more, if there is one.
fn find_doubt(
    analysis: &Analysis,
    context: &DecisionContext,
    workspace: &mut WorkspacePrograms,
) -> Option<String> {
    let variable = |name| context.environment.get(name);
    let is_foreign = !context.shell.keeps_git_from_writing;
    // An empty entry means the working directory.
    let entries = variable("PATH").into_iter();
    let entries: Vec<PathBuf> = entries.flat_map(std::env::split_paths).collect();
    // Dash takes functions from `DIRECTORY%func`.
    let is_relative = |entry: &PathBuf| {
        !entry.is_absolute() || entry.as_os_str().as_encoded_bytes().contains(&b'%')
    };
    let is_cd = |part: &CommandPart| {
        let levels = part.levels();
        levels.iter().any(|level| level.program() == Some("cd"))
    };
    let is_unclear_home =
        |home| !Path::new(home).is_absolute() || is_per_process_path(Path::new(home));
    // Without `PATH`, bash searches the working directory.
    let why = if is_foreign && (entries.is_empty() || entries.iter().any(is_relative)) {
        Some("the working directory may be in the shell's `PATH`")
    } else if variable("CDPATH").is_some_and(|path| !path.is_empty())
        && analysis.line.commands.iter().any(is_cd)
    {
        Some("`CDPATH` may lead to another directory")
    } else if variable("HOME").is_some_and(is_unclear_home) {
        Some("the home directory differs by process")
    } else if variable("POSIXLY_CORRECT").is_some() {
        Some("with `POSIXLY_CORRECT`, options may be operands")
    } else if entries.iter().any(|entry| is_per_process_path(entry)) {
        Some("a directory of `PATH` differs by process")
    } else {
        None
    };
    if why.is_some() {
        return why.map(str::to_owned);
    }
    let revealing = analysis.line.reveals.as_ref();
    if let Some(name) = revealing.filter(|_| !context.shell.has_clean_environment) {
        return Some(format!("`{name}` may print secrets of the environment"));
    }
    let language = analysis.language.as_ref();
    if let Some(name) = language.filter(|_| !context.is_protected()) {
        let why = format!("`{name}` only counts as reading if the kernel enforces it");
        return Some(why);
    }
    let programs: Vec<&str> = analysis.programs.iter().map(String::as_str).collect();
    if let Some(program) = workspace.find(programs.iter().copied()) {
        let why = format!("`{program}` is, or may start, a program of the workspace");
        return Some(why);
    }
    is_foreign.then(|| workspace.find_unclear_variable(context, &programs))?
}

/// The directory of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallDirectory {
    /// The path of an allowed directory.
    pub(super) path: PathBuf,
    /// A note for the model if this is not the directory of the shell.
    pub(super) note: Option<String>,
}

/// Returns the directory where a call starts: the first existing one of the current directory of the session, its first
/// directory, and the allowed ones.
pub(super) fn start_directory(context: &ToolContext) -> Option<CallDirectory> {
    let preferred = [&context.directory, &context.home_directory].into_iter();
    let mut directories = preferred.chain(&context.allowed_directories);
    let path = directories.find(|directory| directory.is_dir())?;
    let gone = context.directory.display();
    let note = || format!("{gone} no longer exists. {}", describe_reset(path));
    Some(CallDirectory {
        path: path.clone(),
        note: (*path != context.directory).then(note),
    })
}

/// Returns the directory of the next call after one that started in `started`; `None` if it does not change.
pub(super) fn directory_after(
    context: &ToolContext,
    started: &Path,
    end: FinalDirectory,
) -> Option<CallDirectory> {
    let home = &context.home_directory;
    let (path, note) = match end {
        FinalDirectory::Unknown => (started.to_owned(), None),
        // The shell reports the physical path; the path of the session may contain links.
        FinalDirectory::At(end)
            if started.canonicalize().is_ok_and(|path| path == end)
                && context.allows_directory(&end) =>
        {
            (started.to_owned(), None)
        }
        FinalDirectory::At(end) if context.allows_directory(&end) => (end, None),
        FinalDirectory::At(_) | FinalDirectory::Gone => (home.clone(), Some(describe_reset(home))),
    };
    (path != context.directory || note.is_some()).then_some(CallDirectory { path, note })
}

/// Describes a reset of the directory for the model.
fn describe_reset(directory: &Path) -> String {
    format!("Shell cwd was reset to {}", directory.display())
}

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
