//! The program of a command, its operands and its subcommand, read leniently from its words.

use super::expansion::assigned_name;
use super::parts::CommandPart;
use super::redirection::Redirection;
use super::table::{COMMANDS, LAUNCHERS, Property, WRAPPERS};
use super::verdict::is_one_of;
use super::word::PartWord;

/// Programs whose first argument is a subcommand.
const WITH_SUBCOMMANDS: &str = "\
    apt apt-get aws brew bun cargo deno docker gcloud gh git go helm \
    kubectl make npm npx pip pnpm podman poetry rustup systemctl terraform uv yarn";

/// Returns the name of the program that words call, without its directory, and its subcommand if the next word
/// looks like one: `git status`, `cargo test`, `ls`. `None` without a known program.
pub fn program_and_subcommand(words: &[PartWord]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let program = program_name(program.label());
    if program.is_empty() || program.contains(['$', '`']) {
        return None;
    }
    let subcommand = arguments.first().map(PartWord::label);
    let subcommand =
        subcommand.filter(|word| is_one_of(WITH_SUBCOMMANDS, program) && is_subcommand(word));
    Some(match subcommand {
        Some(subcommand) => format!("{program} {subcommand}"),
        None => program.to_owned(),
    })
}

/// Whether a word looks like a subcommand: `status`, `build:all`.
pub fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
}

/// Returns the name of a program without its directory.
pub fn program_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

impl CommandPart {
    /// Returns its words without wrappers and their assignments: `rm x` in `sudo -u me env A=1 rm x`.
    pub fn own_words(&self) -> &[PartWord] {
        let mut words = self.words.as_slice();
        while let Some(inner) = behind_wrapper(words) {
            words = inner;
        }
        words
    }

    /// Returns the name of its program without directory, as in `own_words`; may be empty.
    pub fn own_program(&self) -> &str {
        let first = self.own_words().first();
        first.map_or("", |program| program_name(program.label()))
    }

    /// Returns the arguments of its program that are neither options nor values of options.
    pub fn operands(&self) -> Vec<&str> {
        let mut operands = Vec::new();
        let mut words = self.own_words().iter().skip(1).map(PartWord::label);
        while let Some(word) = words.next() {
            if word == "--" {
                operands.extend(words.by_ref());
            } else if word.len() < 2 || !word.starts_with('-') {
                operands.push(word);
            } else if takes_next_word(self.own_program(), word) {
                words.next();
            }
        }
        operands
    }

    /// Returns the last file that its output is redirected to, except `/dev/null` and the standard streams.
    pub fn output(&self) -> Option<&str> {
        let redirections = self.redirections.iter();
        redirections
            .filter_map(Redirection::output_file)
            .next_back()
    }

    /// Whether it has a here-document.
    pub fn has_here_document(&self) -> bool {
        let operators = self.redirections.iter().map(|one| one.operator);
        operators
            .into_iter()
            .any(|operator| matches!(operator, "<<" | "<<-"))
    }

    /// Whether its standard error is redirected to `/dev/null`.
    pub fn discards_errors(&self) -> bool {
        self.redirections.iter().any(Redirection::discards_errors)
    }

    /// Whether it is in a loop.
    pub fn is_repeated(&self) -> bool {
        self.context.is_repeated
    }

    /// Whether it is in a branch of `if` or `case`.
    pub fn is_conditional(&self) -> bool {
        self.context.is_conditional
    }
}

/// Returns the command that a wrapper starts, unless the words are another command.
fn behind_wrapper(words: &[PartWord]) -> Option<&[PartWord]> {
    let find = |length: usize| {
        let name: Vec<&str> = words.get(..length)?.iter().map(PartWord::label).collect();
        let name = name.join(" ");
        let launcher = LAUNCHERS
            .get(&name)
            .filter(|entry| entry.is(Property::First));
        let wrapper = launcher.or_else(|| WRAPPERS.get(&name))?;
        Some((name, wrapper, words.get(length..)?))
    };
    let (name, wrapper, rest) = find(2).or_else(|| find(1))?;
    let operands = wrapper.most_operands.unwrap_or(0);
    let has_value = |option: &str| takes_next_word(&name, option);
    (!rest.is_empty()).then(|| behind_options(rest, operands, has_value))
}

/// Returns the words behind options, assignments and a number of operands. `has_value` says which options have the next
/// word as their value.
pub fn behind_options(
    words: &[PartWord],
    mut operands: usize,
    has_value: impl Fn(&str) -> bool,
) -> &[PartWord] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.label();
        if text.len() > 1 && text.starts_with('-') {
            at += usize::from(has_value(text));
        } else if assigned_name(text).is_none() {
            if operands == 0 {
                break;
            }
            operands -= 1;
        }
        at += 1;
    }
    words.get(at..).unwrap_or_default()
}

/// Whether an option of a program takes the next word as its value.
fn takes_next_word(program: &str, option: &str) -> bool {
    let tables = [&COMMANDS, &WRAPPERS, &LAUNCHERS];
    let mut entries = tables.iter().filter_map(|table| table.get(program));
    entries.any(|entry| entry.takes_next_word(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_counted_with_their_subcommands() {
        let rows = [
            ("git status --short", Some("git status")),
            ("/usr/bin/git log", Some("git log")),
            ("git -C /x log", Some("git")),
            ("cargo test --lib", Some("cargo test")),
            ("cat readme", Some("cat")),
            ("npm run build:all", Some("npm run")),
            ("$x run", None),
            ("", None),
        ];
        for (line, expected) in rows {
            let words: Vec<PartWord> = line.split_whitespace().map(PartWord::known).collect();
            assert_eq!(
                program_and_subcommand(&words).as_deref(),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn wrappers_and_values_of_options_are_skipped() {
        let rows = [
            ("sudo -u me env A=1 /bin/rm -f x", "rm", "x"),
            ("timeout -k 5 10 git -C /x log -n 3 main", "git", "log main"),
            ("uv run python -m pytest -k a b.py", "pytest", "b.py"),
            ("grep -rnA 3 a src", "grep", "a src"),
            ("sort -n a", "sort", "a"),
            ("git commit -am x", "git", "commit"),
            ("rm -- -x", "rm", "-x"),
            ("sudo", "sudo", ""),
            ("", "", ""),
        ];
        for (line, program, operands) in rows {
            let commands = crate::shell::parse(line).commands;
            let found = commands.first();
            assert_eq!(
                found.map_or("", |command| command.own_program()),
                program,
                "{line}"
            );
            let found = found.map_or(Vec::new(), |command| command.operands());
            assert_eq!(found.join(" "), operands, "{line}");
        }
    }
}
