//! The table of the programs that deny and ask rules look into.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A program that starts the command behind its own options.
#[derive(Debug, Default)]
pub(super) struct Wrapper {
    /// The number of its operands before the command.
    pub(super) operands: usize,
    /// Its options that have a value.
    pub(super) with_value: Vec<&'static str>,
    /// Its options that start nothing.
    pub(super) without_command: Vec<&'static str>,
    /// Whether words of its input follow those of the command.
    pub(super) adds_input: bool,
}

/// The language of texts that a program evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Command lines of a shell.
    Shell,
    /// Code in another language.
    Code,
    /// A text that counts only where it is literal.
    Text,
}

/// A program that evaluates text.
#[derive(Debug)]
pub(super) struct Evaluator {
    pub(super) language: Language,
    /// Its options whose value is evaluated.
    pub(super) options: Vec<&'static str>,
    pub(super) has_first: bool,
    pub(super) has_all: bool,
    pub(super) has_values: bool,
    pub(super) has_file: bool,
    pub(super) has_input: bool,
}

/// A program that changes the files that its operands name.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) operands: WrittenOperands,
    /// The options whose values are files that it changes.
    pub(super) outputs: Vec<&'static str>,
    /// The options with which it does, unless it always does.
    pub(super) condition: Vec<&'static str>,
}

/// The operands of a program that are files it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenOperands {
    All,
    Last,
    None,
}

/// The row of a program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) wrapper: Option<Wrapper>,
    /// The options that a command follows.
    pub(super) starts: Vec<&'static str>,
    pub(super) evaluator: Option<Evaluator>,
    pub(super) writer: Option<Writer>,
}

static TABLE: LazyLock<HashMap<&str, Program>> = LazyLock::new(|| {
    let mut table: HashMap<&str, Program> = HashMap::new();
    for line in lines(include_str!("tables/programs.txt")) {
        let Some((kind, row)) = line.split_once(": ") else {
            continue;
        };
        let (names, usage) = row.split_once(" | ").unwrap_or((row, ""));
        let usage: Vec<&'static str> = usage.split_whitespace().collect();
        for name in names.split_whitespace() {
            table.entry(name).or_default().add(kind, &usage);
        }
    }
    table
});

impl Program {
    fn add(&mut self, kind: &str, usage: &[&'static str]) {
        let has = |word: &str| usage.contains(&word);
        let options = usage.iter().copied().filter(|word| word.starts_with('-'));
        let evaluator = |language| Evaluator {
            language,
            options: options.clone().collect(),
            has_first: has("first"),
            has_all: has("all"),
            has_values: has("value"),
            has_file: has("file"),
            has_input: has("stdin"),
        };
        match kind {
            "wrapper" => {
                self.wrapper = Some(Wrapper {
                    operands: usage.iter().find_map(|word| word.parse().ok()).unwrap_or(0),
                    with_value: options.clone().collect(),
                    adds_input: has("input"),
                    without_command: usage
                        .iter()
                        .filter_map(|word| word.strip_prefix('!'))
                        .collect(),
                });
            }
            "starts" => self.starts = options.collect(),
            "shell" => self.evaluator = Some(evaluator(Language::Shell)),
            "code" => self.evaluator = Some(evaluator(Language::Code)),
            "text" => self.evaluator = Some(evaluator(Language::Text)),
            _ => {
                let (outputs, condition) = if has("of") {
                    (options.collect(), Vec::new())
                } else {
                    (Vec::new(), options.collect())
                };
                self.writer = Some(Writer {
                    operands: match () {
                        () if has("of") => WrittenOperands::None,
                        () if has("last") => WrittenOperands::Last,
                        () => WrittenOperands::All,
                    },
                    outputs,
                    condition,
                });
            }
        }
    }
}

/// Returns what is known about a program by its name without directory. `python3.11` is `python3`.
pub(super) fn known(name: &str) -> Option<&'static Program> {
    let number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let plain = name.rsplit_once('.').map_or(name, |(plain, _)| plain);
    let names = [name, plain, name.trim_end_matches(number)];
    names.into_iter().find_map(|name| TABLE.get(name))
}

/// Returns what is known about a program with a subcommand.
pub(super) fn known_with(name: &str, subcommand: &str) -> Option<&'static Program> {
    TABLE.get(&*format!("{name}+{subcommand}"))
}

/// Returns the name of a program without its directory.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether the value of a variable is a program, or a file of commands, that other programs run.
pub(super) fn names_program(variable: &str) -> bool {
    const OTHERS: &[&str] = &[
        "BASH_ENV",
        "BROWSER",
        "ENV",
        "GIT_ASKPASS",
        "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "LESSCLOSE",
        "LESSOPEN",
        "PROMPT_COMMAND",
        "RSYNC_RSH",
        "SHELL",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "VISUAL",
    ];
    variable.ends_with("PAGER") || variable.ends_with("EDITOR") || OTHERS.contains(&variable)
}

/// Returns the lines that are neither empty nor comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
