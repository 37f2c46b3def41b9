//! The command lines that bash, zsh and dash read alike.
//!
//! The analysis parses a command line as bash does. In another shell, the same text can run
//! something else: `path=bin; ls` in zsh, `echo $'\'; rm x #'` in dash.

use super::commands::conversions;
use super::common_tokens::{has_common_tokens, is_zsh_parameter};
use super::expansion::identifier_length;
use super::parts::CommandPart;
use super::verdict::is_one_of;

/// Commands that are keywords or builtins in only some of the shells or differ in their options.
const DIFFERENT: &str = "[[ builtin noglob time set hash dirs jobs ulimit";

/// Builtins whose operands zsh evaluates as arithmetic.
const NUMERIC: &str = "break continue exit return shift";

/// Whether bash, zsh and dash read a command line alike, given its commands according to bash.
pub fn is_read_alike(command: &str, parts: &[CommandPart]) -> bool {
    has_common_tokens(command) && !parts.iter().any(differs)
}

/// Whether a command is another one in some shell, or evaluates its arguments in another way.
fn differs(part: &CommandPart) -> bool {
    part.levels().iter().any(|level| {
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
                let is_text = |conversion| "sbc%".contains(conversion);
                let is_numeric = |conversion| "diouxXeEfFgGaA".contains(conversion);
                format.starts_with('-')
                    || !conversions(format).all(|letter| is_text(letter) || is_numeric(letter))
                    || ((format.contains('*') || conversions(format).any(is_numeric))
                        && !values.all(is_number))
            }
            _ if is_one_of(NUMERIC, name) => !values.all(is_number),
            _ => is_one_of(DIFFERENT, name),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::analyse;

    fn differs(command: &str) -> bool {
        let line = analyse(command).line;
        let parts = line.all_commands();
        !has_common_tokens(command) || parts.is_none_or(|parts| !is_read_alike(command, parts))
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
            "git show HEAD~1^:a.rs stash@{0} HEAD@{upstream}",
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
            let _ = has_common_tokens(&text);
        }
    }
}
