//! A command of a command line in the form that rules are matched against.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

use super::allow::{Allowable, has_harmless_assignments};
use super::command_pattern::CommandPattern;
use super::directories::{Directories, infer_directories};
use super::effects::Effects;
use super::invocation::Invocation;
use super::outline::outline;
use super::path_context::{PathContext, ResolvedPath};
use super::path_pattern::PathPattern;
use super::pattern::UNKNOWN;
use super::started_programs::StartedPrograms;
use crate::shell::{CommandLine, CommandPart};

/// A command of a command line.
pub(super) struct Command<'a> {
    /// The source text.
    pub(super) text: &'a str,
    /// The command and the commands it wraps, outermost first; empty if the text was not parsed.
    pub(super) levels: Vec<CommandPart>,
    pub(super) context: &'a PathContext<'a>,
    started: StartedPrograms<'a>,
    /// Possible working directories.
    pub(super) directories: Rc<Directories>,
    /// The whole command line, if it has several commands and this is the first.
    line: Option<&'a str>,
    /// The spellings that allow rules are matched against.
    pub(super) allowable: Allowable,
    effects: OnceCell<Effects>,
}

/// Builds the commands of a command line. The part that was not parsed is one more command, which has no levels.
pub(super) fn build_commands<'a>(
    script: &'a str,
    line: &'a CommandLine,
    context: &'a PathContext<'a>,
) -> Vec<Command<'a>> {
    let start = Directories::new(context.request.directory);
    let directories = infer_directories(line, &start, context);
    let parts = line.commands.iter().zip(directories);
    let parsed = parts.map(|(part, directories)| {
        let mut started = StartedPrograms::new(context);
        started.add_command(part, line, &directories);
        let text = script.get(part.span.clone()).unwrap_or_default();
        Command::new(text, part.levels(), started, directories)
    });
    let mut commands: Vec<Command<'a>> = parsed.collect();
    if let Some(first) = commands.first_mut() {
        first.started.add_words(&line.words, &start);
    }
    if let Some(rest) = line.unread_text(script) {
        let mut started = StartedPrograms::new(context);
        started.add_unparsed("", rest);
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
        started: StartedPrograms<'a>,
        directories: Rc<Directories>,
    ) -> Self {
        Self {
            text,
            allowable: Allowable::new(&levels, started.context),
            levels,
            context: started.context,
            started,
            directories,
            line: None,
            effects: OnceCell::new(),
        }
    }

    /// Whether its text was parsed.
    pub(super) fn is_parsed(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Returns the programs that it may start.
    pub(super) fn invocations(&self) -> &[Invocation<'a>] {
        &self.started.invocations
    }

    /// Whether the pattern of a deny or ask rule matches the command, its command line, or a program that it may start.
    pub(super) fn matches(&self, pattern: &CommandPattern) -> bool {
        let mut invocations = self.invocations().iter();
        invocations.any(|invocation| invocation.matches(pattern))
            || self.is_parsed() && pattern.covers(self.text)
            || self.line.is_some_and(|line| pattern.covers(line))
    }

    /// Whether it may start a program that is known only at run time.
    pub(super) fn may_run_unknown_program(&self) -> bool {
        self.invocations().iter().any(Invocation::is_unknown)
    }

    /// Whether it evaluates a text that mentions the words of a pattern, or one that is known only at run time.
    /// Texts of programs that satisfy `is_trusted` do not count.
    pub(super) fn may_evaluate_match(
        &self,
        pattern: &CommandPattern,
        is_trusted: impl Fn(&str) -> bool,
    ) -> bool {
        let mut evaluated = self.started.evaluated.iter();
        evaluated.any(|evaluated| {
            let text = evaluated.text.as_deref();
            text.is_none_or(|text| pattern.is_mentioned_in(text)) && !is_trusted(&evaluated.program)
        })
    }

    /// Whether it evaluates a text that mentions a file.
    pub(super) fn evaluates_file_name(&self, pattern: &PathPattern) -> bool {
        let is_name_end =
            |letter: char| letter.is_whitespace() || "\"'`|<>();&[]{}=,".contains(letter);
        let evaluated = self.started.evaluated.iter();
        let texts = evaluated.filter_map(|evaluated| evaluated.text.as_deref());
        let words = texts.flat_map(|text| text.split(is_name_end));
        let names = words.filter(|name| !name.is_empty());
        let mut files = names.flat_map(|name| self.directories.files(name, self.context));
        files.any(|file| pattern.restricts(&file, self.context))
    }

    /// Returns the leading words of the innermost command whose values are known; `None` if an assignment may change
    /// which command runs.
    pub(super) fn known_words(&self) -> Option<Vec<&str>> {
        let words = self.plain_innermost()?.words.iter();
        Some(words.map_while(|word| word.value.as_deref()).collect())
    }

    /// Returns the innermost command, unless an assignment may change which command runs.
    pub(super) fn plain_innermost(&self) -> Option<&CommandPart> {
        let innermost = self.levels.last();
        innermost.filter(|level| has_harmless_assignments(level))
    }

    /// Whether it has neither words nor assignments.
    pub(super) fn has_only_redirections(&self) -> bool {
        let mut levels = self.levels.iter();
        levels.all(|part| part.words.is_empty() && part.assignments.is_empty())
    }

    /// Returns the targets of its redirections, if all of them are known.
    pub(super) fn redirection_targets(&self) -> Option<&[ResolvedPath]> {
        let outermost = self.levels.iter().take(1);
        let mut words = outermost.flat_map(CommandPart::output_targets);
        let targets = &self.effects().redirected;
        let has_unknown = self.directories.has_unknown
            || words.any(|word| outline(word, self.context).contains(UNKNOWN))
            || targets.iter().any(|path| path.has_gap);
        (!has_unknown).then_some(targets)
    }

    /// Whether it is known to change nothing except by redirections.
    pub(super) fn only_reads(&self) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // A substitution in an assigned value is a separate command.
            return part.verdict.is_read_only() && !part.assignments.is_empty();
        }
        let is_inside = |to: &PathBuf| self.context.is_inside(&self.context.resolve(to));
        let stays_inside = || {
            let changed = self.directories.change(part, self.context);
            changed.is_none_or(|to| !to.has_unknown && to.known.iter().all(is_inside))
        };
        part.verdict.is_read_only()
            && !self.context.may_set_program_lookup()
            && has_harmless_assignments(part)
            && stays_inside()
            && !self.reads_outside()
    }

    /// Returns its effects, with those of all programs that it may start.
    pub(super) fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| {
            let started = self.invocations().iter();
            Effects {
                reads: started.clone().flat_map(Invocation::reads).collect(),
                redirected: started.clone().flat_map(Invocation::output_files).collect(),
                changes: started.clone().flat_map(Invocation::changes).collect(),
                hosts: started.flat_map(Invocation::hosts).collect(),
            }
        })
    }
}
