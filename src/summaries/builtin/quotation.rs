//! A sentence of a prompt, and what its words tell about its purpose.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::clean::clean;
use super::prose::is_east_asian;
use crate::text::{display_width, pattern};

/// Minimum width of a sentence or a heading with a topic, in cells.
const TOPIC_CELLS: usize = 12;

/// Minimum width of a sentence that says enough alone, in cells.
const ENOUGH_CELLS: usize = 24;

/// Maximum width of the name of a section, in cells.
const NAME_CELLS: usize = 28;

/// Signs at the end of a whole sentence.
pub(super) const STOPS: [char; 6] = ['.', '?', '!', '。', '？', '！'];

/// Marks around a quoted prompt.
const QUOTES: [char; 8] = ['"', '\'', '“', '”', '「', '」', '«', '»'];

/// The words of each section of the file, as alternatives of a regular expression.
static WORDS: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
    let sections = include_str!("words/prompt.txt").split("\n\n");
    let sections = sections.filter_map(|section| section.trim().split_once("]\n"));
    // Scripts without spaces have no ends of words.
    let end = |line: &str| if is_east_asian(line) { "" } else { r"\b" };
    let whole = |line: &str| format!("{0}(?:{line}){0}", end(line));
    let joined = |lines: &str| lines.lines().map(whole).collect::<Vec<_>>().join("|");
    sections
        .map(|(name, lines)| (name.trim_start_matches('['), joined(lines)))
        .collect()
});

/// Compiles the words of a section.
fn words(before: &str, section: &str, after: &str) -> Regex {
    let words = WORDS.get(section).map_or("", String::as_str);
    pattern(&format!("(?i){before}(?:{words}){after}"))
}

/// Greetings with up to one more word, as in `Hi Claude,`.
static GREETING: LazyLock<Regex> = LazyLock::new(|| {
    let end = r"(?: [\w']+)?(?:\s*[,.:;!?،–—-]+(?:\s+|$)|[，。！、]|\s*$))+";
    words("^(?:", "greetings", end)
});
static CLOSING: LazyLock<Regex> = LazyLock::new(|| words("", "greetings", r"[\s.!]*$"));
static PERSON: LazyLock<Regex> = LazyLock::new(|| words("^", "persons", ""));
/// `You are debugging a test` tells what it is about, `you are acting as` does not.
static SCENE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^you(?:'re| are) (?:\w+ly )?\w+ing (?:[^a]|a[^s]|as\w)"));
static ASIDE: LazyLock<Regex> =
    LazyLock::new(|| words("^(?:please |bitte |por favor,? )?", "asides", ""));
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| words("^", "statements", ""));
/// Words at the start of a sentence; anywhere in scripts without spaces.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    words(
        r"(?:^(?:\S+ ){0,2}|[\u{3040}-\u{9fff}\u{ac00}-\u{d7a3}、，])",
        "requests",
        "",
    )
});
static COMMAND: LazyLock<Regex> = LazyLock::new(|| words("^", "commands", ""));
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| words("", "references", ""));
static GOAL_MARK: LazyLock<Regex> = LazyLock::new(|| words("^", "goals", " ?[:：]"));
static GOAL: LazyLock<Regex> = LazyLock::new(|| words("", "goals", ""));

/// The purpose of a sentence, as far as its words tell it, the most likely request first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aim {
    Question,
    /// It asks for something in so many words.
    Request,
    /// It starts with a verb that tells to do something.
    Command,
    /// Its words tell nothing.
    Open,
    /// It starts like a statement: `I`, `the`.
    Statement,
    /// An instruction about how to work.
    Aside,
    /// It announces pasted text, whose first line follows.
    Lead,
    /// It tells who the model or the user is.
    Person,
    Greeting,
}

/// A sentence of a prompt, quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotation {
    pub(super) text: String,
    pub(super) aim: Aim,
    pub(super) place: Place,
}

/// The place of a sentence in a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) paragraph: usize,
    /// Whether it is in a list or a heading.
    pub(super) is_item: bool,
    /// Whether it is in a section with the name of a request.
    pub(super) is_in_goal: bool,
}

impl Quotation {
    /// Quotes a sentence without the greeting before it; `None` if it has no words.
    pub(super) fn of(sentence: &str, place: Place) -> Option<Self> {
        let whole = clean(sentence);
        let text = GREETING.replace(&whole, "");
        let is_greeted = text.len() < whole.len();
        let aim = match &*text {
            text if is_greeted && display_width(text) < TOPIC_CELLS => Aim::Greeting,
            text if SCENE.is_match(text) => Aim::Statement,
            text if PERSON.is_match(text) => Aim::Person,
            text if ASIDE.is_match(text) => Aim::Aside,
            text if text.ends_with(['?', '？', '؟']) => Aim::Question,
            text if REQUEST.is_match(text) || GOAL_MARK.is_match(text) => Aim::Request,
            text if COMMAND.is_match(text) => Aim::Command,
            text if is_greeted || STATEMENT.is_match(text) => Aim::Statement,
            _ => Aim::Open,
        };
        let text = text.into_owned();
        whole
            .contains(char::is_alphanumeric)
            .then_some(Self { text, aim, place })
    }

    /// Whether it is more than `go on` or `fix it`.
    pub(super) fn has_topic(&self) -> bool {
        let has_words = self.text.contains([' ', ',']) || is_east_asian(&self.text);
        has_words && self.width() >= TOPIC_CELLS
    }

    /// Whether it hardly says enough alone.
    pub(super) fn is_short(&self) -> bool {
        self.width() < ENOUGH_CELLS
    }

    /// Whether it goes on about what was said before: `It covers the menu`.
    pub(super) fn opens_with_reference(&self) -> bool {
        REFERENCE
            .find(&self.text)
            .is_some_and(|word| word.start() == 0)
    }

    /// Whether it refers to something outside of it.
    pub(super) fn refers(&self) -> bool {
        REFERENCE.is_match(&self.text)
    }

    pub(super) fn width(&self) -> usize {
        display_width(&self.text)
    }
}

/// Returns a prompt without the marks around it, if it starts with a role.
pub(super) fn strip_marks(prompt: &str) -> &str {
    let inner = prompt.trim_matches(QUOTES);
    if PERSON.is_match(inner) {
        inner
    } else {
        prompt
    }
}

/// Whether the text in a section of this name is the request.
pub(super) fn is_goal(name: &str) -> bool {
    display_width(name) <= NAME_CELLS && GOAL.is_match(name)
}

/// Whether a text ends like a greeting, as with thanks.
pub(super) fn is_closed(text: &str) -> bool {
    CLOSING.is_match(text)
}
