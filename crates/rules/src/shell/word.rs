//! Words of a command line: their known pieces, and arguments as options and operands.

use std::ops::Range;

use super::expansion::identifier_length;
use super::verdict::{Checked, Refusal};

/// A word after quotes and escapes are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Byte range in the text.
    pub(super) span: Range<usize>,
    /// The value up to the first unknown part; the whole value of a literal.
    pub(super) prefix: String,
    /// The result of its expansion.
    pub(super) shape: WordShape,
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
    /// `{`, `,` or `}`, which may be part of a list of alternatives.
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
pub(super) enum WordShape {
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
    /// Returns the value, if all of it is known.
    pub(super) fn literal(&self) -> Option<&str> {
        (self.shape == WordShape::Literal).then_some(self.prefix.as_str())
    }

    /// Returns a refusal of this word, whose effect is unknown.
    pub(super) fn unknown(&self, why: impl Into<String>) -> Refusal {
        Refusal::unknown(self.span.clone(), why)
    }

    /// Returns a refusal of this word, which changes something.
    pub(super) fn writes(&self, why: impl Into<String>) -> Refusal {
        Refusal::writes(self.span.clone(), why)
    }

    /// Whether it becomes exactly one argument.
    pub(super) fn is_one_argument(&self) -> bool {
        self.shape <= WordShape::Single
    }

    /// Whether none of its arguments can start with a dash.
    pub(super) fn cannot_be_option(&self) -> bool {
        match self.shape {
            WordShape::Literal => !self.prefix.starts_with('-'),
            WordShape::Single | WordShape::Matches => {
                !self.prefix.is_empty() && !self.prefix.starts_with('-')
            }
            WordShape::Split => false,
        }
    }

    /// Returns one argument with a known value.
    pub(super) fn plain(span: Range<usize>, value: &str) -> Self {
        Self {
            span,
            prefix: value.to_owned(),
            shape: WordShape::Literal,
            pieces: Vec::new(),
        }
    }

    /// Returns an unknown number of unknown arguments.
    pub(super) fn anything(span: Range<usize>) -> Self {
        Self {
            span,
            prefix: String::new(),
            shape: WordShape::Split,
            pieces: vec![WordPiece::Unknown],
        }
    }

    /// Whether a list of alternatives may have started.
    pub(super) fn has_alternatives(&self) -> bool {
        self.pieces.contains(&WordPiece::Brace('{'))
    }

    /// Adds a piece of unknown value.
    pub(super) fn push_unknown(&mut self, piece: WordPiece, shape: WordShape) {
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
        if self.shape == WordShape::Literal {
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

/// Maximum number of words from one word with alternatives.
const MAX_ALTERNATIVES: usize = 64;

/// Parses `$NAME` or `${NAME…}`.
pub(super) fn variable(text: &str, is_quoted: bool) -> WordPiece {
    let inside = text.get(1..).unwrap_or_default();
    let inside = inside
        .strip_prefix('{')
        .and_then(|inside| inside.strip_suffix('}'))
        .unwrap_or(inside);
    let (name, operator) = inside.split_at(identifier_length(inside));
    if name.is_empty() {
        return WordPiece::Unknown;
    }
    WordPiece::Variable {
        name: name.to_owned(),
        operator: operator.to_owned(),
        is_quoted,
    }
}

/// Returns the piece without the values of variables, except the home directory and values in the word itself.
pub(super) fn without_value(piece: &WordPiece) -> WordPiece {
    match piece {
        WordPiece::Variable { name, operator, .. } if name == "HOME" && operator.is_empty() => {
            WordPiece::Home
        }
        WordPiece::Variable { operator, .. } => match substitute(operator) {
            Some(text) => {
                WordPiece::OneOf(vec![vec![WordPiece::Unknown], vec![WordPiece::Text(text)]])
            }
            None => WordPiece::Unknown,
        },
        piece => piece.clone(),
    }
}

/// Returns the text that `${NAME…}` may stand for instead of the value, given the text after the name: `:-x` or `:+x`.
pub(super) fn substitute(operator: &str) -> Option<String> {
    let operator = operator.strip_prefix(':').unwrap_or(operator);
    let text = operator
        .strip_prefix(['-', '=', '+'])?
        .replace(['"', '\''], "");
    (!text.contains(['*', '?', '[', '\\', '$', '`', '('])).then_some(text)
}

/// Replaces every set of characters with a glob.
pub(super) fn without_brackets(pieces: &[WordPiece]) -> Vec<WordPiece> {
    let Some(at) = pieces.iter().position(|piece| *piece == WordPiece::Bracket) else {
        return pieces.to_vec();
    };
    let mut known = pieces[..at].to_vec();
    let rest = &pieces[at + 1..];
    let closes = |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains(']'));
    match rest {
        [WordPiece::Text(text), others @ ..] if set_length(text).is_some() => {
            known.push(WordPiece::Glob);
            let length = set_length(text).unwrap_or_default();
            known.push(WordPiece::Text(text[length..].to_owned()));
            known.extend(without_brackets(others));
        }
        _ if rest.iter().any(closes) => known.push(WordPiece::Unknown),
        _ => {
            known.push(WordPiece::Text("[".to_owned()));
            known.extend(without_brackets(rest));
        }
    }
    known
}

/// Returns the length of a set of characters, given the text after its opening bracket.
fn set_length(text: &str) -> Option<usize> {
    let mut rest = text.strip_prefix(['!', '^']).unwrap_or(text);
    rest = rest.strip_prefix(']').unwrap_or(rest);
    loop {
        let at = rest.find([']', '['])?;
        let found = &rest[at..];
        if found.starts_with(']') {
            return Some(text.len() - found.len() + 1);
        }
        let class = ["[:", "[.", "[="].iter().find_map(|open| {
            let close = format!("{}]", &open[1..]);
            let inside = found.strip_prefix(open)?;
            Some(&inside[inside.find(&close)? + close.len()..])
        });
        rest = class.unwrap_or(&found[1..]);
    }
}

/// Returns the words to which a word with alternatives in braces expands.
pub(super) fn alternatives(pieces: &[WordPiece]) -> Vec<Vec<WordPiece>> {
    let brace = |wanted: char| move |piece: &WordPiece| *piece == WordPiece::Brace(wanted);
    let Some(open) = pieces.iter().position(brace('{')) else {
        return vec![pieces.iter().map(without_meaning).collect()];
    };
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    let mut close = None;
    for (index, piece) in pieces.iter().enumerate().skip(open) {
        match piece {
            WordPiece::Brace('{') => depth += 1,
            WordPiece::Brace(',') if depth == 1 => commas.push(index),
            WordPiece::Brace('}') if depth == 1 => {
                close = Some(index);
                break;
            }
            WordPiece::Brace('}') => depth -= 1,
            _ => {}
        }
    }
    let before = &pieces[..open];
    let (inside, after) = match close {
        Some(close) => (&pieces[open + 1..close], alternatives(&pieces[close + 1..])),
        None => (&pieces[open + 1..], vec![Vec::new()]),
    };
    let is_range =
        |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains(".."));
    let inner: Vec<Vec<WordPiece>> =
        if close.is_none() || (commas.is_empty() && !inside.iter().any(is_range)) {
            // These braces are literal.
            let closing = close.map_or("", |_| "}");
            let wrap = |mut inner: Vec<WordPiece>| {
                inner.insert(0, WordPiece::Text("{".to_owned()));
                inner.push(WordPiece::Text(closing.to_owned()));
                inner
            };
            alternatives(inside).into_iter().map(wrap).collect()
        } else if commas.is_empty() {
            vec![vec![WordPiece::Unknown]]
        } else {
            let ends = commas.iter().copied().chain(close);
            let starts = std::iter::once(open).chain(commas.iter().copied());
            let lists = starts.zip(ends).map(|(start, end)| &pieces[start + 1..end]);
            lists.flat_map(alternatives).collect()
        };
    if inner.len() * after.len() > MAX_ALTERNATIVES {
        return vec![vec![WordPiece::Unknown]];
    }
    let before: Vec<WordPiece> = before.iter().map(without_meaning).collect();
    let joined = inner.iter().flat_map(|inner| {
        let before = &before;
        after
            .iter()
            .map(move |after| [before, inner, after].map(Vec::as_slice).concat())
    });
    joined.collect()
}

/// Replaces a brace or comma outside of alternatives with text.
fn without_meaning(piece: &WordPiece) -> WordPiece {
    match piece {
        WordPiece::Brace(letter) => WordPiece::Text(letter.to_string()),
        piece => piece.clone(),
    }
}

/// Refuses a command because of a word, or as a whole.
pub(super) fn refuse(word: Option<&Word>, why: impl Into<String>) -> Checked {
    Err(Refusal::unknown(
        word.map_or(0..0, |word| word.span.clone()),
        why,
    ))
}

#[cfg(test)]
mod tests {
    use super::set_length;

    #[test]
    fn a_set_ends_at_its_closing_bracket() {
        for (text, length) in [
            ("a]b]", Some(2)),
            ("]a]b", Some(3)),
            ("!]a]", Some(4)),
            ("[:alpha:]x]y", Some(11)),
            ("a", None),
        ] {
            assert_eq!(set_length(text), length, "{text}");
        }
    }
}
