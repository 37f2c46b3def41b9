//! Command patterns, as in `Bash(npm run *)`.

use super::pattern::Pattern;
use crate::shell::program_name;

/// The command pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    pub(super) text: String,
    pub(super) wildcard: Pattern,
    /// Whether its arguments are optional.
    has_optional_arguments: bool,
    /// Its words, for deny and ask rules; `None` if the name of the program has a star.
    words: Option<PatternWords>,
}

/// The words of a pattern such as `git reset --hard *`.
#[derive(Debug, Clone)]
struct PatternWords {
    /// The name of the program.
    program: String,
    /// The words without a leading dash. A star matches any number of words, another pattern exactly one.
    operands: Vec<Pattern>,
    /// The options, which may occur anywhere behind the program.
    options: Vec<String>,
    /// Whether more words may follow: the pattern ends with a star.
    may_continue: bool,
}

/// Maximum number of letters of an option that may be given as several options: `-r -f` has the letters of `-rf`, but
/// `-delete` is one option.
const MAX_SPREAD_LETTERS: usize = 3;

impl CommandPattern {
    /// Parses a command with `*` as a wildcard. A final `:*` means ` *`; if ` *` is the only star,
    /// the arguments are optional.
    pub(super) fn parse(pattern: &str) -> Self {
        let pattern = match pattern.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => pattern.to_owned(),
        };
        let wildcard = Pattern::from_text(&pattern);
        Self {
            words: PatternWords::parse(&pattern),
            has_optional_arguments: pattern.ends_with(" *") && wildcard.count_stars() == 1,
            wildcard,
            text: pattern,
        }
    }

    /// Whether its first word names the program.
    pub(super) fn is_for(&self, program: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|words| words.program == program)
    }

    /// Whether it matches the text of a command.
    pub(super) fn covers(&self, text: &str) -> bool {
        self.wildcard.covers(text)
            || self.has_optional_arguments && self.wildcard.covers(&format!("{text} "))
    }

    /// Whether the text of a command that starts this program may match.
    pub(super) fn may_match(&self, program: &str) -> bool {
        let mut words = self.words.iter();
        words.all(|words| words.program == program || words.program.contains('='))
    }

    /// Whether it matches a program and its arguments: the operands of the pattern occur in their order, separated only
    /// by options with at most one value each, and its options occur anywhere.
    pub(super) fn matches_words(&self, program: &str, arguments: &[&str]) -> bool {
        let words = self.words.as_ref().filter(|words| words.program == program);
        words.is_some_and(|words| words.has_options(arguments) && words.has_operands(arguments))
    }

    /// Whether its words without a star occur in a text in any language, as whole words and in their order.
    pub(super) fn is_mentioned_in(&self, text: &str) -> bool {
        let has_literals = |text: &str| {
            let mut words = split_words(text);
            let pattern_words = self.text.split_whitespace();
            let literals = pattern_words.filter(|word| !word.contains('*'));
            literals
                .flat_map(|word| split_words(program_name(word)))
                .all(|literal| {
                    words.any(|word| literal == word || literal == word.trim_start_matches('-'))
                })
        };
        let quotes = ['"', '\'', '\\'];
        has_literals(text) || text.contains(quotes) && has_literals(&text.replace(quotes, ""))
    }
}

impl PatternWords {
    /// Parses a pattern; `None` if the name of its program has a star.
    fn parse(pattern: &str) -> Option<Self> {
        let is_quoted = pattern.contains(['"', '\'']);
        let quoted = is_quoted.then(|| shlex::split(pattern)).flatten();
        let words =
            quoted.unwrap_or_else(|| pattern.split_whitespace().map(str::to_owned).collect());
        let (program, arguments) = words.split_first()?;
        if program.contains('*') {
            return None;
        }
        let (options, names): (Vec<_>, Vec<_>) =
            arguments.iter().cloned().partition(|word| is_option(word));
        let mut operands: Vec<Pattern> =
            names.iter().map(|name| Pattern::from_text(name)).collect();
        operands.pop_if(|last| last.is_star());
        Some(Self {
            program: program_name(program).to_owned(),
            operands,
            options,
            may_continue: pattern.ends_with('*'),
        })
    }

    /// Whether the arguments have each option of the pattern.
    fn has_options(&self, arguments: &[&str]) -> bool {
        self.options.iter().all(|option| {
            let wildcard = Pattern::from_text(option);
            let is_option = |word: &&str| {
                let name = word.split('=').next().unwrap_or_default();
                wildcard.covers(word) || is_long_option(option) && wildcard.covers(name)
            };
            arguments.iter().any(is_option) || has_option_letters(option, arguments)
        })
    }

    /// Whether the operands match the arguments. One pass over the arguments keeps all positions in the pattern that
    /// can be reached.
    fn has_operands(&self, arguments: &[&str]) -> bool {
        let end = self.operands.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        let mut may_be_value = false;
        for word in arguments {
            self.mark_skipped_stars(&mut reached);
            if self.may_continue && reached[end] {
                return true;
            }
            let is_option = is_option(word);
            for at in (0..=end).rev() {
                let is_star = self.operands.get(at).is_some_and(Pattern::is_star);
                // Options may follow the last operand only if the pattern has options.
                let stays = is_star
                    || is_option && (at < end || !self.options.is_empty())
                    || may_be_value && at < end;
                let is_match = |operand: &Pattern| {
                    operand.covers(word) || operand.covers(word.trim_start_matches("./"))
                };
                let advances = at > 0 && reached[at - 1] && is_match(&self.operands[at - 1]);
                reached[at] = advances || reached[at] && stays;
            }
            may_be_value = is_option;
        }
        self.mark_skipped_stars(&mut reached);
        reached[end]
    }

    /// Marks the positions that can be reached because a star matches no word.
    fn mark_skipped_stars(&self, reached: &mut [bool]) {
        for (at, operand) in self.operands.iter().enumerate() {
            reached[at + 1] |= operand.is_star() && reached[at];
        }
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn is_long_option(word: &str) -> bool {
    word.starts_with("--")
}

/// Whether the arguments have the letters of a short option: in one word, or in several if they are at most
/// [`MAX_SPREAD_LETTERS`].
fn has_option_letters(option: &str, arguments: &[&str]) -> bool {
    let is_short_option = |word: &str| is_option(word) && !is_long_option(word);
    if !is_short_option(option) {
        return false;
    }
    let mut letters = option[1..].chars();
    let mut clusters = arguments.iter().filter(|word| is_short_option(word));
    if letters.clone().count() <= MAX_SPREAD_LETTERS {
        return letters.all(|letter| clusters.clone().any(|word| word[1..].contains(letter)));
    }
    clusters.any(|word| letters.clone().all(|letter| word[1..].contains(letter)))
}

/// Splits a text in any language into words of letters, digits, `_` and `-`.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let is_separator = |letter: char| !letter.is_alphanumeric() && !"_-".contains(letter);
    text.split(is_separator).filter(|word| !word.is_empty())
}
