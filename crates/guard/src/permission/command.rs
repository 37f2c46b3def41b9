//! A command of a command line, as rules see it.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

use super::allow::{Allowable, is_harmlessly_set};
use super::command_pattern::CommandPattern;
use super::directories::{self, Directories};
use super::effects::Effects;
use super::invocation::Invocation;
use super::outline::outline;
use super::path_context::{PathContext, ResolvedPath};
use super::path_pattern::PathPattern;
use super::pattern::UNKNOWN;
use super::started::Started;
use crate::shell::{CommandLine, CommandPart};

/// A command of a command line.
pub(super) struct Command<'a> {
    /// The source text.
    pub(super) text: &'a str,
    /// The command and the commands it wraps, outermost first; empty for the rest of a line.
    pub(super) levels: Vec<CommandPart>,
    pub(super) context: &'a PathContext<'a>,
    /// Everything that may run.
    started: Started<'a>,
    /// Possible working directories.
    pub(super) directories: Rc<Directories>,
    /// The command line, if it has several commands and this is the first.
    line: Option<&'a str>,
    /// How it is written, as allow rules see it.
    pub(super) allowable: Allowable,
    effects: OnceCell<Effects>,
}

/// Returns the commands of a command line. The part that was not read is one more command, with a text only.
pub(super) fn commands<'a>(
    script: &'a str,
    line: &'a CommandLine,
    context: &'a PathContext<'a>,
) -> Vec<Command<'a>> {
    let start = Directories::new(context.request.directory);
    let directories = directories::of(line, &start, context);
    let parts = line.commands.iter().zip(directories);
    let read = parts.map(|(part, directories)| {
        let mut started = Started::new(context);
        started.add_command(part, line, &directories);
        let text = script.get(part.span.clone()).unwrap_or_default();
        Command::new(text, part.levels(), started, directories)
    });
    let mut commands: Vec<Command<'a>> = read.collect();
    if let Some(first) = commands.first_mut() {
        first.started.add_words(&line.words, &start);
    }
    if let Some(rest) = line.rest_of(script) {
        let mut started = Started::new(context);
        started.evaluate_rest("", rest);
        let directories = start.with_unknown();
        commands.push(Command::new(rest, Vec::new(), started, directories));
    }
    if let [first, _, ..] = commands.as_mut_slice() {
        first.line = Some(script.trim());
    }
    commands
}

impl<'a> Command<'a> {
    fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        started: Started<'a>,
        directories: Rc<Directories>,
    ) -> Self {
        Self {
            text,
            allowable: Allowable::of(&levels, started.context),
            levels,
            context: started.context,
            started,
            directories,
            line: None,
            effects: OnceCell::new(),
        }
    }

    /// Whether it was read.
    pub(super) fn is_understood(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Returns the programs that it starts.
    pub(super) fn invocations(&self) -> &[Invocation<'a>] {
        &self.started.invocations
    }

    /// Whether a deny or ask rule is about it, or about anything that it starts.
    pub(super) fn runs(&self, pattern: &CommandPattern) -> bool {
        self.invocations().iter().any(|one| one.is(pattern))
            || self.is_understood() && pattern.covers(self.text)
            || self.line.is_some_and(|line| pattern.covers(line))
    }

    /// Whether a program that it starts is known only at run time.
    pub(super) fn runs_unknown(&self) -> bool {
        self.invocations().iter().any(Invocation::is_unknown)
    }

    /// Whether it evaluates a text that mentions a rule, or one that is known only at run time. `is_trusted` says for
    /// which programs that does not matter.
    pub(super) fn evaluates(
        &self,
        pattern: &CommandPattern,
        is_trusted: impl Fn(&str) -> bool,
    ) -> bool {
        let mut evaluated = self.started.evaluated.iter();
        evaluated.any(|one| {
            let mut text = one.text.iter();
            text.all(|text| pattern.is_mentioned_in(text)) && !is_trusted(&one.program)
        })
    }

    /// Whether it evaluates a text that mentions a file.
    pub(super) fn evaluates_name(&self, pattern: &PathPattern) -> bool {
        let evaluated = self.started.evaluated.iter();
        let texts = evaluated.filter_map(|one| one.text.as_deref());
        let is_name_end =
            |letter: char| letter.is_whitespace() || "\"'`|<>();&[]{}=,".contains(letter);
        let names = texts.flat_map(|text| text.split(is_name_end));
        let mut files = names
            .filter(|name| !name.is_empty())
            .flat_map(|name| self.directories.files(name, self.context));
        files.any(|file| pattern.restricts(&file, self.context))
    }

    /// Returns the known leading words of the innermost command, unless a variable may change its
    /// meaning.
    pub(super) fn known_words(&self) -> Option<Vec<&str>> {
        let level = self.levels.last().filter(|part| is_harmlessly_set(part))?;
        let words = level.words.iter();
        Some(words.map_while(|word| word.value.as_deref()).collect())
    }

    /// Whether it consists only of redirections.
    pub(super) fn is_redirection(&self) -> bool {
        self.levels
            .iter()
            .all(|part| part.words.is_empty() && part.assignments.is_empty())
    }

    /// Returns the targets of its redirections, if all of them are known.
    pub(super) fn redirection_targets(&self) -> Option<&[ResolvedPath]> {
        let words = self.levels.iter().take(1).flat_map(CommandPart::writes);
        let mut words = words.map(|word| outline(word, self.context));
        let targets = &self.effects().redirected;
        let is_known =
            !words.any(|word| word.contains(UNKNOWN)) && !targets.iter().any(|path| path.has_gap);
        (is_known && !self.directories.is_open).then_some(targets)
    }

    /// Whether its redirections are known to be its only changes.
    pub(super) fn only_reads(&self) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // The substitution in an assigned value is a separate part.
            return part.verdict.is_read_only() && !part.assignments.is_empty();
        }
        let is_inside = |to: &PathBuf| self.context.is_inside(&self.context.resolve(to));
        let stays = || {
            let after = self.directories.after(part, self.context);
            after.is_none_or(|after| !after.is_open && after.known.iter().all(is_inside))
        };
        part.verdict.is_read_only()
            && !self.context.sets_programs()
            && is_harmlessly_set(part)
            && stays()
            && !self.reads_outside()
    }

    /// Returns what it does to files and servers.
    pub(super) fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| {
            let all = self.invocations().iter();
            Effects {
                reads: all.clone().flat_map(Invocation::reads).collect(),
                redirected: all.clone().flat_map(Invocation::output_files).collect(),
                changes: all.clone().flat_map(Invocation::changes).collect(),
                hosts: all.flat_map(Invocation::hosts).collect(),
            }
        })
    }
}
