//! `git`: global options, then a subcommand in one of its reading forms.

use super::git_tables::{READING, Reading};
use crate::shell::analysis::GitScope;
use crate::shell::effects::GitCall;
use crate::shell::options::{self, Arguments, Command, Operands, PLAIN, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::syntax::excerpt;
use crate::shell::word::Word;

/// Not `-c` in general, `--git-dir`, `--work-tree`, `--exec-path`, `-p`.
const GLOBAL: Command = Command {
    short: "C:Pvc:",
    long: &[
        "no-pager",
        "no-optional-locks",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
        "no-replace-objects",
        "version",
    ],
    operands: Operands::EndOptions,
    ..PLAIN
};

/// Settings that change nothing but how output looks.
const HARMLESS_SETTINGS: &[&str] = &[
    "color.ui",
    "color.diff",
    "color.status",
    "color.branch",
    "core.quotepath",
    "column.ui",
    "log.decorate",
    "log.date",
    "core.abbrev",
    "advice.detachedhead",
];

/// Subcommands that are known to change something.
const WRITING: &[&str] = &[
    "add",
    "am",
    "apply",
    "bisect",
    "checkout",
    "checkout-index",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "fetch",
    "filter-branch",
    "gc",
    "init",
    "merge",
    "mv",
    "pull",
    "push",
    "rebase",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "switch",
    "update-index",
    "update-ref",
];

/// The program, whose configuration must be clean.
pub(super) fn check(call: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let global = options::read(&GLOBAL, "git", words)?;
    let steps = steps(&global)?;
    let own = words.get(..global.read).unwrap_or_default();
    if let Some(dashes) = own.iter().find(|word| word.literal() == Some("--")) {
        return Err(Refusal::unknown(
            dashes.span.clone(),
            "`git --` is no option",
        ));
    }
    if global.has("version") || global.has("v") {
        call.effects.ran("git --version");
        return Ok(());
    }
    let rest = words.get(global.read..).unwrap_or_default();
    let Some((subcommand, arguments)) = rest.split_first() else {
        return Err(Refusal::unknown(
            name.span.clone(),
            "`git` without a subcommand",
        ));
    };
    let Some(text) = subcommand.literal() else {
        return Err(Refusal::unknown(
            subcommand.span.clone(),
            "a subcommand of git that is only known when it runs",
        ));
    };
    let reading = forms(text, arguments)?;
    let Some((reading, arguments)) = reading else {
        let span = subcommand.span.clone();
        return Err(if WRITING.contains(&text) {
            Refusal::writes(span, format!("`git {text}` changes the repository"))
        } else {
            Refusal::unknown(
                span,
                format!("`git {}` is not known to only read", excerpt(text)),
            )
        });
    };
    let title = format!("git {text}");
    let arguments = options::read(&reading.command, &title, arguments)?;
    for given in &arguments.options {
        verifies_nothing(given.name, given.value).map_err(|why| {
            Refusal::unknown(given.word.span.clone(), format!("`{title}`: {why}"))
        })?;
    }
    let shows_contents = [
        "p",
        "u",
        "patch",
        "stat",
        "numstat",
        "shortstat",
        "name-only",
        "name-status",
        "S",
        "G",
        "L",
        "c",
        "cc",
        "raw",
        "summary",
        "dirstat",
        "check",
    ]
    .iter()
    .any(|option| arguments.has(option));
    let scope = match reading.scope {
        GitScope::Objects if !shows_contents => GitScope::Objects,
        GitScope::Objects | GitScope::WorkTree => GitScope::WorkTree,
    };
    call.effects.ran(&title);
    if text != "version" {
        call.effects.called_git(GitCall {
            steps,
            scope,
            span: name.span.start..subcommand.span.end,
        });
    }
    Ok(())
}

/// The directories given with `-C`; the settings given with `-c` must be harmless.
fn steps(global: &Arguments<'_>) -> Result<Vec<String>, Refusal> {
    let mut steps = Vec::new();
    for given in &global.options {
        let refuse = |why: &str| Err(Refusal::unknown(given.word.span.clone(), why));
        match (given.name, given.value) {
            ("C", Value::Text(directory)) if !directory.is_empty() => {
                steps.push(directory.to_owned());
            }
            ("C", _) => return refuse("git in a directory that is not known"),
            ("c", Value::Text(setting)) => {
                let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
                let is_harmless = HARMLESS_SETTINGS.contains(&key.to_ascii_lowercase().as_str())
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

/// The form of a subcommand that these arguments have, and those left of them.
fn forms<'words>(
    subcommand: &str,
    arguments: &'words [Word],
) -> Result<Option<(&'static Reading, &'words [Word])>, Refusal> {
    let named: Vec<&'static Reading> = READING
        .iter()
        .filter(|reading| reading.command.names.contains(&subcommand))
        .collect();
    let action = arguments.first().and_then(Word::literal);
    // A form with an action (`stash list`) goes before one without.
    let with_action = named
        .iter()
        .find(|reading| reading.action.is_some() && reading.action == action);
    if let Some(reading) = with_action {
        return Ok(Some((*reading, arguments.get(1..).unwrap_or_default())));
    }
    let without = named.iter().find(|reading| reading.action.is_none());
    if let Some(reading) = without {
        return Ok(Some((*reading, arguments)));
    }
    match (named.is_empty(), arguments.first()) {
        (false, Some(word)) => Err(Refusal::unknown(
            word.span.clone(),
            format!("`git {subcommand}` in a form that is not known to only read"),
        )),
        _ => Ok(None),
    }
}

/// Formats can ask for signatures, which another program verifies.
fn verifies_nothing(option: &str, value: Value<'_>) -> Result<(), &'static str> {
    if !matches!(option, "format" | "pretty" | "sort") {
        return Ok(());
    }
    match value {
        Value::None => Ok(()),
        Value::Begins(_) => Err("a format that is only known when it runs"),
        Value::Text(format) => {
            let lower = format.to_ascii_lowercase();
            if format.contains("%G") || format.contains("%(G") || lower.contains("signature") {
                Err("a format that verifies signatures, which starts a program")
            } else {
                Ok(())
            }
        }
    }
}
