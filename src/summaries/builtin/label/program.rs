//! The act of one command of a command line, from its program and its operands.

use super::act::{Act, Effect, Verb};
use super::call::Call;
use crate::shell::{CommandPart, Follows, PartWord, program_and_subcommand, program_name};
use crate::summaries::builtin::cut::cut_end;
use crate::summaries::builtin::names::{
    address, file_name, is_file, last_part, pattern_noun, search_noun,
};

/// Maximum width of the words of a command, in cells.
const WORDS_CELLS: usize = 44;

/// Maximum length of a word that is no file.
const MAX_LETTERS: usize = 32;

/// The verbs of programs. Others are said to run.
const PROGRAMS: [(&str, Verb); 6] = [
    (
        "cat bat less more head tail nl strings xxd od hexdump tac sed gsed awk gawk mawk jq yq perl",
        Verb::Read,
    ),
    ("grep egrep fgrep rg ag ack", Verb::Search),
    ("find fd", Verb::LookFor),
    ("rm rmdir unlink", Verb::Delete),
    ("tee touch", Verb::Write),
    ("test [ [[", Verb::Check),
];

/// Programs whose first operand is a script.
const WITH_SCRIPT: &str = "sed gsed awk gawk mawk jq yq perl";

/// Other programs that name themselves in their errors.
const LOUD: &str = "ls mv cp mkdir wc stat ln";

/// Programs whose operands are files, or names without an order.
const WITH_FILES: &str = "ls mv cp mkdir wc stat ln rm rmdir touch cat head tail which type";

/// Programs that are not worth a name with others.
const GLUE: &str = "cd pushd popd echo printf export set true : sleep pwd source . unset wait shift local declare \
                    read test [ [[ false exit return alias shopt ulimit umask clear disown";

/// Glue that fails without a message.
const SILENT: &str = "false exit return";

/// Programs that change nothing with any arguments.
const READERS: &str =
    "cat head tail nl strings od grep egrep fgrep rg ag ack ls diff cmp wc which type";

/// Commands of git that change nothing in the repository, although its configuration may make them run programs.
const GIT_READS: &str = "diff log show status grep blame";

/// Those of them that fail only with a message.
const LOUD_OF_GIT: &str = "log show status blame";

/// Parts of the names of options with which a program changes nothing, or less or more than without.
const TELLING: &str =
    "dry check diff help list no-run no-build nobuild only plan simulate version hard force delete";

/// Whole names of such options.
const TELLING_OPTIONS: &str = "-l --co";

/// Programs whose status 1 is an answer.
const ASKS: &str = "diff cmp command which type whereis pgrep pidof ps lsof";

/// Commands of git whose status 1 is an answer.
const ASKS_OF_GIT: &str = "diff grep config check-ignore merge-base show-ref";

/// Other statuses that are answers: of checks that wait, services that do not run, plans with changes, and tests, of
/// which there are none.
const ANSWERS: [(&str, i64); 5] = [
    ("gh pr checks", 8),
    ("systemctl", 3),
    ("terraform plan", 2),
    ("dnf check-update", 100),
    ("pytest", 5),
];

/// Letters beside `n` in short options for a dry run: `git clean -nfdx`, `rsync -avzn`.
const CLUSTER: &str = "-adfnvxz";

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
            Some(verb) => !matches!(verb, Verb::Search | Verb::Check),
            None if self.is_glue() => !is_one_of(SILENT, self.name()),
            None => is_one_of(LOUD, self.name()) || self.is_git(LOUD_OF_GIT),
        };
        is_known && !self.command.discards_errors()
    }

    /// Whether its errors, and nothing else that it prints, start with its name.
    pub(super) fn signs_errors(&self) -> bool {
        self.verb().is_some() || is_one_of(LOUD, self.name()) || self.name() == "git"
    }

    /// Whether it only passes on what it reads from a pipe.
    pub(super) fn is_filter(&self) -> bool {
        self.command.follows == Follows::Pipe && self.reads()
    }

    /// Whether it passes on what it reads from a pipe and does not fail by itself.
    pub(super) fn is_passive(&self) -> bool {
        let decides = self.verb() == Some(Verb::Search) || is_one_of(WITH_SCRIPT, self.name());
        self.is_filter() && !decides || self.name() == "tee"
    }

    /// Whether it changes nothing.
    pub(super) fn reads(&self) -> bool {
        let is_reader = is_one_of(READERS, self.name()) || self.is_git(GIT_READS);
        (is_reader || self.command.verdict.is_read_only()) && self.command.writes().next().is_none()
    }

    fn verb(&self) -> Option<Verb> {
        let mut programs = PROGRAMS.iter();
        let known = programs.find(|(names, _)| is_one_of(names, self.name()));
        known.map(|(_, verb)| *verb)
    }

    /// Returns the act, if it is known what the program does.
    fn known_act(&self) -> Option<Act> {
        let verb = self.verb()?;
        let takes_script = is_one_of(WITH_SCRIPT, self.name());
        // `sed -i`, `perl -0pi -e`
        let is_in_place = |word: &str| has_flag(word, 'i') || word.starts_with("--in-place");
        let edits = takes_script && self.name() != "jq" && self.arguments().any(is_in_place);
        if !edits && verb.effect() == Effect::Nothing && !self.reads() {
            return None;
        }
        let mut operands = self.operands();
        // `find ! -name`, `sed -i ''`
        operands.retain(|word| *word != "!" && !(takes_script && word.is_empty()));
        match verb {
            Verb::Search => self.search(operands),
            Verb::LookFor => Some(Act::named(verb, self.file_search_noun(&operands))),
            Verb::Check => Some(Act::named(verb, "a condition")),
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
            let glob = self.value(&["-g", "--glob", "--iglob"]);
            operands.retain(|word| Some(*word) != glob);
            let files =
                glob.map_or_else(|| "files".to_owned(), |glob| pattern_noun(glob) + " files");
            let place = <[&str; 1]>::try_from(operands).map_or("", |[place]| place);
            let noun = search_noun(&files, place, self.call.cwd);
            return Some(Act::named(Verb::LookFor, noun));
        }
        let file = self.value(&["-f", "--file"]);
        let option = self.value(&["-e", "--regexp"]).or(file);
        operands.retain(|word| Some(*word) != option);
        let mut operands = operands.into_iter();
        let pattern = option.or_else(|| operands.next())?;
        let is_inverse = |word: &str| word == "--invert-match" || has_flag(word, 'v');
        let is_unknown = file.is_some() || self.arguments().any(is_inverse);
        let noun = match pattern_noun(pattern) {
            noun if noun.is_empty() || is_unknown => "lines".to_owned(),
            noun => noun,
        };
        let name = match operands.collect::<Vec<_>>().as_slice() {
            [] => noun,
            [one] => search_noun(&noun, one, self.call.cwd),
            several => format!("{noun} in {} places", several.len()),
        };
        Some(Act::named(Verb::Search, name))
    }

    fn file_search_noun(&self, operands: &[&str]) -> String {
        let names = ["-name", "-iname", "-path", "-regex"];
        let is_negated = self.arguments().any(|word| matches!(word, "!" | "-not"));
        let pattern = match self.arguments().filter(|word| names.contains(word)).count() {
            0 if self.name() == "fd" => operands.first().copied(),
            1 if !is_negated => self.value(&names),
            _ => None,
        };
        let pattern = pattern
            .map(pattern_noun)
            .filter(|pattern| !pattern.contains('$'));
        let files = pattern.map_or_else(|| "files".to_owned(), |pattern| pattern + " files");
        match operands {
            [place] if self.name() == "find" => search_noun(&files, place, self.call.cwd),
            _ => files,
        }
    }

    /// Returns the act of a commit, whose subject is in git's own line `[branch 1234567] subject`.
    fn commit(&self) -> Option<Act> {
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
        let reads = self.verb().map(Verb::effect) == Some(Effect::Nothing);
        // The file says more than a program that only prints.
        if written.is_some() && (reads || self.command.verdict.is_read_only() || self.is_glue()) {
            return written.into_iter().collect();
        }
        let own = self.commit().or_else(|| self.known_act());
        let own = own.unwrap_or_else(|| self.run());
        written.into_iter().chain([own]).collect()
    }

    /// Returns the act as a run of the program, which claims nothing.
    pub(super) fn run(&self) -> Act {
        let reads = self.reads().then_some(Verb::RunReader);
        Act::named(reads.unwrap_or(Verb::Run), self.words()).with_detail(self.about())
    }

    /// Returns the act if this status is an answer of the program, not a failure: nothing was found, or files differ.
    pub(super) fn answer(&self, status: i64) -> Option<Act> {
        let words = self.words();
        let is_answer = |(start, code): &(&str, i64)| *code == status && words.starts_with(start);
        let asks = is_one_of(ASKS, self.name()) || self.is_git(ASKS_OF_GIT);
        let asks = status == 1 && asks;
        if asks || ANSWERS.iter().any(is_answer) {
            return Some(self.run());
        }
        let act = self.known_act().filter(|_| status == 1)?;
        match act.verb {
            Verb::Check => Some(act),
            // `xargs` may have started several, of which one found nothing.
            Verb::Search if self.is_behind("xargs") && self.output.trim().lines().count() > 1 => {
                Some(act)
            }
            Verb::Search if self.is_filtered() => Some(act),
            Verb::Search | Verb::LookFor if self.name() != "find" => Some(Act {
                verb: Verb::FindNothing,
                ..act
            }),
            _ => None,
        }
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
        let has_files = is_one_of(WITH_FILES, program);
        let words = if has_files {
            self.operands()
        } else {
            // Words behind options may be their values, or for another program.
            let leading = self.arguments().take_while(|word| !word.starts_with('-'));
            let others = self.arguments().skip(leading.clone().count());
            let others = others.take_while(|word| *word != "--");
            let is_object = |word: &&str| is_address(word) || is_file(word) && !word.contains('=');
            leading.chain(others.filter(is_object)).collect()
        };
        let words = words.into_iter().filter(|word| {
            let is_option = word.starts_with('-') || Some(*word) == subcommand;
            !is_option && word.contains(char::is_alphanumeric)
        });
        let rest: Vec<String> = words.filter_map(|word| self.plain_word(word)).collect();
        let rest = rest.join(" ");
        let option = self.telling_option();
        let option = option.map_or(String::new(), |option| format!(" {option}"));
        let words = match (is_one_of(INTERPRETERS, program), self.script()) {
            (true, script) => script.unwrap_or_else(|| program.to_owned()),
            _ => cut_end(&format!("{name} {rest}"), WORDS_CELLS - option.len()),
        };
        words.trim_end().to_owned() + &option
    }

    /// Returns an option without which the program may do something else: `--dry-run`, `-n`, `-l`.
    fn telling_option(&self) -> Option<&'a str> {
        let is_telling = |word: &&str| {
            let name = word.split('=').next().unwrap_or_default();
            let is_cluster = has_flag(name, 'n') && name.chars().all(|one| CLUSTER.contains(one));
            let is_known = TELLING.split(' ').any(|part| name.contains(part));
            let is_one = is_one_of(TELLING_OPTIONS, name);
            name.starts_with('-') && (is_known || is_cluster || is_one)
        };
        let mut options = self.arguments().filter(is_telling);
        options.find(|word| word.len() < WORDS_CELLS / 2 && !self.reads())
    }

    /// Returns the module or the file that an interpreter runs, if it is the first argument.
    fn script(&self) -> Option<String> {
        let module = self.value(&["-m"]).map(str::to_owned);
        let mut first = self.arguments().take(1);
        let file = first.find(|word| !word.starts_with('-'));
        module.or_else(|| self.plain_word(file?))
    }

    /// Returns the words of the model about a script in the arguments or the input; may be empty.
    pub(super) fn about(&self) -> String {
        let is_hidden = is_one_of(INTERPRETERS, self.name()) && self.script().is_none();
        let about = self.call.argument(&["description"]).filter(|_| is_hidden);
        about.unwrap_or_default().to_owned()
    }

    /// Returns a word as labels show it; `None` if it is too long or known only at run time.
    fn plain_word(&self, word: &str) -> Option<String> {
        let is_plain = |sign: char| sign.is_alphanumeric() || "-_:.@#/+*~^=".contains(sign);
        let is_long = word.len() > MAX_LETTERS;
        match word {
            _ if is_address(word) => Some(address(word)),
            _ if !word.chars().all(is_plain) => None,
            _ if is_file(word) || word.ends_with('/') => {
                Some(file_name(word.trim_end_matches("..."), self.call.cwd))
            }
            _ if is_long => {
                Some(last_part(word).to_owned()).filter(|last| last.len() <= MAX_LETTERS)
            }
            _ => Some(word.to_owned()),
        }
    }
}

/// Whether a word is an address, not a text with one.
fn is_address(word: &str) -> bool {
    word.contains("://") && !word.contains([' ', '"', '{', '$', '\n'])
}

/// Whether a word is short options with this one, before `-e`, whose value may be in the same word.
fn has_flag(word: &str, option: char) -> bool {
    let cluster = word.strip_prefix('-').unwrap_or_default();
    let ends = |sign: char| !sign.is_ascii_alphanumeric() || sign == 'e';
    let mut parts = cluster.split(ends);
    parts.next().is_some_and(|cluster| cluster.contains(option))
}
