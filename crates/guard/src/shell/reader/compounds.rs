//! Compound commands: groups, conditions, loops, `case` and `[[ … ]]`.

use super::redirections::redirection_operator;
use super::state::{Read, Reader, ends_word};
use crate::shell::commands::evaluates;
use crate::shell::expansion::identifier_length;
use crate::shell::parts::{CommandPart, Follows};
use crate::shell::variables::may_be_set;

impl Reader<'_> {
    /// Reads a compound command and its redirections, which also apply to the commands in it.
    pub(super) fn compound(&mut self, keyword: &str, read: fn(&mut Self) -> Read<()>) -> Read<()> {
        self.line.is_flat = false;
        let outer = self.scope.context;
        self.nest(|inner| {
            inner.position += keyword.len();
            read(inner)
        })?;
        self.scope.context = outer;
        self.scope.follows = Follows::Next;
        let mut part = self.begin_part();
        self.skip_blanks();
        let start = self.position;
        while let Some(operator) = redirection_operator(self.rest()) {
            part.redirections.push(self.redirection(operator)?);
            part.span = start..self.position;
            self.skip_blanks();
        }
        if !part.redirections.is_empty() {
            self.finish_part(part);
        }
        Ok(())
    }

    /// Skips a keyword.
    fn skip_keyword(&mut self, keyword: &str) -> Read<()> {
        if self.keyword() != keyword {
            let why = format!("`{keyword}` is missing");
            return self.stop(self.keyword().len().max(1), why);
        }
        self.position += keyword.len();
        Ok(())
    }

    /// Reads a list with at least one command.
    fn commands(&mut self) -> Read<()> {
        self.skip_line_breaks()?;
        let start = self.position;
        self.list()?;
        if self.position == start {
            return self.stop(1, "a command is missing");
        }
        Ok(())
    }

    pub(super) fn subshell(&mut self) -> Read<()> {
        self.scope.context.is_in_subshell = true;
        self.commands()?;
        self.expect(")", "`)` is missing")
    }

    pub(super) fn group(&mut self) -> Read<()> {
        self.commands()?;
        self.skip_keyword("}")
    }

    pub(super) fn if_statement(&mut self) -> Read<()> {
        loop {
            self.commands()?;
            self.scope.context.is_conditional = true;
            self.skip_keyword("then")?;
            self.commands()?;
            if self.keyword() != "elif" {
                break;
            }
            self.skip_keyword("elif")?;
        }
        if self.keyword() == "else" {
            self.skip_keyword("else")?;
            self.commands()?;
        }
        self.skip_keyword("fi")
    }

    pub(super) fn while_statement(&mut self) -> Read<()> {
        self.scope.context.is_repeated = true;
        self.commands()?;
        self.do_group()
    }

    fn do_group(&mut self) -> Read<()> {
        self.skip_keyword("do")?;
        self.commands()?;
        self.skip_keyword("done")
    }

    pub(super) fn for_statement(&mut self) -> Read<()> {
        self.skip_blanks();
        let rest = self.rest();
        let name = rest.get(..identifier_length(rest)).unwrap_or_default();
        let next = rest.as_bytes().get(name.len());
        if name.is_empty() || next.is_some_and(|next| !ends_word(*next)) || !may_be_set(name) {
            return self.stop(name.len().max(1), "`for` without an ordinary variable");
        }
        self.line.names.insert(name.to_owned());
        self.position += name.len();
        self.skip_line_breaks()?;
        if self.keyword() == "in" {
            self.skip_keyword("in")?;
            loop {
                self.skip_blanks();
                if let None | Some(b';' | b'\n' | b'#') = self.peek() {
                    break;
                }
                let word = self.word()?;
                self.line.words.push(word);
            }
            self.scope.has_processes = false;
        }
        self.skip(";");
        self.skip_line_breaks()?;
        self.scope.context.is_repeated = true;
        self.do_group()
    }

    pub(super) fn case_statement(&mut self) -> Read<()> {
        self.skip_blanks();
        self.unsplit_word()?;
        self.skip_line_breaks()?;
        self.skip_keyword("in")?;
        self.scope.context.is_conditional = true;
        loop {
            self.skip_line_breaks()?;
            if self.keyword() == "esac" {
                self.scope.has_processes = false;
                return self.skip_keyword("esac");
            }
            self.skip("(");
            loop {
                self.skip_blanks();
                self.unsplit_word()?;
                self.skip_blanks();
                if !self.skip("|") {
                    break;
                }
            }
            self.expect(")", "a pattern that does not end")?;
            self.scope.has_processes = false;
            self.list()?;
            if !(self.skip(";;&") || self.skip(";;") || self.skip(";&")) && self.keyword() != "esac"
            {
                return self.stop(1, "`esac` is missing");
            }
        }
    }

    /// Reads `[[ … ]]`: its words, without the operators between them.
    pub(super) fn condition(&mut self) -> Read<()> {
        let mut part = CommandPart {
            is_condition: true,
            ..self.begin_part()
        };
        let start = self.position;
        loop {
            self.skip_blanks();
            let rest = self.rest();
            let is_process = rest.starts_with("<(") || rest.starts_with(">(");
            if rest.is_empty() {
                return self.stop(0, "an unfinished `[[`");
            } else if rest.starts_with('\n') {
                self.line_break()?;
            } else if rest.starts_with(['&', '|', '<', '>', '(', ')']) && !is_process {
                if rest.starts_with('>') {
                    let span = self.position..self.position + 1;
                    let why = "`>` in `[[`, which other shells read as a redirection";
                    self.refuse(span, why);
                }
                self.position += 1;
            } else {
                part.words.push(self.unsplit_word()?);
                if part.words.last().is_some_and(|word| word.text == "]]") {
                    break;
                }
            }
        }
        part.span = start..self.position;
        if part.words.iter().any(evaluates) {
            let why = "`[[` with an operator that evaluates its operands";
            self.refuse(part.span.clone(), why);
        }
        self.finish_part(part);
        Ok(())
    }
}
