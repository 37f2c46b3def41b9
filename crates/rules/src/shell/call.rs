//! The check of a command by its name and arguments, and its effects other than writes.

use std::ops::Range;

use super::commands::prints_environment;
use super::options;
use super::parts::CommandContext;
use super::table::{COMMANDS, Command, NETWORK, Property};
use super::verdict::{Checked, GitScope, GitUse, Refusal, excerpt};
use super::word::PartWord;

/// Maximum nesting depth of wrappers (`time timeout 5 ls`).
const MAX_LEVELS: usize = 6;

/// Maximum number of words in the name of a command.
const MAX_NETWORK_NAME: usize = 3;

/// The entry for a command name.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// It is read-only with these options.
    Listed(&'static Command),
    /// It has a checker for its grammar.
    Own(Own),
    /// It changes something; the text follows the name in messages.
    Writes(&'static str),
    /// The name is unknown.
    Unlisted,
}

/// Checks a command, given its name and its arguments.
pub(super) type Own = fn(&mut CheckedCommand<'_>, &PartWord, &[PartWord]) -> Checked;

/// A command that is being checked.
pub(super) struct CheckedCommand<'effects> {
    /// Looks up the entry for a name.
    pub(super) entry: fn(&str) -> Entry,
    /// Its context.
    pub(super) context: CommandContext,
    /// Collects its effects.
    pub(super) effects: &'effects mut Effects,
    /// Number of enclosing wrappers.
    pub(super) level: usize,
}

impl CheckedCommand<'_> {
    /// Checks a command and its arguments.
    pub(super) fn check(&mut self, words: &[PartWord]) -> Checked {
        let Some((first, arguments)) = words.split_first() else {
            return Ok(());
        };
        let Some(name) = first.literal() else {
            return Err(first.refusal("the command name is known only at run time"));
        };
        if name.contains('/') {
            return Err(first.refusal(format!(
                "`{}` is a path to an unknown program",
                excerpt(name)
            )));
        }
        let entry = (self.entry)(name);
        if let Some(checked) = self.check_network(words) {
            return checked;
        }
        if prints_environment(name, arguments) {
            self.effects.reveals.push(name.to_owned());
        }
        let listed = COMMANDS.get(name);
        if listed.is_some_and(|command| command.is(Property::Language)) {
            self.effects.read_language(name);
        }
        match entry {
            Entry::Listed(command) => {
                options::read(command, name, arguments)?;
                self.effects.ran(name);
                Ok(())
            }
            Entry::Own(check) => {
                if name != "git" {
                    // `git` is recorded with its subcommand.
                    self.effects.ran(name);
                }
                check(self, first, arguments)
            }
            Entry::Writes(what) => Err(first.writes(format!("`{name}` {what}"))),
            Entry::Unlisted => Err(first.refusal(format!(
                "`{}` is not a command known to be read-only",
                excerpt(name)
            ))),
        }
    }

    /// Checks a command of the table; `None` if the words are another command. The verdict requires that no
    /// settings of the directory choose servers or programs.
    fn check_network(&mut self, words: &[PartWord]) -> Option<Checked> {
        let known: Vec<&str> = words.iter().map_while(PartWord::literal).collect();
        let lengths = (2..=MAX_NETWORK_NAME.min(known.len())).rev();
        let mut names = lengths.filter_map(|length| Some((length, known.get(..length)?.join(" "))));
        let (length, form, name) =
            names.find_map(|(length, name)| Some((length, NETWORK.get(&name)?, name)))?;
        if let Some(unknown) = words.get(known.len()) {
            let why = format!("`{name}` with a request that is known only at run time");
            return Some(Err(unknown.refusal(why)));
        }
        let (own, arguments) = words.split_at_checked(length)?;
        let span = own.first()?.span.start..own.last()?.span.end;
        Some(options::read(form, &name, arguments).map(|_| {
            self.effects.ran(&name);
            for program in &form.starts {
                self.effects.ran(program);
            }
            self.effects.called_git(GitCall {
                steps: Vec::new(),
                scope: GitScope::Network,
                span,
            });
            self.effects.read_network(&name);
        }))
    }

    /// Checks a command that another one starts.
    pub(super) fn check_inner(&mut self, outer: &PartWord, words: &[PartWord]) -> Checked {
        // It may outlive the command that started it.
        self.effects.may_leave_processes = true;
        if self.level >= MAX_LEVELS {
            return Err(outer.refusal("too many nested commands"));
        }
        let mut inner = CheckedCommand {
            entry: self.entry,
            context: self.context,
            effects: &mut *self.effects,
            level: self.level + 1,
        };
        inner.check(words)
    }
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
    /// The first command that reads from a server.
    pub(super) network: Option<String>,
    /// The commands and variables that may print secrets of the environment.
    pub(super) reveals: Vec<String>,
    /// Whether a substitution may outlive its reader, or a command its parent.
    pub(super) may_leave_processes: bool,
}

/// A change of directory.
#[derive(Debug)]
pub(super) struct Move {
    /// The target, if known.
    target: Option<String>,
    context: CommandContext,
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
    pub(super) fn moved(&mut self, target: Option<String>, context: CommandContext) {
        self.moves.push(Move { target, context });
    }

    pub(super) fn called_git(&mut self, call: GitCall) {
        self.git.push(call);
    }

    pub(super) fn ran(&mut self, command: &str) {
        if !self.commands.iter().any(|known| known == command) {
            self.commands.push(command.to_owned());
        }
    }

    pub(super) fn read_language(&mut self, command: &str) {
        self.language.get_or_insert_with(|| command.to_owned());
    }

    pub(super) fn read_network(&mut self, command: &str) {
        self.network.get_or_insert_with(|| command.to_owned());
    }

    /// Adds the effects of a later command, except its moves.
    pub(super) fn add(&mut self, later: Self) {
        for command in &later.commands {
            self.ran(command);
        }
        self.git.extend(later.git);
        self.reveals.extend(later.reveals);
        self.language = self.language.take().or(later.language);
        self.network = self.network.take().or(later.network);
        self.may_leave_processes |= later.may_leave_processes;
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
        let mut uses: Vec<GitUse> = Vec::new();
        let mut add = |steps: Vec<String>, scope| {
            let found = GitUse { steps, scope };
            if !uses.contains(&found) {
                uses.push(found);
            }
        };
        for call in &self.git {
            match moves {
                [] => add(call.steps.clone(), call.scope),
                [
                    Move {
                        target: Some(target),
                        context:
                            CommandContext {
                                is_repeated: false, ..
                            },
                    },
                ] => {
                    // The change may fail, be skipped, come later or affect only a subshell.
                    add(call.steps.clone(), call.scope);
                    let changed = [target.clone()]
                        .into_iter()
                        .chain(call.steps.iter().cloned());
                    add(changed.collect(), call.scope);
                }
                _ => {
                    return Err(Refusal::unknown(
                        call.span.clone(),
                        "git in an unknown directory",
                    ));
                }
            }
        }
        Ok(uses)
    }
}
