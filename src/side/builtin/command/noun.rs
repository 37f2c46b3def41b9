//! The nouns that fill the table of commands.

use std::sync::LazyLock;

use crate::side::builtin::clean::{WordList, cut};
use crate::side::builtin::names::{
    address, directory_name, distinct, file_name, file_names, glob_noun, is_file,
    is_working_directory, last_part, pattern_noun, place_name, revision, sought,
};

/// The table of commands, and lists of their words.
pub(super) static WORDS: LazyLock<WordList> =
    LazyLock::new(|| WordList::new(include_str!("../words/commands.txt")));

/// A parsed simple command.
#[derive(Debug, Clone)]
pub(super) struct Invocation<'a> {
    pub(super) program: &'a str,
    pub(super) arguments: &'a [String],
    /// The operands after the words that the table names.
    pub(super) operands: Vec<&'a str>,
    /// The program and the words that the table names.
    pub(super) name: &'a str,
    /// The file that the output goes to.
    pub(super) written: Option<&'a str>,
    pub(super) has_document: bool,
    /// The output of the whole command line.
    pub(super) output: &'a str,
    pub(super) cwd: Option<&'a str>,
}

impl Invocation<'_> {
    /// Returns the noun of this name, if there is one.
    pub(super) fn noun(&self, key: &str) -> Option<String> {
        let first = self.operands.first().copied();
        let known = |path: &&str| !path.starts_with("$()") && *path != "-";
        let file = |path: &str| file_name(path, self.cwd);
        let found = match key {
            "name" => self.name.to_owned(),
            "program" => self.program.to_owned(),
            "version" if self.arguments.len() == 1 => format!("{} version", self.program),
            "operand" | "task" => cut(first?, 36),
            "file" => file(first.filter(known)?.trim_end_matches(".git")),
            "files" => self.files(&self.operands_behind_dashes()),
            "last" => {
                let last = self.operands.len().saturating_sub(1);
                self.files(&self.operands[last..])
            }
            "directories" => match self.operands.as_slice() {
                [one] => directory_name(one, self.cwd),
                [_, _] => self.files(&self.operands),
                several => format!("{} directories", several.len()),
            },
            "moved" => self.moved()?,
            "places" => self.places(),
            "output" => file(self.written?),
            "revision" => revision(first.filter(known)?),
            "range" => {
                let is_range = |word: &&&str| word.contains("..") || word.contains('~');
                revision(self.operands.iter().find(is_range)?)
            }
            "source" => {
                let is_file = |word: &&str| word.contains('.') && !word.starts_with('.');
                file(self.operands.last().copied().filter(is_file)?)
            }
            "at" => {
                let (at, path) = first?.split_once(':')?;
                format!("{} at {}", file(path), revision(at))
            }
            "new branch" => cut(self.value(&["-b", "-B", "-c"])?, 40),
            "pushed" => self.pushed()?,
            "subject" => self.subject()?,
            "number" => {
                let number = last_part(first?);
                is_number(number).then(|| format!("#{number}"))?
            }
            "new number" => {
                let behind = ["/pull/", "/issues/"];
                let (_, rest) = behind
                    .iter()
                    .find_map(|mark| self.output.split_once(mark))?;
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                format!(
                    "#{}",
                    rest.get(..digits).filter(|number| !number.is_empty())?
                )
            }
            "thing" => self.thing()?,
            "test" => self.tested(),
            "target" => self.target()?,
            "image" => cut(self.value(&["-t", "--tag"])?, 40),
            "packages" => self.packages()?,
            "script" => {
                let script = first.filter(|path| !path.starts_with("/dev/"))?;
                let argument = self.operands.get(1).copied().unwrap_or_default();
                cut(&format!("{} {argument}", file(script)), 32)
            }
            "address" => address(self.address()?),
            "sought" => self.sought()?,
            "method" => self.method()?,
            "saved" => address(self.saved()?),
            "executed" => {
                let executed = self.value(&["-exec", "-execdir", "-ok", "-okdir"])?;
                last_part(executed).to_owned()
            }
            "glob" => {
                let named = self.value(&["-name", "-iname", "-path", "-regex"]);
                glob_noun(named.or(first.filter(|_| self.program == "fd"))?)
            }
            _ => return None,
        };
        (!found.is_empty()).then_some(found)
    }

    /// Returns the value of an option: the next word, or the text after `=`.
    fn value(&self, names: &[&str]) -> Option<&str> {
        let mut words = self.arguments.iter();
        words
            .by_ref()
            .find_map(|word| match word.split_once('=') {
                _ if names.contains(&word.as_str()) => Some(None),
                Some((name, value)) if names.contains(&name) => Some(Some(value)),
                _ => None,
            })?
            .or_else(|| words.next().map(String::as_str))
    }

    /// Returns the operands after `--`, if present.
    fn operands_behind_dashes(&self) -> Vec<&str> {
        match self.arguments.iter().position(|word| word == "--") {
            Some(place) => self.arguments[place + 1..]
                .iter()
                .map(String::as_str)
                .collect(),
            None => self.operands.clone(),
        }
    }

    fn files(&self, paths: &[&str]) -> String {
        let known = |path: &&str| !path.starts_with(['$', '{']);
        match distinct(paths.iter().copied().filter(known)).as_slice() {
            [one] if one.ends_with('/') => directory_name(one, self.cwd),
            [one] if one.contains('*') => glob_noun(one),
            distinct => file_names(distinct, self.cwd),
        }
    }

    fn moved(&self) -> Option<String> {
        let (last, several) = self.operands.split_last()?;
        let from = self.files(several);
        let to = place_name(last, self.cwd);
        let is_named = several.len() == 1 && from != to && !last.contains('$');
        Some(if is_named {
            format!("{from} to {to}")
        } else {
            from
        })
    }

    fn places(&self) -> String {
        match self.operands.as_slice() {
            [one] if is_file(one) || !is_working_directory(one, self.cwd) => {
                place_name(one, self.cwd)
            }
            [] | [_] => "working directory".to_owned(),
            several => format!("{} places", several.len()),
        }
    }

    fn pushed(&self) -> Option<String> {
        let from_output = self.output.lines().find_map(|line| {
            let (before, after) = line.split_once(" -> ")?;
            let is_update =
                before.contains("..") || before.contains("[new ") || before.contains('+');
            after.split_whitespace().next().filter(|_| is_update)
        });
        let branch = from_output.or(self.operands.get(1).copied())?;
        Some(cut(branch.trim_start_matches("HEAD:"), 40))
    }

    /// Returns the subject in `[branch 1234567] subject`.
    fn subject(&self) -> Option<String> {
        self.output.lines().find_map(|line| {
            let (place, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
            let hash = place.split_whitespace().last()?;
            let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then(|| subject.trim().to_owned())
        })
    }

    /// Returns the pull request or issue in the path of a request: `PR #7 comments`.
    fn thing(&self) -> Option<String> {
        let parts: Vec<&str> = self.operands.first()?.split(['/', '?']).collect();
        let is_kind = |part: &&str| matches!(*part, "pulls" | "issues");
        let at = parts.iter().position(is_kind)?;
        let number = parts.get(at + 1).filter(|number| is_number(number))?;
        let kind = if parts[at] == "pulls" { "PR" } else { "issue" };
        let comments = if parts.contains(&"comments") {
            " comments"
        } else {
            ""
        };
        Some(format!("{kind} #{number}{comments}"))
    }

    /// Returns the value of a short option of curl or wget, also in a cluster: `-sXDELETE`, `-sX DELETE`.
    fn clustered(&self, option: char) -> Option<&str> {
        let mut words = self.arguments.iter();
        let value = words.by_ref().find_map(|word| {
            let (flags, value) = word.strip_prefix('-')?.split_once(option)?;
            let is_cluster = flags.chars().all(|flag| "sSfkLvigNqn".contains(flag));
            is_cluster.then_some(value)
        })?;
        let next = words.next().map_or("", String::as_str);
        Some(if value.is_empty() { next } else { value })
    }

    /// Returns the method of a request that may change something.
    fn method(&self) -> Option<String> {
        let option = self
            .clustered('X')
            .or_else(|| self.value(&["--request", "--method"]));
        // httpie takes the method as a word.
        let is_method = |word: &&str| word.bytes().all(|byte| byte.is_ascii_uppercase());
        let named = option.or(self.operands.first().copied().filter(is_method));
        let is_data = |word: &String| {
            let name = word.split('=').next().unwrap_or_default();
            WORDS.has("options with data", name)
        };
        let is_get = |word: &String| word == "-G" || word == "--get";
        let has_short = |option| self.program == "curl" && self.clustered(option).is_some();
        let has_data =
            self.arguments.iter().any(is_data) || ['d', 'F', 'T'].into_iter().any(has_short);
        let has_data = has_data && !self.arguments.iter().any(is_get);
        let method = named.or(has_data.then_some("POST"))?;
        let is_read = |read: &&str| method.eq_ignore_ascii_case(read);
        let reads = ["GET", "HEAD", "OPTIONS"].iter().any(is_read);
        (!reads).then(|| cut(&method.to_ascii_uppercase(), 10))
    }

    /// Returns the address whose content is saved to a file.
    fn saved(&self) -> Option<&str> {
        let has = |option: &str| self.arguments.iter().any(|word| word == option);
        let short = ['o', 'O']
            .into_iter()
            .find_map(|option| self.clustered(option));
        let target = short.or_else(|| self.value(&["--output", "--output-document"]));
        let saves = self.program == "wget" && !has("--spider") || has("--remote-name");
        let is_saved = target.map_or(saves, |target| !matches!(target, "-" | "/dev/null"));
        self.address().filter(|_| is_saved)
    }

    fn address(&self) -> Option<&str> {
        let mut operands = self.operands.iter().copied();
        operands.find(|word| word.contains(['.', ':']))
    }

    /// Returns the name of a single test, or the runner and the tested package or file.
    fn tested(&self) -> String {
        let is_name = |text: &&str| {
            let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
            text.len() > 3 && text.chars().all(is_of_name)
        };
        let one = self.value(&["-run", "--run", "-t", "--test", "-k"]);
        let one = one.map(|one| one.trim_matches(['^', '$']));
        if let Some(one) = one.filter(is_name) {
            return cut(one, 40);
        }
        let only = self.operands.first().filter(|_| self.operands.len() == 1);
        let tested = only.and_then(|only| {
            let path = only.split("::").next()?.trim_end_matches("...");
            let path = path.trim_end_matches('/');
            let is_place = path.contains(['/', '.']) && !is_working_directory(path, self.cwd);
            is_place.then(|| file_name(path, self.cwd))
        });
        let package = self.value(&["-p", "--package"]).map(str::to_owned);
        let place = package
            .or(tested)
            .filter(|place| !place.is_empty() && place.len() <= 36);
        place.map_or(self.name.to_owned(), |place| {
            format!("{} in {place}", self.name)
        })
    }

    fn target(&self) -> Option<String> {
        if self.program == "cargo" {
            return self.value(&["-p", "--package", "--bin"]).map(str::to_owned);
        }
        match self.operands.as_slice() {
            [one] if !one.ends_with("...") && !is_working_directory(one, self.cwd) => Some(
                directory_name(one, self.cwd)
                    .trim_end_matches('/')
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Returns the installed packages; `None` if the output reports that they were already installed.
    fn packages(&self) -> Option<String> {
        let mut nothing = WORDS.lines("installed before");
        if nothing.any(|words| self.output.contains(words)) {
            return None;
        }
        match self.operands.as_slice() {
            [] => None,
            [one] => {
                let name = one.get(1..)?.split(['@', '=', '<', '>', '~', '[']).next()?;
                Some(cut(one.get(..=name.len())?, 36))
            }
            several => Some(format!("{} packages", several.len())),
        }
    }

    /// Returns the searched text, and the searched file or directory.
    fn sought(&self) -> Option<String> {
        let option = self.value(&["-e", "--regexp"]);
        let mut operands = self.operands.iter().copied();
        let noun = pattern_noun(option.or_else(|| operands.next())?)?;
        let place = operands.next().filter(|_| operands.next().is_none());
        Some(sought(&noun, place.unwrap_or_default(), self.cwd))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
