//! Recaps by rules: an open request, the goal, the outcome that the model reported, and the next step.
//! Only quotes the conversation. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{clean, lower_first};
use super::prose::{Sentence, is_east_asian, sentences};
use super::title::{latest_request, open_request};
use super::title_words::{cut, fill};
use crate::message::{Message, Origin, Role, Thread, is_remark, without_injected};
use crate::side::Language;
use crate::side::language::certain_language;

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Maximum number of lines of a block of text that is quoted.
const MAX_CODE_LINES: usize = 20;

/// Minimum length of the part of an item that is quoted without its explanation.
const MIN_HEAD_BYTES: usize = 12;

/// Minimum number of words of a sentence that says enough without the list or code that it opens.
const OPENING_WORDS: usize = 8;

/// Maximum width of a quoted request, in cells.
const REQUEST_CELLS: usize = 90;

/// Maximum width of the next step, in cells.
const NEXT_CELLS: usize = 60;

/// Maximum width of the report, in cells.
const REPORT_CELLS: usize = 160;

/// Minimum width of the report, in cells.
const MIN_REPORT_CELLS: usize = 40;

/// Maximum number of letters of a recap in a script without spaces.
const MAX_LETTERS: usize = 80;

/// Maximum number of sentences at the end that are searched for a step.
const LAST_SENTENCES: usize = 6;

/// Beginnings of texts that agents write instead of the model.
const NOT_SAID: [&str; 2] = ["No response requested", "(no content)"];

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
    Regex::new(r"(?i)^(?:the )?(?:next(?: up| steps?| task)?(?: is(?: to)?)?[:,]?|remaining:|todo:|you(?:'ll| may| might) want to|you should) ").ok()
});

/// A word before the report: `Done — `, `Great, `.
static ACKNOWLEDGEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\w+ [—–-]+|(?:done|ok|okay|great|perfect|good)[,:]) ").ok()
});

/// The start of a sentence about what follows, or about the user's message.
static NO_REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:i|my) apolog|here(?:'s| is| are)|let(?: me|'s)|(?:now )?i (?:see|understand|can see|have (?:a|all)\b)|you(?:'re| are) (?:absolutely )?right|(?:good|great) |thank|(?:to|in) summar|now that |if |would you|do you)").ok()
});

/// The heading of a section, or the start of a sentence, with the outcome.
static SUMMARY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\w+ )?(?:summary|results?|conclusion|status|bottom line|tl;dr)\b").ok()
});

/// The next step.
struct Next {
    text: String,
    /// The model asked a question, and did not name or announce a step.
    is_question: bool,
}

/// Writes the recap of a conversation in `language`, by default the language of the last reply. Empty
/// without a report, a next step and an open request.
pub fn recap(messages: &[Message], language: Option<Language>) -> String {
    let Some(last) = messages.iter().rposition(is_reply) else {
        return String::new();
    };
    let (before, after) = messages.split_at(last + 1);
    let goal = latest_request(before, REQUEST_CELLS);
    let open = open_request(after, REQUEST_CELLS);
    let text = messages[last].text();
    let is_interruption =
        |message: &Message| message.text().trim().starts_with("[Request interrupted");
    let was_interrupted = open.is_none() && after.iter().any(is_interruption);
    let said = sentences(&text);
    // The step that the reply announces is taken if results follow it.
    let taken = said.last().map(|last| &last.text);
    let taken = taken.filter(|last| strip(&ANNOUNCEMENT, last).is_some());
    let taken = taken.filter(|_| after.iter().any(|after| after.origin == Origin::Results));
    let next = if open.is_some() || was_interrupted || taken.is_some() {
        None
    } else {
        next(&said)
    };
    // A reply that only announces a step or says that it is done follows the report.
    let since_prompt = before
        .iter()
        .rev()
        .take_while(|message| message.origin != Origin::Prompt);
    let replies = since_prompt.filter(|message| is_reply(message));
    let found = replies.flat_map(|reply| {
        let text = reply.text();
        let code = first_of_code(&text);
        let mut found = reports(&sentences(&without_injected(&text)), 2);
        if let (Some(first), Some(code)) = (found.first_mut(), &code)
            && opens_code(&text, first)
        {
            first.clone_from(code);
        }
        [found, code.into_iter().collect()]
    });
    let report = found
        .chain([reports(&said, 1)])
        .find(|found: &Vec<String>| !found.is_empty());
    let report = match (report, taken) {
        (Some(report), Some(taken)) => Some([report, vec![taken.clone()]].concat()),
        (report, taken) => report.or_else(|| Some(vec![taken?.clone()])),
    };
    let report = report.filter(|_| !was_interrupted);
    let is_empty = report.is_none() && next.is_none() && open.is_none() && !was_interrupted;
    if goal.is_empty() || is_empty {
        return String::new();
    }
    let language = language.or_else(|| certain_language(&text));
    let language = language.or_else(|| certain_language(&goal).filter(|_| is_east_asian(&goal)));
    let [
        _,
        colon,
        stop,
        opened,
        aim,
        told,
        interrupted,
        following,
        question,
    ] = frame(language.map_or("en", Language::code));
    let with_report = |cells: usize| {
        let report = report
            .iter()
            .map(|found| (told, fill(found.iter().map(String::as_str), cells)));
        let next = next.iter().map(|next| {
            let name = if next.is_question {
                question
            } else {
                following
            };
            (name, next.text.clone())
        });
        let open = open.iter().map(|text| (opened, text.clone()));
        let parts = open.chain([(aim, goal.clone())]).chain(report);
        let parts = parts.chain(was_interrupted.then(|| (interrupted, String::new())));
        let mut recap = String::new();
        for (name, text) in parts.chain(next) {
            let colon = if text.is_empty() { "" } else { colon };
            let text = text.trim_end_matches(ENDS);
            let is_ended = text.ends_with(['…', '?', '？']);
            let space = if stop == "。" { "" } else { " " };
            recap += &[name, colon, text, if is_ended { "" } else { stop }, space].concat();
        }
        clean(recap.trim_end())
    };
    let fits = |recap: &String| {
        recap.split_whitespace().count() <= MAX_WORDS
            && (recap.chars().count() <= MAX_LETTERS || !is_east_asian(recap))
    };
    let widths = (MIN_REPORT_CELLS..=REPORT_CELLS).rev().step_by(10);
    let recap = widths.map(with_report).find(fits);
    let recap = recap.unwrap_or_else(|| with_report(MIN_REPORT_CELLS));
    let words: Vec<&str> = recap.split_whitespace().take(MAX_WORDS).collect();
    words.join(" ")
}

/// The line of a language in `FRAMES`.
fn frame(code: &str) -> [&'static str; 9] {
    let line = |code: &str| {
        let mut lines = FRAMES.lines();
        lines.find(|line| line.split('|').next() == Some(code))
    };
    let words = line(code).or_else(|| line("*")).unwrap_or_default();
    let mut frame = [""; 9];
    for (to, word) in frame.iter_mut().zip(words.split('|')) {
        *to = word;
    }
    frame
}

/// Whether a message is a text of the model, or an error in its place.
fn is_reply(message: &Message) -> bool {
    let text = message.text();
    let text = text.trim();
    message.thread == Thread::Main
        && message.role == Role::Assistant
        && matches!(message.origin, Origin::Reply | Origin::Error)
        && !text.is_empty()
        && !NOT_SAID.iter().any(|start| text.starts_with(start))
        && !is_remark(text)
}

/// Strips a matching start.
fn strip<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> Option<&'a str> {
    let found = pattern.as_ref()?.find(text)?;
    Some(text[found.end()..].trim())
}

/// The sentences of a reply that report something and have at least `min_words`: the first one or the
/// headline, those of a summary, the others. One that opens a list is joined with the heads of the items.
fn reports(found: &[Sentence], min_words: usize) -> Vec<String> {
    let (mut reports, mut outcomes) = (Vec::new(), Vec::new());
    let mut is_outcome = false;
    let mut rest = found;
    while let [sentence, after @ ..] = rest {
        rest = after;
        let text = sentence.text.as_str();
        let is_summary = strip(&SUMMARY, text).is_some();
        if sentence.is_heading {
            is_outcome = is_summary;
            let is_numbered = text.starts_with(|letter: char| letter.is_ascii_digit());
            let is_headline =
                reports.is_empty() && !is_summary && !is_numbered && !text.ends_with([':', '：']);
            if is_headline && is_report(text, min_words) {
                reports.push(text.to_owned());
            }
            continue;
        }
        let mut text = strip(&ACKNOWLEDGEMENT, text).unwrap_or(text).to_owned();
        if text.ends_with([':', '：']) {
            let follows = after
                .first()
                .is_some_and(|next| next.line <= sentence.line + 2);
            let is_item = |next: &&Sentence| follows && next.is_item && next.line > sentence.line;
            let items = after.iter().take_while(is_item).count();
            let mut line = sentence.line;
            let heads: Vec<&str> = after[..items]
                .iter()
                .filter(|item| std::mem::replace(&mut line, item.line) != item.line)
                .map(|item| head(&item.text))
                .collect();
            // `Based on the changes, here is the list:`
            let clause = text.rsplit(", ").next().unwrap_or_default();
            let announces = clause.starts_with(['H', 'h']) && clause[1..].starts_with("ere");
            let is_short = text.split_whitespace().count() < OPENING_WORDS;
            if heads.is_empty() && (is_short || announces) {
                continue;
            }
            text = match heads.as_slice() {
                [] => text.trim_end_matches(ENDS).to_owned(),
                heads if announces => heads.join("; "),
                heads => format!(
                    "{text}{}{}",
                    if text.ends_with(':') { " " } else { "" },
                    heads.join("; ")
                ),
            };
            rest = &after[items..];
        }
        if is_report(&text, min_words) {
            let is_outcome = (is_outcome || is_summary) && !reports.is_empty();
            if is_outcome {
                &mut outcomes
            } else {
                &mut reports
            }
            .push(text);
        }
    }
    let behind_first = 1.min(reports.len());
    reports.splice(behind_first..behind_first, outcomes);
    reports
}

/// The part of an item before its explanation, unless it is a mere mark such as `Line 10`.
fn head(item: &str) -> &str {
    let ends = [" - ", " — ", " – ", ": "].map(|mark| item.find(mark).unwrap_or(item.len()));
    let long = ends.into_iter().filter(|end| *end >= MIN_HEAD_BYTES);
    item[..long.min().unwrap_or(item.len())].trim_end_matches(ENDS)
}

/// Returns the first line of a block of text in a reply that is about this text, such as a commit
/// message.
fn first_of_code(text: &str) -> Option<String> {
    let (_, code) = text.split_once("```")?;
    let (language, code) = code.split_once('\n')?;
    let is_text = matches!(language.trim(), "" | "markdown" | "md" | "text");
    let lines = code.lines().take_while(|line| !line.starts_with("```"));
    let is_short = lines.clone().count() <= MAX_CODE_LINES;
    let line = lines
        .map(|line| line.trim_matches(['#', ' ']))
        .find(|line| !line.is_empty())?;
    (is_text && is_short).then(|| line.to_owned())
}

/// Whether a report is the sentence that opens the first block of code of a text.
fn opens_code(text: &str, report: &str) -> bool {
    let before = text.split_once("```").map_or("", |(before, _)| before);
    let opening = sentences(before)
        .pop()
        .map_or(String::new(), |last| last.text);
    opening.ends_with([':', '：']) && opening.trim_end_matches(ENDS).ends_with(report)
}

/// Whether a sentence reports on the work.
fn is_report(text: &str, min_words: usize) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric));
    let is_long = words.count() >= min_words || is_east_asian(text) && text.chars().count() >= 4;
    is_long
        && !text.ends_with(['?', '？'])
        && [&ANNOUNCEMENT, &STEP, &NO_REPORT]
            .iter()
            .all(|pattern| strip(pattern, text).is_none())
}

fn next(found: &[Sentence]) -> Option<Next> {
    let step = |text: &str| Next {
        text: lower_first(text),
        is_question: false,
    };
    let last = &found.last()?.text;
    if let Some(what) = strip(&ANNOUNCEMENT, last) {
        let ends = [": ", "—", "–"].iter().filter_map(|mark| what.find(mark));
        let what = what[..ends.min().unwrap_or(what.len())].trim_end_matches(ENDS);
        let is_said =
            what.contains(' ') && !["know ", "be "].iter().any(|start| what.starts_with(start));
        return is_said.then(|| step(&cut(what, NEXT_CELLS)));
    }
    let latest = || found.iter().rev();
    let is_question =
        |sentence: &&Sentence| !sentence.is_item && sentence.text.ends_with(['?', '？']);
    if let Some(question) = latest().take(3).find(is_question) {
        let question = question.text.as_str();
        return Some(match strip(&OFFER, question) {
            Some(what) => {
                let what = cut(what.trim_end_matches('?'), NEXT_CELLS);
                step(&format!("decide whether to {what}"))
            }
            None => Next {
                text: cut(question, NEXT_CELLS),
                is_question: true,
            },
        });
    }
    latest()
        .take(LAST_SENTENCES)
        .find_map(|sentence| strip(&STEP, &sentence.text))
        .filter(|what| what.split_whitespace().count() >= 2 || !what.is_ascii())
        .map(|what| step(&cut(what, NEXT_CELLS)))
}

#[cfg(test)]
#[path = "recap_tests.rs"]
mod tests;
