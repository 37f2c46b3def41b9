//! Brackets and expansions in text that is read leniently.

use super::expansion::{self, Enclosed};
use super::lexer::Lexer;
use super::word::{Word, WordPiece, variable};

/// Maximum number of substitutions in an expansion.
const MAX_INSIDE: usize = 64;

impl<'text> Lexer<'text, '_> {
    /// Skips the brackets at the position, if they are closed.
    pub(super) fn skip_enclosed(&mut self) {
        self.enclosed(&mut Word::anything(self.position()..self.position()), true);
    }

    /// Skips an expansion; variables are kept literally.
    pub(super) fn enclosed(&mut self, word: &mut Word, is_quoted: bool) {
        let rest = self.rest();
        let opening = usize::from(rest.starts_with(['$', '<', '>']));
        let follows = rest.get(opening..).unwrap_or_default();
        if !follows.starts_with(['(', '{', '[', '`']) {
            let is_translated = follows.starts_with('"');
            self.certain &= !is_translated;
            let special =
                usize::from(follows.starts_with(|next: char| "@*#?$!-0123456789".contains(next)));
            let name = expansion::identifier_length(follows).max(special);
            let written = rest.get(..1 + name).unwrap_or_default();
            let piece = match name {
                0 if is_translated => WordPiece::Text(String::new()),
                0 => WordPiece::Text("$".to_owned()),
                _ => variable(written, is_quoted),
            };
            word.push_written(piece, written);
            return self.skip(1 + name);
        }
        // A process substitution expands to a meaningless file name.
        self.certain &= rest.starts_with(['<', '>']);
        let length = self.enclosed_length(follows);
        self.certain &= !self.unclosed;
        self.is_ambiguous |= self.unclosed;
        let length = length.map_or(1, |length| opening + length);
        let written = rest.get(..length).unwrap_or_default();
        let is_variable = rest.starts_with("${");
        if length > 1 {
            // Quotes in it may be literal, and `@P` expands the value again.
            let is_evaluated = is_variable || rest.starts_with("$((");
            self.is_ambiguous |= is_evaluated && written.contains(['\'', '"', '\\']);
            self.is_ambiguous |= is_variable && written.ends_with("@P}");
            let is_arithmetic = rest.starts_with('$') && self.begins_arithmetic(follows);
            let is_code = follows.starts_with('`')
                || (opening > 0 && follows.starts_with('(') && !is_arithmetic);
            let text = written.get(opening + 1..length - 1).unwrap_or_default();
            self.enclosed.push(Enclosed { text, is_code });
            let is_quoted = text.contains(['\'', '\\']);
            // It may look like a here-document.
            self.is_ambiguous |= !is_code && is_quoted && text.contains("<<");
            if !is_code && !is_quoted {
                self.inside_expansion(text);
            }
        }
        let shown = if length == 1 || is_variable {
            written
        } else {
            "$()"
        };
        word.push_written(WordPiece::Unknown, shown);
        self.skip(length);
    }

    /// Returns the length of the brackets at the start of the text, unless brackets were not closed
    /// before.
    pub(super) fn enclosed_length(&mut self, text: &str) -> Option<usize> {
        let length = (!self.unclosed)
            .then(|| expansion::enclosed_length(text))
            .flatten();
        self.unclosed |= length.is_none();
        length
    }

    /// Whether the text starts with `((` that begins arithmetic, not a subshell.
    pub(super) fn begins_arithmetic(&mut self, text: &str) -> bool {
        let inside = text
            .strip_prefix('(')
            .filter(|inside| inside.starts_with('('));
        inside.is_some_and(|inside| {
            let length = self.enclosed_length(inside);
            length.is_some_and(|length| inside.as_bytes().get(length) == Some(&b')'))
        })
    }

    /// Adds the substitutions in an expansion, where nothing is a comment.
    fn inside_expansion(&mut self, inside: &'text str) {
        let mut left = MAX_INSIDE;
        let mut skipped = 0;
        for (at, sign) in inside.match_indices(['(', '`']) {
            let (before, opened) = inside.split_at(at);
            let is_arithmetic = before.ends_with('$') && self.begins_arithmetic(opened);
            if at < skipped || is_arithmetic || (sign == "(" && !before.ends_with(['$', '<', '>']))
            {
                continue;
            }
            let length = self.enclosed_length(opened);
            let Some(length) = length.filter(|_| left > 0) else {
                self.is_ambiguous = true;
                return;
            };
            left -= 1;
            if sign == "`" {
                skipped = at + length;
            }
            let text = opened.get(1..length - 1).unwrap_or_default();
            self.enclosed.push(Enclosed {
                text,
                is_code: true,
            });
        }
    }
}
