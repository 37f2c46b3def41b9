//! `git`: global options, then a subcommand in one of its reading forms.

use super::checked_command::{CheckedCommand, GitCall};
use crate::shell::options;
use crate::shell::table::{Command, GIT, Property};
use crate::shell::verdict::{Checked, GitScope, Refusal, excerpt, is_one_of};
use crate::shell::word::{Arguments, PartWord, Value};

/// Checks a git command. Its configuration is a requirement of the verdict.
pub(super) fn check(
    call: &mut CheckedCommand,
    listed: &Command,
    name: &PartWord,
    words: &[PartWord],
) -> Checked {
    let global = options::read(listed, "git", words)?;
    let steps = steps(&global)?;
    let refused = |word: &PartWord| {
        let shown = excerpt(word.value_or_text());
        word.refusal(format!("`git {shown}` in a form not known to be read-only"))
    };
    let dashes = |words: &[PartWord]| {
        let mut words = words.iter();
        let dashes = words.find(|word| word.literal() == Some("--"));
        dashes.map_or(Ok(()), |dashes| Err(refused(dashes)))
    };
    dashes(words.get(..global.read).unwrap_or_default())?;
    if global.has_one_of(&["version", "v"]) {
        call.names.push("git --version".to_owned());
        return Ok(());
    }
    let without = || name.refusal("`git` without a subcommand");
    let (subcommand, rest) = global.rest().split_first().ok_or_else(without)?;
    let text = subcommand.literal().ok_or_else(|| refused(subcommand))?;
    let (form, rest) = form(text, rest).ok_or_else(|| refused(subcommand))?;
    if text == "config" {
        // `git config a.b --` sets the value `--`.
        dashes(rest)?;
    }
    let title = format!("git {text}");
    let arguments = options::read(form, &title, rest)?;
    // Then it does not refresh the index.
    let compares_index =
        text == "diff" && arguments.has_one_of(&["cached", "staged"]) && !arguments.has("no-index");
    // Old versions of `git branch -l x` create `x`.
    let is_clear = (form.is(Property::Safe) || compares_index)
        && words.iter().all(|word| word.literal().is_some())
        && (!is_one_of("branch tag", text) || !arguments.has("l"));
    if !is_clear {
        call.read_language("git");
    }
    let shows_changes = GIT.get("@diff").is_some_and(|diff| {
        let mut given = arguments.options.iter();
        given.any(|given| diff.takes(given.name).is_some())
    });
    let scope = if form.is(Property::Files) || (form.is(Property::Changes) && shows_changes) {
        GitScope::WorkTree
    } else {
        GitScope::Objects
    };
    call.names.push(title);
    if text != "version" {
        call.git = Some(GitCall {
            steps,
            scope,
            span: name.span.start..subcommand.span.end,
        });
    }
    Ok(())
}

/// Returns the directories given with `-C`.
fn steps(global: &Arguments<'_>) -> Result<Vec<String>, Refusal> {
    let given = global.options.iter().filter(|given| given.name == "C");
    let steps = given.map(|given| match given.value {
        Value::Text(directory) if !directory.is_empty() => Ok(directory.to_owned()),
        _ => Err(given.word.refusal("git in an unknown directory")),
    });
    steps.collect()
}

/// Returns the form of a subcommand and the remaining arguments. Forms with an action (`stash
/// list`) have precedence.
fn form<'words>(
    subcommand: &str,
    arguments: &'words [PartWord],
) -> Option<(&'static Command, &'words [PartWord])> {
    let (action, rest) = arguments.split_first().unzip();
    let action = action.and_then(PartWord::literal).unwrap_or_default();
    if let Some(form) = GIT.get(&format!("{subcommand} {action}")) {
        return Some((form, rest.unwrap_or_default()));
    }
    let is_name = !subcommand.contains(['@', ' ']);
    Some((GIT.get(subcommand).filter(|_| is_name)?, arguments))
}
