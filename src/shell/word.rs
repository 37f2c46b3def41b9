//! A word of a command line and its known value.

use std::ops::Range;

/// A word after quotes and escapes are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Byte range in the text.
    pub(super) span: Range<usize>,
    /// The value up to the first unknown part; the whole value of a literal.
    pub(super) prefix: String,
    /// The result of its expansion.
    pub(super) shape: Shape,
    /// All pieces; empty if the value is known.
    pub(super) pieces: Vec<WordPiece>,
}

/// A piece of a word that is partly known only at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Text, without quotes and escapes.
    Text(String),
    /// The value of a variable.
    Variable {
        /// Its name.
        name: String,
        /// The text after the name in braces, such as `%.txt`.
        operator: String,
        /// Whether the value stays one word.
        is_quoted: bool,
    },
    /// The expansion of `*`, `?` or `[…]`, or a number.
    Glob,
    /// `[`, which may start a set of characters.
    Bracket,
    /// `{`, `,` or `}`, which may be parts of a list of alternatives.
    Brace(char),
    /// A tilde that means a home directory.
    Home,
    /// Anything.
    Unknown,
    /// One of the possible values of a variable.
    OneOf(Vec<Vec<WordPiece>>),
}

/// The result of expanding a word. A word has the greatest shape of its pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// One argument with a known value.
    Literal,
    /// One argument that starts with the prefix.
    Single,
    /// Any number of arguments that all start with the prefix.
    Matches,
    /// Any number of arguments; only the first starts with the prefix.
    Split,
}

impl Word {
    /// The value, if all of it is known.
    pub(super) fn literal(&self) -> Option<&str> {
        (self.shape == Shape::Literal).then_some(self.prefix.as_str())
    }

    /// Whether it becomes exactly one argument.
    pub(super) fn is_one_argument(&self) -> bool {
        self.shape <= Shape::Single
    }

    /// Whether none of its arguments can start with a dash.
    pub(super) fn cannot_be_option(&self) -> bool {
        match self.shape {
            Shape::Literal => !self.prefix.starts_with('-'),
            Shape::Single | Shape::Matches => {
                !self.prefix.is_empty() && !self.prefix.starts_with('-')
            }
            Shape::Split => false,
        }
    }

    /// One argument with a known value.
    pub(super) fn plain(span: Range<usize>, value: &str) -> Self {
        Self {
            span,
            prefix: value.to_owned(),
            shape: Shape::Literal,
            pieces: Vec::new(),
        }
    }

    /// An unknown number of unknown arguments.
    pub(super) fn anything(span: Range<usize>) -> Self {
        Self {
            span,
            prefix: String::new(),
            shape: Shape::Split,
            pieces: vec![WordPiece::Unknown],
        }
    }

    /// Whether a list of alternatives may have started.
    pub(super) fn has_alternatives(&self) -> bool {
        self.pieces.contains(&WordPiece::Brace('{'))
    }

    /// Adds a piece of unknown value.
    pub(super) fn push_unknown(&mut self, piece: WordPiece, shape: Shape) {
        self.add_piece(piece);
        self.shape = self.shape.max(shape);
    }

    fn add_piece(&mut self, piece: WordPiece) {
        if self.pieces.is_empty() && !self.prefix.is_empty() {
            self.pieces.push(WordPiece::Text(self.prefix.clone()));
        }
        self.pieces.push(piece);
    }

    /// Adds a piece of unknown value to a leniently parsed word; its prefix gets the source text
    /// `written`.
    pub(super) fn push_written(&mut self, piece: WordPiece, written: &str) {
        self.add_piece(piece);
        self.prefix.push_str(written);
    }

    /// Adds known text.
    pub(super) fn push(&mut self, text: &str) {
        if self.shape == Shape::Literal {
            self.prefix.push_str(text);
        }
        match self.pieces.last_mut() {
            None => {}
            Some(WordPiece::Text(before)) => before.push_str(text),
            Some(_) => self.pieces.push(WordPiece::Text(text.to_owned())),
        }
    }
}

/// Arguments as the command parses them.
#[derive(Debug, Default)]
pub(super) struct Arguments<'words> {
    /// The options with their values, in order.
    pub(super) options: Vec<Given<'words>>,
    /// The operands.
    pub(super) operands: Vec<&'words Word>,
    /// Number of words before the first operand, if that ends the options.
    pub(super) read: usize,
}

/// An option that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given<'words> {
    /// The letter, or the long name without dashes.
    pub(super) name: &'words str,
    /// Its value.
    pub(super) value: Value<'words>,
    /// The word that contains it.
    pub(super) word: &'words Word,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'words> {
    /// No value.
    None,
    /// Known text.
    Text(&'words str),
    /// Text with a known prefix.
    Begins(&'words str),
}

impl Arguments<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|given| given.name == name)
    }

    pub(super) fn has_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}
