//! `sed` scripts of a few commands that only print, delete or replace.

use regex_lite::Regex;

use crate::shell::verdict::is_one_of;
use crate::shell::word::{Arguments, Value};

/// Whether all scripts only print: the values of `-e`, or else the first operand.
pub(super) fn only_reads(_: &str, arguments: &Arguments<'_>) -> bool {
    if !arguments.has_any_option(&["e", "expression"]) {
        let script = arguments.operands.first().and_then(|word| word.literal());
        return script.is_some_and(only_prints);
    }
    let options = arguments.options.iter();
    let mut scripts = options.filter(|option| is_one_of("e expression", option.name));
    scripts.all(|option| matches!(option.value, Value::Text(script) if only_prints(script)))
}

/// A regular expression for a pattern or a replacement up to its delimiter, for which `@@` stands, as all versions of
/// sed read it: a set contains no brackets, and a backslash precedes punctuation, a digit or a letter with a known
/// meaning.
const DELIMITED_TEXT: &str =
    r"(?:[^\\\[\n@@]|\\[!-/:-@\[-`{-~0-9nstwWbBdDSULEul]|\[\^?[^\]^\[\\\n@@][^\[\\\n@@\]]*\])*@@";

/// Whether every command of a script only prints, deletes or replaces.
fn only_prints(script: &str) -> bool {
    let possible = "/|,#:@%!".chars();
    let delimiters = possible.filter(|delimiter| script.contains(&format!("s{delimiter}")));
    let replacing = delimiters.map(|delimiter| {
        let delimiter = format!(r"\x{:02x}", u32::from(delimiter));
        let text = DELIMITED_TEXT.replace("@@", &delimiter);
        format!("|s{delimiter}{text}{text}[0-9gpIi]*")
    });
    let command = format!("(?:[pPdDnNgGhHx=qQ]{})", replacing.collect::<String>());
    let address = format!(r"(?:\$|[0-9]+|/{}I?)", DELIMITED_TEXT.replace("@@", "/"));
    let line = format!(r"(?:{address}(?:,[+~]*{address})?)?[ !]*{command} *(?:[;\n]|\z)");
    let all = Regex::new(&format!(r"\A(?:[ \t\n;]*{line})*[ \t\n;]*\z"));
    all.is_ok_and(|all| all.is_match(script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_scripts_are_accepted() {
        for script in [
            "p",
            "5p",
            "1,5p",
            "$=",
            "$!d",
            "/a/,/b/p",
            "/a/I,+3p",
            "0,/x/d",
            "s/a/b/",
            "s/a/b/g2pI",
            "s|a/b|c|",
            "s/a\\/b/c/g",
            "s/[a-z]*/x/",
            "s/w/e/",
            "s/\\(a\\)b*/\\1\\n/",
            "n;d",
            "$!N;P;D",
            "s/a/b/;s/c/d/",
            "s/x/y/ ; p",
            "",
            "1!G;h;$!d",
        ] {
            assert!(only_prints(script), "{script}");
        }
    }

    #[test]
    fn scripts_that_do_more_are_refused() {
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
            "s/a/b/me",
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
            "\\wfoowwPWNED",
            "i\\",
            "s/a/b\\\n/w x",
            "p}",
            "{p",
            "1{p;q}",
            "s/\\c//;w x/",
            "swawbww x",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }
}
