//! `sed` with scripts that print.

use crate::shell::options::{self, Command, PLAIN, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

/// Not `-i`, `-I`, `-f`.
const SED: Command = Command {
    short: "nrEsuze:l:",
    long: &[
        "quiet",
        "silent",
        "regexp-extended",
        "separate",
        "unbuffered",
        "null-data",
        "expression=",
        "line-length=",
        "posix",
        "sandbox",
        "debug",
        "help",
        "version",
    ],
    ..PLAIN
};

/// Why a script is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// A command that writes files or runs programs.
    Writes(char),
    /// Something that is not understood.
    NotUnderstood,
    /// Something that sed itself refuses, before it does anything.
    Invalid,
}

/// Where a delimiter inside of a set of characters (`[^/]`) ends the text. Versions of sed differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sets {
    HoldDelimiters,
    EndAtDelimiters,
}

/// The options, then the script: the values of `-e`, or else the first operand.
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let arguments = options::read(&SED, "sed", words)?;
    let mut scripts: Vec<(&Word, Value<'_>)> = arguments
        .options
        .iter()
        .filter(|given| matches!(given.name, "e" | "expression"))
        .map(|given| (given.word, given.value))
        .collect();
    if scripts.is_empty() {
        match arguments.operands.first() {
            Some(word) => {
                let value = word
                    .literal()
                    .map_or(Value::Begins(&word.prefix), Value::Text);
                scripts.push((word, value));
            }
            None if arguments.options.is_empty() => {
                return Err(Refusal::unknown(
                    name.span.clone(),
                    "`sed` without a script",
                ));
            }
            None => {}
        }
    }
    // Several scripts are one, a line each: `a\` in one continues in the next.
    let mut script = String::new();
    for (word, value) in &scripts {
        let Value::Text(text) = value else {
            return Err(Refusal::unknown(
                word.span.clone(),
                "`sed` with a script that is only known when it runs",
            ));
        };
        script.push_str(text);
        script.push('\n');
    }
    let span = scripts
        .first()
        .map_or(name.span.clone(), |(word, _)| word.span.clone());
    judge(&script).map_err(|problem| match problem {
        Problem::Writes(command @ ('e' | 'w' | 'W')) => Refusal::writes(
            span.clone(),
            format!("the `{command}` in this sed script writes or runs something"),
        ),
        Problem::Writes(command) => Refusal::unknown(
            span.clone(),
            format!("the sed command `{command}` is not in the accepted set"),
        ),
        Problem::NotUnderstood | Problem::Invalid => {
            Refusal::unknown(span.clone(), "a sed script that is not understood")
        }
    })
}

/// Looks at a script in every way that some sed reads it.
fn judge(script: &str) -> Result<(), Problem> {
    let read = |sets| Script { rest: script, sets }.run();
    match (read(Sets::HoldDelimiters), read(Sets::EndAtDelimiters)) {
        (Ok(()), Ok(()) | Err(Problem::Invalid)) | (Err(Problem::Invalid), Ok(())) => Ok(()),
        (Err(problem), _) | (Ok(()), Err(problem)) => Err(problem),
    }
}

/// The rest of a script.
struct Script<'text> {
    rest: &'text str,
    sets: Sets,
}

impl Script<'_> {
    fn run(mut self) -> Result<(), Problem> {
        loop {
            self.skip(|letter| letter.is_ascii_whitespace() || letter == ';' || letter == '}');
            if self.rest.is_empty() {
                return Ok(());
            }
            self.addresses()?;
            self.skip(|letter| letter == ' ' || letter == '\t' || letter == '!');
            self.command()?;
        }
    }

    fn skip(&mut self, passes: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(passes);
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }

    fn addresses(&mut self) -> Result<(), Problem> {
        if !self.address()? {
            return Ok(());
        }
        self.skip(|letter| letter == ' ' || letter == '\t');
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            self.skip(|letter| letter == ' ' || letter == '\t');
            if let Some(rest) = self.rest.strip_prefix(['+', '~']) {
                self.rest = rest;
            }
            if !self.address()? {
                return Err(Problem::NotUnderstood);
            }
        }
        Ok(())
    }

    /// A line number, `$`, `first~step`, a regular expression; whether there is one.
    fn address(&mut self) -> Result<bool, Problem> {
        match self.rest.chars().next() {
            Some('$') => {
                self.next();
            }
            Some('0'..='9') => self.skip(|letter| letter.is_ascii_digit() || letter == '~'),
            Some('/') => {
                self.next();
                self.delimited('/')?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
            }
            Some('\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.delimited(delimiter)?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn delimiter(&mut self) -> Result<char, Problem> {
        self.next()
            .filter(|delimiter| delimiter.is_ascii_graphic() && *delimiter != '\\')
            .ok_or(Problem::NotUnderstood)
    }

    /// Passes a regular expression up to the delimiter.
    fn delimited(&mut self, delimiter: char) -> Result<(), Problem> {
        let mut in_set = false;
        loop {
            match self.next().ok_or(Problem::NotUnderstood)? {
                '\\' if !in_set => {
                    self.next().ok_or(Problem::NotUnderstood)?;
                }
                // Versions differ about escapes inside of sets.
                '\n' | '\\' => return Err(Problem::NotUnderstood),
                // Classes of characters hold brackets.
                '[' if in_set => {
                    let class = self.rest.starts_with([':', '.', '=']);
                    if class {
                        let (_, after) = self.rest.split_once(']').ok_or(Problem::NotUnderstood)?;
                        self.rest = after;
                    }
                }
                letter if letter == delimiter && !in_set => return Ok(()),
                '[' if self.sets == Sets::HoldDelimiters => {
                    in_set = true;
                    let rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
                    // A bracket in front belongs to the set.
                    self.rest = rest.strip_prefix(']').unwrap_or(rest);
                }
                ']' => in_set = false,
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Result<(), Problem> {
        let command = self.next().ok_or(Problem::NotUnderstood)?;
        match command {
            '{' => Ok(()),
            'p' | 'P' | 'n' | 'N' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'F' => {
                self.end()
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|letter| letter == ' ' || letter.is_ascii_digit());
                self.end()
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter)?;
                self.replacement(delimiter)?;
                self.flags()
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
                self.end()
            }
            'b' | 't' | 'T' | ':' => {
                self.skip(|letter| letter == ' ');
                self.skip(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            '#' => {
                self.skip(|letter| letter != '\n');
                Ok(())
            }
            other => Err(Problem::Writes(other)),
        }
    }

    /// A text on the same line. A backslash at its end would continue it.
    fn text(&mut self) -> Result<(), Problem> {
        let (text, rest) = self.rest.split_once('\n').ok_or(Problem::NotUnderstood)?;
        let text = text.strip_prefix('\\').unwrap_or(text);
        if text.is_empty() || text.contains(['\\', '}', ';']) {
            return Err(Problem::NotUnderstood);
        }
        self.rest = rest;
        Ok(())
    }

    /// What replaces; a line break in it must be escaped.
    fn replacement(&mut self, delimiter: char) -> Result<(), Problem> {
        loop {
            match self.next().ok_or(Problem::NotUnderstood)? {
                '\\' => {
                    self.next().ok_or(Problem::NotUnderstood)?;
                }
                '\n' => return Err(Problem::NotUnderstood),
                letter if letter == delimiter => return Ok(()),
                _ => {}
            }
        }
    }

    fn flags(&mut self) -> Result<(), Problem> {
        self.skip(|letter| matches!(letter, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'));
        if let Some(flag @ ('e' | 'w')) = self.rest.chars().next() {
            return Err(Problem::Writes(flag));
        }
        match self.rest.chars().next() {
            // No version knows such a flag.
            Some('/' | '|' | ',' | '*' | '$' | '^' | '.' | '[' | ']') => Err(Problem::Invalid),
            _ => self.end(),
        }
    }

    /// A command ends at a separator or at a closing brace.
    fn end(&mut self) -> Result<(), Problem> {
        self.skip(|letter| letter == ' ' || letter == '\t');
        match self.rest.chars().next() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(_) => Err(Problem::NotUnderstood),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(script: &str) -> bool {
        judge(&format!("{script}\n")).is_ok()
    }

    #[test]
    fn printing_scripts() {
        for script in [
            "p",
            "5p",
            "1,5p",
            "$=",
            "$!d",
            "/a/,/b/p",
            "/a/I,+3p",
            "2~3d",
            "0,/x/d",
            "\\,a/b,p",
            "s/a/b/",
            "s/a/b/g2pI",
            "s|a/b|c|",
            "s/a\\/b/c/g",
            "s/[a-z]*/x/",
            "s/[^/]*$//",
            "s/w/e/",
            "y/abc/xyz/",
            "1{p;q}",
            "/a/{p;d}",
            "n;d",
            "$!N;P;D",
            ":a;N;ba",
            ":a;s/x/y/;ta",
            "q5",
            "l 20",
            "a text",
            "1i\\ text",
            "s/a/b/;s/c/d/",
            "s/x/y/ ; p",
            "# note\np",
            "",
            "1!G;h;$!d",
        ] {
            assert!(accepts(script), "{script}");
        }
    }

    #[test]
    fn scripts_that_do_more() {
        for script in [
            "w out",
            "1w out",
            "/a/w out",
            "W out",
            "1,2W out",
            "e",
            "1e date",
            "edate",
            "s/a/b/w out",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/gw out",
            "p;w out",
            "1{p;w out\n}",
            "y/a/b/;w out",
            "y/a/b/w out",
            "s/x/;/;w out",
            "r file",
            "R file",
            "$r file",
            "v",
            "s/a/b",
            "s/a/b/z",
            "1",
            "p p",
            "s\na\nb\n",
            "a\\\nw out",
            "a one \\\nw out",
            "b;w out",
            ":a;w out",
            "} w out",
            "/a/ w out",
            "s/[/]w out/x/",
            "s/[/]/;w out\n#]/",
        ] {
            assert!(!accepts(script), "{script}");
        }
    }
}
