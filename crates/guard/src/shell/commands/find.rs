//! `find` with actions that only print.

use super::checked_command::CheckedCommand;
use crate::shell::verdict::{Checked, excerpt, is_one_of};
use crate::shell::word::PartWord;

/// Primaries without an argument that all versions of `find` read alike.
const ALONE: &str = "! ( ) -a -and -o -or -not -mount -xdev -empty -executable -false -true -readable -writable -print \
    -print0 -ls -prune -quit";

/// Primaries with one argument.
const WITH_ARGUMENT: &str = "\
    -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -gid -group -ilname -iname -inum -ipath \
    -iregex -iwholename -links -lname -mmin -mtime -name -newer -newermt -path -perm -regex -samefile -size -type \
    -uid -user -wholename -xtype -printf";

/// Checks `find`. Actions that delete, write or start programs are not listed.
pub(super) fn check(call: &mut CheckedCommand, words: &[PartWord]) -> Checked {
    let mut words = words;
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix().starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.refusal("`find`: its expansion could be an action"));
        };
        if is_one_of(WITH_ARGUMENT, text) {
            // One that looks like an action is probably a mistake.
            let argument = rest.first().filter(|argument| {
                let letters = argument.prefix().strip_prefix('-').unwrap_or_default();
                let is_action = letters.starts_with(|first: char| first.is_ascii_alphabetic());
                argument.is_one_argument() && (text == "-perm" || !is_action)
            });
            let Some(argument) = argument else {
                return Err(word.refusal(format!("`find {text}` without a clear argument")));
            };
            if argument.literal().is_none() {
                call.read_language("find");
            }
            words = rest.get(1..).unwrap_or_default();
        } else if text.starts_with('-') && !is_one_of(ALONE, text) {
            let shown = excerpt(text);
            return Err(word.refusal(format!("`find`: `{shown}` is not in the accepted set")));
        }
    }
    Ok(())
}
