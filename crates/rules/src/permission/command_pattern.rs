//! Patterns of rules: commands, as in `Bash(npm run *)`, and names of tools.

use std::sync::OnceLock;

use super::programs;
use super::wildcard::{GAP, Wildcard, begins_with_gap};
use crate::tool_facts::{Purpose, agent_tool, mcp_prefix};

/// The command pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    text: String,
    /// The program, without its directory, unless it starts with `*`.
    program: Option<Wildcard>,
    pattern: Wildcard,
    /// The pattern without its arguments, if they are optional.
    without_arguments: Option<Wildcard>,
    /// These two without the directory of the program, if they have one.
    by_name: Vec<Wildcard>,
    /// Its words, parsed for the first command that a deny or ask rule is compared with.
    words: OnceLock<Option<Words>>,
}

/// The words of a pattern such as `git reset --hard *`, for matching options in any place.
#[derive(Debug, Clone)]
struct Words {
    /// The words that are not options. A star matches within a word.
    operands: Vec<Operand>,
    /// Whether other operands may precede, follow or separate them.
    is_open: bool,
    /// The letters of short options.
    letters: String,
    /// The long options, and whether the name may be longer.
    long_options: Vec<(String, bool)>,
}

#[derive(Debug, Clone)]
struct Operand {
    text: String,
    wildcard: Wildcard,
    /// Whether other operands may precede it.
    is_free: bool,
}

impl CommandPattern {
    /// Parses a command with `*` as a wildcard. A final `:*` means ` *`; if ` *` is the only star,
    /// the arguments are optional.
    pub(super) fn parse(pattern: &str) -> Self {
        let pattern = match pattern.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => pattern.to_owned(),
        };
        let wildcard = Wildcard::parse(&pattern);
        let without_arguments = pattern
            .strip_suffix(" *")
            .filter(|_| wildcard.stars() == 1)
            .map(Wildcard::parse);
        let program = pattern.split_whitespace().next();
        let directory = program.map_or(0, |program| program.len() - programs::name(program).len());
        let named = pattern
            .trim_start()
            .get(directory..)
            .filter(|_| directory > 0);
        let shortened = named.and_then(|named| named.strip_suffix(" *"));
        let shortened = shortened.filter(|_| without_arguments.is_some());
        let by_name = named.into_iter().chain(shortened);
        let by_name = by_name.map(Wildcard::parse).collect();
        Self {
            program: program.map(|program| Wildcard::parse(programs::name(program))),
            pattern: wildcard,
            without_arguments,
            by_name,
            words: OnceLock::new(),
            text: pattern,
        }
    }

    /// Whether the pattern literally starts with `text`.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        self.text.starts_with(text)
    }

    /// Whether the pattern has no wildcard.
    pub(super) fn is_literal(&self) -> bool {
        self.pattern.stars() == 0
    }

    /// Whether it matches a command.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.alternatives().any(|pattern| pattern.covers(text))
    }

    /// Whether it matches a command by any path of the program.
    pub(super) fn covers_by_name(&self, text: &str) -> bool {
        let mut patterns = self.alternatives().chain(&self.by_name);
        patterns.any(|pattern| pattern.covers(text))
    }

    /// Whether it may match a command whose text has gaps.
    pub(super) fn may_cover(&self, text: &str) -> bool {
        let mut patterns = self.alternatives().chain(&self.by_name);
        patterns.any(|pattern| pattern.may_cover(text))
    }

    /// Whether it matches these words with options in other places (`rm -v -fr x` for `rm -rf *`, `git push -u origin
    /// main` for `git push origin *`).
    /// With `fills_gaps`, a word known only at run time may be any of them.
    pub(super) fn covers_words(&self, words: &[String], fills_gaps: bool) -> bool {
        let pattern = self.words();
        pattern.is_some_and(|pattern| pattern.covers(words, fills_gaps))
    }

    fn words(&self) -> Option<&Words> {
        let words = self.words.get_or_init(|| Words::parse(&self.text));
        words.as_ref()
    }

    /// Returns the literal words that the pattern starts with.
    fn literals(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split_whitespace();
        words.take_while(|word| !word.contains('*'))
    }

    /// Whether a word of a text may be the program, without its directory.
    pub(super) fn may_start_with(&self, word: &str) -> bool {
        let is_short_option = word.starts_with('-') && !word.starts_with("--");
        let behind_option = word.get(2..).filter(|_| is_short_option);
        self.program.as_ref().is_some_and(|program| {
            (!begins_with_gap(word) && program.may_cover(word))
                || behind_option.is_some_and(|word| program.covers(word))
        })
    }

    /// Whether its literal words after the program are among these words, in any order.
    pub(super) fn is_composed_of(&self, words: &[&str]) -> bool {
        let mut literals = self
            .literals()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        let options = self.words();
        literals.all(|literal| words.contains(&literal))
            && options.is_none_or(|pattern| pattern.has_options(words))
    }

    /// Returns the subcommand that a word is short for.
    pub(super) fn expanded(&self, word: &str) -> Option<&str> {
        let subcommand = self.literals().nth(1)?;
        subcommand.starts_with(word).then_some(subcommand)
    }

    fn alternatives(&self) -> impl Iterator<Item = &Wildcard> {
        std::iter::once(&self.pattern).chain(&self.without_arguments)
    }
}

impl Words {
    /// Parses a pattern; `None` if the program is not known, or a star is inside an option.
    fn parse(pattern: &str) -> Option<Self> {
        let mut operands = Vec::new();
        let mut options = Vec::new();
        let mut is_free = false;
        for word in pattern.split_whitespace() {
            match word {
                "*" => is_free = true,
                option if option.starts_with('-') => options.push(option),
                word => operands.push(Operand {
                    text: word.to_owned(),
                    wildcard: Wildcard::parse(word),
                    is_free: std::mem::take(&mut is_free),
                }),
            }
        }
        let mut long_options = Vec::new();
        let mut letters = String::new();
        for option in options {
            let name = option.strip_suffix('*').unwrap_or(option);
            if name.contains('*') {
                return None;
            }
            if name.starts_with("--") {
                long_options.push((name.to_owned(), name != option));
            } else {
                letters.push_str(&name[1..]);
            }
        }
        let words = Self {
            operands,
            is_open: pattern.ends_with('*') || pattern.contains(" * "),
            letters,
            long_options,
        };
        let is_known = |program: &Operand| !program.text.contains('*');
        (words.operands.first().is_some_and(is_known) && !pattern.starts_with('*')).then_some(words)
    }

    fn covers(&self, words: &[String], fills_gaps: bool) -> bool {
        let Some(((program, operands), first)) = self.operands.split_first().zip(words.first())
        else {
            return false;
        };
        if programs::name(&program.text) != first {
            return false;
        }
        let has_options = !self.letters.is_empty() || !self.long_options.is_empty();
        let mut rest = &words[1..];
        for operand in operands {
            // The values of options look like operands.
            let found = rest.iter().enumerate().position(|(at, word)| {
                let is_next =
                    has_options || operand.is_free || (0..at).all(|at| is_skipped(rest, at));
                let is_any = fills_gaps && begins_with_gap(word);
                is_next
                    && (is_any || operand.wildcard.covers(word) || is_operand(word, &operand.text))
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
        self.has_options(words) && (self.is_open || ends())
    }

    /// Whether its options are among these words.
    fn has_options(&self, words: &[impl AsRef<str>]) -> bool {
        let words = || words.iter().map(AsRef::as_ref);
        let options = || words().filter(|word: &&str| word.starts_with('-'));
        let has_letter = |letter: char| {
            let mut short = options().filter(|option| !option.starts_with("--"));
            short.any(|option| option.contains(letter))
        };
        let has_long = |(name, is_open): &(String, bool)| {
            options().any(|option| match option.strip_prefix(name.as_str()) {
                Some(rest) => *is_open || rest.is_empty() || rest.starts_with('='),
                None => is_shortened(option, name),
            })
        };
        self.letters.chars().all(has_letter) && self.long_options.iter().all(has_long)
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

/// Whether an option with one letter, or several, has this value.
fn has_attached(option: &str, value: &str) -> bool {
    let letters = option.strip_suffix(value).unwrap_or_default();
    letters.len() > 1 && letters.starts_with('-') && !letters.starts_with("--")
}

/// Whether a word is an option, the value of one, or an assignment.
fn is_skipped(words: &[String], at: usize) -> bool {
    let is_option = |word: &str| word.starts_with(['-', '+']);
    let is_value = || at > 0 && is_option(&words[at - 1]) && !words[at - 1].contains('=');
    is_option(&words[at]) || words[at].contains('=') || is_value()
}

/// The tools that a rule matches.
#[derive(Debug, Clone)]
pub(super) enum ToolName {
    /// One tool; `Read`, `Edit` and `Bash` include all tools of the same purpose.
    Exact(String),
    /// Tools whose names match.
    Matching(Wildcard),
}

/// Returns the canonical name of a tool of any agent; unknown names are unchanged.
pub fn canonical_tool(name: &str) -> &str {
    agent_tool(name).map_or(name, |tool| tool.name)
}

impl ToolName {
    /// Parses a canonical name, or a pattern for names.
    pub(super) fn parse(name: &str) -> Self {
        if name.contains('*') {
            Self::Matching(Wildcard::parse(name))
        } else {
            Self::Exact(name.to_owned())
        }
    }

    /// Whether this names exactly the tool.
    pub(super) fn is(&self, tool: &str) -> bool {
        matches!(self, Self::Exact(name) if name == tool)
    }

    /// Whether the rule covers a tool, given by its canonical name. `Read`, `Edit` and `Bash` cover
    /// all tools that read files, change files and run commands.
    pub(super) fn covers(&self, tool: &str) -> bool {
        let purpose = Purpose::of(tool);
        match self {
            Self::Matching(names) => names.covers(tool),
            Self::Exact(name) => match name.as_str() {
                "Read" => purpose.reads_files(),
                "Edit" => purpose.writes_files(),
                "Bash" => purpose == Purpose::Shell,
                name => name == tool || is_tool_of_server(tool, name),
            },
        }
    }

    /// Whether the rule covers the resources of an MCP server, or of any server if `server` is `None`.
    pub(super) fn covers_resources(&self, server: Option<&str>) -> bool {
        match (server, self) {
            // No tool has an empty name, so only rules about the whole server cover it.
            (Some(server), _) => self.covers(&mcp_prefix(server)),
            (None, Self::Exact(name)) => is_server(name),
            (None, Self::Matching(names)) => names.may_cover(&format!("mcp__{GAP}__")),
        }
    }
}

/// Whether `server` is `mcp__NAME` and the tool belongs to it.
fn is_tool_of_server(tool: &str, server: &str) -> bool {
    is_server(server)
        && tool
            .strip_prefix(server)
            .is_some_and(|rest| rest.starts_with("__"))
}

fn is_server(name: &str) -> bool {
    name.starts_with("mcp__") && name.matches("__").count() == 1
}
