//! The commands that a command line consists of, for rules that decide on each of them.
//!
//! Bash runs nothing else, but for what these commands start themselves (`eval`, `xargs`) and what
//! `[[` evaluates. Functions are not understood, since calling one means something else afterwards.
//! Descriptors, `/dev/null`, here-documents and here-strings are no files. A redirection behind several
//! commands, as in `a && b > c`, is a part of its own.

use std::ops::Range;

use super::expansion::identifier_length;
use super::lexer::is_reserved;
use super::parsed_command::ParsedCommand;
use super::pieces::{alternatives, without_brackets, without_value};
use super::redirection::Redirection;
use super::refusal::Refusal;
use super::table::WRAPPERS;
use super::word::{Word, WordPiece};
use super::{commands, options};

/// Maximum number of commands that start each other in their places; rules look at every word of further
/// ones.
const MAX_LEVELS: usize = 32;

/// A command with its arguments, a condition in `[[ … ]]`, or assignments or redirections alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Where it stands in the text, without assignments and redirections around its words.
    pub span: Range<usize>,
    /// The program and its arguments; none if it only assigns or redirects.
    pub words: Vec<PartWord>,
    /// The variables that are assigned before it.
    pub assignments: Vec<PartAssignment>,
    /// These assignments as they are written, with a blank behind each.
    pub assigned: String,
    /// Where its standard input comes from, files aside.
    pub input: PartInput,
    /// The files that it is redirected from.
    pub reads: Vec<PartWord>,
    /// The files that it is redirected to.
    pub writes: Vec<PartWord>,
    /// Whether it changes nothing wherever it runs, apart from the files that it is redirected to and
    /// what assignments before its words change. What a word of a language says is not looked at.
    pub only_reads: bool,
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
    /// The same as that of the command line.
    #[default]
    Inherited,
    /// What a pipe, or a redirection of a construct around it, gives.
    Given,
    /// A here-document or a here-string; `None` if its text is only known when it runs.
    Text(Option<String>),
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartWord {
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// As it is written.
    pub text: String,
    /// The value without quotes and escapes; `None` if it is only known when it runs, as with
    /// variables, substitutions, names of files, alternatives in braces, and a tilde.
    pub value: Option<String>,
    /// What is known all the same; empty if the value is known.
    pub pieces: Vec<WordPiece>,
}

impl CommandPart {
    /// What a range holds; nothing if it neither runs, assigns nor opens anything.
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
        let mut part = Self {
            span,
            words,
            assignments: assignments.collect(),
            assigned: assigned.collect(),
            input,
            reads: Vec::new(),
            writes: Vec::new(),
            only_reads: commands::reads_anywhere(text, simple),
        };
        for redirection in &simple.redirections {
            let (reads, writes) = redirection.opens()?;
            let file = word(&redirection.target);
            if reads {
                part.reads.push(file.clone());
            }
            if writes {
                part.writes.push(file);
            }
        }
        let is_empty = part.words.is_empty() && part.assignments.is_empty();
        let opens_nothing = part.reads.is_empty() && part.writes.is_empty();
        Ok((!is_empty || !opens_nothing).then_some(part))
    }

    /// This command and those that it starts in its place, one inside the other.
    pub fn levels(&self) -> Vec<Self> {
        let levels = std::iter::successors(Some(self.clone()), Self::unwrapped);
        levels.take(MAX_LEVELS).collect()
    }

    /// The command that this one starts in its place, such as `rm x` in `timeout 5 rm x`. `None` if
    /// it starts none, or with options that are not understood.
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

/// Whether these words are a command for the shell as well: their first one is neither a keyword nor
/// an assignment that was read as a word.
pub(super) fn begins_command(text: &str, words: &[Word]) -> bool {
    let mut written = words
        .iter()
        .map(|word| text.get(word.span.clone()).unwrap_or_default());
    let Some(mut first) = written.next() else {
        return true;
    };
    if first == "time" {
        // The keyword stands before any pipeline.
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

    /// The same of a word that is read leniently, whose variables are not followed.
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

    /// A word that is not in the text, of known value.
    pub fn known(value: &str) -> Self {
        Self {
            span: 0..0,
            text: value.to_owned(),
            value: Some(value.to_owned()),
            pieces: Vec::new(),
        }
    }

    /// A word that nothing is known of.
    pub fn unknown(span: Range<usize>, text: &str) -> Self {
        Self {
            span,
            text: text.to_owned(),
            value: None,
            pieces: vec![WordPiece::Unknown],
        }
    }

    /// The words that it becomes if it has alternatives in braces.
    pub fn alternatives(&self) -> Vec<Self> {
        if self.pieces.is_empty() {
            return vec![self.clone()];
        }
        let words = alternatives(&self.pieces).into_iter().map(|pieces| {
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

    /// What a wrapper takes the word to assign.
    fn assigned_by(&self, wrapper: &str) -> Option<PartAssignment> {
        let (name, value) = match wrapper {
            "env" => {
                let (name, value) = self.value.as_ref().unwrap_or(&self.text).split_once('=')?;
                (name, self.value.as_ref().map(|_| value))
            }
            "time" => {
                let (name, rest) = self.text.split_at(identifier_length(&self.text));
                if name.is_empty() || !rest.starts_with('=') {
                    return None;
                }
                (name, None)
            }
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
