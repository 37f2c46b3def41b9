//! The possible working directories of the commands of a command line.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::outline::outline;
use super::path_context::{PathContext, ResolvedPath, normalise};
use super::pattern::{GLOB, UNKNOWN};
use crate::shell::{CommandLine, CommandPart, Follows, PartWord};

/// Maximum number of possible directories.
const MAX_DIRECTORIES: usize = 16;

/// The possible directories of a command.
#[derive(Debug, Clone)]
pub(super) struct Directories {
    /// Known directories; not empty except in the target of a `cd` that is known only at run time.
    pub(super) known: Vec<PathBuf>,
    /// Whether unknown directories are possible too.
    pub(super) has_unknown: bool,
}

impl Directories {
    /// Creates the directories of a command that runs in a known one.
    pub(super) fn new(directory: &Path) -> Rc<Self> {
        Rc::new(Self {
            known: vec![directory.to_owned()],
            has_unknown: false,
        })
    }

    /// Returns these directories and unknown ones.
    pub(super) fn with_unknown(&self) -> Rc<Self> {
        Rc::new(Self {
            known: self.known.clone(),
            has_unknown: true,
        })
    }

    /// Returns the directories to which a `cd` or `pushd` leads from these; `None` for another command. No directory is
    /// known if the target is known only at run time.
    pub(super) fn change(&self, command: &CommandPart, context: &PathContext<'_>) -> Option<Self> {
        let levels = command.levels();
        let level = levels.last()?;
        let to = match level.program()? {
            "cd" | "chdir" | "pushd" => parse_target(&level.words, context),
            "popd" => None,
            _ => return None,
        };
        let reached = |to: &PathBuf| self.known.iter().map(|from| from.join(to)).collect();
        Some(Self {
            known: to.as_ref().map(reached).unwrap_or_default(),
            has_unknown: self.has_unknown || to.is_none(),
        })
    }

    /// Resolves the name of a file, a word or a part of one, in each known directory.
    pub(super) fn files(&self, name: &str, context: &PathContext<'_>) -> Vec<ResolvedPath> {
        // A program may expand the home directory.
        let below_home = name.strip_prefix("~/");
        let in_home = below_home.and_then(|below| Some(context.home()?.join(below)));
        let path = in_home.unwrap_or_else(|| PathBuf::from(name));
        let count = if path.is_absolute() { 1 } else { usize::MAX };
        let known = self.known.iter().take(count);
        let files = known.map(|directory| context.resolve(&directory.join(&path)));
        files.collect()
    }
}

/// Infers the possible directories of each command of a line that starts in one of `start`. A `cd` may fail or not run,
/// so the directory before it stays possible, except for the first `cd` of a line that continues only if it succeeds.
pub(super) fn infer_directories(
    line: &CommandLine,
    start: &Rc<Directories>,
    context: &PathContext<'_>,
) -> Vec<Rc<Directories>> {
    let mut current = Rc::clone(start);
    let changes_in_loop = |command: &CommandPart| {
        command.context.is_repeated && start.change(command, context).is_some()
    };
    if line.commands.iter().any(changes_in_loop) {
        current = start.with_unknown();
    }
    let mut directories = Vec::with_capacity(line.commands.len());
    for command in &line.commands {
        directories.push(Rc::clone(&current));
        let Some(changed) = current.change(command, context) else {
            continue;
        };
        let mut known: Vec<_> = changed.known.iter().map(|to| normalise(to)).collect();
        if known.is_empty() || directories.len() > 1 || !requires_first_command(line) {
            known.extend_from_slice(&current.known);
        }
        known.sort_unstable();
        known.dedup();
        let has_unknown = changed.has_unknown || known.len() > MAX_DIRECTORIES;
        known.truncate(MAX_DIRECTORIES);
        current = Rc::new(Directories { known, has_unknown });
    }
    directories
}

/// Returns the directory named by the words of a `cd` or `pushd`, if it is known before the command runs.
fn parse_target(words: &[PartWord], context: &PathContext<'_>) -> Option<PathBuf> {
    let is_option =
        |word: &&PartWord| matches!(word.value.as_deref(), Some("--" | "-P" | "-L" | "-e"));
    let mut operands = words.iter().skip(1).skip_while(is_option);
    let Some(word) = operands.next() else {
        return context.home().map(Path::to_owned);
    };
    let to = outline(word, context);
    let is_mentioned = |name: &&str| context.script().contains(name);
    let is_of_process = ["/proc/", "/dev/"].iter().any(|start| to.contains(start));
    let is_known = !is_of_process
        && !to.is_empty()
        && !to.starts_with(['-', '+'])
        && !to.contains([UNKNOWN, GLOB])
        && !["CDPATH", "cdable_vars"].iter().any(is_mentioned);
    (is_known && operands.next().is_none()).then(|| to.into())
}

/// Whether the rest of the command line runs only if its first command succeeds.
fn requires_first_command(line: &CommandLine) -> bool {
    let others = line.commands.iter().skip(1);
    let rest = others.filter(|command| !command.context.is_substituted);
    let mut follows = rest.map(|command| command.follows);
    line.is_flat
        && follows.next() == Some(Follows::And)
        && follows.all(|follows| matches!(follows, Follows::And | Follows::Pipe))
}
