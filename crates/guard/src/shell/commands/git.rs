//! Checks `git`: global options, then a subcommand in one of its reading forms.

use super::checked_command::{CheckedCommand, GitCall};
use crate::shell::options;
use crate::shell::table::{Command, GIT, Property};
use crate::shell::verdict::{CheckResult, GitScope, Refusal, excerpt, is_one_of};
use crate::shell::word::{Arguments, PartWord, Value};

/// Checks a git command. Its configuration is a requirement of the verdict.
pub(super) fn check(
    call: &mut CheckedCommand,
    entry: &Command,
    name: &PartWord,
    words: &[PartWord],
) -> CheckResult {
    let global = options::parse_arguments(entry, "git", words)?;
    let steps = parse_steps(&global)?;
    let refuse = |word: &PartWord| {
        let text = excerpt(word.value_or_text());
        word.refusal(format!("`git {text}` in a form not known to be read-only"))
    };
    let refuse_dashes = |words: &[PartWord]| {
        let mut words = words.iter();
        let dashes = words.find(|word| word.literal() == Some("--"));
        dashes.map_or(Ok(()), |dashes| Err(refuse(dashes)))
    };
    refuse_dashes(words.get(..global.parsed).unwrap_or_default())?;
    if global.has_any_option(&["version", "v"]) {
        call.names.push("git --version".to_owned());
        return Ok(());
    }
    let without = || name.refusal("`git` without a subcommand");
    let (subcommand, rest) = global.rest().split_first().ok_or_else(without)?;
    let text = subcommand.literal().ok_or_else(|| refuse(subcommand))?;
    let (form, words_after) = find_form(text, rest).ok_or_else(|| refuse(subcommand))?;
    if text == "config" {
        // `git config a.b --` sets the value `--`.
        refuse_dashes(words_after)?;
    }
    let title = format!("git {text}");
    let arguments = options::parse_arguments(form, &title, words_after)?;
    // A comparison with the index does not refresh it.
    let is_staged = arguments.has_any_option(&["cached", "staged"]);
    let compares_index = text == "diff" && is_staged && !arguments.has_option("no-index");
    // Old versions of `git branch -l x` create `x`.
    let is_clear = (form.has_property(Property::Safe) || compares_index)
        && words.iter().all(|word| word.literal().is_some())
        && (!is_one_of("branch tag", text) || !arguments.has_option("l"));
    if !is_clear {
        call.record_language("git");
    }
    let shows_changes = GIT.get("@diff").is_some_and(|diff| {
        let mut options = arguments.options.iter();
        options.any(|option| diff.value_form(option.name).is_some())
    });
    let may_show_changes = form.has_property(Property::Changes);
    let scope = if form.has_property(Property::Files) || may_show_changes && shows_changes {
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
fn parse_steps(global: &Arguments<'_>) -> Result<Vec<String>, Refusal> {
    let options = global.options.iter().filter(|option| option.name == "C");
    let steps = options.map(|option| match option.value {
        Value::Text(directory) if !directory.is_empty() => Ok(directory.to_owned()),
        _ => Err(option.word.refusal("git in an unknown directory")),
    });
    steps.collect()
}

/// Returns the table entry of a subcommand, or of its action as in `stash list`, and the arguments behind it.
fn find_form<'words>(
    subcommand: &str,
    arguments: &'words [PartWord],
) -> Option<(&'static Command, &'words [PartWord])> {
    let (action, rest) = arguments.split_first().unzip();
    let action = action.and_then(PartWord::literal).unwrap_or_default();
    if let Some(form) = GIT.get(&format!("{subcommand} {action}")) {
        return Some((form, rest.unwrap_or_default()));
    }
    let name = Some(subcommand).filter(|name| !name.contains(['@', ' ']))?;
    Some((GIT.get(name)?, arguments))
}
