//! The words of command patterns, which match options in any place and spelling.

use super::programs;
use super::wildcard::{GAP, GLOB, Wildcard, begins_with_gap};

/// The words of a pattern such as `git reset --hard *`, for matching options in any place.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// Assignments before its program.
    assigned: Vec<Wildcard>,
    /// The names of its program, none if it only has assignments.
    names: Vec<String>,
    /// The words that are not options. A star matches within a word.
    operands: Vec<Operand>,
    /// Whether other operands may precede, follow or separate them.
    is_open: bool,
    /// The options in their first spelling, and whether the name may be longer.
    options: Vec<(String, bool)>,
}

#[derive(Debug, Clone)]
struct Operand {
    text: String,
    wildcard: Wildcard,
    /// Whether other operands may precede it.
    is_free: bool,
    /// Whether it may be the value of an option, which may stand in any place.
    is_value: bool,
}

impl Words {
    /// Parses a pattern; `None` if the program is not known, or a star is inside an option.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut operands = Vec::new();
        let mut options = Vec::new();
        let mut is_free = false;
        let mut is_value = false;
        let is_assignment =
            |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let mut words = pattern.split_whitespace().peekable();
        let mut assigned = Vec::new();
        while let Some(word) = words.next_if(is_assignment) {
            assigned.push(Wildcard::parse(word));
        }
        for word in words {
            match word {
                "*" => is_free = true,
                option if option.starts_with('-') => {
                    is_value = !option.contains('=');
                    options.push(option);
                }
                word => operands.push(Operand {
                    text: word.to_owned(),
                    wildcard: Wildcard::parse(word),
                    is_free: std::mem::take(&mut is_free),
                    is_value: std::mem::take(&mut is_value),
                }),
            }
        }
        let program = operands
            .first()
            .map_or("", |program: &Operand| programs::name(&program.text));
        let mut named = Vec::new();
        for option in options {
            let name = option.strip_suffix('*').unwrap_or(option);
            if name.contains('*') {
                return None;
            }
            let is_open = |one: &String| name != option && one.starts_with("--");
            let spellings = spelled(program, name).into_iter();
            named.extend(spellings.map(|one| {
                let is_open = is_open(&one);
                (one, is_open)
            }));
        }
        let words = Self {
            assigned,
            names: programs::spellings("program", program)
                .map(str::to_owned)
                .collect(),
            is_open: pattern.ends_with('*') || pattern.contains(" * "),
            options: named,
            operands,
        };
        let is_known = |program: &Operand| !program.text.contains('*');
        let first = words.operands.first();
        let is_certain = first.map_or(!words.assigned.is_empty(), is_known);
        (is_certain && !pattern.starts_with('*')).then_some(words)
    }

    /// Whether it matches these words, of which the second ones may be options, behind these assignments. With
    /// `fills_gaps`, a part known only at run time may be anything.
    pub(super) fn covers(
        &self,
        assigned: &[String],
        [words, options]: [&[String]; 2],
        fills_gaps: bool,
    ) -> bool {
        let is_set = |pattern: &Wildcard| {
            let mut assigned = assigned.iter();
            assigned.any(|set| pattern.covers(set) || fills_gaps && pattern.may_cover(set))
        };
        let Some(first) = words.first().filter(|_| self.assigned.iter().all(is_set)) else {
            return false;
        };
        let Some((_, operands)) = self.operands.split_first() else {
            return self.is_open;
        };
        if !self.starts(programs::name(first)) {
            return false;
        }
        let has_options = !self.options.is_empty();
        let mut rest = &words[1..];
        for (index, operand) in operands.iter().enumerate() {
            let is_here = |word: &String| {
                fills_gaps && operand.wildcard.may_cover(word)
                    || operand.wildcard.covers(word)
                    || is_operand(word, &operand.text)
            };
            // `kubectl -n prod delete`
            if operand.is_value && words[1..].iter().any(is_here) {
                continue;
            }
            // `make clean deploy`
            let is_free = operand.is_free || programs::ANY_ORDER.contains(self.program());
            // The values of options look like operands.
            let behind = words.len() - rest.len();
            let found = rest.iter().enumerate().position(|(at, word)| {
                // A message is no subcommand.
                let word = if index == 0 {
                    &options[behind + at]
                } else {
                    word
                };
                let is_next = has_options
                    || is_free
                    || (0..at).all(|at| {
                        is_skipped(rest, at) || programs::is_optional(self.program(), &rest[at])
                    });
                is_next && (is_here(word) || self.is_same(index, word, &operand.text))
            });
            match found {
                // It may be several words.
                Some(at) if begins_with_gap(&rest[at]) => return true,
                Some(at) => rest = &rest[at + 1..],
                // `-XPOST`
                None if has_options
                    && words.iter().any(|word| has_attached(word, &operand.text)) => {}
                None => return false,
            }
        }
        let ends = || rest.iter().all(|word| has_options && word.starts_with('-'));
        self.has_options(options, fills_gaps) && (self.is_open || ends())
    }

    /// Returns the name of its program.
    fn program(&self) -> &str {
        let program = self.operands.first();
        program.map_or("", |program| programs::name(&program.text))
    }

    /// Whether its program has this name, or another name of the same program, with a version or not.
    fn starts(&self, name: &str) -> bool {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        // `pip3.11`
        let plain = name.rsplit_once('.').filter(|(_, minor)| is_number(minor));
        let plain = plain.map_or(name, |(plain, _)| plain);
        self.names.iter().any(|one| one == name || one == plain)
    }

    /// Whether a word has the meaning of an operand: a subcommand by another name, or a branch to push to.
    fn is_same(&self, index: usize, word: &str, operand: &str) -> bool {
        let canonical = |word| programs::canonical(self.program(), word);
        let pushes = || self.program() == "git" && self.operands[1].text == "push";
        if index == 0 {
            return canonical(word) == canonical(operand);
        }
        let target = word.trim_start_matches('+').rsplit(':').next();
        let target = target.map(|name| name.trim_start_matches("refs/heads/"));
        pushes() && target == Some(operand)
    }

    /// Whether its options are among these words. With `fills_gaps`, a part known only at run time may be any.
    pub(super) fn has_options(&self, words: &[impl AsRef<str>], fills_gaps: bool) -> bool {
        if self.options.is_empty() {
            return true;
        }
        let program = self.program();
        let words = || words.iter().map(AsRef::as_ref);
        let given = words().flat_map(|word| spelled(program, word));
        let given: Vec<String> = given.collect();
        let unknown = words().filter(|_| fills_gaps);
        let unknown = unknown.filter_map(|word| Some(word.split_once([GAP, GLOB])?.0));
        let unknown: Vec<&str> = unknown.collect();
        self.options.iter().all(|(name, is_open)| {
            let is_given = |option: &String| match option.strip_prefix(name.as_str()) {
                Some(rest) => *is_open || rest.is_empty() || rest.starts_with('='),
                None => is_shortened(option, name),
            };
            // `-$x`, `--fo$x`
            let may_be = |known: &&str| {
                let is_letters = known.starts_with('-') && !known.starts_with("--");
                let mut names = programs::spellings(program, name);
                is_letters || names.any(|name| name.starts_with(known))
            };
            given.iter().any(is_given) || unknown.iter().any(may_be)
        })
    }
}

/// Whether a text is the name of a variable.
fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(is_letter)
}

/// Returns the options that a word gives, each in its first spelling: `-rf` of `rm` gives `--recursive` and `--force`.
fn spelled(program: &str, word: &str) -> Vec<String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let whole = programs::canonical(program, name);
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match letters {
        _ if whole != name => vec![whole.to_owned()],
        // `git push origin +main`
        None if program == "git" && word.starts_with('+') => vec!["--force".to_owned()],
        None if word.starts_with("--") && value.is_empty() => vec![name.to_owned()],
        None if word.starts_with("--") => vec![word.to_owned()],
        None => Vec::new(),
        Some(letters) => {
            let letters = letters.chars().map(|letter| format!("-{letter}"));
            let options = letters.map(|option| programs::canonical(program, &option).to_owned());
            options.collect()
        }
    }
}

/// Whether a long option is the beginning of another. `--save` is not short for `--save-dev`.
fn is_shortened(option: &str, name: &str) -> bool {
    let option = option.split_once('=').map_or(option, |(option, _)| option);
    let rest = name.strip_prefix(option).filter(|_| option.len() > 2);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'))
}

/// Whether a word is an operand of a pattern, which may be written with another directory if it names a file.
fn is_operand(word: &str, operand: &str) -> bool {
    let plain = |text: &str| format!("/{}", text.trim_end_matches('/').trim_start_matches("./"));
    let (word, operand) = (plain(word), plain(operand));
    let has_extension = programs::name(&operand).trim_matches('.').contains('.');
    word == operand
        || (operand[1..].contains('/') || has_extension) && word.ends_with(&operand)
        || has_extension && operand.ends_with(&word)
}

/// Whether an option has this value.
fn has_attached(option: &str, value: &str) -> bool {
    let name = option.strip_suffix(value).unwrap_or_default();
    name.len() > 1 && name.starts_with('-') && (!name.starts_with("--") || name.ends_with('='))
}

/// Whether a word is an option, the value of one, or an assignment.
fn is_skipped(words: &[String], at: usize) -> bool {
    let is_option = |word: &str| word.starts_with(['-', '+']);
    let is_value = || at > 0 && is_option(&words[at - 1]) && !words[at - 1].contains('=');
    is_option(&words[at]) || words[at].contains('=') || is_value()
}
