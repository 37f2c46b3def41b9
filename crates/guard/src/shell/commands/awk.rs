//! `awk` programs that only select and print fields.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::shell::word::{Arguments, PartWord, WordShape};

/// Programs of fields, numbers, texts, patterns, a few variables and operators, which all versions of awk read alike. A
/// slash starts a pattern only where a division is not possible, and `>` does not follow `print`, where it writes to a
/// file. Parentheses are limited to `length($1)`, since versions read others in different ways.
static PRINTING_PROGRAM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"/[^/\[\\\n"]*/"#;
    let token = format!(
        r#""(?:[^"\\\n]|\\[nt])*" | \b[0-9]+(?:\.[0-9]+)?\b | \b(?:BEGIN|END|else|in|next|length)\b | \blength\(\$[0-9]\)
        | \b(?:FILENAME|FNR|FS|NF|NR|OFS|ORS|RS|[a-z][0-9]?|count|key|line|max|min|name|seen|sum|total|value)\b
        | [$+*%^!<=~?:,\[\]{{&\s-] | [,!~&]\s*{pattern} | \|\|(?:\s*{pattern})?"#
    );
    let all = format!(
        r"(?x)\A(?:\s*{pattern})?(?:{token} | [;>] | [;}}\n]\s*{pattern} | \}} | \bprintf?\b(?:{token})*(?:[;}}]|\z))*\z"
    );
    Regex::new(&all).ok()
});

/// Whether the program only prints and its operands are files.
pub(super) fn only_reads(_: &str, arguments: &Arguments<'_>) -> bool {
    let Some((program, files)) = arguments.rest().split_first() else {
        return false;
    };
    program.literal().is_some_and(only_prints) && files.iter().all(is_input_file)
}

fn only_prints(program: &str) -> bool {
    let regex = PRINTING_PROGRAM.as_ref();
    regex.is_some_and(|regex| regex.is_match(program))
}

/// Whether an operand is a file, not an assignment or the name of a connection of gawk.
fn is_input_file(word: &PartWord) -> bool {
    let prefix = word.prefix();
    // The expansion of a glob is the name of an existing file or the text as written.
    let may_connect = prefix.starts_with("/inet")
        || word.literal().is_none()
            && "/inet".starts_with(prefix)
            && word.shape != WordShape::Matches;
    !prefix.contains('=') && !may_connect
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
            "length > 10",
            "{print length($0)}",
            "{ print*2 }",
            "BEGIN { print \"user@example.com\" }",
            "{ printf \"%s\\n\", $2 }",
            "BEGIN{FS=\":\"} {print $1}",
            "$0 ~ /a|b/",
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
            "{ if ($3 > 10) print $1 }",
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
            "{ print $1 ? 2 : 3 > \"o\" }",
            "{ print $1 /b/ 2 > \"o\" }",
            "{ print a,\n b > \"o\" }",
            "{ print a\n b > \"o\" }",
            "{ if (x) /a\"b/; print \"o\" > \"c\" }",
            "{ x = /[/]/ ; print > \"o\" }",
            "{print\\\n> \"o\"}",
            "{fflush()}",
            "{print 1.2.3}",
            "BEGIN { g(1) }",
            "BEGIN { g (1) }",
            "BEGIN{PROCINFO[\"x\"]=1}",
            "BEGIN{ARGV[1]=\"/inet4/tcp/0/127.0.0.1/9\";ARGC=2}",
            "BEGIN{print 1system(\"id\")}",
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
