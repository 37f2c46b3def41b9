//! `git`: global options, then a subcommand in one of its reading forms.

use crate::shell::call::{CheckedCommand, GitCall};
use crate::shell::options::{self, arguments};
use crate::shell::table::{Command, GIT, Property};
use crate::shell::verdict::{Checked, GitScope, Refusal, excerpt, is_one_of};
use crate::shell::word::{Arguments, PartWord, Value};

/// Settings that only affect the appearance of output.
const HARMLESS_SETTINGS: &str = "\
    color.ui color.diff color.status color.branch core.quotepath column.ui \
    log.decorate log.date core.abbrev advice.detachedhead";

/// Subcommands that are known to change something.
const WRITING: &str = "\
    add am apply bisect checkout checkout-index cherry-pick clean clone commit \
    commit-tree fetch filter-branch gc init merge mv pull push rebase replace reset \
    restore revert rm switch update-index update-ref";

/// Checks a git command. Its configuration is a requirement of the verdict.
pub(super) fn check(call: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let global = arguments("git", words)?;
    let steps = steps(&global)?;
    let own = words.get(..global.read).unwrap_or_default();
    if let Some(dashes) = own.iter().find(|word| word.literal() == Some("--")) {
        return Err(dashes.refusal("`git --` is not an option"));
    }
    if global.has("version") || global.has("v") {
        call.effects.ran("git --version");
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
        return Err(if is_one_of(WRITING, text) {
            subcommand.writes(format!("`git {text}` changes the repository"))
        } else {
            let shown = excerpt(text);
            subcommand.refusal(format!("`git {shown}` in a form not known to be read-only"))
        });
    };
    // `git config a.b --` sets the value `--`.
    let mut dashes = rest.iter().filter(|word| word.literal() == Some("--"));
    if let Some(dashes) = dashes.next().filter(|_| text == "config") {
        return Err(dashes.writes("a setting is changed"));
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
        call.effects.read_language("git");
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
    call.effects.ran(&title);
    if text != "version" {
        call.effects.git.push(GitCall {
            steps,
            scope,
            span: name.span.start..subcommand.span.end,
        });
    }
    Ok(())
}

/// Returns the directories given with `-C`. Settings given with `-c` must be harmless.
fn steps(global: &Arguments<'_>) -> Result<Vec<String>, Refusal> {
    let mut steps = Vec::new();
    for given in &global.options {
        let refuse = |why: &str| Err(given.word.refusal(why));
        match (given.name, given.value) {
            ("C", Value::Text(directory)) if !directory.is_empty() => {
                steps.push(directory.to_owned());
            }
            ("C", _) => return refuse("git in an unknown directory"),
            ("c", Value::Text(setting)) => {
                let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
                let is_harmless = is_one_of(HARMLESS_SETTINGS, &key.to_ascii_lowercase())
                    && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
                if !is_harmless {
                    return refuse("`git -c` with a setting that may run a program");
                }
            }
            ("c", _) => return refuse("`git -c` with a setting that is not known"),
            _ => {}
        }
    }
    Ok(steps)
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
