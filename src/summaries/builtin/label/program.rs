//! The act of one command of a command line, from its program and its operands.

use super::act::{Act, Effect, Verb};
use super::call::Call;
use crate::shell::{CommandPart, Follows, PartWord, program_and_subcommand, program_name};
use crate::summaries::builtin::cut::cut;
use crate::summaries::builtin::names::{
    address, file_name, file_names, is_file, last_part, pattern_noun, sought,
};

/// Maximum width of the words of a command, in cells.
const WORDS_CELLS: usize = 40;

/// The verbs of programs. Others are said to run.
const PROGRAMS: [(&str, Verb); 5] = [
    (
        "cat bat less more head tail nl strings xxd od hexdump tac sed gsed awk gawk mawk jq yq perl",
        Verb::Read,
    ),
    ("grep egrep fgrep rg ag ack", Verb::Search),
    ("find fd", Verb::LookFor),
    ("rm rmdir unlink", Verb::Delete),
    ("tee touch", Verb::Write),
];

/// Programs whose first operand is a script.
const WITH_SCRIPT: &str = "sed gsed awk gawk mawk jq yq perl";

/// Other programs that name themselves in their errors.
const LOUD: &str = "ls mv cp mkdir wc stat ln";

/// Programs that are not worth a name with others.
const GLUE: &str = "cd pushd popd echo printf export set true : sleep pwd source . unset wait shift local declare \
                    read test [ [[ false exit return alias shopt ulimit umask clear";

/// Glue that fails without a message.
const SILENT: &str = "test [ [[ false exit return";

/// Programs that fail on what they read from a pipe only with a message.
const PASSIVE: &str = "cat column head less more nl rev sort tac tail tee uniq wc";

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
    pub(super) call: &'a Call<'a>,
    /// The output of the line.
    pub(super) output: &'a str,
}

impl<'a> Program<'a> {
    /// Returns the name of the program; `command` for `command -v`, which runs nothing.
    pub(super) fn name(&self) -> &'a str {
        let mut words = self.command.words.iter().map(PartWord::label);
        match (words.next(), words.next()) {
            (Some("command"), Some("-v" | "-V")) => "command",
            _ => self.command.own_program(),
        }
    }

    /// Returns the operands; `$@` stands for those that `xargs` adds.
    fn operands(&self) -> Vec<&'a str> {
        let more = self.is_behind("xargs").then_some("$@");
        self.command.operands().into_iter().chain(more).collect()
    }

    /// Whether a wrapper starts it.
    pub(super) fn is_behind(&self, wrapper: &str) -> bool {
        let wrappers = self.command.words.len() - self.command.own_words().len();
        let mut wrappers = self.command.words.iter().take(wrappers);
        wrappers.any(|word| word.label() == wrapper)
    }

    fn arguments(&self) -> impl Iterator<Item = &'a str> + Clone {
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

    /// Whether it is not worth a name with others.
    pub(super) fn is_glue(&self) -> bool {
        self.name().is_empty() || is_one_of(GLUE, self.name())
    }

    /// Whether it hands over a status.
    pub(super) fn is_exit(&self) -> bool {
        is_one_of("exit return", self.name())
    }

    /// Whether it names itself in its errors, so that its silence tells that it succeeded.
    pub(super) fn is_loud(&self) -> bool {
        let is_known = match self.verb() {
            Some(verb) => verb != Verb::Search,
            None if self.is_glue() => !is_one_of(SILENT, self.name()),
            None => is_one_of(LOUD, self.name()),
        };
        is_known && !self.command.discards_errors()
    }

    /// Whether it only passes on what it reads from a pipe.
    pub(super) fn is_filter(&self) -> bool {
        self.command.follows == Follows::Pipe && self.reads()
    }

    /// Whether it passes on what it reads from a pipe and does not fail by itself.
    pub(super) fn is_passive(&self) -> bool {
        self.command.follows == Follows::Pipe && is_one_of(PASSIVE, self.name())
    }

    /// Whether it changes nothing.
    pub(super) fn reads(&self) -> bool {
        let is_reader = is_one_of(READERS, self.name()) || self.is_git(GIT_READS);
        (is_reader || self.command.only_reads) && self.command.writes().next().is_none()
    }

    fn verb(&self) -> Option<Verb> {
        let mut programs = PROGRAMS.iter();
        let known = programs.find(|(names, _)| is_one_of(names, self.name()));
        known.map(|(_, verb)| *verb)
    }

    /// Returns the act, if it is known what the program does.
    fn known(&self) -> Option<Act> {
        let verb = self.verb()?;
        let takes_script = is_one_of(WITH_SCRIPT, self.name());
        // `sed -i`, `perl -0pi -e`
        let is_in_place = |word: &str| has_flag(word, 'i') || word.starts_with("--in-place");
        let edits = takes_script && self.name() != "jq" && self.arguments().any(is_in_place);
        if !edits && verb.effect() == Effect::Nothing && !self.reads() {
            return None;
        }
        let mut operands = self.operands();
        match verb {
            Verb::Search => self.search(operands),
            Verb::LookFor => Some(Act::named(verb, self.sought_files(&operands))),
            _ => {
                if takes_script {
                    let script = self.value(&["-e", "-f", "--expression", "--file"]);
                    // The script may be taken for an operand.
                    operands.retain(|word| Some(*word) != script);
                    operands.drain(..operands.len().min(usize::from(script.is_none())));
                }
                let verb = if edits { Verb::Edit } else { verb };
                let has_files = edits || !operands.is_empty();
                has_files.then(|| self.on_files(verb, &operands))
            }
        }
    }

    fn on_files(&self, verb: Verb, files: &[&str]) -> Act {
        // The value is known only at run time.
        let is_unknown = |path: &&str| path.contains(['$', '{']) || *path == "-";
        if files.is_empty() || files.iter().any(is_unknown) {
            return Act::named(verb, "files");
        }
        Act::on_files(verb, files.iter().copied(), self.call.cwd)
    }

    fn search(&self, mut operands: Vec<&'a str>) -> Option<Act> {
        if self.arguments().any(|word| word == "--files") {
            return Some(Act::named(Verb::LookFor, "files"));
        }
        let option = self.value(&["-e", "--regexp", "-f", "--file"]);
        operands.retain(|word| Some(*word) != option);
        let mut operands = operands.into_iter();
        let pattern = option.or_else(|| operands.next())?;
        let is_inverse = |word: &str| word == "--invert-match" || has_flag(word, 'v');
        let noun = match pattern_noun(pattern) {
            noun if noun.is_empty() || self.arguments().any(is_inverse) => "lines".to_owned(),
            noun => noun,
        };
        let name = match operands.collect::<Vec<_>>().as_slice() {
            [] => noun,
            [one] => sought(&noun, one, self.call.cwd),
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
            .map(pattern_noun)
            .filter(|pattern| !pattern.contains('$'));
        let files = pattern.map_or_else(|| "files".to_owned(), |pattern| pattern + " files");
        match operands {
            [place] if self.name() == "find" => sought(&files, place, self.call.cwd),
            _ => files,
        }
    }

    /// Returns the act of a commit, whose subject is in git's own line `[branch 1234567] subject`.
    fn committed(&self) -> Option<Act> {
        let shown = self.output.lines().find_map(|line| {
            let (place, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
            let hash = place.split_whitespace().last()?;
            let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then_some(subject)
        });
        Some(Act::named(
            Verb::Commit,
            shown.filter(|_| self.is_git("commit"))?.trim(),
        ))
    }

    /// Returns the acts of the command: what its program does, and the file that its output goes to.
    pub(super) fn acts(&self) -> Vec<Act> {
        let written = self
            .command
            .output()
            .map(|file| self.on_files(Verb::Write, &[file]));
        let reads = self
            .verb()
            .is_some_and(|verb| verb.effect() == Effect::Nothing);
        // The file says more than a program that only prints.
        if written.is_some() && (reads || self.command.only_reads || self.is_glue()) {
            return written.into_iter().collect();
        }
        let own = self.committed().or_else(|| self.known());
        written
            .into_iter()
            .chain([own.unwrap_or_else(|| self.run())])
            .collect()
    }

    /// Returns the act as a run of the program, which claims nothing.
    pub(super) fn run(&self) -> Act {
        let verb = if self.reads() {
            Verb::RunReader
        } else {
            Verb::Run
        };
        Act::named(verb, self.words())
    }

    /// Returns the act if status 1 is an answer of the program, not a failure: nothing was found, or files differ.
    pub(super) fn answer(&self) -> Option<Act> {
        let asks = [
            "diff", "cmp", "command", "which", "type", "whereis", "pgrep", "test", "[", "[[",
        ];
        if self.is_git("diff grep") || asks.contains(&self.name()) {
            return Some(self.run());
        }
        let act = self.known()?;
        let verb = match act.verb {
            // `xargs` may have started several, of which one found nothing.
            Verb::Search if self.is_behind("xargs") && self.output.trim().lines().count() > 1 => {
                Verb::Search
            }
            Verb::Search => Verb::FindNothing,
            _ => return None,
        };
        let act = Act { verb, ..act };
        Some(if self.is_filtered() {
            act.in_some_files()
        } else {
            act
        })
    }

    /// Whether a search leaves out files by their names.
    fn is_filtered(&self) -> bool {
        let filters = ["--include", "--exclude", "--glob", "--iglob", "--type"];
        let short = ["-g", "-t", "-T"].iter().filter(|_| self.name() == "rg");
        let mut filters = filters.iter().chain(short);
        filters.any(|filter| self.arguments().any(|word| word.starts_with(filter)))
    }

    /// Returns the program with the words that tell what it does: `git push origin main`, `train.py`.
    pub(super) fn words(&self) -> String {
        let program = self.name();
        let is_action = |word: &&str| is_one_of(FIND_ACTIONS, word);
        let mut actions = self.arguments().skip_while(|word| !is_action(word));
        match (program, actions.next()) {
            ("", _) => return "a program".to_owned(),
            _ if program.contains(['$', '`']) => return "a program".to_owned(),
            ("command", _) => return "command -v".to_owned(),
            // A script may be in the arguments or the input.
            _ if is_one_of(INTERPRETERS, program) && self.script().is_none() => {
                return program.to_owned();
            }
            ("find", Some(action)) => {
                let executed = actions.next().filter(|_| action != "-delete");
                let words = format!("find {action} {}", executed.map_or("", program_name));
                return words.trim_end().to_owned();
            }
            _ if self.is_glue() && program != "exit" => return program.to_owned(),
            _ => {}
        }
        let first = self.operands().first().copied();
        let known = [Some(program), first].into_iter().flatten();
        let known: Vec<_> = known.map(PartWord::known).collect();
        let name = program_and_subcommand(&known).unwrap_or_default();
        let subcommand = first.filter(|_| name.len() > program.len());
        // Words behind options may be their values, or for another program.
        let is_loud = is_one_of(LOUD, program);
        let leading = self.arguments().take_while(|word| !word.starts_with('-'));
        let others = self.arguments().skip(leading.clone().count());
        let others = others.take_while(|word| *word != "--");
        let others = others.filter(|word| is_loud || is_file(word) || word.contains("://"));
        let is_name = |word: &&str| {
            !word.starts_with('-')
                && word.contains(char::is_alphanumeric)
                && Some(*word) != subcommand
        };
        let words: Vec<&str> = leading.chain(others).filter(is_name).collect();
        let shown = words.iter().map_while(|word| self.shown(word)).take(2);
        let shown: Vec<String> = shown.collect();
        let are_files = is_loud || words.iter().all(|word| is_file(word));
        let several = Some(file_names(&words, self.call.cwd));
        let several = several.filter(|_| words.len() > 2 && are_files);
        let rest = several.unwrap_or_else(|| shown.join(" "));
        let script = self.script().filter(|_| is_one_of(INTERPRETERS, program));
        script.unwrap_or_else(|| cut(format!("{name} {rest}").trim_end(), WORDS_CELLS))
    }

    /// Returns the module or the file that an interpreter runs, if it is the first argument.
    fn script(&self) -> Option<String> {
        let module = self.value(&["-m"]).map(str::to_owned);
        let first = self
            .arguments()
            .next()
            .filter(|word| !word.starts_with('-'));
        module.or_else(|| self.shown(first?))
    }

    /// Returns a word as labels show it; `None` if it is too long or known only at run time.
    fn shown(&self, word: &str) -> Option<String> {
        let is_plain = |sign: char| sign.is_alphanumeric() || "-_:.@#/+*~^=".contains(sign);
        match word {
            _ if word.contains("://") => Some(address(word)),
            _ if is_file(word) || word.ends_with('/') => {
                Some(file_name(word.trim_end_matches("..."), self.call.cwd))
            }
            _ if !word.chars().all(is_plain) || last_part(word).len() > 32 => None,
            _ if word.len() > 32 => Some(last_part(word).to_owned()),
            _ => Some(word.to_owned()),
        }
    }
}

/// Whether a word is short options with this one, before `-e`, whose value may be in the same word.
fn has_flag(word: &str, option: char) -> bool {
    let cluster = word.strip_prefix('-').unwrap_or_default();
    let ends = |sign: char| !sign.is_ascii_alphanumeric() || sign == 'e';
    let mut parts = cluster.split(ends);
    parts.next().is_some_and(|cluster| cluster.contains(option))
}
