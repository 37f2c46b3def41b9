//! A sentence of a prompt, and its purpose as its words tell it.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::clean;
use super::prose::is_east_asian;
use super::words::compile_words;
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

/// Greetings with up to one more word, as in `Hi Claude,`.
static GREETING: LazyLock<Regex> = LazyLock::new(|| {
    let end = r"(?: [\w']+)?(?:\s*[,.:;!?،–—-]+(?:\s+|$)|[，。！、]|\s*$))+";
    compile_words("^(?:", "greetings", end)
});
static CLOSING: LazyLock<Regex> = LazyLock::new(|| compile_words("", "greetings", r"[\s.!]*$"));
static PERSON: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "persons", ""));
/// A description of the situation: `You are debugging a test`, but not `you are acting as`.
static SCENE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^you(?:'re| are) (?:\w+ly )?\w+ing (?:[^a]|a[^s]|as\w)"));
static ASIDE: LazyLock<Regex> =
    LazyLock::new(|| compile_words("^(?:please |bitte |por favor,? )?", "asides", ""));
/// An instruction for all tasks, if it follows a role.
static STANDING: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "standing", ""));
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "statements", ""));
/// Words at the start of a sentence; anywhere in scripts without spaces.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    compile_words(
        r"(?:^(?:\S+ ){0,2}|[\u{3040}-\u{9fff}\u{ac00}-\u{d7a3}、，])",
        "requests",
        "",
    )
});
static COMMAND: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "commands", ""));
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| compile_words("", "references", ""));
static GOAL_MARK: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "goals", " ?[:：]"));
static GOAL: LazyLock<Regex> = LazyLock::new(|| compile_words("", "goals", ""));

/// The purpose of a sentence, as far as its words tell it, the most likely request first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aim {
    Question,
    /// Asks for something in so many words.
    Request,
    /// Starts with an imperative.
    Command,
    /// No words that tell the purpose.
    Open,
    /// Starts like a statement: `I`, `the`.
    Statement,
    /// An instruction about how to work.
    Aside,
    /// An announcement of pasted text, with the first line of that text.
    Lead,
    /// A description of the model or the user.
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
    /// Whether the sentence is in a list or a heading.
    pub(super) is_item: bool,
    /// Whether the sentence is in a section whose name announces a request.
    pub(super) is_in_goal: bool,
    /// Whether a description of the model or the user is before it.
    pub(super) is_below_role: bool,
}

impl Quotation {
    /// Quotes a sentence without the greeting at its start, and finds its aim. `None` if there are no words.
    pub(super) fn parse(sentence: &str, place: Place) -> Option<Self> {
        let whole = clean(sentence);
        let text = GREETING.replace(&whole, "");
        let is_greeted = text.len() < whole.len();
        let aim = match &*text {
            text if is_greeted && display_width(text) < TOPIC_CELLS => Aim::Greeting,
            text if SCENE.is_match(text) => Aim::Statement,
            text if PERSON.is_match(text) => Aim::Person,
            text if ASIDE.is_match(text) => Aim::Aside,
            text if place.is_below_role && STANDING.is_match(text) => Aim::Aside,
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

    /// Whether the sentence names a topic, unlike `go on` or `fix it`.
    pub(super) fn has_topic(&self) -> bool {
        let has_words = self.text.contains([' ', ',']) || is_east_asian(&self.text);
        has_words && self.width() >= TOPIC_CELLS
    }

    /// Whether the sentence hardly says enough alone.
    pub(super) fn is_short(&self) -> bool {
        self.width() < ENOUGH_CELLS
    }

    /// Whether the sentence starts with a reference to an earlier one: `It covers the menu`.
    pub(super) fn opens_with_reference(&self) -> bool {
        REFERENCE
            .find(&self.text)
            .is_some_and(|word| word.start() == 0)
    }

    /// Whether the sentence refers to something outside of it.
    pub(super) fn has_reference(&self) -> bool {
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
