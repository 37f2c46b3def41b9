//! Words and redirections, read by the rules of bash.
//!
//! The analysis takes the bounds of commands from the syntax tree and parses the text between them
//! again; both must agree on every byte. Other callers parse leniently, without a tree: text that
//! cannot be parsed is kept literally.

use std::ops::Range;

use tree_sitter::Node;

use super::commands::may_be_secret;
use super::expansion::{self, Enclosed, Expanded};
use super::verdict::{Checked, Refusal, is_one_of};
use super::word::{Word, WordPiece, WordShape, variable};

/// A command substitution or process substitution that the tree found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Substitution<'tree> {
    /// Its start, without leading blanks that the tree includes.
    pub(super) start: usize,
    pub(super) node: Node<'tree>,
}

/// The expansions that apply to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expansions {
    /// All expansions: an argument.
    All,
    /// No splitting, no file names, no braces: the value of an assignment, a `case` word, an
    /// operand of `[[`.
    Unsplit,
}

/// Characters after which a blank may still belong to the word.
const HIDING: [char; 6] = ['\'', '"', '\\', '$', '`', '<'];

/// Reads words out of a range of the command line.
pub(super) struct Lexer<'text, 'tree> {
    text: &'text str,
    position: usize,
    end: usize,
    /// Sorted by start; empty in a lenient lexer.
    substitutions: Option<&'text [Substitution<'tree>]>,
    /// Substitutions found so far.
    pub(super) found: Vec<Node<'tree>>,
    /// Variables that may be secret, whose values are in the text.
    pub(super) secrets: Vec<String>,
    /// Whether all words are certain except for the values of variables.
    pub(super) certain: bool,
    /// In a lenient lexer: the contents of brackets and backticks, which are not parsed.
    pub(super) enclosed: Vec<Enclosed<'text>>,
    /// Whether quotes and brackets may be paired differently.
    pub(super) is_ambiguous: bool,
    /// Whether a bracket was not closed; the search for closing brackets then stops.
    pub(super) unclosed: bool,
}

impl<'text, 'tree> Lexer<'text, 'tree> {
    pub(super) fn new(
        text: &'text str,
        range: Range<usize>,
        substitutions: &'text [Substitution<'tree>],
    ) -> Self {
        Self {
            text,
            position: range.start,
            end: range.end.min(text.len()),
            substitutions: Some(substitutions),
            found: Vec::new(),
            secrets: Vec::new(),
            certain: true,
            enclosed: Vec::new(),
            is_ambiguous: false,
            unclosed: false,
        }
    }

    /// Creates a lexer that takes otherwise refused text literally.
    pub(super) fn lenient(text: &'text str) -> Self {
        Self {
            substitutions: None,
            ..Self::new(text, 0..text.len(), &[])
        }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let index = self.position + ahead;
        (index < self.end).then(|| self.text.as_bytes().get(index).copied())?
    }

    pub(super) fn rest(&self) -> &'text str {
        self.text.get(self.position..self.end).unwrap_or_default()
    }

    /// Returns the `length` bytes before the position.
    pub(super) fn before(&self, bytes: usize) -> &'text str {
        let start = self.position.saturating_sub(bytes);
        self.text.get(start..self.position).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.position += bytes;
    }

    /// Skips blanks and line continuations; with [`LineBreaks::AreBlanks`], also line breaks.
    pub(super) fn skip_blanks(&mut self, line_breaks: LineBreaks) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.skip(1),
                Some(b'\n') if line_breaks == LineBreaks::AreBlanks => self.skip(1),
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.skip(2),
                _ => break,
            }
        }
    }

    /// Reads a word, which must not be empty.
    pub(super) fn word(&mut self, expansions: Expansions) -> Result<Word, Refusal> {
        let start = self.position;
        let mut word = Word {
            span: start..start,
            prefix: String::new(),
            shape: WordShape::Literal,
            pieces: Vec::new(),
        };
        while let Some(byte) = self.peek() {
            let is_substitution = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
            if ends_word(byte) && byte != b'`' && !is_substitution {
                break;
            }
            let before = self.position;
            if let Err(refusal) = self.part(byte, &mut word, expansions) {
                if !self.is_lenient() {
                    return Err(refusal);
                }
                self.certain = false;
                self.is_ambiguous = true;
                self.position = before;
                word.push(self.character()?);
            }
        }
        word.span.end = self.position;
        if self.position == start {
            return Err(self.refuse(1, "unexpected character"));
        }
        Ok(word)
    }

    /// Adds the piece that starts with `byte` to the word.
    fn part(&mut self, byte: u8, word: &mut Word, expansions: Expansions) -> Checked {
        match byte {
            b'<' | b'>' if self.is_lenient() => self.enclosed(word, true),
            b'\\' if self.peek_at(1) == Some(b'\n') => {
                // The lines may be parts of a keyword or an operator.
                self.is_ambiguous = true;
                self.skip(2);
            }
            b'<' | b'>' => {
                self.substitution()?;
                word.push("/dev/fd/");
                word.push_unknown(WordPiece::Glob, WordShape::Single);
            }
            b'#' if self.position == word.span.start => {
                return Err(self.refuse(1, "a comment where a word is expected"));
            }
            b'\'' => self.single_quoted(word)?,
            b'"' => self.double_quoted(word)?,
            b'\\' => {
                self.skip(1);
                let escaped = self.character()?;
                word.push(escaped);
            }
            b'$' if self.peek_at(1) == Some(b'\'') => {
                let (value, length) = expansion::ansi_c_quoted(self.rest())
                    .ok_or_else(|| self.refuse(2, "`$'…'` with an escape not understood"))?;
                word.push(&value);
                self.skip(length);
            }
            b'$' | b'`' => {
                let splits = match expansions {
                    Expansions::All => WordShape::Split,
                    Expansions::Unsplit => WordShape::Single,
                };
                self.dollar(word, splits)?;
            }
            b'*' | b'?' if expansions == Expansions::All => {
                // Some shells expand `**` recursively.
                let is_recursive = self.peek_at(1) == Some(b'*');
                let piece = if is_recursive {
                    WordPiece::Unknown
                } else {
                    WordPiece::Glob
                };
                self.expanded(word, piece, WordShape::Matches, 1);
            }
            b'[' if expansions == Expansions::All
                && (self.is_lenient() || self.may_be_bracket_pattern()) =>
            {
                self.expanded(word, WordPiece::Bracket, WordShape::Matches, 1);
            }
            b'{' if expansions == Expansions::All
                && (self.is_lenient() || self.may_be_brace_expansion()) =>
            {
                // A word that starts with alternatives may become any text, not only file names.
                let shape = if word.prefix.is_empty() {
                    WordShape::Split
                } else {
                    WordShape::Matches
                };
                self.expanded(word, WordPiece::Brace('{'), shape, 1);
            }
            b',' | b'}' if expansions == Expansions::All && word.has_alternatives() => {
                self.expanded(word, WordPiece::Brace(byte.into()), WordShape::Matches, 1);
            }
            b'~' if expansions == Expansions::All && word.has_alternatives() => {
                self.expanded(word, WordPiece::Unknown, WordShape::Matches, 1);
            }
            b'~' if self.is_tilde_prefix(word.span.start) => {
                let is_first = self.position == word.span.start;
                self.expanded(word, WordPiece::Home, WordShape::Single, 1);
                if is_first && !self.is_lenient() {
                    // A home directory is a path.
                    word.prefix.push('/');
                }
            }
            _ => {
                let character = self.character()?;
                if !character.is_ascii() && character.chars().all(char::is_whitespace) {
                    return Err(Refusal::unknown(
                        self.position - character.len()..self.position,
                        "a non-ASCII blank outside quotes",
                    ));
                }
                word.push(character);
            }
        }
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut Word) -> Checked {
        let inside = self.rest().get(1..).unwrap_or_default();
        let length = inside
            .find('\'')
            .ok_or_else(|| self.refuse(1, "an unclosed quote"))?;
        word.push(inside.get(..length).unwrap_or_default());
        self.skip(length + 2);
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut Word) -> Checked {
        let opening = self.position;
        self.skip(1);
        loop {
            match self.peek() {
                None => {
                    return Err(Refusal::unknown(opening..opening + 1, "an unclosed quote"));
                }
                Some(b'"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.is_ambiguous |= self.before(1) == "$";
                    self.skip(2);
                }
                Some(b'\\') => {
                    self.skip(1);
                    if !matches!(self.peek(), Some(b'$' | b'`' | b'"' | b'\\')) {
                        word.push("\\");
                    }
                    let escaped = self.character()?;
                    word.push(escaped);
                }
                Some(b'$') if self.peek_at(1) == Some(b'"') => {
                    word.push("$");
                    self.skip(1);
                }
                Some(b'$' | b'`') => self.dollar(word, WordShape::Single)?,
                Some(_) => {
                    let character = self.character()?;
                    word.push(character);
                }
            }
        }
    }

    /// Skips text that is expanded as in double quotes, with literal quotes.
    pub(super) fn here_document(&mut self) -> Checked {
        let mut text = Word::anything(self.position..self.end);
        while let Some(byte) = self.peek() {
            match byte {
                b'$' | b'`' => self.dollar(&mut text, WordShape::Single)?,
                b'\\' => {
                    self.skip(1);
                    self.character()?;
                }
                _ => {
                    self.character()?;
                }
            }
        }
        Ok(())
    }

    /// Reads an expansion that starts with `$` or a backtick. `shape` is the effect of an unknown
    /// value on the word.
    fn dollar(&mut self, word: &mut Word, shape: WordShape) -> Checked {
        let is_quoted = shape == WordShape::Single;
        if self.is_lenient() {
            self.enclosed(word, is_quoted);
            return Ok(());
        }
        if self.peek() == Some(b'`') || expansion::begins_substitution(self.rest()) {
            self.substitution()?;
            word.push_unknown(WordPiece::Unknown, shape);
            return Ok(());
        }
        let (expanded, length) = expansion::read(self.rest())
            .map_err(|problem| self.refuse(problem.length, problem.why))?;
        let text = self.rest().get(..length).unwrap_or_default();
        if matches!(expanded, Expanded::Value | Expanded::List) {
            // `${a:-$b}`
            let names = text.split('$').map(|rest| rest.trim_start_matches('{'));
            let names = names.map(|rest| &rest[..expansion::identifier_length(rest)]);
            let secret = names.filter(|name| !name.is_empty() && may_be_secret(name));
            self.secrets.extend(secret.map(|name| format!("${name}")));
        }
        match expanded {
            Expanded::Dollar => word.push("$"),
            Expanded::Number => word.push_unknown(WordPiece::Glob, WordShape::Single),
            Expanded::Value => word.push_unknown(variable(text, is_quoted), shape),
            Expanded::List => word.push_unknown(WordPiece::Unknown, WordShape::Split),
        }
        self.skip(length);
        Ok(())
    }

    /// Skips text with an unknown value.
    fn expanded(&mut self, word: &mut Word, piece: WordPiece, shape: WordShape, length: usize) {
        if self.is_lenient() {
            let written = self.rest().get(..length).unwrap_or_default();
            word.push_written(piece, written);
        } else {
            word.push_unknown(piece, shape);
        }
        self.skip(length);
    }

    /// Skips a substitution, which the tree must have found too.
    fn substitution(&mut self) -> Checked {
        let substitutions = self.substitutions.unwrap_or_default();
        let index = substitutions
            .binary_search_by_key(&self.position, |substitution| substitution.start)
            .map_err(|_| self.refuse(2, "a substitution that the parser does not find"))?;
        let node = substitutions
            .get(index)
            .map(|substitution| substitution.node)
            .filter(|node| node.end_byte() <= self.end)
            .ok_or_else(|| self.refuse(2, "a substitution that does not end"))?;
        if self.peek() == Some(b'`') {
            let inside = self
                .text
                .get(self.position + 1..node.end_byte().saturating_sub(1))
                .unwrap_or("\\");
            if inside.contains(['\\', '`']) {
                return Err(self.refuse(1, "escapes inside backticks"));
            }
        }
        self.found.push(node);
        self.position = node.end_byte();
        Ok(())
    }

    fn is_lenient(&self) -> bool {
        self.substitutions.is_none()
    }

    /// Takes one character literally; there must be one.
    fn character(&mut self) -> Result<&'text str, Refusal> {
        let rest = self.rest();
        let character = rest
            .chars()
            .next()
            .and_then(|first| rest.get(..first.len_utf8()))
            .ok_or_else(|| self.refuse(0, "a backslash at the end"))?;
        self.skip(character.len());
        Ok(character)
    }

    /// Whether an opening bracket here may start a set of characters.
    fn may_be_bracket_pattern(&self) -> bool {
        let rest = self.unquoted_rest();
        rest.contains(HIDING) || rest.contains(']')
    }

    /// Returns the text up to the next character that certainly ends the word.
    fn unquoted_rest(&self) -> &'text str {
        let rest = self.rest();
        let length = rest
            .find([' ', '\t', '\n', ';', '&', '|'])
            .unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// Whether an opening brace here may start alternatives.
    fn may_be_brace_expansion(&self) -> bool {
        let rest = self.unquoted_rest();
        rest.contains(HIDING) || rest.contains(',') || rest.contains("..")
    }

    fn is_tilde_prefix(&self, word_start: usize) -> bool {
        self.position == word_start
            || self
                .position
                .checked_sub(1)
                .and_then(|before| self.text.as_bytes().get(before))
                .is_some_and(|before| matches!(before, b'=' | b':'))
    }

    fn refuse(&self, length: usize, why: impl Into<String>) -> Refusal {
        Refusal::unknown(self.position..self.position + length, why)
    }
}

/// Whether a byte ends a word outside quotes.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`'
    )
}

/// Keywords of compound commands.
const RESERVED: &str =
    "! [[ case coproc do done elif else esac fi for function if select then time until while { }";

/// Whether the source text of a word is a keyword at the start of a command.
pub(super) fn is_reserved(word: &str) -> bool {
    is_one_of(RESERVED, word)
}

/// The meaning of a line break between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineBreaks {
    /// A blank.
    AreBlanks,
    /// The end of the command.
    End,
}
