//! `awk` with programs that only print.

use crate::shell::options::{self, Command, PLAIN, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

/// Not `-f`, `-i`, `-l`, `-e`, `-E`, `-W` and the options of gawk that write reports.
const AWK: Command = Command {
    short: "F:v:V",
    long: &[
        "field-separator=",
        "assign=",
        "posix",
        "re-interval",
        "sandbox",
        "version",
        "help",
    ],
    ..PLAIN
};

/// Functions that neither write nor run anything.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "compl", "cos", "exp", "gensub", "gsub", "index", "int",
    "isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift",
    "sin", "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime",
    "tolower", "toupper", "typeof", "xor",
];

/// Words of the language, which may stand before a parenthesis.
const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "break", "continue", "delete", "do", "else", "exit", "for", "if", "in", "next",
    "nextfile", "print", "printf", "return", "while",
];

/// Words that read, write or run things.
const DANGEROUS: &[&str] = &["system", "getline", "close", "fflush", "func", "function"];

/// The options, then the program.
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    // Options end at the program; what follows are files and assignments.
    let arguments = options::read(
        &Command {
            operands: options::Operands::EndOptions,
            ..AWK
        },
        &name.prefix,
        words,
    )?;
    for given in &arguments.options {
        let is_assignment = matches!(given.name, "v" | "assign");
        let variable = match given.value {
            Value::Text(text) | Value::Begins(text) => text.split_once('=').map(|(name, _)| name),
            Value::None => None,
        };
        if is_assignment && !variable.is_some_and(harmless_variable) {
            return Err(Refusal::unknown(
                given.word.span.clone(),
                "an awk variable that may mean something to awk",
            ));
        }
    }
    let rest = words.get(arguments.read..).unwrap_or_default();
    let Some((program, files)) = rest.split_first() else {
        return if arguments.options.is_empty() {
            Err(Refusal::unknown(
                name.span.clone(),
                "`awk` without a program",
            ))
        } else {
            Ok(())
        };
    };
    let Some(text) = program.literal() else {
        return Err(Refusal::unknown(
            program.span.clone(),
            "`awk` with a program that is only known when it runs",
        ));
    };
    if let Err(what) = only_prints(text) {
        return Err(match what {
            Problem::Writes(what) => Refusal::writes(program.span.clone(), what),
            Problem::Unknown(what) => Refusal::unknown(program.span.clone(), what),
        });
    }
    match files.iter().find(|file| !harmless_operand(file)) {
        Some(file) => Err(Refusal::unknown(
            file.span.clone(),
            "an operand that awk may take for something else than a file",
        )),
        None => Ok(()),
    }
}

/// Variables of awk that change how it reads, writes and runs things.
fn harmless_variable(name: &str) -> bool {
    const SPECIAL: &[&str] = &[
        "BINMODE", "PROCINFO", "ENVIRON", "LINT", "SYMTAB", "FUNCTAB", "ARGV", "ARGC",
    ];
    !name.is_empty()
        && !SPECIAL.contains(&name)
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A file, or an assignment; not one of the names that gawk takes for connections.
fn harmless_operand(word: &Word) -> bool {
    if word.prefix.starts_with("/inet") || (word.prefix.is_empty() && word.literal().is_none()) {
        // A value of which nothing is known may be such a name; matches of a pattern exist.
        return word.shape == crate::shell::word::Shape::Matches;
    }
    match word.prefix.split_once('=') {
        Some((variable, _)) if !variable.contains('/') => harmless_variable(variable),
        _ => true,
    }
}

/// What is wrong with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    Writes(String),
    Unknown(String),
}

/// What the last piece of a program was, as far as that tells a division from a regular
/// expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Something that has a value: a slash divides.
    Operand,
    /// Something else: a slash begins a regular expression.
    Operator,
}

/// Looks at every piece of a program.
fn only_prints(program: &str) -> Result<(), Problem> {
    let mut rest = program;
    let mut before = Before::Operator;
    // Whether `print` was seen in this statement, and how deep in parentheses we are since.
    let mut printing = false;
    let mut depth = 0_usize;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match letter {
            ' ' | '\t' => {}
            // After an operator or a comma, a statement goes on in the next line.
            '\n' if before == Before::Operator => {}
            '\n' | ';' | '{' | '}' => {
                before = Before::Operator;
                printing = false;
                depth = 0;
            }
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                length = quoted_length(rest, '"').ok_or_else(unfinished)?;
                before = Before::Operand;
            }
            '/' if before == Before::Operator => {
                length = regex_length(rest).ok_or_else(unfinished)?;
                before = Before::Operand;
            }
            '0'..='9' | '.' => {
                length = number_length(rest);
                before = Before::Operand;
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                length = rest
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                let (word, after) = rest.split_at(length);
                before = accept_word(word, after)?;
                if matches!(word, "print" | "printf") {
                    printing = true;
                    depth = 0;
                }
            }
            '(' | '[' => {
                depth += 1;
                before = Before::Operator;
            }
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                before = Before::Operand;
                if letter == ')' && may_be_regex(rest) {
                    return Err(Problem::Unknown(
                        "a slash in an awk program that divides or begins a pattern".to_owned(),
                    ));
                }
            }
            '>' if printing => {
                // Only inside of parentheses it compares, and some versions see that differently.
                return Err(if depth == 0 {
                    Problem::Writes("this awk program writes a file".to_owned())
                } else {
                    Problem::Unknown("`>` after `print` in an awk program".to_owned())
                });
            }
            '|' if rest.starts_with("||") => {
                length = 2;
                before = Before::Operator;
            }
            '|' => {
                return Err(Problem::Writes(
                    "this awk program starts a command".to_owned(),
                ));
            }
            '@' => {
                return Err(Problem::Unknown(
                    "`@` in an awk program loads code or calls by name".to_owned(),
                ));
            }
            '$' | '+' | '-' | '*' | '/' | '%' | '^' | '!' | '<' | '>' | '=' | '~' | '?' | ':'
            | ',' | '&' => {
                // After `x++` a slash would divide; as an expression it would look unfinished.
                let is_step = rest.starts_with("++") || rest.starts_with("--");
                if is_step {
                    length = 2;
                } else {
                    before = Before::Operator;
                }
            }
            _ => {
                return Err(Problem::Unknown(format!(
                    "`{}` in an awk program",
                    letter.escape_default()
                )));
            }
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(())
}

fn accept_word(word: &str, after: &str) -> Result<Before, Problem> {
    if DANGEROUS.contains(&word) {
        let what = format!("`{word}` in an awk program");
        return Err(if word == "system" {
            Problem::Writes(what)
        } else {
            Problem::Unknown(what)
        });
    }
    if KEYWORDS.contains(&word) {
        return Ok(Before::Operator);
    }
    let is_call = after.starts_with('(');
    if is_call && !FUNCTIONS.contains(&word) {
        return Err(Problem::Unknown(format!(
            "the function `{word}` in an awk program"
        )));
    }
    if matches!(word, "SYMTAB" | "FUNCTAB" | "PROCINFO") {
        return Err(Problem::Unknown(format!("`{word}` in an awk program")));
    }
    Ok(Before::Operand)
}

fn unfinished() -> Problem {
    Problem::Unknown("a string or pattern in an awk program that does not end".to_owned())
}

/// The length of a quoted text, quotes included.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((index, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next()?;
            }
            '\n' => return None,
            _ if letter == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// Whether a slash after this parenthesis could begin a regular expression: in `if (x) /y/` it
/// does, in `(x) / y` it divides.
fn may_be_regex(text: &str) -> bool {
    let line = text
        .get(1..)
        .unwrap_or_default()
        .split('\n')
        .next()
        .unwrap_or_default();
    line.trim_start()
        .strip_prefix('/')
        .is_some_and(|rest| rest.contains('/'))
}

/// The length of a regular expression, slashes included. Versions differ about a slash in a set
/// of characters; a set must not hold one.
fn regex_length(text: &str) -> Option<usize> {
    let mut in_set = false;
    let mut index = 1;
    loop {
        let rest = text.get(index..)?;
        let letter = rest.chars().next()?;
        index += letter.len_utf8();
        match letter {
            '\n' => return None,
            '\\' => index += text.get(index..)?.chars().next()?.len_utf8(),
            '[' if in_set && rest.starts_with("[:") => index += rest.find(":]")? + 1,
            '[' if in_set => {}
            // A bracket in front belongs to the set.
            '[' if rest.starts_with("[]") || rest.starts_with("[^]") => return None,
            '[' => in_set = true,
            ']' => in_set = false,
            '/' if in_set => return None,
            '/' => return Some(index),
            _ => {}
        }
    }
}

fn number_length(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_programs() {
        for program in [
            "{print $1}",
            "NR==1",
            "$1 > 5 {print $1}",
            "NR>=2 && NR<=4",
            "/foo/{c++} END{print c}",
            "{print length($0)}",
            "{ print*2 }",
            "BEGIN { print \"user@example.com\" }",
            "{ printf \"%s\\n\", $2 }",
            "BEGIN{FS=\":\"} {print $1}",
            "$0 ~ /a|b/",
            "{ x = a / b; print x / 2 }",
            "{ if ($3 > 10) print $1 }",
            "!seen[$0]++",
            "{ s += $1 } END { print s/NR }",
            "{ for (i = 1; i <= NF; i++) print $i }",
            "/a > b/ {print}",
            "{print substr($0, 2, 3)} # > x",
            "$NF ~ /x$/ || $1 == \"|\"",
            "BEGIN { print /x; y > \"out\";/ }",
            "{ gsub(/[a-z]/, \"\"); print }",
        ] {
            assert_eq!(only_prints(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn programs_that_do_more() {
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
            "{ print $1 ? 2 : 3 > \"o\" }",
            "{ print $1 /b/ 2 > \"o\" }",
            "{ print a,\n b > \"o\" }",
            "{ if (x) /a\"b/; print \"o\" > \"c\" }",
            "{ x = /[/]/ ; print > \"o\" }",
            "{print\\\n> \"o\"}",
            "{fflush()}",
            "BEGIN{PROCINFO[\"x\"]=1}",
        ] {
            assert!(only_prints(program).is_err(), "{program}");
        }
    }
}
