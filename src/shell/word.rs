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
        }
    }

    /// An unknown number of arguments that nothing is known about.
    pub(super) fn anything(span: Range<usize>) -> Self {
        Self {
            span,
            prefix: String::new(),
            shape: Shape::Split,
        }
    }

    /// Notes that something unknown follows.
    pub(super) fn worsen(&mut self, shape: Shape) {
        self.shape = self.shape.max(shape);
    }

    /// Adds known text, if all before it is known.
    pub(super) fn push(&mut self, text: &str) {
        if self.shape == Shape::Literal {
            self.prefix.push_str(text);
        }
    }
}
