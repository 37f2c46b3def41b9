//! The words of command patterns, which match options in any place and spelling.

use super::option_pattern::{GivenOptions, OptionPattern};
use super::programs;
use super::wildcard::{Wildcard, begins_with_gap};
use crate::shell::is_identifier;

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
    options: Vec<OptionPattern>,
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
        let is_assignment = |word: &&str| {
            word.split_once('=')
                .is_some_and(|(name, _)| is_identifier(name))
        };
        // `git commit -m "wip"`
        let is_quoted = pattern.contains(['"', '\'']);
        let quoted = is_quoted.then(|| shlex::split(pattern)).flatten();
        let words =
            quoted.unwrap_or_else(|| pattern.split_whitespace().map(str::to_owned).collect());
        let mut words = words.iter().map(String::as_str).peekable();
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
        let options = options.into_iter();
        let options = options.map(|option| OptionPattern::parse(program, option));
        let options = options.collect::<Option<_>>()?;
        // `npm run test`
        let is_optional = matches!(operands.as_slice(), [_, word, _, ..] if programs::is_optional(program, &word.text));
        let names = programs::spellings("program", program)
            .map(str::to_owned)
            .collect();
        if is_optional {
            operands.remove(1);
        }
        let words = Self {
            assigned,
            names,
            is_open: pattern.ends_with('*') || pattern.contains(" * "),
            options,
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
                    || operand.wildcard.covers(word.trim_start_matches("./"))
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
                let is_left_out = |at: usize| programs::is_optional(self.program(), &rest[at]);
                let is_next = has_options
                    || is_free
                    || (0..at).all(|at| is_skipped(rest, at) || is_left_out(at));
                // `npm run i` is no `npm install`, but `docker image remove` is `docker rmi`.
                let is_group =
                    |at: usize| programs::SUBCOMMANDS.has_mark(self.program(), &rest[at]);
                let is_script = |at| is_left_out(at) && !is_group(at);
                let is_same = || !(0..at).any(is_script) && self.is_same(index, word, operand);
                is_next && (is_here(word) || is_same())
            });
            match found {
                // It may be several words.
                Some(at) if begins_with_gap(&rest[at]) => return true,
                Some(at) => rest = &rest[at + 1..],
                // `-XPOST`
                None if has_options
                    && words
                        .iter()
                        .any(|word| has_attached(word, &operand.wildcard)) => {}
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
    fn is_same(&self, index: usize, word: &str, operand: &Operand) -> bool {
        let canonical = |word| programs::canonical(self.program(), word);
        let pushes = || self.program() == "git" && self.operands[1].text == "push";
        // `npm isntall` for `npm install*`, `gh pr new` for `gh pr create`
        let mut spellings = programs::spellings(self.program(), word);
        let is_spelled = index < 2
            && (canonical(word) == canonical(&operand.text)
                || spellings.any(|spelling| operand.wildcard.covers(spelling)));
        if is_spelled || index == 0 {
            return is_spelled;
        }
        let target = word.trim_start_matches('+').rsplit(':').next();
        let target = target.map(|name| {
            name.trim_start_matches("refs/")
                .trim_start_matches("heads/")
        });
        pushes() && target.is_some_and(|target| operand.wildcard.covers(target))
    }

    /// Whether its options are among these words. With `fills_gaps`, a part known only at run time may be any.
    pub(super) fn has_options(&self, words: &[impl AsRef<str>], fills_gaps: bool) -> bool {
        let given = GivenOptions::of(self.program(), words, fills_gaps);
        self.options.iter().all(|option| option.is_among(&given))
    }
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

/// Whether an option has this value: `--request=POST`, `-sXPOST`.
fn has_attached(option: &str, value: &Wildcard) -> bool {
    let assigned = option.split_once('=').filter(|_| option.starts_with('-'));
    let is_short = option.starts_with('-') && !option.starts_with("--");
    let mut ends = option.char_indices().skip(2);
    assigned.is_some_and(|(_, attached)| value.covers(attached))
        || is_short && ends.any(|(at, _)| value.covers(&option[at..]))
}

/// Whether a word is an option, the value of one, or an assignment.
fn is_skipped(words: &[String], at: usize) -> bool {
    let is_option = |word: &str| word.starts_with(['-', '+']);
    let is_value = || at > 0 && is_option(&words[at - 1]) && !words[at - 1].contains('=');
    is_option(&words[at]) || words[at].contains('=') || is_value()
}
