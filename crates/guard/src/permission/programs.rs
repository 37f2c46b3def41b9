//! The table of the programs that deny and ask rules look into.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The use that a program makes of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It starts the commands behind some options.
    Starts,
    /// It evaluates command lines of a shell.
    Shell,
    /// It evaluates code in another language.
    Code,
    /// It evaluates a text that counts only where it is literal.
    Text,
    /// It changes the files that its operands name.
    Writer,
}

/// The words of a row about the arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage(&'static str);

impl Usage {
    pub(super) fn has(self, word: &str) -> bool {
        self.words().any(|known| known == word)
    }

    pub(super) fn words(self) -> impl Iterator<Item = &'static str> + Clone {
        self.0.split_whitespace()
    }

    pub(super) fn options(self) -> impl Iterator<Item = &'static str> + Clone {
        self.words().filter(|word| word.starts_with('-'))
    }
}

/// The rows of a program.
type Program = Vec<(Kind, Usage)>;

static TABLE: LazyLock<HashMap<&str, Program>> = LazyLock::new(|| {
    let mut table: HashMap<&str, Program> = HashMap::new();
    for line in lines(include_str!("tables/programs.txt")) {
        let (kind, row) = line.split_once(": ").unwrap_or_default();
        let (names, usage) = row.split_once(" | ").unwrap_or((row, ""));
        let kind = match kind {
            "starts" => Kind::Starts,
            "shell" => Kind::Shell,
            "code" => Kind::Code,
            "text" => Kind::Text,
            _ => Kind::Writer,
        };
        for name in names.split_whitespace() {
            table.entry(name).or_default().push((kind, Usage(usage)));
        }
    }
    table
});

/// Returns what is known about a program by its name without directory. `python3.11` is `python3`.
pub(super) fn known(name: &str) -> &'static [(Kind, Usage)] {
    let number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let plain = name.rsplit_once('.').map_or(name, |(plain, _)| plain);
    let names = [name, plain, name.trim_end_matches(number)];
    let known = names.into_iter().find_map(|name| TABLE.get(name));
    known.map_or(&[], Vec::as_slice)
}

/// Returns what is known about a program with a subcommand.
pub(super) fn known_with(name: &str, subcommand: &str) -> &'static [(Kind, Usage)] {
    let known = TABLE.get(&*format!("{name}+{subcommand}"));
    known.map_or(&[], Vec::as_slice)
}

/// Returns the name of a program without its directory.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether the value of a variable is a program, or a file of commands, that other programs run.
pub(super) fn names_program(variable: &str) -> bool {
    const OTHERS: &str = "BASH_ENV BROWSER ENV GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH \
        GIT_SSH_COMMAND LESSCLOSE LESSOPEN PROMPT_COMMAND RSYNC_RSH SHELL SSH_ASKPASS SUDO_ASKPASS VISUAL";
    variable.ends_with("PAGER")
        || variable.ends_with("EDITOR")
        || OTHERS.split_whitespace().any(|other| other == variable)
}

/// Returns the lines that are neither empty nor comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
