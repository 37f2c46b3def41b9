//! The commands of a command line.
//!
//! Bash runs nothing else, except what these commands start (`eval`, `xargs`) and arithmetic in `[[` evaluates.
//! Descriptors, `/dev/null`, here-documents and here-strings do not count as files. The redirections of a compound
//! command are a command of their own.

use std::ops::Range;

use super::expansion::assignment_name_length;
use super::options;
use super::redirection::Redirection;
use super::table::{Table, WRAPPERS};
use super::verdict::Verdict;
use super::word::PartWord;

/// Maximum length of an analysed command line, in bytes.
pub const MAX_LENGTH: usize = 16 * 1024;

/// Maximum number of levels of nested wrappers.
const MAX_LEVELS: usize = 32;

/// A command of a command line: a program with arguments, a condition in `[[ … ]]`, or only assignments or
/// redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Byte range of the words in the text; without words, of the assignments and redirections.
    pub span: Range<usize>,
    /// The operator before it.
    pub follows: Follows,
    /// The program and its arguments; empty if it only assigns or redirects.
    pub words: Vec<PartWord>,
    /// The variables that are assigned before it.
    pub assignments: Vec<PartAssignment>,
    /// Its redirections.
    pub redirections: Vec<Redirection>,
    /// The source of its standard input.
    pub input: PartInput,
    /// The verdict on the command without its redirections and assignments, wherever it starts. It is unknown if the
    /// arguments are a language, as those of `awk`.
    pub verdict: Verdict,
    /// The constructs of the line around it.
    pub context: CommandContext,
    /// Whether it is a condition in `[[ … ]]`.
    pub(crate) is_condition: bool,
    /// Whether it has process substitutions, `<(…)` or `>(…)`.
    pub(crate) has_processes: bool,
}

/// The context of a command in its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// Whether a subshell runs it, so that a change of directory has no effect on the shell.
    pub is_in_subshell: bool,
    /// Whether it is in a loop.
    pub is_repeated: bool,
    /// Whether it is in a branch of `if` or `case`.
    pub is_conditional: bool,
    /// Whether it is in a substitution of another command.
    pub is_substituted: bool,
}

/// An assignment `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartAssignment {
    /// The variable.
    pub name: String,
    /// The value.
    pub word: PartWord,
}

/// The operator between two commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Follows {
    /// None for the first command; else a line break or `;`.
    #[default]
    Next,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
    /// `&`
    Background,
}

/// The standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PartInput {
    /// A file, or the standard input of the command line.
    #[default]
    Other,
    /// A pipe from the commands with these indexes in the line.
    Pipe(Range<usize>),
    /// A here-document or a here-string; `None` if its text is known only at run time.
    Text(Option<String>),
}

impl PartInput {
    /// Returns the text of a here-document or here-string, if known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            Self::Other | Self::Pipe(_) => None,
        }
    }
}

impl CommandPart {
    /// Returns the source text of its assignments, each followed by a space.
    pub fn assignment_text(&self) -> String {
        let assignments = self.assignments.iter();
        let parts = assignments.flat_map(|set| [&*set.name, "=", &*set.word.text, " "]);
        parts.collect()
    }

    /// Returns the targets of its redirections that open files to read.
    pub fn input_targets(&self) -> impl Iterator<Item = &PartWord> {
        let redirections = self.redirections.iter();
        let reading = redirections.filter(|redirection| redirection.reads());
        reading.map(|redirection| &redirection.target)
    }

    /// Returns the targets of its redirections that open files to write.
    pub fn output_targets(&self) -> impl Iterator<Item = &PartWord> {
        let redirections = self.redirections.iter();
        let writing = redirections.filter(|redirection| redirection.writes());
        writing.map(|redirection| &redirection.target)
    }

    /// Returns the last redirection of its standard input, which decides.
    pub(super) fn input_redirection(&self) -> Option<&Redirection> {
        let mut redirections = self.redirections.iter();
        redirections.rfind(|redirection| redirection.is_input())
    }

    /// Returns the value of the first word, unless it is known only at run time.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }

    /// Returns this command and the commands it wraps, outermost first, at most 32.
    pub fn levels(&self) -> Vec<Self> {
        let levels = std::iter::successors(Some(self.clone()), Self::inner_command);
        levels.take(MAX_LEVELS).collect()
    }

    /// Returns the command that this one wraps, such as `rm x` in `timeout 5 rm x`. `None` if it
    /// wraps none or has unknown options.
    pub fn inner_command(&self) -> Option<Self> {
        self.inner_command_in(&WRAPPERS)
    }

    /// Returns the command that this one wraps with options that a table accepts.
    pub(super) fn inner_command_in(&self, table: &Table) -> Option<Self> {
        let (first, arguments) = self.words.split_first()?;
        let name = first.value.as_deref()?;
        let wrapper = table.get(name)?;
        let parsed = options::parse_arguments(wrapper, name, arguments).ok()?;
        let own = parsed.parsed + wrapper.max_operands.unwrap_or(0);
        let (of_wrapper, mut inner) = arguments.split_at_checked(own)?;
        // `timeout 5$x ls`
        if !of_wrapper.iter().all(PartWord::is_one_argument) {
            return None;
        }
        let mut assignments = self.assignments.clone();
        while let Some((word, rest)) = inner.split_first()
            && let Some(assignment) = word.parse_assignment(name)
        {
            assignments.push(assignment);
            inner = rest;
        }
        let mut words = inner.to_vec();
        let start = words.first()?.span.start;
        if name == "xargs" {
            words.push(PartWord::unknown(first.span.clone(), "\"$@\""));
        }
        Some(Self {
            span: start..self.span.end,
            words,
            assignments,
            ..self.clone()
        })
    }
}

impl PartWord {
    /// Parses the word as an assignment before the command of a wrapper; only `env` and `time` have them.
    fn parse_assignment(&self, wrapper: &str) -> Option<PartAssignment> {
        let is_env = wrapper == "env";
        if !is_env && (wrapper != "time" || assignment_name_length(&self.text).is_none()) {
            return None;
        }
        let (name, value) = self.value_or_text().split_once('=')?;
        let span = self.span.start + name.len() + 1..self.span.end;
        let word = if is_env && self.value.is_some() {
            Self::from_value_at(span, value)
        } else {
            Self::unknown(span, value)
        };
        let name = name.to_owned();
        Some(PartAssignment { name, word })
    }
}
