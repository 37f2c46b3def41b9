//! Tables of programs with special effects for permission.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::shell::{CommandPart, PartWord};

/// Variables that may be assigned before a command without affecting allow rules.
static HARMLESS_VARIABLES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    super::programs::lines(include_str!("tables/variables.txt"))
        .flat_map(str::split_whitespace)
        .collect()
});

/// Programs with a property.
#[derive(Default)]
pub(super) struct Programs {
    names: HashSet<&'static str>,
    /// Prefixes of further names.
    prefixes: Vec<&'static str>,
    /// Programs that have the property only with one of these arguments.
    marks: HashMap<&'static str, Vec<&'static str>>,
}

/// Programs that start the command after their options.
pub(super) static STARTS: LazyLock<Programs> = LazyLock::new(|| with("starts"));
/// Programs that start a command after other operands or in options.
pub(super) static STARTS_INSIDE: LazyLock<Programs> = LazyLock::new(|| with("starts-inside"));
/// Programs whose first operand, or second with one of these words, is a subcommand.
pub(super) static SUBCOMMANDS: LazyLock<Programs> = LazyLock::new(|| with("subcommands"));
/// Programs that start a command after their first operand.
pub(super) static STARTS_BEHIND_OPERAND: LazyLock<Programs> =
    LazyLock::new(|| with("starts-behind-operand"));
/// Options and words that precede a command.
pub(super) static COMMAND_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("command-options"));
/// Options that change the directory of the program.
pub(super) static DIRECTORY_OPTIONS: LazyLock<Programs> =
    LazyLock::new(|| with("directory-options"));
/// Programs that replace `{}` with other words.
pub(super) static REPLACES: LazyLock<Programs> = LazyLock::new(|| with("replaces"));
/// Interpreters, which may start commands unless they are known to only read.
pub(super) static INTERPRETS: LazyLock<Programs> = LazyLock::new(|| with("interprets"));
/// Shells, which run standard input.
pub(super) static SHELLS: LazyLock<Programs> = LazyLock::new(|| with("shells"));
/// Shells that may read a command line in another way than bash.
pub(super) static OTHER_SHELLS: LazyLock<Programs> = LazyLock::new(|| with("other-shells"));
/// Programs that always run commands from their input.
pub(super) static READS_COMMANDS: LazyLock<Programs> = LazyLock::new(|| with("reads-commands"));
/// Programs with a command language that they read from their input.
pub(super) static READS_LANGUAGE: LazyLock<Programs> = LazyLock::new(|| with("reads-language"));
/// Variables whose values are run as command lines.
pub(super) static RUN_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("run-variables"));
/// Variables that add code or options to programs.
pub(super) static CODE_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("code-variables"));
/// Variables with names of files that the shell or programs read and write.
pub(super) static FILE_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("file-variables"));
/// Programs that change the files named in a patch.
pub(super) static PATCHES: LazyLock<Programs> = LazyLock::new(|| with("patches"));
/// Programs that create files of the same names in a directory.
pub(super) static COPIES: LazyLock<Programs> = LazyLock::new(|| with("copies"));
/// Programs that make a directory accessible under another name.
pub(super) static RELOCATES: LazyLock<Programs> = LazyLock::new(|| with("relocates"));
/// Programs that unpack archives.
pub(super) static UNPACKS: LazyLock<Programs> = LazyLock::new(|| with("unpacks"));
/// Programs that read the files that their standard input names.
pub(super) static INCLUDES: LazyLock<Programs> = LazyLock::new(|| with("includes"));
/// Programs that take file names from standard input.
pub(super) static TAKES_NAMES: LazyLock<Programs> = LazyLock::new(|| with("takes-names"));
/// Programs that change the meaning of command names.
pub(super) static RENAMES: LazyLock<Programs> = LazyLock::new(|| with("renames"));
/// Programs that set the variables that their arguments name.
pub(super) static SETS: LazyLock<Programs> = LazyLock::new(|| with("sets"));
/// Programs that evaluate their arguments.
pub(super) static EVALUATES: LazyLock<Programs> = LazyLock::new(|| with("evaluates"));
/// Options whose value is text.
pub(super) static TEXT_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("text-options"));
/// Programs whose first operand is a script in their own language.
pub(super) static SCRIPT_FIRST: LazyLock<Programs> = LazyLock::new(|| with("script-first"));
/// Options with a script, after which the first operand is a file.
pub(super) static SCRIPT_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("script-options"));
/// Programs that treat their arguments as text, not as files.
pub(super) static TEXTS: LazyLock<Programs> = LazyLock::new(|| with("texts"));
/// Programs that no allow rule with `*` allows.
pub(super) static UNSEEN: LazyLock<Programs> = LazyLock::new(|| with("unseen"));
/// Programs that can run anything.
pub(super) static ANY: LazyLock<Programs> = LazyLock::new(|| with("any"));
/// Options whose value is a file that the program writes.
pub(super) static OUTPUT_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("output-options"));
/// Programs whose words are data unless they contain special characters.
pub(super) static TAKES_DATA: LazyLock<Programs> = LazyLock::new(|| with("takes-data"));
/// Programs that show no contents of their operands.
pub(super) static COUNTS: LazyLock<Programs> = LazyLock::new(|| with("counts"));
/// Programs whose subcommands may be shortened.
pub(super) static ABBREVIATES: LazyLock<Programs> = LazyLock::new(|| with("abbreviates"));
/// Options whose value is a program that is started.
pub(super) static PROGRAM_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("program-options"));
/// Words that make a program change its operands. The marks of `-` are options that may precede the name of a
/// written file.
pub(super) static WRITING_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("writing-options"));
/// Programs that do not change the files that their operands name.
pub(super) static READS: LazyLock<Programs> = LazyLock::new(|| with("reads"));
/// Programs that do not change the file that their first operand names.
pub(super) static SCRIPTS: LazyLock<Programs> = LazyLock::new(|| with("scripts"));
/// Options whose value is a file or directory that the program reads.
pub(super) static INPUT_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("input-options"));
/// The commands of `git`; others may be aliases.
pub(super) static GIT_COMMANDS: LazyLock<Programs> = LazyLock::new(|| with("git-commands"));
/// Programs that run the commands in a file.
pub(super) static RUNS_FILES: LazyLock<Programs> = LazyLock::new(|| with("runs-files"));
/// Files that programs run even if they are not named.
pub(super) static DEFAULT_FILES: LazyLock<Programs> = LazyLock::new(|| with("default-files"));
/// Programs that change their operands.
pub(super) static CHANGES: LazyLock<Programs> = LazyLock::new(|| with("changes"));
/// Programs that the mode `acceptEdits` runs on files in the working directories.
pub(super) static EDITS: LazyLock<Programs> = LazyLock::new(|| with("edits"));

fn with(property: &str) -> Programs {
    let mut programs = Programs::default();
    for line in super::programs::lines(include_str!("tables/programs.txt")) {
        let (row, words) = line.split_once(": ").unwrap_or_default();
        match row.split_once(' ') {
            Some((of, program)) if of == property => {
                let marks = programs.marks.entry(program).or_default();
                marks.extend(words.split_whitespace());
            }
            None if row == property => {
                for name in words.split_whitespace() {
                    match name.strip_suffix('*') {
                        Some(prefix) => programs.prefixes.push(prefix),
                        None => _ = programs.names.insert(name),
                    }
                }
            }
            Some(_) | None => {}
        }
    }
    programs
}

impl Programs {
    /// Whether a program has the property regardless of its arguments.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether it has an option, which may be shortened.
    pub(super) fn has_option(&self, option: &str) -> bool {
        let mut names = self.names.iter();
        self.names.contains(option)
            || (!option.contains('=') && names.any(|name| is_abbreviation(option, name)))
    }

    /// Whether a program has the property with these arguments.
    pub(super) fn contains_with(&self, name: &str, arguments: &[PartWord]) -> bool {
        self.contains(name) || arguments.iter().any(|word| self.is_mark(name, word))
    }

    /// Whether a program has the property with some arguments only.
    pub(super) fn has_marks(&self, name: &str) -> bool {
        self.marks.contains_key(name)
    }

    /// Whether an argument gives a program the property.
    pub(super) fn is_mark(&self, name: &str, argument: &PartWord) -> bool {
        let marks = self.marks.get(name).map_or(&[][..], Vec::as_slice);
        // `tar cT list` has options without a dash.
        let text = argument.value.as_deref().unwrap_or(&argument.text);
        let is_dashless = name.ends_with("tar") && text.starts_with(['c', 'x', 't', 'r', 'u', 'A']);
        let bundle = is_dashless.then(|| PartWord::known(&format!("-{text}")));
        let argument = bundle.as_ref().unwrap_or(argument);
        marks.iter().any(|mark| is_marked(argument, mark))
    }
}

fn is_marked(word: &PartWord, mark: &str) -> bool {
    let text = word.value.as_deref().unwrap_or(&word.text);
    match mark.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => {
            text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
        }
        Some(_) => text.starts_with(mark) || is_abbreviation(text, mark),
        None if mark == "=" => text.contains('='),
        None if mark == "$" => word.value.is_none(),
        None => match mark.strip_suffix('*') {
            Some(prefix) => text.to_ascii_lowercase().starts_with(prefix),
            None => text == mark,
        },
    }
}

/// Whether a text is a long option with a shortened name.
fn is_abbreviation(text: &str, option: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name.len() > 4 && name.starts_with("--") && option.starts_with(name)
}

/// Returns the name of a program without its directory.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether none of its assignments can change which command runs.
pub(super) fn is_harmlessly_set(part: &CommandPart) -> bool {
    part.assignments
        .iter()
        .all(|assignment| HARMLESS_VARIABLES.contains(&assignment.name.as_str()))
}

/// Whether the command starts something that rules with `*` do not see.
pub(super) fn starts_unseen(part: &CommandPart) -> bool {
    let mut words = part.words.iter().filter_map(|word| word.value.as_deref());
    match words.next().map(name) {
        Some("find") => part.words.iter().any(|word| {
            let value = word.value.as_deref().unwrap_or("-exec");
            ["-exec", "-ok", "-delete"]
                .iter()
                .any(|action| value.starts_with(action))
        }),
        Some(program) => UNSEEN.contains(program),
        None => true,
    }
}

/// Returns the lines that are neither empty nor comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
