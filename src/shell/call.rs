//! One simple command: its assignments, then its name in the tables.

use tree_sitter::Node;

use super::commands::{Entry, entry};
use super::effects::{Effects, Place, Shell};
use super::options;
use super::parsed_command::ParsedCommand;
use super::refusal::{Refusal, excerpt};
use super::table::{COMMANDS, Property};
use super::variables::{may_be_passed, may_be_set};
use super::word::Word;

/// How deep commands may start each other (`time timeout 5 ls`).
const MOST_LEVELS: usize = 6;

/// A command that is being checked.
pub(super) struct Call<'effects> {
    /// Where it stands.
    pub(super) place: Place,
    /// Collects its effects.
    pub(super) effects: &'effects mut Effects,
    /// How many commands are around it.
    pub(super) level: usize,
}

/// Checks a simple command.
pub(super) fn check(
    text: &str,
    simple: &ParsedCommand<'_>,
    place: Place,
    effects: &mut Effects,
) -> Result<(), Refusal> {
    for assignment in &simple.assignments {
        let name = assignment.name.as_str();
        let is_passed = !simple.words.is_empty();
        let accepted = if is_passed {
            may_be_passed(name, &assignment.value)
        } else {
            may_be_set(name)
        };
        if !accepted {
            let shown = excerpt(text.get(assignment.span.clone()).unwrap_or(name));
            let why = if is_passed {
                format!("`{shown}` may change what the command does")
            } else {
                format!("`{shown}`: `{name}` means something to the shell or to programs")
            };
            return Err(Refusal::unknown(assignment.span.clone(), why));
        }
    }
    if simple.words.is_empty() {
        return Ok(());
    }
    let mut call = Call {
        place,
        effects,
        level: 0,
    };
    call.check(&simple.words)
}

/// Whether a command is known to change nothing, in whatever directory it runs. What is in its
/// substitutions, and what is assigned before its words, is not looked at.
pub(super) fn reads_anywhere(text: &str, simple: &ParsedCommand<'_>) -> bool {
    let mut effects = Effects::default();
    let place = Place::default();
    let checked = if simple.words.is_empty() {
        check(text, simple, place, &mut effects)
    } else {
        let mut call = Call {
            place,
            effects: &mut effects,
            level: 0,
        };
        call.check(&simple.words)
    };
    let waits_for_all = |node: &Node<'_>| node.kind() != "process_substitution";
    checked.is_ok()
        && effects.language.is_none()
        && effects.git_uses().is_ok_and(|uses| uses.is_empty())
        && simple.substitutions.iter().all(waits_for_all)
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
        let entry = entry(name);
        if self.place.shell == Shell::Unattended
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
        if self.level >= MOST_LEVELS {
            return Err(Refusal::unknown(
                outer.span.clone(),
                "too many commands that start each other",
            ));
        }
        let mut inner = Call {
            place: self.place,
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
