//! Checks `find`: its actions may only print.

use super::checked_command::CheckedCommand;
use crate::shell::table::{Command, ValueForm};
use crate::shell::verdict::{CheckResult, excerpt};
use crate::shell::word::PartWord;

/// Checks the words of `find`. Actions that delete, write or start programs are not listed.
pub(super) fn check(
    call: &mut CheckedCommand,
    entry: &Command,
    mut words: &[PartWord],
) -> CheckResult {
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix().starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.refusal("`find`: its expansion could be an action"));
        };
        let form = entry.value_form(text);
        if form == Some(ValueForm::Value) {
            // An argument that looks like an action is probably a mistake.
            let argument = rest.first().filter(|argument| {
                let letters = argument.prefix().strip_prefix('-').unwrap_or_default();
                let is_action = letters.starts_with(|first: char| first.is_ascii_alphabetic());
                argument.is_one_argument() && (text == "-perm" || !is_action)
            });
            let Some(argument) = argument else {
                return Err(word.refusal(format!("`find {text}` without a clear argument")));
            };
            if argument.literal().is_none() {
                call.record_language("find");
            }
            words = rest.get(1..).unwrap_or_default();
        } else if text.starts_with('-') && form.is_none() {
            let shown = excerpt(text);
            return Err(word.refusal(format!("`find`: `{shown}` is not in the accepted set")));
        }
    }
    Ok(())
}
