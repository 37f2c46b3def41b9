//! `awk` with programs that select and print fields: every token is known and unambiguous.

use super::sed::delimited_length;
use crate::shell::call::CheckedCommand;
use crate::shell::expansion::identifier_length;
use crate::shell::options::arguments;
use crate::shell::verdict::{Checked, is_one_of};
use crate::shell::word::{Arguments, PartWord, Value, WordShape};

/// Keywords before an expression or a statement.
const KEYWORDS: &str = "BEGIN END else if in next print printf";

/// Variables of awk that only change how lines are split and joined.
const VARIABLES: &str = "FILENAME FNR FS NF NR OFS ORS RS";

/// Lower-case names that are functions or keywords in some version of awk.
const RESERVED: &str = "and asort asorti atan2 bindtextdomain break case close compl continue cos \
                        dcgettext dcngettext default delete do eval exit exp extension fflush for \
                        func function gensub getline gsub include index int isarray length load log \
                        lshift match mkbool mktime namespace nextfile or patsplit rand return rshift \
                        sin split sprintf sqrt srand strftime strtonum sub substr switch system \
                        systime tolower toupper typeof while xor";

/// Checks the options, the program, and the files and assignments after it.
pub(super) fn check(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let arguments = arguments("awk", words)?;
    for given in &arguments.options {
        let variable = match given.value {
            Value::Text(text) | Value::Begins(text) => text.split_once('=').map(|(name, _)| name),
            Value::None => None,
        };
        if matches!(given.name, "v" | "assign") && !variable.is_some_and(is_harmless_variable) {
            return Err(given
                .word
                .refusal("a variable that may have a special meaning in awk"));
        }
    }
    let rest = words.get(arguments.read..).unwrap_or_default();
    let Some((program, files)) = rest.split_first() else {
        if arguments.has_one_of(&["V", "help", "version"]) {
            return Ok(());
        }
        return Err(name.refusal("`awk` without a program"));
    };
    if !program
        .literal()
        .is_some_and(|text| is_simple_awk(&arguments, text))
    {
        call.effects.read_language("awk");
    }
    let writes = |text: &str| {
        let signs = ["system(", "print >", "print |", "print>"];
        signs.iter().any(|sign| text.contains(sign))
    };
    match program.literal() {
        None => return Err(program.refusal("`awk` with a program known only at run time")),
        Some(text) if only_prints(text) => {}
        Some(text) if writes(text) => {
            return Err(program.writes("this awk program writes or runs something"));
        }
        Some(_) => return Err(program.refusal("an awk program that cannot be analysed")),
    }
    match files.iter().find(|file| !is_harmless_operand(file)) {
        Some(file) => Err(file.refusal("an operand that awk may not treat as a file")),
        None => Ok(()),
    }
}

fn is_harmless_variable(name: &str) -> bool {
    is_one_of(VARIABLES, name)
        || (name.starts_with(|first: char| first.is_ascii_lowercase())
            && identifier_length(name) == name.len()
            && !name.contains(|letter: char| letter.is_ascii_uppercase())
            && !is_one_of(RESERVED, name))
}

/// Whether an operand is a file or an assignment, and not a connection name of gawk.
fn is_harmless_operand(word: &PartWord) -> bool {
    if word.prefix().starts_with("/inet") {
        return false;
    }
    if word.prefix().is_empty() && word.literal().is_none() {
        // An unknown value may be such a name. A word that starts with a pattern cannot: it matches
        // files or is literal.
        return word.shape() == WordShape::Matches;
    }
    let may_become_connection = word.literal().is_none() && "/inet".starts_with(word.prefix());
    match word.prefix().split_once('=') {
        Some((variable, _)) if !variable.contains('/') => is_harmless_variable(variable),
        _ => !may_become_connection,
    }
}

/// Reads a program token by token.
fn only_prints(program: &str) -> bool {
    let mut rest = program;
    // Whether a slash starts a regular expression in every awk. Nothing is divided.
    let mut may_match = true;
    let mut is_printing = false;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            ' ' | '\t' => {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            '"' => string_length(rest),
            '0'..='9' => number_length(rest),
            '/' if may_match => {
                let pattern = rest.get(1..).unwrap_or_default();
                delimited_length(pattern, '/').map(|length| 1 + length)
            }
            '>' if is_printing => None,
            'a'..='z' | 'A'..='Z' => word_length(rest),
            _ => operator_length(rest),
        };
        let Some(length) = length else {
            return false;
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or_default();
        may_match = is_one_of("; } ( , ! ~ && ||", token) || token == "\n";
        is_printing = (is_printing || token.starts_with("print")) && !is_one_of("; }", token);
        rest = after;
    }
    true
}

/// Returns the length of a known word. `length` is the only function.
fn word_length(text: &str) -> Option<usize> {
    let length = identifier_length(text);
    let (word, follows) = text.split_at_checked(length)?;
    let is_called = follows.trim_start().starts_with('(');
    let is_known = match word {
        "length" => follows.starts_with('(') || !is_called,
        _ => is_one_of(KEYWORDS, word) || (!is_called && is_harmless_variable(word)),
    };
    is_known.then_some(length)
}

/// Returns the length of a number that is a separate token.
fn number_length(text: &str) -> Option<usize> {
    let length = text
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let follows = text.get(length..).unwrap_or_default();
    let is_alone = !follows.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    (is_alone && text.get(..length)?.matches('.').count() < 2).then_some(length)
}

/// Returns the length of a text in quotes with common escapes.
fn string_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    loop {
        match letters.next()? {
            (index, '"') => return Some(index + 1),
            (_, '\\') => {
                letters
                    .next()
                    .filter(|(_, escaped)| "nt\"\\".contains(*escaped))?;
            }
            (_, '\n') => return None,
            _ => {}
        }
    }
}

/// Returns the length of an operator or bracket. Not `|`, `>>`, `@`, `#` and backslashes.
fn operator_length(text: &str) -> Option<usize> {
    const TWO: &str = "&& || == != <= >= += -= *= %= ^= ++ --";
    const ONE: &str = "$+-*%^!<>=~?:,;()[]{}\n";
    if text.get(..2).is_some_and(|two| is_one_of(TWO, two)) {
        return Some(2);
    }
    let is_known = text.starts_with(|first| ONE.contains(first)) && !text.starts_with(">>");
    is_known.then_some(1)
}

/// Whether an accepted `awk` program has no escapes and at most one pattern, at its start, so that all
/// versions split it into the same tokens, and no sign of output to files and commands.
fn is_simple_awk(arguments: &Arguments<'_>, program: &str) -> bool {
    let mut rest = program.trim_start();
    if let Some(pattern) = rest.strip_prefix('/') {
        let Some((pattern, after)) = pattern.split_once('/') else {
            return false;
        };
        if pattern.contains(['[', '\\', '\n']) {
            return false;
        }
        rest = after;
    }
    let mut printed = rest.split("print");
    printed.next();
    arguments.options.iter().all(|given| given.name == "F")
        && !rest.contains(['/', '\\'])
        && printed.all(|text| !text.contains(['>', '|']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_programs_are_accepted() {
        for program in [
            "{print $1}",
            "NR==1",
            "$1 > 5 {print $1}",
            "NR>=2 && NR<=4",
            "/foo/{c++} END{print c}",
            "{print length($0)}",
            "length > 10",
            "{ print*2 }",
            "BEGIN { print \"user@example.com\" }",
            "{ printf \"%s\\n\", $2 }",
            "BEGIN{FS=\":\"} {print $1}",
            "$0 ~ /a|b/",
            "{ if ($3 > 10) print $1 }",
            "!seen[$0]++",
            "/a > b/ {print}",
            "$NF ~ /x$/ || $1 == \"|\"",
            "NR==FNR{a[$1];next} $1 in a",
        ] {
            assert!(only_prints(program), "{program}");
        }
    }

    #[test]
    fn programs_that_do_more_are_refused() {
        for program in [
            "{print > \"out\"}",
            "{print >> \"out\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "BEGIN{system(\"id\")}",
            "BEGIN { system (\"id\") }",
            "BEGIN{while((\"id\" | getline x) > 0);}",
            "BEGIN{getline x < \"f\"}",
            "BEGIN{close(\"f\")}",
            "@load \"x\"",
            "BEGIN{f=\"system\"; @f(\"id\")}",
            "BEGIN { print(1 > \"0\") }",
            "BEGIN { print (x) > \"out\" }",
            "BEGIN { print x / 2 > \"out\" }",
            "function f() { }",
            "BEGIN { print x++ / 2 > \"o\" }",
            "{ print a[x] > \"out\" }",
            "{ print \"unfinished }",
            "BEGIN { g(1) }",
            "BEGIN { g (1) }",
            "{ print $1 ? 2 : 3 > \"o\" }",
            "{ print $1 /b/ 2 > \"o\" }",
            "{ print a,\n b > \"o\" }",
            "{ print a\n b > \"o\" }",
            "{ if (x) /a\"b/; print \"o\" > \"c\" }",
            "{ x = /[/]/ ; print > \"o\" }",
            "{print\\\n> \"o\"}",
            "{fflush()}",
            "BEGIN{PROCINFO[\"x\"]=1}",
            "BEGIN{ARGV[1]=\"/inet4/tcp/0/127.0.0.1/9\";ARGC=2}",
            "BEGIN{print 1system(\"id\")}",
            "{print 1.2.3}",
            "BEGIN{print 1e3system(\"id\")}",
            "BEGIN{print 0x1system(\"id\")}",
            "{ print length /\"/ > \"out\" #\" \n}",
            "{ print x++ /\"/ > \"out\" #\" \n}",
            "{ print $1 # > \"x\n}",
            "{ print $1 / 2 }",
            "{ gsub(/[a-z]/, \"\"); print }",
            "{ for (i = 1; i <= NF; i++) print $i }",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }
}
