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
    /// Known directories; never empty.
    pub(super) known: Vec<PathBuf>,
    /// Whether others are possible.
    pub(super) is_open: bool,
}

impl Directories {
    /// Creates one known directory.
    pub(super) fn new(directory: &Path) -> Rc<Self> {
        Rc::new(Self {
            known: vec![directory.to_owned()],
            is_open: false,
        })
    }

    /// Returns these directories and unknown ones.
    pub(super) fn with_unknown(&self) -> Rc<Self> {
        Rc::new(Self {
            known: self.known.clone(),
            is_open: true,
        })
    }

    /// Returns the directories that a command changes to from these, if it does; none is known if its target is known
    /// only at run time.
    pub(super) fn after(&self, command: &CommandPart, context: &PathContext<'_>) -> Option<Self> {
        let levels = command.levels();
        let level = levels.last()?;
        let to = match level.program()? {
            "cd" | "chdir" | "pushd" => operand(&level.words, context),
            "popd" => None,
            _ => return None,
        };
        let reached = |to: &PathBuf| self.known.iter().map(|from| from.join(to)).collect();
        Some(Self {
            known: to.as_ref().map(reached).unwrap_or_default(),
            is_open: self.is_open || to.is_none(),
        })
    }

    /// Returns the file that `name`, a word or part of one, names in each directory.
    pub(super) fn files(&self, name: &str, context: &PathContext<'_>) -> Vec<ResolvedPath> {
        // A program may expand it.
        let home = name.strip_prefix("~/");
        let home = home.and_then(|below| Some(context.home()?.join(below)));
        let path = home.unwrap_or_else(|| PathBuf::from(name));
        let count = if path.is_absolute() { 1 } else { usize::MAX };
        let known = self.known.iter().take(count);
        let files = known.map(|directory| context.resolve(&directory.join(&path)));
        files.collect()
    }
}

/// Returns the directories of each command of a line that starts in one of `start`. A `cd` may fail or not run, so the
/// directory before it stays possible unless all commands are joined by `&&`.
pub(super) fn of(
    line: &CommandLine,
    start: &Rc<Directories>,
    context: &PathContext<'_>,
) -> Vec<Rc<Directories>> {
    let mut current = Rc::clone(start);
    let mut repeated = line.commands.iter().filter(|one| one.context.is_repeated);
    if repeated.any(|command| start.after(command, context).is_some()) {
        current = start.with_unknown();
    }
    let mut found = Vec::with_capacity(line.commands.len());
    for command in &line.commands {
        found.push(Rc::clone(&current));
        let Some(after) = current.after(command, context) else {
            continue;
        };
        let mut known: Vec<_> = after.known.iter().map(|to| normalise(to)).collect();
        if known.is_empty() || found.len() > 1 || !begins_with_condition(line) {
            known.extend_from_slice(&current.known);
        }
        known.sort_unstable();
        known.dedup();
        let is_open = after.is_open || known.len() > MAX_DIRECTORIES;
        known.truncate(MAX_DIRECTORIES);
        current = Rc::new(Directories { known, is_open });
    }
    found
}

/// Returns the operand of `cd` or `pushd`, if it leads to one directory.
fn operand(words: &[PartWord], context: &PathContext<'_>) -> Option<PathBuf> {
    let is_option =
        |word: &&PartWord| matches!(word.value.as_deref(), Some("--" | "-P" | "-L" | "-e"));
    let mut operands = words.iter().skip(1).skip_while(is_option);
    let Some(word) = operands.next() else {
        return context.home().map(Path::to_owned);
    };
    let to = outline(word, context);
    let is_fixed = !["/proc/", "/dev/"].iter().any(|start| to.contains(start));
    let is_known = is_fixed
        && !to.is_empty()
        && !to.starts_with(['-', '+'])
        && !to.contains([UNKNOWN, GLOB])
        && !["CDPATH", "cdable_vars"]
            .iter()
            .any(|name| context.script().contains(name));
    (is_known && operands.next().is_none()).then(|| to.into())
}

/// Whether the rest of the command line runs only if its first command succeeds.
fn begins_with_condition(line: &CommandLine) -> bool {
    let rest = line
        .commands
        .iter()
        .skip(1)
        .filter(|command| !command.context.is_substituted);
    let mut follows = rest.map(|command| command.follows);
    line.is_flat
        && follows.next() == Some(Follows::And)
        && follows.all(|follows| matches!(follows, Follows::And | Follows::Pipe))
}
