//! Reads words: quotes, escapes, expansions and globs.

use std::ops::Range;

use super::state::{ReadResult, Reader, ends_word, stop_at};
use crate::shell::commands::may_be_secret;
use crate::shell::expansion::{self, Expanded, identifier_length};
use crate::shell::word::{PartWord, WordPiece, WordShape};

/// Maximum length of a text in brackets or braces, in bytes: the limit of file names. A longer one is unknown.
const MAX_NAME: usize = 255;

/// Construction of a word: until `finish`, it has only its label and its pieces.
impl PartWord {
    /// Adds known text.
    fn push(&mut self, text: &str) {
        self.label.push_str(text);
        match self.pieces.last_mut() {
            Some(WordPiece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(WordPiece::Text(text.to_owned())),
        }
    }

    /// Adds a piece with an unknown value. `written` is its label.
    fn push_piece(&mut self, piece: WordPiece, shape: WordShape, written: &str) {
        self.pieces.push(piece);
        self.shape = self.shape.max(shape);
        self.label.push_str(written);
    }

    /// Sets the source text and the value.
    fn finish(mut self, span: Range<usize>, text: &str) -> Self {
        if self.shape == WordShape::Literal {
            self.value = Some(std::mem::take(&mut self.label));
            self.pieces.clear();
        }
        let text = text.to_owned();
        Self { span, text, ..self }
    }
}

impl<'text> Reader<'text> {
    /// Reads a word that may become any number of arguments. An empty one ends the reading.
    pub(super) fn read_word(&mut self) -> ReadResult<PartWord> {
        self.read_word_of_shape(WordShape::Split)
    }

    /// Reads a word that is not split, and in which globs and braces are literal: a value, a `case` word, an operand of
    /// `[[`.
    pub(super) fn read_unsplit_word(&mut self) -> ReadResult<PartWord> {
        self.read_word_of_shape(WordShape::Single)
    }

    /// Reads a word whose expansions have this shape.
    fn read_word_of_shape(&mut self, expansions: WordShape) -> ReadResult<PartWord> {
        let start = self.position;
        let mut word = PartWord::default();
        while let Some(byte) = self.peek() {
            let is_process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
            if ends_word(byte) && !is_process {
                break;
            }
            self.read_piece(byte, &mut word, start, expansions)?;
        }
        if self.position == start {
            return self.stop(1, "unexpected character");
        }
        self.stop_at_control()?;
        let text = self.slice(start..self.position);
        let span = start..self.position;
        if self.scope.has_documents() && text.contains('\n') {
            return stop_at(span, "a here-document whose start is ambiguous");
        }
        Ok(word.finish(span, text))
    }

    /// Reads the piece that starts with `byte`, and adds it to the word, which starts at `start`.
    fn read_piece(
        &mut self,
        byte: u8,
        word: &mut PartWord,
        start: usize,
        expansions: WordShape,
    ) -> ReadResult {
        let is_split = expansions == WordShape::Split;
        match byte {
            b'<' | b'>' => {
                self.read_substitution()?;
                word.pieces.push(WordPiece::Text("/dev/fd/".to_owned()));
                word.push_piece(WordPiece::Glob, WordShape::Single, "$()");
            }
            b'#' if self.position == start => {
                return self.stop(1, "a comment where a word is expected");
            }
            b'\'' => self.read_single_quotes(word)?,
            b'"' => self.read_double_quotes(word)?,
            b'\\' if self.peek_at(1) == Some(b'\n') => {
                // The parts on both lines may form a keyword or an operator.
                return self.stop(2, "a word continued on the next line");
            }
            b'\\' => {
                self.position += 1;
                word.push(self.read_character()?);
            }
            b'$' if self.peek_at(1) == Some(b'\'') => self.read_ansi_c_quotes(word)?,
            b'$' | b'`' => self.read_expansion(word, expansions)?,
            b'*' | b'?' if is_split => {
                // Some shells expand `**` recursively.
                let piece = match self.peek_at(1) {
                    Some(b'*') => WordPiece::Unknown,
                    _ => WordPiece::Glob,
                };
                self.push_unknown_character(word, piece, WordShape::Matches);
            }
            b'[' if is_split => self.read_bracket(word),
            b'{' if is_split && self.may_begin_alternatives() => {
                // A word that starts with alternatives may become any text, not only file names.
                let shape = if word.label.is_empty() {
                    WordShape::Split
                } else {
                    WordShape::Matches
                };
                word.push_piece(WordPiece::Unknown, shape, "");
                word.push("{");
                self.position += 1;
            }
            // Behind `=` and `:`, a tilde is a home directory too.
            b'~' if self.position == start
                || self.slice(0..self.position).ends_with(['=', ':']) =>
            {
                self.push_unknown_character(word, WordPiece::Home, WordShape::Single);
            }
            _ => {
                let at = self.position;
                let character = self.read_character()?;
                if !character.is_ascii() && character.chars().all(char::is_whitespace) {
                    return stop_at(at..self.position, "a non-ASCII blank outside quotes");
                }
                word.push(character);
            }
        }
        Ok(())
    }

    /// Adds the character at the position, whose expansion is unknown.
    fn push_unknown_character(&mut self, word: &mut PartWord, piece: WordPiece, shape: WordShape) {
        let written = self.slice(self.position..self.position + 1);
        word.push_piece(piece, shape, written);
        self.position += 1;
    }

    /// Adds a bracket expression, which ends at the last bracket of the name, or a literal bracket.
    fn read_bracket(&mut self, word: &mut PartWord) {
        let name = self.plain_text_before(&['/']);
        match name.map(|name| name.rfind(']')) {
            None => self.push_unknown_character(word, WordPiece::Unknown, WordShape::Matches),
            Some(None) => {
                word.push("[");
                self.position += 1;
            }
            Some(Some(end)) => {
                let written = self.slice(self.position..self.position + end + 1);
                word.push_piece(WordPiece::Glob, WordShape::Matches, written);
                self.position += written.len();
            }
        }
    }

    /// Whether a list of alternatives in braces may start at the position.
    fn may_begin_alternatives(&self) -> bool {
        let text = self.plain_text_before(&[]);
        text.is_none_or(|text| text.contains(',') || text.contains(".."))
    }

    /// Returns the text up to the end of the word or one of the `ends`; `None` if it is longer than [`MAX_NAME`], or
    /// has quotes or expansions, behind which the word may be longer.
    fn plain_text_before(&self, ends: &[char]) -> Option<&'text str> {
        let rest = self.rest();
        let is_end = |letter: char| " \t\n;&|".contains(letter) || ends.contains(&letter);
        let start = rest.get(..rest.floor_char_boundary(MAX_NAME))?;
        let text = start.split(is_end).next()?;
        let is_whole = text.len() < start.len() || start.len() == rest.len();
        let is_plain = !text.contains(['\'', '"', '\\', '$', '`', '<']);
        (is_whole && is_plain).then_some(text)
    }

    /// Reads `$'…'`. Its value is not needed.
    fn read_ansi_c_quotes(&mut self, word: &mut PartWord) -> ReadResult {
        let inside = self.rest().get(2..).unwrap_or_default();
        let mut is_escaped = false;
        let is_closing = |letter| {
            let is_closing = letter == '\'' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_closing
        };
        let Some(length) = inside.find(is_closing) else {
            return self.stop(2, "an unclosed quote");
        };
        let written = self.slice(self.position..self.position + length + 3);
        word.push_piece(WordPiece::Unknown, WordShape::Single, written);
        self.position += written.len();
        Ok(())
    }

    fn read_single_quotes(&mut self, word: &mut PartWord) -> ReadResult {
        let inside = self.rest().get(1..).unwrap_or_default();
        let Some(length) = inside.find('\'') else {
            return self.stop(1, "an unclosed quote");
        };
        word.push(inside.get(..length).unwrap_or_default());
        self.position += length + 2;
        Ok(())
    }

    fn read_double_quotes(&mut self, word: &mut PartWord) -> ReadResult {
        let opening = self.position;
        self.position += 1;
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\', '$', '`']).unwrap_or(rest.len());
            word.push(rest.get(..plain).unwrap_or_default());
            self.position += plain;
            match (self.peek(), self.peek_at(1)) {
                (None, _) => return stop_at(opening..opening + 1, "an unclosed quote"),
                (Some(b'"'), _) => {
                    self.position += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(b'\n')) => {
                    if self.slice(opening..self.position).ends_with('$') {
                        return self.stop(2, "an expansion continued on the next line");
                    }
                    self.refuse_next(2, "a line continued by a backslash");
                }
                (Some(b'\\'), next) => {
                    self.position += 1;
                    if !matches!(next, Some(b'$' | b'`' | b'"' | b'\\')) {
                        word.push("\\");
                    }
                    word.push(self.read_character()?);
                }
                (Some(b'$'), Some(b'"')) => {
                    word.push("$");
                    self.position += 1;
                }
                (Some(_), _) => self.read_expansion(word, WordShape::Single)?,
            }
        }
    }

    /// Reads an expansion that starts with `$`. A value becomes a piece of the `shape`.
    pub(super) fn read_expansion(&mut self, word: &mut PartWord, shape: WordShape) -> ReadResult {
        let rest = self.rest();
        if rest.starts_with('`') {
            return self.stop(1, "a substitution in backticks");
        }
        if rest.starts_with("$(") && !rest.starts_with("$((") {
            self.read_substitution()?;
            word.push_piece(WordPiece::Unknown, shape, "$()");
            return Ok(());
        }
        let (expanded, length) = match expansion::parse_expansion(rest) {
            Ok(parsed) => parsed,
            Err(why) => return self.stop(2, why),
        };
        let text = rest.get(..length).unwrap_or_default();
        self.position += length;
        if matches!(expanded, Expanded::Value | Expanded::List) {
            // `${a:-$b}`
            let starts = text.split('$').map(|rest| rest.trim_start_matches('{'));
            let names = starts.map(|rest| &rest[..identifier_length(rest)]);
            let secret = names.filter(|name| !name.is_empty() && may_be_secret(name));
            self.line.secrets.extend(secret.map(str::to_owned));
        }
        match expanded {
            Expanded::Dollar => word.push("$"),
            Expanded::Number => {
                let written = if text.starts_with("$((") { "$()" } else { text };
                word.push_piece(WordPiece::Glob, WordShape::Single, written);
            }
            Expanded::Value if matches!(text, "$HOME" | "${HOME}") => {
                word.push_piece(WordPiece::Home, shape, text);
            }
            Expanded::Value => word.push_piece(WordPiece::Unknown, shape, text),
            Expanded::List => word.push_piece(WordPiece::Unknown, WordShape::Split, text),
        }
        Ok(())
    }

    /// Reads one character literally. The end of the text ends the reading.
    pub(super) fn read_character(&mut self) -> ReadResult<&'text str> {
        let start = self.position;
        let Some(first) = self.rest().chars().next() else {
            return self.stop(0, "a backslash at the end");
        };
        self.position += first.len_utf8();
        Ok(self.slice(start..self.position))
    }
}
