//! `find`: starting points, then tests and the actions that only print.

use crate::shell::call::CheckedCommand;
use crate::shell::verdict::{Checked, Refusal, excerpt, is_one_of};
use crate::shell::word::Word;

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

/// Checks `find`. Actions that delete, write or start programs are not listed.
pub(super) fn check(_: &mut CheckedCommand<'_>, _: &Word, words: &[Word]) -> Checked {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix.starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.unknown("`find`: its expansion could be an action"));
        };
        let takes_argument = is_one_of(WITH_ARGUMENT, text) || is_newer(text);
        if takes_argument {
            // A single argument of any value; one that looks like an action is probably a mistake.
            match words.next() {
                Some(argument)
                    if argument.is_one_argument()
                        && (text == "-perm"
                            || !argument.prefix.strip_prefix('-').is_some_and(|rest| {
                                rest.starts_with(|first: char| first.is_ascii_alphabetic())
                            })) => {}
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
    }
    Ok(())
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
        "-exec" | "-execdir" | "-ok" | "-okdir" => {
            word.writes(format!("`find {text}` starts a program"))
        }
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
            word.writes(format!("`find {text}` writes a file"))
        }
        _ => word.unknown(format!(
            "`find`: `{}` is not in the accepted set",
            excerpt(text)
        )),
    }
}
