//! The check of a command by its name and arguments.

use super::effects::{CommandContext, Effects, Shell};
use super::options;
use super::table::{COMMANDS, Command, Property};
use super::verdict::{Refusal, excerpt};
use super::word::Word;

/// Maximum nesting depth of wrappers (`time timeout 5 ls`).
const MAX_LEVELS: usize = 6;

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
pub(super) type Own = fn(&mut Call<'_>, &Word, &[Word]) -> Result<(), Refusal>;

/// A command that is being checked.
pub(super) struct Call<'effects> {
    /// Looks up the entry for a name.
    pub(super) entry: fn(&str) -> Entry,
    /// Its context.
    pub(super) context: CommandContext,
    /// Collects its effects.
    pub(super) effects: &'effects mut Effects,
    /// Number of enclosing wrappers.
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
                "the command name is known only at run time",
            ));
        };
        if name.contains('/') {
            return Err(Refusal::unknown(
                first.span.clone(),
                format!("`{}` is a path to an unknown program", excerpt(name)),
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
                    // `git` is recorded with its subcommand.
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
                format!("`{}` is not a command known to be read-only", excerpt(name)),
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
                "too many nested commands",
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

/// Whether a command ends by itself even if its output is not read.
fn ends_soon(name: &str, arguments: &[Word]) -> bool {
    const END_SOON: &str = "cat cut echo git head jq ls printf sed sort tr uniq wc";
    let is_endless = arguments
        .iter()
        .any(|word| word.prefix.starts_with("/dev/"));
    END_SOON.split(' ').any(|known| known == name) && !is_endless
}
