//! Words of a command line, and the options and operands among them.

use std::ops::Range;

use super::verdict::Refusal;

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    pub(crate) shape: WordShape,
    /// The source text without quotes, and with `$()` for substitutions; empty if the value is known.
    pub(crate) label: String,
}

/// A piece of a word that is partly known only at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Text, without quotes and escapes.
    Text(String),
    /// The expansion of `*`, `?` or `[…]`, or a number.
    Glob,
    /// A tilde or `$HOME`.
    Home,
    /// Anything.
    Unknown,
}

/// The result of expanding a word. A word has the greatest shape of its pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WordShape {
    /// One argument with a known value.
    #[default]
    Literal,
    /// One argument that starts with the prefix.
    Single,
    /// Any number of arguments that all start with the prefix.
    Matches,
    /// Any number of arguments; only the first starts with the prefix.
    Split,
}

impl PartWord {
    /// Creates a word with a known value, without a place in a text.
    pub fn from_value(value: &str) -> Self {
        Self {
            text: value.to_owned(),
            value: Some(value.to_owned()),
            ..Self::default()
        }
    }

    /// Creates a word with an unknown value: any number of arguments.
    pub fn unknown(span: Range<usize>, text: &str) -> Self {
        Self {
            span,
            text: text.to_owned(),
            pieces: vec![WordPiece::Unknown],
            shape: WordShape::Split,
            label: text.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the value, or the source text if the value is known only at run time.
    pub fn value_or_text(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }

    /// Returns the value, or the source text without quotes and with `$()` for substitutions.
    pub fn label(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.label)
    }

    /// Creates a word with a known value, which is also its source text.
    pub(super) fn from_value_at(span: Range<usize>, value: &str) -> Self {
        Self {
            span,
            ..Self::from_value(value)
        }
    }

    /// Returns the value, if it is known.
    pub(super) fn literal(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// Returns the value up to the first unknown piece. A home directory starts with `/`.
    pub(super) fn prefix(&self) -> &str {
        match (&self.value, self.pieces.first()) {
            (Some(value), _) => value,
            (None, Some(WordPiece::Text(text))) => text,
            (None, Some(WordPiece::Home)) => "/",
            (None, _) => "",
        }
    }

    /// Creates a refusal of the word.
    pub(super) fn refusal(&self, why: impl Into<String>) -> Refusal {
        Refusal::new(self.span.clone(), why)
    }

    /// Whether it becomes exactly one argument.
    pub(super) fn is_one_argument(&self) -> bool {
        self.shape <= WordShape::Single
    }

    /// Whether none of the arguments that it becomes can start with a dash.
    pub(super) fn cannot_be_option(&self) -> bool {
        let prefix = self.prefix();
        let has_start = self.value.is_some() || !prefix.is_empty();
        self.shape != WordShape::Split && has_start && !prefix.starts_with('-')
    }
}

/// The arguments of a command as its table entry parses them.
#[derive(Debug, Default)]
pub(super) struct Arguments<'words> {
    /// All words.
    pub(super) words: &'words [PartWord],
    /// The options with their values, in order.
    pub(super) options: Vec<Given<'words>>,
    /// The operands.
    pub(super) operands: Vec<&'words PartWord>,
    /// Number of words that were parsed: all, or those before the first operand if that ends the options.
    pub(super) parsed: usize,
}

/// An option of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given<'words> {
    /// The letter, or the long name without dashes.
    pub(super) name: &'words str,
    pub(super) value: Value<'words>,
    /// The word that contains the option.
    pub(super) word: &'words PartWord,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'words> {
    /// No value.
    None,
    /// Known text.
    Text(&'words str),
    /// Text with a known prefix.
    Prefix(&'words str),
}

impl<'words> Given<'words> {
    /// Returns the value, or its known start.
    pub(super) fn text(&self) -> Option<&'words str> {
        match self.value {
            Value::None => None,
            Value::Text(text) | Value::Prefix(text) => Some(text),
        }
    }
}

impl<'words> Arguments<'words> {
    /// Returns the words that were not parsed: from the first operand on, if that ends the options.
    pub(super) fn rest(&self) -> &'words [PartWord] {
        self.words.get(self.parsed..).unwrap_or_default()
    }

    /// Whether an option is given, by its letter or long name.
    pub(super) fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }

    /// Whether one of the options is given.
    pub(super) fn has_any_option(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has_option(name))
    }
}
