//! Reads compound commands: groups, conditions, loops, `case` and `[[ … ]]`.

use super::redirections::find_operator;
use super::state::{ReadResult, Reader, ends_word};
use crate::shell::commands::may_evaluate_operand;
use crate::shell::expansion::identifier_length;
use crate::shell::parts::{CommandPart, Follows};
use crate::shell::variables::may_be_set;

impl Reader<'_> {
    /// Reads a compound command with `read`, behind its keyword, and its redirections, which are a command of their
    /// own.
    pub(super) fn read_compound(
        &mut self,
        keyword: &str,
        read: fn(&mut Self) -> ReadResult,
    ) -> ReadResult {
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
        while let Some(operator) = find_operator(self.rest()) {
            part.redirections.push(self.read_redirection(operator)?);
            part.span = start..self.position;
            self.skip_blanks();
        }
        if !part.redirections.is_empty() {
            self.finish_part(part);
        }
        Ok(())
    }

    /// Skips a keyword that must follow.
    fn skip_keyword(&mut self, keyword: &str) -> ReadResult {
        if self.peek_keyword() != keyword {
            let why = format!("`{keyword}` is missing");
            return self.stop(self.peek_keyword().len().max(1), why);
        }
        self.position += keyword.len();
        Ok(())
    }

    /// Reads a list with at least one command.
    fn read_commands(&mut self) -> ReadResult {
        self.skip_line_breaks()?;
        let start = self.position;
        self.read_list()?;
        if self.position == start {
            return self.stop(1, "a command is missing");
        }
        Ok(())
    }

    pub(super) fn read_subshell(&mut self) -> ReadResult {
        self.scope.context.is_in_subshell = true;
        self.read_commands()?;
        self.expect(")", "`)` is missing")
    }

    pub(super) fn read_group(&mut self) -> ReadResult {
        self.read_commands()?;
        self.skip_keyword("}")
    }

    pub(super) fn read_if(&mut self) -> ReadResult {
        loop {
            self.read_commands()?;
            self.scope.context.is_conditional = true;
            self.skip_keyword("then")?;
            self.read_commands()?;
            if self.peek_keyword() != "elif" {
                break;
            }
            self.skip_keyword("elif")?;
        }
        if self.peek_keyword() == "else" {
            self.skip_keyword("else")?;
            self.read_commands()?;
        }
        self.skip_keyword("fi")
    }

    pub(super) fn read_while(&mut self) -> ReadResult {
        self.scope.context.is_repeated = true;
        self.read_commands()?;
        self.read_do_group()
    }

    /// Reads the body of a loop, from `do` to `done`.
    fn read_do_group(&mut self) -> ReadResult {
        self.skip_keyword("do")?;
        self.read_commands()?;
        self.skip_keyword("done")
    }

    pub(super) fn read_for(&mut self) -> ReadResult {
        self.skip_blanks();
        let rest = self.rest();
        let name = rest.get(..identifier_length(rest)).unwrap_or_default();
        let next = rest.as_bytes().get(name.len());
        if name.is_empty() || next.is_some_and(|next| !ends_word(*next)) || !may_be_set(name) {
            return self.stop(name.len().max(1), "`for` without an ordinary variable");
        }
        self.line.assigned.insert(name.to_owned());
        self.position += name.len();
        self.skip_line_breaks()?;
        if self.peek_keyword() == "in" {
            self.skip_keyword("in")?;
            loop {
                self.skip_blanks();
                if let None | Some(b';' | b'\n' | b'#') = self.peek() {
                    break;
                }
                let word = self.read_word()?;
                self.line.words.push(word);
            }
            self.scope.has_processes = false;
        }
        self.skip(";");
        self.skip_line_breaks()?;
        self.scope.context.is_repeated = true;
        self.read_do_group()
    }

    pub(super) fn read_case(&mut self) -> ReadResult {
        self.skip_blanks();
        self.read_unsplit_word()?;
        self.skip_line_breaks()?;
        self.skip_keyword("in")?;
        self.scope.context.is_conditional = true;
        loop {
            self.skip_line_breaks()?;
            if self.peek_keyword() == "esac" {
                self.scope.has_processes = false;
                return self.skip_keyword("esac");
            }
            self.skip("(");
            loop {
                self.skip_blanks();
                self.read_unsplit_word()?;
                self.skip_blanks();
                if !self.skip("|") {
                    break;
                }
            }
            self.expect(")", "a pattern that does not end")?;
            self.scope.has_processes = false;
            self.read_list()?;
            if !(self.skip(";;&") || self.skip(";;") || self.skip(";&"))
                && self.peek_keyword() != "esac"
            {
                return self.stop(1, "`esac` is missing");
            }
        }
    }

    /// Reads `[[ … ]]`: its words, without the operators between them.
    pub(super) fn read_condition(&mut self) -> ReadResult {
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
                self.read_line_break()?;
            } else if rest.starts_with(['&', '|', '<', '>', '(', ')']) && !is_process {
                if rest.starts_with('>') {
                    let span = self.position..self.position + 1;
                    let why = "`>` in `[[`, which other shells read as a redirection";
                    self.refuse(span, why);
                }
                self.position += 1;
            } else {
                part.words.push(self.read_unsplit_word()?);
                if part.words.last().is_some_and(|word| word.text == "]]") {
                    break;
                }
            }
        }
        part.span = start..self.position;
        if part.words.iter().any(may_evaluate_operand) {
            let why = "`[[` with an operator that evaluates its operands";
            self.refuse(part.span.clone(), why);
        }
        self.finish_part(part);
        Ok(())
    }
}
