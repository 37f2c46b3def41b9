//! Reads lists, pipelines and simple commands.

use super::redirections::find_operator;
use super::state::{ReadResult, Reader, ends_word, stop_at};
use crate::shell::expansion::{assignment_name_length, identifier_length};
use crate::shell::parts::{CommandPart, Follows, PartAssignment, PartInput};
use crate::shell::verdict::is_one_of;
use crate::shell::word::PartWord;

/// Keywords that end a list.
const CLOSING: &str = "then elif else fi do done esac }";

/// Words that have a meaning at the start of a command.
const RESERVED: &str =
    "! [[ ]] case coproc do done elif else esac fi for function if select then until while { }";

impl<'text> Reader<'text> {
    /// Reads the whole command line.
    pub(super) fn read_script(&mut self) -> ReadResult {
        self.read_list()?;
        if self.position < self.end {
            let token = self.slice(self.position..self.position + 1);
            return self.stop(1, format!("`{token}` where a command is expected"));
        }
        match self.scope.documents.first() {
            Some(first) => stop_at(first.delimiter.span.clone(), "a here-document without text"),
            None => self.stop_at_control(),
        }
    }

    /// Reads commands up to a token that ends a list, or to the end of the text.
    pub(super) fn read_list(&mut self) -> ReadResult {
        loop {
            self.skip_line_breaks()?;
            if self.is_at_end_of_list() {
                return Ok(());
            }
            self.read_and_or()?;
            if !self.skip_separator()? && !self.is_at_end_of_list() {
                return self.stop(1, "two commands without a separator");
            }
        }
    }

    /// Whether the next token ends a list.
    fn is_at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            Some(_) => is_one_of(CLOSING, self.peek_keyword()),
        }
    }

    /// Skips blanks, comments and line breaks, and the texts of here-documents.
    pub(super) fn skip_line_breaks(&mut self) -> ReadResult {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.read_line_break()?,
                Some(b'#') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Skips `;`, `&` or a line break after a command. Returns whether there is one.
    fn skip_separator(&mut self) -> ReadResult<bool> {
        self.skip_blanks();
        if self.peek() == Some(b'#') {
            self.skip_comment()?;
        }
        match (self.peek(), self.peek_at(1)) {
            (Some(b'\n'), _) => self.read_line_break()?,
            (Some(b';'), Some(b';' | b'&')) => return Ok(false),
            (Some(b';'), _) => self.position += 1,
            (Some(b'&'), _) => {
                self.refuse_next(1, "`&` leaves a process in the background");
                self.scope.follows = Follows::Background;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Skips a comment up to its line break.
    pub(super) fn skip_comment(&mut self) -> ReadResult {
        let rest = self.rest();
        self.position += rest.find('\n').unwrap_or(rest.len());
        self.stop_at_control()
    }

    /// Reads pipelines that are joined by `&&` and `||`.
    fn read_and_or(&mut self) -> ReadResult {
        loop {
            self.read_pipeline()?;
            self.skip_blanks();
            self.scope.follows = match (self.peek(), self.peek_at(1)) {
                (Some(b'&'), Some(b'&')) => Follows::And,
                (Some(b'|'), Some(b'|')) => Follows::Or,
                _ => return Ok(()),
            };
            self.position += 2;
            self.skip_line_breaks()?;
        }
    }

    /// Reads commands that are joined by pipes.
    fn read_pipeline(&mut self) -> ReadResult {
        self.skip_blanks();
        while self.peek_keyword() == "!" {
            self.position += 1;
            self.line.is_flat = false;
            self.skip_blanks();
        }
        let input = self.scope.input.clone();
        let mut stages = 0;
        loop {
            let first = self.line.commands.len();
            self.read_command()?;
            self.skip_blanks();
            stages += 1;
            let is_pipe = self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|');
            if is_pipe || stages > 1 {
                for command in self.line.commands.iter_mut().skip(first) {
                    command.context.is_in_subshell = true;
                }
            }
            if !is_pipe {
                break;
            }
            self.scope.input = PartInput::Pipe(first..self.line.commands.len());
            self.scope.follows = Follows::Pipe;
            self.position += 1;
            self.skip("&");
            self.skip_line_breaks()?;
        }
        self.scope.input = input;
        Ok(())
    }

    /// Returns the text up to the end of the word at the position, which may be a keyword.
    pub(super) fn peek_keyword(&self) -> &'text str {
        let rest = self.rest();
        let length = rest.bytes().position(ends_word).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// Reads a command and its redirections.
    pub(super) fn read_command(&mut self) -> ReadResult {
        if self.rest().starts_with("((") {
            return self.stop(2, "`((…))` evaluates its contents");
        }
        let (keyword, start) = (self.peek_keyword(), self.position);
        match keyword {
            "" if self.peek() == Some(b'(') => self.read_compound("(", Self::read_subshell),
            "{" => self.read_compound(keyword, Self::read_group),
            "if" => self.read_compound(keyword, Self::read_if),
            "while" | "until" => self.read_compound(keyword, Self::read_while),
            "for" => self.read_compound(keyword, Self::read_for),
            "case" => self.read_compound(keyword, Self::read_case),
            "[[" => {
                let condition = self.read_compound("", Self::read_condition);
                condition.map_err(|rest| rest.extend_to(start))
            }
            _ if is_one_of(RESERVED, keyword) => {
                self.stop(keyword.len(), format!("`{keyword}` is not accepted here"))
            }
            _ => self
                .read_simple(start)
                .map_err(|rest| rest.extend_to(start)),
        }
    }

    /// Reads a simple command.
    fn read_simple(&mut self, start: usize) -> ReadResult {
        let mut part = self.begin_part();
        let mut end = start;
        loop {
            self.skip_blanks();
            let rest = self.rest();
            if let Some(operator) = find_operator(rest) {
                part.redirections.push(self.read_redirection(operator)?);
            } else if let None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'#') = self.peek() {
                break;
            } else if rest.starts_with('(') {
                return self.stop(1, "a function, a list of values or an extended pattern");
            } else if part.words.is_empty()
                && let Some(length) = assignment_name_length(rest)
            {
                part.assignments.push(self.read_assignment(rest, length)?);
            } else {
                let word = self.read_word()?;
                if rest.starts_with('{') && find_operator(self.rest()).is_some() {
                    let why = "a redirection that assigns a descriptor to a variable";
                    return stop_at(word.span, why);
                }
                part.words.push(word);
            }
            end = self.position;
        }
        if end == start {
            return self.stop(1, "unexpected end of a command");
        }
        check_command_start(&part.words)?;
        // For redirections alone, zsh starts `cat`.
        self.line.differs_between_shells |= part.words.is_empty() && !part.redirections.is_empty();
        part.span = match (part.words.first(), part.words.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => start..end,
        };
        self.finish_part(part);
        Ok(())
    }

    /// Reads `NAME=value`. `rest` starts with the name of this length.
    fn read_assignment(&mut self, rest: &str, length: usize) -> ReadResult<PartAssignment> {
        let name = rest.get(..length).unwrap_or_default().to_owned();
        self.line.assigned.insert(name.clone());
        self.position += length + 1;
        let start = self.position;
        let word = match self.peek() {
            Some(b'(') => return self.stop(1, "a list of values"),
            Some(byte) if !ends_word(byte) || matches!(byte, b'<' | b'>') => {
                self.read_unsplit_word()?
            }
            _ => PartWord::from_value_at(start..start, ""),
        };
        Ok(PartAssignment { name, word })
    }

    /// Starts a command, which follows the last operator.
    pub(super) fn begin_part(&mut self) -> CommandPart {
        CommandPart {
            follows: std::mem::take(&mut self.scope.follows),
            input: self.scope.input.clone(),
            context: self.scope.context,
            ..CommandPart::default()
        }
    }

    /// Adds a command that was read, unless it is only redirections that open no file and give no input.
    pub(super) fn finish_part(&mut self, mut part: CommandPart) {
        part.has_processes = std::mem::take(&mut self.scope.has_processes);
        if let Some(redirection) = part.input_redirection() {
            part.input = match redirection.operator {
                "<<<" => PartInput::Text(redirection.target.value.clone()),
                "<<" | "<<-" => PartInput::Text(None),
                _ => PartInput::Other,
            };
        }
        let mut has_text = matches!(part.input, PartInput::Text(_));
        let documents = self.scope.documents.iter_mut();
        for document in documents.filter(|document| document.command.is_none()) {
            has_text = true;
            document.command = Some(self.line.commands.len());
        }
        let is_empty = part.words.is_empty() && part.assignments.is_empty();
        let mut redirections = part.redirections.iter();
        let opens_file =
            redirections.any(|redirection| redirection.reads() || redirection.writes());
        if !is_empty || opens_file || has_text {
            self.line.commands.push(part);
        }
    }
}

/// Stops at words that bash does not read as a simple command.
fn check_command_start(words: &[PartWord]) -> ReadResult {
    // The keyword `time` precedes a pipeline.
    let has_time = words.first().is_some_and(|first| first.text == "time");
    let is_skipped = |word: &PartWord| word.text.starts_with('-') || word.text == "time";
    let Some(first) = words.iter().find(|word| !(has_time && is_skipped(word))) else {
        return Ok(());
    };
    if has_time && first.value.is_none() && assignment_name_length(&first.text).is_some() {
        let why = "`time` before a variable that is known only at run time";
        return stop_at(first.span.clone(), why);
    }
    let (name, rest) = first.text.split_at(identifier_length(&first.text));
    let assigns = !name.is_empty() && (rest.starts_with("+=") || rest.starts_with('['));
    if assigns || is_one_of(RESERVED, &first.text) {
        let why = format!("`{}` is not accepted here", first.text);
        return stop_at(first.span.clone(), why);
    }
    Ok(())
}
