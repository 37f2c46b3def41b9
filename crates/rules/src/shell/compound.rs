//! The walk through compound commands with parts other than statements: `for`, `case`, redirections
//! of constructs, and `[[ … ]]`.

use std::ops::Range;

use tree_sitter::Node;

use super::call::CommandContext;
use super::commands::{double_bracket, double_bracket_words};
use super::lexer::{Expansions, Lexer, LineBreaks};
use super::parsed_command::ParsedCommand;
use super::verdict::{Checked, Refusal};
use super::walk::{Task, Walk};
use super::word::Word;

impl<'tree> Walk<'_, 'tree> {
    /// `for NAME in WORDS; do …; done`
    pub(super) fn for_statement(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let children = self.children(node);
        let is_word = |child: &&Node<'tree>| {
            child.is_named() && !matches!(child.kind(), "variable_name" | "do_group" | "comment")
        };
        let words = children
            .iter()
            .filter(is_word)
            .map(|word| self.source.trimmed(*word))
            .reduce(|all, word| all.start..word.end);
        let Some(name) = children
            .iter()
            .find(|child| child.kind() == "variable_name")
        else {
            return Err(self.source.not_accepted(node));
        };
        self.source.may_be_set(self.source.trimmed(*name))?;
        // The name and the words are read together, since they contain no keyword.
        let values = match words.clone() {
            Some(words) => self.list_of_words(node, words, context)?,
            None => vec![Word::anything(0..0)],
        };
        let name = self.source.trimmed(*name);
        let mut position = self.source.trimmed(node).start;
        for &child in &children {
            let span = self.source.trimmed(child);
            let is_inside = words
                .as_ref()
                .is_some_and(|words| words.start <= span.start && span.end <= words.end);
            if is_inside {
                position = span.end;
                continue;
            }
            self.source.only_blanks(position..span.start)?;
            match child.kind() {
                "variable_name" if span == name => {}
                "do_group" => {
                    let variable = self.source.slice(name.clone());
                    self.bindings
                        .bind(variable, &values, child.byte_range(), true);
                    self.tasks.push(Task {
                        node: child,
                        context: context.in_loop(),
                    });
                }
                "comment" => self.source.comment(&span)?,
                _ if !child.is_named() => self.source.token(&span)?,
                _ => return Err(self.source.not_accepted(child)),
            }
            position = span.end;
        }
        Ok(())
    }

    /// `case WORD in PATTERN) …;; esac`
    pub(super) fn case_statement(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let children = self.children(node);
        let mut position = self.source.trimmed(node).start;
        for &child in &children {
            let span = self.source.trimmed(child);
            self.source.only_blanks(position..span.start)?;
            match child.kind() {
                "case_item" => self.case_item(child, context)?,
                "comment" => self.source.comment(&span)?,
                _ if !child.is_named() => self.source.token(&span)?,
                _ => self.unsplit_word(child, context)?,
            }
            position = span.end;
        }
        Ok(())
    }

    fn case_item(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let children = self.children(node);
        let mut position = self.source.trimmed(node).start;
        for (index, &child) in children.iter().enumerate() {
            let span = self.source.trimmed(child);
            self.source.only_blanks(position..span.start)?;
            position = span.end;
            if child.is_named() {
                self.unsplit_word(child, context)?;
                continue;
            }
            self.source.token(&span)?;
            if self.source.slice(span) == ")" {
                let body = children.get(index + 1..).unwrap_or_default();
                let mut context = context.within(node.end_byte());
                context.in_case_item = true;
                return self.parts_in(position..self.source.trimmed(node).end, body, context);
            }
        }
        Err(self.source.not_accepted(node))
    }

    /// Checks a single word that is neither split nor expanded to file names.
    fn unsplit_word(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let range = self.source.trimmed(node);
        let substitutions = self.substitutions(node, range.clone());
        let mut lexer = Lexer::new(self.source.0, range.clone(), &substitutions);
        lexer.word(Expansions::Unsplit)?;
        let (position, found) = (lexer.position(), lexer.found);
        self.effects.reveals.extend(lexer.secrets);
        if position != range.end || !self.source.ends_here(range.end) {
            return Err(self.source.not_accepted(node));
        }
        self.push_all(found, context);
        Ok(())
    }

    fn list_of_words(
        &mut self,
        owner: Node<'tree>,
        range: Range<usize>,
        context: CommandContext,
    ) -> Result<Vec<Word>, Refusal> {
        let substitutions = self.substitutions(owner, range.clone());
        let mut lexer = Lexer::new(self.source.0, range.clone(), &substitutions);
        let mut words = Vec::new();
        while lexer.position() < range.end {
            lexer.skip_blanks(LineBreaks::End);
            words.push(lexer.word(Expansions::All)?);
        }
        let found = lexer.found;
        self.effects.reveals.extend(lexer.secrets);
        if !self.source.ends_here(range.end) {
            return Err(self.source.not_accepted(owner));
        }
        self.push_all(found, context);
        Ok(words)
    }

    pub(super) fn redirected(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let children = self.children(node);
        let here_document = children
            .last()
            .filter(|last| last.kind() == "heredoc_redirect")
            .copied();
        let body = children.first().filter(|body| {
            !matches!(
                body.kind(),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect"
            )
        });
        let range = self.source.trimmed(node);
        let end = match here_document {
            Some(document) => self.rest_of_line(document, context)?,
            None => range.end,
        };
        match body {
            Some(body)
                if !matches!(
                    body.kind(),
                    "command" | "declaration_command" | "unset_command" | "variable_assignment"
                ) =>
            {
                let redirections = self.source.trimmed(*body).end..end;
                let mut inside = context;
                inside.has_input |= self.source.slice(redirections.clone()).contains('<');
                self.tasks.push(Task {
                    node: *body,
                    context: inside,
                });
                let simple = self.read(node, redirections.clone())?;
                if !simple.words.is_empty() || !simple.assignments.is_empty() {
                    return Err(Refusal::unknown(
                        redirections,
                        "words after a compound command",
                    ));
                }
                self.take(node, redirections, simple, context)
            }
            _ => self.simple(node, range.start..end, context),
        }
    }

    /// Reads the rest of the line after the operator of a here-document. Returns the end of the
    /// command, which includes further words and redirections; further commands are checked.
    fn rest_of_line(
        &mut self,
        document: Node<'tree>,
        context: CommandContext,
    ) -> Result<usize, Refusal> {
        let children = self.children(document);
        let line_end = children
            .iter()
            .find(|child| child.kind() == "heredoc_start")
            .map(Node::end_byte)
            .and_then(|start| Some(start + self.source.0.get(start..)?.find('\n')?))
            .ok_or_else(|| self.source.not_accepted(document))?;
        let mut end = None;
        let mut following = Vec::new();
        for &child in &children {
            let span = self.source.trimmed(child);
            match child.kind() {
                "<<" | "<<-" | "heredoc_start" | "heredoc_body" | "heredoc_end" => continue,
                "pipeline" | "list" | "command" | "redirected_statement" | "&&" | "||" => {}
                _ if end.is_none() => continue,
                _ => return Err(self.source.not_accepted(child)),
            }
            end.get_or_insert(span.start);
            following.push(child);
        }
        let end = end.unwrap_or(line_end);
        let mut following_place = context;
        following_place.has_input = true;
        self.parts_in(end..line_end, &following, following_place)?;
        Ok(end)
    }

    /// `[ … ]` and `[[ … ]]`
    pub(super) fn test_command(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let range = self.source.trimmed(node);
        if !self.source.slice(range.clone()).starts_with("[[") {
            return self.simple(node, range, context);
        }
        if !self.source.ends_here(range.end) {
            return Err(self.source.not_accepted(node));
        }
        let substitutions = self.substitutions(node, range.clone());
        self.note(double_bracket(self.source.0, range.clone(), &substitutions));
        self.effects.read_language("[[");
        let mut lexer = Lexer::new(self.source.0, range.clone(), &substitutions);
        let condition = ParsedCommand {
            words: double_bracket_words(&mut lexer)?,
            substitutions: lexer.found,
            secrets: lexer.secrets,
            ..ParsedCommand::default()
        };
        self.take(node, range, condition, context)
    }
}
