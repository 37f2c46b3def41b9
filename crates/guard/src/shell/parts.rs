//! The commands of a command line.
//!
//! Bash runs nothing else, except commands started by these (`eval`, `xargs`) and by
//! arithmetic in `[[`. Descriptors, `/dev/null`, here-documents and here-strings do not count as files. A redirection
//! of a compound command is a command of its own.

use std::ops::Range;

use super::expansion::assignment_name_length;
use super::options;
use super::redirection::Redirection;
use super::table::{Table, WRAPPERS};
use super::verdict::Verdict;
use super::word::PartWord;

/// Maximum length of an analysed command line, in bytes.
pub const MAX_LENGTH: usize = 16 * 1024;

/// Maximum number of nested wrappers; beyond it, rules check every word.
const MAX_LEVELS: usize = 32;

/// A command with its arguments, a condition in `[[ … ]]`, or assignments or redirections alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Byte range of its words in the text.
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
    /// Whether it changes nothing in any directory, apart from its redirections and assignments. Words in other languages
    /// are not checked.
    pub verdict: Verdict,
    /// Where it is in the line.
    pub context: CommandContext,
    /// Whether it is a condition in `[[ … ]]`.
    pub(crate) is_condition: bool,
    /// Whether processes of `<(…)` or `>(…)` run beside it.
    pub(crate) has_processes: bool,
}

/// The context of a command in its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// Whether a subshell runs it, whose directory has no effect afterwards.
    pub is_in_subshell: bool,
    /// Whether it is in a loop.
    pub is_repeated: bool,
    /// Whether it is in a branch of `if` or `case`.
    pub is_conditional: bool,
    /// Whether it is in a substitution of another command.
    pub is_substituted: bool,
}

/// `NAME=value` before a command.
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
    /// First command, or after a line break or `;`.
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
        let set = self.assignments.iter();
        let set = set.flat_map(|set| [&*set.name, "=", &*set.word.text, " "]);
        set.collect()
    }

    /// Returns the files that its input redirections name.
    pub fn reads(&self) -> impl Iterator<Item = &PartWord> {
        let opened = self.redirections.iter().filter(|one| one.reads());
        opened.map(|one| &one.target)
    }

    /// Returns the files that its output redirections name.
    pub fn writes(&self) -> impl Iterator<Item = &PartWord> {
        let opened = self.redirections.iter().filter(|one| one.writes());
        opened.map(|one| &one.target)
    }

    /// Returns the redirection that decides its standard input.
    pub(super) fn input_redirection(&self) -> Option<&Redirection> {
        self.redirections.iter().rfind(|one| one.is_input())
    }

    /// Returns the first word, unless it is known only at run time.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }

    /// Returns this command and the commands it wraps, outermost first.
    pub fn levels(&self) -> Vec<Self> {
        let levels = std::iter::successors(Some(self.clone()), Self::inner_command);
        levels.take(MAX_LEVELS).collect()
    }

    /// Returns the command that this one wraps, such as `rm x` in `timeout 5 rm x`. `None` if it
    /// wraps none or has unknown options.
    pub fn inner_command(&self) -> Option<Self> {
        self.inner_command_by(&WRAPPERS)
    }

    /// Returns the command that this one wraps with options that a table accepts.
    pub(super) fn inner_command_by(&self, table: &Table) -> Option<Self> {
        let (first, arguments) = self.words.split_first()?;
        let name = first.value.as_deref()?;
        let wrapper = table.get(name)?;
        let options = options::read(wrapper, name, arguments).ok()?.read;
        let own = options + wrapper.most_operands.unwrap_or(0);
        let (own, mut inner) = arguments.split_at_checked(own)?;
        // `timeout 5$x ls`
        if !own.iter().all(PartWord::is_one_argument) {
            return None;
        }
        let mut assignments = self.assignments.clone();
        while let Some((word, rest)) = inner.split_first()
            && let Some(variable) = word.as_assignment(name)
        {
            assignments.push(variable);
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
    /// Parses the word as an assignment of a wrapper.
    fn as_assignment(&self, wrapper: &str) -> Option<PartAssignment> {
        let is_env = wrapper == "env";
        let is_assignment =
            is_env || wrapper == "time" && assignment_name_length(&self.text).is_some();
        let assignment = self.value_or_text().split_once('=');
        let (name, value) = assignment.filter(|_| is_assignment)?;
        let span = self.span.start + name.len() + 1..self.span.end;
        let known = self.value.as_ref().filter(|_| is_env);
        let word = match known {
            Some(_) => Self::plain(span, value),
            None => Self::unknown(span, value),
        };
        let name = name.to_owned();
        Some(PartAssignment { name, word })
    }
}
