//! The text of a command line during the walk through its tree: checks of the text between
//! commands.

use std::ops::Range;

use tree_sitter::Node;

use super::lexer::ends_word;
use super::variables;
use super::verdict::{Refusal, excerpt};

/// The text of a command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'text>(pub(super) &'text str);

impl<'text> Source<'text> {
    /// Accepts an operator or a keyword between statements.
    pub(super) fn token(&self, span: &Range<usize>) -> Result<(), Refusal> {
        let token = self.slice(span.clone());
        match token {
            "" | ";" | "&&" | "||" | "|" | "|&" | "(" | ")" | "$(" | "`" | "<(" | ">(" => Ok(()),
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "for"
            | "in" | "case" | "esac" | "{" | "}" | "!" => {
                let bytes = self.0.as_bytes();
                let before = span.start.checked_sub(1).and_then(|index| bytes.get(index));
                let after = bytes.get(span.end);
                if [before, after]
                    .into_iter()
                    .flatten()
                    .all(|byte| ends_word(*byte))
                {
                    Ok(())
                } else {
                    Err(Refusal::unknown(
                        span.clone(),
                        format!("`{token}` that is part of a word"),
                    ))
                }
            }
            "&" => Err(Refusal::unknown(
                span.clone(),
                "`&` leaves a process in the background",
            )),
            "((" | "))" => Err(Refusal::unknown(
                span.clone(),
                "`((…))` evaluates its contents",
            )),
            _ => Err(Refusal::unknown(
                span.clone(),
                format!("`{}` is not accepted", excerpt(token)),
            )),
        }
    }

    pub(super) fn comment(&self, span: &Range<usize>) -> Result<(), Refusal> {
        let bytes = self.0.as_bytes();
        let begins = span
            .start
            .checked_sub(1)
            .and_then(|index| bytes.get(index))
            .is_none_or(|byte| ends_word(*byte));
        let ends = bytes.get(span.end).is_none_or(|byte| *byte == b'\n');
        let text = self.slice(span.clone());
        if begins && ends && text.starts_with('#') && !text.contains('\n') {
            Ok(())
        } else {
            Err(Refusal::unknown(span.clone(), "an ambiguous comment"))
        }
    }

    pub(super) fn may_be_set(&self, name: Range<usize>) -> Result<(), Refusal> {
        let text = self.slice(name.clone());
        if variables::may_be_set(text) {
            return Ok(());
        }
        Err(Refusal::unknown(
            name,
            format!("`{text}` has a special meaning for the shell or programs"),
        ))
    }

    pub(super) fn not_accepted(&self, node: Node<'_>) -> Refusal {
        let range = self.trimmed(node);
        let text = excerpt(self.slice(range.clone()));
        let kind = node.kind().replace('_', " ");
        Refusal::unknown(range, format!("{kind} is not accepted: `{text}`"))
    }

    pub(super) fn only_blanks(&self, range: Range<usize>) -> Result<(), Refusal> {
        let between = self.slice(range.clone());
        if range.start <= range.end
            && between
                .split("\\\n")
                .all(|line| line.trim_matches([' ', '\t', '\n']).is_empty())
        {
            return Ok(());
        }
        Err(Refusal::unknown(
            range,
            format!("`{}` that the parser skips", excerpt(between)),
        ))
    }

    /// Whether bash also ends a word at this position.
    pub(super) fn ends_here(&self, end: usize) -> bool {
        self.0
            .as_bytes()
            .get(end)
            .is_none_or(|byte| ends_word(*byte))
    }

    /// Returns the range of a node, without blanks that the tree includes.
    pub(super) fn trimmed(&self, node: Node<'_>) -> Range<usize> {
        let range = node.byte_range();
        let text = self.slice(range.clone());
        let blanks = text.len() - text.trim_start_matches([' ', '\t', '\n']).len();
        range.start + blanks..range.end
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'text str {
        self.0.get(range).unwrap_or_default()
    }
}
