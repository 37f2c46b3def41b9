//! The program of a command, its operands and its subcommand, read leniently from its words.

use super::expansion::assignment_name_length;
use super::parts::CommandPart;
use super::redirection::Redirection;
use super::table::{COMMANDS, LAUNCHERS, Property, WRAPPERS};
use super::verdict::is_one_of;
use super::word::PartWord;

/// Programs whose first argument is a subcommand.
const PROGRAMS_WITH_SUBCOMMANDS: &str = "\
    apt apt-get aws brew bun cargo deno docker gcloud gh git go helm \
    kubectl make npm npx pip pnpm podman poetry rustup systemctl terraform uv yarn";

/// Returns the name of the program that words start, without its directory, and its subcommand if the next word looks
/// like one: `git status`, `cargo test`, `ls`. `None` if the program is not known.
pub fn program_and_subcommand(words: &[PartWord]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let program = program_name(program.label());
    if program.is_empty() || program.contains(['$', '`']) {
        return None;
    }
    let next = arguments.first().map(PartWord::label);
    let subcommand = next.filter(|word| {
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
        is_one_of(PROGRAMS_WITH_SUBCOMMANDS, program)
            && word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.bytes().all(is_in_name)
    });
    let both = subcommand.map(|subcommand| format!("{program} {subcommand}"));
    both.or_else(|| Some(program.to_owned()))
}

/// Returns the name of a program without its directory.
pub fn program_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

impl CommandPart {
    /// Returns its words without wrappers and their assignments: `rm x` in `sudo -u me env A=1 rm x`.
    pub fn own_words(&self) -> &[PartWord] {
        let mut words = self.words.as_slice();
        while let Some(inner) = find_wrapped_words(words) {
            words = inner;
        }
        words
    }

    /// Returns the name of the program of [`Self::own_words`], without its directory; empty if there is none.
    pub fn own_program(&self) -> &str {
        let first = self.own_words().first();
        first.map_or("", |program| program_name(program.label()))
    }

    /// Returns the arguments of [`Self::own_program`] that are neither options nor values of options.
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

    /// Returns the target of its last output redirection to a file, except `/dev/null` and the standard streams.
    pub fn output_file(&self) -> Option<&str> {
        let mut last_first = self.redirections.iter().rev();
        last_first.find_map(Redirection::output_file)
    }

    /// Whether it has a here-document.
    pub fn has_here_document(&self) -> bool {
        let mut redirections = self.redirections.iter();
        redirections.any(|redirection| matches!(redirection.operator, "<<" | "<<-"))
    }

    /// Whether its standard error is redirected to `/dev/null`.
    pub fn discards_errors(&self) -> bool {
        self.redirections.iter().any(Redirection::discards_errors)
    }
}

/// Returns the names by which tables may list the program that words start, each with the index of its last word: the
/// program alone, and with each word up to its subcommand, which may follow options with values.
pub(crate) fn listed_names<'w>(mut words: impl Iterator<Item = &'w str>) -> Vec<(usize, String)> {
    let program = program_name(words.next().unwrap_or_default());
    let mut names = vec![(0, program.to_owned())];
    let mut may_be_value = false;
    for (at, word) in words.enumerate() {
        names.push((at + 1, format!("{program} {word}")));
        let is_option = word.starts_with('-');
        if !is_option && !may_be_value {
            break;
        }
        may_be_value = is_option;
    }
    names
}

/// Returns the words of the command that a program or its subcommand starts, as in `npm --silent exec ls`; `None` if it
/// starts none.
pub(crate) fn find_wrapped_words(words: &[PartWord]) -> Option<&[PartWord]> {
    let names = listed_names(words.iter().map(PartWord::label)).into_iter();
    let mut wrappers = names.rev().filter_map(|(at, name)| {
        let wrapper = LAUNCHERS.get(&name)?;
        let operands = wrapper.max_operands.unwrap_or(0);
        let is_wrapper = wrapper.has_property(Property::First);
        is_wrapper.then_some((at, name, operands))
    });
    let (at, name, mut operands) = wrappers.next()?;
    let mut rest = words.get(at + 1..)?;
    while let Some((word, others)) = rest.split_first() {
        let text = word.label();
        let is_option = text.len() > 1 && text.starts_with('-');
        if name == "command" && matches!(text, "-v" | "-V") {
            return None;
        }
        if !is_option && assignment_name_length(text).is_none() {
            if operands == 0 {
                break;
            }
            operands -= 1;
        }
        let has_value = is_option && takes_next_word(&name, text);
        rest = others.get(usize::from(has_value)..).unwrap_or_default();
    }
    Some(rest).filter(|rest| !rest.is_empty())
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
            let words: Vec<PartWord> = line.split_whitespace().map(PartWord::from_value).collect();
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
            ("uv run --with ruff ruff check", "ruff", "check"),
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
