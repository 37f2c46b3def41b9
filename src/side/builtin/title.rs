//! Titles by rules: the first sentence of a prompt that names a topic, quoted.
//!
//! A title may be vague, but not wrong. A sentence that is too long is cut between two phrases and ends
//! with an ellipsis. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{MORE, clean, upper_first};
use super::prose::{code_depth, is_east_asian, past_of, sentences};
use super::title_words::{ENOUGH_WORDS, TITLE_CELLS, WORDS, cut, fill, is_informative, shown};
use crate::message::{Message, Origin, Role, Thread, is_remark, typed};
use crate::text::{display_width, pattern};

/// Maximum number of sentences that are searched for a request.
const MAX_SENTENCES: usize = 3;

/// Maximum number of prompts before the latest one that are searched for what it is about.
const MAX_PROMPTS: usize = 3;

/// Minimum number of informative words of a substantial request.
const SUBSTANTIAL_WORDS: usize = 3;

/// Number of informative words of a prompt that says well what the work is about.
const TOPIC_WORDS: usize = 6;

/// Weight of the form of a request.
const REQUEST_WEIGHT: usize = 3;

/// Number of words at the start of a sentence that tell whether it depends on what was said before.
const FIRST_WORDS: usize = 6;

/// Maximum number of polite phrases that are skipped before a request.
const MAX_OPENINGS: usize = 4;

/// Polite phrases before a request.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = |section| WORDS.lines(section).collect::<Vec<_>>().join("|");
    pattern(&format!(
        r"(?i)^(?:(?<request>{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[,.:;!–—]|\s+-)\s*|(?:{})[\s，。、！!,]*)",
        phrases("requests"),
        phrases("openings"),
        phrases("openings before a comma"),
        phrases("openings without spaces"),
    ))
});

/// Polite words and punctuation at the end.
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)(?:[\s,]+(?:please|pls|(?<thanks>thanks|thank you))|，?谢谢)?[\s.;:,!。\\-]*$")
});

/// The heading of a plan or an issue: prefix, subject, number.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^#*\s*(?i:(?:implementation )?plan(?: for)?\s*[:-]\s*|(?:task|feature|goal):\s*)?(?:[A-Z]+-\d+:\s*)?(.*?)\s*(?:\(#\d+\))?$",
    )
});

/// The start of a pasted line: output of a program, a shell prompt, a frame of
/// a stack, or a time.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:[^\w\s@#"'“‘「『【《（(\-*•/.`¿¡&_]|---|//|/\*|\*{3}|at \S+[.(]|Traceback|File "|diff --git|[WE] |(?:PS )?\S*[@:\\~]\S*[$#>%](?:\s|\w|$)|\[?\d{2,4}[-/:]\d\d)"#,
    )
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
        if let Some(at) = topic(&found) {
            return cut(&found[at].text, TITLE_CELLS);
        }
        found.retain(|quotation| quotation.informative > 0);
        weak = weak.or(found.into_iter().next());
    }
    weak.map_or_else(String::new, |weak| cut(&weak.text, TITLE_CELLS))
}

/// Quotes the request of the latest prompt that says something in up to `cells`. If it does not say enough,
/// it follows what it is about: the sentence before it, or the weightiest of the prompts before.
pub(super) fn latest_request(messages: &[Message], cells: usize) -> String {
    let prompts = prompts(messages).rev().map(|prompt| requests(&prompt));
    let mut prompts = prompts.filter(|found| found.iter().any(|found| found.informative > 0));
    let Some(latest) = prompts.next() else {
        return title(messages);
    };
    let request = &latest[request(&latest)];
    let whole = in_context(&latest, cells);
    let says_enough =
        request.informative > SUBSTANTIAL_WORDS + 1 || display_width(&whole) * 2 >= cells;
    if says_enough && !refers(&request.text) || whole.contains(" → ") {
        return whole;
    }
    // A summary and a compacted conversation repeat prompts.
    let prompts = prompts.filter(|found| *found != latest);
    let earlier: Vec<_> = prompts.take(MAX_PROMPTS).collect();
    let weight = |(at, found): &(usize, &Vec<Quotation>)| {
        let found = &found[self::request(found)];
        let vague = REQUEST_WEIGHT * usize::from(refers(&found.text));
        (found.weight(TOPIC_WORDS) + 2 * at).saturating_sub(vague)
    };
    let about = earlier.iter().rev().enumerate().max_by_key(weight);
    let quoted = about.map(|(_, found)| found[self::request(found)].text.clone());
    let about = quoted.unwrap_or_else(|| title(messages));
    if about.is_empty() || request.text.starts_with(about.trim_end_matches(MORE)) {
        return whole;
    }
    follows(&about, &quote(&latest, cells * 2 / 3), cells)
}

/// Quotes the request of a prompt, behind what the prompt says before it.
fn in_context(found: &[Quotation], cells: usize) -> String {
    match request(found) {
        0 => quote(found, cells),
        at => follows(&found[0].text, &quote(&found[at..], cells * 2 / 3), cells),
    }
}

/// Joins a request with what it is about, which fills the rest of `cells`.
fn follows(about: &str, request: &str, cells: usize) -> String {
    let rest = (cells + cells / 9).saturating_sub(display_width(request));
    format!("{} → {request}", cut(about, rest))
}

/// Returns the index of the weightiest sentence at the start of a prompt.
fn request(found: &[Quotation]) -> usize {
    let places = (0..found.len().min(MAX_SENTENCES)).rev();
    let weight = |at: &usize| found[*at].weight(SUBSTANTIAL_WORDS) + usize::from(*at == 0);
    places.max_by_key(weight).unwrap_or(0)
}

/// Returns the sentences of a prompt from the first one with a topic.
fn requests(prompt: &str) -> Vec<Quotation> {
    let mut found = quotations(prompt);
    let first = found
        .iter()
        .position(|found| found.informative >= ENOUGH_WORDS);
    found.drain(..first.unwrap_or(0));
    found
}

impl Quotation {
    /// Returns how much a sentence says about what the user wants, by its form and up to `words` words.
    fn weight(&self, words: usize) -> usize {
        let first = first_word(&self.text);
        let second = self.text.split(' ').nth(1).unwrap_or_default();
        let has_object = matches!(second, "a" | "an" | "the" | "this" | "all" | "my" | "our");
        let is_imperative = past_of(&first).is_some() || has_object && is_informative(&first);
        let is_request = self.is_request || is_imperative;
        REQUEST_WEIGHT * usize::from(is_request) + self.informative.min(words)
    }
}

/// Whether a sentence starts with a reference to something before it.
fn refers(text: &str) -> bool {
    let references = ["it", "its", "this", "these", "those", "them"];
    let text = text.to_lowercase();
    text.split_whitespace()
        .take(FIRST_WORDS)
        .any(|word| references.contains(&word))
}

/// Returns the index of the first sentence with a topic, or of the request after a statement.
fn topic(found: &[Quotation]) -> Option<usize> {
    let names_topic = |quotation: &Quotation| quotation.informative >= ENOUGH_WORDS;
    let first = found.iter().position(names_topic)?;
    let is_request = |found: &Quotation| found.is_request && found.informative >= SUBSTANTIAL_WORDS;
    let request = found.iter().take(MAX_SENTENCES).position(is_request);
    let is_statement = found[first].is_statement && !found[first].is_request;
    request.filter(|_| is_statement).or(Some(first))
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
    let found = requests(&prompt);
    // `That worked, thanks` starts with a word without content, `commit it, thanks` does not.
    let is_request = |quotation: &Quotation| is_informative(&first_word(&quotation.text));
    let closing = CLOSING.captures(&prompt);
    let is_thanks = closing.is_some_and(|found| found.name("thanks").is_some());
    let is_open = !is_thanks || found.iter().any(is_request);
    (is_open && !found.is_empty()).then(|| in_context(&found, cells))
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
    signs.count() > line.split_whitespace().count().max(2) * 2 || PASTED.is_match(line)
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
    let found = HEADING.captures(line)?;
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
    let closing = CLOSING.find(request);
    let request = &request[..closing.map_or(request.len(), |found| found.start())];
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
        let found = OPENING.captures(rest);
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
