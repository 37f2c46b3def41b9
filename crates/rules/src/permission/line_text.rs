//! What the text of a command line says about its commands: whether they may be read in another way, and how text may
//! reach them. The text is searched without its structure, so that no way of writing hides a command.

use super::path_context::PathContext;
use super::programs;
use super::request::Action;
use crate::shell::MAX_LENGTH;

/// Names that change how bash or zsh reads other words, or where it finds files.
const REREAD: &str = "\
    shopt extglob nocase icase ICASE dotglob globstar GLOBIGNORE CDPATH cdable_vars /dev/fd/ \
    ~+ ~- @P} ${! ]}> ]}< $[ allexport histexpand";

impl<'a> PathContext<'a> {
    /// Returns the command line.
    pub(super) fn script(&self) -> &'a str {
        match self.request.action {
            Action::Command { script, .. } => script,
            _ => "",
        }
    }

    /// Whether the command line is too long, or took too much work, to be followed to its end.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_exhausted() || self.script().len() > MAX_LENGTH
    }

    /// Whether a shell other than bash may read the command line in another way.
    pub(super) fn is_ambiguous(&self) -> bool {
        matches!(
            self.request.action,
            Action::Command {
                is_ambiguous: true,
                ..
            }
        )
    }

    /// Whether the command line has settings or expansions that change what its other words mean.
    pub(super) fn is_unclear(&self) -> bool {
        *self.line.is_unclear.get_or_init(|| self.looks_unclear())
    }

    fn looks_unclear(&self) -> bool {
        let script = self.script();
        // In arithmetic, single quotes do not quote.
        let is_quoted_arithmetic = script.match_indices("((").any(|(at, _)| {
            let inside = script[at..].split("))").next().unwrap_or_default();
            inside.contains('\'') && inside.contains(['$', '`'])
        });
        // A value of an integer variable is evaluated, also as the word of a loop.
        let evaluates = |declares| declares && script.contains('[') && script.contains(['$', '`']);
        is_quoted_arithmetic
            || self.sets_up_zsh()
            // A script on standard input is not followed.
            || self.sourced().any(|file| file.contains("stdin"))
            || self.has_option(&["set"], "akH")
            || self.has_option(&["declare", "typeset", "local"], "n")
            || self.has_option(&["bash", "sh", "zsh"], "H")
            || ["!", "^", "histchars"]
                .iter()
                .any(|sign| script.contains(sign))
                && self.has_option(&["bash", "sh", "zsh"], "i")
            || evaluates(
                self.has_option(&["declare", "typeset", "local", "readonly", "export"], "i"),
            )
            || REREAD
                .split_whitespace()
                .any(|name| self.unquoted.contains(name))
    }

    /// Whether a command of the command line has an option with one of these letters before its operands.
    fn has_option(&self, commands: &[&str], letters: &str) -> bool {
        let mut words = self
            .unquoted
            .split(|letter: char| letter.is_whitespace() || ";|&(){}`<>".contains(letter));
        let is_command = |word: &str| commands.contains(&programs::name(word));
        while words.any(is_command) {
            let mut options = words.clone();
            while let Some(option) = options.next().filter(|word| word.starts_with(['-', '+'])) {
                if !option.starts_with("--") && option.contains(|letter| letters.contains(letter)) {
                    return true;
                }
                // The name of an option follows.
                if option.ends_with('o') {
                    options.next();
                }
            }
        }
        false
    }

    /// Returns what follows the commands `source` and `.`, up to the next blank.
    fn sourced(&self) -> impl Iterator<Item = &str> {
        const BEFORE: &str = "then do else if while until elif time ! source";
        let mut is_start = true;
        let mut is_sourcing = false;
        let words = self.unquoted.split_inclusive(char::is_whitespace);
        words.filter_map(move |word| {
            let ends_line = word.ends_with('\n');
            let word = word.trim_end();
            let found = (is_sourcing && !word.is_empty()).then_some(word);
            let end = word.rsplit([';', '&', '|', '(', '{', '`']).next();
            if !word.is_empty() {
                let begins = is_start || end != Some(word);
                is_sourcing = end == Some("source") || (end == Some(".") && begins);
                is_start = end == Some("") || BEFORE.split(' ').any(|before| before == word);
            }
            is_start |= ends_line;
            found
        })
    }

    /// Whether zsh is started with options or commands that change how it reads words.
    fn sets_up_zsh(&self) -> bool {
        let mut words = self.unquoted.split_whitespace();
        let is_zsh = |word: &str| programs::name(word) == "zsh";
        let is_option = |word: &&str| word.starts_with(['-', '+']);
        let is_plain = |word: &str| {
            let letters = word.strip_prefix('-');
            letters.is_some_and(|letters| letters.bytes().all(|letter| b"cil".contains(&letter)))
        };
        words.any(is_zsh)
            && (!words.take_while(is_option).all(is_plain)
                || self.names(&["setopt", "set ", "zmodload", "emulate", " -o ", " +o "]))
    }

    /// Whether the command line has one of these names, which may be quoted.
    fn names(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.unquoted.contains(name))
    }

    /// Whether a file that the command line opens for reading may be written through its
    /// descriptor: `truncate -s0 /dev/stdin < a`, `touch - 1< a`.
    pub(super) fn writes_through_descriptors(&self) -> bool {
        *self
            .line
            .writes_through_descriptors
            .get_or_init(|| self.may_write_through_descriptors())
    }

    fn may_write_through_descriptors(&self) -> bool {
        let script = self.unquoted.replace("/dev/null", "");
        ["/dev", "/proc", "touch"]
            .iter()
            .any(|name| script.contains(name))
    }

    /// Whether text of the command line may reach a program on a way that is not followed: by an exported
    /// variable, or by a file that a function or a script inside the line writes or uses.
    pub(super) fn passes_unseen(&self) -> bool {
        *self
            .line
            .passes_unseen
            .get_or_init(|| self.may_pass_unseen())
    }

    fn may_pass_unseen(&self) -> bool {
        const NESTING: &str = "eval trap env function";
        // An option of shells, which names no output.
        let script = self.unquoted.replace("-o pipefail", "");
        let mut words = script
            .split(|letter: char| letter.is_whitespace() || ";|&{}`<>$".contains(letter))
            .filter(|word| !word.is_empty());
        let is_nested = words.clone().any(|word| {
            let name = programs::name(word.trim_start_matches('('));
            word.ends_with("()")
                // A dot may be the directory.
                || (programs::SHELLS.contains(name) && name != ".")
                || NESTING.split(' ').any(|nesting| nesting == name)
        });
        let writes = self.unquoted.replace("/dev/null", "").replace(">&", "");
        let copies = |word: &str| {
            let name = programs::name(word);
            let option = word.split_once('=').map_or(word, |(option, _)| option);
            programs::COPIES.contains(name)
                || programs::WRITES_TEXT.contains(name)
                || option.starts_with("-o")
                || option.starts_with("-i")
                || programs::OUTPUT_OPTIONS.has_option(option)
        };
        words.clone().any(|word| word == "export")
            || self.names(&["BASH_REMATCH", "$_", "${_"])
            || self.has_option(&["declare", "typeset", "local", "readonly"], "x")
            || (is_nested || self.sourced().next().is_some())
                && (writes.contains('>') || words.any(copies))
    }

    /// Whether commands of the command line may read what others print.
    pub(super) fn passes_text(&self) -> bool {
        let script = self.script().replace("||", "");
        ["|", "`", "$(", "<(", ">("]
            .iter()
            .any(|sign| script.contains(sign))
    }

    /// Whether the command line may set a variable.
    pub(super) fn sets(&self, name: &'static str) -> bool {
        let script = &self.unquoted;
        let may_set = || {
            let mut places = script.match_indices(name);
            places.any(|(at, _)| {
                !script[..at]
                    .ends_with(|letter: char| "${_".contains(letter) || letter.is_alphanumeric())
            })
        };
        *self
            .line
            .set
            .borrow_mut()
            .entry(name)
            .or_insert_with(may_set)
    }

    /// Whether the command line may set a variable that changes which programs its commands start: `read PATH < x`.
    pub(super) fn sets_programs(&self) -> bool {
        let mut names = programs::PROGRAM_VARIABLES.names().iter();
        names.any(|name| self.sets(name))
    }

    /// Whether the command line sets a variable with arguments of a program: `TF_CLI_ARGS=apply terraform`.
    pub(super) fn gives_arguments(&self) -> bool {
        *self
            .line
            .gives_arguments
            .get_or_init(|| self.may_give_arguments())
    }

    fn may_give_arguments(&self) -> bool {
        let mut names = self.script().split('=').rev().skip(1);
        names.any(|before| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let name = before.rsplit(|letter| !is_letter(letter)).next();
            let mut parts = ["ARGS", "OPT", "FLAGS"].iter();
            name.is_some_and(|name| parts.any(|part| name.contains(part)))
        })
    }

    /// Whether globs of the command line may match names with a leading dot or in directories
    /// below.
    pub(super) fn finds_hidden(&self) -> bool {
        self.names(&["dotglob", "GLOBIGNORE", "globstar", "extglob"])
    }

    /// Whether `cd` may read its operand as the name of a variable.
    pub(super) fn finds_directories(&self) -> bool {
        self.names(&["cdable_vars", "CDPATH"])
    }

    /// Whether globs of the command line may be case-insensitive.
    pub(super) fn ignores_case(&self) -> bool {
        self.names(&["nocase"])
    }
}
