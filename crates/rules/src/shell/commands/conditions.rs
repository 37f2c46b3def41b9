//! `test`, `[`, `[[` and `find`: conditions that evaluate nothing, and the actions of `find` that only print.

use crate::shell::call::CheckedCommand;
use crate::shell::verdict::{Checked, Refusal, excerpt, is_one_of};
use crate::shell::word::{PartWord, WordShape};

/// Operators with one operand. Not `-v` and `-R`, which evaluate the name of a variable.
const UNARY: &str = "-b -c -d -e -f -g -G -h -k -L -n -N -O -p -r -s -S -t -u -w -x -z";

/// Operators that compare two operands literally.
const BINARY: &str = "= == != < > -ef -nt -ot";

/// Operators between numbers. `[[` would evaluate the operands.
const NUMERIC: &str = "-eq -ne -lt -le -gt -ge";

/// `[ … ]`
pub(super) fn bracket(
    call: &mut CheckedCommand<'_>,
    name: &PartWord,
    words: &[PartWord],
) -> Checked {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => test(call, name, condition),
        _ => Err(name.refusal("an unclosed `[`")),
    }
}

/// `test …`: one condition, whose operator is written out.
pub(super) fn test(_: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let is_operator = |word: &PartWord, operators| {
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
    let accepted = words.iter().all(PartWord::is_one_argument)
        && match condition {
            [] | [_] => true,
            [operator, _] => is_operator(operator, UNARY),
            [_, operator, _] => is_operator(operator, BINARY) || is_operator(operator, NUMERIC),
            _ => false,
        };
    if accepted {
        return Ok(());
    }
    Err(name.refusal(format!(
        "`{}` with a condition that may evaluate something",
        name.prefix()
    )))
}

/// Whether a condition in `[[`, given the source text of its words, evaluates nothing.
pub(in crate::shell) fn is_plain_condition(condition: &[&str]) -> bool {
    match condition {
        ["!", rest @ ..] if !rest.is_empty() => is_plain_condition(rest),
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
pub(super) fn find(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let (words, started) = without_started(words)?;
    for inner in started {
        call.check_inner(name, &inner)?;
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix().starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.refusal("`find`: its expansion could be an action"));
        };
        let is_newer = is_newer(text);
        let mut is_clear = !is_newer && !is_level(text) && !is_one_of(UNCLEAR_PRIMARIES, text);
        if is_newer || is_one_of(WITH_ARGUMENT, text) {
            // A single argument of any value; one that looks like an action is probably a mistake.
            match words.next() {
                Some(argument)
                    if argument.is_one_argument()
                        && (text == "-perm"
                            || !argument.prefix().strip_prefix('-').is_some_and(|rest| {
                                rest.starts_with(|first: char| first.is_ascii_alphabetic())
                            })) =>
                {
                    is_clear &= argument.literal().is_some();
                }
                Some(argument) => {
                    return Err(argument.refusal(format!(
                        "`find {text}` with an argument that could be an action"
                    )));
                }
                None => {
                    return Err(word.refusal(format!("`find {text}` without its argument")));
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
fn without_started(words: &[PartWord]) -> Result<(Vec<PartWord>, Vec<Vec<PartWord>>), Refusal> {
    let is = |word: &PartWord, text: &str| word.literal() == Some(text);
    let mut segments = words.split(|word| is(word, "-exec"));
    let mut rest = segments.next().unwrap_or_default().to_vec();
    let mut started = Vec::new();
    // Paths start like the operands: they must not be options, nor names of files with options.
    let is_path = |word: &PartWord| {
        word.prefix()
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
        let is_clear = |word: &PartWord| {
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
        let path = |word: &PartWord| word.starting_with("./", shape);
        let with_path = |word: &PartWord| {
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

fn refused(word: &PartWord, text: &str) -> Refusal {
    match text {
        "-delete" => word.writes("`find -delete` removes files"),
        "-execdir" | "-ok" | "-okdir" => word.writes(format!("`find {text}` starts a program")),
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
            word.writes(format!("`find {text}` writes a file"))
        }
        _ => word.refusal(format!(
            "`find`: `{}` is not in the accepted set",
            excerpt(text)
        )),
    }
}
