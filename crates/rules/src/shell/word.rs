//! Words of a command line: their known pieces, and arguments as options and operands.

use std::ops::Range;

use super::verdict::{Checked, Refusal};

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
    /// The result of its expansion.
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
    /// `[`, which may start a set of characters.
    Bracket,
    /// `{`, `,` or `}`, which may be part of a list of alternatives.
    Brace(char),
    /// A tilde or `$HOME`.
    Home,
    /// Anything.
    Unknown,
    /// One of several texts, such as the value of `${x:-y}` and `y`.
    OneOf(Vec<Vec<WordPiece>>),
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
    /// Creates a word with a known value that is not in the text.
    pub fn known(value: &str) -> Self {
        Self {
            span: 0..0,
            text: value.to_owned(),
            value: Some(value.to_owned()),
            pieces: Vec::new(),
            shape: WordShape::Literal,
            label: String::new(),
        }
    }

    /// Creates a word with an unknown value: any number of arguments.
    pub fn unknown(span: Range<usize>, text: &str) -> Self {
        Self {
            span,
            text: text.to_owned(),
            value: None,
            pieces: vec![WordPiece::Unknown],
            shape: WordShape::Split,
            label: text.to_owned(),
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

    /// Returns the value, or the source text without quotes and with `$()` for substitutions.
    pub fn label(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.label)
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

    /// Creates a word with a known value at a place of the text.
    pub(super) fn plain(span: Range<usize>, value: &str) -> Self {
        Self {
            span,
            ..Self::known(value)
        }
    }

    /// Creates a word of this place that starts with `prefix`.
    pub(super) fn starting_with(&self, prefix: &str, shape: WordShape) -> Self {
        let known = (!prefix.is_empty()).then(|| WordPiece::Text(prefix.to_owned()));
        Self {
            value: None,
            pieces: known.into_iter().chain([WordPiece::Unknown]).collect(),
            shape,
            ..self.clone()
        }
    }

    /// Returns the value, if all of it is known.
    pub(super) fn literal(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// Returns the value up to the first unknown piece.
    pub(super) fn prefix(&self) -> &str {
        match (&self.value, self.pieces.first()) {
            (Some(value), _) => value,
            (None, Some(WordPiece::Text(text))) => text,
            // A home directory is a path.
            (None, Some(WordPiece::Home)) => "/",
            (None, _) => "",
        }
    }

    /// Returns the result of its expansion.
    pub(super) fn shape(&self) -> WordShape {
        match self.value {
            Some(_) => WordShape::Literal,
            None => self.shape.max(WordShape::Single),
        }
    }

    /// Returns a refusal of this word, whose effect is unknown.
    pub(super) fn refusal(&self, why: impl Into<String>) -> Refusal {
        Refusal::unknown(self.span.clone(), why)
    }

    /// Returns a refusal of this word, which changes something.
    pub(super) fn writes(&self, why: impl Into<String>) -> Refusal {
        Refusal::writes(self.span.clone(), why)
    }

    /// Whether it becomes exactly one argument.
    pub(super) fn is_one_argument(&self) -> bool {
        self.shape() <= WordShape::Single
    }

    /// Whether none of its arguments can start with a dash.
    pub(super) fn cannot_be_option(&self) -> bool {
        match self.shape() {
            WordShape::Literal => !self.prefix().starts_with('-'),
            WordShape::Single | WordShape::Matches => {
                !self.prefix().is_empty() && !self.prefix().starts_with('-')
            }
            WordShape::Split => false,
        }
    }
}

/// Arguments as the command parses them.
#[derive(Debug, Default)]
pub(super) struct Arguments<'words> {
    /// The options with their values, in order.
    pub(super) options: Vec<Given<'words>>,
    /// The operands.
    pub(super) operands: Vec<&'words PartWord>,
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

/// Returns the text that `${NAME…}` may stand for instead of the value, given the text after the name: `:-x` or `:+x`.
pub(super) fn substitute(operator: &str) -> Option<String> {
    let operator = operator.strip_prefix(':').unwrap_or(operator);
    let text = operator
        .strip_prefix(['-', '=', '+'])?
        .replace(['"', '\''], "");
    (!text.contains(['*', '?', '[', '\\', '$', '`', '('])).then_some(text)
}

/// Maximum number of opening braces or brackets in a word; beyond it, the word is not known.
const MAX_OPEN: usize = 64;

/// Replaces every set of characters with a glob.
pub(super) fn without_brackets(pieces: Vec<WordPiece>) -> Vec<WordPiece> {
    let brackets = pieces.iter().filter(|piece| **piece == WordPiece::Bracket);
    let brackets = brackets.count();
    if brackets == 0 {
        return pieces;
    }
    let mut known = Vec::new();
    let mut rest = pieces.as_slice();
    if brackets > MAX_OPEN {
        known.extend(rest.first().filter(|piece| is_text(piece)).cloned());
        known.push(WordPiece::Unknown);
        return known;
    }
    let closes = |piece: &WordPiece| matches!(piece, WordPiece::Text(text) if text.contains(']'));
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        if *first != WordPiece::Bracket {
            known.push(first.clone());
            continue;
        }
        match others {
            [WordPiece::Text(text), others @ ..] if set_length(text).is_some() => {
                known.push(WordPiece::Glob);
                let length = set_length(text).unwrap_or_default();
                let text = text.get(length..).unwrap_or_default();
                known.push(WordPiece::Text(text.to_owned()));
                rest = others;
            }
            _ if others.iter().any(closes) => {
                known.push(WordPiece::Unknown);
                return known;
            }
            _ => known.push(WordPiece::Text("[".to_owned())),
        }
    }
    known
}

fn is_text(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Text(_))
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
fn alternatives(pieces: &[WordPiece]) -> Vec<Vec<WordPiece>> {
    let opening = pieces
        .iter()
        .filter(|piece| **piece == WordPiece::Brace('{'));
    if opening.count() > MAX_OPEN {
        return vec![vec![WordPiece::Unknown]];
    }
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
pub(super) fn refuse(word: Option<&PartWord>, why: impl Into<String>) -> Checked {
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
