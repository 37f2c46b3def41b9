//! The commands of a command line, for permission rules.
//!
//! Bash runs nothing else, except commands started by these (`eval`, `xargs`) and by
//! arithmetic in `[[`. Functions are refused, since they change the meaning of names. Descriptors,
//! `/dev/null`, here-documents and here-strings do not count as files. A redirection of several
//! commands, as in `a && b > c`, is a separate part.

use std::ops::Range;

use super::expansion::{assigned_name, identifier_length};
use super::lexer::is_reserved;
use super::parsed_command::{ParsedCommand, Redirection};
use super::table::WRAPPERS;
use super::verdict::Refusal;
use super::word::{Word, WordPiece, alternatives, without_brackets, without_value};
use super::{commands, options};

/// Maximum number of nested wrappers; beyond it, rules check every word.
const MAX_LEVELS: usize = 32;

/// A command with its arguments, a condition in `[[ … ]]`, or assignments or redirections alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Byte range of its words in the text.
    pub span: Range<usize>,
    /// The program and its arguments; empty if it only assigns or redirects.
    pub words: Vec<PartWord>,
    /// The variables that are assigned before it.
    pub assignments: Vec<PartAssignment>,
    /// The source text of these assignments, each followed by a space.
    pub assigned: String,
    /// The source of its standard input, except files.
    pub input: PartInput,
    /// Input redirections.
    pub reads: Vec<PartWord>,
    /// Output redirections.
    pub writes: Vec<PartWord>,
    /// Whether it changes nothing in any directory, apart from its redirections and assignments.
    /// Words in other languages are not checked.
    pub only_reads: bool,
    /// The commands and variables in it that may print secrets of the environment.
    pub reveals: Vec<String>,
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartAssignment {
    /// The variable.
    pub name: String,
    /// The value.
    pub word: PartWord,
}

/// The standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PartInput {
    /// The standard input of the command line.
    #[default]
    Inherited,
    /// A pipe or a redirection of an enclosing construct.
    Given,
    /// A here-document or a here-string; `None` if its text is known only at run time.
    Text(Option<String>),
}

impl PartInput {
    /// Returns the text of a here-document or here-string, if known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            Self::Inherited | Self::Given => None,
        }
    }
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartWord {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The source text.
    pub text: String,
    /// The value without quotes and escapes; `None` if it is known only at run time, as with
    /// variables, substitutions, globs, braces, and a tilde.
    pub value: Option<String>,
    /// The known pieces; empty if the value is known.
    pub pieces: Vec<WordPiece>,
}

impl CommandPart {
    /// Creates the part for a range; `None` if it neither runs, assigns nor opens anything.
    pub(super) fn new(
        text: &str,
        range: Range<usize>,
        simple: &ParsedCommand<'_>,
        mut input: PartInput,
    ) -> Result<Option<Self>, Refusal> {
        let word = |word: &Word| PartWord::new(text, word);
        let words: Vec<PartWord> = simple.words.iter().map(word).collect();
        let span = if let (Some(first), Some(last)) = (words.first(), words.last()) {
            first.span.start..last.span.end
        } else {
            let written = text.get(range.clone()).unwrap_or_default();
            range.end - written.trim_start().len()..range.end
        };
        let assignments = simple.assignments.iter().map(|given| PartAssignment {
            name: given.name.clone(),
            word: word(&given.value),
        });
        let assigned = simple.assignments.iter().map(|given| {
            let written = text.get(given.span.clone()).unwrap_or_default();
            format!("{written} ")
        });
        let here_string = |redirection: &&Redirection| redirection.is_here_string();
        if let Some(given) = simple.redirections.iter().rfind(here_string) {
            input = PartInput::Text(given.target.literal().map(str::to_owned));
        }
        let effects = commands::effects_anywhere(text, simple);
        let mut part = Self {
            span,
            words,
            assignments: assignments.collect(),
            assigned: assigned.collect(),
            input,
            reads: Vec::new(),
            writes: Vec::new(),
            only_reads: effects.is_some(),
            reveals: [effects.unwrap_or_default().reveals, simple.secrets.clone()].concat(),
        };
        for redirection in &simple.redirections {
            let (reads, writes) = redirection.opens()?;
            let file = word(&redirection.target);
            if reads {
                part.reads.extend(file.alternatives());
            }
            if writes {
                part.writes.extend(file.alternatives());
            }
        }
        let is_empty = part.words.is_empty() && part.assignments.is_empty();
        let is_fed = matches!(part.input, PartInput::Text(_));
        let opens_nothing = part.reads.is_empty() && part.writes.is_empty() && !is_fed;
        Ok((!is_empty || !opens_nothing).then_some(part))
    }

    /// Returns the first word, unless it is known only at run time.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }

    /// Returns this command and the commands it wraps, outermost first.
    pub fn levels(&self) -> Vec<Self> {
        let levels = std::iter::successors(Some(self.clone()), Self::unwrapped);
        levels.take(MAX_LEVELS).collect()
    }

    /// Returns the command that this one wraps, such as `rm x` in `timeout 5 rm x`. `None` if it
    /// wraps none or has unknown options.
    pub fn unwrapped(&self) -> Option<Self> {
        let (first, arguments) = self.words.split_first()?;
        let name = first.value.as_deref()?;
        let wrapper = WRAPPERS.get(name)?;
        let arguments_read: Vec<Word> = arguments.iter().map(PartWord::as_argument).collect();
        let options = options::read(wrapper, name, &arguments_read).ok()?.read;
        let mut inner = arguments.get(options + wrapper.most_operands.unwrap_or(0)..)?;
        let mut assignments = self.assignments.clone();
        let mut assigned = self.assigned.clone();
        while let Some((word, rest)) = inner.split_first()
            && let Some(variable) = word.assigned_by(name)
        {
            assignments.push(variable);
            assigned = assigned + &word.text + " ";
            inner = rest;
        }
        let mut words = inner.to_vec();
        let start = words.first()?.span.start;
        if name == "xargs" {
            words.push(PartWord::unknown(self.span.end..self.span.end, "\"$@\""));
        }
        Some(Self {
            span: start..self.span.end,
            words,
            assignments,
            assigned,
            ..self.clone()
        })
    }
}

/// Whether the shell also parses these words as a command: the first is neither a keyword nor an
/// assignment that was parsed as a word.
pub(super) fn begins_command(text: &str, words: &[Word]) -> bool {
    let mut written = words
        .iter()
        .map(|word| text.get(word.span.clone()).unwrap_or_default());
    let Some(mut first) = written.next() else {
        return true;
    };
    if first == "time" {
        // The keyword precedes a pipeline.
        first = written
            .find(|word| !word.starts_with('-'))
            .unwrap_or_default();
    }
    let (name, rest) = first.split_at(identifier_length(first));
    let assigns = !name.is_empty() && (rest.starts_with("+=") || rest.starts_with('['));
    !assigns && !is_reserved(first) && first != "]]"
}

impl PartWord {
    pub(super) fn new(text: &str, word: &Word) -> Self {
        Self {
            span: word.span.clone(),
            text: text.get(word.span.clone()).unwrap_or_default().to_owned(),
            value: word.literal().map(str::to_owned),
            pieces: without_brackets(&word.pieces),
        }
    }

    /// Creates a word that was parsed leniently, without the values of variables.
    pub(super) fn lenient(text: &str, word: &Word) -> Self {
        let mut read = Self::new(text, word);
        for piece in &mut read.pieces {
            *piece = without_value(piece);
        }
        read.value = read.value.filter(|_| read.pieces.is_empty());
        match read.alternatives().as_slice() {
            [word] => word.clone(),
            _ => read,
        }
    }

    /// Creates a word with a known value that is not in the text.
    pub fn known(value: &str) -> Self {
        Self {
            span: 0..0,
            text: value.to_owned(),
            value: Some(value.to_owned()),
            pieces: Vec::new(),
        }
    }

    /// Creates a word with an unknown value.
    pub fn unknown(span: Range<usize>, text: &str) -> Self {
        Self {
            span,
            text: text.to_owned(),
            value: None,
            pieces: vec![WordPiece::Unknown],
        }
    }

    /// Returns the value; an empty text if it is known only at run time.
    pub fn known_value(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// Returns the value, or the source text if the value is known only at run time.
    pub fn value_or_text(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }

    /// Returns the words that it becomes by brace expansion. Bash removes empty ones.
    pub fn alternatives(&self) -> Vec<Self> {
        if self.pieces.is_empty() {
            return vec![self.clone()];
        }
        let words = alternatives(&self.pieces);
        let words = words.into_iter().filter(|pieces| !pieces.is_empty());
        let words = words.map(|pieces| {
            let text = |piece: &WordPiece| match piece {
                WordPiece::Text(text) => Some(text.clone()),
                _ => None,
            };
            let value: Option<String> = pieces.iter().map(text).collect();
            Self {
                pieces: value.as_ref().map_or(pieces, |_| Vec::new()),
                value,
                ..self.clone()
            }
        });
        words.collect()
    }

    fn as_argument(&self) -> Word {
        match &self.value {
            Some(value) => Word::plain(self.span.clone(), value),
            None => Word::anything(self.span.clone()),
        }
    }

    /// Parses the word as an assignment of a wrapper.
    fn assigned_by(&self, wrapper: &str) -> Option<PartAssignment> {
        let (name, value) = match wrapper {
            "env" => {
                let (name, value) = self.value_or_text().split_once('=')?;
                (name, self.value.as_ref().map(|_| value))
            }
            "time" => (self.text.get(..assigned_name(&self.text)?)?, None),
            _ => return None,
        };
        let name = name.to_owned();
        let word = match value {
            Some(value) => Self {
                span: self.span.clone(),
                ..Self::known(value)
            },
            None => Self::unknown(self.span.clone(), &self.text),
        };
        Some(PartAssignment { name, word })
    }
}
