//! Differences between bash, zsh and dash in a command line.
//!
//! The analysis parses a command line as bash does. In another shell, the same text can run
//! something else: `path=bin; ls` in zsh, `echo $'\'; rm x #'` in dash. Without `$'…'` the three
//! agree on quotes, so one pass over the text finds the differences.

use super::expansion::identifier_length;
use super::lexer::ends_word;
use super::parts::CommandPart;
use super::verdict::is_one_of;

/// Commands that are keywords or builtins in only some of the shells or differ in their options.
const DIFFERENT: &str = "[[ builtin noglob time set hash dirs jobs ulimit";

/// Builtins whose operands zsh evaluates as arithmetic.
const NUMERIC: &str = "break continue exit return shift";

/// Returns the first difference between bash, zsh and dash in a command line, given its commands
/// according to bash.
pub fn differs_between_shells(command: &str, parts: &[CommandPart]) -> Option<&'static str> {
    // The parenthesis after a `case` pattern has no opening one.
    if command.contains("case") && command.contains("$(") {
        return Some("`case` with a substitution");
    }
    let in_text = Scan {
        rest: command,
        previous: '\n',
        in_quotes: false,
        outer: Vec::new(),
        begins_word: true,
        begins_command: true,
        is_assignment: false,
        after_for: false,
        is_redirected: false,
    };
    in_text
        .run()
        .or_else(|| parts.iter().find_map(different_command))
        .or_else(|| {
            let mut parts = parts.iter();
            let alone = parts.any(|part| is_redirection_alone(command, part));
            alone.then_some("a redirection without a command")
        })
}

/// Whether a part is a redirection without a simple or compound command: zsh starts a pager for it.
fn is_redirection_alone(command: &str, part: &CommandPart) -> bool {
    let before = command
        .get(..part.span.start)
        .unwrap_or_default()
        .trim_end();
    let follows_compound = ["done", "fi", "esac", "}", ")"]
        .iter()
        .any(|end| before.ends_with(end));
    let opens_file = !(part.reads.is_empty() && part.writes.is_empty());
    part.words.is_empty() && opens_file && !follows_compound
}

fn is_zsh_parameter(name: &str) -> bool {
    include_str!("tables/zsh_parameters.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .any(|known| known == name)
}

/// The state of the pass over the text.
struct Scan<'text> {
    rest: &'text str,
    previous: char,
    /// Whether the position is inside double quotes.
    in_quotes: bool,
    /// The value of `in_quotes` outside each open parenthesis.
    outer: Vec<bool>,
    begins_word: bool,
    /// Whether the next word is the name of a command, an assignment or a keyword.
    begins_command: bool,
    /// Whether the position is in the value of an assignment, which no shell splits.
    is_assignment: bool,
    /// Whether the next word is the variable of a loop.
    after_for: bool,
    /// Whether standard output of the command is redirected; zsh writes to a following pipe as well.
    is_redirected: bool,
}

/// Whether this character has no effect if a shell runs the comment as a command `#`.
fn is_plain_in_comment(letter: char) -> bool {
    letter.is_alphanumeric() || " #.,:-_/".contains(letter)
}

/// Keywords before a command.
const KEYWORDS: &str = "if then elif else while until do !";

impl Scan<'_> {
    fn run(mut self) -> Option<&'static str> {
        while let Some(first) = self.rest.chars().next() {
            let mut length = first.len_utf8();
            let after = self.rest.get(length..).unwrap_or_default();
            if first == '!' && after.starts_with(|next: char| !" \t\n=(".contains(next)) {
                return Some("history expansion of interactive shells");
            }
            match first {
                '\\' => length += after.chars().next().map_or(0, char::len_utf8),
                '"' => self.in_quotes = !self.in_quotes,
                '`' if self.in_quotes => return Some("backticks in quotes"),
                '\'' if !self.in_quotes => length += after.find('\'').map_or(0, |end| end + 1),
                '$' if after.starts_with("((") => length = 3,
                '$' if after.starts_with('(') => {
                    self.open();
                    length = 2;
                }
                '$' => {
                    let may_split = !self.in_quotes && !self.is_assignment;
                    if let Some(problem) = different_expansion(after, may_split) {
                        return Some(problem);
                    }
                }
                _ if self.in_quotes => {}
                '#' if self.begins_word => {
                    length = self.rest.find('\n').unwrap_or(self.rest.len());
                    let comment = self.rest.get(..length).unwrap_or_default();
                    if !self.begins_command || !comment.chars().all(is_plain_in_comment) {
                        return Some("a comment, which an interactive zsh runs");
                    }
                }
                _ => {
                    let problem = self.different_outside_of_quotes();
                    if problem.is_some() {
                        return problem;
                    }
                    length = self.outside_of_quotes(first);
                }
            }
            let is_blank = first.is_ascii() && ends_word(first as u8);
            let has_ended = is_blank || (first == '$' && length == 2);
            self.is_assignment &= !has_ended || self.in_quotes;
            self.begins_word = has_ended && !self.in_quotes;
            self.previous = first;
            self.rest = self.rest.get(length..).unwrap_or_default();
        }
        None
    }

    fn open(&mut self) {
        self.outer.push(self.in_quotes);
        self.in_quotes = false;
        self.begins_command = true;
        self.is_redirected = false;
    }

    /// Consumes the next token, which starts with `first`; returns its length.
    fn outside_of_quotes(&mut self, first: char) -> usize {
        match first {
            '(' => self.open(),
            ')' => self.in_quotes = self.outer.pop().unwrap_or(false),
            '>' => {
                let is_other = self.previous.is_ascii_digit() && self.previous != '1';
                self.is_redirected |= !is_other && !self.rest.starts_with(">&");
            }
            _ => {}
        }
        if matches!(first, ';' | '|' | '&' | '\n' | '(' | ')' | '`') {
            self.is_redirected = false;
            self.begins_command = true;
        } else if self.begins_word && !first.is_ascii_whitespace() {
            let name = identifier_length(self.rest);
            let (word, rest) = self.rest.split_at(name);
            self.is_assignment = self.begins_command && name > 0 && rest.starts_with('=');
            let is_keyword = is_one_of(KEYWORDS, word) || first == '!';
            self.begins_command &= self.is_assignment || is_keyword;
            self.after_for = word == "for";
            return name.max(if self.rest.starts_with("{}") {
                2
            } else {
                first.len_utf8()
            });
        } else if self.rest.starts_with("{}") {
            return 2;
        }
        first.len_utf8()
    }

    fn different_outside_of_quotes(&self) -> Option<&'static str> {
        let rest = self.rest;
        let begins = |texts: &[&str]| texts.iter().any(|text| rest.starts_with(text));
        let second = rest.chars().nth(1);
        let (word, behind) = rest.split_at(identifier_length(rest));
        let is_set = self.begins_word && (self.after_for || behind.starts_with('='));
        if is_set && is_zsh_parameter(word) {
            Some("a variable with a special meaning in zsh")
        } else if rest.starts_with(['{', '}']) && !begins(&["{}"]) {
            Some("braces outside quotes")
        } else if begins(&["<(", ">(", "<<<", "&>", "|&", "<>", ">|", "(("]) {
            Some("a construct that not all shells support")
        } else if rest.starts_with('|') && !begins(&["||"]) && self.is_redirected {
            Some("a pipe after a redirection")
        } else if rest.starts_with(">&") && !second_is_descriptor(rest) {
            Some("`>&` with something other than a descriptor")
        } else if self.begins_word
            && rest.starts_with('=')
            && second.is_some_and(|next| !next.is_ascii_whitespace())
        {
            Some("a word that starts with `=`, which zsh expands")
        } else if self.begins_word
            && rest.starts_with('~')
            && second.is_some_and(|next| next.is_ascii_digit() || "[+-".contains(next))
        {
            Some("a directory that only some shells expand")
        } else {
            None
        }
    }
}

fn second_is_descriptor(text: &str) -> bool {
    text.get(2..).is_some_and(|target| {
        target.starts_with(|first: char| first.is_ascii_digit() || first == '-')
    })
}

/// Returns the difference in an expansion, given the text after `$`. `may_split` is true if bash
/// splits its value into words, which zsh does not.
fn different_expansion(after: &str, may_split: bool) -> Option<&'static str> {
    let is_word =
        after.starts_with(|first: char| first.is_ascii_alphanumeric() || "_{@*".contains(first));
    if may_split && is_word && !after.starts_with("{#") {
        return Some("a variable outside quotes, which zsh does not split");
    }
    if after.starts_with(['\'', '"', '[']) {
        return Some("quotes or brackets after `$`");
    }
    if let Some(inside) = after.strip_prefix('{') {
        let inside = inside
            .strip_prefix('#')
            .filter(|rest| !rest.starts_with('}'))
            .unwrap_or(inside);
        let name = identifier_length(inside).max(1);
        let operator = inside.get(name..).unwrap_or_default();
        let is_posix = operator.starts_with(['}', '-', '+', '?', '%', '#'])
            || [":-", ":+", ":?"]
                .iter()
                .any(|known| operator.starts_with(known));
        return (!is_posix).then_some("a form of `${…}` that not all shells support");
    }
    let name = identifier_length(after);
    let follows = after.get(name.max(1)..).unwrap_or_default();
    let is_special = after.starts_with(['#', '?', '$', '!', '@', '*', '-']);
    let mut letters = follows.chars();
    let is_suffixed = match letters.next() {
        Some('[') => true,
        Some(':') => letters
            .next()
            .is_some_and(|next| next.is_ascii_alphabetic() || next == '&'),
        _ => false,
    };
    let is_longer = (name > 0 || is_special) && is_suffixed
        || after.starts_with('#') && identifier_length(follows) > 0;
    is_longer.then_some("a variable whose name is longer in zsh")
}

/// Returns the difference in a command.
fn different_command(part: &CommandPart) -> Option<&'static str> {
    part.levels().iter().find_map(|level| {
        let (first, arguments) = level.words.split_first()?;
        let name = first.value.as_deref()?;
        let mut values = arguments.iter().map(|word| word.value.as_deref());
        let is_number = |value: Option<&str>| {
            value.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let differs = match name {
            "echo" => values.any(|value| {
                value.is_some_and(|text| {
                    text.contains('\\')
                        || (text.starts_with('-') && text.contains(['e', 'E']) && text.len() < 4)
                })
            }),
            "[" | "test" => {
                let is_other =
                    |value: Option<&str>| matches!(value, Some("-t" | "-v" | "-R" | "-o" | "-a"));
                // `[ "$x" "$y" ]` may be `[ -t … ]`.
                let is_unknown = values.clone().next().is_some_and(|first| first.is_none());
                let operands = values.clone().filter(|value| *value != Some("]")).count();
                values.any(is_other) || (is_unknown && operands == 2)
            }
            "read" => !values.all(|value| {
                value.is_some_and(|text| {
                    text == "-r"
                        || (identifier_length(text) == text.len() && !is_zsh_parameter(text))
                })
            }),
            "printf" => {
                let format = values.next().flatten().unwrap_or("%d");
                let converts = |letters: &str| {
                    format.split('%').skip(1).any(|after| {
                        let after = after.trim_start_matches(|letter: char| {
                            letter.is_ascii_digit() || "-+ #.".contains(letter)
                        });
                        after.starts_with(|letter| letters.contains(letter))
                            || after.starts_with('*')
                    })
                };
                format.starts_with('-')
                    || converts("qQ(")
                    || (converts("diouxXeEfFgGaA") && !values.all(is_number))
            }
            _ if is_one_of(NUMERIC, name) => !values.all(is_number),
            _ => is_one_of(DIFFERENT, name),
        };
        differs.then_some("a command that differs between shells")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::analyse;

    fn differs(command: &str) -> bool {
        let parts = analyse(command).parts;
        parts.is_none_or(|parts| differs_between_shells(command, &parts).is_some())
    }

    #[test]
    fn differences_between_shells_are_found() {
        for command in [
            "path=bin; ls",
            "for path in bin; do ls; done",
            "for\tstatus in a; do ls; done",
            "read -t 'a[$(id)]' x",
            "read path",
            r"echo $'\'; touch P #'",
            "echo $\"x\"",
            "ls {a,b}",
            "ls &>/dev/null",
            "ls |& head",
            "cat <<< x",
            "diff <(ls a) <(ls b)",
            "[[ -f a ]]",
            "echo =ls",
            "[ a == b ]",
            "echo ${x^^} ${y:-z}",
            "echo ${x//a/b}",
            "echo ${x:1:2}",
            "echo $x[1]",
            "echo \"$x:h\"",
            "echo $#x",
            "ls ~+",
            "cat $(< a)",
            "exit 'a[$(id)]'",
            "printf '%d' \"$x\"",
            "printf %q x",
            "time ls",
            "ls >& /dev/null",
            "echo \"$(path=bin; ls)\"",
            "echo \"$(ls \"{a,b}\" {a,b})\"",
            "x='a b'; cat $x",
            "ls >/dev/null | wc -l",
            "echo 'a\\nb'",
            "[ -t 'a[$(id)]' ]",
            "set -o pipefail",
            "echo $x['$(id)']",
            "printf '%d' \"$(cat a)\"",
            "ls # x; touch q",
            "ls # -o q",
            "# `touch q`\nls",
            "ls !ec:1:t",
            "echo \"!ec:1:t\"",
        ] {
            assert!(differs(command), "{command}");
        }
    }

    #[test]
    fn portable_commands_are_accepted() {
        for command in [
            "printf '%5d' 3",
            "echo \"$(( 1 == 2 ))\"",
            "ls -la src | head -3",
            "cd src && wc -l *.rs; echo done",
            "grep -rn \"fn main\" . 2>/dev/null || true",
            "find . -name '*.rs' -exec grep -l x {} +",
            "echo \"$(wc -l \"a b\" | head -1)\" done",
            "for f in *.md; do echo \"== $f: ${#f}\"; cat \"$f\"; done",
            "if [ -f a ] && [ \"$(wc -l < a)\" -gt 3 ]; then echo \"it's\"; fi",
            "# List files, then stop.\nls",
            "[ ! -f a ] || echo 'a!b' x!",
            "x=1 y=$x; echo \"${x:-y}:$x ${x%.rs} $((1 + 2))\" '{}' $? $#",
            "ls 2>/dev/null | wc -l; ls >/dev/null; ls 2>&1 | head -3",
            "cat <<EOF\nplain text\nEOF",
            "case a in a|b) echo x ;; esac",
            "printf '%s %-5s\\n' \"$x\" 3",
            "command -v ls >/dev/null 2>&1; exit 1",
            "echo path status \\{ ~/x a=b",
            "while read -r line; do echo \"$line\"; done < a",
        ] {
            assert!(
                !differs(command),
                "{command}: {:?}",
                analyse(command)
                    .parts
                    .map(|parts| differs_between_shells(command, &parts))
            );
        }
    }
}
