//! A lenient parser for the simple commands of any command line.
//!
//! Used for labels, for the meaning of exit statuses, and for deny rules about lines that the
//! analysis cannot parse; where bash may find other commands, the result is ambiguous. Only
//! [`analyse`](super::analyse) decides whether a command line is read-only.

use super::expansion::{Enclosed, identifier_length};
use super::lexer::{Expansions, Lexer, LineBreaks, ends_word, is_reserved};
use super::parsed_command::{self, HereDocument};
use super::parts::{CommandPart, PartAssignment, PartInput, PartWord};
use super::sandbox_call::inside_sandbox;
use super::syntax::{MAX_LENGTH, parse};
use super::word::Word;

/// Whether a command may follow a word.
pub(super) fn is_keyword(word: &str) -> bool {
    word == "time"
        || (is_reserved(word) && !matches!(word, "for" | "case" | "select" | "[[" | "coproc"))
}

/// The simple commands of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandList {
    /// The commands in text order.
    pub commands: Vec<SimpleCommand>,
    /// Whether the line has only simple commands whose words are known, except for the values of
    /// variables and names of process substitutions. Otherwise the result is a guess.
    pub certain: bool,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The operator before it.
    pub follows: Follows,
    /// Its words without quotes; empty if it only assigns or redirects. Substitutions are written
    /// as `$()` and variables as in the source.
    pub words: Vec<String>,
    /// The last file that its output is redirected to, except `/dev/null` and the standard streams.
    pub output: Option<String>,
    /// Whether it has a here-document.
    pub has_here_document: bool,
    /// Whether its standard error is redirected to `/dev/null`.
    pub discards_errors: bool,
}

/// The operator between two commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Follows {
    /// First command, or after a line break or `;`.
    #[default]
    Next,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
    /// `&`
    Background,
}

/// Parses a command line in linear time; never fails. The commands are those in a sandbox, if it is one.
pub fn simple_commands(script: &str) -> CommandList {
    let inside = inside_sandbox(script);
    let script = inside.as_deref().unwrap_or(script);
    let reader = Reader::read(script);
    CommandList {
        certain: reader.certain && reader.lexer.certain,
        commands: reader
            .commands
            .into_iter()
            .map(LenientCommand::simple)
            .collect(),
    }
}

/// The commands of a text parsed leniently, and its bracketed texts (substitutions, arithmetic),
/// which may run further commands.
pub struct LenientParts {
    /// The commands, without keywords before them.
    pub parts: Vec<CommandPart>,
    /// The text in brackets and backticks.
    pub enclosed: Vec<String>,
    /// Whether another interpretation may find other commands.
    pub is_ambiguous: bool,
}

/// Parses a text that the analysis cannot parse; never fails.
pub fn lenient_parts(script: &str) -> LenientParts {
    let is_whole = script.len() <= MAX_LENGTH;
    let reader = Reader::read(script);
    // Backticks inside backticks are escaped.
    let unescaped = |one: &Enclosed<'_>| (one.text.replace("\\`", "`"), one.is_code);
    let enclosed: Vec<(String, bool)> = reader.lexer.enclosed.iter().map(unescaped).collect();
    LenientParts {
        parts: reader
            .commands
            .iter()
            .map(|command| command.part(script))
            .collect(),
        is_ambiguous: reader.lexer.is_ambiguous || !is_whole || !enclosed.iter().all(is_complete),
        enclosed: enclosed.into_iter().map(|(text, _)| text).collect(),
    }
}

/// Whether a substitution ends where its brackets are closed: it is a whole script for the grammar
/// too, and does not end in a comment.
fn is_complete((script, is_code): &(String, bool)) -> bool {
    let last = script.rsplit('\n').next().unwrap_or_default();
    let mut signs = last.match_indices('#');
    let may_end_in_comment =
        signs.any(|(at, _)| last[..at].bytes().next_back().is_none_or(ends_word));
    !is_code || (!may_end_in_comment && parse(&format!("{script}\n")).is_ok())
}

struct Reader<'text> {
    lexer: Lexer<'text, 'text>,
    commands: Vec<LenientCommand>,
    certain: bool,
    current: LenientCommand,
    /// Whether the current command has words, assignments or redirections.
    is_started: bool,
    /// Here-documents that start on the next line, and the indexes of their commands.
    delimiters: Vec<(HereDocument, usize)>,
}

/// A command that is being parsed.
#[derive(Default)]
struct LenientCommand {
    follows: Follows,
    words: Vec<Word>,
    /// Whether a word is not a keyword, so that no assignments may follow.
    has_plain_words: bool,
    assignments: Vec<(String, Word)>,
    /// For each redirection: the operator, whether it redirects standard error, and the target.
    redirections: Vec<(&'static str, bool, Word)>,
    here_document: Option<String>,
}

impl LenientCommand {
    fn simple(self) -> SimpleCommand {
        let output = |(operator, is_errors, target): (&str, bool, Word)| {
            let is_output = operator.contains('>') && !operator.ends_with('&') && !is_errors;
            let is_file = !matches!(&*target.prefix, "/dev/null" | "/dev/stdout" | "/dev/stderr");
            (is_output && is_file).then_some(target.prefix)
        };
        let discards = |(operator, is_errors, target): &(&str, bool, Word)| {
            (*is_errors || operator.starts_with('&')) && target.prefix == "/dev/null"
        };
        SimpleCommand {
            discards_errors: self.redirections.iter().any(discards),
            follows: self.follows,
            words: self.words.into_iter().map(|word| word.prefix).collect(),
            output: self.redirections.into_iter().filter_map(output).next_back(),
            has_here_document: self.here_document.is_some(),
        }
    }

    /// Returns the command without leading keywords.
    fn part(&self, script: &str) -> CommandPart {
        let word = |word: &Word| PartWord::lenient(script, word);
        let mut words = self.words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            let keyword = script.get(first.span.clone()).unwrap_or_default();
            words = match keyword {
                "function" => rest.get(1..).unwrap_or_default(),
                _ if is_keyword(keyword) || keyword == "-p" => rest,
                _ => break,
            };
        }
        let mut part = CommandPart {
            words: words.iter().map(word).collect(),
            // A construct around it may be redirected.
            input: PartInput::Given,
            ..CommandPart::default()
        };
        let assignments = self.assignments.iter();
        part.assignments = assignments
            .map(|(name, value)| PartAssignment {
                name: name.clone(),
                word: word(value),
            })
            .collect();
        if let Some(text) = &self.here_document {
            part.input = PartInput::Text(Some(text.clone()));
        }
        for (operator, _, target) in &self.redirections {
            let target = word(target);
            match *operator {
                "<<<" => part.input = PartInput::Text(target.value),
                "<<" | "<<-" => {}
                _ => {
                    if operator.contains('>') {
                        part.writes.extend(target.alternatives());
                    }
                    if operator.contains('<') {
                        part.reads.extend(target.alternatives());
                    }
                }
            }
        }
        part
    }
}

impl<'text> Reader<'text> {
    fn read(script: &'text str) -> Self {
        let text = script
            .get(..script.floor_char_boundary(MAX_LENGTH))
            .unwrap_or(script);
        let mut reader = Reader {
            lexer: Lexer::lenient(text),
            commands: Vec::new(),
            certain: text.len() == script.len(),
            current: LenientCommand::default(),
            is_started: false,
            delimiters: Vec::new(),
        };
        reader.run();
        reader
    }

    fn run(&mut self) {
        loop {
            self.lexer.skip_blanks(LineBreaks::End);
            let rest = self.lexer.rest();
            if rest.is_empty() {
                break;
            } else if rest.starts_with('\n') {
                self.lexer.skip(1);
                self.end(Follows::Next);
                self.read_here_documents();
            } else if rest.starts_with('#') {
                self.comment(rest);
            } else if self.lexer.begins_arithmetic(rest) {
                self.certain = false;
                self.lexer.skip_enclosed();
            } else if let Some(operator) = parsed_command::redirection_operator(rest) {
                self.redirection(rest, operator);
            } else if let Some((length, follows)) = operator(rest) {
                self.certain &= self.is_started && !rest.starts_with(['(', ')']);
                self.lexer.skip(length);
                self.end(follows);
            } else {
                self.word(rest);
            }
        }
        let is_complete = matches!(self.current.follows, Follows::Next | Follows::Background);
        self.certain &= self.is_started || is_complete;
        self.end(Follows::Next);
    }

    /// Skips a comment. It may be part of a pattern or contain substitutions if brackets are open.
    fn comment(&mut self, rest: &'text str) {
        let text = rest.split('\n').next().unwrap_or_default();
        let before = self.lexer.before(self.lexer.position());
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.contains(['(', '['])
            || ["$(", "`", "<(", ">("]
                .iter()
                .any(|sign| text.contains(sign))
        {
            let text = text.trim_start_matches('#');
            let is_code = false;
            self.lexer.enclosed.push(Enclosed { text, is_code });
        }
        self.lexer.skip(text.len());
    }

    /// Ends the current command, if there is one.
    fn end(&mut self, follows: Follows) {
        if self.is_started {
            self.is_started = false;
            let next = LenientCommand {
                follows,
                ..LenientCommand::default()
            };
            self.commands
                .push(std::mem::replace(&mut self.current, next));
        } else if follows != Follows::Next {
            self.current.follows = follows;
        }
    }

    fn word(&mut self, rest: &str) {
        self.is_started = true;
        let name = identifier_length(rest);
        let after_name = rest.get(name..).unwrap_or_default();
        let sign = usize::from(after_name.starts_with("+="));
        if !self.current.has_plain_words
            && name > 0
            && after_name
                .get(sign..)
                .is_some_and(|rest| rest.starts_with('='))
        {
            self.lexer.skip(name + sign + 1);
            if self.lexer.peek().is_some_and(|byte| byte == b'(') {
                self.lexer.skip_enclosed();
            }
            // Without a word, the value is empty.
            let here = self.lexer.position();
            let value = self.lexer.word(Expansions::Unsplit);
            let value = value.unwrap_or(Word::plain(here..here, ""));
            let name = rest.get(..name).unwrap_or_default().to_owned();
            self.current.assignments.push((name, value));
            return;
        }
        let Ok(word) = self.lexer.word(Expansions::All) else {
            self.certain = false;
            return self.lexer.skip(1);
        };
        let source = rest.get(..word.span.len()).unwrap_or_default();
        if !self.current.has_plain_words && name > 0 && after_name.starts_with('[') {
            // In an index, blanks and operators end nothing.
            let ends_inside = |length| name + length <= source.len();
            let length = self.lexer.enclosed_length(after_name);
            self.lexer.is_ambiguous |= !length.is_some_and(ends_inside);
        }
        if self.current.words.is_empty() && is_reserved(source) {
            self.certain = false;
        }
        if source.starts_with('{')
            && parsed_command::redirection_operator(self.lexer.rest()).is_some()
        {
            // The word is the variable of a descriptor.
            return;
        }
        self.current.has_plain_words |= !is_keyword(source);
        self.current.words.push(word);
    }

    fn redirection(&mut self, rest: &str, (operator, length): (&'static str, usize)) {
        self.is_started = true;
        self.lexer.skip(length);
        self.lexer.skip_blanks(LineBreaks::End);
        let Ok(target) = self.lexer.word(Expansions::All) else {
            self.certain = false;
            return;
        };
        if matches!(operator, "<<" | "<<-") {
            self.certain = false;
            self.current.here_document = Some(String::new());
            let written = self.lexer.before(target.span.len());
            let document = HereDocument {
                expands: written == target.prefix,
                strips_tabs: operator == "<<-",
                span: target.span,
                delimiter: target.prefix,
            };
            self.delimiters.push((document, self.commands.len()));
        } else {
            let is_errors = rest.starts_with('2');
            self.current
                .redirections
                .push((operator, is_errors, target));
        }
    }

    fn read_here_documents(&mut self) {
        for (document, command) in std::mem::take(&mut self.delimiters) {
            let rest = self.lexer.rest();
            let mut length = 0;
            let mut is_ended = false;
            for line in rest.split_inclusive('\n') {
                self.lexer.skip(line.len());
                is_ended = document.is_ended_by(line);
                if is_ended {
                    break;
                }
                length += line.len();
            }
            self.lexer.is_ambiguous |= !is_ended;
            let text = rest.get(..length).unwrap_or_default();
            if document.expands {
                self.lexer.is_ambiguous |= text.contains("\\\n");
                let mut inside = Lexer::lenient(text);
                // It fails only at a trailing backslash.
                let _ = inside.here_document();
                self.lexer.enclosed.append(&mut inside.enclosed);
                self.lexer.is_ambiguous |= inside.is_ambiguous;
            }
            if let Some(command) = self.commands.get_mut(command) {
                command.here_document = Some(text.to_owned());
            }
        }
    }
}

/// Returns the operator at the start of the text and its length in bytes.
fn operator(text: &str) -> Option<(usize, Follows)> {
    let two = match text.get(..2) {
        Some("&&") => Some(Follows::And),
        Some("||") => Some(Follows::Or),
        Some("|&") => Some(Follows::Pipe),
        _ => None,
    };
    if let Some(follows) = two {
        return Some((2, follows));
    }
    match text.as_bytes().first()? {
        b'|' => Some((1, Follows::Pipe)),
        b'&' => Some((1, Follows::Background)),
        b';' | b'(' | b')' => Some((1, Follows::Next)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "command_list_tests.rs"]
mod tests;
