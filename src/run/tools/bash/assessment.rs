//! The assessment of a shell command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git_repository;
use super::script::FinalDirectory;
use super::workspace_programs::WorkspacePrograms;
use crate::io::is_of_process;
use crate::permission::Action;
use crate::run::tools::{Access, Assessment, DecisionContext, ToolContext};
use crate::shell::{self, Analysis, CommandLine, CommandPart, Verdict};

/// Assesses a command line that starts now.
pub(in crate::run::tools) fn assess(
    command: &str,
    analysis: &Analysis,
    context: &DecisionContext,
) -> Assessment {
    let mut settled = check_requirements(analysis.clone(), context);
    let is_ambiguous = context.shell.is_ambiguous(command, &analysis.line);
    let unclear = if is_ambiguous {
        Some("bash, zsh and dash do not parse it alike")
    } else if !command.is_ascii() && !keeps_ascii(context) {
        Some("characters of the shell's locale may contain signs of its syntax")
    } else {
        None
    };
    if let Some(why) = unclear.filter(|_| settled.verdict.is_read_only()) {
        settled.verdict = Verdict::Unknown;
        why.clone_into(&mut settled.why);
    }
    let access = match (settled.verdict.is_read_only(), settled.changes_directory) {
        (false, _) => Access::everything(),
        (true, true) => Access::changes_directory(),
        (true, false) => Access::reads_everything(),
    };
    let only_reads = settled.verdict.is_read_only();
    let line = if only_reads {
        Arc::clone(&analysis.line)
    } else {
        Arc::new(without_workspace_programs(analysis, context))
    };
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

/// Whether the shell's locale leaves ASCII bytes alone.
fn keeps_ascii(context: &DecisionContext) -> bool {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    let value =
        |name: &&str| Some(context.environment.get(name)?).filter(|value| !value.is_empty());
    let locale = names.find_map(value);
    locale.is_none_or(|locale| locale.to_str().is_some_and(shell::keeps_ascii))
}

/// Returns the analysis of a command line after checking conditions outside its text: `context`
/// confines commands that interpret a language, no program (including the shell) is in a directory where the
/// session may write, and every requirement holds.
pub fn check_requirements(mut analysis: Analysis, context: &DecisionContext) -> Analysis {
    if !analysis.verdict.is_read_only() {
        return analysis;
    }
    // An empty one means the working directory.
    let path = context.environment.get("PATH");
    let entries = || path.into_iter().flat_map(std::env::split_paths);
    // Dash takes functions from `DIRECTORY%func`.
    let is_relative = |entry: &PathBuf| {
        !entry.is_absolute() || entry.as_os_str().as_encoded_bytes().contains(&b'%')
    };
    // Without `PATH`, bash searches the working directory.
    let has_relative_path = path.is_none() || entries().any(|entry| is_relative(&entry));
    let searches_for_directories =
        (context.environment.get("CDPATH")).is_some_and(|path| !path.is_empty());
    let home = context.environment.get("HOME").map(PathBuf::from);
    let is_cd = |part: &CommandPart| {
        let levels = part.levels();
        let mut first = levels.iter().filter_map(|level| level.words.first());
        first.any(|word| word.value.as_deref() == Some("cd"))
    };
    let mut workspace = WorkspacePrograms::new(context);
    let refusal = match &analysis.language {
        _ if has_relative_path && !context.shell.keeps_git_from_writing => {
            Some("the working directory may be in the shell's `PATH`".to_owned())
        }
        _ if searches_for_directories && analysis.line.commands.iter().any(is_cd) => {
            Some("`CDPATH` may lead to another directory".to_owned())
        }
        _ if home.is_some_and(|home| !home.is_absolute() || is_of_process(&home)) => {
            Some("the home directory differs by process".to_owned())
        }
        _ if context.environment.get("POSIXLY_CORRECT").is_some() => {
            Some("with `POSIXLY_CORRECT`, options may be operands".to_owned())
        }
        _ if analysis.line.reveals.is_some() && !context.shell.has_clean_environment => {
            let name = analysis.line.reveals.as_deref().unwrap_or_default();
            Some(format!("`{name}` may print secrets of the environment"))
        }
        _ if entries().any(|entry| is_of_process(&entry)) => {
            Some("a directory of `PATH` differs by process".to_owned())
        }
        Some(name) if !context.is_protected() => Some(format!(
            "`{name}` only counts as reading if the kernel enforces it"
        )),
        _ => {
            let programs: Vec<&str> = analysis.programs.iter().map(String::as_str).collect();
            let found = workspace.find(programs.iter().copied());
            let is_foreign = !context.shell.keeps_git_from_writing;
            found
                .map(|program| format!("`{program}` is, or may start, a program of the workspace"))
                .or_else(|| {
                    is_foreign.then(|| workspace.find_unclear_variable(context, &programs))?
                })
        }
    };
    if let Some(why) = refusal {
        analysis.why = why;
        analysis.verdict = Verdict::Unknown;
        analysis.programs.clear();
        return analysis;
    }
    if !context.shell.reads_git_settings {
        return analysis.settled(|_| Ok(()));
    }
    analysis.settled(|git| git_repository::check(git, context))
}

/// Marks as writing the commands whose words name a program of the workspace, that may print secrets, or whose
/// requirements do not hold; or all commands if the shell is such a program.
fn without_workspace_programs(analysis: &Analysis, context: &DecisionContext) -> CommandLine {
    let mut line = CommandLine::clone(&analysis.line);
    let is_open = context.shell.has_clean_environment || line.reveals.is_none();
    let mut workspace = WorkspacePrograms::new(context);
    for part in line.commands.iter_mut().filter(|part| part.only_reads) {
        let words = part.words.iter().filter_map(|word| word.value.as_deref());
        let names = words.filter(|word| Path::new(word).file_name() == Some(OsStr::new(word)));
        part.only_reads = is_open && workspace.find(names).is_none();
        if part.only_reads && !part.requires.is_empty() {
            let settled = check_requirements(analysis.of_command(part), context);
            part.only_reads = settled.verdict.is_read_only();
        }
    }
    line
}

/// The directory where a call starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// An existing directory.
    pub(super) directory: PathBuf,
    /// A note for the model if this is not the directory of the shell.
    pub(super) note: Option<String>,
}

/// The directory of the next call, if it changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DirectoryChange {
    /// An allowed directory.
    pub(super) to: PathBuf,
    /// A note for the model if the command went to another directory.
    pub(super) note: Option<String>,
}

/// Returns the directory of the session, else its first directory, else the first allowed one that
/// exists.
pub(super) fn start_directory(context: &ToolContext) -> Option<Start> {
    if context.directory.is_dir() {
        return Some(Start {
            directory: context.directory.clone(),
            note: None,
        });
    }
    std::iter::once(&context.home_directory)
        .chain(&context.allowed_directories)
        .find(|directory| directory.is_dir())
        .map(|directory| Start {
            directory: directory.clone(),
            note: Some(format!(
                "{} no longer exists. {}",
                context.directory.display(),
                reset_to(directory)
            )),
        })
}

/// Returns the new directory of the shell after a call that started in `started`.
pub(super) fn directory_after(
    context: &ToolContext,
    started: &Path,
    end: FinalDirectory,
) -> Option<DirectoryChange> {
    let to = match end {
        FinalDirectory::Unknown => started.to_owned(),
        FinalDirectory::At(end) if context.allows_directory(&end) => {
            // The shell reports the physical path; the path of the session may contain links.
            if started.canonicalize().is_ok_and(|physical| physical == end) {
                started.to_owned()
            } else {
                end
            }
        }
        FinalDirectory::At(_) | FinalDirectory::Gone => {
            return Some(DirectoryChange {
                to: context.home_directory.clone(),
                note: Some(reset_to(&context.home_directory)),
            });
        }
    };
    (to != context.directory).then_some(DirectoryChange { to, note: None })
}

fn reset_to(directory: &Path) -> String {
    format!("Shell cwd was reset to {}", directory.display())
}

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
