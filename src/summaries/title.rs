//! Titles: the request to a model, and its cleaned reply.

use serde_json::json;

use crate::client::model::{Function, PromptId, ReplyForm, Request, Turn};
use crate::message::Role;
use crate::records::TextRejection;
use crate::summaries::clean::{
    answer, is_echo, is_empty_reply, is_refusal, is_talk, strip_decoration,
};
use crate::summaries::{Language, MessageTexts};
use crate::text::{terminal_safe, terminal_safe_line, truncate_utf16};

/// The system prompt.
pub const PROMPT: &str = include_str!("../../prompts/title.md");

/// The system prompt for titles in the form `fix-login-button`.
pub const KEBAB_PROMPT: &str = include_str!("../../prompts/title-kebab.md");

/// The function that the model calls with the title.
pub const TITLE_FUNCTION: &str = "respond_in_schema";

/// The token budget of a title.
const MAX_TOKENS: u32 = 100;

const TEMPERATURE: f64 = 0.2;

/// Minimum number of messages for which a model writes a title or recap.
pub const MIN_MESSAGES: usize = 2;

/// Maximum length of the part of the conversation that the question contains, in UTF-16 units.
const SHOWN_UNITS: usize = 1000;

/// Builds the question for a title; `None` if the conversation is empty.
pub fn title_question(messages: &[MessageTexts]) -> Option<String> {
    let conversation = tail(messages, SHOWN_UNITS);
    if conversation.trim().is_empty() {
        return None;
    }
    Some(format!(
        "Conversation so far:\n{conversation}\n\nGenerate the session title now. Populate the \
         schema with a single short title string."
    ))
}

/// Builds the request for a title, in `language` if known.
pub fn title_request(question: String, instructions: &str, language: Option<Language>) -> Request {
    let function = Function {
        name: TITLE_FUNCTION.to_owned(),
        description: "Provide the response in provided schema".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description":
                        "A concise sentence-case session title, 3-7 words, no trailing punctuation.",
                },
            },
            "required": ["title"],
        }),
    };
    Request {
        system: in_language(instructions, language),
        turns: vec![Turn::user(question)],
        form: ReplyForm::Forced(function),
        temperature: Some(TEMPERATURE),
        ..Request::new(PromptId::SESSION_TITLE, MAX_TOKENS)
    }
}

/// Adds the language of the reply to instructions.
pub(super) fn in_language(instructions: &str, language: Option<Language>) -> String {
    match language {
        Some(language) => format!(
            "{}\n\nAnswer in {}.\n",
            instructions.trim_end(),
            language.name()
        ),
        None => instructions.to_owned(),
    }
}

/// Returns the last `units` UTF-16 units of a conversation, one line per message, without half a
/// character at the start.
pub(super) fn tail(messages: &[MessageTexts], units: usize) -> String {
    let lines: Vec<String> = messages
        .iter()
        .filter_map(|message| {
            let text = message.text();
            let text = text.trim();
            let name = match message.role {
                Role::User | Role::System => "User",
                Role::Assistant => "Assistant",
            };
            (!text.is_empty()).then(|| format!("{name}: {text}"))
        })
        .collect();
    let text = lines.join("\n");
    let mut shown = 0;
    let fits = |(_, character): &(usize, char)| {
        shown += character.len_utf16();
        shown <= units
    };
    let start = text.char_indices().rev().take_while(fits).last();
    text[start.map_or(text.len(), |(at, _)| at)..].to_owned()
}

/// Maximum length of a title, in UTF-16 units.
const MAX_UNITS: usize = 200;

/// Maximum length of a title in the kebab style, in UTF-16 units.
const MAX_KEBAB_UNITS: usize = 60;

const OPENING: &str = "[「『【〈《";
const CLOSING: &str = "]」』】〉》";

/// The form of titles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TitleStyle {
    /// `Fix login button`.
    #[default]
    Sentence,
    /// `fix-login-button`.
    Kebab,
}

/// Words about any session: who takes part, what it is, what they do, and that it is about code.
const VAGUE: &str = "a an and about as at by for from in my no of on or our out some something the this to up with your s \
    are be been can could did do does had has have how i is it its me so that there they was we what which will would you \
    ai agent assistant bot model user \
    chat conversation dialog dialogue discussion exchange interaction message name prompt query question request \
    response session summary support talk thread title topic \
    ask asking assist assistance assisting complete completion greeting hello help helping hi inquiry introduction \
    need provide providing start starting \
    brief empty first general generic initial misc miscellaneous nameless new other quick short simple unknown unnamed \
    unspecified untitled various \
    bug change code coding developer development edit engineering fix fixe issue job modification problem programming \
    project software stuff task update work";

/// Words about any session in languages without spaces.
const VAGUE_SIGNS: [&str; 16] = [
    "会话",
    "对话",
    "聊天",
    "请求",
    "帮助",
    "未命名",
    "无标题",
    "标题",
    "讨论",
    "代码",
    "问题",
    "任务",
    "更改",
    "修改",
    "新",
    "的",
];

/// The first letter of scripts without spaces.
const FIRST_WITHOUT_SPACES: char = '\u{3040}';

/// Extracts the title from a model's reply, without secrets.
///
/// # Errors
/// Nothing is left, the model refuses, it repeats an example of the prompt, or the title says nothing about the session.
pub fn clean_title(reply: &str, style: TitleStyle) -> Result<String, TextRejection> {
    let answer = answer(reply);
    let paragraph = answer.split("\n\n").next().unwrap_or_default();
    let title = without_half_pairs(&sanitize(strip_decoration(paragraph)));
    if title.is_empty() || is_empty_reply(&title) {
        return Err(TextRejection::Empty);
    }
    if is_example(&title) || is_example(reply) {
        return Err(TextRejection::PromptEcho);
    }
    if is_refusal(&title) || is_talk(&title) {
        return Err(TextRejection::Refusal);
    }
    if is_vague(&title) {
        return Err(TextRejection::Vague);
    }
    let title = match style {
        TitleStyle::Sentence => title,
        TitleStyle::Kebab => to_kebab(&title),
    };
    if title.is_empty() {
        return Err(TextRejection::Empty);
    }
    Ok(title)
}

/// Whether no word of a title distinguishes the session from others.
fn is_vague(title: &str) -> bool {
    telling_words(title).is_empty()
}

/// Returns the words of a text that distinguish a session from others, in lower case. In scripts without spaces, these
/// are all pairs of adjacent letters.
pub(super) fn telling_words(text: &str) -> Vec<String> {
    let mut text = text.to_lowercase();
    for signs in VAGUE_SIGNS {
        text = text.replace(signs, " ");
    }
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let telling = words.filter(|word| {
        let singular = word
            .strip_suffix('s')
            .filter(|singular| singular.len() > 1)
            .unwrap_or(word);
        let mut vague = VAGUE.split_whitespace();
        !word.chars().all(char::is_numeric)
            && !vague.any(|vague| vague == *word || vague == singular)
    });
    let pairs = telling.flat_map(|word| {
        let letters: Vec<char> = word.chars().collect();
        if letters.iter().any(|letter| *letter < FIRST_WITHOUT_SPACES) {
            return vec![word.to_owned()];
        }
        let pairs = letters.windows(letters.len().min(2));
        pairs.map(String::from_iter).collect()
    });
    pairs.collect()
}

/// Removes code marks, and quotation marks whose counterpart was at the start or the end.
fn without_half_pairs(title: &str) -> String {
    let mut title = title.replace('`', "");
    for quote in ['"', '“', '”'] {
        let is_whole = match quote {
            '"' => title.matches('"').count().is_multiple_of(2),
            _ => title.matches('“').count() == title.matches('”').count(),
        };
        if !is_whole {
            title = title.replace(['"', '“', '”'], "");
        }
    }
    title.trim().to_owned()
}

/// Whether a title is one of the examples in the prompts, good or bad.
pub(super) fn is_example(title: &str) -> bool {
    let quoted = PROMPT.split("{\"title\": \"").skip(1);
    let examples = quoted.filter_map(|rest| rest.split('"').next());
    let names = KEBAB_PROMPT.split_whitespace();
    let names = names.filter(|word| word.matches('-').count() > 1);
    examples.chain(names).any(|example| is_echo(title, example))
}

/// Joins the words of a title in lower case with hyphens. Keeps letters of any script.
fn to_kebab(title: &str) -> String {
    let lowered = title.to_lowercase();
    let words: Vec<&str> = lowered
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let name = words.join("-");
    let cut = truncate_utf16(&name, MAX_KEBAB_UNITS);
    if cut.len() == name.len() {
        return name;
    }
    // Cut between words if possible.
    let whole = cut.rfind('-').map_or(cut, |at| &cut[..at]);
    whole.to_owned()
}

/// Removes escape sequences, Markdown, quotation marks, bracketed remarks at both ends and final
/// punctuation. Returns one line of at most 200 UTF-16 units, possibly empty.
pub(super) fn sanitize(title: &str) -> String {
    let safe = terminal_safe(title);
    let safe = safe.trim();
    let mut text = without_last_remark(without_first_remark(safe));
    if text.is_empty() {
        // The brackets are around the whole title.
        text = safe.trim_matches(|bracket| OPENING.contains(bracket) || CLOSING.contains(bracket));
    }
    let text =
        text.trim_start_matches(|sign: char| sign.is_whitespace() || ">*-#`\"'_".contains(sign));
    let text = text.trim_end_matches(|sign: char| sign.is_whitespace() || "*`\"'_".contains(sign));
    let text = text.trim_end_matches(|sign: char| ".!?。！？,，;；:：".contains(sign));
    let line = terminal_safe_line(text);
    truncate_utf16(&line, MAX_UNITS).trim().to_owned()
}

/// Removes brackets at the start, with the text in them.
fn without_first_remark(text: &str) -> &str {
    if !text.starts_with(|first| OPENING.contains(first)) {
        return text;
    }
    text.char_indices()
        .find(|(_, character)| CLOSING.contains(*character))
        .map_or(text, |(at, close)| {
            text[at + close.len_utf8()..].trim_start()
        })
}

/// Removes brackets at the end, with the text in them.
fn without_last_remark(text: &str) -> &str {
    let Some(close) = text.chars().next_back() else {
        return text;
    };
    if !CLOSING.contains(close) {
        return text;
    }
    let inner = &text[..text.len() - close.len_utf8()];
    let earlier = inner.rfind(|character| CLOSING.contains(character));
    let start = earlier.map_or(0, |at| inner.ceil_char_boundary(at + 1));
    inner[start..]
        .find(|character| OPENING.contains(character))
        .map_or(text, |at| text[..start + at].trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16_length;

    fn said(role: Role, text: &str) -> MessageTexts {
        MessageTexts {
            role,
            parts: vec![text.to_owned()],
        }
    }

    #[test]
    fn the_end_is_shown() {
        let talk = [said(Role::User, " fix it "), said(Role::Assistant, "Done.")];
        assert_eq!(tail(&talk, 1000), "User: fix it\nAssistant: Done.");
        assert_eq!(tail(&talk, 5), "Done.");
        let question = title_question(&talk).unwrap();
        assert!(question.starts_with("Conversation so far:\nUser: fix it\n"));
        assert_eq!(title_question(&[]), None);
        assert_eq!(title_question(&[said(Role::User, " ")]), None);
    }

    #[test]
    fn secrets_are_masked_before_they_are_cut() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let talk = [said(Role::User, &format!("deploy with {key} now"))];
        assert_eq!(tail(&talk, 18), "ghp_[redacted] now");
    }

    #[test]
    fn no_half_character_is_shown() {
        let talk = [said(Role::User, "aaaa😀bbbbb")];
        assert_eq!(tail(&talk, 7), "😀bbbbb");
        assert_eq!(tail(&talk, 6), "bbbbb");
    }

    proptest! {
        #[test]
        fn the_tail_is_an_end_that_fits(text in "\\PC{1,60}", units in 0_usize..80) {
            let talk = [said(Role::User, &text)];
            let whole = tail(&talk, usize::MAX);
            let end = tail(&talk, units);
            prop_assert!(whole.ends_with(&end));
            prop_assert!(utf16_length(&end) <= units);
        }
    }
}

#[cfg(test)]
mod clean_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16_length;

    #[test]
    fn replies_are_cleaned_or_rejected() {
        let sentence = TitleStyle::Sentence;
        assert_eq!(clean_title("**Port it**", sentence).unwrap(), "Port it");
        assert_eq!(
            clean_title("Port it", TitleStyle::Kebab).unwrap(),
            "port-it"
        );
        for reply in [" ... ", "N/A", "(untitled)", "None."] {
            assert_eq!(clean_title(reply, sentence), Err(TextRejection::Empty));
        }
        for (reply, title) in [
            ("`login.py` lockout", "login.py lockout"),
            ("\"Foo\" broke", "Foo broke"),
            ("Rename “a” and “b”", "Rename “a” and “b”"),
            ("Title: Port it", "Port it"),
            ("Here's the title: Port it", "Port it"),
            (r#"{"title": "Port it"}"#, "Port it"),
            ("Title case in headings", "Title case in headings"),
            ("“Port it”", "Port it"),
            ("<title>Port it</title>", "Port it"),
            ("Port it\n\nThis title names the task.", "Port it"),
            ("New chat window", "New chat window"),
            ("Code review of the parser", "Code review of the parser"),
            ("Python 3.12", "Python 3.12"),
            ("新功能", "新功能"),
        ] {
            assert_eq!(
                clean_title(reply, sentence).as_deref(),
                Ok(title),
                "{reply}"
            );
        }
        for reply in [
            "Conversation",
            "Help request",
            "Untitled session",
            "42",
            "New chat",
            "Coding assistance session",
            "User's question about code",
            "Conversation title",
            "Software development tasks",
            "Bug fixes and updates",
            "Start of conversation",
            "User asks for help",
            "Brief exchange",
            "新对话",
            "未命名会话",
        ] {
            assert_eq!(
                clean_title(reply, sentence),
                Err(TextRejection::Vague),
                "{reply}"
            );
        }
        let refusal = "I cannot generate a title for this conversation.";
        assert_eq!(clean_title(refusal, sentence), Err(TextRejection::Refusal));
        let echo = "Fix login button on mobile.";
        assert_eq!(clean_title(echo, sentence), Err(TextRejection::PromptEcho));
    }

    #[test]
    fn repeated_examples_are_recognised() {
        for title in [
            " FIX LOGIN button on mobile! ",
            "【重构用户鉴权中间件】。",
            "Code changes",
            "fix login button",
            "Fix-session-resume",
        ] {
            assert!(is_example(title), "{title}");
        }
        for title in [
            "Fix login button  on mobile",
            "Fix logout button on mobile",
            "title",
            "code",
            "",
        ] {
            assert!(!is_example(title), "{title}");
        }
    }

    #[test]
    fn names_have_hyphens() {
        let table = [
            ("Fix login button", "fix-login-button"),
            ("`fix_login`: button!", "fix-login-button"),
            ("修复登录 按钮", "修复登录-按钮"),
            ("--", ""),
        ];
        for (title, expected) in table {
            assert_eq!(to_kebab(title), expected);
        }
        let long = to_kebab(&"word ".repeat(30));
        assert!(long.len() <= MAX_KEBAB_UNITS && long.ends_with("word"));
    }

    #[test]
    fn replies_are_sanitized() {
        let rows = include_str!("../../tests/data/summaries/titles.tsv");
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            let (reply, title) = row.split_once('\t').unwrap();
            let reply: String = serde_json::from_str(reply).unwrap();
            assert_eq!(sanitize(&reply), title, "{reply:?}");
        }
    }

    #[test]
    fn a_long_title_is_cut() {
        assert_eq!(sanitize(&"é".repeat(300)), "é".repeat(200));
        assert_eq!(
            sanitize(&format!("{}😀x", "a".repeat(199))),
            "a".repeat(199)
        );
    }

    proptest! {
        #[test]
        fn titles_are_one_safe_line(reply in any::<String>()) {
            let title = sanitize(&reply);
            prop_assert!(utf16_length(&title) <= MAX_UNITS);
            prop_assert_eq!(terminal_safe_line(&title), title);
        }
    }
}
