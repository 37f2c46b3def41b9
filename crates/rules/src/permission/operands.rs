//! The operands of programs: the files that they read and change, and text.

use super::invocation::Invocation;
use super::programs;
use super::wildcard::GAP;
use crate::shell::PartWord;

impl Invocation {
    /// Returns the words that may name a file whose contents it shows.
    pub(super) fn read_words(&self) -> impl Iterator<Item = &PartWord> {
        self.named_words().filter(|word| !self.only_counts(word))
    }

    /// Returns the words that may name a file.
    pub(super) fn named_words(&self) -> impl Iterator<Item = &PartWord> {
        let program = self.program();
        let skipped = if self.takes_only_text() {
            self.words.len()
        } else {
            1
        };
        // Their first operand is a script, unless an option gives one.
        let gives_script =
            |text: &String| programs::SCRIPT_OPTIONS.is_mark(program, &PartWord::known(text));
        let has_script = self.outlines.iter().skip(1).any(gives_script);
        let script = self.words.iter().skip(1).position(|word| {
            programs::SCRIPT_FIRST.contains(program) && !has_script && !word.text.starts_with('-')
        });
        let before = self.words.iter().take(1).chain(&self.words);
        let words = self.words.iter().zip(before).enumerate();
        let words = words.filter(move |(index, (word, before))| {
            // `docker run -t` has no value.
            let is_terminal = |word: &PartWord| {
                program == "docker"
                    && word.text.contains('t')
                    && !word.text.starts_with("--")
                    && self
                        .words
                        .iter()
                        .any(|word| ["run", "exec", "create"].contains(&&*word.text))
            };
            let is_message =
                |word| programs::TEXT_OPTIONS.is_mark(program, word) && !is_terminal(word);
            // Names from standard input have an empty span.
            let is_taken = word.value.is_none() && word.span.is_empty();
            *index >= skipped
                && !is_taken
                && !self.is_revision(word)
                && script.is_none_or(|script| *index != script + 1)
                && !(is_message(before) && !word.text.starts_with('-') || is_message(word))
                && !(has_script && precedes_script(before))
        });
        words.map(|(_, (word, _))| word).chain(&self.reads)
    }

    /// Whether the contents of a file are not shown that an operand known only at run time names.
    fn only_counts(&self, word: &PartWord) -> bool {
        let is_operand = word.value.is_none() && !word.text.starts_with('-');
        // A split value may be `--files0-from=x`.
        let is_one = word.text.starts_with('"') || !matches!(self.program(), "wc" | "du");
        is_operand && is_one && programs::COUNTS.contains(self.program())
    }

    /// Whether a word is a subcommand, or names a target or script, but no file.
    pub(super) fn is_subcommand_or_target(&self, word: &PartWord) -> bool {
        let value = |at: usize| self.words.get(at).and_then(|word| word.value.as_deref());
        let is = |at: usize| value(at).is_some() && value(at) == word.value.as_deref();
        matches!(self.program(), "make" | "cargo" | "npm" | "pnpm" | "yarn")
            && !(self.starts_elsewhere() && word.text.contains(['/', '.']))
            || programs::TAKES_DATA.contains(self.program()) && is(1)
    }

    /// Whether a word known only at run time is a range of revisions of git, as in `"main..$branch"`, in a subcommand
    /// that shows no file of a revision (`main:a`).
    fn is_revision(&self, word: &PartWord) -> bool {
        let inside = word
            .text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let mut ends = inside.unwrap_or_default().split("..");
        let is_name = |text: &str| {
            // It may be the id of a file.
            let is_id = text.bytes().all(|byte| byte.is_ascii_hexdigit());
            !is_id
                && text.starts_with(char::is_alphanumeric)
                && !text.contains(['/', ':', '"', '$', '`'])
        };
        // A tag, as in `git diff "x..$y"`, may name a file.
        let is_diff = |word: &PartWord| word.value.as_deref() == Some("diff");
        let diffs = self.subcommand().is_some_and(is_diff);
        let shows = |word: &PartWord| word.value.as_deref().is_none_or(|text| text == "show");
        self.program() == "git"
            && word.value.is_none()
            && !self.words.iter().skip(1).take(1).any(shows)
            && ends
                .next()
                .is_some_and(|end| is_name(end) && (!diffs || end == "HEAD"))
            && ends.next().is_some_and(|end| !end.contains(':'))
    }

    /// Whether none of its words name a file.
    pub(super) fn takes_only_text(&self) -> bool {
        let subcommand = self.words.get(1).map_or(&[][..], std::slice::from_ref);
        let is_git = self.program() == "git";
        let names_file = |word: &PartWord| {
            // `git tag x HEAD:.env`
            is_git && word.value.is_some() && word.text.contains(':')
                || programs::FILE_OPTIONS.is_mark(self.program(), word)
        };
        programs::TEXTS.contains_with(self.program(), subcommand)
            && !(is_git && (self.begins_anywhere() || self.transfers()))
            && !self.words.iter().any(names_file)
            || self.unstages()
    }

    /// Whether it starts a command in a directory that is not named.
    pub(super) fn starts_elsewhere(&self) -> bool {
        self.begins_anywhere() && programs::ELSEWHERE.contains_with(self.program(), &self.words)
    }

    /// Whether git fetches from or pushes to a repository that a word may name by its path: `git fetch ./x.bundle`.
    pub(super) fn transfers(&self) -> bool {
        let is_transfer = |word: &PartWord| {
            let names = ["fetch", "pull", "push", "remote", "ls-remote"];
            names.contains(&word.known_value())
        };
        let is_path = |word: &PartWord| {
            let value = word.value.as_deref();
            value.is_some_and(|value| value.contains(['/', '.']))
        };
        // A repository known only at run time.
        let mut words = self.words.iter().skip_while(|word| !is_transfer(word));
        let mut operands = words.by_ref().skip(1);
        let first = operands.find(|word| !word.text.starts_with('-'));
        self.program() == "git"
            && self.subcommand().is_some_and(is_transfer)
            && (self.words.iter().any(is_path) || first.is_some_and(|word| word.value.is_none()))
    }

    /// Whether it passes its input only to programs that show no contents of files, as in
    /// `xargs -n 1 echo`.
    pub(super) fn passes_text_only(&self) -> bool {
        let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        let starts = self
            .operand_positions()
            .map(|at| self.outlines[at].as_str());
        let mut starts = starts.filter(|word| !word.starts_with('-') && !is_number(word));
        let first = starts.next();
        let is_harmless =
            |program: &str| programs::TEXTS.contains(program) || programs::COUNTS.contains(program);
        let is_script =
            |word: &String| word.contains(|letter: char| ";|&<>()$`\n".contains(letter));
        matches!(self.program(), "xargs" | "parallel")
            && first.is_some()
            && (first.into_iter().chain(starts)).all(is_harmless)
            && !self.outlines.iter().any(is_script)
    }

    /// Whether `cp` copies the file that a word names to the file that the last word names.
    pub(super) fn is_copied(&self, at: usize) -> bool {
        let is_plain = |word: &PartWord| {
            let value = word.value.as_deref();
            value.is_some_and(|value| {
                let mut letters = value.strip_prefix('-').unwrap_or_default().chars();
                letters.all(|letter| "LHPRadfinprvux".contains(letter))
            })
        };
        self.program() == "cp" && at + 1 < self.words.len() && self.words.iter().all(is_plain)
    }

    /// Returns the number of arguments before the last, if it only copies what they name.
    pub(super) fn copied(&self) -> usize {
        let count = self.words.len().saturating_sub(2);
        if self.is_copied(count) { count } else { 0 }
    }

    /// Whether it removes files from git's index only.
    fn unstages(&self) -> bool {
        let mut words = self.words.iter().map(|word| word.value.as_deref());
        if words.next() != Some(Some("git")) || words.next() != Some(Some("rm")) {
            return false;
        }
        let is_option = |word: &&str| word.starts_with('-');
        let options = words.clone().flatten().filter(is_option);
        let (cached, others): (Vec<&str>, Vec<&str>) =
            options.partition(|word| *word == "--cached");
        words.all(|word| word.is_some())
            && !cached.is_empty()
            && others
                .iter()
                .all(|word| ["-r", "-f", "-q", "--"].contains(word))
    }

    /// Returns the words that name files it changes directly.
    pub(super) fn changed(&self) -> impl Iterator<Item = PartWord> {
        let operands = self.behind(|program, words| {
            (program == ">" || programs::CHANGES.contains_with(program, words)) && !self.unstages()
        });
        let operands = operands.skip(self.copied());
        let outputs = &programs::OUTPUT_OPTIONS;
        let written = option_values(&self.words, |option| outputs.has_option(option));
        let written = written.filter(|word| word.value.is_some());
        let is_own = |option: &str| outputs.has_mark(self.program(), option);
        let own = option_values(&self.words, is_own);
        let named = operands.chain(&self.writes).chain(&self.patched);
        named.cloned().chain(written).chain(own)
    }

    /// Whether the program does not change the file that a word names, if it names one.
    pub(super) fn only_reads_operand(&self, at: usize) -> bool {
        let value = |at: usize| {
            let word = &self.words[at];
            word.value_or_text()
        };
        let is_option = |text: &str| text.starts_with('-') && text != "-";
        let is_switch = |at: usize| {
            let letters = value(at).trim_start_matches(['-', 'u', 'v', 'x']);
            value(at).len() > 1 && letters.is_empty()
        };
        // The command that `find` or a wrapper starts, or a module of Python.
        let is_start = |at: &usize| {
            let before = value(at - 1);
            match self.program() {
                "find" => ["-exec", "-execdir", "-ok", "-okdir"].contains(&before),
                program if program.starts_with("python") => {
                    before == "-m" && (1..at - 1).all(is_switch)
                }
                program => *at == 1 && programs::STARTS.contains_with(program, &self.words),
            }
        };
        let start = (1..at).rev().find(is_start).unwrap_or_default();
        let program = programs::name(value(start));
        let only_reads = programs::READS.contains(program)
            || start == 0
                && self
                    .subcommand()
                    .is_some_and(|word| programs::READS.is_mark(program, word));
        let mut all = self.words.iter();
        let writes = all.any(|word| programs::WRITING_OPTIONS.is_mark(program, word));
        let is_input = |text: &str| {
            if writes {
                return false;
            }
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            let options = &programs::INPUT_OPTIONS;
            is_option(text)
                && (options.is_mark(program, &PartWord::known(name))
                    || only_reads && options.contains(name))
        };
        let before = value(at - 1);
        let is_attached = before.contains('=') || !before.starts_with("--") && before.len() > 2;
        if is_option(value(at)) || is_input(before) && !is_attached {
            return is_input(value(at)) || is_input(before);
        }
        let is_script = programs::SCRIPTS.contains(self.program()) && (1..at).all(is_switch);
        let mut words = (1..self.words.len()).map(value);
        // The value of an option may be a file that it writes.
        let has_value = is_option(before) && !before.contains('=') && !programs::is_flag(before);
        let is_value = has_value && !is_input(before);
        // It may be an option with a value: `git diff $1 x`.
        let is_unknown = at > 1 && self.outlines[at - 1].trim_matches(GAP).is_empty();
        self.is_copied(at)
            || is_script
            || only_reads
                && !is_unknown
                && (program == "git" || !is_value)
                && !words.any(|word| programs::WRITING_OPTIONS.contains(word))
    }

    /// Returns the subcommand of `git`.
    pub(super) fn subcommand(&self) -> Option<&PartWord> {
        let mut words = self.words.iter().skip(1);
        while let Some(word) = words.next().filter(|_| self.program() == "git") {
            let text = word.value.as_deref()?;
            if !text.starts_with('-') {
                return Some(word);
            }
            let options = [&programs::VALUE_OPTIONS, &programs::DIRECTORY_OPTIONS];
            if options.iter().any(|options| options.contains(text)) {
                words.next();
            }
        }
        None
    }
}

/// Returns the values of some options.
pub(super) fn option_values<'a>(
    words: &'a [PartWord],
    is_option: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = PartWord> + 'a {
    words.iter().enumerate().filter_map(move |(index, word)| {
        let text = word.value_or_text();
        if is_option(text) {
            return words.get(index + 1).cloned();
        }
        let (name, value) = text.split_once('=').or_else(|| text.split_at_checked(2))?;
        let is_attached = !value.is_empty() && is_option(name);
        is_attached.then(|| match &word.value {
            Some(_) => PartWord::known(value),
            None => PartWord::unknown(0..0, value),
        })
    })
}

/// Whether a word is an option of `sed` whose value, a script, is the next word.
fn precedes_script(word: &PartWord) -> bool {
    let option = word.known_value();
    let letters = option
        .strip_prefix('-')
        .and_then(|letters| letters.strip_suffix('e'));
    let is_flag = |letter: u8| b"nErsuz".contains(&letter);
    option == "--expression" || letters.is_some_and(|letters| letters.bytes().all(is_flag))
}
