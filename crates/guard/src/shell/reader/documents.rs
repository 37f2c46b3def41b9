//! Reads here-documents.

use std::ops::Range;

use super::state::{Document, ReadResult, Reader, stop_at};
use crate::shell::parts::PartInput;
use crate::shell::word::{PartWord, WordShape};

impl Reader<'_> {
    /// Reads the delimiter behind the operator of a here-document, whose text follows the next line break.
    pub(super) fn read_delimiter(&mut self, strips_tabs: bool) -> ReadResult<PartWord> {
        let word = self.read_unsplit_word()?;
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"`$\\'\"".contains(&byte);
        let delimiter = word.value.as_deref().unwrap_or_default();
        if delimiter.is_empty() || !delimiter.bytes().all(is_plain) {
            let why = "a here-document delimiter that is not plain text";
            return stop_at(word.span, why);
        }
        self.scope.documents.push(Document {
            delimiter: word.clone(),
            strips_tabs,
            command: None,
        });
        Ok(word)
    }

    /// Reads a line break and the texts of the here-documents that follow it.
    pub(super) fn read_line_break(&mut self) -> ReadResult {
        if self.scope.precedes_documents {
            return self.stop(1, "a here-document whose start is ambiguous");
        }
        self.position += 1;
        for document in std::mem::take(&mut self.scope.documents) {
            let command = document.command.and_then(|at| self.line.commands.get(at));
            let span = command.map_or(&document.delimiter.span, |command| &command.span);
            let start = span.start;
            self.read_document(document)
                .map_err(|unread| unread.extend_to(start))?;
        }
        Ok(())
    }

    /// Reads the text of a here-document up to the line of its delimiter.
    fn read_document(&mut self, document: Document) -> ReadResult {
        let start = self.position;
        let Document { delimiter, .. } = document;
        let tabs = if document.strips_tabs { "\t" } else { "" };
        let mut lines = self.rest().split_inclusive('\n');
        let last_line = lines.find(|line| {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let unindented = content.trim_start_matches(|letter| tabs.contains(letter));
            let is_last = delimiter.literal() == Some(unindented);
            self.position += if is_last { 0 } else { line.len() };
            is_last
        });
        let Some(last_line) = last_line else {
            return stop_at(delimiter.span, "a here-document that does not end");
        };
        let text_end = self.position;
        let end = text_end + last_line.trim_end_matches('\n').len();
        let text = self.slice(start..text_end);
        let is_quoted = delimiter.literal() != Some(&delimiter.text);
        let is_expanded = !is_quoted && text.contains(['$', '`', '\\']);
        if is_expanded {
            self.line.differs_between_shells = true;
        } else {
            self.line.documents.push(start..end);
        }
        if is_expanded && text.contains("\\\n") {
            return stop_at(delimiter.span, "a here-document with continued lines");
        }
        if is_expanded && text.contains(['$', '`']) {
            let why = "a here-document known only at run time, which may need a file";
            self.refuse(start..text_end, why);
            self.read_expanded_text(start..text_end)?;
        }
        let index = document.command.unwrap_or(usize::MAX);
        if let Some(command) = self.line.commands.get_mut(index)
            && command
                .input_redirection()
                .is_some_and(|input| input.target.span == delimiter.span)
        {
            command.input = PartInput::Text((!is_expanded).then(|| text.to_owned()));
        }
        self.position = end;
        self.stop_at_control()?;
        // The next here-document starts behind the line break.
        self.skip("\n");
        Ok(())
    }

    /// Reads a text in which expansions are as in double quotes, and quotes are literal.
    fn read_expanded_text(&mut self, range: Range<usize>) -> ReadResult {
        let outer = std::mem::replace(&mut self.end, range.end);
        self.position = range.start;
        let mut word = PartWord::default();
        while let Some(byte) = self.peek() {
            if matches!(byte, b'$' | b'`') {
                self.read_expansion(&mut word, WordShape::Single)?;
            } else {
                self.position += usize::from(byte == b'\\');
                self.read_character()?;
            }
        }
        self.end = outer;
        Ok(())
    }
}
