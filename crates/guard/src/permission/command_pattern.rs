//! Patterns of rules: commands, as in `Bash(npm run *)`, and names of tools.

use std::borrow::Cow;

use super::pattern::{GAP, Pattern};
use crate::shell::program_name;
use turnpipe_core::tool_facts::{Purpose, agent_tool, mcp_name, mcp_prefix};

/// The command pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    pub(super) text: String,
    pub(super) wildcard: Pattern,
    /// Whether its arguments are optional.
    may_be_alone: bool,
    /// Its words, for deny and ask rules; `None` if the program has a star.
    words: Option<Words>,
}

/// The words of a pattern such as `git reset --hard *`.
#[derive(Debug, Clone)]
struct Words {
    /// The name of the program.
    program: String,
    /// The words without a leading dash. A star is any number of words; others match one, with stars within it.
    operands: Vec<Pattern>,
    /// The options, anywhere behind the program.
    options: Vec<String>,
    /// Whether anything may follow.
    is_open: bool,
}

/// Maximum number of letters of an option that may be spread over several words: `-r -f` has the letters of `-rf`, and
/// `-delete` is one option.
const MAX_CLUSTER: usize = 3;

impl CommandPattern {
    /// Parses a command with `*` as a wildcard. A final `:*` means ` *`; if ` *` is the only star,
    /// the arguments are optional.
    pub(super) fn parse(pattern: &str) -> Self {
        let pattern = match pattern.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => pattern.to_owned(),
        };
        let wildcard = Pattern::of_text(&pattern);
        Self {
            words: Words::parse(&pattern),
            may_be_alone: pattern.ends_with(" *") && wildcard.stars() == 1,
            wildcard,
            text: pattern,
        }
    }

    /// Whether its first word is the program with this name.
    pub(super) fn starts(&self, program: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|words| words.program == program)
    }

    /// Whether it matches a command.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.wildcard.covers(text) || self.may_be_alone && self.wildcard.covers(&format!("{text} "))
    }

    /// Whether a text may match that has this name of a program.
    pub(super) fn has_text(&self, program: &str) -> bool {
        let mut words = self.words.iter();
        words.all(|words| words.program == program || words.program.contains('='))
    }

    /// Whether it matches a program and its arguments: the words of the pattern without a dash occur in their order,
    /// separated by options only, each with at most one value, and its options are anywhere.
    pub(super) fn matches_words(&self, program: &str, arguments: &[&str]) -> bool {
        let words = self.words.as_ref().filter(|words| words.program == program);
        words.is_some_and(|words| words.has_options(arguments) && words.has_operands(arguments))
    }

    /// Whether the words of its words without a star occur in a text in any language in their order, as whole words.
    pub(super) fn is_mentioned_in(&self, text: &str) -> bool {
        let has_literals = |text: &str| {
            let mut words = words_of(text);
            let own = self.text.split_whitespace();
            let own = own.filter(|word| !word.contains('*')).map(program_name);
            own.flat_map(words_of).all(|literal| {
                words.any(|word| literal == word || literal == word.trim_start_matches('-'))
            })
        };
        let quotes = ['"', '\'', '\\'];
        has_literals(text) || text.contains(quotes) && has_literals(&text.replace(quotes, ""))
    }
}

impl Words {
    /// Parses a pattern; `None` if its program has a star.
    fn parse(pattern: &str) -> Option<Self> {
        let is_quoted = pattern.contains(['"', '\'']);
        let quoted = is_quoted.then(|| shlex::split(pattern)).flatten();
        let words =
            quoted.unwrap_or_else(|| pattern.split_whitespace().map(str::to_owned).collect());
        let (program, arguments) = words.split_first()?;
        if program.contains('*') {
            return None;
        }
        let (options, operands): (Vec<&String>, Vec<&String>) =
            arguments.iter().partition(|word| is_option(word));
        let operands = operands.into_iter();
        let mut operands: Vec<Pattern> = operands.map(|word| Pattern::of_text(word)).collect();
        operands.pop_if(|last| last.is_star());
        Some(Self {
            program: program_name(program).to_owned(),
            operands,
            options: options.into_iter().cloned().collect(),
            is_open: pattern.ends_with('*'),
        })
    }

    fn has_options(&self, arguments: &[&str]) -> bool {
        self.options.iter().all(|option| {
            let wildcard = Pattern::of_text(option);
            let is_same = |word: &&str| {
                let name = word.split('=').next().unwrap_or_default();
                wildcard.covers(word) || is_long(option) && wildcard.covers(name)
            };
            arguments.iter().any(is_same) || has_letters(option, arguments)
        })
    }

    /// Looks for the operands in one pass over the arguments, with all positions in the pattern that may be reached.
    fn has_operands(&self, arguments: &[&str]) -> bool {
        let end = self.operands.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        let mut may_be_value = false;
        for word in arguments {
            self.skip_stars(&mut reached);
            if self.is_open && reached[end] {
                return true;
            }
            let is_option = is_option(word);
            for at in (0..=end).rev() {
                let is_star = self.operands.get(at).is_some_and(Pattern::is_star);
                // A rule without a star is about the whole command, with its options in any place.
                let stays = is_star
                    || is_option && (at < end || !self.options.is_empty())
                    || may_be_value && at < end;
                let is = |operand: &Pattern| {
                    operand.covers(word) || operand.covers(word.trim_start_matches("./"))
                };
                let moves = at > 0 && reached[at - 1] && is(&self.operands[at - 1]);
                reached[at] = moves || reached[at] && stays;
            }
            may_be_value = is_option;
        }
        self.skip_stars(&mut reached);
        reached[end]
    }

    /// Marks the positions behind stars that match no word.
    fn skip_stars(&self, reached: &mut [bool]) {
        for (at, operand) in self.operands.iter().enumerate() {
            reached[at + 1] |= operand.is_star() && reached[at];
        }
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn is_long(word: &str) -> bool {
    word.starts_with("--")
}

/// Whether the letters of a short option are there: in one word, or if they are few, in several.
fn has_letters(option: &str, arguments: &[&str]) -> bool {
    let Some(letters) = option.strip_prefix('-').filter(|_| !is_long(option)) else {
        return false;
    };
    let clusters = arguments.iter().copied();
    let mut clusters = clusters.filter(|word| is_option(word) && !is_long(word));
    let mut letters = letters.chars();
    if letters.clone().count() <= MAX_CLUSTER {
        return letters.all(|letter| clusters.clone().any(|word| word[1..].contains(letter)));
    }
    clusters.any(|word| letters.clone().all(|letter| word[1..].contains(letter)))
}

/// Returns the words of a text in any language.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_sign = |letter: char| !letter.is_alphanumeric() && !"_-".contains(letter);
    text.split(is_sign).filter(|word| !word.is_empty())
}

/// The tools that a rule matches.
#[derive(Debug, Clone)]
pub(super) enum ToolName {
    /// One tool; `Read`, `Edit` and `Bash` include all tools of the same purpose.
    Exact(String),
    /// Tools whose names match.
    Matching(Pattern),
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
            Self::Matching(Pattern::of_text(&name))
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
        let purpose = Purpose::from_tool(tool);
        let tool = without_signs(tool);
        match self {
            Self::Matching(names) => names.covers(&tool),
            Self::Exact(name) => match name.as_str() {
                "Read" => purpose.reads_files(),
                "Edit" => purpose.writes_files(),
                "Bash" => purpose == Purpose::Shell,
                "Agent" => purpose == Purpose::Agent,
                "Skill" => matches!(purpose, Purpose::Skill | Purpose::SlashCommand),
                name => {
                    let below = tool.strip_prefix(name).filter(|_| is_server(name));
                    name == tool || below.is_some_and(|below| below.starts_with("__"))
                }
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

/// Whether the name is `mcp__SERVER`.
fn is_server(name: &str) -> bool {
    name.starts_with("mcp__") && name.matches("__").count() == 1
}
