//! Recaps by rules: the goal, what the model last reported, and the next step if it named one.
//! Nothing is made up. See `docs/protocol.md`, Recaps.

use std::sync::LazyLock;

use super::clean::{clean, cut_words, lower_first};
use super::prose::{is_east_asian, sentences};
use super::title::title;
use super::word_list::WordList;
use crate::message::{Message, Origin, Role, Thread, is_remark};

/// The most words of a recap.
const MOST_WORDS: usize = 40;

/// The most words of what was reported.
const REPORT_WORDS: usize = 18;

/// The most words of what comes next.
const NEXT_WORDS: usize = 12;

/// The most letters of a recap in a script without blanks.
const MOST_LETTERS: usize = 80;

/// Beginnings of what agents write in place of the model.
const NOT_SAID: [&str; 3] = ["API Error", "No response requested", "(no content)"];

/// Marks at the end of a sentence.
const ENDS: [char; 10] = ['.', '!', ':', ';', ',', '?', '。', '！', '？', '：'];

static WORDS: LazyLock<WordList> = LazyLock::new(|| WordList::new(include_str!("words/recap.txt")));

/// What comes next, in the model's words.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The model was going to do this.
    AboutTo(String),
    /// It asked whether to do this.
    Decide(String),
    /// It asked something else.
    Answer(String),
    /// It named a step.
    Step(String),
}

/// The recap of a conversation; empty if nothing was reported, and nothing comes next.
pub fn recap(messages: &[Message]) -> String {
    let goal = title(messages);
    let Some((text, was_interrupted)) = last_reply(messages).filter(|_| !goal.is_empty()) else {
        return String::new();
    };
    let found = sentences(&text);
    let (report, next) = if was_interrupted {
        (None, None)
    } else {
        (report(&found), next(&found))
    };
    if report.is_none() && next.is_none() && !was_interrupted {
        return String::new();
    }
    if is_east_asian(&goal) {
        return in_chinese(&goal, report, was_interrupted, next);
    }
    let mut parts = vec![format!("Goal: {goal}.")];
    parts.extend(report.map(|report| format!("Last report: {}.", short(&report, REPORT_WORDS))));
    parts.extend(was_interrupted.then(|| "Interrupted by the user.".to_owned()));
    parts.extend(next.map(|next| match next {
        Next::AboutTo(what) => format!("Was about to {}.", short(&what, NEXT_WORDS)),
        Next::Decide(what) => format!("Next: decide whether to {}.", short(&what, NEXT_WORDS)),
        Next::Answer(question) => {
            format!("Waiting for an answer: {}?", short(&question, NEXT_WORDS))
        }
        Next::Step(what) => format!("Next: {}.", lower_first(&short(&what, NEXT_WORDS))),
    }));
    cut_words(&clean(&parts.join(" ")).replace("….", "…"), MOST_WORDS)
}

fn short(text: &str, words: usize) -> String {
    cut_words(text, words).trim_end_matches(ENDS).to_owned()
}

fn in_chinese(
    goal: &str,
    report: Option<String>,
    was_interrupted: bool,
    next: Option<Next>,
) -> String {
    let mut recap = format!("目标：{goal}。");
    if was_interrupted {
        recap.push_str("现状：已被用户中断。");
    } else if let Some(report) = report {
        recap = format!("{recap}现状：{}。", report.trim_end_matches(ENDS));
    }
    if let Some(Next::AboutTo(what) | Next::Decide(what) | Next::Answer(what) | Next::Step(what)) =
        next
    {
        recap = format!("{recap}下一步：{}。", what.trim_end_matches(ENDS));
    }
    let clean = clean(&recap);
    match clean.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", &clean[..at]),
        None => clean,
    }
}

/// What the model said last, and whether a person interrupted it afterwards.
fn last_reply(messages: &[Message]) -> Option<(String, bool)> {
    let mut was_interrupted = false;
    for message in messages
        .iter()
        .rev()
        .filter(|message| message.thread == Thread::Main)
    {
        let text = message.text();
        let text = text.trim();
        match message.role {
            Role::User => was_interrupted |= text.starts_with("[Request interrupted"),
            Role::Assistant if message.origin == Origin::Reply && !text.is_empty() => {
                let is_said = !NOT_SAID.iter().any(|start| text.starts_with(start));
                if is_said && !is_remark(text) {
                    return Some((text.to_owned(), was_interrupted));
                }
            }
            Role::Assistant | Role::System => {}
        }
    }
    None
}

/// The first sentence that reports something, without `Done — ` before it.
fn report(found: &[String]) -> Option<String> {
    let is_report = |text: &&str| {
        let is_label = text.ends_with([':', '：']) && text.split_whitespace().count() < 5;
        let is_long = text.split_whitespace().count() >= 3
            || is_east_asian(text) && text.chars().count() >= 4;
        is_long
            && !is_label
            && !text.ends_with(['?', '？'])
            && WORDS.strip("not a report", text).is_none()
    };
    let texts = found.iter().map(|text| {
        [" — ", " – ", " - ", "! ", ", "]
            .iter()
            .find_map(|mark| {
                let (first, rest) = text.split_once(mark)?;
                WORDS
                    .strip("acknowledgements", first)?
                    .is_empty()
                    .then_some(rest)
            })
            .unwrap_or(text)
    });
    let report = texts.into_iter().find(is_report)?;
    Some(without_opening_of_list(report).to_owned())
}

/// Without the word that leads over to a list: `It works with:`.
fn without_opening_of_list(text: &str) -> &str {
    const LEADING_OVER: [&str; 11] = [
        "as", "at", "by", "for", "from", "in", "like", "of", "on", "to", "with",
    ];
    let before = text
        .strip_suffix(':')
        .and_then(|text| text.rsplit_once(' '));
    before
        .filter(|(_, last)| LEADING_OVER.contains(last))
        .map_or(text, |(before, _)| before)
}

fn next(found: &[String]) -> Option<Next> {
    let last = found.last()?;
    if let Some(what) = WORDS.strip("announcements", last) {
        let what = what.split([':', '—', '–']).next().unwrap_or_default();
        let what = what.split(" - ").next().unwrap_or_default().trim();
        let is_said = !what.is_empty() && !what.starts_with("know ");
        return is_said.then(|| Next::AboutTo(what.to_owned()));
    }
    let is_question = |text: &&String| text.ends_with(['?', '？']);
    let questions = found.iter().rev().take(3).filter(is_question);
    if let Some(what) = questions
        .clone()
        .find_map(|text| WORDS.strip("offers", text))
    {
        return Some(Next::Decide(what.to_owned()));
    }
    if let Some(question) = questions.clone().next() {
        return Some(Next::Answer(question.clone()));
    }
    let step = found
        .iter()
        .rev()
        .take(6)
        .find_map(|text| WORDS.strip("steps", text));
    step.filter(|what| what.split_whitespace().count() >= 2 || !what.is_ascii())
        .map(|what| Next::Step(what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Block;

    fn recap_of(talk: &[(Role, &str)]) -> String {
        let messages = talk.iter().map(|(role, text)| {
            let origin = match role {
                Role::User if text.starts_with("[Request") => Origin::Injected,
                Role::User => Origin::Prompt,
                Role::Assistant | Role::System => Origin::Reply,
            };
            Message {
                blocks: vec![Block::Text((*text).to_owned())],
                ..Message::new(*role, origin)
            }
        });
        recap(&messages.collect::<Vec<_>>())
    }

    #[test]
    fn a_report_does_not_end_in_the_air() {
        let talk = [
            (Role::User, "make the rewind test deterministic"),
            (
                Role::Assistant,
                "The test is now deterministic with:\n\n1. A clock\n2. A seed",
            ),
        ];
        let expected = "Goal: Make the rewind test deterministic. Last report: The test is now \
                        deterministic.";
        assert_eq!(recap_of(&talk), expected);
    }

    #[test]
    fn recaps_say_goal_state_and_next_step() {
        let ask = (Role::User, "Port the config parser to Rust");
        let rows: &[(&[(Role, &str)], &str)] = &[
            (
                &[
                    ask,
                    (
                        Role::Assistant,
                        "Done. The parser reads all **old** files now.\n\nWould you like me to delete the old one?",
                    ),
                ],
                "Goal: Port the config parser to Rust. Last report: The parser reads all old files now. Next: decide whether to delete the old one.",
            ),
            (
                &[ask, (Role::Assistant, "Let me read the old parser:")],
                "Goal: Port the config parser to Rust. Was about to read the old parser.",
            ),
            (
                &[
                    ask,
                    (Role::Assistant, "All parts are ported."),
                    (Role::User, "[Request interrupted by user]"),
                ],
                "Goal: Port the config parser to Rust. Interrupted by the user.",
            ),
            (&[ask], ""),
            (
                &[
                    (Role::User, "hi"),
                    (Role::Assistant, "Hello, how can I help you today?"),
                ],
                "",
            ),
            (&[ask, (Role::Assistant, "Done!")], ""),
            (
                &[
                    (Role::User, "请修复登录按钮"),
                    (Role::Assistant, "登录按钮已经修复。要我提交吗？"),
                ],
                "目标：修复登录按钮。现状：登录按钮已经修复。下一步：要我提交吗。",
            ),
        ];
        for (talk, expected) in rows {
            assert_eq!(recap_of(talk), *expected, "{talk:?}");
        }
    }

    mod properties {
        use proptest::prelude::*;

        use super::*;
        use crate::text::terminal_safe_line;

        proptest! {
            #[test]
            fn recaps_are_short_and_safe(asked in "\\PC{0,80}", told in "[\\PC\n`*|#.?]{0,300}") {
                let recap = recap_of(&[(Role::User, &asked), (Role::Assistant, &told)]);
                prop_assert!(recap.split_whitespace().count() <= MOST_WORDS, "{recap}");
                prop_assert_eq!(terminal_safe_line(&recap), recap);
            }
        }
    }
}
