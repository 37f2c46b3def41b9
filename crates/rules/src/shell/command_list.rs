//! A lenient parser for the simple commands of any command line.
//!
//! Used for labels and for the meaning of exit statuses, where mistakes do little harm. Only
//! [`analyse`](super::analyse) decides whether a command line is read-only.

use super::expansion::identifier_length;
use super::lexer::{Expansions, Lexer, LineBreaks, is_reserved};
use super::parsed_command;
use super::parts::{CommandPart, PartAssignment, PartInput, PartWord};
use super::word::Word;

/// Maximum length of the parsed text, in bytes.
const MAX_LENGTH: usize = 16 * 1024;

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
    /// The last file that its output is redirected to, except `/dev/null`.
    pub output: Option<String>,
    /// Whether it has a here-document.
    pub has_here_document: bool,
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

/// Parses a command line in linear time; never fails.
pub fn simple_commands(script: &str) -> CommandList {
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
    LenientParts {
        parts: reader
            .commands
            .iter()
            .map(|command| command.part(script))
            .collect(),
        // Backticks inside backticks are escaped.
        enclosed: (reader.lexer.enclosed.iter())
            .map(|text| text.replace("\\`", "`"))
            .collect(),
        is_ambiguous: reader.lexer.is_ambiguous || !is_whole,
    }
}

struct Reader<'text> {
    lexer: Lexer<'text, 'text>,
    commands: Vec<LenientCommand>,
    certain: bool,
    current: LenientCommand,
    /// Whether the current command has words, assignments or redirections.
    is_started: bool,
    /// Here-documents that start on the next line: delimiter, whether the text is expanded, and
    /// index of the command.
    delimiters: Vec<(String, bool, usize)>,
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
            (is_output && target.prefix != "/dev/null").then_some(target.prefix)
        };
        SimpleCommand {
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
                _ if is_keyword(keyword) => rest,
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
                        part.writes.push(target.clone());
                    }
                    if operator.contains('<') {
                        part.reads.push(target);
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
                self.lexer.skip(rest.find('\n').unwrap_or(rest.len()));
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
            let expands = written == target.prefix;
            self.delimiters
                .push((target.prefix, expands, self.commands.len()));
        } else {
            let is_errors = rest.starts_with('2');
            self.current
                .redirections
                .push((operator, is_errors, target));
        }
    }

    fn read_here_documents(&mut self) {
        for (delimiter, expands, command) in std::mem::take(&mut self.delimiters) {
            let rest = self.lexer.rest();
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                self.lexer.skip(line.len());
                if line.trim() == delimiter {
                    break;
                }
                length += line.len();
            }
            let text = rest.get(..length).unwrap_or_default();
            if expands {
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the words of each command, with `|` between them.
    fn words(script: &str) -> Vec<String> {
        let list = simple_commands(script);
        let commands = list.commands.iter();
        commands.map(|command| command.words.join("|")).collect()
    }

    #[test]
    fn commands_are_split() {
        let rows: &[(&str, &[&str])] = &[
            (
                "cd x && cargo test 2>&1 | tail -5",
                &["cd|x", "cargo|test", "tail|-5"],
            ),
            ("A=1 B= sudo -u me jest", &["sudo|-u|me|jest"]),
            ("grep \"<<<<<<\" a.go", &["grep|<<<<<<|a.go"]),
            ("cat > f <<'EOF'\nrm -rf /\nEOF\nls", &["cat", "ls"]),
            ("cat <<-A <<B\n1\n\tA\n2\nB\nls", &["cat", "ls"]),
            (
                "git commit -m \"$(cat <<'EOF'\nx; y\nEOF\n)\"",
                &["git|commit|-m|$()"],
            ),
            ("a # comment; b\nc", &["a", "c"]),
            ("x=$(go env A) && grep 'a b' \"$x\"", &["", "grep|a b|$x"]),
            ("a=(b c) d", &["d"]),
            ("a \\\n b\\\nc", &["a|bc"]),
            ("(cd x; ls) & wait", &["cd|x", "ls", "wait"]),
            ("diff <(sort a) b", &["diff|$()|b"]),
            ("echo ${x:-a;b} \"$((1 + x))\"", &["echo|${x:-a;b}|$()"]),
            ("echo *.rs {a,b} ~/c", &["echo|*.rs|{a,b}|~/c"]),
            ("echo $'a\\tb' $\"c\" `d e`", &["echo|a\tb|$c|$()"]),
            ("grep 'open it", &["grep|'open|it"]),
            ("echo $(open it", &["echo|$", "open|it"]),
            ("a >&2 2>f <<< x", &["a"]),
            ("> x", &[""]),
            ("", &[]),
        ];
        for (script, expected) in rows {
            assert_eq!(words(script), *expected, "{script}");
        }
    }

    #[test]
    fn operators_and_redirections_are_recorded() {
        let written = simple_commands("cat > a.txt 2>b.txt <<EOF\nEOF").commands;
        assert_eq!(written[0].output.as_deref(), Some("a.txt"));
        assert!(written[0].has_here_document);
        let chain = simple_commands("a || b |& c\nd &&\n e & f; (g | h)").commands;
        let follows: Vec<Follows> = chain.iter().map(|command| command.follows).collect();
        assert_eq!(
            follows,
            [
                Follows::Next,
                Follows::Or,
                Follows::Pipe,
                Follows::Next,
                Follows::And,
                Follows::Background,
                Follows::Next,
                Follows::Pipe
            ]
        );
    }

    #[test]
    fn uncertain_lines_are_marked() {
        for script in [
            "a b 'c' \"$d\" && e >f 2>&1 | g; h & i # j",
            "A=1",
            "a\n\n\nb\n",
            "a &",
            "a <(b | c)",
        ] {
            assert!(simple_commands(script).certain, "{script}");
        }
        for script in [
            "a $(b)",
            "a `b`",
            "a ${b}",
            "(a)",
            "{ a; }",
            "if a; then b; fi",
            "a <<E\nE",
            "a 'b",
            "| a",
            "a &&",
            "a;; b",
            "a >",
            "a <(b",
            "! a",
            "f() { a; }",
        ] {
            assert!(!simple_commands(script).certain, "{script}");
        }
    }

    /// Repetitions are parsed in linear time: the bound is far below quadratic time.
    #[test]
    fn no_input_takes_long() {
        for unit in [
            "$(", "`", "${", "\"$(", "'\"", "<<A ", "a=(", "{a", "$((", "\\\n", "<(", "a[", "&&",
            "\n",
        ] {
            let script = unit.repeat(64 * 1024);
            let begun = std::time::Instant::now();
            let list = simple_commands(&script);
            assert!(
                begun.elapsed() < std::time::Duration::from_secs(2),
                "{unit:?}"
            );
            assert!(!list.certain, "{unit:?}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_are_restored(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
            let script = shlex::try_join(words.iter().map(String::as_str)).unwrap();
            let list = simple_commands(&script);
            let found = list.commands.first().map(|command| &command.words);
            if !is_reserved(&words[0]) {
                prop_assert!(list.certain);
            }
            prop_assert_eq!(found, Some(&words));
            prop_assert_eq!(list.commands.len(), 1);
        }

        #[test]
        fn no_text_panics(script in "\\PC{0,60}|[-a-z0-9 '\"$()`|&;<>\\\\\n#={}]{0,60}") {
            let _ = simple_commands(&script);
        }
    }
}
