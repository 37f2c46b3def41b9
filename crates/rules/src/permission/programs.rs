//! Tables of programs with special effects for permission.

use crate::shell::{CommandPart, PartWord};

/// Programs with a property.
pub(super) struct Programs {
    /// Sorted.
    names: &'static [&'static str],
    /// Prefixes of further names.
    prefixes: &'static [&'static str],
    /// Programs that have the property only with one of these arguments, sorted.
    marks: &'static [(&'static str, &'static [&'static str])],
}

/// The programs of a property in `tables/programs.txt`.
macro_rules! with {
    ($property:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $property, ".rs"))
    };
}

/// Programs that start the command after their options.
pub(super) static STARTS: Programs = with!("starts");
/// Programs that start a command after other operands or in options.
pub(super) static STARTS_INSIDE: Programs = with!("starts-inside");
/// Programs that start another unless their first operand is one of these subcommands.
static OWN_COMMANDS: Programs = with!("own-commands");
/// Programs whose first operand, or second with one of these words, is a subcommand.
pub(super) static SUBCOMMANDS: Programs = with!("subcommands");
/// Programs that start a command after their first operand.
pub(super) static STARTS_BEHIND_OPERAND: Programs = with!("starts-behind-operand");
/// Options and words that precede a command.
pub(super) static COMMAND_OPTIONS: Programs = with!("command-options");
/// Commands that change the directory of the shell to their operand.
pub(super) static ENTERS: Programs = with!("enters");
/// Options that change the directory of the program.
pub(super) static DIRECTORY_OPTIONS: Programs = with!("directory-options");
/// Programs that replace `{}` with other words.
pub(super) static REPLACES: Programs = with!("replaces");
/// Interpreters, which may start commands unless they are known to only read.
pub(super) static INTERPRETS: Programs = with!("interprets");
/// Shells, which run standard input.
pub(super) static SHELLS: Programs = with!("shells");
/// Shells that may read a command line in another way than bash.
pub(super) static OTHER_SHELLS: Programs = with!("other-shells");
/// Programs that always run commands from their input.
pub(super) static READS_COMMANDS: Programs = with!("reads-commands");
/// Programs with a command language that they read from their input.
pub(super) static READS_LANGUAGE: Programs = with!("reads-language");
/// Variables whose values are run as command lines.
pub(super) static RUN_VARIABLES: Programs = with!("run-variables");
/// Variables that may be assigned before a command without affecting allow rules.
static HARMLESS_VARIABLES: Programs = with!("harmless-variables");
/// Variables that add code or options to programs.
pub(super) static CODE_VARIABLES: Programs = with!("code-variables");
/// Variables with names of files that the shell or programs read and write.
pub(super) static FILE_VARIABLES: Programs = with!("file-variables");
/// Variables with the directory in which programs work.
pub(super) static DIRECTORY_VARIABLES: Programs = with!("directory-variables");
/// Programs that change the files named in a patch.
pub(super) static PATCHES: Programs = with!("patches");
/// Programs that create files of the same names in a directory.
pub(super) static COPIES: Programs = with!("copies");
/// Programs that make a directory accessible under another name.
pub(super) static RELOCATES: Programs = with!("relocates");
/// Programs that write files with the names at the ends of addresses.
pub(super) static DOWNLOADS: Programs = with!("downloads");
/// Programs that write the contents of `x.gz` to `x`.
pub(super) static DECOMPRESSES: Programs = with!("decompresses");
/// Files that programs change with a subcommand that does not name them: `pkg=package.json`.
static DEFAULT_CHANGES: Programs = with!("default-changes");
/// Programs that create files in their working directory whose names are not among their words.
pub(super) static CREATES: Programs = with!("creates");
/// Programs that unpack archives.
pub(super) static UNPACKS: Programs = with!("unpacks");
/// Programs that read the files that their standard input names.
pub(super) static INCLUDES: Programs = with!("includes");
/// Programs that take file names from standard input.
pub(super) static TAKES_NAMES: Programs = with!("takes-names");
/// Programs that change the meaning of command names.
pub(super) static RENAMES: Programs = with!("renames");
/// Programs that set the variables that their arguments name.
pub(super) static SETS: Programs = with!("sets");
/// Programs that evaluate their arguments.
pub(super) static EVALUATES: Programs = with!("evaluates");
/// Options of git whose value precedes the subcommand.
pub(super) static VALUE_OPTIONS: Programs = with!("value-options");
/// Variables that change which programs later commands start.
pub(super) static PROGRAM_VARIABLES: Programs = with!("program-variables");
/// Options whose value is a file without settings.
pub(super) static MESSAGE_OPTIONS: Programs = with!("message-options");
/// Programs that start programs of a package that is an operand.
pub(super) static INSTALLS: Programs = with!("installs");
/// Options whose value is text.
pub(super) static TEXT_OPTIONS: Programs = with!("text-options");
/// Programs whose first operand is a script in their own language.
pub(super) static SCRIPT_FIRST: Programs = with!("script-first");
/// Options with a script, after which the first operand is a file.
pub(super) static SCRIPT_OPTIONS: Programs = with!("script-options");
/// Programs that treat their arguments as text, not as files.
pub(super) static TEXTS: Programs = with!("texts");
/// Programs that no allow rule with `*` allows.
pub(super) static UNSEEN: Programs = with!("unseen");
/// Programs that can run anything.
pub(super) static ANY: Programs = with!("any");
/// Options whose value is a file that the program writes.
pub(super) static OUTPUT_OPTIONS: Programs = with!("output-options");
/// Programs that write the text of their input or of a file.
pub(super) static WRITES_TEXT: Programs = with!("writes-text");
/// Programs whose output option names a file without text.
pub(super) static COMPILES: Programs = with!("compiles");
/// Programs whose words are data unless they contain special characters.
pub(super) static TAKES_DATA: Programs = with!("takes-data");
/// Words after which a program of `TAKES_DATA` may start a command.
pub(super) static RUNNER_WORDS: Programs = with!("runner-words");
/// Programs that show no contents of their operands.
pub(super) static COUNTS: Programs = with!("counts");
/// Programs whose subcommands may be shortened.
pub(super) static ABBREVIATES: Programs = with!("abbreviates");
/// Options whose value is a program that is started.
pub(super) static PROGRAM_OPTIONS: Programs = with!("program-options");
/// Words that make a program change its operands.
pub(super) static WRITING_OPTIONS: Programs = with!("writing-options");
/// Programs that do not change the files that their operands name.
pub(super) static READS: Programs = with!("reads");
/// Programs that do not change the file that their first operand names.
pub(super) static SCRIPTS: Programs = with!("scripts");
/// Programs in whose commands a name may follow without a blank.
pub(super) static GLUED_NAMES: Programs = with!("glued-names");
/// Spellings of options and subcommands with the same meaning, joined by `=`.
static SAME: Programs = with!("same");
/// Options that mean several others, joined by `=`.
static COMBINED: Programs = with!("combined");
/// Programs whose options are not shortened to the words before a dash.
pub(super) static WHOLE_OPTIONS: Programs = with!("whole-options");
/// Programs whose operands may have any order.
pub(super) static ANY_ORDER: Programs = with!("any-order");
/// Words before a subcommand that may be left out.
static OPTIONAL: Programs = with!("optional");
/// Subcommands whose option `-m` has a message.
pub(super) static TAKES_MESSAGE: Programs = with!("takes-message");
/// Options whose value is a file, of programs whose other words name none.
pub(super) static FILE_OPTIONS: Programs = with!("file-options");
/// Programs that start commands in a directory that is not named.
pub(super) static ELSEWHERE: Programs = with!("elsewhere");
/// Programs that give files other absolute paths.
pub(super) static REMOUNTS: Programs = with!("remounts");
/// Options without a value.
static FLAGS: Programs = with!("flags");
/// Options whose value is a file or directory that the program reads.
pub(super) static INPUT_OPTIONS: Programs = with!("input-options");
/// The commands of `git`; others may be aliases.
pub(super) static GIT_COMMANDS: Programs = with!("git-commands");
/// Programs that run the commands in a file.
pub(super) static RUNS_FILES: Programs = with!("runs-files");
/// The extensions of files with code, or with settings that may name commands.
pub(super) static CODE_EXTENSIONS: Programs = with!("code-extensions");
/// Programs that run code of the project in which they are started.
pub(super) static RUNS_PROJECT: Programs = with!("runs-project");
/// Files that programs run even if they are not named.
pub(super) static DEFAULT_FILES: Programs = with!("default-files");
/// Programs that change their operands.
pub(super) static CHANGES: Programs = with!("changes");
/// Programs that the mode `acceptEdits` runs on files in the working directories.
pub(super) static EDITS: Programs = with!("edits");

impl Programs {
    fn has_name(&self, name: &str) -> bool {
        self.names.binary_search(&name).is_ok()
    }

    /// Returns the arguments with which a program has the property.
    fn marks_of(&self, name: &str) -> Option<&'static [&'static str]> {
        let found = self
            .marks
            .binary_search_by(|(program, _)| (*program).cmp(name));
        found.ok().map(|at| self.marks[at].1)
    }

    /// Whether a program has the property regardless of its arguments.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.has_name(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Returns the names that have the property regardless of arguments.
    pub(super) fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Whether it has an option, which may be shortened.
    pub(super) fn has_option(&self, option: &str) -> bool {
        let mut names = self.names.iter();
        self.has_name(option)
            || (!option.contains('=') && names.any(|name| is_abbreviation(option, name)))
    }

    /// Whether a program has the property with these arguments.
    pub(super) fn contains_with(&self, name: &str, arguments: &[PartWord]) -> bool {
        self.contains(name) || self.has_one_of(name, arguments)
    }

    /// Whether a program has the property with some arguments only.
    pub(super) fn has_marks(&self, name: &str) -> bool {
        self.marks_of(name).is_some()
    }

    /// Whether a word is one of the arguments with which a program has the property.
    pub(super) fn has_mark(&self, name: &str, word: &str) -> bool {
        let marks = self.marks_of(name);
        marks.is_some_and(|marks| marks.contains(&word))
    }

    /// Whether an argument gives a program the property.
    pub(super) fn is_mark(&self, name: &str, argument: &PartWord) -> bool {
        self.has_one_of(name, std::slice::from_ref(argument))
    }

    /// Whether one of these arguments gives a program the property.
    fn has_one_of(&self, name: &str, arguments: &[PartWord]) -> bool {
        let Some(marks) = self.marks_of(name) else {
            return false;
        };
        arguments.iter().any(|argument| {
            // `tar cT list` has options without a dash.
            let text = argument.value_or_text();
            let is_dashless =
                name.ends_with("tar") && text.starts_with(['c', 'x', 't', 'r', 'u', 'A']);
            let bundle = is_dashless.then(|| PartWord::known(&format!("-{text}")));
            let argument = bundle.as_ref().unwrap_or(argument);
            marks.iter().any(|mark| is_marked(argument, mark))
        })
    }
}

fn is_marked(word: &PartWord, mark: &str) -> bool {
    let text = word.value_or_text();
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
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

/// Whether an option is known to have no value.
pub(super) fn is_flag(option: &str) -> bool {
    option.starts_with("--no") || FLAGS.contains(option)
}

/// Returns the spellings of an option, subcommand or name that have the same meaning, or only itself.
pub(super) fn spellings<'a>(program: &str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let groups = SAME.marks_of(program).unwrap_or_default().iter();
    let mut groups = groups.filter(|group| group.split('=').any(|one| one == word));
    groups.next().copied().unwrap_or(word).split('=')
}

/// Returns the first of the spellings of an option, subcommand or name that have the same meaning.
pub(super) fn canonical<'a>(program: &str, word: &'a str) -> &'a str {
    spellings(program, word).next().unwrap_or(word)
}

/// Returns the options that an option means together, in their first spellings; empty if it means itself.
pub(super) fn combined<'a>(program: &'a str, option: &str) -> impl Iterator<Item = &'a str> {
    let rows = COMBINED.marks_of(program).unwrap_or_default().iter();
    let mut rows = rows.filter_map(|row| row.split_once('='));
    let found = rows.find(|(name, _)| *name == option);
    let parts = found.into_iter().flat_map(|(_, parts)| parts.split('='));
    parts.map(|part| canonical(program, part))
}

/// Returns the files that a program changes because of a subcommand among these words.
pub(super) fn default_changes(
    program: &str,
    words: &[String],
) -> impl Iterator<Item = &'static str> {
    let rows = DEFAULT_CHANGES.marks_of(program).unwrap_or_default().iter();
    let rows = rows.filter_map(|row| row.split_once('='));
    rows.filter(|(name, _)| words.iter().any(|word| canonical(program, word) == *name))
        .map(|(_, file)| file)
}

/// Whether a program starts another because its first operand is not one of its subcommands.
pub(super) fn starts_operand(program: &str, words: &[PartWord]) -> bool {
    let is_option = |at: usize| words[at].text.starts_with('-');
    let is_operand = |at: &usize| !is_option(*at);
    // The first operand may be the value of an option: `yarn --cwd x tsc`.
    let mut operands = (1..words.len()).filter(is_operand);
    let first = operands.next();
    let is_value = first.is_some_and(|at| at > 1 && !words[at - 1].text.contains('='));
    let second = operands.next().filter(|_| is_value);
    let mut operands = first.into_iter().chain(second);
    OWN_COMMANDS.has_marks(program) && operands.any(|at| !OWN_COMMANDS.is_mark(program, &words[at]))
}

/// Whether a word before the subcommand of a program may be left out: `docker container rm`.
pub(super) fn is_optional(program: &str, word: &str) -> bool {
    OPTIONAL.has_mark(program, word)
}

/// Returns the name of a program without its directory.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a program may run code of the project in which it is started: it is known to, or it is not listed.
pub(super) fn may_run_project(name: &str) -> bool {
    let listed = [
        &READS,
        &CHANGES,
        &TAKES_DATA,
        &TEXTS,
        &COUNTS,
        &SETS,
        &RENAMES,
    ];
    RUNS_PROJECT.contains(name)
        || SHELLS.contains(name)
        || !listed
            .iter()
            .any(|table| table.contains(name) || table.has_marks(name))
}

/// Whether none of its assignments can change which command runs.
pub(super) fn is_harmlessly_set(part: &CommandPart) -> bool {
    part.assignments
        .iter()
        .all(|assignment| HARMLESS_VARIABLES.contains(&assignment.name))
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
