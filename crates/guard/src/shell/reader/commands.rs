//! Lists, pipelines and simple commands.

use super::redirections::redirection_operator;
use super::state::{Read, Reader, ends_word, stop_at};
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
    /// Reads the whole text.
    pub(super) fn script(&mut self) -> Read<()> {
        self.list()?;
        if self.position < self.end {
            let token = self.slice(self.position..self.position + 1);
            return self.stop(1, format!("`{token}` where a command is expected"));
        }
        match self.scope.documents.first() {
            Some(one) => stop_at(one.delimiter.span.clone(), "a here-document without text"),
            None => self.refuse_control(),
        }
    }

    /// Reads commands up to a token that ends a list, or the end.
    pub(super) fn list(&mut self) -> Read<()> {
        loop {
            self.skip_line_breaks()?;
            if self.is_at_end_of_list() {
                return Ok(());
            }
            self.and_or()?;
            if !self.skip_separator()? && !self.is_at_end_of_list() {
                return self.stop(1, "two commands without a separator");
            }
        }
    }

    fn is_at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            Some(_) => is_one_of(CLOSING, self.keyword()),
        }
    }

    /// Skips blanks, comments and line breaks, and the texts of here-documents.
    pub(super) fn skip_line_breaks(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.line_break()?,
                Some(b'#') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Skips `;`, `&` or a line break after a command. Returns whether there is one.
    fn skip_separator(&mut self) -> Read<bool> {
        self.skip_blanks();
        if self.peek() == Some(b'#') {
            self.comment()?;
        }
        match (self.peek(), self.peek_at(1)) {
            (Some(b'\n'), _) => self.line_break()?,
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

    pub(super) fn comment(&mut self) -> Read<()> {
        let rest = self.rest();
        self.position += rest.find('\n').unwrap_or(rest.len());
        self.refuse_control()
    }

    fn and_or(&mut self) -> Read<()> {
        loop {
            self.pipeline()?;
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

    fn pipeline(&mut self) -> Read<()> {
        self.skip_blanks();
        while self.keyword() == "!" {
            self.position += 1;
            self.line.is_flat = false;
            self.skip_blanks();
        }
        let input = self.scope.input.clone();
        let mut stages = 0;
        loop {
            let first = self.line.commands.len();
            self.command()?;
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

    /// Returns the text up to the end of a word, which may be a keyword.
    pub(super) fn keyword(&self) -> &'text str {
        let rest = self.rest();
        let length = rest.bytes().position(ends_word).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// Reads a command and its redirections.
    pub(super) fn command(&mut self) -> Read<()> {
        if self.rest().starts_with("((") {
            return self.stop(2, "`((…))` evaluates its contents");
        }
        let (keyword, start) = (self.keyword(), self.position);
        match keyword {
            "" if self.peek() == Some(b'(') => self.compound("(", Self::subshell),
            "{" => self.compound(keyword, Self::group),
            "if" => self.compound(keyword, Self::if_statement),
            "while" | "until" => self.compound(keyword, Self::while_statement),
            "for" => self.compound(keyword, Self::for_statement),
            "case" => self.compound(keyword, Self::case_statement),
            "[[" => {
                let read = self.compound("", Self::condition);
                read.map_err(|stop| stop.before(start))
            }
            _ if is_one_of(RESERVED, keyword) => {
                self.stop(keyword.len(), format!("`{keyword}` is not accepted here"))
            }
            _ => self.simple(start).map_err(|stop| stop.before(start)),
        }
    }

    /// Reads a simple command.
    fn simple(&mut self, start: usize) -> Read<()> {
        let mut part = self.begin_part();
        let mut end = start;
        loop {
            self.skip_blanks();
            let rest = self.rest();
            if let Some(operator) = redirection_operator(rest) {
                part.redirections.push(self.redirection(operator)?);
            } else if let None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'#') = self.peek() {
                break;
            } else if rest.starts_with('(') {
                return self.stop(1, "a function, a list of values or an extended pattern");
            } else if part.words.is_empty()
                && let Some(length) = assignment_name_length(rest)
            {
                part.assignments.push(self.assignment(rest, length)?);
            } else {
                let word = self.word()?;
                if rest.starts_with('{') && redirection_operator(self.rest()).is_some() {
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
        refuse_other_command(&part.words)?;
        // Zsh starts `cat`.
        self.line.differs |= part.words.is_empty() && !part.redirections.is_empty();
        part.span = match (part.words.first(), part.words.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => start..end,
        };
        self.finish_part(part);
        Ok(())
    }

    /// Reads `NAME=value`.
    fn assignment(&mut self, rest: &str, length: usize) -> Read<PartAssignment> {
        let name = rest.get(..length).unwrap_or_default().to_owned();
        self.line.names.insert(name.clone());
        self.position += length + 1;
        let here = self.position;
        let word = match self.peek() {
            Some(b'(') => return self.stop(1, "a list of values"),
            Some(byte) if !ends_word(byte) || matches!(byte, b'<' | b'>') => self.unsplit_word()?,
            _ => PartWord::plain(here..here, ""),
        };
        Ok(PartAssignment { name, word })
    }

    /// Starts a command, which takes the operator before it.
    pub(super) fn begin_part(&mut self) -> CommandPart {
        CommandPart {
            follows: std::mem::take(&mut self.scope.follows),
            input: self.scope.input.clone(),
            context: self.scope.context,
            ..CommandPart::default()
        }
    }

    /// Adds a command that was read.
    pub(super) fn finish_part(&mut self, mut part: CommandPart) {
        part.has_processes = std::mem::take(&mut self.scope.has_processes);
        if let Some(redirection) = part.input_redirection() {
            part.input = match redirection.operator {
                "<<<" => PartInput::Text(redirection.target.value.clone()),
                "<<" | "<<-" => PartInput::Text(None),
                _ => PartInput::Other,
            };
        }
        let mut is_fed = matches!(part.input, PartInput::Text(_));
        let documents = self.scope.documents.iter_mut();
        for document in documents.filter(|one| one.command.is_none()) {
            is_fed = true;
            document.command = Some(self.line.commands.len());
        }
        let is_empty = part.words.is_empty() && part.assignments.is_empty();
        let opens = part.reads().chain(part.writes()).next().is_some();
        if !is_empty || opens || is_fed {
            self.line.commands.push(part);
        }
    }
}

/// Refuses words that bash reads as something else than a command.
fn refuse_other_command(words: &[PartWord]) -> Read<()> {
    // The keyword `time` precedes a pipeline.
    let has_time = words.first().is_some_and(|first| first.text == "time");
    let is_of_time = |word: &PartWord| word.text.starts_with('-') || word.text == "time";
    let Some(first) = words.iter().find(|word| !(has_time && is_of_time(word))) else {
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
