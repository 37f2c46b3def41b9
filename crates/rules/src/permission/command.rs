//! A command line as seen by rules: its commands and everything each of them may start.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::command_pattern::CommandPattern;
use super::directories::{self, BaseDirectories, Target};
use super::domain::host;
use super::invocation::{Invocation, joined};
use super::languages::evaluated;
use super::mentions::Mentions;
use super::named_file::NamedFile;
use super::new_names::{self, NewName};
use super::outline::{names_in, outline, outlines};
use super::path_context::{FILE_WORK, PathContext, ResolvedPath};
use super::programs;
use super::standard_input::{Composed, Given};
use super::started::StartedCommands;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::{CommandPart, PartWord, is_connection};

/// A command of a command line.
pub(super) struct Command<'a> {
    /// The source text.
    pub(super) text: &'a str,
    /// The command and the commands it wraps, outermost first; empty if the command line cannot be
    /// parsed.
    pub(super) levels: Vec<CommandPart>,
    /// Everything that may run.
    pub(super) invocations: Vec<Invocation>,
    /// Whether it may also run commands known only at run time.
    pub(super) runs_unknown: bool,
    /// File names that it takes from standard input.
    pub(super) names_taken: Vec<PartWord>,
    /// Possible working directories; empty if unknown.
    pub(super) directories: Vec<PathBuf>,
    /// Base directories of its relative paths.
    pub(super) reached: BaseDirectories,
    /// Names that the command line creates.
    pub(super) new_names: Rc<[NewName]>,
    /// The command line, if it has several commands and this is the first.
    pub(super) line: Option<&'a str>,
    /// Whether it evaluates text, or opens a file that may be a connection, so that only rules for all commands
    /// allow it.
    is_beyond_rules: bool,
    /// The number of commands before it.
    pub(super) index: usize,
    /// Texts that its command line writes to a file or a pipe.
    pub(super) composed: Rc<[Composed]>,
    /// Whether they are in a file that one of its options names, or that it runs without being told.
    pub(super) is_configured: bool,
    /// Whether it may read these texts: there is a pipe, or it names the file.
    pub(super) uses_text: bool,
    mentions: OnceCell<Mentions>,
    pub(super) mentioned: OnceCell<[Vec<NamedFile>; 2]>,
    /// Spellings; one must match for it to be allowed.
    known: Vec<Spelling>,
    named: OnceCell<Vec<NamedFile>>,
    pub(super) read: OnceCell<Vec<NamedFile>>,
    redirected: OnceCell<Vec<NamedFile>>,
    changed: OnceCell<Vec<NamedFile>>,
}

/// A spelling of a command, with gaps for unknown parts.
struct Spelling {
    text: String,
    /// Assignments before it that the rule must name literally.
    set: String,
    /// Whether it starts something that rules with `*` do not see.
    starts_unseen: bool,
}

impl<'a> Command<'a> {
    /// Creates a command that runs in one of `directories`; none if they are unknown.
    pub(super) fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        started: StartedCommands,
        directories: Vec<PathBuf>,
        reached: BaseDirectories,
        context: &PathContext<'_>,
    ) -> Self {
        let mut known = Vec::new();
        for level in &levels {
            for by_value in [true, false] {
                let text = joined(level.words.iter().map(|word| known_text(word, by_value)));
                if text.is_empty() || text.starts_with(GAP) {
                    continue;
                }
                let starts_unseen = programs::starts_unseen(level);
                let assigned = Some(level.assigned.clone()).filter(|set| !set.is_empty());
                let without = programs::is_harmlessly_set(level).then(String::new);
                known.extend(assigned.into_iter().chain(without).map(|set| Spelling {
                    text: format!("{set}{text}"),
                    set,
                    starts_unseen,
                }));
            }
        }
        known.dedup_by(|one, other| one.text == other.text);
        let is_beyond_rules = levels.iter().any(|level| is_beyond_rules(level, context));
        Self {
            text,
            levels,
            invocations: started.invocations,
            runs_unknown: started.runs_unknown,
            names_taken: Vec::new(),
            directories,
            reached,
            new_names: Rc::default(),
            line: None,
            is_beyond_rules,
            index: 0,
            composed: Rc::default(),
            uses_text: false,
            is_configured: false,
            mentions: OnceCell::new(),
            mentioned: OnceCell::new(),
            known,
            named: OnceCell::new(),
            read: OnceCell::new(),
            redirected: OnceCell::new(),
            changed: OnceCell::new(),
        }
    }
}

impl Command<'_> {
    /// Returns what it mentions in texts that programs may interpret.
    pub(super) fn mentions(&self, context: &PathContext<'_>) -> &Mentions {
        let given = Given {
            texts: &self.composed,
            index: self.index,
            is_configuration: self.is_configured,
            names_files: self.uses_text,
        };
        let mentions = || Mentions::of(&self.levels, &[given], context);
        self.mentions.get_or_init(mentions)
    }

    /// Whether it takes file names from standard input.
    pub(super) fn takes_names(&self) -> bool {
        self.invocations.iter().any(|one| {
            programs::TAKES_NAMES.contains_with(one.program(), &one.words)
                && !one.passes_text_only()
        })
    }

    /// Whether the input of the next command is exactly its output.
    pub(super) fn is_piped_into(&self, next: &Self, script: &str) -> bool {
        let (Some(from), Some(to)) = (self.levels.first(), next.levels.first()) else {
            return false;
        };
        script
            .get(from.span.end..to.span.start)
            .is_some_and(|between| between.trim() == "|")
    }

    /// Whether its command line could be parsed.
    pub(super) fn is_understood(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Whether it, or anything that it starts, matches.
    pub(super) fn runs(&self, pattern: &CommandPattern) -> bool {
        self.invocations.iter().any(|one| one.is(pattern))
            || self.line.is_some_and(|line| pattern.covers(line))
    }

    /// Whether it, or anything that it starts, may match. Unknown parts match.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        self.invocations.iter().any(|one| one.may_be(pattern))
    }

    /// Whether it is known to match, directly or as the argument of wrappers.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        let mut known = self.known.iter().filter(|_| !self.is_beyond_rules);
        known.any(|known| {
            pattern.begins_with(&known.set)
                && pattern.covers(&known.text)
                && (pattern.is_literal() || !known.starts_unseen)
        })
    }

    /// Returns the hosts of URLs in its words.
    pub(super) fn hosts(&self) -> impl Iterator<Item = String> {
        self.invocations.iter().flat_map(|one| {
            let is_client = matches!(one.program(), "curl" | "wget");
            let values = one
                .words
                .iter()
                .skip(1)
                .filter_map(|word| word.value.as_deref());
            values.filter_map(move |value| {
                if value.contains("://") {
                    return host(value);
                }
                // `curl example.com/x`
                host(&format!("http://{value}")).filter(|_| is_client)
            })
        })
    }

    /// Returns the known leading words of the innermost command, unless a variable may change its
    /// meaning.
    pub(super) fn known_words(&self) -> Option<Vec<&str>> {
        let level = self
            .levels
            .last()
            .filter(|part| programs::is_harmlessly_set(part))?;
        let words = level.words.iter();
        Some(words.map_while(|word| word.value.as_deref()).collect())
    }

    /// Whether it consists only of redirections.
    pub(super) fn is_redirection(&self) -> bool {
        self.levels
            .iter()
            .all(|part| part.words.is_empty() && part.assignments.is_empty())
    }

    /// Returns the targets of its redirections, if all of them are known.
    pub(super) fn redirection_targets(
        &self,
        context: &PathContext<'_>,
    ) -> Option<Vec<&ResolvedPath>> {
        let targets = self.redirected(context).iter().map(|file| match file {
            NamedFile::Known(path) => Some(path),
            NamedFile::Outlined(_) => None,
        });
        targets.collect()
    }

    /// Whether its redirections are known to be its only changes.
    pub(super) fn only_reads(&self, context: &PathContext<'_>) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // The substitution in an assigned value is a separate part.
            return part.only_reads && !part.assignments.is_empty();
        }
        let stays = || match directories::target(&self.levels, context) {
            None => true,
            Some(Target::Back) => !self.directories.is_empty(),
            Some(Target::Unknown) => false,
            Some(Target::Known(to)) => {
                let from = self.directories.iter();
                let mut reached = from.flat_map(|from| to.iter().map(|to| from.join(to)));
                !self.directories.is_empty()
                    && reached.all(|to| context.is_inside(&context.resolve(&to)))
            }
        };
        part.only_reads
            && !context.sets_programs()
            && programs::is_harmlessly_set(part)
            && stays()
            && !self.reads_outside(context)
    }

    /// Returns the files that a word, or part of one, may name in its base directories.
    pub(super) fn file(&self, name: &str, context: &PathContext<'_>) -> Vec<NamedFile> {
        let work = name.len() + FILE_WORK * (1 + self.new_names.len());
        let is_affordable = context.spend(work);
        if !is_affordable && name.contains([GAP, GLOB]) {
            return vec![NamedFile::anything()];
        }
        let mut files = NamedFile::of(name, &self.reached.known, context);
        let is_relative = Path::new(name).is_relative() && !name.starts_with([GAP, '-']);
        let is_renamed = !is_affordable && !self.new_names.is_empty();
        if self.reached.is_open && is_relative || is_renamed {
            files.push(NamedFile::anything());
        }
        if is_affordable && !self.new_names.is_empty() {
            for directory in &self.reached.known {
                let path = directory.join(name);
                files.extend(new_names::behind(&self.new_names, &path, context));
            }
        }
        files
    }

    /// Returns the names that it creates.
    pub(super) fn new_names(&self, context: &PathContext<'_>) -> Vec<NewName> {
        let created = self.relocating().flat_map(|one| {
            new_names::created_by(one, &self.reached, || {
                let files = self.files(one.words.iter().skip(1), context);
                files.iter().map(NamedFile::known_start).collect()
            })
        });
        created.collect()
    }

    /// Returns the commands that it starts which create names.
    pub(super) fn relocating(&self) -> impl Iterator<Item = &Invocation> {
        self.invocations.iter().filter(|one| {
            let words =
                one.behind(|program, words| programs::RELOCATES.contains_with(program, words));
            words.count() > 0
        })
    }

    /// Returns the files that the words, or parts of them, may name.
    pub(super) fn files<'w>(
        &self,
        words: impl Iterator<Item = &'w PartWord>,
        context: &PathContext<'_>,
    ) -> Vec<NamedFile> {
        let mut files = Vec::new();
        for outline in words.flat_map(|word| outlines(word, context)) {
            for name in names_in(&outline) {
                files.extend(self.file(name, context));
            }
        }
        files
    }

    /// Returns the files that its words and input redirections may name.
    pub(super) fn named(&self, context: &PathContext<'_>) -> &[NamedFile] {
        self.named.get_or_init(|| {
            let invocations = self.invocations.iter();
            let words = invocations.flat_map(|one| {
                let words = one.words.iter().filter(|_| !one.takes_only_text());
                words.chain(&one.reads)
            });
            self.files(words, context)
        })
    }

    /// Returns the targets of its redirections.
    pub(super) fn redirected(&self, context: &PathContext<'_>) -> &[NamedFile] {
        self.redirected.get_or_init(|| {
            let words = self.levels.iter().take(1).flat_map(|part| &part.writes);
            let outlines = words.flat_map(|word| outlines(word, context));
            outlines
                .flat_map(|outline| self.file(&outline, context))
                .collect()
        })
    }

    /// Returns the files that it, or a command that it starts, changes directly.
    pub(super) fn changed(&self, context: &PathContext<'_>) -> &[NamedFile] {
        self.changed.get_or_init(|| {
            let mut changed = Vec::new();
            for one in &self.invocations {
                for word in one.changed() {
                    changed.extend(self.files_of(one, &word, context));
                }
            }
            changed
        })
    }
}

/// Whether a command runs a substitution in a word, as in `test -v 'x[$(rm y)]'`, or may connect to a server, as in
/// `cat < "$x"`.
fn is_beyond_rules(level: &CommandPart, context: &PathContext<'_>) -> bool {
    let program = level.program();
    let program = program.unwrap_or_default();
    let names_variable = |pair: &[PartWord]| {
        let [before, word] = pair else { return false };
        let takes = before.text == "-v"
            || word.text.starts_with("-v")
            || !matches!(program, "test" | "[" | "[[" | "printf");
        takes && begins_with_gap(&outline(word, context))
    };
    let may_connect = |word: &PartWord| {
        let is_server = |name: String| name.starts_with(GAP) || is_connection(&name);
        !word.text.starts_with("<(") && outlines(word, context).into_iter().any(is_server)
    };
    let evaluates = programs::EVALUATES.contains(program);
    // After `declare -i y`, a value of `y` is evaluated.
    let declares_integers = || {
        let mut options = level.words.iter().skip(1).map(|word| word.text.as_str());
        options.any(|option| option.starts_with('-') && option.contains('i'))
    };
    let has_index = || context.script().contains("[$(") || context.script().contains("[`");
    context.sets_programs()
        || evaluates
            && (has_index()
                || programs::SETS.contains(program) && declares_integers()
                || !evaluated(level, program, context).is_empty()
                || level.words.windows(2).any(names_variable))
        || level.reads.iter().any(may_connect)
}

/// Returns the word as matched by allow rules: its source text or its value. Only `*` covers a part
/// known at run time, and whitespace inside a word does not separate words.
fn known_text(word: &PartWord, by_value: bool) -> &str {
    match word.value.as_deref() {
        None => "\0",
        Some(value) if by_value && !value.is_empty() && !value.contains(char::is_whitespace) => {
            value
        }
        Some(_) => &word.text,
    }
}
