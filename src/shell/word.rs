//! A word of a command line and what is known of its value.

use std::ops::Range;

/// A word after quotes and escapes are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands.
    pub(super) span: Range<usize>,
    /// The value up to the first thing that is not known; all of it for a literal.
    pub(super) prefix: String,
    /// What the shell makes of it.
    pub(super) shape: Shape,
    /// All of it in pieces; empty if the value is known.
    pub(super) pieces: Vec<WordPiece>,
}

/// A piece of a word of which a part is only known when the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Text, without quotes and escapes.
    Text(String),
    /// The value of a variable.
    Variable {
        /// Its name.
        name: String,
        /// What follows the name inside of braces, such as `%.txt`.
        operator: String,
        /// Whether the value stays one word.
        is_quoted: bool,
    },
    /// A part of a file name in place of `*`, `?` or `[…]`, or a number.
    Glob,
    /// `[`, which may begin a set of characters.
    Bracket,
    /// `{`, `,` or `}`, which may be parts of a list of alternatives.
    Brace(char),
    /// A tilde that means a home directory.
    Home,
    /// Anything.
    Unknown,
    /// One of these, which are the possible values of a variable.
    OneOf(Vec<Vec<WordPiece>>),
}

/// What the shell makes of a word. A word has the worst shape of its parts; worse ones come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// One argument of known value.
    Literal,
    /// One argument that begins with the prefix.
    Single,
    /// Any number of arguments, each of which begins with the prefix.
    Matches,
    /// Any number of arguments, of which only the first begins with the prefix.
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

    /// Whether none of its arguments can begin with a dash.
    pub(super) fn cannot_be_option(&self) -> bool {
        match self.shape {
            Shape::Literal => !self.prefix.starts_with('-'),
            Shape::Single | Shape::Matches => {
                !self.prefix.is_empty() && !self.prefix.starts_with('-')
            }
            Shape::Split => false,
        }
    }

    /// One argument of known value.
    pub(super) fn plain(span: Range<usize>, value: &str) -> Self {
        Self {
            span,
            prefix: value.to_owned(),
            shape: Shape::Literal,
            pieces: Vec::new(),
        }
    }

    /// An unknown number of arguments that nothing is known about.
    pub(super) fn anything(span: Range<usize>) -> Self {
        Self {
            span,
            prefix: String::new(),
            shape: Shape::Split,
            pieces: vec![WordPiece::Unknown],
        }
    }

    /// Whether a list of alternatives may have begun.
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

    /// Adds a piece of unknown value to a word that is read leniently, in whose prefix it is as it is
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
