//! One simple command: its assignments, then its name in the tables.

use super::effects::{CommandContext, Effects, Shell};
use super::options;
use super::refusal::{Refusal, excerpt};
use super::table::{COMMANDS, Command, Property};
use super::word::Word;

/// How deep commands may start each other (`time timeout 5 ls`).
const MAX_LEVELS: usize = 6;

/// What is known about a name.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// It reads, with these options.
    Listed(&'static Command),
    /// It has its own grammar.
    Own(Own),
    /// It changes something; the text says what, after the name.
    Writes(&'static str),
    /// Nothing.
    Unlisted,
}

/// Checks a command from its name and its arguments.
pub(super) type Own = fn(&mut Call<'_>, &Word, &[Word]) -> Result<(), Refusal>;

/// A command that is being checked.
pub(super) struct Call<'effects> {
    /// Looks up what is known about a name.
    pub(super) entry: fn(&str) -> Entry,
    /// Where it stands.
    pub(super) context: CommandContext,
    /// Collects its effects.
    pub(super) effects: &'effects mut Effects,
    /// How many commands are around it.
    pub(super) level: usize,
}

impl Call<'_> {
    /// Checks a command and its arguments.
    pub(super) fn check(&mut self, words: &[Word]) -> Result<(), Refusal> {
        let Some((first, arguments)) = words.split_first() else {
            return Ok(());
        };
        let Some(name) = first.literal() else {
            return Err(Refusal::unknown(
                first.span.clone(),
                "the name of the command is only known when it runs",
            ));
        };
        if name.contains('/') {
            return Err(Refusal::unknown(
                first.span.clone(),
                format!(
                    "`{}` is a path: which program that is, is not known",
                    excerpt(name)
                ),
            ));
        }
        let entry = (self.entry)(name);
        if self.context.shell == Shell::Unattended
            && !matches!(entry, Entry::Writes(_))
            && !ends_soon(name, arguments)
        {
            return Err(Refusal::unknown(
                first.span.clone(),
                format!("`{}` may be left running", excerpt(name)),
            ));
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
                    // Which names itself with its subcommand.
                    self.effects.ran(name);
                }
                check(self, first, arguments)
            }
            Entry::Writes(what) => Err(Refusal::writes(
                first.span.clone(),
                format!("`{name}` {what}"),
            )),
            Entry::Unlisted => Err(Refusal::unknown(
                first.span.clone(),
                format!("`{}` is not a command known to only read", excerpt(name)),
            )),
        }
    }

    /// Checks a command that another one starts.
    pub(super) fn check_inner(&mut self, outer: &Word, words: &[Word]) -> Result<(), Refusal> {
        // It may outlive the command that started it.
        self.effects.may_leave_processes = true;
        if self.level >= MAX_LEVELS {
            return Err(Refusal::unknown(
                outer.span.clone(),
                "too many commands that start each other",
            ));
        }
        let mut inner = Call {
            entry: self.entry,
            context: self.context,
            effects: &mut *self.effects,
            level: self.level + 1,
        };
        inner.check(words)
    }
}

/// Whether a command comes to an end by itself, whatever becomes of its output.
fn ends_soon(name: &str, arguments: &[Word]) -> bool {
    const END_SOON: &str = "cat cut echo git head jq ls printf sed sort tr uniq wc";
    let is_endless = arguments
        .iter()
        .any(|word| word.prefix.starts_with("/dev/"));
    END_SOON.split(' ').any(|known| known == name) && !is_endless
}
