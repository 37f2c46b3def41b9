//! Effects of a command line that are no writes: directories it goes to, programs it runs.

use std::ops::Range;

use super::refusal::Refusal;
use super::requirement::{GitScope, GitUse};
use super::table::COMMANDS;

/// Where a command stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CommandContext {
    /// In which shell.
    pub(super) shell: Shell,
    /// Run any number of times.
    pub(super) repeated: bool,
    /// Its output goes to another command, which may end first.
    pub(super) is_piped: bool,
    /// A pipe or a redirection of a construct around it gives it its standard input.
    pub(super) has_input: bool,
    /// Directly in an item of a `case`, which `;;` ends.
    pub(super) in_case_item: bool,
    /// Where the construct ends that may not run, or runs in a shell of its own: a variable that is set
    /// here has its value up to there.
    pub(super) scope_end: usize,
    /// For a list that is the left side of `&&`: where the chain of `&&` ends; else 0.
    pub(super) chain_end: usize,
}

/// The shell that runs a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shell {
    /// The one that was started.
    #[default]
    Main,
    /// A subshell, whose directory does not matter afterwards.
    Subshell,
    /// A subshell that may outlive the command line.
    Unattended,
}

impl CommandContext {
    pub(super) fn in_case_item(self) -> Self {
        Self {
            in_case_item: true,
            ..self
        }
    }

    pub(super) fn outside_of_case_item(self) -> Self {
        Self {
            in_case_item: false,
            ..self
        }
    }

    pub(super) fn in_subshell(self) -> Self {
        match self.shell {
            Shell::Main => Self {
                shell: Shell::Subshell,
                ..self
            },
            Shell::Subshell | Shell::Unattended => self,
        }
    }

    pub(super) fn in_process_substitution(self) -> Self {
        Self {
            shell: Shell::Unattended,
            ..self
        }
    }

    /// The place in a construct that ends at this byte.
    pub(super) fn within(self, scope_end: usize) -> Self {
        Self { scope_end, ..self }
    }

    pub(super) fn in_loop(self) -> Self {
        Self {
            repeated: true,
            ..self
        }
    }
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Every change of directory, in order.
    moves: Vec<Move>,
    /// Every use of git, in order.
    git: Vec<GitCall>,
    /// The names of the commands, each once.
    pub(super) commands: Vec<String>,
    /// The first command whose arguments are a language.
    pub(super) language: Option<String>,
    /// A substitution may outlive what reads it, or a command the one that started it.
    pub(super) may_leave_processes: bool,
}

/// A change of directory.
#[derive(Debug)]
struct Move {
    /// Where to, if it is known.
    target: Option<String>,
    context: CommandContext,
}

/// One `git` in the command line.
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

    /// The names of the programs, without subcommands, and of those that they start.
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

    /// Whether the shell may end elsewhere.
    pub(super) fn changes_directory(&self) -> bool {
        self.moves
            .iter()
            .any(|moved| moved.context.shell == Shell::Main)
    }

    /// Everywhere that git may run.
    pub(super) fn git_uses(&self) -> Result<Vec<GitUse>, Refusal> {
        let mut uses: Vec<GitUse> = Vec::new();
        let mut add = |steps: Vec<String>, scope| {
            let found = GitUse { steps, scope };
            if !uses.contains(&found) {
                uses.push(found);
            }
        };
        for call in &self.git {
            match self.moves.as_slice() {
                [] => add(call.steps.clone(), call.scope),
                [
                    Move {
                        target: Some(target),
                        context:
                            CommandContext {
                                repeated: false, ..
                            },
                    },
                ] => {
                    // The change may fail, be skipped, come later or hold in a subshell only.
                    add(call.steps.clone(), call.scope);
                    let moved = [target.clone()]
                        .into_iter()
                        .chain(call.steps.iter().cloned());
                    add(moved.collect(), call.scope);
                }
                _ => {
                    return Err(Refusal::unknown(
                        call.span.clone(),
                        "git in a directory that is not known",
                    ));
                }
            }
        }
        Ok(uses)
    }
}
