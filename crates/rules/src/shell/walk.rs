//! The walk through the syntax tree: checks that every construct is accepted and that the text
//! between them is blank, lists the commands, and records the first construct that may change
//! something.
//!
//! The walk uses its own stack, so that deep nesting cannot overflow it.

use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use super::bindings::Bindings;
use super::call::{CommandContext, Effects, Shell};
use super::commands;
use super::lexer::{Lexer, Substitution};
use super::parsed_command::{self, ParsedCommand};
use super::parts::{self, CommandPart, PartInput};
use super::source::CommandText;
use super::verdict::{Checked, Refusal};
use super::word::Word;

/// Commands that read all operands to the end, so that no process substitution outlives them, and
/// option letters that do not change this.
const READS_ALL_OPERANDS: &[&str] = &["cat", "comm", "diff", "paste", "sort", "wc"];
const SAFE_FLAGS: &str = "bBilnruw123";

/// Maximum number of commands in pipelines, which all run at once. A shell that fails to start a
/// process may leave earlier ones running.
const MAX_PIPED: usize = 64;

/// A statement that is still to be checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'tree> {
    pub(super) node: Node<'tree>,
    pub(super) context: CommandContext,
}

/// The check of one command line.
pub(super) struct Walk<'text, 'tree> {
    pub(super) source: CommandText<'text>,
    pub(super) cursor: TreeCursor<'tree>,
    pub(super) tasks: Vec<Task<'tree>>,
    pub(super) effects: Effects,
    /// The first construct that may change something.
    refused: Option<Refusal>,
    /// The number of commands in pipelines.
    piped: usize,
    /// All commands.
    parts: Vec<CommandPart>,
    pub(super) bindings: Bindings,
}

/// A parsed and checked command line.
pub(super) struct CheckedLine {
    /// Its effects, or the reason why it is not read-only.
    pub(super) effects: Result<Effects, Refusal>,
    /// Its commands in text order.
    pub(super) parts: Vec<CommandPart>,
}

/// The role of a part of a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Keywords, operators, clauses.
    Separator,
    /// A statement.
    Statement,
}

impl<'text, 'tree> Walk<'text, 'tree> {
    /// Creates a walk through `text`, which may already have a refusal.
    pub(super) fn new(text: &'text str, root: Node<'tree>, refused: Option<Refusal>) -> Self {
        Self {
            source: CommandText(text),
            cursor: root.walk(),
            tasks: vec![Task {
                node: root,
                context: CommandContext::default().within(text.len()),
            }],
            effects: Effects::default(),
            refused,
            piped: 0,
            parts: Vec::new(),
            bindings: Bindings::default(),
        }
    }

    /// Checks the whole command line.
    ///
    /// # Errors
    /// A construct cannot be parsed.
    pub(super) fn run(mut self) -> Result<CheckedLine, Refusal> {
        if let Err(refusal) = self.visit() {
            return Err(self.refused.unwrap_or(refusal));
        }
        self.parts.sort_by_key(|part| part.span.start);
        let own = self.bindings.names(&self.parts);
        let revealed = self.parts.iter_mut().map(|part| &mut part.reveals);
        for names in revealed.chain([&mut self.effects.reveals]) {
            names.retain(|name| !own.contains(name));
        }
        self.bindings.resolve(self.source.0, &mut self.parts);
        Ok(CheckedLine {
            effects: self.refused.map_or(Ok(self.effects), Err),
            parts: self.parts,
        })
    }

    /// Records a refusal if it is the first.
    fn refuse(&mut self, refusal: Refusal) {
        self.refused.get_or_insert(refusal);
    }

    pub(super) fn note<T>(&mut self, checked: Result<T, Refusal>) {
        if let Err(refusal) = checked {
            self.refuse(refusal);
        }
    }

    fn visit(&mut self) -> Checked {
        let root = self.tasks.first().map(|task| task.node.byte_range());
        if let Some(root) = root {
            // The tree omits leading and trailing blank lines.
            self.source.only_blanks(0..root.start)?;
            self.source.only_blanks(root.end..self.source.0.len())?;
        }
        while let Some(task) = self.tasks.pop() {
            let done = self.tasks.len();
            self.statement(task)?;
            // The stack pops the last one first.
            if let Some(added) = self.tasks.get_mut(done..) {
                added.reverse();
            }
        }
        Ok(())
    }

    fn statement(&mut self, task: Task<'tree>) -> Checked {
        let Task { node, mut context } = task;
        match node.kind() {
            "list" => {
                let first = self.tasks.len();
                let chain = std::mem::take(&mut context.chain_end);
                self.parts(node, context)?;
                let joins = self.children(node).iter().any(|child| child.kind() == "&&");
                let chain = if chain > 0 { chain } else { node.end_byte() };
                let parts = self.tasks.get_mut(first..).unwrap_or_default();
                // The right side of `&&` has run if commands after further `&&` run.
                if let Some(right) = parts.last_mut() {
                    right.context.scope_end = if joins { chain } else { right.node.end_byte() };
                }
                if let Some(left) = parts
                    .first_mut()
                    .filter(|left| joins && left.node.kind() == "list")
                {
                    left.context.chain_end = chain;
                }
                Ok(())
            }
            "elif_clause" | "else_clause" | "do_group" => {
                self.parts(node, context.within(node.end_byte()))
            }
            "if_statement" => {
                let is_branch =
                    |child: &&Node<'_>| matches!(child.kind(), "elif_clause" | "else_clause");
                let branch = self.children(node).iter().find(is_branch).copied();
                let end = branch.map_or(node.end_byte(), |branch| branch.start_byte());
                self.parts(node, context.within(end))
            }
            "program" | "negated_command" | "compound_statement" => self.parts(node, context),
            "pipeline" => {
                let first = self.tasks.len();
                self.parts(node, context.in_subshell())?;
                let stages = self.tasks.get_mut(first..).unwrap_or_default();
                let last = stages.len().saturating_sub(1);
                for (index, stage) in stages.iter_mut().enumerate() {
                    stage.context.is_piped |= index < last;
                    stage.context.has_input |= index > 0;
                    stage.context.scope_end = stage.node.end_byte();
                }
                self.piped += self.tasks.len() - first;
                if self.piped > MAX_PIPED {
                    let span = self.source.trimmed(node);
                    return Err(Refusal::unknown(span, "too many commands in pipelines"));
                }
                Ok(())
            }
            "subshell" | "command_substitution" | "process_substitution" => {
                self.parts(node, context.in_subshell().within(node.end_byte()))
            }
            "while_statement" => self.parts(node, context.in_loop().within(node.end_byte())),
            "for_statement" => self.for_statement(node, context),
            "case_statement" => self.case_statement(node, context),
            "command" | "variable_assignment" | "variable_assignments" => {
                self.simple(node, node.byte_range(), context)
            }
            "declaration_command" | "unset_command" | "file_redirect" => {
                self.refuse(self.source.not_accepted(node));
                self.simple(node, node.byte_range(), context)
            }
            "redirected_statement" => self.redirected(node, context),
            "test_command" => self.test_command(node, context),
            _ => Err(self.source.not_accepted(node)),
        }
    }

    pub(super) fn children(&mut self, node: Node<'tree>) -> Vec<Node<'tree>> {
        self.cursor.reset(node);
        node.children(&mut self.cursor).collect()
    }

    /// Checks the parts of a construct: keywords, operators, statements and clauses, separated only
    /// by blanks and comments.
    fn parts(&mut self, node: Node<'tree>, context: CommandContext) -> Checked {
        let children = self.children(node);
        self.parts_in(self.source.trimmed(node), &children, context)
    }

    pub(super) fn parts_in(
        &mut self,
        range: Range<usize>,
        children: &[Node<'tree>],
        context: CommandContext,
    ) -> Checked {
        let mut position = range.start;
        let mut before = Part::Separator;
        for &child in children {
            let span = self.source.trimmed(child);
            let gap = position..span.start;
            self.source.only_blanks(gap.clone())?;
            let part = if child.kind() == "comment" {
                self.source.comment(&span)?;
                before
            } else if child.is_named() {
                let part = match child.kind() {
                    "elif_clause" | "else_clause" | "do_group" | "case_item" => Part::Separator,
                    _ => Part::Statement,
                };
                let is_apart = self.source.slice(gap).contains('\n');
                if part == Part::Statement && before == Part::Statement && !is_apart {
                    return Err(Refusal::unknown(span, "two commands without a separator"));
                }
                let context = CommandContext {
                    in_case_item: false,
                    ..context
                };
                self.tasks.push(Task {
                    node: child,
                    context,
                });
                part
            } else {
                match self.source.slice(span.clone()) {
                    ";;" | ";&" | ";;&" if context.in_case_item => {}
                    "&" => {
                        self.note(self.source.token(&span));
                        if let Some(task) = self.tasks.last_mut() {
                            task.context.scope_end = task.context.scope_end.min(span.start);
                        }
                    }
                    _ => self.source.token(&span)?,
                }
                Part::Separator
            };
            before = part;
            position = span.end.max(position);
        }
        self.source.only_blanks(position..range.end)
    }

    pub(super) fn simple(
        &mut self,
        owner: Node<'tree>,
        range: Range<usize>,
        context: CommandContext,
    ) -> Checked {
        let simple = self.read(owner, range.clone())?;
        if !self.source.ends_here(range.end) {
            return Err(self.source.not_accepted(owner));
        }
        let checked = commands::check(self.source.0, &simple, context, &mut self.effects);
        self.note(checked);
        if !parts::begins_command(self.source.0, &simple.words) {
            return Err(self.source.not_accepted(owner));
        }
        self.take(owner, range, simple, context)
    }

    pub(super) fn read(
        &mut self,
        owner: Node<'tree>,
        range: Range<usize>,
    ) -> Result<ParsedCommand<'tree>, Refusal> {
        let substitutions = self.substitutions(owner, range.clone());
        for substitution in &substitutions {
            let node = substitution.node;
            let span = node.byte_range();
            let is_process = node.kind() == "process_substitution";
            if is_process && self.source.slice(span.clone()).contains(">(") {
                let why = "a process that reads `>(…)` may change anything";
                self.refuse(Refusal::unknown(span, why));
            }
        }
        let simple = parsed_command::read(self.source.0, range, &substitutions)?;
        for redirection in &simple.redirections {
            self.note(redirection.check());
        }
        Ok(simple)
    }

    /// Lists a command and checks its here-document, assignments and substitutions.
    pub(super) fn take(
        &mut self,
        owner: Node<'tree>,
        range: Range<usize>,
        mut simple: ParsedCommand<'tree>,
        context: CommandContext,
    ) -> Checked {
        let mut input = if context.has_input {
            PartInput::Given
        } else {
            PartInput::Inherited
        };
        if let Some(document) = &simple.here_document {
            let body = parsed_command::here_document_body(self.source.0, document)?;
            if body.end != owner.end_byte() {
                return Err(Refusal::unknown(
                    body.text,
                    "a here-document whose end is ambiguous",
                ));
            }
            let text = self.source.slice(body.text.clone());
            let is_expanded = document.expands && text.contains(['$', '`', '\\']);
            input = PartInput::Text((!is_expanded).then(|| text.to_owned()));
            if document.expands && text.contains(['$', '`']) {
                self.refuse(Refusal::unknown(
                    body.text.clone(),
                    "a here-document known only at run time, which may need a file",
                ));
                let substitutions = self.substitutions(owner, body.text.clone());
                let mut lexer = Lexer::new(self.source.0, body.text, &substitutions);
                lexer.here_document()?;
                simple.secrets.extend(lexer.secrets);
                self.push_all(lexer.found, context);
            }
        }
        self.effects.reveals.extend_from_slice(&simple.secrets);
        for assignment in &simple.assignments {
            // A value that is set for one command may not persist.
            let end = if simple.words.is_empty() {
                context.scope_end
            } else {
                range.end
            };
            let value = std::slice::from_ref(&assignment.value);
            self.bindings
                .bind(&assignment.name, value, range.end..end, false);
        }
        self.parts
            .extend(CommandPart::new(self.source.0, range, &simple, input)?);
        let waits = !context.is_piped && self.reads_all(owner, &simple);
        for node in simple.substitutions {
            if waits && node.kind() == "process_substitution" {
                let shell = Shell::Unattended;
                let context = CommandContext { shell, ..context };
                self.effects.may_leave_processes = true;
                self.tasks.push(Task { node, context });
            } else {
                self.push_all(vec![node], context);
            }
        }
        Ok(())
    }

    /// Whether a command certainly reads all of its substitutions: it has no other operand or
    /// redirection, which could fail and end it early.
    fn reads_all(&self, owner: Node<'tree>, simple: &ParsedCommand<'tree>) -> bool {
        let Some((name, arguments)) = simple.words.split_first() else {
            return false;
        };
        let spans: Vec<_> = simple
            .substitutions
            .iter()
            .map(|node| self.source.trimmed(*node))
            .collect();
        let is_fine = |word: &Word| {
            let letters = word.literal().and_then(|text| text.strip_prefix('-'));
            letters.is_some_and(|letters| {
                !letters.is_empty() && letters.chars().all(|letter| SAFE_FLAGS.contains(letter))
            }) || spans.contains(&word.span)
        };
        let mut end = self.source.trimmed(owner).start;
        let stands_alone = simple.words.iter().all(|word| {
            let gap = end..word.span.start;
            end = word.span.end;
            self.source.only_blanks(gap).is_ok()
        });
        stands_alone
            && end == owner.end_byte()
            && name
                .literal()
                .is_some_and(|name| READS_ALL_OPERANDS.contains(&name))
            && arguments.iter().all(is_fine)
    }

    /// Checks substitutions for which no command waits.
    pub(super) fn push_all(&mut self, nodes: Vec<Node<'tree>>, context: CommandContext) {
        for node in nodes {
            if node.kind() == "process_substitution" {
                self.refuse(Refusal::unknown(
                    self.source.trimmed(node),
                    "a process substitution that may be left running",
                ));
            }
            // The shell may exit before the command whose output it reads: when out of memory, or
            // when it warns of a NUL into a closed pipe.
            self.effects.may_leave_processes = true;
            let mut context = context.in_subshell().within(node.end_byte());
            context.has_input |= self.source.slice(node.byte_range()).starts_with(">(");
            self.tasks.push(Task { node, context });
        }
    }

    /// Returns the outermost substitutions of a node within a range.
    pub(super) fn substitutions(
        &mut self,
        node: Node<'tree>,
        range: Range<usize>,
    ) -> Vec<Substitution<'tree>> {
        let mut found = Vec::new();
        if node.kind() == "command_substitution" {
            let start = self.source.trimmed(node).start;
            return vec![Substitution { start, node }];
        }
        let text = self.source.slice(range.clone());
        if !text.contains("$(")
            && !text.contains('`')
            && !text.contains("<(")
            && !text.contains(">(")
        {
            return found;
        }
        self.cursor.reset(node);
        let mut descends = true;
        loop {
            if descends && self.cursor.goto_first_child() {
            } else if !self.cursor.goto_next_sibling() {
                // Move to the next sibling of an ancestor.
                loop {
                    if !self.cursor.goto_parent() {
                        found.sort_unstable_by_key(|substitution: &Substitution<'_>| {
                            substitution.start
                        });
                        return found;
                    }
                    if self.cursor.goto_next_sibling() {
                        break;
                    }
                }
            }
            let node = self.cursor.node();
            let is_substitution =
                matches!(node.kind(), "command_substitution" | "process_substitution");
            let is_outside = node.end_byte() <= range.start || node.start_byte() >= range.end;
            if is_substitution && !is_outside {
                found.push(Substitution {
                    start: self.source.trimmed(node).start,
                    node,
                });
            }
            descends = !is_substitution && !is_outside;
        }
    }
}
