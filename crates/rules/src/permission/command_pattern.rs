//! Patterns of rules: commands, as in `Bash(npm run *)`, and names of tools.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::pattern_words::Words;
use super::programs;
use super::wildcard::{GAP, Wildcard, begins_with_gap};
use crate::tool_facts::{Purpose, agent_tool, mcp_name, mcp_prefix};

/// The command pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    text: String,
    /// The program, without its directory, unless it starts with `*`.
    program: Option<Wildcard>,
    /// The names of the program; none if it has a star.
    names: Vec<String>,
    pattern: Wildcard,
    /// The pattern without its arguments, if they are optional.
    without_arguments: Option<Wildcard>,
    /// These two without the directory of the program, if they have one.
    by_name: Vec<Wildcard>,
    /// Its words, parsed for the first command that a deny or ask rule is compared with.
    words: OnceLock<Option<Words>>,
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
        let known = program.filter(|program| !program.contains(['*', '\\', '=']));
        let spellings =
            known.map(|program| programs::spellings("program", programs::name(program)));
        Self {
            names: spellings.into_iter().flatten().map(str::to_owned).collect(),
            program: program.map(|program| Wildcard::parse(programs::name(program))),
            pattern: wildcard,
            without_arguments,
            by_name,
            words: OnceLock::new(),
            text: pattern,
        }
    }

    /// Whether a text without gaps has no word that may be the program.
    pub(super) fn is_foreign_to(&self, text: &str) -> bool {
        let mut names = self.names.iter();
        !self.names.is_empty() && !names.any(|name| text.contains(name.as_str()))
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
    /// `words` are all words, and those that may be options. With `fills_gaps`, a word known only at run time may be any of them.
    pub(super) fn covers_words(
        &self,
        assigned: &[String],
        words: [&[String]; 2],
        fills_gaps: bool,
    ) -> bool {
        let pattern = self.words();
        pattern.is_some_and(|pattern| pattern.covers(assigned, words, fills_gaps))
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
        // Code is taken apart at signs: `deploy:prod`.
        let is_sign = |letter: char| !letter.is_alphanumeric() && !"_-".contains(letter);
        let program = self.names.first().map_or("", String::as_str);
        let has = |literal: &str| {
            let mut pieces = literal.split(is_sign).filter(|piece| !piece.is_empty());
            let attached = |word: &&str| word.starts_with('-') && word.ends_with(literal);
            programs::spellings(program, literal).any(|spelling| words.contains(&spelling))
                || words.iter().any(attached)
                || pieces.all(|piece| words.contains(&piece))
        };
        literals.all(has) && options.is_none_or(|pattern| pattern.has_options(words, false))
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
        let name = without_signs(name);
        if name.contains('*') {
            Self::Matching(Wildcard::parse(&name))
        } else {
            Self::Exact(name.into_owned())
        }
    }

    /// Whether this names exactly the tool.
    pub(super) fn is(&self, tool: &str) -> bool {
        matches!(self, Self::Exact(name) if name == tool)
    }

    /// Whether the rule covers a tool, given by its canonical name. `Read`, `Edit`, `Bash`, `Agent` and `Skill` cover
    /// all tools that read files, change files, run commands, and start agents and skills.
    pub(super) fn covers(&self, tool: &str) -> bool {
        let purpose = Purpose::of(tool);
        let tool = without_signs(tool);
        match self {
            Self::Matching(names) => names.covers(&tool),
            Self::Exact(name) => match name.as_str() {
                "Read" => purpose.reads_files(),
                "Edit" => purpose.writes_files(),
                "Bash" => purpose == Purpose::Shell,
                "Agent" => purpose == Purpose::Agent,
                "Skill" => matches!(purpose, Purpose::Skill | Purpose::SlashCommand),
                name => name == tool || is_tool_of_server(&tool, name),
            },
        }
    }

    /// Whether the rule covers a tool of an MCP server, or of any if `server` is `None`. Resources have an empty name, so
    /// only rules about the whole server cover them.
    pub(super) fn covers_on(&self, server: Option<&str>, tool: &str) -> bool {
        let tool = mcp_name(tool);
        match (server, self) {
            (Some(server), _) => self.covers(&(mcp_prefix(server) + &tool)),
            (None, Self::Exact(name)) => {
                is_server(name) || name.starts_with("mcp__") && name.ends_with(&format!("__{tool}"))
            }
            (None, Self::Matching(names)) => names.may_cover(&format!("mcp__{GAP}__{tool}")),
        }
    }
}

/// Returns the name of an MCP tool, or a pattern for such names, with the letters that every agent accepts; some keep
/// the dots of a server's name, others replace them.
fn without_signs(name: &str) -> Cow<'_, str> {
    if !name.starts_with("mcp__") {
        return name.into();
    }
    let pieces: Vec<String> = name.split('*').map(mcp_name).collect();
    pieces.join("*").into()
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
