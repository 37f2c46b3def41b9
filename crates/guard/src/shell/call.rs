//! The check of a command by its name and arguments, and its effects other than writes.

use std::ops::Range;

use super::parts::CommandContext;
use super::table::COMMANDS;
use super::verdict::{Checked, GitScope, GitUse, Refusal};
use super::word::PartWord;

/// Checks a command, given its name and its arguments.
pub(super) type Own = fn(&mut CheckedCommand<'_>, &PartWord, &[PartWord]) -> Checked;

/// A command that is being checked.
pub(super) struct CheckedCommand<'effects> {
    /// Its context.
    pub(super) context: CommandContext,
    /// Collects its effects.
    pub(super) effects: &'effects mut Effects,
    /// Number of enclosing wrappers.
    pub(super) level: usize,
}

/// Effects found so far.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Every change of directory, in order.
    pub(super) moves: Vec<Move>,
    /// Every use of git, in order.
    pub(super) git: Vec<GitCall>,
    /// Names of the commands, without duplicates.
    pub(super) commands: Vec<String>,
    /// The first command whose arguments are a language.
    pub(super) language: Option<String>,
    /// A command that may print secrets of the environment.
    pub(super) reveals: Option<String>,
}

/// A change of directory.
#[derive(Debug)]
pub(super) struct Move {
    /// The target, if known.
    pub(super) target: Option<String>,
    pub(super) context: CommandContext,
}

/// A git command.
#[derive(Debug)]
pub(super) struct GitCall {
    /// The directories given with `-C`.
    pub(super) steps: Vec<String>,
    pub(super) scope: GitScope,
    pub(super) span: Range<usize>,
}

impl Effects {
    pub(super) fn ran(&mut self, command: &str) {
        if !self.commands.iter().any(|known| known == command) {
            self.commands.push(command.to_owned());
        }
    }

    pub(super) fn read_language(&mut self, command: &str) {
        self.language.get_or_insert_with(|| command.to_owned());
    }

    /// Adds the effects of a later command, except its moves.
    pub(super) fn add(&mut self, later: Self) {
        for command in &later.commands {
            self.ran(command);
        }
        self.git.extend(later.git);
        self.language = self.language.take().or(later.language);
    }

    /// Returns the names of the programs, without subcommands, and of programs that they start.
    pub(super) fn programs(&self) -> Vec<String> {
        let names = self.commands.iter().map(|command| {
            let name = command.split(' ').next();
            name.unwrap_or_default()
        });
        let started = names.clone().filter_map(|name| COMMANDS.get(name));
        let started = started.flat_map(|command| command.starts.iter().copied());
        let mut programs: Vec<String> = Vec::new();
        for program in names.chain(started) {
            if !programs.iter().any(|known| known == program) {
                programs.push(program.to_owned());
            }
        }
        programs
    }

    /// Whether the shell may end in another directory.
    pub(super) fn changes_directory(&self) -> bool {
        self.moves.iter().any(|moved| !moved.context.is_in_subshell)
    }

    /// Returns all uses of git with their possible directories, given all changes of directory of the line.
    pub(super) fn git_uses(&self, moves: &[Move]) -> Result<Vec<GitUse>, Refusal> {
        // The change may fail, be skipped, come later or affect only a subshell.
        let starts: &[&[String]] = match moves {
            [] => &[&[]],
            [
                Move {
                    target: Some(target),
                    context,
                },
            ] if !context.is_repeated => &[&[], std::slice::from_ref(target)],
            _ => &[],
        };
        let mut uses: Vec<GitUse> = Vec::new();
        for call in &self.git {
            if starts.is_empty() {
                let why = "git in an unknown directory";
                return Err(Refusal::unknown(call.span.clone(), why));
            }
            for start in starts {
                let found = GitUse {
                    steps: [start, call.steps.as_slice()].concat(),
                    scope: call.scope,
                };
                if !uses.contains(&found) {
                    uses.push(found);
                }
            }
        }
        Ok(uses)
    }
}
