//! Recognizes command lines that zsh and dash parse like bash.
//!
//! In another shell, the same text can run something else: `path=bin; ls` in zsh, `echo $'\'; rm x #'` in dash.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::commands::conversions;
use super::expansion::is_identifier;
use super::line::CommandLine;
use super::parts::{CommandPart, MAX_LENGTH, PartInput};
use super::redirection::Redirection;
use super::verdict::is_one_of;

/// Commands that are keywords or builtins in only some of the shells, or have different options.
const DIFFERING_COMMANDS: &str = "[[ builtin noglob time set hash dirs jobs ulimit";

/// Builtins whose operands zsh evaluates as arithmetic.
const NUMERIC_BUILTINS: &str = "break continue exit return shift";

/// The tokens that all shells parse alike. Every blank of the line is written twice, and one is added before `)`, so
/// that each of two adjacent tokens may match its own. `QUOTED` stands for a text in double quotes, `NUMBER` for
/// arithmetic.
const TOKENS: &str = r#"
      [\w%+,./:@*?\[\]\u{80}-\u{10FFFF}-] | \{\} | \\[^\n] | NUMBER | \$\?[\s;] | \s
    | (?:\s[0-9]?(?:>>?|<)[\x20\t]*)?(?:'[^']*'|QUOTED)
      # zsh replaces `=name` and `~name` at the start of a word, and in values behind `=` and `:`.
    | [\w./\]-][=~\#] | \w\^+ | \s(?:!=?|=|~|\{)\s | \s~/ | \s\};?\s
    | (?:&&|\|\||[;&|])[\s\w./-]
      # An interactive zsh runs other comments as a command `#`.
    | \n[\x20\t]*\#[\w\x20\#.,:/-]*\n
    | (?:\s[0-9]?(?:(?:>>?|<)[\x20\t]*(?:~/|[A-Za-z_./\u{80}-\u{10FFFF}])[\w%+,./:@\u{80}-\u{10FFFF}-]*|[<>]&[0-9-]));?\s
    | \s<<-?[\x20\t]*(?:'\w+'|"\w+"|\w+)(?:[\w\x20\t./:,-]|\s(?:\|\|?|&&|>>?)\s)*\n"#;

/// A text in double quotes. In zsh, a variable may have an index or modifiers behind its name.
const QUOTED: &str = r#""(?:
      [^"\\$`!] | \\[^\n] | ![\s=(] | \$[\s)/.,|'] | NUMBER | \$\{\#?[\w?@*\#!-]+[\w:+?%\#./,@*\x20-]*\} | SUBSTITUTION
    | (?:\$(?:[A-Za-z_]\w*|[0-9?\#!@*$-]))+(?:[^"\\$`!\[:\w\u{80}-\u{10FFFF}]|:[^A-Za-z&"\\$`!]|\\[^\n])
    )*(?:\$(?:[A-Za-z_]\w*|[0-9?\#!@*$-]))*\$?""#;

/// Matches the lines whose tokens all shells parse alike.
static COMMON_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // In a substitution in quotes, there is no subshell, no escaped blank, and only simple quotes.
    let tokens = TOKENS.replace("QUOTED", r#""(?:[^"\\$`!]*|\$[A-Za-z_]\w*)""#);
    let inner = tokens.replace(r"\\[^\n]", r"\\[^\n\x20]");
    let quoted = QUOTED.replace("SUBSTITUTION", &format!(r"\$\((?:{inner})*\)"));
    let outer = TOKENS.replace("QUOTED", &quoted);
    let all = format!(r"(?x)\A(?:{outer} | \$\( | \s\( | \) )*\z");
    Regex::new(&all.replace("NUMBER", r"\$\(\([0-9\s+*/%=<>-]*\)\s\)")).ok()
});

/// Matches lines of words, plain quotes and common operators. Most lines are such lines, and this expression is
/// compiled faster.
static PLAIN_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r#"(?:(?:[\w%+,./@*?\[\]-]|'[^']*'|"[^"$`\\!]*")=?|:)*"#;
    let operator = r"&&|\|\|?|2>&1|2?>/dev/null";
    Regex::new(&format!(r"\A(?:(?:{word}|{operator});?(?: |\z))*\z")).ok()
});

impl CommandLine {
    /// Whether zsh and dash certainly parse the line like bash. `script` is its text.
    pub fn is_portable(&self, script: &str) -> bool {
        let matches = |regex: &Option<Regex>, text: &str| {
            let regex = regex.as_ref();
            regex.is_some_and(|regex| regex.is_match(text))
        };
        // Without quotes and operators, no expression has to be compiled.
        let is_simple = |byte: u8| byte.is_ascii_alphanumeric() || b" _%+,./@*?:-".contains(&byte);
        let may_differ =
            |part: &CommandPart| self.duplicates_input(part) || part.levels().iter().any(differs);
        self.unread.is_none()
            && script.len() <= MAX_LENGTH
            && !self.differs_between_shells
            && !script.contains("esac")
            && !self.assigned.iter().any(|name| is_zsh_parameter(name))
            && !self.commands.iter().any(may_differ)
            && (script.bytes().all(is_simple)
                || matches(&PLAIN_LINE, script)
                || matches(&COMMON_LINE, &self.pad_blanks(script)))
    }

    /// Returns the text as [`TOKENS`] matches it: with further blanks, without here-documents.
    fn pad_blanks(&self, script: &str) -> String {
        let mut text = "\n".to_owned();
        for (at, letter) in script.char_indices() {
            if !self.documents.iter().any(|document| document.contains(&at)) {
                text.extend((letter == ')').then_some(' '));
                text.push(letter);
                text.extend([' ', '\t', '\n'].contains(&letter).then_some(letter));
            }
        }
        text + "\n"
    }

    /// Whether a command before the pipe to this one redirects its output to a file. In zsh, the file and the pipe get
    /// it.
    fn duplicates_input(&self, part: &CommandPart) -> bool {
        let PartInput::Pipe(before) = &part.input else {
            return false;
        };
        let sources = self.commands.get(before.clone()).unwrap_or_default();
        let mut redirections = sources.iter().flat_map(|part| &part.redirections);
        redirections.any(Redirection::is_output)
    }
}

/// Whether a variable in lower case has a meaning for zsh (zshparam(1), zshmodules(1)).
fn is_zsh_parameter(name: &str) -> bool {
    is_one_of(include_str!("tables/zsh_parameters.txt"), name)
}

/// Whether a command is a different one in some shell, or evaluates its arguments differently.
fn differs(level: &CommandPart) -> bool {
    let Some(name) = level.program() else {
        return false;
    };
    let mut values = level.words.iter().skip(1).map(|word| word.value.as_deref());
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
            let is_unknown = level.words.get(1).is_some_and(|word| word.value.is_none());
            is_unknown && level.words.len() == 3 + usize::from(name == "[")
                || values.any(|word| matches!(word, Some("-t" | "-v" | "-R" | "-o" | "-a")))
        }
        "read" => !values.all(|value| {
            value.is_some_and(|name| name == "-r" || is_identifier(name) && !is_zsh_parameter(name))
        }),
        // Shells evaluate numbers and modifiers differently.
        "printf" => {
            let format = values.next().flatten().unwrap_or("%d");
            let has_numbers = conversions(format).any(|letter| !"sbc%".contains(letter));
            format.starts_with('-')
                || format.contains('*')
                || (has_numbers && !values.all(is_number))
        }
        _ if is_one_of(NUMERIC_BUILTINS, name) => !values.all(is_number),
        _ => is_one_of(DIFFERING_COMMANDS, name),
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::parse;

    fn differs(command: &str) -> bool {
        !parse(command).is_portable(command)
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
            "echo \"$(echo \\) =ls)\"",
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
            "[ ! -f a ] || echo 'a!b'",
            "x=1 y=2; echo \"${x:-y}:$x ${x%.rs} $((1 + 2))\" '{}' $?",
            "ls 2>/dev/null | wc -l; ls >/dev/null; ls 2>&1 | head -3",
            "cat <<EOF\nplain text\nEOF",
            "cat <<END_2\nplain text\nEND_2",
            "cat \"${file}\"; echo \"${a}\" \"${#name}\" \"$((1 + 2))\"",
            "cat <<'E' && ls\nIt's\n(`a`\nE",
            "printf '%s %-5s\\n' \"$x\" 3",
            "command -v ls >/dev/null 2>&1; exit 1",
            "echo path status \\{ ~/x a=b",
            "while read -r line; do echo \"$line\"; done < a",
            "git show HEAD~1^:a.rs HEAD^",
            "grep \"a$\" b; grep 'a$' \"b$'\"",
            "git commit -m \"$(cat <<'EOF'\nIt's a \"line\" (of $x).\nEOF\n)\"",
            "cat <<-'EOF' | wc -l\n\tx `y`\n\tEOF\nls",
            "ls&&pwd;ls >/dev/null",
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
