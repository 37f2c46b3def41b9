//! `find` with actions that only print.

use super::checked_command::CheckedCommand;
use crate::shell::table::{Command, Takes};
use crate::shell::verdict::{Checked, excerpt};
use crate::shell::word::PartWord;

/// Checks `find`. Actions that delete, write or start programs are not listed.
pub(super) fn check(call: &mut CheckedCommand, listed: &Command, words: &[PartWord]) -> Checked {
    let mut words = words;
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix().starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return Err(word.refusal("`find`: its expansion could be an action"));
        };
        let takes = listed.takes(text);
        if takes == Some(Takes::Value) {
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
        } else if text.starts_with('-') && takes.is_none() {
            let shown = excerpt(text);
            return Err(word.refusal(format!("`find`: `{shown}` is not in the accepted set")));
        }
    }
    Ok(())
}
