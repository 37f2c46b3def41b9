//! `awk` with programs that select and print fields: every token is known and unambiguous.

use crate::shell::expansion::identifier_length;
use crate::shell::options::arguments;
use crate::shell::verdict::{Refusal, is_one_of};
use crate::shell::word::{PartWord, WordShape};

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

/// Whether the options, the program, and the files and assignments after it only print.
pub(super) fn only_reads(words: &[PartWord]) -> Result<bool, Refusal> {
    let arguments = arguments("awk", words)?;
    let mut options = arguments.options.iter();
    let is_harmless = options.all(|given| {
        let variable = given.text().and_then(|text| text.split_once('='));
        given.name != "v" || variable.is_some_and(|(name, _)| is_harmless_variable(name))
    });
    let Some([program, files @ ..]) = words.get(arguments.read..) else {
        return Ok(false);
    };
    Ok(is_harmless
        && program.literal().is_some_and(only_prints)
        && files.iter().all(is_harmless_operand))
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

/// Whether every token of a program is known, and read alike by all versions of awk.
fn only_prints(program: &str) -> bool {
    let mut rest = program.trim_start();
    // The sign before. A slash starts a pattern only where nothing can be divided.
    let mut previous = ';';
    let mut is_printing = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if ";}(,!~&|".contains(previous) => pattern_length(rest),
            '>' if is_printing => None,
            _ if first.is_ascii_alphanumeric() => word_length(rest),
            _ if rest.starts_with("||") => Some(2),
            _ => "$+-*%^!<>=~?:,;()[]{}&\n".contains(first).then_some(1),
        };
        let Some((token, after)) = length.and_then(|length| rest.split_at_checked(length)) else {
            return false;
        };
        previous = if first == '\n' { ';' } else { first };
        is_printing = (is_printing || token.starts_with("print")) && !";}".contains(token);
        rest = after.trim_start_matches([' ', '\t']);
    }
    true
}

/// Returns the length of a number, or of a known word. `length` is the only function.
fn word_length(text: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
    let (word, follows) = text.split_at(text.find(|letter| !is_part(letter)).unwrap_or(text.len()));
    let is_called = follows.trim_start().starts_with('(');
    let is_known = match word {
        "length" => follows.starts_with('(') || !is_called,
        _ if word.starts_with(|first: char| first.is_ascii_digit()) => {
            word.matches('.').count() < 2
                && !word.contains(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        }
        _ => is_one_of(KEYWORDS, word) || (!is_called && is_harmless_variable(word)),
    };
    is_known.then_some(word.len())
}

/// Returns the length of a text in quotes without other escapes than those of line feeds and tabs.
fn string_length(text: &str) -> Option<usize> {
    let inside = text.get(1..)?.split('"').next()?;
    let mut escapes = inside.split('\\').skip(1);
    let is_plain = escapes.all(|after| after.starts_with(['n', 't'])) && !inside.contains('\n');
    is_plain.then_some(inside.len() + 2)
}

/// Returns the length of a pattern without signs that versions read in different ways.
fn pattern_length(text: &str) -> Option<usize> {
    let inside = text.get(1..)?.split('/').next()?;
    (!inside.contains(['[', '\\', '\n', '"'])).then_some(inside.len() + 2)
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
