//! Words: quotes, escapes, expansions and patterns.

use std::ops::Range;

use super::state::{Read, Reader, ends_word, stop_at};
use crate::shell::commands::may_be_secret;
use crate::shell::expansion::{self, Expanded, identifier_length};
use crate::shell::word::{PartWord, WordPiece, WordShape};

/// Maximum length of a text in brackets or braces that is looked through, in bytes: the limit of names.
const MAX_NAME: usize = 255;

/// A word that is being read has its label and its pieces.
impl PartWord {
    /// Adds known text.
    fn push(&mut self, text: &str) {
        self.label.push_str(text);
        match self.pieces.last_mut() {
            Some(WordPiece::Text(known)) => known.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(WordPiece::Text(text.to_owned())),
        }
    }

    /// Adds a piece with an unknown value.
    fn push_piece(&mut self, piece: WordPiece, shape: WordShape, written: &str) {
        self.pieces.push(piece);
        self.shape = self.shape.max(shape);
        self.label.push_str(written);
    }

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
    /// Reads a word that may become any number of arguments. It must not be empty.
    pub(super) fn word(&mut self) -> Read<PartWord> {
        self.word_with(WordShape::Split)
    }

    /// Reads a word without splitting, names of files and braces: a value, a `case` word, an operand of `[[`.
    pub(super) fn unsplit_word(&mut self) -> Read<PartWord> {
        self.word_with(WordShape::Single)
    }

    /// Reads a word whose expansions have this shape.
    fn word_with(&mut self, expansions: WordShape) -> Read<PartWord> {
        let start = self.position;
        let mut word = PartWord::default();
        while let Some(byte) = self.peek() {
            let is_process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
            if ends_word(byte) && !is_process {
                break;
            }
            self.piece(byte, &mut word, start, expansions)?;
        }
        if self.position == start {
            return self.stop(1, "unexpected character");
        }
        self.refuse_control()?;
        let text = self.slice(start..self.position);
        let span = start..self.position;
        if self.scope.has_documents() && text.contains('\n') {
            return stop_at(span, "a here-document whose start is ambiguous");
        }
        Ok(word.finish(span, text))
    }

    /// Adds the piece that starts with `byte` to the word.
    fn piece(
        &mut self,
        byte: u8,
        word: &mut PartWord,
        start: usize,
        expansions: WordShape,
    ) -> Read<()> {
        let is_all = expansions == WordShape::Split;
        match byte {
            b'<' | b'>' => {
                self.substitution()?;
                word.pieces.push(WordPiece::Text("/dev/fd/".to_owned()));
                word.push_piece(WordPiece::Glob, WordShape::Single, "$()");
            }
            b'#' if self.position == start => {
                return self.stop(1, "a comment where a word is expected");
            }
            b'\'' => self.single_quotes(word)?,
            b'"' => self.double_quotes(word)?,
            b'\\' if self.peek_at(1) == Some(b'\n') => {
                // The lines may be parts of a keyword or an operator.
                return self.stop(2, "a word continued on the next line");
            }
            b'\\' => {
                self.position += 1;
                word.push(self.character()?);
            }
            b'$' if self.peek_at(1) == Some(b'\'') => self.ansi_c_quotes(word)?,
            b'$' | b'`' => self.dollar(word, expansions)?,
            b'*' | b'?' if is_all => {
                // Some shells expand `**` recursively.
                let piece = match self.peek_at(1) {
                    Some(b'*') => WordPiece::Unknown,
                    _ => WordPiece::Glob,
                };
                self.unknown_sign(word, piece, WordShape::Matches);
            }
            b'[' if is_all => self.bracket(word),
            b'{' if is_all && self.begins_alternatives() => {
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
            // Behind these signs, it is a home directory too.
            b'~' if self.position == start
                || self.slice(0..self.position).ends_with(['=', ':']) =>
            {
                self.unknown_sign(word, WordPiece::Home, WordShape::Single);
            }
            _ => {
                let at = self.position;
                let character = self.character()?;
                if !character.is_ascii() && character.chars().all(char::is_whitespace) {
                    return stop_at(at..self.position, "a non-ASCII blank outside quotes");
                }
                word.push(character);
            }
        }
        Ok(())
    }

    /// Adds the sign at the position, whose expansion is unknown.
    fn unknown_sign(&mut self, word: &mut PartWord, piece: WordPiece, shape: WordShape) {
        let written = self.slice(self.position..self.position + 1);
        word.push_piece(piece, shape, written);
        self.position += 1;
    }

    /// Adds a set of characters, which ends at the last bracket of the name.
    fn bracket(&mut self, word: &mut PartWord) {
        let name = self.plain_text_before(&['/']);
        match name.map(|name| name.rfind(']')) {
            None => self.unknown_sign(word, WordPiece::Unknown, WordShape::Matches),
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

    /// Whether a list of alternatives in braces may begin here.
    fn begins_alternatives(&self) -> bool {
        let text = self.plain_text_before(&[]);
        text.is_none_or(|text| text.contains(',') || text.contains(".."))
    }

    /// Returns the text up to the end of the word or one of these signs; `None` if it is long, or has quotes or
    /// expansions, behind which the word may be longer.
    fn plain_text_before(&self, signs: &[char]) -> Option<&'text str> {
        let rest = self.rest();
        let ends = |letter: char| " \t\n;&|".contains(letter) || signs.contains(&letter);
        let near = rest.get(..rest.floor_char_boundary(MAX_NAME))?;
        let text = near.split(ends).next()?;
        let is_whole = text.len() < near.len() || near.len() == rest.len();
        let is_plain = !text.contains(['\'', '"', '\\', '$', '`', '<']);
        (is_whole && is_plain).then_some(text)
    }

    /// Reads `$'…'`. Its value is not needed.
    fn ansi_c_quotes(&mut self, word: &mut PartWord) -> Read<()> {
        let inside = self.rest().get(2..).unwrap_or_default();
        let mut is_escaped = false;
        let ends = |letter| {
            let ends = letter == '\'' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            ends
        };
        let Some(length) = inside.find(ends) else {
            return self.stop(2, "an unclosed quote");
        };
        let written = self.slice(self.position..self.position + length + 3);
        word.push_piece(WordPiece::Unknown, WordShape::Single, written);
        self.position += written.len();
        Ok(())
    }

    fn single_quotes(&mut self, word: &mut PartWord) -> Read<()> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let Some(length) = inside.find('\'') else {
            return self.stop(1, "an unclosed quote");
        };
        word.push(inside.get(..length).unwrap_or_default());
        self.position += length + 2;
        Ok(())
    }

    fn double_quotes(&mut self, word: &mut PartWord) -> Read<()> {
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
                    word.push(self.character()?);
                }
                (Some(b'$'), Some(b'"')) => {
                    word.push("$");
                    self.position += 1;
                }
                (Some(_), _) => self.dollar(word, WordShape::Single)?,
            }
        }
    }

    /// Reads an expansion that starts with `$`; in quotes, and for some words, its value is not split.
    pub(super) fn dollar(&mut self, word: &mut PartWord, shape: WordShape) -> Read<()> {
        let rest = self.rest();
        if rest.starts_with('`') {
            return self.stop(1, "a substitution in backticks");
        }
        if rest.starts_with("$(") && !rest.starts_with("$((") {
            self.substitution()?;
            word.push_piece(WordPiece::Unknown, shape, "$()");
            return Ok(());
        }
        let (expanded, length) = match expansion::read(rest) {
            Ok(read) => read,
            Err(why) => return self.stop(2, why),
        };
        let text = rest.get(..length).unwrap_or_default();
        self.position += length;
        if matches!(expanded, Expanded::Value | Expanded::List) {
            // `${a:-$b}`
            let names = text.split('$').map(|rest| rest.trim_start_matches('{'));
            let names = names.map(|rest| rest.get(..identifier_length(rest)).unwrap_or_default());
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

    /// Takes one character literally; there must be one.
    pub(super) fn character(&mut self) -> Read<&'text str> {
        let start = self.position;
        let Some(first) = self.rest().chars().next() else {
            return self.stop(0, "a backslash at the end");
        };
        self.position += first.len_utf8();
        Ok(self.slice(start..self.position))
    }
}
