//! A command line as rules see it: its commands, and all that each of them may start.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use super::command_pattern::CommandPattern;
use super::directories::{self, Target};
use super::invocation::{Invocation, found_by, joined};
use super::named_file::NamedFile;
use super::outline::{names_in, outlines};
use super::started::{Line, Started, guessed, started};
use super::surroundings::{Place, Surroundings, normalised};
use super::wildcard::{GAP, GLOB};
use super::{domain, programs};
use crate::shell::{CommandPart, PartWord, WordPiece};

/// Maximum number of directories in which options let a program work.
const MAX_DIRECTORIES: usize = 16;

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
    /// What it takes from standard input to name files.
    names_taken: Vec<PartWord>,
    /// Where it may run; nothing if that is not known.
    pub(super) directories: Vec<PathBuf>,
    /// Where its relative paths may begin.
    reached: Reached,
    /// What has to match for it to be allowed.
    known: Vec<Known>,
    named: OnceCell<Vec<NamedFile>>,
    read: OnceCell<Vec<NamedFile>>,
    redirected: OnceCell<Vec<NamedFile>>,
    changed: OnceCell<Vec<NamedFile>>,
}

/// Directories that relative paths may begin at.
struct Reached {
    /// Those that are known; never empty.
    known: Vec<PathBuf>,
    /// Whether it may be others.
    is_open: bool,
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
        let mut started = guessed(script, surroundings);
        let directories = if std::mem::take(&mut started.changes_directory) {
            Vec::new()
        } else {
            vec![surroundings.request.directory.to_owned()]
        };
        let mut command = Command::new(script, Vec::new(), started, directories, surroundings);
        if command.takes_names() {
            command.names_taken.push(PartWord::unknown(0..0, "$name"));
        }
        return vec![command];
    };
    let line = Line::new(parts, surroundings);
    let parts: Vec<Vec<CommandPart>> = parts.iter().map(CommandPart::levels).collect();
    let directories = directories::of(script, &parts, surroundings);
    let mut commands: Vec<Command<'a>> = Vec::new();
    for (levels, directories) in parts.into_iter().zip(directories) {
        let written = levels
            .first()
            .and_then(|part| script.get(part.span.clone()));
        let started = started(&levels, &line);
        let mut command = Command::new(
            written.unwrap_or_default(),
            levels,
            started,
            directories,
            surroundings,
        );
        if command.takes_names() {
            let pieces = match commands.last() {
                Some(before) if before.is_piped_into(&command, script) => {
                    found_by(&before.levels[0].words)
                }
                _ => vec![WordPiece::Unknown],
            };
            command.names_taken.push(PartWord {
                pieces,
                ..PartWord::unknown(0..0, "$name")
            });
        }
        commands.push(command);
    }
    commands
}

impl<'a> Command<'a> {
    fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        started: Started,
        directories: Vec<PathBuf>,
        surroundings: &Surroundings<'_>,
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
        let reached = reached(&started, &directories, surroundings);
        Self {
            text,
            levels,
            invocations: started.invocations,
            runs_unknown: started.runs_unknown,
            names_taken: Vec::new(),
            directories,
            reached,
            known,
            named: OnceCell::new(),
            read: OnceCell::new(),
            redirected: OnceCell::new(),
            changed: OnceCell::new(),
        }
    }
}

impl Command<'_> {
    /// Whether it takes names of files from standard input.
    fn takes_names(&self) -> bool {
        let mut invocations = self.invocations.iter();
        let last = self.levels.last().map(|level| level.words.as_slice());
        let last = last.and_then(|words| words.first()?.value.as_deref());
        invocations.any(|one| programs::TAKES_NAMES.contains_with(one.program(), &one.words))
            && !last.is_some_and(|program| programs::TEXTS.contains(program))
    }

    /// Whether its output, and nothing else, is the input of the next command.
    fn is_piped_into(&self, next: &Self, script: &str) -> bool {
        let (Some(from), Some(to)) = (self.levels.first(), next.levels.first()) else {
            return false;
        };
        script
            .get(from.span.end..to.span.start)
            .is_some_and(|between| between.trim() == "|")
    }

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
            NamedFile::Outlined(_) => None,
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

    /// The files that a word, or a part of it, means where the command runs.
    pub(super) fn file(&self, name: &str, surroundings: &Surroundings<'_>) -> Vec<NamedFile> {
        let mut files = NamedFile::of(name, &self.reached.known, surroundings);
        if self.reached.is_open {
            files.extend(NamedFile::of(name, &[], surroundings));
        }
        files
    }

    /// The files that any of these words, or a part of one, may name.
    fn files<'w>(
        &self,
        words: impl Iterator<Item = &'w PartWord>,
        surroundings: &Surroundings<'_>,
    ) -> Vec<NamedFile> {
        let mut files = Vec::new();
        for outline in words.flat_map(|word| outlines(word, surroundings)) {
            for name in names_in(&outline) {
                files.extend(self.file(name, surroundings));
            }
        }
        files
    }

    /// The files that it may change, if one of them is only known when it runs.
    pub(super) fn changes_unknown(
        &self,
        surroundings: &Surroundings<'_>,
        is_wanted: impl Fn(&NamedFile) -> bool,
    ) -> bool {
        let mut files = self
            .redirected(surroundings)
            .iter()
            .chain(self.changed(surroundings));
        let mut words = self.invocations.iter().flat_map(|one| {
            let words = one.words.iter().filter_map(|word| word.value.as_deref());
            words.map(|word| (programs::name(word), &one.words))
        });
        let taken = || self.files(self.names_taken.iter(), surroundings);
        files.any(|file| file.is_unknown() && is_wanted(file))
            || (!self.names_taken.is_empty()
                && words.any(|(name, words)| programs::CHANGES.contains_with(name, words))
                && taken().iter().any(is_wanted))
    }

    /// Whether it may read a file that is only known when it runs, and that is wanted.
    pub(super) fn reads_unknown(
        &self,
        surroundings: &Surroundings<'_>,
        is_wanted: impl Fn(&NamedFile) -> bool,
    ) -> bool {
        let read = self.read.get_or_init(|| {
            let is_option = |word: &&PartWord| {
                let value = word.value.as_deref();
                value.is_some_and(|value| value.starts_with('-'))
            };
            let is_in_place = |one: &&Invocation| !matches!(one.program(), "cd" | "pushd");
            let words = self.invocations.iter().filter(is_in_place);
            let words = words
                .flat_map(Invocation::read_words)
                .chain(&self.names_taken);
            let mut files = self.files(words.filter(|word| !is_option(word)), surroundings);
            files.retain(NamedFile::is_unknown);
            files
        });
        read.iter().any(is_wanted)
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
        let leads_outside = |name: &str| {
            let known = name.split([GAP, GLOB]).next().unwrap_or_default();
            let path = Path::new(known);
            let may_leave =
                path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
            let is_open = name.contains(GAP) || (name.contains(GLOB) && name.contains(".."));
            let mut reached = self.directories.iter().map(|from| from.join(path));
            is_open || (may_leave && !reached.all(|path| is_inside(&path)))
        };
        // What `find` puts in place of `{}` is below its own operands.
        let words = self.invocations.iter().flat_map(Invocation::read_words);
        let mut outlines = words
            .filter(|word| word.text != "{}")
            .flat_map(|word| outlines(word, surroundings));
        !self.names_taken.is_empty()
            || self.directories.is_empty()
            || !self
                .directories
                .iter()
                .all(|directory| is_inside(directory))
            || outlines.any(|outline| {
                let mut names = names_in(&outline);
                names.any(|name| (name.len() > 1 || name.contains(GAP)) && leads_outside(name))
            })
    }

    /// The files that it is redirected from, or that any of its words may name.
    pub(super) fn named(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.named.get_or_init(|| {
            let invocations = self.invocations.iter();
            let words = invocations.flat_map(|one| one.words.iter().chain(&one.reads));
            self.files(words, surroundings)
        })
    }

    /// The files that it is redirected to.
    pub(super) fn redirected(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.redirected.get_or_init(|| {
            let words = self.levels.iter().take(1).flat_map(|part| &part.writes);
            let outlines = words.flat_map(|word| outlines(word, surroundings));
            outlines
                .flat_map(|outline| self.file(&outline, surroundings))
                .collect()
        })
    }

    /// The files that it, or what it starts, changes by itself.
    pub(super) fn changed(&self, surroundings: &Surroundings<'_>) -> &[NamedFile] {
        self.changed.get_or_init(|| {
            let words = self.invocations.iter().flat_map(Invocation::changed);
            let mut changed = Vec::new();
            for outline in words.flat_map(|word| outlines(word, surroundings)) {
                for name in names_in(&outline).filter(|name| !name.starts_with('-')) {
                    changed.extend(self.file(name, surroundings));
                }
            }
            changed
        })
    }
}

/// Where relative paths of a command may begin, which runs in one of `directories`: there, or where an
/// option such as `-C` of a program leads.
fn reached(started: &Started, directories: &[PathBuf], surroundings: &Surroundings<'_>) -> Reached {
    let mut is_open = directories.is_empty() || started.changes_directory;
    let mut known = directories.to_vec();
    if known.is_empty() {
        known.push(surroundings.request.directory.to_owned());
    }
    let words = started
        .invocations
        .iter()
        .flat_map(Invocation::directory_options);
    for to in words.flat_map(|word| outlines(&word, surroundings)) {
        if to.contains([GAP, GLOB]) {
            is_open = true;
        } else if known.len() <= MAX_DIRECTORIES {
            let further: Vec<PathBuf> = known
                .iter()
                .map(|from| normalised(&from.join(&to)))
                .collect();
            known.extend(further);
        }
    }
    known.sort_unstable();
    known.dedup();
    Reached { known, is_open }
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
