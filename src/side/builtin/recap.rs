//! Recaps by rules: the goal, the last report of the model, and the next step if it named one. Only
//! quotes the conversation. See `docs/records.md`, Labels, titles and recaps.

use std::sync::LazyLock;

use super::clean::{clean, cut_words, lower_first};
use super::prose::{is_east_asian, sentences};
use super::title::title;
use super::word_list::WordList;
use crate::message::{Message, Origin, Role, Thread, is_remark};
use crate::side::Language;
use crate::side::language::certain_language;

/// Maximum number of words in a recap.
const MAX_WORDS: usize = 40;

/// Maximum number of words in the report.
const REPORT_WORDS: usize = 18;

/// Maximum number of words in the next step.
const NEXT_WORDS: usize = 12;

/// Maximum number of letters of a recap in a script without spaces.
const MAX_LETTERS: usize = 80;

/// Beginnings of texts that agents write in place of the model.
const NOT_SAID: [&str; 3] = ["API Error", "No response requested", "(no content)"];

/// Marks at the end of a sentence.
const ENDS: [char; 10] = ['.', '!', ':', ';', ',', '?', '。', '！', '？', '：'];

static FRAMES: LazyLock<WordList> =
    LazyLock::new(|| WordList::new(include_str!("words/frames.txt")));

static WORDS: LazyLock<WordList> = LazyLock::new(|| WordList::new(include_str!("words/recap.txt")));

/// The next step, in the model's words.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The model announced this.
    AboutTo(String),
    /// It asked whether to do this.
    Decide(String),
    /// It asked something else.
    Answer(String),
    /// It named a step.
    Step(String),
}

/// Writes the recap of a conversation in `language`, by default the language of the last reply. Empty
/// without a report and a next step.
pub fn recap(messages: &[Message], language: Option<Language>) -> String {
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
    let language = language.or_else(|| certain_language(&text));
    let language = language.or_else(|| certain_language(&goal).filter(|_| is_east_asian(&goal)));
    let code = language.map_or("en", Language::code);
    if code != "en" {
        let recap = clean(&framed(code, &goal, report, was_interrupted, next));
        let letters = if is_east_asian(&recap) {
            MAX_LETTERS
        } else {
            usize::MAX
        };
        let recap = cut_words(&recap.replace("….", "…"), MAX_WORDS);
        return match recap.char_indices().nth(letters) {
            Some((at, _)) => format!("{}…", &recap[..at]),
            None => recap,
        };
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
    cut_words(&clean(&parts.join(" ")).replace("….", "…"), MAX_WORDS)
}

fn short(text: &str, words: usize) -> String {
    cut_words(text, words).trim_end_matches(ENDS).to_owned()
}

/// The words of one language around the parts of a recap.
struct Frame {
    colon: &'static str,
    stop: &'static str,
    goal: &'static str,
    report: &'static str,
    interrupted: &'static str,
    next: &'static str,
    question: &'static str,
}

impl Frame {
    fn of(code: &str) -> Option<Self> {
        let lines = FRAMES.lines("frames");
        let mut rows = lines.map(|line| line.split('|').collect::<Vec<_>>());
        rows.find_map(|row| match row.as_slice() {
            [
                known,
                colon,
                stop,
                goal,
                report,
                interrupted,
                next,
                question,
            ] => (*known == code).then_some(Self {
                colon,
                stop,
                goal,
                report,
                interrupted,
                next,
                question,
            }),
            _ => None,
        })
    }
}

/// Writes the recap in a language other than English. Uses symbols for languages without a frame.
fn framed(
    code: &str,
    goal: &str,
    report: Option<String>,
    was_interrupted: bool,
    next: Option<Next>,
) -> String {
    let next = next.map(|next| match next {
        Next::Answer(text) => (text, true),
        Next::AboutTo(text) | Next::Decide(text) | Next::Step(text) => (text, false),
    });
    let shown = |text: &str| {
        if text.is_ascii() || text.contains(' ') {
            return short(text, REPORT_WORDS);
        }
        text.trim_end_matches(ENDS).to_owned()
    };
    let goal = goal.trim_end_matches(ENDS).trim_end();
    let report = report.filter(|_| !was_interrupted);
    let Some(frame) = Frame::of(code) else {
        let report = report.map(|text| format!(" — {}", shown(&text)));
        let next = next.map(|(text, is_question)| {
            let mark = if is_question { "?" } else { "" };
            format!(" → {}{mark}", shown(&text))
        });
        let parts = [Some(goal.to_owned()), report, next];
        return parts.into_iter().flatten().collect();
    };
    let Frame { colon, stop, .. } = frame;
    let space = if stop == "." { " " } else { "" };
    let mut recap = format!("{}{colon}{goal}{stop}", frame.goal);
    if was_interrupted {
        // In Chinese it is the state.
        let state = if code == "zh" { "现状：" } else { "" };
        recap = format!("{recap}{space}{state}{}{stop}", frame.interrupted);
    }
    if let Some(report) = report {
        recap = format!(
            "{recap}{space}{}{colon}{}{stop}",
            frame.report,
            shown(&report)
        );
    }
    if let Some((text, is_question)) = next {
        let has_words = is_question && frame.question != frame.next;
        let words = if has_words {
            frame.question
        } else {
            frame.next
        };
        let mark = match (has_words, stop) {
            (true, ".") => "?",
            (true, _) => "？",
            (false, stop) => stop,
        };
        recap = format!("{recap}{space}{words}{colon}{}{mark}", shown(&text));
    }
    recap
}

/// The model's last text, and whether the user interrupted it afterwards.
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

/// The first sentence that is a report, without `Done — ` before it.
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

/// Removes the last word before the colon of a list: `It works with:`.
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
        recap(&messages.collect::<Vec<_>>(), None)
    }

    #[test]
    fn a_report_does_not_end_with_a_preposition() {
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
    fn recaps_have_goal_report_and_next_step() {
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

    #[test]
    fn the_frame_is_in_the_language_of_the_conversation() {
        let rows = [
            (
                "Repariere bitte den Zähler im Login",
                "Der Zähler ist repariert und alle Tests laufen durch. Soll ich den Branch pushen?",
                "Ziel: Repariere bitte den Zähler im Login. Stand: Der Zähler ist repariert und alle Tests laufen durch. Offene Frage: Soll ich den Branch pushen?",
            ),
            (
                "ログインのカウンターを直してください。",
                "カウンターを修正しました。テストはすべて通りました。次にデプロイしますか？",
                "目的：ログインのカウンターを直してください。現状：カウンターを修正しました。確認待ち：次にデプロイしますか？",
            ),
            (
                "로그인 카운터를 고쳐 주세요",
                "카운터를 수정했고 모든 테스트가 통과했습니다. 배포할까요?",
                "목표: 로그인 카운터를 고쳐. 현황: 카운터를 수정했고 모든 테스트가 통과했습니다. 확인 필요: 배포할까요?",
            ),
        ];
        for (asked, replied, expected) in rows {
            let talk = [(Role::User, asked), (Role::Assistant, replied)];
            assert_eq!(recap_of(&talk), expected);
        }
        let thai = recap_of(&[
            (
                Role::User,
                "ช่วยแก้ตัวนับการเข้าสู่ระบบ ฉันถูกล็อกหลังจากล้มเหลวครั้งเดียว",
            ),
            (
                Role::Assistant,
                "ฉันแก้ตัวนับการเข้าสู่ระบบเรียบร้อยแล้ว และการทดสอบทั้งหมดผ่าน แล้ว",
            ),
        ]);
        assert!(
            !thai.contains(|letter: char| letter.is_ascii_alphabetic()),
            "{thai}"
        );
    }

    #[test]
    fn every_frame_has_all_words() {
        for line in FRAMES.lines("frames") {
            let code = line.split('|').next().unwrap();
            assert!(
                Frame::of(code).is_some() && Language::named(code).is_some(),
                "{line}"
            );
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
                prop_assert!(recap.split_whitespace().count() <= MAX_WORDS, "{recap}");
                prop_assert_eq!(terminal_safe_line(&recap), recap);
            }
        }
    }
}
