//! Titles by rules: the first sentence of a prompt that names a topic, quoted.
//!
//! A title may be vague, but not wrong. A sentence that is too long is cut between two phrases and ends
//! with an ellipsis. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{MORE, clean, upper_first};
use super::prose::{code_depth, is_east_asian, sentences};
use super::title_words::{ENOUGH_WORDS, TITLE_CELLS, WORDS, cut, fill, is_informative, shown};
use crate::message::{Message, Origin, Role, Thread, is_remark, typed};
use crate::text::display_width;

/// Maximum number of sentences that are searched for a request.
const MAX_SENTENCES: usize = 3;

/// Maximum number of prompts that are searched for a request.
const MAX_PROMPTS: usize = 6;

/// Minimum number of informative words of a substantial request.
const SUBSTANTIAL_WORDS: usize = 3;

/// Number of words at the start of a sentence that tell whether it depends on what was said before.
const FIRST_WORDS: usize = 6;

/// Maximum number of polite phrases that are skipped before a request.
const MAX_OPENINGS: usize = 4;

/// Polite phrases before a request.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let phrases = |section| WORDS.lines(section).collect::<Vec<_>>().join("|");
    Regex::new(&format!(
        r"(?i)^(?:(?<request>{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[,.:;!–—]|\s+-)\s*|(?:{})[\s，。、！!,]*)",
        phrases("requests"),
        phrases("openings"),
        phrases("openings before a comma"),
        phrases("openings without spaces"),
    ))
    .ok()
});

/// Polite words and punctuation at the end.
static CLOSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:[\s,]+(?:please|pls|(?<thanks>thanks|thank you))|，?谢谢)?[\s.;:,!。\\-]*$")
        .ok()
});

/// The heading of a plan or an issue: prefix, subject, number.
static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^#*\s*(?i:(?:implementation )?plan(?: for)?\s*[:-]\s*|(?:task|feature|goal):\s*)?(?:[A-Z]+-\d+:\s*)?(.*?)\s*(?:\(#\d+\))?$",
    )
    .ok()
});

/// The start of a pasted line: output of a program, a shell prompt, a frame of
/// a stack, or a time.
static PASTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^(?:[^\w\s@#"'“‘「『【《（(\-*•/.`¿¡&_]|---|//|/\*|\*{3}|at \S+[.(]|Traceback|File "|diff --git|[WE] |(?:PS )?\S*[@:\\~]\S*[$#>%](?:\s|\w|$)|\[?\d{2,4}[-/:]\d\d)"#,
    )
    .ok()
});

/// A possible title, with the number of its informative words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quotation {
    text: String,
    informative: usize,
    /// Whether the sentence starts like a request: `please`, `can you`.
    is_request: bool,
    /// Whether the sentence starts like a statement: `I`, `the`.
    is_statement: bool,
}

/// Writes the title of a conversation; empty if no prompt names a topic.
pub fn title(messages: &[Message]) -> String {
    let mut weak = None;
    for prompt in prompts(messages) {
        let mut found = quotations(&prompt);
        if let Some(at) = topic(&found, ENOUGH_WORDS) {
            return cut(&found[at].text, TITLE_CELLS);
        }
        found.retain(|quotation| quotation.informative > 0);
        weak = weak.or(found.into_iter().next());
    }
    weak.map_or_else(String::new, |weak| cut(&weak.text, TITLE_CELLS))
}

/// Quotes the latest prompt that says something in up to `cells`. If it is short or refers to something,
/// it follows the latest prompt that says what the work is about.
pub(super) fn latest_request(messages: &[Message], cells: usize) -> String {
    let mut prompts = prompts(messages).rev().take(MAX_PROMPTS).map(|prompt| {
        let found = quotations(&prompt);
        let says_something = || found.iter().position(|quotation| quotation.informative > 0);
        let at = topic(&found, ENOUGH_WORDS).or_else(says_something)?;
        Some(found[at..].to_vec())
    });
    let Some(latest) = prompts.find_map(|found| found) else {
        return title(messages);
    };
    let names_topic =
        |found: &Vec<Quotation>| found[0].informative >= ENOUGH_WORDS && !refers(&found[0].text);
    let quoted = quote(&latest, cells);
    let says_enough = latest[0].informative > SUBSTANTIAL_WORDS + 1;
    if names_topic(&latest) && (says_enough || display_width(&quoted) * 2 >= cells) {
        return quoted;
    }
    // A summary and a compacted conversation repeat prompts.
    let mut earlier = prompts.flatten().filter(|found| *found != latest);
    let topic = earlier.find(names_topic);
    let cells = cells + cells / 9;
    let quoted = quote(&latest, cells * 3 / 5);
    let rest = cells - display_width(&quoted);
    let topic = topic.map_or_else(|| cut(&title(messages), rest), |found| quote(&found, rest));
    if topic.is_empty() || quoted.starts_with(topic.trim_end_matches(MORE)) {
        return quote(&latest, cells);
    }
    format!("{topic} → {quoted}")
}

/// Whether a sentence starts with a reference to something before it.
fn refers(text: &str) -> bool {
    let is_reference =
        |word: &str| matches!(word, "it" | "its" | "this" | "these" | "those" | "them");
    let text = text.to_lowercase();
    let mut words = text.split_whitespace().take(FIRST_WORDS);
    words.any(is_reference)
}

/// Returns the index of the first sentence with a topic, or of the request after a statement; `None` if no
/// sentence has that many informative words.
fn topic(found: &[Quotation], words: usize) -> Option<usize> {
    found
        .iter()
        .find(|quotation| quotation.informative >= words)?;
    let first = found
        .iter()
        .position(|quotation| quotation.informative >= ENOUGH_WORDS)?;
    let request = found
        .iter()
        .take(MAX_SENTENCES)
        .position(|quotation| quotation.is_request && quotation.informative >= SUBSTANTIAL_WORDS);
    request
        .filter(|_| found[first].is_statement && !found[first].is_request)
        .or(Some(first))
}

/// Quotes the first sentence and the substantial ones that follow it in up to `cells`.
fn quote(found: &[Quotation], cells: usize) -> String {
    let is_substantial = |quotation: &&Quotation| quotation.informative >= SUBSTANTIAL_WORDS;
    let (first, rest) = found.split_at(1);
    let quoted = first.iter().chain(rest.iter().take_while(is_substantial));
    fill(quoted.map(|quotation| quotation.text.as_str()), cells)
}

/// Quotes the last prompt in up to `cells`, if there is one and it is not only thanks.
pub(super) fn open_request(messages: &[Message], cells: usize) -> Option<String> {
    let prompt = prompts(messages).next_back()?;
    let found = quotations(&prompt);
    let topic = topic(&found, ENOUGH_WORDS);
    // `That worked, thanks` starts with a word without content, `commit it, thanks` does not.
    let is_request = |quotation: &Quotation| is_informative(&first_word(&quotation.text));
    let closing = CLOSING
        .as_ref()
        .and_then(|closing| closing.captures(&prompt));
    let is_thanks = closing.is_some_and(|found| found.name("thanks").is_some());
    let is_open = topic.is_some() || !is_thanks || found.iter().any(is_request);
    (is_open && !found.is_empty()).then(|| quote(&found[topic.unwrap_or(0)..], cells))
}

/// Returns the user's non-blank prompts in the main conversation.
fn prompts(messages: &[Message]) -> impl DoubleEndedIterator<Item = String> {
    messages.iter().filter_map(prompt)
}

/// Returns the text of the user in a message of the main conversation, including commands that the agent
/// rewrote; `None` if it is blank.
pub(super) fn prompt(message: &Message) -> Option<String> {
    let text = message.text();
    let is_command = text.trim_start().starts_with("<command-");
    let text = match message.origin {
        Origin::Injected | Origin::Prompt if is_command => text,
        Origin::Prompt => typed(&text).trim().to_owned(),
        _ => return None,
    };
    let is_of_user = message.role == Role::User && message.thread == Thread::Main;
    (is_of_user && !text.is_empty() && !is_remark(&text)).then_some(text)
}

/// Returns the possible titles in a prompt, one per sentence.
fn quotations(prompt: &str) -> Vec<Quotation> {
    let text = match command(prompt) {
        Some((name, arguments)) => match command_text(&name, &arguments) {
            Some(text) => text,
            None => return Vec::new(),
        },
        None => prompt.to_owned(),
    };
    if let Some(heading) = heading(&text) {
        return quotation(heading).into_iter().collect();
    }
    let found = sentences(&without_pasted(&text));
    let found: Vec<Quotation> = found
        .iter()
        .filter(|sentence| !sentence.is_heading)
        .filter_map(|sentence| quotation(&sentence.text))
        .collect();
    if !found.is_empty() {
        return found;
    }
    // The topic of pasted text is its first error, or its text outside code blocks.
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "failed", "exception"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut pasted = text.lines().filter(is_error).chain(text.lines());
    pasted.find_map(quotation).into_iter().collect()
}

/// Removes pasted lines, code and lines of mentions.
fn without_pasted(text: &str) -> String {
    let mut typed = String::new();
    let (mut follows_pasted, mut depth) = (false, 0);
    for line in text.lines() {
        let before = depth;
        depth = code_depth(depth, line);
        if before != depth {
            continue;
        }
        let is_code = depth > 0;
        let is_indented = line.starts_with("  ") && follows_pasted;
        let is_mention = line.split_whitespace().all(|word| word.starts_with('@'));
        follows_pasted = is_indented || is_pasted(line.trim_start());
        if follows_pasted || is_mention {
            continue;
        }
        // A message that the sentence announces is kept, other code is not.
        let announces = typed.trim_end().ends_with(':') && line.starts_with(char::is_alphabetic);
        if is_code && !announces {
            continue;
        }
        if is_code {
            typed.truncate(typed.trim_end().len());
        }
        typed.push(if is_code { ' ' } else { '\n' });
        typed.push_str(line);
    }
    typed
}

fn is_pasted(line: &str) -> bool {
    let signs = line.chars().filter(|sign| "{}();=<>[]\\".contains(*sign));
    signs.count() > line.split_whitespace().count().max(2) * 2
        || PASTED.as_ref().is_some_and(|start| start.is_match(line))
}

/// Returns the heading in `Implement the following plan: # Heading`, or at the start of a text.
fn heading(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = if first.starts_with("# ") {
        first
    } else if first.trim_end().ends_with(':') || first.contains(" plan below ") {
        rest.trim_start()
            .lines()
            .next()
            .filter(|line| line.starts_with("# "))?
    } else {
        return None;
    };
    let found = HEADING.as_ref()?.captures(line)?;
    found
        .get(1)
        .map(|subject| subject.as_str())
        .filter(|subject| !subject.is_empty())
}

/// Parses a command of the agent and its arguments: `/name arguments`, or the agent's form with tags.
fn command(text: &str) -> Option<(String, String)> {
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>"))
            .map(|(inner, _)| inner.trim().to_owned())
    };
    if let Some(name) = between("command-name").or_else(|| between("command-message")) {
        let arguments = between("command-args").unwrap_or_default();
        return Some((name.trim_start_matches('/').to_owned(), arguments));
    }
    let rest = text.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = name.starts_with(char::is_alphabetic)
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter));
    is_name.then(|| (name.to_owned(), arguments.trim().to_owned()))
}

/// Returns the request in a command; `None` if the command is about the agent itself.
fn command_text(name: &str, arguments: &str) -> Option<String> {
    let name = name.rsplit(':').next().unwrap_or_default();
    if WORDS.has("local commands", name) {
        return None;
    }
    let name = name.replace(['-', '_'], " ");
    let colon = if arguments.split_whitespace().count() > 2 {
        ":"
    } else {
        ""
    };
    Some(format!("{name}{colon} {arguments}"))
}

fn quotation(sentence: &str) -> Option<Quotation> {
    let sentence = clean(&sentence.replace('*', ""));
    let sentence = sentence.trim();
    let (request, is_request) = without_openings(sentence);
    // A request in the form of a question is not a question.
    let request = if is_request {
        request.trim_end_matches(['?', '？', ' '])
    } else {
        request
    };
    let request = CLOSING.as_ref().map_or(request, |closing| {
        let end = closing
            .find(request)
            .map_or(request.len(), |found| found.start());
        &request[..end]
    });
    let (text, informative) = if is_east_asian(request) {
        let letters = request.chars().filter(|letter| letter.is_alphanumeric());
        (request.to_owned(), letters.count() / 2)
    } else {
        let words = shown(request);
        let informative = words.iter().filter(|word| is_informative(word)).count();
        (words.join(" "), informative)
    };
    (!text.is_empty()).then(|| Quotation {
        text: upper_first(&text),
        informative,
        is_request,
        is_statement: WORDS.has("statements", &first_word(sentence)),
    })
}

/// Removes openings, and returns whether one of them opens a request.
fn without_openings(sentence: &str) -> (&str, bool) {
    let (mut rest, mut is_request) = (sentence, false);
    for _ in 0..MAX_OPENINGS {
        let found = OPENING.as_ref().and_then(|opening| opening.captures(rest));
        let Some(found) = found.filter(|found| !found[0].is_empty()) else {
            break;
        };
        is_request |= found.name("request").is_some();
        rest = &rest[found[0].len()..];
    }
    (rest, is_request)
}

fn first_word(text: &str) -> String {
    text.split([' ', ','])
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
