//! The act of one command of a command line, from its program and its operands.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::act::{Act, Effect, Verb};
use super::call::Call;
use crate::shell::{CommandPart, Follows, PartWord, program_and_subcommand, program_name};
use crate::summaries::builtin::cut::cut_end;
use crate::summaries::builtin::names::{
    file_name, is_file, last_part, name_search, quote_pattern, shorten_url,
};
use crate::summaries::builtin::words::sections;

/// Maximum width of the words of a command, in cells.
const WORDS_CELLS: usize = 44;

/// Maximum length of a word that is not a file, in bytes.
const MAX_LETTERS: usize = 32;

/// The verbs of programs, by sections of the file. Labels say that other programs ran.
const VERBS: [(&str, Verb); 6] = [
    ("read", Verb::Read),
    ("search", Verb::Search),
    ("look for", Verb::LookFor),
    ("delete", Verb::Delete),
    ("write", Verb::Write),
    ("check", Verb::Check),
];

/// Letters that appear with `n` in short options for a dry run: `git clean -nfdx`, `rsync -avzn`.
const CLUSTER: &str = "-adfnvxz";

static PROGRAMS: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| sections(include_str!("../words/programs.txt")));

/// Whether a section of the file lists a name.
fn lists(section: &str, name: &str) -> bool {
    let mut names = PROGRAMS[section].split_whitespace();
    names.any(|listed| listed == name)
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
        if let (Some("command"), Some("-v" | "-V")) = (words.next(), words.next()) {
            return "command";
        }
        let program = self.command.own_program();
        let plain = program.strip_suffix(".exe");
        plain
            .filter(|name| lists("interpreters", name))
            .unwrap_or(program)
    }

    /// Returns the operands; `$@` stands for operands that `xargs` adds.
    fn operands(&self) -> Vec<&'a str> {
        let more = self.is_behind("xargs").then_some("$@");
        self.command.operands().into_iter().chain(more).collect()
    }

    /// Whether the command starts with this wrapper, such as `xargs`.
    pub(super) fn is_behind(&self, wrapper: &str) -> bool {
        let wrappers = self.command.words.len() - self.command.own_words().len();
        let mut wrappers = self.command.words.iter().take(wrappers);
        wrappers.any(|word| word.label() == wrapper)
    }

    fn arguments(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.command.own_words().iter().skip(1).map(PartWord::label)
    }

    /// Returns the value of an option: the next word, or the text after `=`.
    fn option_value(&self, names: &[&str]) -> Option<&'a str> {
        let next = self.arguments().skip(1).map(Some).chain([None]);
        let mut words = self.arguments().zip(next);
        words.find_map(|(word, next)| match word.split_once('=') {
            Some((name, value)) if names.contains(&name) => Some(value),
            _ => next.filter(|_| names.contains(&word)),
        })
    }

    fn is_git(&self, commands: &str) -> bool {
        let first = self.operands().first().copied();
        self.name() == "git" && first.is_some_and(|word| lists(commands, word))
    }

    /// Whether labels do not name it if there are other commands.
    pub(super) fn is_glue(&self) -> bool {
        self.name().is_empty() || lists("glue", self.name())
    }

    /// Whether it passes on a status.
    pub(super) fn is_exit(&self) -> bool {
        matches!(self.name(), "exit" | "return")
    }

    /// Whether it names itself in all its errors, so that it succeeded if the output has none.
    pub(super) fn is_loud(&self) -> bool {
        let is_known = match self.verb() {
            Some(verb) => !matches!(verb, Verb::Search | Verb::Check),
            None if self.is_glue() => !lists("silent", self.name()),
            None => lists("loud", self.name()) || self.is_git("git loud"),
        };
        is_known && !self.command.discards_errors()
    }

    /// Whether its errors start with its name, and no other lines of its output.
    pub(super) fn signs_errors(&self) -> bool {
        self.verb().is_some() || lists("loud", self.name()) || self.name() == "git"
    }

    /// Whether it only passes on input from a pipe.
    pub(super) fn is_filter(&self) -> bool {
        self.command.follows == Follows::Pipe && self.is_read_only()
    }

    /// Whether it passes on input from a pipe and does not fail by itself.
    pub(super) fn is_passive(&self) -> bool {
        let decides = self.verb() == Some(Verb::Search) || lists("with script", self.name());
        self.is_filter() && !decides || self.name() == "tee"
    }

    /// Whether it changes nothing.
    pub(super) fn is_read_only(&self) -> bool {
        let is_reader = lists("readers", self.name()) || self.is_git("git reads");
        (is_reader || self.command.verdict.is_read_only())
            && self.command.output_targets().next().is_none()
    }

    fn verb(&self) -> Option<Verb> {
        let mut verbs = VERBS.into_iter();
        verbs.find_map(|(section, verb)| lists(section, self.name()).then_some(verb))
    }

    /// Returns the act of a program in `PROGRAMS`.
    fn known_act(&self) -> Option<Act> {
        let verb = self.verb()?;
        let takes_script = lists("with script", self.name());
        // `sed -i`, `perl -0pi -e`
        let is_in_place = |word: &str| has_flag(word, 'i') || word.starts_with("--in-place");
        let edits = takes_script && self.name() != "jq" && self.arguments().any(is_in_place);
        if !edits && verb.effect() == Effect::Nothing && !self.is_read_only() {
            return None;
        }
        let mut operands = self.operands();
        // `find ! -name`, `sed -i ''`
        operands.retain(|word| *word != "!" && !(takes_script && word.is_empty()));
        match verb {
            Verb::Search => self.search_act(operands),
            Verb::LookFor => Some(Act::new(verb, self.name_file_search(&operands))),
            Verb::Check => Some(Act::new(verb, "a condition")),
            _ => {
                if takes_script {
                    let script = self.option_value(&["-e", "-f", "--expression", "--file"]);
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
            return Act::new(verb, "files");
        }
        Act::on_files(verb, files.iter().copied(), self.call.cwd)
    }

    /// Returns the act of a search for text, or for files with `--files`; `None` without a pattern.
    fn search_act(&self, mut operands: Vec<&'a str>) -> Option<Act> {
        if self.arguments().any(|word| word == "--files") {
            let glob = self.option_value(&["-g", "--glob", "--iglob"]);
            operands.retain(|word| Some(*word) != glob);
            let files = glob.map_or(String::new(), |glob| quote_pattern(glob) + " ") + "files";
            let place = <[&str; 1]>::try_from(operands).map_or("", |[place]| place);
            let noun = name_search(&files, place, self.call.cwd);
            return Some(Act::new(Verb::LookFor, noun));
        }
        let file = self.option_value(&["-f", "--file"]);
        let option = self.option_value(&["-e", "--regexp"]).or(file);
        operands.retain(|word| Some(*word) != option);
        let mut operands = operands.into_iter();
        let pattern = option.or_else(|| operands.next())?;
        let is_inverse = |word: &str| word == "--invert-match" || has_flag(word, 'v');
        let is_unknown = file.is_some() || self.arguments().any(is_inverse);
        let noun = match quote_pattern(pattern) {
            noun if noun.is_empty() || is_unknown => "lines".to_owned(),
            noun => noun,
        };
        let name = match operands.collect::<Vec<_>>().as_slice() {
            [] => noun,
            [place] => name_search(&noun, place, self.call.cwd),
            several => format!("{noun} in {} places", several.len()),
        };
        Some(Act::new(Verb::Search, name))
    }

    fn name_file_search(&self, operands: &[&str]) -> String {
        let names = ["-name", "-iname", "-path", "-regex"];
        let is_negated = self.arguments().any(|word| matches!(word, "!" | "-not"));
        let pattern = match self.arguments().filter(|word| names.contains(word)).count() {
            0 if self.name() == "fd" => operands.first().copied(),
            1 if !is_negated => self.option_value(&names),
            _ => None,
        };
        let pattern = pattern.filter(|pattern| !pattern.contains('$'));
        let files = pattern.map_or(String::new(), |pattern| quote_pattern(pattern) + " ") + "files";
        match operands {
            [place] if self.name() == "find" => name_search(&files, place, self.call.cwd),
            _ => files,
        }
    }

    /// Returns the act of a commit, whose subject is in git's own line `[branch 1234567] subject`.
    fn commit_act(&self) -> Option<Act> {
        let subject = self.output.lines().find_map(|line| {
            let (commit, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
            let hash = commit.split_whitespace().last()?;
            let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then_some(subject)
        });
        let subject = subject.filter(|_| self.words().starts_with("git commit"))?;
        Some(Act::new(Verb::Commit, subject.trim()))
    }

    /// Returns the acts of the command: the act of its program, and the write to the file that gets its output.
    pub(super) fn acts(&self) -> Vec<Act> {
        let file = self.command.output_file();
        let written = file.map(|file| self.on_files(Verb::Write, &[file]));
        let reads = self.verb().map(Verb::effect) == Some(Effect::Nothing);
        // The written file says more than a program that only prints.
        if written.is_some() && (reads || self.command.verdict.is_read_only() || self.is_glue()) {
            return written.into_iter().collect();
        }
        let known = self.commit_act().or_else(|| self.known_act());
        let own = known.unwrap_or_else(|| self.run_act());
        written.into_iter().chain([own]).collect()
    }

    /// Returns the act as a run of the program, which claims nothing.
    pub(super) fn run_act(&self) -> Act {
        let reader = self.is_read_only().then_some(Verb::RunReader);
        Act::new(reader.unwrap_or(Verb::Run), self.words()).with_detail(self.script_description())
    }

    /// Returns the act if this status is an answer of the program, not a failure: nothing was found, or files differ.
    pub(super) fn answer_act(&self, status: i64) -> Option<Act> {
        let words = self.words();
        let is_answer = |row: &str| {
            let answer = row.rsplit_once(": ");
            answer
                .is_some_and(|(start, code)| words.starts_with(start) && code == status.to_string())
        };
        let asks = lists("asks", self.name()) || self.is_git("git asks");
        if status == 1 && asks || PROGRAMS["answers"].lines().any(is_answer) {
            return Some(self.run_act());
        }
        let act = self.known_act().filter(|_| status == 1)?;
        match act.verb {
            Verb::Check => Some(act),
            // `xargs` may have started several searches, and only one found nothing.
            Verb::Search if self.is_behind("xargs") && self.output.trim().contains('\n') => {
                Some(act)
            }
            Verb::Search if self.is_filtered() => Some(act),
            Verb::Search | Verb::LookFor if self.name() != "find" => {
                let verb = Verb::FindNothing;
                Some(Act { verb, ..act })
            }
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
        let is_action = |word: &&str| lists("find actions", word);
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
            _ if self.is_glue() && !matches!(program, "exit" | "cd") => return program.to_owned(),
            _ => {}
        }
        let first = self.operands().first().copied();
        let known = [Some(program), first].into_iter().flatten();
        let known: Vec<_> = known.map(PartWord::from_value).collect();
        let name = program_and_subcommand(&known).unwrap_or_default();
        let subcommand = first.filter(|_| name.len() > program.len());
        let has_files = lists("with files", program);
        let words = if has_files {
            self.operands()
        } else {
            // Words after options may be their values, or belong to another program.
            let leading = self.arguments().take_while(|word| !word.starts_with('-'));
            let others = self.arguments().skip(leading.clone().count());
            let others = others.take_while(|word| *word != "--");
            let is_object = |word: &&str| is_url(word) || is_file(word) && !word.contains('=');
            leading.chain(others.filter(is_object)).collect()
        };
        let words = words.into_iter().filter(|word| {
            let is_option = word.starts_with('-') || Some(*word) == subcommand;
            !is_option && word.contains(char::is_alphanumeric)
        });
        let shown: Vec<String> = words.filter_map(|word| self.plain_word(word)).collect();
        let shown = shown.join(" ");
        let option = self.telling_option().map(|option| format!(" {option}"));
        let option = option.unwrap_or_default();
        let words = match (lists("interpreters", program), self.script()) {
            (true, script) => script.unwrap_or_else(|| program.to_owned()),
            _ => cut_end(&format!("{name} {shown}"), WORDS_CELLS - option.len()),
        };
        words.trim_end().to_owned() + &option
    }

    /// Returns the words of a failure: those of a write from a here-document, or else of the program.
    pub(super) fn attempt(&self) -> String {
        let file = self.command.output_file();
        let file = file.filter(|_| self.command.has_here_document() && self.name() == "cat");
        let write = file.map(|file| self.on_files(Verb::Write, &[file]));
        write.map_or_else(|| self.words(), |act| act.describe_attempt(self.call.cwd))
    }

    /// Returns an option without which the program may do something else: `--dry-run`, `-n`, `-l`.
    fn telling_option(&self) -> Option<&'a str> {
        let is_telling = |word: &&str| {
            let name = word.split('=').next().unwrap_or_default();
            let is_cluster =
                has_flag(name, 'n') && name.chars().all(|letter| CLUSTER.contains(letter));
            let mut parts = PROGRAMS["telling"].split_whitespace();
            let is_known = parts.any(|part| name.contains(part));
            let is_whole = lists("telling options", name);
            name.starts_with('-') && (is_known || is_cluster || is_whole)
        };
        let mut options = self.arguments().filter(is_telling);
        options.find(|word| word.len() < WORDS_CELLS / 2 && !self.is_read_only())
    }

    /// Returns the module or the file that an interpreter runs; `None` if it runs code in its arguments.
    fn script(&self) -> Option<String> {
        let module = self.option_value(&["-m"]).map(str::to_owned);
        let file = self.operands().first().copied();
        let mut options = self.arguments().take_while(|word| Some(*word) != file);
        let is_code = |word: &str| {
            let is_long = word.starts_with("--");
            is_long && word.starts_with("--eval") || !is_long && word.contains(['c', 'e', 'E', 'p'])
        };
        let has_code = options.any(|word| word.starts_with('-') && is_code(word));
        // Values of unknown options are no files.
        let is_first = self.arguments().next() == file;
        let file =
            file.filter(|word| !has_code && !word.starts_with('-') && (is_first || is_file(word)));
        module.or_else(|| self.plain_word(file?))
    }

    /// Returns the description that the model gave of a script in the arguments or the input; may be empty.
    pub(super) fn script_description(&self) -> String {
        let is_hidden = lists("interpreters", self.name()) && self.script().is_none();
        let about = self.call.argument(&["description"]).filter(|_| is_hidden);
        about.unwrap_or_default().to_owned()
    }

    /// Returns a word as labels show it; `None` if it is too long or known only at run time.
    fn plain_word(&self, word: &str) -> Option<String> {
        let is_plain = |sign: char| sign.is_alphanumeric() || "-_:.@#/+*~^=".contains(sign);
        let is_long = word.len() > MAX_LETTERS;
        match word {
            _ if is_url(word) => Some(shorten_url(word)),
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

/// Whether a word is a URL, not a text that contains one.
fn is_url(word: &str) -> bool {
    word.contains("://") && !word.contains([' ', '"', '{', '$', '\n'])
}

/// Whether a word is a cluster of short options that contains `option`, before `-e`, whose value may be in the same word.
fn has_flag(word: &str, option: char) -> bool {
    let cluster = word.strip_prefix('-').unwrap_or_default();
    let ends = |sign: char| !sign.is_ascii_alphanumeric() || sign == 'e';
    let mut parts = cluster.split(ends);
    parts.next().is_some_and(|cluster| cluster.contains(option))
}
