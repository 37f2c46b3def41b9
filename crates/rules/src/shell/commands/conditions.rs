//! `test`, `[`, `[[` and `find`: conditions that evaluate nothing, and the actions of `find` that only print.

use std::ops::Range;

use tree_sitter::Node;

use crate::shell::call::CheckedCommand;
use crate::shell::lexer::{Expansions, Lexer, LineBreaks, Substitution};
use crate::shell::verdict::{Checked, Refusal, excerpt, is_one_of};
use crate::shell::word::{Word, WordPiece, WordShape};

/// Operators with one operand. Not `-v` and `-R`, which evaluate the name of a variable.
const UNARY: &str = "-b -c -d -e -f -g -G -h -k -L -n -N -O -p -r -s -S -t -u -w -x -z";

/// Operators that compare two operands literally.
const BINARY: &str = "= == != < > -ef -nt -ot";

/// Operators between numbers. `[[` would evaluate the operands.
const NUMERIC: &str = "-eq -ne -lt -le -gt -ge";

/// `[ … ]`
pub(super) fn bracket(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => test(call, name, condition),
        _ => Err(name.unknown("an unclosed `[`")),
    }
}

/// `test …`: one condition, whose operator is written out.
pub(super) fn test(_: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let is_operator = |word: &Word, operators| {
        let literal = word.literal();
        literal.is_some_and(|text| is_one_of(operators, text))
    };
    let condition = match words {
        // With three words, an operator in the middle has precedence.
        [_, operator, _] if is_operator(operator, BINARY) || is_operator(operator, NUMERIC) => {
            words
        }
        [first, rest @ ..] if !rest.is_empty() && first.literal() == Some("!") => rest,
        _ => words,
    };
    let accepted = words.iter().all(Word::is_one_argument)
        && match condition {
            [] | [_] => true,
            [operator, _] => is_operator(operator, UNARY),
            [_, operator, _] => is_operator(operator, BINARY) || is_operator(operator, NUMERIC),
            _ => false,
        };
    if accepted {
        return Ok(());
    }
    Err(name.unknown(format!(
        "`{}` with a condition that may evaluate something",
        name.prefix
    )))
}

/// Reads the `[[ … ]]` in a range: conditions joined by `&&` and `||`, without parentheses. Returns the
/// substitutions in it.
pub(in crate::shell) fn double_bracket<'tree>(
    text: &str,
    range: Range<usize>,
    substitutions: &[Substitution<'tree>],
) -> Result<Vec<Node<'tree>>, Refusal> {
    let mut lexer = Lexer::new(text, range.clone(), substitutions);
    // The source text of each word of the current condition; quoted operators are operands.
    let mut condition: Vec<&str> = Vec::new();
    let refuse = || Refusal::unknown(range.clone(), "`[[` with a condition that is not plain");
    lexer.skip(2);
    loop {
        lexer.skip_blanks(LineBreaks::AreBlanks);
        let rest = lexer.rest();
        let is_joint = rest.starts_with("&&") || rest.starts_with("||");
        if is_joint || rest == "]]" {
            if !is_plain(&condition) {
                return Err(refuse());
            }
            if !is_joint {
                lexer.skip(2);
                return Ok(lexer.found);
            }
            condition.clear();
            lexer.skip(2);
        } else if condition.len() == 1 && rest.starts_with(['<', '>']) && !rest.starts_with("<(") {
            condition.push(rest.get(..1).unwrap_or_default());
            lexer.skip(1);
        } else {
            let length = lexer.word(Expansions::Unsplit)?.span.len();
            condition.push(rest.get(..length).unwrap_or_default());
        }
    }
}

/// Reads the words of any `[[ … ]]` in a range, without the operators between them.
pub(in crate::shell) fn double_bracket_words(
    lexer: &mut Lexer<'_, '_>,
) -> Result<Vec<Word>, Refusal> {
    let mut words: Vec<Word> = Vec::new();
    while !lexer.rest().is_empty() {
        lexer.skip_blanks(LineBreaks::AreBlanks);
        let rest = lexer.rest();
        let is_operator = rest.starts_with(['<', '>', '(', ')', '|'])
            && !rest.starts_with("<(")
            && !rest.starts_with(">(");
        if is_operator {
            lexer.skip(1);
        } else if rest.starts_with("&&") {
            lexer.skip(2);
        } else {
            let word = lexer.word(Expansions::Unsplit)?;
            if rest.starts_with("]]") && word.span.len() == 2 && !lexer.rest().is_empty() {
                return Err(Refusal::unknown(word.span, "an unfinished `[[`"));
            }
            words.push(word);
        }
    }
    Ok(words)
}

fn is_plain(condition: &[&str]) -> bool {
    match condition {
        ["!", rest @ ..] if !rest.is_empty() => is_plain(rest),
        // A single word is not compared.
        [word] => !word.starts_with(['-', '!']),
        [operator, _] => is_one_of(UNARY, operator),
        [_, operator, _] => is_one_of(BINARY, operator) || *operator == "=~",
        _ => false,
    }
}

/// Primaries without an argument.
const ALONE: &str = "\
    ! ( ) , -a -and -o -or -not -daystart -depth -d -follow -help --help \
    -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -nowarn -warn -version \
    --version -empty -executable -false -true -nogroup -nouser -readable -writable -print \
    -print0 -ls -prune -quit -H -L -P -E -X -x -s";

/// Primaries with one argument.
const WITH_ARGUMENT: &str = "\
    -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid \
    -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name \
    -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype \
    -context -printf -files0-from -D";

/// Primaries of `find` that some versions read in another way, that follow links, or that read a file of names.
const UNCLEAR_PRIMARIES: &str = "\
    -depth -d -follow -L -D -E -X -x -s -f -P -H -help --help -version --version -daystart -noleaf -nowarn -warn \
    -ignore_readdir_race -noignore_readdir_race -nogroup -nouser -files0-from -context -fstype -used , ";

/// Checks `find`. Actions that delete or write are not listed; a program that it starts must only read.
pub(super) fn find(call: &mut CheckedCommand<'_>, name: &Word, words: &[Word]) -> Checked {
    let (words, started) = without_started(words)?;
    for inner in started {
        call.check_inner(name, &inner)?;
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix.starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.unknown("`find`: its expansion could be an action"));
        };
        let is_newer = is_newer(text);
        let mut is_clear = !is_newer && !is_level(text) && !is_one_of(UNCLEAR_PRIMARIES, text);
        if is_newer || is_one_of(WITH_ARGUMENT, text) {
            // A single argument of any value; one that looks like an action is probably a mistake.
            match words.next() {
                Some(argument)
                    if argument.is_one_argument()
                        && (text == "-perm"
                            || !argument.prefix.strip_prefix('-').is_some_and(|rest| {
                                rest.starts_with(|first: char| first.is_ascii_alphabetic())
                            })) =>
                {
                    is_clear &= argument.literal().is_some();
                }
                Some(argument) => {
                    return Err(argument.unknown(format!(
                        "`find {text}` with an argument that could be an action"
                    )));
                }
                None => {
                    return Err(word.unknown(format!("`find {text}` without its argument")));
                }
            }
        } else if text.starts_with('-') && !is_level(text) && !is_one_of(ALONE, text) {
            return Err(refused(word, text));
        }
        if !is_clear {
            call.effects.read_language("find");
        }
    }
    Ok(())
}

/// Splits the words of `find` into the commands of `-exec`, with paths for `{}`, and the rest.
fn without_started(words: &[Word]) -> Result<(Vec<Word>, Vec<Vec<Word>>), Refusal> {
    let is = |word: &Word, text: &str| word.literal() == Some(text);
    let mut segments = words.split(|word| is(word, "-exec"));
    let mut rest = segments.next().unwrap_or_default().to_vec();
    let mut started = Vec::new();
    // Paths start like the operands: they must not be options, nor names of files with options.
    let is_path = |word: &Word| {
        word.prefix
            .starts_with(|first: char| first.is_ascii_alphanumeric() || "./_".contains(first))
    };
    let may_start = rest
        .iter()
        .skip_while(|word| {
            word.literal()
                .is_some_and(|text| is_one_of("-H -L -P", text))
        })
        .take_while(|word| {
            !word
                .literal()
                .is_some_and(|text| text.starts_with(['-', '(', '!']))
        })
        .all(is_path);
    for segment in segments {
        let ends = |at: &usize| {
            let is_list = *at > 0 && is(&segment[*at - 1], "{}");
            is(&segment[*at], ";") || is_list && is(&segment[*at], "+")
        };
        let end = (0..segment.len()).find(ends).unwrap_or_default();
        let (inner, after) = segment.split_at(end);
        let is_clear = |word: &Word| {
            word.literal()
                .is_some_and(|text| text == "{}" || !text.contains("{}"))
        };
        if !may_start || inner.is_empty() || !inner.iter().all(is_clear) {
            let span = segment.first().map_or(0..0, |word| word.span.clone());
            return Err(Refusal::unknown(
                span,
                "`find -exec` in a form not known to be read-only",
            ));
        }
        let shape = if is(&after[0], "+") {
            WordShape::Matches
        } else {
            WordShape::Single
        };
        let path = |word: &Word| Word {
            prefix: "./".to_owned(),
            shape,
            pieces: vec![WordPiece::Unknown],
            ..word.clone()
        };
        let with_path = |word: &Word| {
            if is(word, "{}") {
                path(word)
            } else {
                word.clone()
            }
        };
        started.push(inner.iter().map(with_path).collect());
        rest.extend_from_slice(&after[1..]);
    }
    Ok((rest, started))
}

/// Whether a test is `-newerXY` with times that find supports.
fn is_newer(text: &str) -> bool {
    text.strip_prefix("-newer").is_some_and(|times| {
        let mut letters = times.chars();
        matches!(letters.next(), Some('a' | 'B' | 'c' | 'm'))
            && matches!(letters.next(), Some('a' | 'B' | 'c' | 'm' | 't'))
            && letters.next().is_none()
    })
}

/// Whether an option is an optimisation level such as `-O1`.
fn is_level(text: &str) -> bool {
    text.strip_prefix("-O")
        .is_some_and(|level| level.len() == 1 && level.bytes().all(|byte| byte.is_ascii_digit()))
}

fn refused(word: &Word, text: &str) -> Refusal {
    match text {
        "-delete" => word.writes("`find -delete` removes files"),
        "-execdir" | "-ok" | "-okdir" => word.writes(format!("`find {text}` starts a program")),
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
            word.writes(format!("`find {text}` writes a file"))
        }
        _ => word.unknown(format!(
            "`find`: `{}` is not in the accepted set",
            excerpt(text)
        )),
    }
}
