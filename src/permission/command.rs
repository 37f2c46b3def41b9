//! A command line as rules see it: its commands, and all that each of them may start.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::command_pattern::CommandPattern;
use super::directories::Target;
use super::named_file::{NamedFile, outline};
use super::surroundings::{Place, Surroundings};
use super::wildcard::GAP;
use super::{directories, domain, programs};
use crate::shell::{CommandPart, PartWord, Verdict, analyse, command_parts};

/// How deep command lines in the arguments of commands are looked at.
const DEEPEST: usize = 4;

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
    levels: Vec<CommandPart>,
    /// All that may be run.
    invocations: Vec<Invocation>,
    /// Where it may run; nothing if that is not known.
    directories: Vec<PathBuf>,
    files: OnceCell<Files>,
}

/// A program and its arguments.
struct Invocation {
    words: Vec<PartWord>,
    /// Whether it may begin at any of the words, as behind `xargs`.
    begins_anywhere: bool,
    /// Ways to write it.
    texts: Vec<String>,
}

/// The files that a command names.
#[derive(Default)]
pub(super) struct Files {
    /// By any word.
    pub(super) named: Vec<NamedFile>,
    /// Where it is redirected to.
    pub(super) redirected: Vec<NamedFile>,
    /// What it changes by itself.
    pub(super) changed: Vec<NamedFile>,
}

/// The commands of a command line. If it is not understood, one that may be anything in it.
pub(super) fn commands<'a>(script: &'a str, surroundings: &Surroundings<'_>) -> Vec<Command<'a>> {
    let Some(parts) = command_parts(script) else {
        return vec![Command {
            text: script,
            levels: Vec::new(),
            invocations: guessed(script, surroundings),
            directories: Vec::new(),
            files: OnceCell::new(),
        }];
    };
    let directories = directories::of(script, &parts, surroundings);
    parts
        .into_iter()
        .zip(directories)
        .map(|(part, directories)| {
            let mut invocations = Vec::new();
            let levels = levels(part);
            started(&levels, DEEPEST, surroundings, &mut invocations);
            Command {
                text: levels
                    .first()
                    .and_then(|part| script.get(part.span.clone()))
                    .unwrap_or_default(),
                levels,
                invocations,
                directories,
                files: OnceCell::new(),
            }
        })
        .collect()
}

/// The command and what it starts in its place.
pub(super) fn levels(part: CommandPart) -> Vec<CommandPart> {
    std::iter::successors(Some(part), CommandPart::unwrapped).collect()
}

/// Collects all that commands may start.
fn started(
    levels: &[CommandPart],
    deeper: usize,
    surroundings: &Surroundings<'_>,
    found: &mut Vec<Invocation>,
) {
    for level in levels {
        let invocation = Invocation::new(level.words.clone(), false, surroundings);
        let scripts = invocation.words.iter().skip(1).filter_map(|word| {
            let value = word.value.as_ref().filter(|_| invocation.begins_anywhere)?;
            value
                .contains([' ', '\t', '\n', ';', '|', '&'])
                .then(|| value.clone())
        });
        let scripts: Vec<String> = scripts.collect();
        if !invocation.words.is_empty() {
            found.push(invocation);
        }
        for script in scripts {
            match command_parts(&script).filter(|_| deeper > 0) {
                Some(parts) => {
                    for part in parts {
                        started(&self::levels(part), deeper - 1, surroundings, found);
                    }
                }
                None => found.extend(guessed(&script, surroundings)),
            }
        }
    }
}

/// What may be run by a text that is not understood: anything between signs that separate commands.
fn guessed(script: &str, surroundings: &Surroundings<'_>) -> Vec<Invocation> {
    let script = script.replace("\\\n", "").replace('>', " > ");
    script
        .split([';', '|', '&', '\n', '(', ')', '{', '}', '`'])
        .map(|piece| piece.replace(['"', '\'', '\\'], ""))
        .filter(|piece| !piece.trim().is_empty())
        .map(|piece| {
            let words = piece.split_whitespace().map(|word| PartWord {
                span: 0..0,
                text: word.to_owned(),
                value: (!word.contains('$')).then(|| word.to_owned()),
            });
            Invocation::new(words.collect(), true, surroundings)
        })
        .collect()
}

impl Invocation {
    fn new(words: Vec<PartWord>, is_guessed: bool, surroundings: &Surroundings<'_>) -> Self {
        let outlines: Vec<String> = words
            .iter()
            .map(|word| outline(word, surroundings))
            .collect();
        let begins_anywhere = is_guessed
            || outlines
                .first()
                .is_some_and(|program| programs::STARTS.contains(programs::name(program)));
        let written = joined(words.iter().map(|word| word.text.as_str()));
        let meant = joined(outlines.iter().map(String::as_str));
        // By whatever path.
        let by_name = joined(outlines.iter().enumerate().map(|(index, word)| {
            if index == 0 || begins_anywhere {
                programs::name(word)
            } else {
                word
            }
        }));
        let mut texts = vec![written, meant, by_name];
        texts.dedup();
        Self {
            words,
            begins_anywhere,
            texts,
        }
    }

    fn may_be(&self, pattern: &CommandPattern) -> bool {
        self.texts.iter().any(|text| {
            pattern.may_cover(text)
                || (self.begins_anywhere
                    && text
                        .match_indices(' ')
                        .filter_map(|(at, _)| text.get(at + 1..))
                        .any(|rest| !rest.starts_with(GAP) && pattern.may_cover(rest)))
        })
    }

    /// The words behind each of these programs.
    fn behind<'a>(
        &'a self,
        is_wanted: impl Fn(&str, &[PartWord]) -> bool + 'a,
    ) -> impl Iterator<Item = &'a PartWord> {
        let beginnings = if self.begins_anywhere {
            self.words.len()
        } else {
            1
        };
        let found = self.words.iter().take(beginnings).position(|word| {
            let program = programs::name(word.value.as_deref().unwrap_or_default());
            is_wanted(program, &self.words)
        });
        let first = found.map_or(self.words.len(), |program| program + 1);
        self.words.iter().skip(first)
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
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
        self.levels.iter().any(|level| {
            // A rule may name what is set.
            let is_named = !level.assigned.is_empty() && pattern.begins_with(&level.assigned);
            let set = if is_named { &*level.assigned } else { "" };
            (is_named || is_harmlessly_set(level))
                && !level.words.is_empty()
                && [true, false].into_iter().any(|by_value| {
                    let text = joined(level.words.iter().map(|word| known(word, by_value)));
                    !text.starts_with(GAP) && pattern.covers(&format!("{set}{text}"))
                })
                && (pattern.is_literal() || !hides_what_it_starts(level))
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
    ) -> Option<Vec<Place>> {
        let targets = &self.files(surroundings).redirected;
        let known = targets.iter().map(|file| match file {
            NamedFile::Known(place) => Some(place.clone()),
            NamedFile::Outlined { .. } | NamedFile::Somewhere(_) => None,
        });
        known.collect()
    }

    /// Whether it is known to change nothing, apart from the files that it is redirected to.
    pub(super) fn only_reads(&self, surroundings: &Surroundings<'_>) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // What assigns a value that a command prints has that command beside it.
            return part
                .assignments
                .iter()
                .all(|name| reads(&format!("{name}=x")))
                && !part.assignments.is_empty();
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
        is_harmlessly_set(part) && reads(self.text) && stays()
    }

    /// The files that it names.
    pub(super) fn files(&self, surroundings: &Surroundings<'_>) -> &Files {
        self.files.get_or_init(|| {
            let mut files = Files::default();
            let of = |name: &str, word: &PartWord| {
                NamedFile::of(name, word, &self.directories, surroundings)
            };
            if let Some(level) = self.levels.first() {
                for word in &level.reads {
                    files.named.extend(of(&outline(word, surroundings), word));
                }
                for word in &level.writes {
                    files
                        .redirected
                        .extend(of(&outline(word, surroundings), word));
                }
            }
            for invocation in &self.invocations {
                for word in &invocation.words {
                    let outline = outline(word, surroundings);
                    for name in names_in(&outline) {
                        files.named.extend(of(name, word));
                    }
                }
                let changed = invocation.behind(|program, words| {
                    program == ">"
                        || (programs::CHANGES.contains(program)
                            && (program != "sed" || words.iter().any(edits_in_place)))
                });
                for word in changed {
                    let outline = outline(word, surroundings);
                    if !outline.starts_with('-') {
                        let name = outline.strip_prefix("of=").unwrap_or(&outline);
                        files.changed.extend(of(name, word));
                    }
                }
            }
            files
        })
    }

    /// Whether it removes what is never removed without a question.
    pub(super) fn removes_critical(&self, surroundings: &Surroundings<'_>) -> bool {
        let removed = self.invocations.iter().flat_map(|invocation| {
            invocation.behind(|program, _| matches!(program, "rm" | "rmdir"))
        });
        removed.into_iter().any(|word| {
            let outline = outline(word, surroundings);
            let mut directory = outline.as_str();
            if word.text.ends_with(['*', '}'])
                && let Some(before) = outline.strip_suffix(GAP)
            {
                directory = match before {
                    "" => ".",
                    "/" => "/",
                    _ => before.trim_end_matches('/'),
                };
                if directory.len() == GAP.len_utf8() && directory.starts_with(GAP) {
                    return true;
                }
            }
            !directory.starts_with('-')
                && !directory.contains(GAP)
                && NamedFile::of(directory, word, &self.directories, surroundings)
                    .iter()
                    .any(|file| surroundings.is_critical(&file.place()))
        })
    }

    /// Whether it does nothing but change files in the working directories, in a way whose effect is
    /// known.
    pub(super) fn edits_inside(&self, surroundings: &Surroundings<'_>) -> bool {
        let Some(level) = self.levels.last().filter(|level| is_harmlessly_set(level)) else {
            return false;
        };
        let Some((program, arguments)) = level.words.split_first() else {
            return false;
        };
        let Some(program) = program.value.as_deref() else {
            return false;
        };
        let is_known = |word: &PartWord| {
            word.value.as_deref().is_some_and(|value| {
                if let Some(letters) = value.strip_prefix('-') {
                    letters.chars().all(|letter| "EPRTadfinprvcm".contains(letter))
                } else {
                    NamedFile::of(value, word, &self.directories, surroundings)
                        .iter()
                        .all(|file| matches!(file, NamedFile::Known(place) if surroundings.is_inside(place)))
                }
            })
        };
        // Without the option that makes it write, only a script that starts nothing reads.
        let is_plain = program != "sed" || {
            let kept = level.words.iter().filter(|word| !edits_in_place(word));
            let without = joined(kept.map(|word| word.text.as_str()));
            analyse(&without).verdict.is_read_only()
        };
        programs::EDITS.contains(program) && arguments.iter().all(is_known) && is_plain
    }
}

/// The word for allow rules, to be covered as it is written or as what it means. What is only known
/// when the command runs has to be covered by a star, and a blank in a word separates none.
fn known(word: &PartWord, by_value: bool) -> &str {
    match word.value.as_deref() {
        None => "\0",
        Some(value) if by_value && !value.is_empty() && !value.contains(char::is_whitespace) => {
            value
        }
        Some(_) => &word.text,
    }
}

fn is_harmlessly_set(part: &CommandPart) -> bool {
    part.assignments
        .iter()
        .all(|name| HARMLESS_VARIABLES.contains(&name.as_str()))
}

/// Whether what the command starts is hidden from rules with a star.
fn hides_what_it_starts(part: &CommandPart) -> bool {
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

/// Whether a command reads wherever it runs.
fn reads(text: &str) -> bool {
    let analysis = analyse(text);
    analysis.language.is_none()
        && matches!(analysis.verdict, Verdict::ReadOnly { requires } if requires.is_empty())
}

fn edits_in_place(word: &PartWord) -> bool {
    word.text.starts_with("--in-place")
        || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('i'))
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
