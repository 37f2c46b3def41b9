//! The simple commands of any command line, read as well as its text allows.
//!
//! Labels and the meaning of exit statuses come from it, where a mistake costs a word. Whether a
//! command line only reads is decided by [`analyse`](super::analyse) alone.

use super::expansion::identifier_length;
use super::lexer::{Expansions, Lexer, LineBreaks};
use super::redirection;

/// How much of a command line is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// Words that begin or end something that is no simple command.
const RESERVED: &str =
    "! [[ case coproc do done elif else esac fi for function if select then time until while { }";

/// Whether a word, as it is written, means something to the shell where a command begins.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.split(' ').any(|reserved| reserved == word)
}

/// The simple commands of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandList {
    /// In the order of the text.
    pub commands: Vec<SimpleCommand>,
    /// Whether the line consists of simple commands alone, whose words are all known but for the
    /// values of variables and the names of process substitutions. If not, this is a guess.
    pub certain: bool,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// How it follows the one before.
    pub follows: Follows,
    /// Its words without quotes; none if it only assigns or redirects. `$()` stands for the output
    /// of a command, and a variable is as it is written.
    pub words: Vec<String>,
    /// The last file that its output goes to, `/dev/null` aside.
    pub output: Option<String>,
    /// Whether it has a here-document.
    pub has_here_document: bool,
}

/// How a command follows the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// It is the first one, or follows a line end or `;`.
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

/// Reads a command line; never fails, and takes time that is linear in its length.
pub fn simple_commands(script: &str) -> CommandList {
    let text = script
        .get(..script.floor_char_boundary(LONGEST))
        .unwrap_or(script);
    let mut reader = Reader {
        lexer: Lexer::lenient(text),
        commands: Vec::new(),
        certain: text.len() == script.len(),
        current: empty(Follows::Next),
        is_started: false,
        delimiters: Vec::new(),
    };
    reader.run();
    CommandList {
        certain: reader.certain && reader.lexer.certain,
        commands: reader.commands,
    }
}

struct Reader<'text> {
    lexer: Lexer<'text, 'text>,
    commands: Vec<SimpleCommand>,
    certain: bool,
    current: SimpleCommand,
    /// The current command has words, assignments or redirections.
    is_started: bool,
    /// The ends of here-documents whose text begins on the next line.
    delimiters: Vec<String>,
}

fn empty(follows: Follows) -> SimpleCommand {
    SimpleCommand {
        follows,
        words: Vec::new(),
        output: None,
        has_here_document: false,
    }
}

impl Reader<'_> {
    fn run(&mut self) {
        loop {
            self.lexer.skip_blanks(LineBreaks::End);
            let rest = self.lexer.rest();
            if rest.is_empty() {
                break;
            } else if rest.starts_with('\n') {
                self.lexer.skip(1);
                self.end(Follows::Next);
                self.skip_here_documents();
            } else if rest.starts_with('#') {
                self.lexer.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(operator) = redirection::operator(rest) {
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
            let ended = std::mem::replace(&mut self.current, empty(follows));
            self.commands.push(ended);
        } else if follows != Follows::Next {
            self.current.follows = follows;
        }
    }

    fn word(&mut self, rest: &str) {
        self.is_started = true;
        let name = identifier_length(rest);
        if self.current.words.is_empty() && name > 0 && rest.as_bytes().get(name) == Some(&b'=') {
            self.lexer.skip(name + 1);
            if self.lexer.peek().is_some_and(|byte| byte == b'(') {
                self.lexer.skip_enclosed();
            }
            // Without a word, the value is empty.
            let _ = self.lexer.word(Expansions::Unsplit);
            return;
        }
        let Ok(word) = self.lexer.word(Expansions::Unsplit) else {
            self.certain = false;
            return self.lexer.skip(1);
        };
        let source = rest.get(..word.span.len()).unwrap_or_default();
        if self.current.words.is_empty() && is_reserved(source) {
            self.certain = false;
        }
        self.current.words.push(word.prefix);
    }

    fn redirection(&mut self, rest: &str, (operator, length): (&str, usize)) {
        self.is_started = true;
        self.lexer.skip(length);
        self.lexer.skip_blanks(LineBreaks::End);
        let Ok(target) = self.lexer.word(Expansions::Unsplit) else {
            self.certain = false;
            return;
        };
        if matches!(operator, "<<" | "<<-") {
            self.certain = false;
            self.current.has_here_document = true;
            self.delimiters.push(target.prefix);
        } else if operator.contains('>')
            && !operator.ends_with('&')
            && !rest.starts_with('2')
            && target.prefix != "/dev/null"
        {
            self.current.output = Some(target.prefix);
        }
    }

    fn skip_here_documents(&mut self) {
        for delimiter in std::mem::take(&mut self.delimiters) {
            for line in self.lexer.rest().split_inclusive('\n') {
                self.lexer.skip(line.len());
                if line.trim() == delimiter {
                    break;
                }
            }
        }
    }
}

/// The operator between commands that the text begins with, and its length.
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

    /// The words of each command, with `|` between them.
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
    fn what_stands_beside_the_words() {
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
    fn certainty() {
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

    /// Anything that repeats is read in linear time: the bound is far below what a square takes.
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
        fn quoted_words_come_back(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
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
