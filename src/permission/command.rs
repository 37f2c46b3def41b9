//! A command line as rules see it: its commands, and all that each of them may start.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::command_pattern::CommandPattern;
use super::directories::{self, Target};
use super::invocation::{Invocation, guessed, joined, started};
use super::named_file::{NamedFile, outline};
use super::surroundings::{Place, Surroundings};
use super::wildcard::GAP;
use super::{domain, programs};
use crate::shell::{CommandPart, PartWord};

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
        let invocations = guessed(script, surroundings);
        return vec![Command::new(script, Vec::new(), invocations, Vec::new())];
    };
    let parts: Vec<Vec<CommandPart>> = parts.iter().map(CommandPart::levels).collect();
    let directories = directories::of(script, &parts, surroundings);
    parts
        .into_iter()
        .zip(directories)
        .map(|(levels, directories)| {
            let written = levels
                .first()
                .and_then(|part| script.get(part.span.clone()));
            let invocations = started(&levels, surroundings);
            Command::new(
                written.unwrap_or_default(),
                levels,
                invocations,
                directories,
            )
        })
        .collect()
}

impl<'a> Command<'a> {
    fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        invocations: Vec<Invocation>,
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
            invocations,
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
        part.only_reads && is_harmlessly_set(part) && stays()
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
                if !outline.starts_with('-') {
                    let name = outline.strip_prefix("of=").unwrap_or(&outline);
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
        .all(|name| HARMLESS_VARIABLES.contains(&name.as_str()))
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

/// The parts of a word that may name a file: all of it, and what stands behind an option's letter, `=`
/// or `@`.
fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let behind_sign = word
        .match_indices(['=', '@'])
        .filter_map(|(at, _)| word.get(at + 1..));
    let behind_letter = word
        .strip_prefix('-')
        .and_then(|option| option.get(1..))
        .filter(|_| !word.starts_with("--"));
    std::iter::once(word)
        .chain(behind_sign)
        .chain(behind_letter)
        .filter(|name| !name.is_empty())
}
