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

/// Greetings with up to one more word, as in `Hi Claude,`.
static GREETING: LazyLock<Regex> = LazyLock::new(|| {
    let end = r"(?: [\w']+)?(?:\s*[,.:;!?،–—-]+(?:\s+|$)|[，。！、]|\s*$))+";
    compile_words("^(?:", "greetings", end)
});
static CLOSING: LazyLock<Regex> = LazyLock::new(|| compile_words("", "greetings", r"[\s.!]*$"));
/// The purposes of sentences by their words. A scene is `You are debugging a test`, but not `you are acting as`; a request
/// is at the start of a sentence, or anywhere in scripts without spaces.
static AIMS: LazyLock<[(Regex, Aim); 8]> = LazyLock::new(|| {
    let early = r"(?:^(?:\S+ ){0,2}|[\u{3040}-\u{9fff}\u{ac00}-\u{d7a3}、，])";
    let polite = "^(?:please |bitte |por favor,? )?";
    [
        (compile_words("^", "scenes", ""), Aim::Statement),
        (compile_words("^", "persons", ""), Aim::Person),
        (compile_words(polite, "asides", ""), Aim::Aside),
        (pattern("[?？؟]$"), Aim::Question),
        (compile_words(early, "requests", ""), Aim::Request),
        (compile_words("^", "goals", " ?[:：]"), Aim::Request),
        (compile_words("^", "commands", ""), Aim::Command),
        (compile_words("^", "statements", ""), Aim::Statement),
    ]
});

/// An instruction for all tasks, if it follows a role.
static STANDING: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "standing", ""));
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| compile_words("", "references", ""));
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
        let aim = match find_aim(&text) {
            _ if is_greeted && display_width(&text) < TOPIC_CELLS => Aim::Greeting,
            Aim::Open if is_greeted => Aim::Statement,
            aim if aim < Aim::Aside && place.is_below_role && STANDING.is_match(&text) => {
                Aim::Aside
            }
            aim => aim,
        };
        let text = text.into_owned();
        let has_words = whole.contains(char::is_alphanumeric);
        has_words.then_some(Self { text, aim, place })
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
        let reference = REFERENCE.find(&self.text);
        reference.is_some_and(|word| word.start() == 0)
    }

    /// Whether the sentence refers to something outside of it.
    pub(super) fn has_reference(&self) -> bool {
        REFERENCE.is_match(&self.text)
    }

    pub(super) fn width(&self) -> usize {
        display_width(&self.text)
    }
}

/// Finds the aim of a sentence by its words alone.
pub(super) fn find_aim(text: &str) -> Aim {
    let known = AIMS.iter().find(|(words, _)| words.is_match(text));
    known.map_or(Aim::Open, |(_, aim)| *aim)
}

/// Whether the text in a section of this name is the request.
pub(super) fn is_goal(name: &str) -> bool {
    display_width(name) <= NAME_CELLS && GOAL.is_match(name)
}

/// Whether a text ends like a greeting, as with thanks.
pub(super) fn is_closed(text: &str) -> bool {
    CLOSING.is_match(text)
}
