//! The check of one simple command: its assignments, then its name.

use super::{awk, builtins, conditions, git, prints_environment, sed};
use crate::shell::command_check::{CheckedCommand, Own};
use crate::shell::options::{self, arguments, may_change};
use crate::shell::parts::{CommandPart, PartAssignment};
use crate::shell::redirection::Redirection;
use crate::shell::table::{COMMANDS, Property};
use crate::shell::variables::{may_be_passed, may_be_set};
use crate::shell::verdict::{Checked, Refusal, excerpt};
use crate::shell::word::PartWord;

/// Checks the variables that a command sets.
fn check_assignments(script: &str, command: &CommandPart) -> Checked {
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
            return Err(Refusal::new(span, why));
        }
    }
    Ok(())
}

/// Whether a command only reads with its arguments.
type Rule = fn(&[PartWord]) -> Result<bool, Refusal>;

/// Returns the rule of a command whose arguments have a grammar of their own.
fn own_rule(name: &str) -> Option<Rule> {
    Some(match name {
        "[" => |words| Ok(conditions::is_plain_bracket(words)),
        "test" => |words| Ok(conditions::is_plain_test(words)),
        "awk" | "gawk" | "mawk" | "original-awk" => awk::only_reads,
        "printf" => |words| Ok(builtins::prints_a_format(words)),
        "read" => builtins::reads_into_variables,
        "sed" | "gsed" => sed::only_reads,
        "set" => |words| Ok(builtins::sets_strict_options(words)),
        "tar" => lists_archive,
        _ => return None,
    })
}

/// Returns the check of a command that starts others, or has effects besides writing.
fn own_check(name: &str) -> Option<Own> {
    Some(match name {
        "cd" => builtins::change_directory,
        "command" | "env" | "time" | "timeout" => builtins::wrapper,
        "xargs" => builtins::xargs,
        "find" => conditions::find,
        "git" => git::check,
        _ => return None,
    })
}

/// Maximum nesting depth of wrappers (`time timeout 5 ls`).
const MAX_LEVELS: usize = 6;

impl CheckedCommand {
    /// Checks a command. The second value is the reason against it as a part of the line.
    pub(in crate::shell) fn of(script: &str, command: &CommandPart) -> (Self, Checked) {
        let mut found = Self::default();
        let opened = command.redirections.iter().try_for_each(Redirection::check);
        let assigned = check_assignments(script, command);
        let words = if command.is_condition {
            found.read_language("[[");
            Ok(())
        } else {
            found.check(&command.words)
        };
        found.only_reads = words.is_ok()
            && (!command.words.is_empty() || assigned.is_ok())
            && found.language.is_none()
            && !command.has_processes;
        (found, opened.and(assigned).and(words))
    }

    /// Checks a command and its arguments.
    fn check(&mut self, words: &[PartWord]) -> Checked {
        let Some((first, arguments)) = words.split_first() else {
            return Ok(());
        };
        let Some(name) = first.literal() else {
            return Err(first.refusal("the command name is known only at run time"));
        };
        if name.contains('/') {
            return Err(first.refusal(format!(
                "`{}` is a path to an unknown program",
                excerpt(name)
            )));
        }
        if prints_environment(name, arguments) {
            self.reveals = Some(name.to_owned());
        }
        let listed = COMMANDS.get(name);
        if listed.is_some_and(|command| command.is(Property::Language)) {
            self.read_language(name);
        }
        if name != "git" {
            // `git` is recorded with its subcommand.
            self.names.push(name.to_owned());
        }
        if let Some(only_reads) = own_rule(name) {
            let only_reads = only_reads(arguments)?;
            return if only_reads {
                Ok(())
            } else {
                Err(first.refusal(may_change(name)))
            };
        }
        match (own_check(name), listed) {
            (Some(check), _) => check(self, first, arguments),
            (None, Some(command)) => options::read(command, name, arguments).map(|_| ()),
            (None, None) => {
                let shown = excerpt(name);
                Err(first.refusal(format!("`{shown}` is not a command known to be read-only")))
            }
        }
    }

    /// Checks a command that another one starts.
    pub(super) fn check_inner(&mut self, outer: &PartWord, words: &[PartWord]) -> Checked {
        if self.level >= MAX_LEVELS {
            return Err(outer.refusal("too many nested commands"));
        }
        self.level += 1;
        let checked = self.check(words);
        self.level -= 1;
        checked
    }
}

/// Whether `tar` lists an archive of this machine. Its first operand could be options.
fn lists_archive(words: &[PartWord]) -> Result<bool, Refusal> {
    let is_local = |word: &PartWord| word.literal().is_some_and(|text| !text.contains(':'));
    let lists = arguments("tar", words)?.has_one_of(&["t", "list"]);
    let begins = words
        .first()
        .is_some_and(|first| first.prefix().starts_with('-'));
    Ok(lists && begins && words.iter().all(is_local))
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
