//! Recaps by rules: an open request, the goal, the outcome that the model reported, the calls after it,
//! and the next step. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Deserializer, Value};

use super::clean::{clean, lower_first};
use super::cut::{ENDS, cut, fill};
use super::label::label_answered_calls;
use super::prompt::prompt;
use super::prose::{Kind, Sentence, is_east_asian, sentences};
use super::title::{quote_latest_request, quote_open_request};
use super::words::compile_words;
use crate::message::{
    Call, Message, Origin, Role, Thread, is_interruption, is_remark, without_injected,
};
use crate::summaries::Language;
use crate::summaries::language::{certain_language, dominant_language};

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Minimum number of words of a statement that says enough without the code that it opens.
const OPENING_WORDS: usize = 8;

/// Maximum width of a quoted request, in cells.
const REQUEST_CELLS: usize = 90;

/// Maximum width of the next step, in cells.
const NEXT_CELLS: usize = 60;

/// Maximum width of the report, in cells.
const REPORT_CELLS: usize = 160;

/// Minimum width of the report, in cells.
const MIN_REPORT_CELLS: usize = 40;

/// Number of bytes at the start of a heading that are compared with the goal.
const HEADING_BYTES: usize = 24;

/// Maximum number of letters of a recap in a script without spaces.
const MAX_LETTERS: usize = 80;

/// Beginnings of texts that agents write in place of a reply of the model.
const PLACEHOLDERS: [&str; 2] = ["No response requested", "(no content)"];

/// One language per line; a comment in the file describes the columns.
const FRAMES: &str = include_str!("words/frames.txt");

/// An announcement of work that did not follow.
static ANNOUNCEMENT: LazyLock<Regex> = LazyLock::new(|| {
    let before = "^(?:(?:now|next|first|then|so|but),? )?";
    compile_words(before, "proposals futures", "(?: now| also| first)? ?")
});

/// A step that is about to be done, in the form of a command.
static STEP: LazyLock<Regex> =
    LazyLock::new(|| compile_words("^(?:now|next|then),? ", "commands", ""));

/// The start of a sentence that does not report on the work: about the next sentences, or about the message of the user.
static OPENING: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "openings", ""));

/// The heading of a section with the outcome.
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| compile_words("^", "summaries", ""));

/// The sentence before a list of work that is not done yet. `다음` and `следующие` alone announce any list.
static PLAN: LazyLock<Regex> = LazyLock::new(|| compile_words("", "futures steps", ""));

/// The heading of a section with work that may not be done yet.
static PLAN_HEADING: LazyLock<Regex> =
    LazyLock::new(|| compile_words("", "futures steps plans", ""));

/// The heading of a section with the next steps, unlike `Plan`, which may be about finished work.
static STEPS: LazyLock<Regex> = LazyLock::new(|| compile_words("", "steps", ""));

/// The next step, or a question before it.
#[derive(Debug, Clone)]
enum Next {
    Step(String),
    Question(String),
}

/// The parts of a recap, not yet cut.
struct Parts {
    /// The request after the last reply.
    open_request: Option<String>,
    goal: String,
    /// The statements of the last reply that has any.
    statements: Vec<String>,
    /// The label of the calls after the last reply.
    calls_label: String,
    was_interrupted: bool,
    next: Option<Next>,
    language: Option<Language>,
    is_below_heading: bool,
}

/// The statements and the plan of a reply.
#[derive(Debug, Default)]
struct Reply {
    /// Statements about the work: those under a heading such as `Summary` if there are any.
    statements: Vec<String>,
    /// The plan of the model.
    plan: Option<String>,
}

/// Writes the recap of a conversation in `language`, by default the language of the user. Empty without a
/// request.
pub fn write_recap(messages: &[Message], language: Option<Language>) -> String {
    collect_parts(messages).map_or_else(String::new, |parts| parts.fit(language))
}

/// Writes the recap of a conversation below `heading`: without a goal that starts like the heading, and with the next step
/// before the report, because the end may be cut.
pub fn write_recap_below(heading: &str, messages: &[Message]) -> String {
    let Some(mut parts) = collect_parts(messages) else {
        return String::new();
    };
    let lowered = heading.trim_end_matches(ENDS).to_lowercase();
    let start = &lowered[..lowered.floor_char_boundary(HEADING_BYTES)];
    if parts.goal.to_lowercase().starts_with(start) {
        let latest = parts.goal.split_once(" → ");
        parts.goal = latest.map_or(String::new(), |(_, latest)| latest.to_owned());
    }
    parts.is_below_heading = true;
    parts.fit(None)
}

/// Returns the last report of the model, in up to `REPORT_CELLS`, and the label of the calls after it. Empty if there is
/// neither.
pub fn write_last_report(messages: &[Message]) -> String {
    let Some(parts) = collect_parts(messages) else {
        return String::new();
    };
    let report = fill(parts.statements.iter().map(String::as_str), REPORT_CELLS);
    let texts = [report.as_str(), parts.calls_label.as_str()].into_iter();
    let texts = texts.filter(|text| !text.is_empty());
    clean(&fill(texts, 2 * REPORT_CELLS))
}

fn collect_parts(messages: &[Message]) -> Option<Parts> {
    let end = messages.iter().rposition(is_reply).map_or(0, |at| at + 1);
    let (before, after) = messages.split_at(end);
    let open_request = quote_open_request(after, REQUEST_CELLS);
    let is_prompt = |message: &Message| prompt(message).is_some();
    let goal = Some(quote_latest_request(before, REQUEST_CELLS)).filter(|goal| !goal.is_empty());
    // A request without a reply is the goal of the next one.
    let last = messages.iter().rposition(is_prompt).unwrap_or(0);
    let unanswered = || quote_latest_request(&messages[..last], REQUEST_CELLS);
    let goal = goal.unwrap_or_else(unanswered);
    let last_reply = before.last().map_or(String::new(), read_reply);
    let is_stopped = |message: &Message| is_interruption(&message.text());
    let was_interrupted = open_request.is_none() && after.iter().any(is_stopped);
    let is_working = after.iter().flat_map(Message::results).next().is_some();
    let mut is_in_turn = true;
    let replies = before.iter().rev().filter_map(|message| {
        is_in_turn &= message.origin != Origin::Prompt;
        let reply = || Reply::parse(&sentences(&without_injected(&read_reply(message))));
        is_reply(message).then(|| (is_in_turn, reply()))
    });
    let mut replies = replies.peekable();
    let planned = replies.peek_mut().and_then(|(_, last)| last.plan.take());
    let next = find_next(&sentences(&last_reply)).or(planned.map(Next::Step));
    // Even `yes` answers a question, and a command without text takes the next step.
    let is_answered = after.iter().any(|message| message.origin == Origin::Prompt);
    let next = next.filter(|_| !is_answered && !was_interrupted && !is_working);
    // While work continues, reports of earlier turns are about another goal.
    let is_unfinished = next.is_some() || is_working;
    let replies = replies.take_while(|(is_in_turn, _)| *is_in_turn || !is_unfinished);
    let mut reports = replies.map(|(_, reply)| reply.statements);
    let report = reports.find(|statements| !statements.is_empty());
    let has_request = open_request.is_some() || !goal.is_empty();
    has_request.then(|| Parts {
        open_request,
        goal,
        statements: report.unwrap_or_default(),
        calls_label: label_calls(after),
        was_interrupted,
        next,
        language: language_of_user(messages, &last_reply),
        is_below_heading: false,
    })
}

/// Returns the language of the prompts. If it is not certain, the language of the prompts together with the reply, if the
/// prompts may be in that language.
fn language_of_user(messages: &[Message], reply: &str) -> Option<Language> {
    let prompts: Vec<String> = messages.iter().filter_map(prompt).collect();
    let prompts = prompts.join("\n");
    let both = certain_language(&format!("{prompts}\n{reply}"));
    let both = both.filter(|language| language.is_plausible(&prompts));
    // In another script even a likely language is better than English words.
    let likely = || dominant_language(&prompts).filter(|language| !language.is_latin());
    certain_language(&prompts).or(both).or_else(likely)
}

impl Parts {
    /// Writes the recap in `language`, by default the language of the user, with as much of the report as fits.
    fn fit(&self, language: Option<Language>) -> String {
        let frame = find_frame(language.or(self.language).map_or("en", Language::code));
        let fits = |recap: &String| {
            recap.split_whitespace().count() <= MAX_WORDS
                && (recap.chars().count() <= MAX_LETTERS || !is_east_asian(recap))
        };
        let write = |cells| self.write_within(frame, cells);
        let widths = (MIN_REPORT_CELLS..=REPORT_CELLS).rev().step_by(10);
        let recap = widths.map(write).find(fits);
        let recap = recap.unwrap_or_else(|| write(MIN_REPORT_CELLS));
        let words: Vec<&str> = recap.split_whitespace().take(MAX_WORDS).collect();
        words.join(" ")
    }

    /// Writes the recap with a report of up to `cells`.
    fn write_within(&self, frame: [&str; 9], cells: usize) -> String {
        let [code, colon, stop, names @ ..] = frame;
        let [opened, aim, done, interrupted, following, question] = names;
        let report = fill(self.statements.iter().map(String::as_str), cells);
        let (next_name, next) = match &self.next {
            Some(Next::Step(work)) => (following, work.as_str()),
            Some(Next::Question(text)) => (question, text.as_str()),
            None => ("", ""),
        };
        let interrupted = self.was_interrupted.then_some(interrupted);
        // Labels are in English.
        let label = Some(&*self.calls_label).filter(|_| code == "en");
        let mut parts = [
            (opened, self.open_request.as_deref().unwrap_or_default()),
            (aim, &self.goal),
            (done, &report),
            ("", label.unwrap_or_default()),
            ("", interrupted.unwrap_or_default()),
            (next_name, next),
        ];
        if self.is_below_heading {
            parts[2..].rotate_right(1);
        }
        let mut recap = String::new();
        for (name, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
            let colon = if name.is_empty() { "" } else { colon };
            let text = text.trim_end_matches(ENDS);
            let is_ended = text.ends_with(['…', '?', '？']);
            let space = if stop == "。" { "" } else { " " };
            recap += &[name, colon, text, if is_ended { "" } else { stop }, space].concat();
        }
        clean(recap.trim_end())
    }
}

/// Returns the label of the finished calls in `steps`.
fn label_calls(steps: &[Message]) -> String {
    let results = || steps.iter().flat_map(Message::results);
    let calls = steps.iter().flat_map(Message::calls);
    let answer = |call: &Call| results().find(|result| result.id == call.id);
    let answered: Vec<_> = calls
        .filter_map(|call| Some((call, answer(call)?)))
        .collect();
    // A later success may have repaired a failure.
    let success = answered.iter().rposition(|(_, result)| !result.failed);
    let counted = (0..).zip(answered);
    let current = counted.filter(|(at, (_, result))| !result.failed || Some(*at) > success);
    let answered: Vec<_> = current.map(|(_, answered)| answered).collect();
    label_answered_calls(&answered, None)
}

/// Returns the columns of a language in `FRAMES`, by default of the line `*`.
fn find_frame(code: &str) -> [&'static str; 9] {
    let of = |line: &&str, code| line.split('|').next() == Some(code);
    let line = |code| FRAMES.lines().find(|line| of(line, code));
    let words = line(code).or_else(|| line("*")).unwrap_or_default();
    let mut words = words.split('|');
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// Whether a message is a text of the model, or an error in its place.
fn is_reply(message: &Message) -> bool {
    let text = message.text();
    let text = text.trim();
    message.thread == Thread::Main
        && message.role == Role::Assistant
        && matches!(message.origin, Origin::Reply | Origin::Error)
        && !text.is_empty()
        && !PLACEHOLDERS.iter().any(|start| text.starts_with(start))
        && !is_remark(text)
}

/// Returns the text of a reply; for an error of an API, the message in its JSON.
fn read_reply(reply: &Message) -> String {
    let text = reply.text();
    let start = text.find('{').filter(|_| text.starts_with("API Error"));
    let values = start.map(|start| Deserializer::from_str(&text[start..]).into_iter::<Value>());
    let json = values.and_then(|mut values| values.next()?.ok());
    let error = json.and_then(|json| Some(json["error"]["message"].as_str()?.to_owned()));
    error.map_or(text, |error| format!("The request failed: {error}"))
}

impl Reply {
    /// Finds the statements and the plan in the sentences of a reply. A sentence that opens a list is joined with the heads
    /// of the items.
    fn parse(sentences: &[Sentence]) -> Self {
        let (mut statements, mut plan) = (Vec::new(), None);
        let (mut is_summary, mut is_plan) = (false, false);
        let mut rest = sentences;
        while let [sentence, after @ ..] = rest {
            rest = after;
            let mut text = sentence.text.clone();
            let opens_list = text.ends_with([':', '：']);
            if sentence.kind == Kind::Heading {
                is_summary = SUMMARY.is_match(&text);
                is_plan = !is_summary && PLAN_HEADING.is_match(&text);
                if is_plan && STEPS.is_match(&text) {
                    let mut sections = after.split(|next| next.kind == Kind::Heading);
                    plan = sections.next().and_then(section_plan).or(plan);
                }
                continue;
            }
            if opens_list {
                let is_item =
                    |next: &&Sentence| next.kind == Kind::Item && next.line > sentence.line;
                let items = after.iter().take_while(is_item).count();
                let heads = item_heads(&after[..items]);
                rest = &after[items..];
                if PLAN.is_match(&text) && !heads.is_empty() {
                    plan = Some(cut(&heads.join("; "), NEXT_CELLS));
                    continue;
                }
                // `Based on the changes, here is the code:`
                let announces = text.split(", ").any(|clause| OPENING.is_match(clause));
                if heads.is_empty() && (announces || !is_long(&text, OPENING_WORDS)) {
                    continue;
                }
                text += &[" ", &heads.join("; ")].concat();
            }
            let text = text.trim_end().to_owned();
            let is_question = text.ends_with(['?', '？']);
            let is_opening = [&ANNOUNCEMENT, &STEP]
                .iter()
                .any(|start| start.is_match(&text))
                || !opens_list && OPENING.is_match(&text);
            if !is_question && !is_opening && !is_plan {
                statements.push((text, is_summary));
            }
        }
        let says_enough = |(text, is_summary): &(String, bool)| (*is_summary, is_long(text, 2));
        let best = statements.iter().map(says_enough).max();
        statements.retain(|statement| Some(says_enough(statement)) == best);
        let statements = statements.into_iter().map(|(text, _)| text).collect();
        Self { statements, plan }
    }
}

/// Returns the items of a section about the next steps, or its first sentence.
fn section_plan(section: &[Sentence]) -> Option<String> {
    let heads = item_heads(section);
    let first = section.first()?.text.as_str();
    let steps = if heads.is_empty() { vec![first] } else { heads };
    Some(cut(&steps.join("; "), NEXT_CELLS))
}

/// Returns the head of each item.
fn item_heads(sentences: &[Sentence]) -> Vec<&str> {
    let mut line = None;
    let items = sentences.iter().filter(|next| next.kind == Kind::Item);
    let first = items.filter(|item| line.replace(item.line) != Some(item.line));
    first.map(|item| item_head(&item.text)).collect()
}

fn is_long(text: &str, words: usize) -> bool {
    is_east_asian(text) && text.chars().count() >= 4 || text.split_whitespace().count() >= words
}

/// Returns the part of an item before its explanation; the whole item if this part is only a name.
fn item_head(item: &str) -> &str {
    let ends = [" - ", " — ", " – ", ": "].map(|mark| item.find(mark).unwrap_or(item.len()));
    let phrases = ends.into_iter().filter(|end| item[..*end].contains(' '));
    item[..phrases.min().unwrap_or(item.len())].trim_end_matches(ENDS)
}

/// Returns the step that the last sentence announces, or a question in the last two sentences.
fn find_next(sentences: &[Sentence]) -> Option<Next> {
    let last = &sentences.last()?.text;
    if let Some(work) = ANNOUNCEMENT.find(last).map(|start| &last[start.end()..]) {
        let is_step = !["know ", "be "].iter().any(|start| work.starts_with(start));
        let step = cut(work.trim_end_matches(ENDS), NEXT_CELLS);
        return is_step.then(|| Next::Step(lower_first(&step)));
    }
    let asks =
        |sentence: &&Sentence| sentence.kind != Kind::Item && sentence.text.ends_with(['?', '？']);
    let question = sentences.iter().rev().take(2).find(asks)?;
    Some(Next::Question(cut(&question.text, NEXT_CELLS)))
}

#[cfg(test)]
#[path = "recap_tests.rs"]
mod tests;
