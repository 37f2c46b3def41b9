//! The nouns that fill the table of commands.

use std::sync::LazyLock;

use crate::side::builtin::clean::{WordList, cut};
use crate::side::builtin::names::{
    address, directory_name, distinct, file_name, file_names, glob_noun, is_working_directory,
    last_part, pattern_noun, revision,
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
        let known = |path: &&str| !path.starts_with("$()");
        let file = |path: &str| file_name(path, self.cwd);
        let found = match key {
            "name" => self.name.to_owned(),
            "program" => self.program.to_owned(),
            "operand" | "task" => cut(first?, 36),
            "file" => file(first.filter(known)?.trim_end_matches(".git")),
            "files" => self.files(&self.operands_behind_dashes()),
            "last" => {
                let last = self.operands.len().saturating_sub(1);
                self.files(&self.operands[last..])
            }
            "directories" => match self.operands.as_slice() {
                [one] => directory_name(one, self.cwd),
                several => self.files(several),
            },
            "moved" => self.moved()?,
            "places" => self.places(),
            "output" => file(self.written?),
            "revision" => revision(first?),
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
            "replied" | "changed" | "read" => self.api(key)?,
            "test" => self.tested(),
            "target" => self.target()?,
            "image" => cut(self.value(&["-t", "--tag"])?, 40),
            "packages" => self.packages()?,
            "script" => {
                let script = first.filter(|path| !path.starts_with("/dev/"))?;
                let argument = self.operands.get(1).copied().unwrap_or_default();
                cut(&format!("{} {argument}", file(script)), 32)
            }
            "address" => {
                let is_address = |word: &&&str| word.contains(['.', ':']);
                address(self.operands.iter().find(is_address)?)
            }
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
        let known = |path: &&str| !path.starts_with('$');
        match distinct(paths.iter().copied().filter(known)).as_slice() {
            [one] if one.ends_with('/') => directory_name(one, self.cwd),
            [one] if one.contains('*') => glob_noun(one),
            distinct => file_names(distinct, self.cwd),
        }
    }

    fn moved(&self) -> Option<String> {
        match self.operands.as_slice() {
            [from, to] => {
                let target = if is_file(to) {
                    file_name(to, self.cwd)
                } else {
                    directory_name(to, self.cwd)
                };
                let from = self.files(&[from]);
                Some(if from == target {
                    from
                } else {
                    format!("{from} to {target}")
                })
            }
            [several @ .., _] => Some(self.files(several)),
            [] => None,
        }
    }

    fn places(&self) -> String {
        match self.operands.as_slice() {
            [one] if is_file(one) => file_name(one, self.cwd),
            [one] if !is_working_directory(one, self.cwd) => directory_name(one, self.cwd),
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

    /// Returns the pull request or issue of a request to GitHub, if the request is of this kind.
    fn api(&self, did: &str) -> Option<String> {
        let path = *self.operands.first()?;
        let has_fields = self
            .arguments
            .iter()
            .any(|word| ["-f", "-F", "--field", "--raw-field", "--input"].contains(&word.as_str()));
        let method = self.value(&["-X", "--method"]);
        let writes = method.map_or(has_fields, |method| !method.eq_ignore_ascii_case("get"));
        let parts: Vec<&str> = path
            .split(['/', '?'])
            .filter(|part| !part.is_empty())
            .collect();
        let at = parts
            .iter()
            .position(|part| matches!(*part, "pulls" | "issues"))?;
        let number = parts.get(at + 1).filter(|number| is_number(number))?;
        let thing = if parts[at] == "pulls" { "PR" } else { "issue" };
        let is_comment = parts.contains(&"comments");
        match did {
            "replied" if writes && is_comment => Some(format!("{thing} #{number} comment")),
            "changed" if writes => Some(format!("{thing} #{number}")),
            "read" if !writes && is_comment => Some(format!("{thing} #{number} comments")),
            "read" if !writes => Some(format!("{thing} #{number}")),
            _ => None,
        }
    }

    /// Returns the method of a request that may change something.
    fn method(&self) -> Option<String> {
        // `-X` may be attached to its value and follow other letters: `-sXDELETE`.
        let attached = |word: &String| {
            let cluster = word
                .strip_prefix('-')
                .filter(|rest| !rest.starts_with('-'))?;
            let (flags, method) = cluster.split_once('X')?;
            let is_flag = |flag: char| "sSfkLvigN".contains(flag);
            (flags.chars().all(is_flag) && !method.is_empty()).then(|| method.to_owned())
        };
        let named = self.arguments.iter().find_map(attached);
        let named = named.or_else(|| {
            let value = self.value(&["-X", "--request", "--method"])?;
            Some(value.to_owned())
        });
        // httpie takes the method as a word.
        let first = self
            .operands
            .first()
            .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase()));
        let named = named.or_else(|| first.map(|method| (*method).to_owned()));
        let has_data = self.arguments.iter().any(|word| {
            let is_attached = word.starts_with("-d") && !word.starts_with("--");
            is_attached && self.program == "curl"
                || WORDS.has(
                    "options with data",
                    word.split('=').next().unwrap_or_default(),
                )
        });
        let is_get = self
            .arguments
            .iter()
            .any(|word| word == "-G" || word == "--get");
        let method = named.or_else(|| (has_data && !is_get).then(|| "POST".to_owned()))?;
        let is_read = ["GET", "HEAD", "OPTIONS"]
            .iter()
            .any(|read| method.eq_ignore_ascii_case(read));
        (!is_read).then(|| cut(&method.to_ascii_uppercase(), 10))
    }

    /// Returns the address whose content is saved to a file.
    fn saved(&self) -> Option<&str> {
        let is_cluster = |word: &String, letters: &[char]| {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letters)
        };
        let target = self.value(&["-o", "--output", "-O", "--output-document"]);
        let discards = self.arguments.iter().any(|word| word == "/dev/null");
        let is_saved = match self.program {
            "wget" => target != Some("-") && !self.arguments.iter().any(|word| word == "--spider"),
            "curl" => {
                let clusters = self
                    .arguments
                    .iter()
                    .filter(|word| is_cluster(word, &['o', 'O']));
                !discards
                    && target != Some("/dev/null")
                    && target != Some("-")
                    && (target.is_some()
                        || clusters.count() > 0
                        || self.arguments.iter().any(|word| word == "--remote-name"))
            }
            _ => false,
        };
        let is_address = |word: &&&str| word.contains(['.', ':']);
        let address = self.operands.iter().find(is_address)?;
        (is_saved || self.written.is_some()).then_some(*address)
    }

    /// Returns the name of a single test, or the runner and the tested package or file.
    fn tested(&self) -> String {
        let is_identifier = |text: &&str| {
            text.len() > 3
                && text
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let one = self.value(&["-run", "--run", "-t", "--test", "-k"]);
        if let Some(one) = one
            .map(|one| one.trim_matches(['^', '$']))
            .filter(is_identifier)
        {
            return cut(one, 40);
        }
        let place = match (self.value(&["-p", "--package"]), self.operands.as_slice()) {
            (Some(package), _) => Some(package.to_owned()),
            (None, [only]) => {
                let path = only.split("::").next().unwrap_or_default();
                let path = path.trim_end_matches("...").trim_end_matches('/');
                let is_place = path.contains(['/', '.']) && !is_working_directory(path, self.cwd);
                is_place.then(|| file_name(path, self.cwd))
            }
            (None, _) => None,
        };
        match place.filter(|place| !place.is_empty() && place.len() <= 36) {
            Some(place) => format!("{} in {place}", self.name),
            None => self.name.to_owned(),
        }
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
        let (pattern, places) = if let Some(pattern) = self.value(&["-e", "--regexp"]) {
            (pattern, self.operands.as_slice())
        } else {
            let (pattern, places) = self.operands.split_first()?;
            (*pattern, places)
        };
        let noun = pattern_noun(pattern)?;
        let place = match places {
            [one] if one.contains(['*', '$']) => None,
            [one] if is_file(one) => Some(file_name(one, self.cwd)),
            [one] if !is_working_directory(one, self.cwd) => {
                Some(directory_name(one, self.cwd)).filter(|directory| directory.len() <= 18)
            }
            _ => None,
        };
        let place = place.filter(|place| noun.len() + place.len() < 44);
        Some(place.map_or(noun.clone(), |place| format!("{noun} in {place}")))
    }
}

fn is_file(path: &str) -> bool {
    let name = last_part(path);
    name.get(1..).is_some_and(|rest| rest.contains('.')) && !path.ends_with('/')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
