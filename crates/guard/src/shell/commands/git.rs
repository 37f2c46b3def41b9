//! `git`: global options, then a subcommand in one of its reading forms.

use crate::shell::command_check::{CheckedCommand, GitCall};
use crate::shell::options::{self, arguments};
use crate::shell::table::{Command, GIT, Property};
use crate::shell::verdict::{Checked, GitScope, Refusal, excerpt, is_one_of};
use crate::shell::word::{Arguments, PartWord, Value};

/// Checks a git command. Its configuration is a requirement of the verdict.
pub(super) fn check(call: &mut CheckedCommand, name: &PartWord, words: &[PartWord]) -> Checked {
    let global = arguments("git", words)?;
    let steps = steps(&global)?;
    let own = words.get(..global.read).unwrap_or_default();
    if let Some(dashes) = own.iter().find(|word| word.literal() == Some("--")) {
        return Err(dashes.refusal("`git --` is not an option"));
    }
    if global.has("version") || global.has("v") {
        call.names.push("git --version".to_owned());
        return Ok(());
    }
    let rest = words.get(global.read..).unwrap_or_default();
    let Some(subcommand) = rest.first() else {
        return Err(name.refusal("`git` without a subcommand"));
    };
    let Some(text) = subcommand.literal() else {
        return Err(subcommand.refusal("a subcommand of git known only at run time"));
    };
    let Some((form, rest)) = form(text, rest.get(1..).unwrap_or_default()) else {
        let shown = excerpt(text);
        return Err(
            subcommand.refusal(format!("`git {shown}` in a form not known to be read-only"))
        );
    };
    // `git config a.b --` sets the value `--`.
    let mut dashes = rest.iter().filter(|word| word.literal() == Some("--"));
    if let Some(dashes) = dashes.next().filter(|_| text == "config") {
        return Err(dashes.refusal("a setting is changed"));
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
        given.any(|given| diff.lists(given.name))
    });
    let scope = if form.is(Property::Files) || (form.is(Property::Changes) && shows_changes) {
        GitScope::WorkTree
    } else {
        GitScope::Objects
    };
    call.names.push(title.clone());
    if text != "version" {
        call.git.push(GitCall {
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
    let action = arguments.first().and_then(PartWord::literal);
    let with_action = action.and_then(|action| GIT.get(format!("{subcommand} {action}").as_str()));
    match with_action {
        Some(form) => Some((form, arguments.get(1..).unwrap_or_default())),
        None => GIT
            .get(subcommand)
            .filter(|_| !subcommand.starts_with('@') && !subcommand.contains(' '))
            .map(|form| (form, arguments)),
    }
}
