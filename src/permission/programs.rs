//! Programs that matter to permission beyond what rules say about them.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::shell::PartWord;

/// The programs with one property.
#[derive(Default)]
pub(super) struct Programs {
    names: HashSet<&'static str>,
    /// Beginnings of further names.
    prefixes: Vec<&'static str>,
    /// Programs that have the property if one of these marks is among their arguments.
    marks: HashMap<&'static str, Vec<&'static str>>,
}

/// They start the command that follows their own options.
pub(super) static STARTS: LazyLock<Programs> = LazyLock::new(|| with("starts"));
/// They start a command somewhere behind other operands, or in options.
pub(super) static STARTS_INSIDE: LazyLock<Programs> = LazyLock::new(|| with("starts-inside"));
/// They start one behind their first operand.
pub(super) static STARTS_BEHIND_OPERAND: LazyLock<Programs> =
    LazyLock::new(|| with("starts-behind-operand"));
/// Options and words before a command.
pub(super) static COMMAND_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("command-options"));
/// Options before a directory that the program goes to.
pub(super) static DIRECTORY_OPTIONS: LazyLock<Programs> =
    LazyLock::new(|| with("directory-options"));
/// They put other words in place of `{}`.
pub(super) static REPLACES: LazyLock<Programs> = LazyLock::new(|| with("replaces"));
/// They may do so too, unless they are known to only read.
pub(super) static INTERPRETS: LazyLock<Programs> = LazyLock::new(|| with("interprets"));
/// They run the command lines that they read from standard input.
pub(super) static SHELLS: LazyLock<Programs> = LazyLock::new(|| with("shells"));
/// They always run commands that they read.
pub(super) static READS_COMMANDS: LazyLock<Programs> = LazyLock::new(|| with("reads-commands"));
/// They run commands of a language of their own that they read.
pub(super) static READS_LANGUAGE: LazyLock<Programs> = LazyLock::new(|| with("reads-language"));
/// Variables whose values programs run as command lines.
pub(super) static RUN_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("run-variables"));
/// Variables that make programs run code, or options, from elsewhere.
pub(super) static CODE_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("code-variables"));
/// Variables with the names of files that the shell or programs read and write.
pub(super) static FILE_VARIABLES: LazyLock<Programs> = LazyLock::new(|| with("file-variables"));
/// They change the files that a patch names.
pub(super) static PATCHES: LazyLock<Programs> = LazyLock::new(|| with("patches"));
/// They change files of the same names in a directory.
pub(super) static COPIES: LazyLock<Programs> = LazyLock::new(|| with("copies"));
/// They take the names of files from standard input.
pub(super) static TAKES_NAMES: LazyLock<Programs> = LazyLock::new(|| with("takes-names"));
/// After them, names of commands mean something else.
pub(super) static RENAMES: LazyLock<Programs> = LazyLock::new(|| with("renames"));
/// They evaluate their arguments.
pub(super) static EVALUATES: LazyLock<Programs> = LazyLock::new(|| with("evaluates"));
/// Options after which an argument is text.
pub(super) static TEXT_OPTIONS: LazyLock<Programs> = LazyLock::new(|| with("text-options"));
/// They do nothing with files that their arguments may name.
pub(super) static TEXTS: LazyLock<Programs> = LazyLock::new(|| with("texts"));
/// No allow rule with a star allows them.
pub(super) static UNSEEN: LazyLock<Programs> = LazyLock::new(|| with("unseen"));
/// Anything can be behind their names.
pub(super) static ANY: LazyLock<Programs> = LazyLock::new(|| with("any"));
/// They change the files that are their operands.
pub(super) static CHANGES: LazyLock<Programs> = LazyLock::new(|| with("changes"));
/// The mode `acceptEdits` runs them on files of the working directories.
pub(super) static EDITS: LazyLock<Programs> = LazyLock::new(|| with("edits"));

fn with(property: &str) -> Programs {
    let mut programs = Programs::default();
    for line in super::table::lines(include_str!("tables/programs.txt")) {
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
    /// Whether a program has the property, whatever its arguments are.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether a program has the property with these arguments.
    pub(super) fn contains_with(&self, name: &str, arguments: &[PartWord]) -> bool {
        self.contains(name) || arguments.iter().any(|word| self.is_mark(name, word))
    }

    /// Whether an argument of a program is one that gives it the property.
    pub(super) fn is_mark(&self, name: &str, argument: &PartWord) -> bool {
        let marks = self.marks.get(name).map_or(&[][..], Vec::as_slice);
        // `tar cT list` has options without a dash.
        let text = argument.value.as_deref().unwrap_or(&argument.text);
        let is_dashless = name == "tar" && text.starts_with(['c', 'x', 't', 'r', 'u', 'A']);
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
        Some(_) => text.starts_with(mark),
        None if mark == "=" => text.contains('='),
        None => match mark.strip_suffix('*') {
            Some(prefix) => text.to_ascii_lowercase().starts_with(prefix),
            None => text == mark,
        },
    }
}

/// The name of a program that is given by any path.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
