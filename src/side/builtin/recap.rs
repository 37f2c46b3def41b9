//! Recaps by rules: an open request, the goal, the outcome that the model reported, and the next step.
//! Only quotes the conversation. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{clean, cut_words, lower_first};
use super::prose::{Sentence, is_east_asian, sentences};
use super::title::{latest_request, open_request};
use crate::message::{Message, Origin, Role, Thread, is_remark};
use crate::side::Language;
use crate::side::language::certain_language;

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Maximum number of words in the report.
const REPORT_WORDS: usize = 18;

/// Minimum number of words of a report of one sentence.
const ENOUGH_WORDS: usize = 5;

/// Maximum number of words in the next step.
const NEXT_WORDS: usize = 12;

/// Maximum number of letters of a recap in a script without spaces.
const MAX_LETTERS: usize = 80;

/// Maximum number of sentences at the end that are searched for a step.
const LAST_SENTENCES: usize = 6;

/// Beginnings of texts that agents write instead of the model.
const NOT_SAID: [&str; 3] = ["API Error", "No response requested", "(no content)"];

/// Characters at the end of a sentence that a recap replaces.
const ENDS: [char; 9] = ['.', '!', ':', ';', ',', ' ', '。', '！', '：'];

/// One language per line; a comment in the file describes the columns.
const FRAMES: &str = include_str!("words/frames.txt");

/// An announcement of work that did not follow.
static ANNOUNCEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:now|next|first|then),? )?(?:let me|i'll|i will|i need to|i'm going to|i am going to)(?: now| also| first)? ").ok()
});

/// A question that offers an action.
static OFFER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:(?:would you like|do you want|want)(?: me)? to|(?:should|shall) (?:i|we)) ",
    )
    .ok()
});

/// A sentence that names a step.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:the )?(?:next(?: up| steps?(?: is to)?)?[:,]?|remaining:|todo:|you(?:'ll| may| might) want to|you should) ").ok()
});

/// A word before the report: `Done — `, `Great, `.
static ACKNOWLEDGEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\w+ [—–-]+|(?:done|ok|okay|great|perfect|good)[,:]) ").ok()
});

/// The start of a sentence about what follows, or about the user's message.
static NO_REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:i|my) apolog|here(?:'s| is| are)|let(?: me|'s)|i (?:see|understand|can see|have (?:a|all))|looking at|you(?:'re| are) (?:absolutely )?right|(?:good|great) |based on|thank|(?:to|in) summar|now that |if |would you|do you)").ok()
});

/// A word about a finished or failed action, or about the current state.
static OUTCOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:\w{3,}ed|now|pass(?:es|ing)?|working|ready|done|complete|fails?|failing)\b",
    )
    .ok()
});

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The model named or announced a step.
    Step(String),
    /// The model asked a question.
    Question(String),
}

/// The words of one language around the parts of a recap.
struct Frame<'a> {
    colon: &'a str,
    stop: &'a str,
    open: &'a str,
    goal: &'a str,
    report: &'a str,
    interrupted: &'a str,
    next: &'a str,
    question: &'a str,
}

/// Writes the recap of a conversation in `language`, by default the language of the last reply. Empty
/// without a report, a next step and an open request.
pub fn recap(messages: &[Message], language: Option<Language>) -> String {
    let Some(reply) = last_reply(messages) else {
        return String::new();
    };
    let (before, after) = messages.split_at(reply + 1);
    let goal = latest_request(before);
    let open = open_request(after);
    let text = messages[reply].text();
    let is_interruption =
        |message: &Message| message.text().trim().starts_with("[Request interrupted");
    let was_interrupted = open.is_none() && after.iter().any(is_interruption);
    let found = sentences(&text);
    let report = || report(&found).or_else(|| first_of_code(&text));
    let (report, next) = match (was_interrupted, open.is_some()) {
        (true, _) => (None, None),
        (false, true) => (report(), None),
        (false, false) => (report(), next(&found)),
    };
    let is_empty = report.is_none() && next.is_none() && open.is_none() && !was_interrupted;
    if goal.is_empty() || is_empty {
        return String::new();
    }
    let language = language.or_else(|| certain_language(&text));
    let language = language.or_else(|| certain_language(&goal).filter(|_| is_east_asian(&goal)));
    let frame = Frame::of(language.map_or("en", Language::code));
    let part = |name: &str, text: &str, words: usize| {
        let text = if is_east_asian(text) {
            text.to_owned()
        } else {
            cut_words(text, words)
        };
        format!(
            "{name}{}{}",
            frame.colon,
            text.trim_end_matches(ENDS).trim_end()
        )
    };
    let mut parts = Vec::new();
    parts.extend(open.map(|text| part(frame.open, &text, MAX_WORDS)));
    parts.push(part(frame.goal, &goal, MAX_WORDS));
    parts.extend(report.map(|text| part(frame.report, &text, REPORT_WORDS)));
    parts.extend(was_interrupted.then(|| frame.interrupted.to_owned()));
    parts.extend(next.map(|next| match next {
        Next::Step(text) => part(frame.next, &lower_first(&text), NEXT_WORDS),
        Next::Question(text) => part(frame.question, &text, NEXT_WORDS),
    }));
    let mut recap = String::new();
    for part in parts {
        let is_ended = part.ends_with(['…', '?', '？']);
        recap.push_str(&part);
        recap.push_str(if is_ended { "" } else { frame.stop });
        recap.push_str(if frame.stop == "。" { "" } else { " " });
    }
    let recap = cut_words(&clean(&recap), MAX_WORDS);
    let is_dense = is_east_asian(&recap);
    match recap.char_indices().nth(MAX_LETTERS).filter(|_| is_dense) {
        Some((at, _)) => format!("{}…", &recap[..at]),
        None => recap,
    }
}

impl Frame<'static> {
    /// Returns the frame of a language; a frame of symbols for languages without one.
    fn of(code: &str) -> Self {
        let mut frame = Self {
            colon: " ",
            stop: ".",
            open: "!",
            goal: "◎",
            report: "»",
            interrupted: "⏸",
            next: "→",
            question: "→",
        };
        let rows = FRAMES
            .lines()
            .map(|line| line.split('|').collect::<Vec<_>>());
        for row in rows {
            if let [
                known,
                colon,
                stop,
                open,
                goal,
                report,
                interrupted,
                next,
                question,
            ] = *row.as_slice()
                && known == code
            {
                frame = Self {
                    colon,
                    stop,
                    open,
                    goal,
                    report,
                    interrupted,
                    next,
                    question,
                };
            }
        }
        frame
    }
}

/// Returns the index of the model's last text.
fn last_reply(messages: &[Message]) -> Option<usize> {
    messages.iter().rposition(|message| {
        let text = message.text();
        let text = text.trim();
        message.thread == Thread::Main
            && message.role == Role::Assistant
            && message.origin == Origin::Reply
            && !text.is_empty()
            && !NOT_SAID.iter().any(|start| text.starts_with(start))
            && !is_remark(text)
    })
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Strips a matching start.
fn strip<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> Option<&'a str> {
    let found = pattern.as_ref()?.find(text)?;
    Some(text[found.end()..].trim())
}

/// Returns the sentence that reports the outcome. A text may start with its outcome, in the
/// first line, or end with it if it has sections.
fn report(found: &[Sentence]) -> Option<String> {
    let shown = |sentence: &Sentence| {
        let text = sentence.text.as_str();
        strip(&ACKNOWLEDGEMENT, text).unwrap_or(text).to_owned()
    };
    let reports = found.iter().map(|sentence| (shown(sentence), sentence));
    let reports: Vec<(String, &Sentence)> = reports.filter(|(text, _)| is_report(text)).collect();
    let has_outcome = |(text, _): &&(String, &Sentence)| matches(&OUTCOME, text);
    let opens_list = |text: &str| text.ends_with([':', '：']);
    let is_said = |report: &&(String, &Sentence)| {
        !report.1.is_item && (!opens_list(&report.0) || has_outcome(report))
    };
    let said = || reports.iter().filter(is_said);
    let first = said().next();
    let outcome = first.and_then(|(_, first)| {
        if first.has_heading {
            return said().rev().find(has_outcome);
        }
        said()
            .take_while(|(_, other)| other.line == first.line)
            .find(has_outcome)
    });
    let starts_with_outcome = |(text, _): &&(String, &Sentence)| {
        !opens_list(text)
            && OUTCOME
                .as_ref()
                .is_some_and(|outcome| outcome.find(text).is_some_and(|found| found.start() == 0))
    };
    let item = || reports.iter().find(starts_with_outcome);
    let opening = || reports.iter().find(|(_, sentence)| !sentence.is_item);
    let chosen = outcome.or(first).or_else(item).or_else(opening)?;
    let text = chosen.0.as_str();
    if opens_list(text) {
        return Some(without_opening_of_list(text).to_owned());
    }
    if text.split_whitespace().count() >= ENOUGH_WORDS || is_east_asian(text) {
        return Some(text.to_owned());
    }
    // A short sentence such as `All tests pass.` is too short alone.
    let mut behind = reports
        .iter()
        .skip_while(|report| !std::ptr::eq(*report, chosen))
        .skip(1);
    let more = behind.find(|(text, _)| !opens_list(text));
    let more = more.map(|(more, _)| format!("{}. {more}", text.trim_end_matches(ENDS)));
    Some(more.unwrap_or_else(|| text.to_owned()))
}

/// Returns the first line of a block of text in a reply that is about this text, such as a commit
/// message.
fn first_of_code(text: &str) -> Option<String> {
    let (_, code) = text.split_once("```")?;
    let (language, code) = code.split_once('\n')?;
    let is_text = matches!(language.trim(), "" | "markdown" | "md" | "text");
    let line = code
        .lines()
        .map(|line| line.trim_matches(['#', ' ']))
        .find(|line| !line.is_empty())?;
    (is_text && !line.starts_with("```")).then(|| line.to_owned())
}

/// Whether a sentence reports on the work.
fn is_report(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric));
    let words = words.count();
    let is_long = words >= 3
        || words == 2 && matches(&OUTCOME, text)
        || is_east_asian(text) && text.chars().count() >= 4;
    is_long
        && !text.ends_with(['?', '？'])
        && [&ANNOUNCEMENT, &STEP, &NO_REPORT]
            .iter()
            .all(|pattern| !matches(pattern, text))
}

/// Removes the end that opens a list: `It works with:`.
fn without_opening_of_list(text: &str) -> &str {
    const LEADING_OVER: [&str; 13] = [
        "as", "at", "by", "for", "from", "in", "like", "of", "on", "that", "the", "to", "with",
    ];
    let mut text = text.trim_end_matches([':', '：']);
    while let Some((before, last)) = text.rsplit_once(' ')
        && LEADING_OVER.contains(&last)
    {
        text = before;
    }
    text
}

fn next(found: &[Sentence]) -> Option<Next> {
    let last = &found.last()?.text;
    if let Some(what) = strip(&ANNOUNCEMENT, last) {
        let what = what.split(": ").next().unwrap_or_default();
        let what = what
            .trim_end_matches(':')
            .split(['—', '–'])
            .next()
            .unwrap_or_default();
        let is_said = !what.is_empty() && !what.starts_with("know ");
        return is_said.then(|| Next::Step(what.to_owned()));
    }
    let latest = || found.iter().rev();
    let is_question =
        |sentence: &&Sentence| !sentence.is_item && sentence.text.ends_with(['?', '？']);
    let question = latest()
        .take(3)
        .find(is_question)
        .map(|sentence| sentence.text.as_str());
    if let Some(question) = question {
        return Some(match strip(&OFFER, question) {
            Some(what) => Next::Step(format!("decide whether to {}", what.trim_end_matches('?'))),
            None => Next::Question(question.to_owned()),
        });
    }
    let step = latest()
        .take(LAST_SENTENCES)
        .find_map(|sentence| strip(&STEP, &sentence.text));
    step.filter(|what| what.split_whitespace().count() >= 2 || !what.is_ascii())
        .map(|what| Next::Step(what.to_owned()))
}

#[cfg(test)]
#[path = "recap_tests.rs"]
mod tests;
