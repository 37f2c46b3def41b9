//! Recaps by rules: an open request, the goal, the outcome that the model reported, and the next step.
//! Only quotes the conversation. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{clean, lower_first};
use super::label::{FinishedCall, label};
use super::prose::{Sentence, is_east_asian, sentences};
use super::title::{latest_request, open_request, prompt};
use super::title_words::{cut, fill};
use crate::message::{CallOutcome, Message, Origin, Role, Thread, is_remark, without_injected};
use crate::side::Language;
use crate::side::language::certain_language;

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Maximum number of lines of a block of text that is quoted.
const MAX_CODE_LINES: usize = 20;

/// Minimum length of the part of an item that is quoted without its explanation.
const MIN_HEAD_BYTES: usize = 10;

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

/// A word before the report: `Done — `, `Great, `.
static ACKNOWLEDGEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\w+ [—–-]+|(?:done|ok|okay|great|perfect|good)[,:]) ").ok()
});

/// The start of a sentence about what follows, or about the user's message.
static NO_REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:i|my) apolog|here(?:'s| is| are)|let(?: me|'s)|(?:now )?i (?:see|understand|can see|have (?:a|all)\b)|you(?:'re| are| were) (?:absolutely )?right|(?:good|great) |thank|(?:to|in) summar|now that |if |would you|do you)").ok()
});

/// The heading of a section, or the start of a sentence, with the outcome.
static SUMMARY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:\w+ )?(?:summary|results?|conclusion|status|bottom line|tl;dr)\b|(?:i|we)(?:'ve| have)? (?:also )?\w{3,}ed )").ok()
});

/// The next step.
struct Next {
    text: String,
    /// The model asked a question, and did not name or announce a step.
    is_question: bool,
}

/// The parts of a recap, not yet cut.
struct Parts {
    open: Option<String>,
    goal: String,
    /// Sentences of the last reply with a report, and the calls that the user denied after it.
    report: Vec<String>,
    was_interrupted: bool,
    next: Option<Next>,
    language: Option<Language>,
}

/// Writes the recap of a conversation in `language`, by default the language of the last reply. Empty
/// without a report, a next step and an open request.
pub fn recap(messages: &[Message], language: Option<Language>) -> String {
    let Some(parts) = parts(messages).filter(|parts| !parts.goal.is_empty()) else {
        return String::new();
    };
    let language = language.or(parts.language);
    let frame = frame(language.map_or("en", Language::code));
    let fits = |recap: &String| {
        recap.split_whitespace().count() <= MAX_WORDS
            && (recap.chars().count() <= MAX_LETTERS || !is_east_asian(recap))
    };
    let widths = (MIN_REPORT_CELLS..=REPORT_CELLS).rev().step_by(10);
    let recap = widths.map(|cells| parts.within(frame, cells)).find(fits);
    let recap = recap.unwrap_or_else(|| parts.within(frame, MIN_REPORT_CELLS));
    let words: Vec<&str> = recap.split_whitespace().take(MAX_WORDS).collect();
    words.join(" ")
}

/// Returns what the model reported last, in up to `REPORT_CELLS`; empty if it reported nothing.
pub fn last_report(messages: &[Message]) -> String {
    let report = parts(messages).map_or(Vec::new(), |parts| parts.report);
    clean(&fill(report.iter().map(String::as_str), REPORT_CELLS))
}

fn parts(messages: &[Message]) -> Option<Parts> {
    let last = messages.iter().rposition(is_reply)?;
    let (before, after) = messages.split_at(last + 1);
    let goal = latest_request(before, REQUEST_CELLS);
    let open = open_request(after, REQUEST_CELLS);
    let text = messages[last].text();
    let is_interruption =
        |message: &Message| message.text().trim().starts_with("[Request interrupted");
    let was_interrupted = open.is_none() && after.iter().any(is_interruption);
    let said = sentences(&text);
    let opens_work = text.trim_end().ends_with(':');
    let is_announced = |last: &&Sentence| opens_work || strip(&ANNOUNCEMENT, &last.text).is_some();
    let announced = said.last().filter(is_announced);
    let is_working = after.iter().any(|after| after.results().next().is_some());
    let next = if open.is_some() || was_interrupted || is_working && announced.is_some() {
        None
    } else {
        next(&said, opens_work)
    };
    // A reply that only announces a step or says that it is done follows the report.
    let since_prompt = before.iter().rev();
    let since_prompt = since_prompt.take_while(|message| prompt(message).is_none());
    let replies = since_prompt.filter(|message| is_reply(message));
    let found = replies.map(|reply| reports_of(&reply.text()));
    let mut report = found
        .chain([reports(&said, 1)])
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    if next.is_none() {
        report.extend(
            announced
                .filter(|_| open.is_none())
                .map(|last| last.text.clone()),
        );
    }
    report.extend(Some(denied(after)).filter(|label| !label.is_empty()));
    let is_empty = report.is_empty() && next.is_none() && open.is_none() && !was_interrupted;
    (!is_empty).then_some(Parts {
        open,
        goal,
        report,
        was_interrupted,
        next,
        language: certain_language(&text),
    })
}

impl Parts {
    /// Writes the recap with a report of up to `cells`.
    fn within(&self, frame: [&str; 9], cells: usize) -> String {
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
        ] = frame;
        let report = fill(self.report.iter().map(String::as_str), cells);
        let report = (!report.is_empty()).then_some((told, report));
        let next = self.next.iter().map(|next| {
            let name = if next.is_question {
                question
            } else {
                following
            };
            (name, next.text.clone())
        });
        let open = self.open.iter().map(|text| (opened, text.clone()));
        let parts = open.chain([(aim, self.goal.clone())]).chain(report);
        let parts = parts.chain(self.was_interrupted.then(|| (interrupted, String::new())));
        let mut recap = String::new();
        for (name, text) in parts.chain(next) {
            let colon = if text.is_empty() { "" } else { colon };
            let text = text.trim_end_matches(ENDS);
            let is_ended = text.ends_with(['…', '?', '？']);
            let space = if stop == "。" { "" } else { " " };
            recap += &[name, colon, text, if is_ended { "" } else { stop }, space].concat();
        }
        clean(recap.trim_end())
    }
}

/// Returns the sentences of a reply that report something, or the text that it quotes.
fn reports_of(text: &str) -> Vec<String> {
    let mut found = reports(&sentences(&without_injected(text)), 2);
    if found.is_empty() {
        found.extend(first_of_code(text));
    }
    found
}

/// Returns the label of the calls that the user or a rule denied.
fn denied(steps: &[Message]) -> String {
    let results = || steps.iter().flat_map(Message::results);
    let texts = steps.iter().flat_map(Message::calls).filter_map(|call| {
        let result = results().find(|result| result.id == call.id)?;
        let text = result.text();
        let outcome = CallOutcome::of_result(&text, result.failed);
        outcome.is_denied().then_some((call, text))
    });
    let texts: Vec<_> = texts.collect();
    let calls = texts.iter().map(|(call, text)| FinishedCall {
        name: &call.name,
        input: &call.input,
        text,
        failed: true,
    });
    label(&calls.collect::<Vec<_>>(), None)
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

/// Returns the part of an item before its explanation; the whole item if this part is only a name.
fn head(item: &str) -> &str {
    let ends = [" - ", " — ", " – ", ": "].map(|mark| item.find(mark).unwrap_or(item.len()));
    let is_said = |end: &usize| *end >= MIN_HEAD_BYTES && item[..*end].contains(' ');
    let said = ends.into_iter().filter(is_said);
    item[..said.min().unwrap_or(item.len())].trim_end_matches(ENDS)
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

/// Whether a sentence reports on the work.
fn is_report(text: &str, min_words: usize) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric));
    let is_long = words.count() >= min_words || is_east_asian(text) && text.chars().count() >= 4;
    is_long
        && !text.ends_with(['?', '？'])
        && [&ANNOUNCEMENT, &NO_REPORT]
            .iter()
            .all(|pattern| strip(pattern, text).is_none())
}

/// Returns the step that the last sentence announces, or the question near the end.
fn next(found: &[Sentence], opens_work: bool) -> Option<Next> {
    let last = &found.last()?.text;
    let opened = last.strip_suffix(':').filter(|_| opens_work);
    let opened = opened.map(|what| what.strip_prefix("Now ").unwrap_or(what));
    if let Some(what) = strip(&ANNOUNCEMENT, last).or(opened) {
        let what = what.trim_end_matches(ENDS);
        let is_step = !["know ", "be "].iter().any(|start| what.starts_with(start));
        return is_step.then(|| Next {
            text: lower_first(&cut(what, NEXT_CELLS)),
            is_question: false,
        });
    }
    let is_question =
        |sentence: &&Sentence| !sentence.is_item && sentence.text.ends_with(['?', '？']);
    let question = found.iter().rev().take(3).find(is_question)?;
    Some(Next {
        text: cut(&question.text, NEXT_CELLS),
        is_question: true,
    })
}

#[cfg(test)]
#[path = "recap_tests.rs"]
mod tests;
