//! Recaps by rules: the goal, what the model last reported, and what comes next.

mod next;
mod prose;
mod report;

use super::cells::cut_words;
use super::redact::redacted;
use super::title::{Candidate, Form, candidates, chosen, prompt_texts};
use crate::dialog::{Message, Origin, Role, Thread, is_remark};
use next::Next;

/// The most words of a recap.
const MOST_WORDS: usize = 40;

/// The most words of what was reported.
const REPORT_WORDS: usize = 18;

/// The most words of what comes next.
const NEXT_WORDS: usize = 12;

/// The most letters of a recap in a script without blanks.
const MOST_LETTERS: usize = 80;

/// Beginnings of what agents say in place of the model.
const NOT_SAID: [&str; 3] = ["API Error", "No response requested", "(no content)"];

/// The recap of a conversation; empty if there is nothing to be told.
pub fn recap(messages: &[Message]) -> String {
    let texts = prompt_texts(messages);
    let found = candidates(&texts);
    let Some(goal) = chosen(&found) else {
        return String::new();
    };
    let Some(last) = last_words(messages) else {
        return String::new();
    };
    let (state, next) = if last.interrupted {
        (Some(Sentence::Interrupted), None)
    } else {
        let next = next::next(&last.text);
        let reported = report::report(&last.text).map(Sentence::Reported);
        (reported, next)
    };
    if state.is_none() && next.is_none() {
        return String::new();
    }
    if goal.form == Form::EastAsian {
        return in_chinese(goal, state, next);
    }
    let latest = latest(&found, goal)
        .map(|latest| format!("; latest: {}", super::shell::lowered_first(&latest.title)))
        .unwrap_or_default();
    let mut parts = vec![format!("Goal: {}{latest}.", goal.title)];
    parts.extend(state.map(Sentence::told));
    parts.extend(next.map(told_next));
    let told = parts.join(" ").replace('`', "").replace("….", "…");
    cut_words(&redacted(&told), MOST_WORDS)
}

/// What is told of the state.
enum Sentence {
    Reported(String),
    Interrupted,
}

impl Sentence {
    fn told(self) -> String {
        match self {
            Self::Reported(report) => {
                let report = cut_words(&report, REPORT_WORDS);
                format!(
                    "Last report: {}.",
                    report.trim_end_matches(['.', '!', ':', ';', ','])
                )
            }
            Self::Interrupted => "Interrupted by the user.".to_owned(),
        }
    }
}

fn told_next(next: Next) -> String {
    let short = |text: &str| {
        let text = cut_words(text, NEXT_WORDS);
        text.trim_end_matches(['.', '!', ':', '?']).to_owned()
    };
    match next {
        Next::AboutTo(what) => format!("Was about to {}.", short(&what)),
        Next::Decide(what) => format!("Next: decide whether to {}.", short(&what)),
        Next::Answer(question) => format!("Waiting for an answer: {}?", short(&question)),
        Next::Step(what) => format!("Next: {}.", short(&super::shell::lowered_first(&what))),
    }
}

fn in_chinese(goal: &Candidate, state: Option<Sentence>, next: Option<Next>) -> String {
    let mut told = format!("目标：{}。", goal.title);
    match state {
        Some(Sentence::Interrupted) => told.push_str("现状：已被用户中断。"),
        Some(Sentence::Reported(report)) => {
            let report = report.trim_end_matches(['。', '.', '！']);
            told = format!("{told}现状：{report}。");
        }
        None => {}
    }
    if let Some(Next::AboutTo(what) | Next::Decide(what) | Next::Answer(what) | Next::Step(what)) =
        next
    {
        let what = what.trim_end_matches(['。', '.', '？', '?']);
        told = format!("{told}下一步：{what}。");
    }
    let clean = redacted(&told);
    match clean.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", &clean[..at]),
        None => clean,
    }
}

/// The last concrete thing that was asked for, if it is another one than the goal.
fn latest<'a>(found: &'a [Candidate], goal: &Candidate) -> Option<&'a Candidate> {
    let last = found.last()?;
    let is_full = matches!(last.form, Form::Imperative | Form::Plan)
        && (3..=8).contains(&last.words())
        && last.informative >= 3;
    let goal = goal.title.to_lowercase();
    let shares = last.title.to_lowercase().split_whitespace().any(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        word.chars().count() >= 4 && goal.contains(word)
    });
    (is_full && !shares).then_some(last)
}

struct LastWords {
    text: String,
    /// A person interrupted the model after them.
    interrupted: bool,
}

/// What the model said last.
fn last_words(messages: &[Message]) -> Option<LastWords> {
    let mut interrupted = false;
    for message in messages
        .iter()
        .rev()
        .filter(|message| message.thread == Thread::Main)
    {
        let text = message.text();
        let text = text.trim();
        match message.role {
            Role::User => interrupted |= text.starts_with("[Request interrupted"),
            Role::Assistant if message.origin == Origin::Reply && !text.is_empty() => {
                if NOT_SAID.iter().any(|start| text.starts_with(start)) || is_remark(text) {
                    continue;
                }
                return Some(LastWords {
                    text: text.to_owned(),
                    interrupted,
                });
            }
            Role::Assistant | Role::System => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
