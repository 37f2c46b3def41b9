//! A command line as rules see it: its commands, and all that each of them may start.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use super::command_pattern::CommandPattern;
use super::directories::{self, Target};
use super::invocation::{Invocation, joined};
use super::named_file::{NamedFile, outline};
use super::started::{Started, guessed, started};
use super::surroundings::{Place, Surroundings};
use super::wildcard::GAP;
use super::{domain, programs};
use crate::shell::{CommandPart, PartInput, PartWord};

/// Maximum number of option letters in one word that a value may follow.
const MAX_LETTERS: usize = 8;

/// Variables that may be set before a command that a rule allows.
static HARMLESS_VARIABLES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    super::table::lines(include_str!("tables/variables.txt"))
        .flat_map(str::split_whitespace)
        .collect()
});

/// A command of a command line.
pub(super) struct Command<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    /// The command, and those that it starts in its place, one after the other; none if the command
    /// line is not understood.
    pub(super) levels: Vec<CommandPart>,
    /// All that may be run.
    pub(super) invocations: Vec<Invocation>,
    /// Whether it may also run commands that are only known when it runs.
    pub(super) runs_unknown: bool,
    /// Where it may run; nothing if that is not known.
    pub(super) directories: Vec<PathBuf>,
    /// What has to match for it to be allowed.
    known: Vec<Known>,
    named: OnceCell<Vec<NamedFile>>,
    redirected: OnceCell<Vec<NamedFile>>,
    changed: OnceCell<Vec<NamedFile>>,
}

/// A way to write a command, with gaps for what is not known.
struct Known {
    text: String,
    /// What is set before it, word for word, where a rule has to name that.
    set: String,
    /// Whether it starts something that rules with a star do not see.
    starts_unseen: bool,
}

/// The commands of a command line, which consists of `parts`. If it is not understood, one that may be
/// anything in it.
pub(super) fn commands<'a>(
    script: &'a str,
    parts: Option<&[CommandPart]>,
    surroundings: &Surroundings<'_>,
) -> Vec<Command<'a>> {
    let Some(parts) = parts else {
        let started = guessed(script, surroundings);
        return vec![Command::new(script, Vec::new(), started, Vec::new())];
    };
    let printed = printed(parts);
    let parts: Vec<Vec<CommandPart>> = parts.iter().map(CommandPart::levels).collect();
    let directories = directories::of(script, &parts, surroundings);
    parts
        .into_iter()
        .zip(directories)
        .map(|(levels, directories)| {
            let written = levels
                .first()
                .and_then(|part| script.get(part.span.clone()));
            let started = started(&levels, &printed, surroundings);
            Command::new(written.unwrap_or_default(), levels, started, directories)
        })
        .collect()
}

/// The texts that commands print because they are among their words or in their here-documents.
fn printed(parts: &[CommandPart]) -> Vec<String> {
    let texts = parts.iter().flat_map(|part| {
        let arguments = part.words.iter().skip(1);
        let arguments = arguments.map(|word| word.value.as_deref().unwrap_or(&word.text));
        let input = match &part.input {
            PartInput::Text(text) => text.clone(),
            PartInput::Inherited | PartInput::Given => None,
        };
        std::iter::once(joined(arguments)).chain(input)
    });
    texts.collect()
}

impl<'a> Command<'a> {
    fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        started: Started,
        directories: Vec<PathBuf>,
    ) -> Self {
        let mut known = Vec::new();
        for level in &levels {
            for by_value in [true, false] {
                let text = joined(level.words.iter().map(|word| known_text(word, by_value)));
                if text.is_empty() || text.starts_with(GAP) {
                    continue;
                }
                let starts_unseen = starts_unseen(level);
                if !level.assigned.is_empty() {
                    known.push(Known {
                        text: format!("{}{text}", level.assigned),
                        set: level.assigned.clone(),
                        starts_unseen,
                    });
                }
                if is_harmlessly_set(level) {
                    known.push(Known {
                        text,
                        set: String::new(),
                        starts_unseen,
                    });
                }
            }
        }
        known.dedup_by(|one, other| one.text == other.text);
        Self {
            text,
            levels,
            invocations: started.invocations,
            runs_unknown: started.runs_unknown,
            directories,
            known,
            named: OnceCell::new(),
            redirected: OnceCell::new(),
            changed: OnceCell::new(),
        }
    }
}

impl Command<'_> {
    /// Whether the command line that it belongs to is understood.
    pub(super) fn is_understood(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Whether it, or anything that it starts, may match. What is not known matches.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        self.invocations.iter().any(|one| one.may_be(pattern))
    }

    /// Whether it is known to match, itself or behind programs that only start it.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        self.known.iter().any(|known| {
            pattern.begins_with(&known.set)
                && pattern.covers(&known.text)
                && (pattern.is_literal() || !known.starts_unseen)
        })
    }

    /// The servers that it names by address.
    pub(super) fn hosts(&self) -> impl Iterator<Item = String> {
        let words = self.invocations.iter().flat_map(|one| &one.words);
        words
            .filter_map(|word| word.value.as_deref())
            .filter(|value| value.contains("://"))
            .filter_map(domain::host)
    }

    /// The words of what it starts in the end, as far as they are known, and if nothing else is set
    /// for it.
    pub(super) fn known_words(&self) -> Option<Vec<&str>> {
        let level = self.levels.last().filter(|part| is_harmlessly_set(part))?;
        let words = level.words.iter();
        Some(words.map_while(|word| word.value.as_deref()).collect())
    }

    /// Whether it consists of redirections alone.
    pub(super) fn is_redirection(&self) -> bool {
        self.levels
            .iter()
            .all(|part| part.words.is_empty() && part.assignments.is_empty())
    }

    /// The files that it is redirected to, if all of them are known.
    pub(super) fn redirection_targets(
        &self,
        surroundings: &Surroundings<'_>,
    ) -> Option<Vec<&Place>> {
        let targets = self.redirected(surroundings).iter().map(|file| match file {
            NamedFile::Known(place) => Some(place),
            NamedFile::Outlined { .. } | NamedFile::Somewhere(_) => None,
        });
        targets.collect()
    }

    /// Whether it is known to change nothing, apart from the files that it is redirected to.
    pub(super) fn only_reads(&self, surroundings: &Surroundings<'_>) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // What assigns a value that a command prints has that command beside it.
            return part.only_reads && !part.assignments.is_empty();
        }
        let stays = || match directories::target(&self.levels, surroundings) {
            None => true,
            Some(Target::Unknown) => false,
            Some(Target::Known(to)) => {
                let mut reached = self.directories.iter().map(|from| from.join(&to));
                !self.directories.is_empty()
                    && reached.all(|to| surroundings.is_inside(&surroundings.place(&to)))
            }
        };
        part.only_reads && is_harmlessly_set(part) && stays() && !self.reads_outside(surroundings)
    }

    /// The file that a word, or a part of it, means where the command runs.
    pub(super) fn file(
        &self,
        name: &str,
        word: &PartWord,
        surroundings: &Surroundings<'_>,
    ) -> Vec<NamedFile> {
        NamedFile::of(name, word, &self.directories, surroundings)
    }

    /// Whether it may change a file that is only known when it runs.
    pub(super) fn changes_unknown(&self, surroundings: &Surroundings<'_>) -> bool {
        let mut files = self
            .redirected(surroundings)
            .iter()
            .chain(self.changed(surroundings));
        let mut words = self.invocations.iter().flat_map(|one| {
            let words = one.words.iter().filter_map(|word| word.value.as_deref());
            words.map(|word| (programs::name(word), &one.words))
        });
        files.any(|file| matches!(file, NamedFile::Somewhere(_)))
            || (self.takes_names()
                && words.any(|(name, words)| programs::CHANGES.contains_with(name, words)))
    }

    /// Whether it may read a file that is only known when it runs.
    pub(super) fn reads_unknown(&self, surroundings: &Surroundings<'_>) -> bool {
        let mut outlines = self
            .read_words()
            .map(|word| (outline(word, surroundings), word));
        self.takes_names()
            || outlines.any(|(outline, word)| {
                let files = names_in(&outline).flat_map(|name| self.file(name, word, surroundings));
                let is_option = outline.starts_with('-') && word.value.is_some();
                let mut files = files.filter(|_| !is_option);
                files.any(|file| matches!(file, NamedFile::Somewhere(_)))
            })
    }

    /// Whether it takes names of files from standard input.
    fn takes_names(&self) -> bool {
        let mut programs = self.invocations.iter().map(Invocation::program);
        programs.any(|program| programs::TAKES_NAMES.contains(program))
    }

    /// Whether reads are confined to the working directories, and it may read a file elsewhere.
    pub(super) fn reads_outside(&self, surroundings: &Surroundings<'_>) -> bool {
        surroundings.request.confines_reads && self.names_outside(surroundings)
    }

    /// Whether it may name a file outside of the working directories.
    pub(super) fn names_outside(&self, surroundings: &Surroundings<'_>) -> bool {
        let is_inside = |path: &Path| {
            path == Path::new("/dev/null") || surroundings.is_inside(&surroundings.place(path))
        };
        let is_outside = |word: &PartWord| {
            let outline = outline(word, surroundings);
            let is_glob = !word.text.contains(['$', '`']);
            let mut names = names_in(&outline).filter(|name| name.len() > 1 || name.contains(GAP));
            names.any(|name| {
                let known = name.split(GAP).next().unwrap_or_default();
                let path = Path::new(known);
                let may_leave = path.is_absolute()
                    || path.components().any(|part| part == Component::ParentDir);
                let is_known = !name.contains(GAP) || (is_glob && !name.contains(".."));
                !is_known
                    || (may_leave
                        && !self
                            .directories
                            .iter()
                            .all(|from| is_inside(&from.join(path))))
            })
        };
        // What `find` puts in place of `{}` is below its own operands.
        let mut words = self.read_words().filter(|word| word.text != "{}");
        self.takes_names()
            || self.directories.is_empty()
            || !self
                .directories
                .iter()
                .all(|directory| is_inside(directory))
            || words.any(is_outside)
    }

    /// The words that may name a file that it reads.
    fn read_words(&self) -> impl Iterator<Item = &PartWord> {
        self.invocations.iter().flat_map(|one| {
            let program = one.program();
            let is_text = programs::TEXTS.contains(program);
            let skipped = if is_text { one.words.len() } else { 1 };
            // The first operand of these is a script.
            let script = one.words.iter().position(|word| {
                matches!(program, "awk" | "gawk" | "mawk" | "sed" | "gsed")
                    && word.span != one.words[0].span
                    && !word.text.starts_with('-')
            });
            let before = one.words.iter().take(1).chain(&one.words);
            let words = one.words.iter().zip(before).enumerate();
            let words = words.filter(move |(index, (word, before))| {
                let is_message = |word| programs::TEXT_OPTIONS.is_mark(program, word);
                *index >= skipped
                    && Some(*index) != script
                    && !is_message(before)
                    && !is_message(word)
            });
            words.map(|(_, (word, _))| word).chain(&one.reads)
        })
    }

    /// The files that it is redirected from, or that any of its words may name.
    pub(super) fn named(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.named.get_or_init(|| {
            let words = self
                .invocations
                .iter()
                .flat_map(|one| one.words.iter().chain(&one.reads));
            let mut named = Vec::new();
            for word in words {
                let outline = outline(word, surroundings);
                for name in names_in(&outline) {
                    named.extend(self.file(name, word, surroundings));
                }
            }
            named
        })
    }

    /// The files that it is redirected to.
    pub(super) fn redirected(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.redirected.get_or_init(|| {
            let words = self.levels.iter().take(1).flat_map(|part| &part.writes);
            words
                .flat_map(|word| self.file(&outline(word, surroundings), word, surroundings))
                .collect()
        })
    }

    /// The files that it, or what it starts, changes by itself.
    pub(super) fn changed(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.changed.get_or_init(|| {
            let words = self.invocations.iter().flat_map(Invocation::changed);
            let mut changed = Vec::new();
            for word in words {
                let outline = outline(word, surroundings);
                for name in names_in(&outline).filter(|name| !name.starts_with('-')) {
                    changed.extend(self.file(name, word, surroundings));
                }
            }
            changed
        })
    }
}

/// The word for allow rules, to be covered as it is written or as what it means. What is only known
/// when the command runs has to be covered by a star, and a blank in a word separates none.
fn known_text(word: &PartWord, by_value: bool) -> &str {
    match word.value.as_deref() {
        None => "\0",
        Some(value) if by_value && !value.is_empty() && !value.contains(char::is_whitespace) => {
            value
        }
        Some(_) => &word.text,
    }
}

/// Whether nothing is set for it that may make it another command.
pub(super) fn is_harmlessly_set(part: &CommandPart) -> bool {
    part.assignments
        .iter()
        .all(|assignment| HARMLESS_VARIABLES.contains(&assignment.name.as_str()))
}

/// Whether the command starts something that rules with a star do not see.
fn starts_unseen(part: &CommandPart) -> bool {
    let mut words = part.words.iter().filter_map(|word| word.value.as_deref());
    match words.next().map(programs::name) {
        Some("find") => part.words.iter().any(|word| {
            let value = word.value.as_deref().unwrap_or("-exec");
            ["-exec", "-ok", "-delete"]
                .iter()
                .any(|action| value.starts_with(action))
        }),
        Some(program) => programs::UNSEEN.contains(program),
        None => true,
    }
}

/// The parts of a word that may name a file: all of it, and what follows letters of options, `=`, `@` or
/// `:`.
pub(super) fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let behind_sign = word
        .match_indices(['=', '@', ':'])
        .filter_map(|(at, _)| word.get(at + 1..));
    let letters = word.strip_prefix('-').unwrap_or_default();
    let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    let behind_letters = (1..=count.min(MAX_LETTERS)).filter_map(|at| letters.get(at..));
    std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_letters)
        .filter(|name| !name.is_empty())
}
