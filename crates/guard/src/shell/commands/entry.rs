//! Checks a simple command: its assignments, its redirections, its name and its arguments.

use super::checked_command::CheckedCommand;
use super::environment::prints_environment;
use super::{find, git};
use crate::shell::options;
use crate::shell::parts::{CommandPart, PartAssignment};
use crate::shell::redirection::Redirection;
use crate::shell::table::{COMMANDS, Command, Property};
use crate::shell::variables::{may_be_passed, may_be_set};
use crate::shell::verdict::{CheckResult, Refusal, excerpt, is_one_of};
use crate::shell::word::PartWord;

/// Commands that start the command in their operands, which follows options and assignments.
const WRAPPING_COMMANDS: &str = "command env time timeout xargs";

/// Maximum nesting depth of wrappers (`time timeout 5 ls`).
const MAX_WRAPPERS: usize = 6;

impl CheckedCommand {
    /// Checks a command.
    pub(in crate::shell) fn new(command: &CommandPart) -> Self {
        let mut check = Self::default();
        let redirections = command.redirections.iter().try_for_each(Redirection::check);
        let is_passed = !command.words.is_empty();
        let assignments = check_assignments(&command.assignments, is_passed);
        let words = check.check(command, MAX_WRAPPERS);
        check.only_reads = words.is_ok()
            && (is_passed || assignments.is_ok())
            && check.language.is_none()
            && !command.has_processes;
        check.refusal = redirections.and(assignments).and(words).err();
        check
    }

    /// Checks the words of a command, which may have up to `max_wrappers` nested wrappers.
    fn check(&mut self, command: &CommandPart, max_wrappers: usize) -> CheckResult {
        if command.is_condition {
            self.record_language("[[");
            return Ok(());
        }
        let Some((first, words)) = command.words.split_first() else {
            return Ok(());
        };
        let Some(name) = first.literal() else {
            return Err(first.refusal("the command name is known only at run time"));
        };
        let quoted = excerpt(name);
        if name.contains('/') {
            return Err(first.refusal(format!("`{quoted}` is a path to an unknown program")));
        }
        let Some(entry) = COMMANDS.get(name) else {
            let why = format!("`{quoted}` is not a command known to be read-only");
            return Err(first.refusal(why));
        };
        if prints_environment(name, entry, words) {
            self.reveals = Some(name.to_owned());
        }
        if entry.has_property(Property::Language) {
            self.record_language(name);
        }
        if name != "git" {
            // `git` is recorded with its subcommand.
            self.names.push(name.to_owned());
        }
        match name {
            "cd" => return self.change_directory(entry, words),
            "find" => return find::check(self, entry, words),
            "git" => return git::check(self, entry, first, words),
            _ => {}
        }
        let arguments = options::parse_arguments(entry, name, words)
            .map_err(|refusal| refusal.with_span(&first.span))?;
        let only_looks_up = name == "command" && arguments.has_any_option(&["v", "V"]);
        if only_looks_up || !is_one_of(WRAPPING_COMMANDS, name) {
            return Ok(());
        }
        let Some(inner) = command.inner_command_in(&COMMANDS) else {
            match name {
                "env" => self.reveals = Some(name.to_owned()),
                // Without a command, `xargs` prints its input like `echo`.
                "xargs" => {}
                _ => return Err(first.refusal(format!("`{name}` without a known command"))),
            }
            return Ok(());
        };
        let further = inner.assignments.get(command.assignments.len()..);
        check_assignments(further.unwrap_or_default(), true)?;
        match max_wrappers.checked_sub(1) {
            Some(max_wrappers) => self.check(&inner, max_wrappers),
            None => Err(first.refusal("too many nested commands")),
        }
    }

    /// Records the target of `cd`.
    fn change_directory(&mut self, entry: &Command, words: &[PartWord]) -> CheckResult {
        // Whatever one operand expands to, only the target is unknown.
        let operands = match words {
            [operand] if operand.literal().is_none() => Vec::new(),
            _ => options::parse_arguments(entry, "cd", words)?.operands,
        };
        let operand = operands.first().and_then(|word| word.literal());
        let target = operand.filter(|target| *target != "-" && !target.is_empty());
        self.changes_directory = true;
        self.target = target.map(str::to_owned);
        Ok(())
    }
}

/// Checks assignments of variables, which are passed to a command or else set in the shell.
fn check_assignments(assignments: &[PartAssignment], are_passed: bool) -> CheckResult {
    let is_refused = |PartAssignment { name, word }: &&PartAssignment| {
        are_passed && !may_be_passed(name, word) || !are_passed && !may_be_set(name)
    };
    let Some(PartAssignment { name, word }) = assignments.iter().find(is_refused) else {
        return Ok(());
    };
    let quoted = excerpt(&format!("{name}={}", word.text));
    let why = if are_passed {
        format!("`{quoted}` may change what the command does")
    } else {
        format!("`{quoted}`: `{name}` has a special meaning for the shell or programs")
    };
    let span = word.span.start.saturating_sub(name.len() + 1)..word.span.end;
    Err(Refusal::new(span, why))
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
            "find . -exec grep -l a {} +",
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
