//! The check of one simple command: its assignments, then its name.

use super::{awk, builtins, conditions, git, sed};
use crate::shell::call::{CheckedCommand, Effects, Entry, Own};
use crate::shell::options::arguments;
use crate::shell::parts::{CommandContext, CommandPart, PartAssignment};
use crate::shell::table::COMMANDS;
use crate::shell::variables::{may_be_passed, may_be_set};
use crate::shell::verdict::{Checked, Refusal, excerpt, is_one_of};
use crate::shell::word::{PartWord, refuse};

/// Checks the variables that a command sets.
pub(in crate::shell) fn check_assignments(script: &str, command: &CommandPart) -> Checked {
    for PartAssignment { name, word } in &command.assignments {
        let is_passed = !command.words.is_empty();
        let accepted = if is_passed {
            may_be_passed(name, word)
        } else {
            may_be_set(name)
        };
        if !accepted {
            let span = word.span.start.saturating_sub(name.len() + 1)..word.span.end;
            let shown = excerpt(script.get(span.clone()).unwrap_or(name));
            let why = if is_passed {
                format!("`{shown}` may change what the command does")
            } else {
                format!("`{shown}`: `{name}` has a special meaning for the shell or programs")
            };
            return Err(Refusal::unknown(span, why));
        }
    }
    Ok(())
}

/// Checks the words of a command, and collects its effects.
pub(in crate::shell) fn check_words(
    words: &[PartWord],
    context: CommandContext,
    effects: &mut Effects,
) -> Checked {
    let mut call = CheckedCommand {
        entry,
        context,
        effects,
        level: 0,
    };
    call.check(words)
}

/// Whether some commands of this program only read, by the analysis.
pub fn has_reading_form(program: &str) -> bool {
    matches!(entry(program), Entry::Own(_) | Entry::Listed(_))
}

/// Returns the entry for a command name.
fn entry(name: &str) -> Entry {
    let own: Own = match name {
        "[" => conditions::bracket,
        "test" => conditions::test,
        "awk" | "gawk" | "mawk" | "original-awk" => awk::check,
        "cd" => builtins::change_directory,
        "printf" => builtins::printf,
        "read" => builtins::read,
        "set" => builtins::set,
        "." | "eval" | "exec" | "source" => builtins::unknown_code,
        "command" | "time" | "timeout" => builtins::wrapper,
        "env" => builtins::env,
        "xargs" => builtins::xargs,
        "find" => conditions::find,
        "git" => git::check,
        "sed" | "gsed" => sed::check,
        "tar" => tar,
        _ => {
            return match COMMANDS.get(name) {
                Some(command) => Entry::Listed(command),
                None => what_it_changes(name).map_or(Entry::Unlisted, Entry::Writes),
            };
        }
    };
    Entry::Own(own)
}

/// Checks `tar`, which must list an archive of this machine. It accepts option letters without a dash.
fn tar(_: &mut CheckedCommand<'_>, name: &PartWord, words: &[PartWord]) -> Checked {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(letters) = first.literal().filter(|text| !text.starts_with('-'))
    {
        // In letters before the last one, `f` and `C` would have their values elsewhere.
        *first = PartWord::plain(first.span.clone(), &format!("-{letters}"));
    }
    let arguments = arguments("tar", &words)?;
    let is_local = words
        .iter()
        .all(|word| word.literal().is_some_and(|text| !text.contains(':')));
    if !is_local || !arguments.has_one_of(&["t", "list"]) {
        return refuse(
            Some(name),
            "`tar` that does not list an archive of this machine",
        );
    }
    Ok(())
}

/// Returns the effect of a command, as text that follows its name.
fn what_it_changes(name: &str) -> Option<&'static str> {
    let mut rows = include_str!("../tables/writers.txt").lines();
    rows.find_map(|row| {
        let (what, names) = row.split_once(" | ")?;
        is_one_of(names, name).then_some(what)
    })
}

#[cfg(test)]
mod tests {
    use crate::shell::analyse;

    #[test]
    fn simple_forms_need_no_enforcement() {
        for line in [
            "find . -name '*.rs' -not -path './target/*' -type f",
            "find src docs \\( -iname a -o -name b \\) -maxdepth 2 -print0",
            "find src/* -newer Cargo.toml -size +1k",
            "find . -type f -exec grep -l a {} + -print",
            "find src -name '*.rs' -exec sed -n '1,9p' {} \\; -exec wc -l {} \\;",
            "sed -n '1,20p' a.txt",
            "sed -n '$p;3q' a.txt b.txt",
            "sed 's/a.*b/c/g' src/*.rs",
            "sed -E -e 's|^(a)\\.b|\\1|' -e '/^$/d'",
            "awk '{print $1, $NF}'",
            "awk -F: 'NR >= 3 && $2 > 1 {print \"x \" $2}' a.txt",
            "awk '/^a.b/ {n += $1} END {print n}' a.txt",
            "git log --oneline -5",
            "git show HEAD:src/main.rs | head -20",
            "git -C sub blame -L 1,5 a.rs",
            "git branch -a && git tag --list 'v*'",
            "git --version",
            "git diff --cached --stat",
            "git config --get user.name && git grep -n a && git check-ignore a",
        ] {
            let analysis = analyse(line);
            assert!(analysis.verdict.is_read_only(), "{line}: {}", analysis.why);
            assert_eq!(analysis.language, None, "{line}");
        }
    }

    #[test]
    fn other_forms_need_it() {
        for line in [
            "find -L . -name a",
            "find . -depth -name a",
            "find \"$x\"/a -name \"$y\"",
            "find . -name \"$y\"",
            "find . -files0-from a",
            "sed -s -n 1p a",
            "sed -n '1{p}' a",
            "sed -n 1p \"$x\"",
            "awk '{print $1 / 2}'",
            "awk '{gsub(/a/, \"b\"); print}'",
            "git status",
            "git diff",
            "git diff main..feature",
            "git config user.name x --list",
            "git config a.b --list",
            "git config user.name --",
            "git diff HEAD -- a",
            "git diff --cached --no-index a b",
            "find . -exec touch {} +",
            "find . -exec sed -i s/a/b/ {} +",
            "find . -exec cat {}x \\;",
            "find . -exec cat {} \"$x\" -delete \\;",
            "find @a -exec strings {} \\;",
            "find . -exec {} \\;",
            "find . -exec cat {}",
            "find . -exec uniq {} {} \\;",
            "find . -exec uniq -c {} +",
            "find . -exec sh -c ls \\;",
            "find . -exec cat {} + -delete",
            "find . -execdir cat {} +",
            "git log \"$x\"",
            "git tag -l a",
        ] {
            let analysis = analyse(line);
            assert!(
                !analysis.verdict.is_read_only() || analysis.language.is_some(),
                "{line}"
            );
        }
    }
}
