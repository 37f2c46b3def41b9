//! The act of one command of a command line, from its program and its operands.

use super::act::{Act, Effect, Object, Verb};
use crate::shell::{
    CommandPart, Follows, PartInput, PartWord, is_subcommand, program_and_subcommand, program_name,
};
use crate::side::builtin::cut::cut;
use crate::side::builtin::names::{
    address, directory_name, file_name, file_names, glob_noun, is_file, last_part, listed,
    pattern_noun, relative, sought,
};

/// The verbs of programs, and the number of their operands before the files. Others are said to run.
const PROGRAMS: [(&str, Verb, usize); 7] = [
    (
        "cat bat less more head tail nl strings xxd od hexdump tac",
        Verb::Read,
        0,
    ),
    ("sed gsed awk gawk mawk jq yq perl", Verb::Read, 1),
    ("grep egrep fgrep rg ag ack", Verb::Search, 1),
    ("find fd", Verb::LookFor, 0),
    ("which type whereis pgrep", Verb::Locate, 0),
    ("rm rmdir unlink", Verb::Delete, 0),
    ("tee touch", Verb::Write, 0),
];

/// Other programs that name themselves in their errors; their options have no values.
const LOUD: &str = "ls mv cp mkdir wc stat ln";

/// Programs that are not worth a name with others.
const GLUE: &str = "cd pushd popd echo printf export set true : sleep pwd source . unset wait shift local declare \
                    read test [ [[ false exit return alias shopt ulimit umask clear";

/// Glue that fails without a message.
const SILENT: &str = "test [ [[ false exit return";

/// Programs that change nothing with any arguments.
const READERS: &str =
    "cat head tail nl strings od grep egrep fgrep rg ag ack ls diff cmp wc which type";

/// Commands of git that change nothing in the repository, although its configuration may make them run programs.
const GIT_READS: &str = "diff log show status grep blame";

/// Options of `find` that change something.
const FIND_ACTIONS: &str = "-exec -execdir -ok -okdir -delete";

/// Programs that run a file, or a script in their arguments or input.
const INTERPRETERS: &str = "python python3 py node bash sh zsh dash ksh ruby perl php tsx ts-node Rscript lua pwsh \
                            osascript";

fn is_one_of(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|one| one == name)
}

/// A command, as labels see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) command: &'a CommandPart,
    pub(super) cwd: Option<&'a str>,
    /// The output of the line.
    pub(super) output: &'a str,
}

impl<'a> Program<'a> {
    pub(super) fn name(&self) -> &'a str {
        if self.looks_up() {
            "command"
        } else {
            self.command.own_program()
        }
    }

    /// Returns the operands; `$@` stands for those that `xargs` adds.
    pub(super) fn operands(&self) -> Vec<&'a str> {
        let wrappers = self.command.words.len() - self.command.own_words().len();
        let mut wrappers = self.command.words.iter().take(wrappers);
        let more = wrappers.any(|word| word.label() == "xargs").then_some("$@");
        self.command.operands().into_iter().chain(more).collect()
    }

    fn arguments(&self) -> impl Iterator<Item = &'a str> {
        self.command.own_words().iter().skip(1).map(PartWord::label)
    }

    /// Returns the value of an option: the next word, or the text after `=`.
    fn value(&self, names: &[&str]) -> Option<&'a str> {
        let mut words = self.arguments();
        while let Some(word) = words.next() {
            match word.split_once('=') {
                _ if names.contains(&word) => return words.next(),
                Some((name, value)) if names.contains(&name) => return Some(value),
                _ => {}
            }
        }
        None
    }

    fn is_git(&self, commands: &str) -> bool {
        let first = self.operands().first().copied();
        self.name() == "git" && first.is_some_and(|word| is_one_of(commands, word))
    }

    /// Whether it is `command -v`, which runs nothing.
    fn looks_up(&self) -> bool {
        let mut words = self.command.words.iter().map(PartWord::label);
        words.next() == Some("command") && matches!(words.next(), Some("-v" | "-V"))
    }

    /// Whether it is not worth a name with others.
    pub(super) fn is_glue(&self) -> bool {
        self.name().is_empty() || is_one_of(GLUE, self.name())
    }

    /// Whether it is a condition, which fails without a message.
    pub(super) fn is_condition(&self) -> bool {
        is_one_of("test [ [[", self.name())
    }

    /// Whether it names itself in its errors, so that its silence tells that it succeeded.
    pub(super) fn is_loud(&self) -> bool {
        let is_known = match self.verb() {
            Some((verb, _)) => !matches!(verb, Verb::Search | Verb::Locate),
            None if self.is_glue() => !is_one_of(SILENT, self.name()),
            None => is_one_of(LOUD, self.name()),
        };
        is_known && !self.command.discards_errors()
    }

    /// Whether it only passes on what it reads from a pipe.
    pub(super) fn is_filter(&self) -> bool {
        self.command.follows == Follows::Pipe && self.reads()
    }

    fn reads(&self) -> bool {
        let is_reader = is_one_of(READERS, self.name()) || self.is_git(GIT_READS);
        (is_reader || self.command.only_reads) && self.command.writes.is_empty()
    }

    fn verb(&self) -> Option<(Verb, usize)> {
        if self.looks_up() {
            return Some((Verb::Locate, 0));
        }
        if self.is_git("grep") {
            return Some((Verb::Search, 2));
        }
        let known = PROGRAMS
            .iter()
            .find(|(names, ..)| is_one_of(names, self.name()));
        known.map(|(_, verb, skipped)| (*verb, *skipped))
    }

    /// Whether it changes the files in its operands: `sed -i`, `perl -0pi -e`.
    fn edits_in_place(&self) -> bool {
        let is_option = |word: &str| is_cluster_with(word, 'i') || word.starts_with("--in-place");
        is_one_of("sed gsed perl", self.name()) && self.arguments().any(is_option)
    }

    /// Returns the act, if it is known what the program does.
    fn known(&self) -> Option<Act> {
        let (verb, skipped) = self.verb()?;
        let operands = self.operands();
        let edits = self.edits_in_place();
        if !edits && verb.effect() == Effect::Nothing && verb != Verb::Locate && !self.reads() {
            return None;
        }
        match verb {
            _ if edits => Some(self.on_files(Verb::Edit, &self.behind_script(operands))),
            Verb::Read if skipped > 0 => {
                let files = self.behind_script(operands);
                (!files.is_empty()).then(|| self.on_files(verb, &files))
            }
            Verb::Locate => {
                let words = self.command.words.iter().skip(1).map(PartWord::label);
                let names = words
                    .filter(|word| !word.starts_with('-'))
                    .map(str::to_owned);
                Some(Act::named(verb, listed(&names.collect::<Vec<_>>())))
            }
            Verb::Search if self.name() == "git" => {
                // The options of other commands of git would take the pattern as their value.
                let words = self.arguments().filter(|word| !word.starts_with('-'));
                self.search(words.collect(), skipped)
            }
            Verb::Search => self.search(operands, skipped),
            Verb::LookFor => Some(Act::named(verb, self.sought_files(&operands))),
            _ => (!operands.is_empty()).then(|| self.on_files(verb, &operands)),
        }
    }

    /// Returns the operands behind the script of `sed` and the like.
    fn behind_script(&self, mut operands: Vec<&'a str>) -> Vec<&'a str> {
        let script = self.value(&["-e", "-f", "--expression", "--file"]);
        // The script may be taken for an operand.
        operands.retain(|word| Some(*word) != script);
        operands.drain(..operands.len().min(usize::from(script.is_none())));
        operands
    }

    fn on_files(&self, verb: Verb, files: &[&str]) -> Act {
        if files.is_empty() || files.iter().any(is_unknown) {
            return Act::named(verb, "files");
        }
        let paths = files.iter().map(|path| relative(path, self.cwd).to_owned());
        Act::new(verb, Object::Files(paths.collect()))
    }

    fn search(&self, mut operands: Vec<&'a str>, skipped: usize) -> Option<Act> {
        if self.arguments().any(|word| word == "--files") {
            return Some(Act::named(Verb::LookFor, "files"));
        }
        let option = self.value(&["-e", "--regexp", "-f", "--file"]);
        operands.retain(|word| Some(*word) != option);
        let mut operands = operands.into_iter().skip(skipped - 1);
        let pattern = option.or_else(|| operands.next())?;
        let noun = pattern_noun(pattern).unwrap_or_else(|| cut(pattern, 30));
        let mut options = self.arguments().filter(|word| word.starts_with('-'));
        let is_inverse = options.any(|word| word == "--invert-match" || is_cluster_with(word, 'v'));
        let noun = match (noun.is_empty(), is_inverse) {
            (true, _) => "lines".to_owned(),
            (false, true) => format!("lines without {noun}"),
            (false, false) => noun,
        };
        let name = match operands.collect::<Vec<_>>().as_slice() {
            [] => noun,
            [one] => sought(&noun, one, self.cwd),
            several => format!("{noun} in {} places", several.len()),
        };
        Some(Act::named(Verb::Search, name))
    }

    fn sought_files(&self, operands: &[&str]) -> String {
        let names = ["-name", "-iname", "-path", "-regex"];
        let pattern = match self.arguments().filter(|word| names.contains(word)).count() {
            0 if self.name() == "fd" => operands.first().copied(),
            1 => self.value(&names),
            _ => None,
        };
        let pattern = pattern
            .map(glob_noun)
            .filter(|pattern| !pattern.contains('$'));
        let files = pattern.map_or_else(|| "files".to_owned(), |pattern| pattern + " files");
        match operands {
            [place] if self.name() == "find" => sought(&files, place, self.cwd),
            _ => files,
        }
    }

    /// Returns the act of a commit, whose subject is in git's own line `[branch 1234567] subject`.
    fn committed(&self) -> Option<Act> {
        if !self.is_git("commit") {
            return None;
        }
        let shown = self.output.lines().find_map(|line| {
            let (place, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
            let hash = place.split_whitespace().last()?;
            let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then_some(subject)
        });
        Some(Act::named(Verb::Commit, shown?.trim()))
    }

    /// Returns the acts of the command: what its program does, and the file that its output goes to.
    pub(super) fn acts(&self) -> Vec<Act> {
        let written = self
            .command
            .output()
            .map(|file| self.on_files(Verb::Write, &[file]));
        let verb = self.verb();
        let reads = verb.is_some_and(|(verb, _)| verb.effect() == Effect::Nothing);
        // The file says more than a program that only prints.
        if written.is_some() && (reads || self.command.only_reads || self.is_glue()) {
            return written.into_iter().collect();
        }
        let own = (!self.name().is_empty()).then(|| {
            let known = self.committed().or_else(|| self.known());
            known.unwrap_or_else(|| self.run())
        });
        written.into_iter().chain(own).collect()
    }

    /// Returns the act as a run of the program, which claims nothing.
    pub(super) fn run(&self) -> Act {
        let mut run = Act::named(Verb::Run, self.words());
        if self.reads() {
            run.effect = Effect::Nothing;
        }
        run
    }

    /// Returns the act if status 1 is an answer of the program, not a failure: nothing was found, or files differ.
    pub(super) fn answer(&self) -> Option<Act> {
        if self.is_git("diff") || matches!(self.name(), "diff" | "cmp") {
            return Some(self.run());
        }
        let act = self.known()?;
        let verb = match act.verb {
            Verb::Search => Verb::FindNothing,
            // Others of several may have been found.
            Verb::Locate if self.operands().len() < 2 => Verb::Miss,
            _ => return None,
        };
        Some(Act { verb, ..act })
    }

    /// Whether it runs a script in its arguments or its input.
    pub(super) fn is_inline(&self) -> bool {
        // Also behind other options: `bash -lc`, `perl -ne`.
        let takes_script = |word: &str| {
            let is_short = word.starts_with('-') && !word.starts_with("--") && word.len() <= 4;
            is_short && word.ends_with(['c', 'e', 'E', 'p'])
        };
        let is_script = self.arguments().any(takes_script);
        let gets_script = !matches!(self.command.input, PartInput::Other)
            && self.operands().iter().all(|word| *word == "-");
        is_one_of(INTERPRETERS, self.name()) && (is_script || gets_script)
    }

    /// Returns the program with the words that tell what it does: `git push origin main`, `train.py`.
    pub(super) fn words(&self) -> String {
        let program = self.name();
        let mut actions = self
            .arguments()
            .skip_while(|word| !is_one_of(FIND_ACTIONS, word));
        match program {
            _ if program.contains(['$', '`']) || program.is_empty() => {
                return "a program".to_owned();
            }
            _ if self.is_inline() => return format!("{program} script"),
            "command" => return "command -v".to_owned(),
            "find" if let Some(action) = actions.next() => {
                let executed = actions.next().filter(|_| action != "-delete");
                return format!("find {action} {}", executed.map_or("", program_name));
            }
            _ if self.is_glue() && program != "exit" => return program.to_owned(),
            _ => {}
        }
        let mut operands = self.operands();
        if program != "git"
            && let Some(end) = self.arguments().position(|word| word == "--")
        {
            // The others are for another program.
            let others = self.arguments().count() - end - 1;
            operands.truncate(operands.len().saturating_sub(others));
        }
        let first = operands.first().copied();
        if is_one_of(INTERPRETERS, program)
            && let Some(file) = first
        {
            return file_name(file, self.cwd);
        }
        let known = std::iter::once(program).chain(first).map(PartWord::known);
        let name = program_and_subcommand(&known.collect::<Vec<_>>());
        let name = name.unwrap_or_else(|| program.to_owned());
        let has_subcommand = name.len() > program.len();
        operands.drain(..usize::from(has_subcommand).min(operands.len()));
        let is_loud = is_one_of(LOUD, program);
        let is_value = |word: &&str| !is_loud && !has_subcommand && self.is_behind_option(word);
        if operands.iter().any(is_value) {
            let leading = self.arguments().take_while(|word| !word.starts_with('-'));
            operands.truncate(leading.count());
        }
        let option = self.arguments().next().filter(|word| word.starts_with('-'));
        let rest = match option {
            Some(option) if operands.is_empty() && self.arguments().count() == 1 => cut(option, 24),
            _ if operands.len() > 2 && (is_loud || operands.iter().all(|word| is_file(word))) => {
                file_names(&operands, self.cwd)
            }
            _ => {
                // Some of several files would say too little.
                let shown: Vec<_> = operands.iter().map(|word| self.shown(word)).collect();
                let is_whole = shown.len() <= 2 && shown.iter().all(Option::is_some);
                let is_word = |word: &&&str| is_whole || is_subcommand(word);
                let kept = operands.iter().take(2).take_while(is_word).count();
                let kept: Vec<String> = shown.into_iter().take(kept).flatten().collect();
                kept.join(" ")
            }
        };
        cut(format!("{name} {rest}").trim(), 40)
    }

    /// Whether a word may be the value of the option before it.
    fn is_behind_option(&self, word: &str) -> bool {
        let is_option =
            |before: &str| before.starts_with('-') && !before.contains('=') && before != "--";
        let words: Vec<&str> = self.arguments().collect();
        let mut pairs = words.windows(2);
        let is_value = !is_file(word) && !word.contains("://");
        is_value && pairs.any(|pair| pair[1] == word && is_option(pair[0]))
    }

    /// Returns an operand as labels show it; `None` if it is too long or known only at run time.
    fn shown(&self, word: &str) -> Option<String> {
        let path = word.trim_end_matches("...");
        let is_plain = |sign: char| sign.is_alphanumeric() || "-_:.@#/+*~^=".contains(sign);
        match word {
            _ if word.contains("://") => Some(address(word)),
            _ if !word.contains(char::is_alphanumeric) => Some(String::new()),
            _ if path.ends_with('/') => Some(directory_name(path, self.cwd)),
            _ if is_file(word) => Some(file_name(word, self.cwd)),
            _ if !word.chars().all(is_plain) || last_part(word).len() > 32 => None,
            _ if word.len() > 32 => Some(last_part(word).to_owned()),
            _ => Some(word.to_owned()),
        }
    }
}

/// Whether a word is short options with this one, before `-e`, whose value may be in the same word.
fn is_cluster_with(word: &str, option: char) -> bool {
    let cluster = word.strip_prefix('-').unwrap_or_default();
    let ends = |sign: char| !sign.is_ascii_alphanumeric() || sign == 'e';
    cluster
        .split(ends)
        .next()
        .is_some_and(|cluster| cluster.contains(option))
}

/// Whether the value of an operand is known only at run time.
fn is_unknown(path: &&str) -> bool {
    path.contains(['$', '{']) || *path == "-"
}
