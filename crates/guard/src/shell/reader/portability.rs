//! The tokens and commands that zsh and dash may read otherwise than bash.
//!
//! In another shell, the same text can run something else: `path=bin; ls` in zsh, `echo $'\'; rm x #'` in dash.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::state::Reader;
use crate::shell::commands::conversions;
use crate::shell::expansion::identifier_length;
use crate::shell::parts::CommandPart;
use crate::shell::redirection::Redirection;
use crate::shell::verdict::is_one_of;

/// Commands that are keywords or builtins in only some of the shells or differ in their options.
const DIFFERENT: &str = "[[ builtin noglob time set hash dirs jobs ulimit";

/// Builtins whose operands zsh evaluates as arithmetic.
const NUMERIC: &str = "break continue exit return shift";

impl Reader<'_> {
    /// Checks a comment, which an interactive zsh runs as a command `#`.
    pub(super) fn comment_differs(&mut self, text: &str, is_after_command: bool) {
        let is_plain = |letter: char| letter.is_alphanumeric() || " #.,:-_/".contains(letter);
        self.differs(is_after_command || !text.chars().all(is_plain));
    }

    /// Checks the operator of a redirection, whose target follows.
    pub(super) fn redirection_differs(&mut self, operator: &str, digits: usize) {
        let is_common = matches!(operator, "<" | ">" | ">>" | "<<" | "<<-" | "<&" | ">&");
        // Only bash accepts several digits. `<1-5>` is a pattern in zsh.
        let next = self.peek();
        let is_other = next.is_some_and(|next| b"(<>&|!-0123456789".contains(&next));
        let copies = operator.ends_with('&');
        self.differs(digits > 1 || !is_common || (is_other && !copies));
    }

    /// Checks the target of a redirection.
    pub(super) fn target_differs(&mut self, redirection: &Redirection) {
        let text = &redirection.target.text;
        let differs = match redirection.operator {
            "<<" | "<<-" => false,
            "<&" | ">&" => {
                text.len() != 1
                    || !text.starts_with(|next: char| next.is_ascii_digit() || next == '-')
                    || self
                        .slice(0..redirection.target.span.start)
                        .ends_with([' ', '\t'])
            }
            _ => text.contains(['*', '?', '[', ']']),
        };
        self.differs(differs);
    }

    /// Checks the delimiter of a here-document.
    pub(super) fn delimiter_differs(&mut self, written: &str, delimiter: &str) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let in_quotes = ['\'', '"'].map(|quote| written.strip_prefix(quote)?.strip_suffix(quote));
        let is_whole = written == delimiter || in_quotes.contains(&Some(delimiter));
        self.differs(!is_whole || !delimiter.bytes().all(is_plain));
    }

    /// Checks the unquoted character at the position. `previous` starts the piece before it.
    pub(super) fn letter_differs(&mut self, previous: Option<char>) {
        let mut letters = self.rest().chars();
        let Some(letter) = letters.next() else {
            return;
        };
        let next = letters.next();
        let ends = next.is_none_or(|next| " \t\n;&|)".contains(next));
        let differs = match letter {
            // zsh replaces `=name` at the start of a word and of parts of an assigned value.
            '=' => matches!(previous, None | Some('=' | ':')) && !ends,
            '~' if previous.is_none() => next != Some('/') && !ends,
            '~' => matches!(previous, Some('=' | ':')),
            '^' => !previous.is_some_and(|before| before == '^' || before.is_alphanumeric()),
            // History expansion of interactive shells.
            '!' => !next.is_none_or(|next| " \t\n=".contains(next)),
            '{' => next != Some('}'),
            '}' => previous != Some('{'),
            '#' => previous.is_none(),
            '*' | '?' | '[' | ']' | '_' | '%' | '+' | '-' | ',' | '.' | '/' | ':' | '@' => false,
            letter => letter.is_ascii() && !letter.is_ascii_alphanumeric(),
        };
        self.differs(differs);
    }

    /// Checks the expansion at the position.
    pub(super) fn expansion_differs(&mut self, in_quotes: bool, is_assigned: bool) {
        let after = self.rest().get(1..).unwrap_or_default();
        let differs = if let Some(inside) = after.strip_prefix('{') {
            let inside = inside.split('}').next().unwrap_or_default();
            !is_common_form(inside) || splits(after) && !in_quotes && !is_assigned
        } else {
            !after.starts_with("((") && !is_common_parameter(after, in_quotes, is_assigned)
        };
        self.differs(differs);
    }
}

/// Whether bash splits a value into words outside of quotes, which zsh does not.
fn splits(after: &str) -> bool {
    after.starts_with(|first: char| first.is_ascii_alphanumeric() || "_{@*".contains(first))
        && !after.starts_with("{#")
}

/// Whether all shells read an expansion alike, given the text behind its dollar sign.
fn is_common_parameter(after: &str, in_quotes: bool, is_assigned: bool) -> bool {
    let Some(first) = after.chars().next() else {
        return true;
    };
    let length = match identifier_length(after) {
        0 if first.is_ascii_digit() || "#?$!@*-".contains(first) => 1,
        0 if in_quotes => return first.is_ascii_whitespace() || "|)/.,\"'".contains(first),
        // In zsh, `$=x`, `$~x` and `$^x` are expansions.
        0 => return first.is_ascii_whitespace() || "|)/.,".contains(first),
        length => length,
    };
    let mut behind = after.get(length..).unwrap_or_default().chars();
    // In zsh, a name may be longer, and have an index or modifiers.
    let is_whole = match behind.next() {
        Some(':') => !behind
            .next()
            .is_some_and(|next| next.is_ascii_alphabetic() || next == '&'),
        Some(next) => next.is_ascii() && next != '[' && (first != '#' || !is_letter(next)),
        None => true,
    };
    is_whole && (in_quotes || is_assigned || !splits(after))
}

fn is_letter(sign: char) -> bool {
    sign.is_ascii_alphabetic() || sign == '_'
}

/// Whether the inside of `${…}` is a form of all shells with a plain operand.
fn is_common_form(inside: &str) -> bool {
    let inside = (inside.strip_prefix('#').filter(|rest| !rest.is_empty())).unwrap_or(inside);
    let operator = inside
        .get(identifier_length(inside).max(1)..)
        .unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:,@%+-#*? ".contains(letter);
    let sign = operator.strip_prefix(':').unwrap_or(operator);
    (operator.is_empty() || sign.starts_with(['-', '+', '?', '%', '#']))
        && operator.chars().all(is_plain)
}

/// Whether a variable has a special meaning in zsh.
pub(super) fn is_zsh_parameter(name: &str) -> bool {
    static PARAMETERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let lines = include_str!("../tables/zsh_parameters.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    });
    PARAMETERS.contains(name)
}

/// Whether a command is another one in some shell, or evaluates its arguments in another way.
pub(in crate::shell) fn differs_by_shell(part: &CommandPart) -> bool {
    differs(part)
        || part
            .unwrapped()
            .is_some_and(|inner| inner.levels().iter().any(differs))
}

fn differs(level: &CommandPart) -> bool {
    let Some((first, arguments)) = level.words.split_first() else {
        return false;
    };
    let Some(name) = first.value.as_deref() else {
        return false;
    };
    let mut values = arguments.iter().map(|word| word.value.as_deref());
    let is_number = |value: Option<&str>| {
        value.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match name {
        "echo" => values.flatten().any(|text| {
            text.contains('\\')
                || (text.starts_with('-') && text.contains(['e', 'E']) && text.len() < 4)
        }),
        "[" | "test" => {
            // `[ "$x" "$y" ]` may be `[ -t … ]`.
            let is_unknown = values.clone().next().is_some_and(|first| first.is_none());
            let operands = values.clone().filter(|value| *value != Some("]")).count();
            (is_unknown && operands == 2)
                || values.any(|word| matches!(word, Some("-t" | "-v" | "-R" | "-o" | "-a")))
        }
        "read" => !values.all(|value| {
            value.is_some_and(|text| {
                text == "-r" || (identifier_length(text) == text.len() && !is_zsh_parameter(text))
            })
        }),
        // Numbers are evaluated, and their modifiers differ.
        "printf" => {
            let format = values.next().flatten().unwrap_or("%d");
            let has_numbers = conversions(format).any(|letter| !"sbc%".contains(letter));
            format.starts_with('-')
                || format.contains('*')
                || (has_numbers && !values.all(is_number))
        }
        _ if is_one_of(NUMERIC, name) => !values.all(is_number),
        _ => is_one_of(DIFFERENT, name),
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::parse;

    fn differs(command: &str) -> bool {
        !parse(command).is_portable
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
            "x='-o Q'; sort \"$=x\" a",
            "echo \"$~x\" \"$^x\"",
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
            "printf '%ld' 'path[$(touch Q)]'",
            "printf \"%'d\" a",
            "printf '%%%hd' a",
            "printf '%*s' a b",
            "printf '%1$s' a",
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
            "ls <1-5>/dev/null",
            "<1-5>/dev/null ls",
            "ls<->/dev/null",
            "cat <<E\n\"\nE\npath=bin\nls",
            "cat <<E\n'\nE\npath=bin; ls 'x'",
            "cat <<'E'\n\"\nE\npath=bin; ls \"x\"",
            "cat <<E\n$x[1]\nE",
            "echo \"$(echo $((1)); path=bin; ls)\"",
            "echo \"${x:-$(path=bin; ls)}\"",
            "uniq a 10>/dev/null",
            "uniq a 10<a",
            "x==ls; cat \"$x\"",
            "x=a:=ls",
            "echo done\n<a",
            "ls ^a",
            "ls a*(e:id:)",
            "f() ls",
            "ls >! a",
            "ls > *.txt",
            "ls 2>&1file",
            "ls >&é",
            "echo $é/x $xé",
            "cat <<'E'\n\tE\n'\nE\npath=bin; ls ''",
            "cat <<E 'a\nE\n'",
            "cat <<E $(ls\nE\n)",
            "cat <<'E'\nE\npath=bin\nls",
            "cat <<E-F\na\nE-F",
            "cat <<$x\na\n$x",
            "cat <<''\na\n\n",
            "cat <<\"E F\"\na\nE F",
            "ls src/^a",
            "f() { ls; }",
            "a=(b)",
            "ls (a)",
            "ls )",
            "ls >a*",
            "ls `id`",
            "case a in a) (ls) ;; esac",
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
            "cat <<END_2\nplain text\nEND_2",
            "cat \"${file}\"; echo \"${a}\" \"${#name}\" \"$((1 + 2))\"",
            "cat <<'E' && ls\nIt's\n(`a`\nE",
            "case a in a|b) echo x ;; esac",
            "printf '%s %-5s\\n' \"$x\" 3",
            "command -v ls >/dev/null 2>&1; exit 1",
            "echo path status \\{ ~/x a=b",
            "while read -r line; do echo \"$line\"; done < a",
            "git show HEAD~1^:a.rs HEAD^",
            "grep \"a$\" b; grep 'a$' \"b$'\"",
            "git commit -m \"$(cat <<'EOF'\nIt's a \"line\" (of $x).\nEOF\n)\"",
            "cat <<-'EOF' | wc -l\n\tx `y`\n\tEOF\nls",
            "ls&&pwd;ls>/dev/null",
            "(cd a && ls) 2>&1 | head",
            "if ls; then pwd; fi >/dev/null",
        ] {
            assert!(!differs(command), "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_read_to_an_end(text in "[-a-z0-9 '\"$()`|&;<>\\\\\n#={}!~^*@]{0,60}|\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
