//! Finds the text that a model was asked for in its reply: without the JSON, tags, announcements, Markdown and
//! quotation marks around it.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use crate::json::replace_lone_surrogates;
use crate::text::{pattern, redact, strip_fence, terminal_safe};

/// Beginnings of refusals in the first person.
const REFUSALS: &str = "i can't|i can’t|i cannot|i'm unable|i’m unable|i am unable|i'm sorry|i’m sorry\
    |i am sorry|sorry,|sorry，|as an ai|我无法|我不能|抱歉";

/// Beginnings of sentences about the model, the agent or the user.
const TALK: &str =
    "i |i'|i’|we |we'|we’|let me |let's |let’s |the user |the assistant |the agent |the model ";

/// Replies that mean that there is no text.
const EMPTY_REPLIES: &str =
    "n/a|na|none|null|undefined|unknown|untitled|no title|no label|no summary|not applicable";

/// Names of the text: in announcements, tags, and the members of JSON replies.
const NAMES: [&str; 11] = [
    "title", "label", "summary", "text", "result", "output", "answer", "recap", "response",
    "message", "subject",
];

/// Names at the end of announcements in languages without spaces.
const OTHER_NAMES: [&str; 5] = ["标签", "标题", "摘要", "ラベル", "タイトル"];

/// Words with which a reply agrees before it begins.
const ASSENTS: &str = "sure|okay|ok|alright|certainly|of course|absolutely|great|understood|got it";

/// Words with which an announcement begins.
const OPENERS: &str = "here's|here’s|here is|here are|here you go|here it is";

const DETERMINERS: &str = "the|a|an|my|this";

/// Words that may precede the name in an announcement without an opener or a determiner.
const MODIFIERS: &str = "session|conversation|tool|call|batch|commit|git|use|suggested|proposed|possible|generated\
    |final|short|concise|brief";

/// Words that may follow the name in an announcement.
const CONTINUATIONS: &str = "for|of|is|in|as|to|that|this|these|would|could|might|based|describing|summarizing\
    |suggestion";

const COLONS: [char; 2] = [':', '：'];

/// Maximum length of an announcement, in bytes.
const MAX_ANNOUNCEMENT: usize = 160;

/// Maximum number of marks that are stripped from each end.
const MAX_MARKS: usize = 10;

/// Pairs of brackets, which are only removed around everything.
const BRACKETS: [(char, char); 2] = [('[', ']'), ('(', ')')];

/// Pairs of quotation marks.
const QUOTES: [(char, char); 9] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

/// Texts in tags: after a tag with a known name at the start of a line, with or without its end; in such a tag at the end;
/// before such an end tag without a start; in a tag around the whole reply; and on the lines after a tag with thoughts.
static TAGGED: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    let names = NAMES.join("|");
    [
        &*format!(r"(?ims)^[ \t]*<(?:{names})>(.*?)(?:</(?:{names})>|\z)"),
        &*format!(r"(?i)<(?:{names})>([^<]*)</(?:{names})>\s*\z"),
        &*format!(r"(?i)\A([^<]*)</(?:{names})>\s*\z"),
        r"\A\s*<[a-z][\w-]*>([^<]*)</[a-z][\w-]*>\s*\z",
        r"(?s)\A\s*<[a-z][\w-]*>.*?</[a-z][\w-]*>[ \t]*\n(.*)\z",
    ]
    .map(pattern)
});

/// A token that marks a turn. Some servers do not remove such tokens.
static TURN_MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"<\|\w+\|>"));

/// A line with the mark of a list or a heading, or a symbol.
static BULLET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?s)\A(?:[0-9]{1,2}[.)]|[#>]+|[-*•\p{So}\p{Sm}]\x{FE0F}?)\s+(.*)\z")
});

/// Returns the lines of a reply that are the text, terminal-safe and without secrets: those in its JSON object or tag,
/// after lines that announce them.
pub(super) fn answer(reply: &str) -> String {
    let safe = unwrap_json(reply);
    let text = find_tagged(&safe).unwrap_or(&safe);
    let lines = text.lines().map(str::trim);
    let mut lines: Vec<&str> = lines.filter(|line| !line.starts_with("```")).collect();
    while let Some(at) = lines.iter().position(|line| !line.is_empty()) {
        let line = lines[at];
        let has_more = lines[at + 1..].iter().any(|line| !line.is_empty());
        let introduces = line.trim_end_matches(['*', '_']).ends_with(COLONS);
        let assents = without_words(line, ASSENTS).is_empty();
        if !(has_more && (introduces || assents)) && after_announcement(line) != Some("") {
            break;
        }
        lines.drain(..=at);
    }
    lines.join("\n").trim().to_owned()
}

/// Returns a text without secrets and control sequences. If the reply is a JSON object, possibly fenced, the text
/// is a member of it.
fn unwrap_json(reply: &str) -> String {
    let bare = strip_fence(reply);
    let repaired = replace_lone_surrogates(bare);
    let bare = repaired.as_deref().unwrap_or(bare);
    let object = bare.starts_with('{').then(|| serde_json::from_str(bare));
    let members: Map<String, Value> = object.and_then(Result::ok).unwrap_or_default();
    let text = NAMES.iter().find_map(|name| members.get(*name)?.as_str());
    // Hidden characters may split a secret.
    let safe = terminal_safe(text.unwrap_or(reply)).replace(char::REPLACEMENT_CHARACTER, "");
    redact(&TURN_MARK.replace_all(&safe, "")).into_owned()
}

/// Returns the text in a tag.
fn find_tagged(reply: &str) -> Option<&str> {
    let found = TAGGED.iter().find_map(|tag| tag.captures(reply)?.get(1));
    found.map(|text| text.as_str())
}

/// Returns a text without the mark of a list or a heading, an announcement, emphasis and quotation marks around it.
pub(super) fn strip_decoration(text: &str) -> &str {
    let text = BULLET
        .captures(text)
        .map_or(text, |line| line.get(1).map_or("", |text| text.as_str()));
    if let Some(text) = after_announcement_within(text) {
        return without_marks(text);
    }
    let text = without_marks(text);
    after_announcement(text).map_or(text, without_marks)
}

/// Returns the text after an announcement that may follow other clauses, or after words of assent.
fn after_announcement_within(text: &str) -> Option<&str> {
    let line = text.lines().next()?;
    let ends = line
        .match_indices([',', '.', '!', ';'])
        .map(|(at, _)| at + 1);
    let starts = ends.filter(|at| line[*at..].starts_with(' '));
    let mut clauses = std::iter::once(0).chain(starts).map(|at| &text[at..]);
    clauses.find_map(after_announcement).or_else(|| {
        let rest = without_words(text, ASSENTS);
        let assent = &text[..text.len() - rest.len()];
        assent.contains([',', '!', '.']).then_some(rest)
    })
}

/// Returns the text after an announcement, which may be emphasised: `**Label:** text`, `Here's a title for it: text`,
/// `The best label is "text"`.
pub(super) fn after_announcement(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let start = text.find(|character| !matches!(character, '*' | '_'))?;
    let (marks, text) = text.split_at(start);
    let line = text.lines().next()?;
    if let Some((head, rest)) = line.split_once(COLONS) {
        let head = head.trim_end();
        let (head, rest) = match head.strip_suffix(marks) {
            Some(head) if !marks.is_empty() => (head, rest),
            _ => (head, rest.strip_prefix(marks)?),
        };
        return announces(head).then(|| text[line.len() - rest.len()..].trim());
    }
    for dash in [" - ", " – ", " — "] {
        if let Some((head, rest)) = line.split_once(dash)
            && NAMES[..2]
                .iter()
                .any(|name| head.eq_ignore_ascii_case(name))
        {
            return Some(text[line.len() - rest.len()..].trim());
        }
    }
    let line = line.trim_end_matches(['.', '!', '*', '_']);
    let last = line.chars().next_back()?;
    let (open, _) = QUOTES.iter().find(|(_, close)| *close == last)?;
    let at = line
        .find(*open)
        .filter(|at| at + last.len_utf8() < line.len())?;
    let head = line[..at].trim();
    let is_led_in = begins_with_any(head, DETERMINERS)
        || begins_with_any(head, TALK)
        || begins_with_any(head, OPENERS);
    (is_led_in && announces(head)).then(|| line[at..].trim())
}

/// Whether these words only announce a text.
fn announces(head: &str) -> bool {
    let head = head.trim();
    if head.is_empty() || head.len() > MAX_ANNOUNCEMENT {
        return false;
    }
    let opened = without_words(without_words(head, ASSENTS), OPENERS);
    let rest = without_words(opened, DETERMINERS);
    if rest.is_empty() {
        return opened.is_empty();
    }
    if OTHER_NAMES.iter().any(|name| rest.ends_with(name)) {
        return true;
    }
    let is_led_in = rest.len() < head.len() || begins_with_any(head, TALK);
    let words = rest.split(|sign: char| !sign.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_name = |word: &&str| {
        NAMES
            .iter()
            .any(|name| word.to_lowercase().starts_with(name))
    };
    let is_in = |word: &&str, list: &str| list.split('|').any(|one| word.eq_ignore_ascii_case(one));
    let Some(name) = words.iter().position(is_name) else {
        return false;
    };
    let mut before = words[..name].iter();
    let next = words.get(name + 1);
    (is_led_in || before.all(|word| is_in(word, MODIFIERS)))
        && next.is_none_or(|word| is_name(word) || is_in(word, CONTINUATIONS))
}

/// Removes `words`, and punctuation after them, from the start of a text.
fn without_words<'a>(text: &'a str, words: &str) -> &'a str {
    let mut rest = text.trim();
    while let Some(first) = words.split('|').find(|word| begins_with_words(rest, word)) {
        rest = rest[first.len()..].trim_start_matches([',', '!', '.', ' ']);
    }
    rest
}

/// Strips emphasis and quotation marks around a text.
pub(super) fn without_marks(text: &str) -> &str {
    let mut rest = text.trim();
    for _ in 0..MAX_MARKS {
        let stripped = without_quotes(without_emphasis(rest));
        if stripped.len() == rest.len() {
            break;
        }
        rest = stripped;
    }
    rest
}

/// Strips a mark of emphasis at both ends. Half a pair may be part of a name.
fn without_emphasis(text: &str) -> &str {
    if text.trim_matches(['*', '_']).is_empty() {
        return "";
    }
    let within = |mark| text.strip_prefix(mark)?.strip_suffix(mark);
    within('*').or_else(|| within('_')).unwrap_or(text).trim()
}

/// Strips a pair of quotation marks, or half of one whose counterpart is missing, from both ends.
fn without_quotes(text: &str) -> &str {
    let whole = QUOTES.iter().chain(&BRACKETS).find_map(|(open, close)| {
        let inside = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!closes_early(inside, *open, *close)).then_some(inside)
    });
    if let Some(inside) = whole {
        return inside.trim();
    }
    let half = |sign: char, rest: &str| {
        let pair = QUOTES.iter().find(|pair| sign == pair.0 || sign == pair.1);
        pair.is_some_and(|(open, close)| !rest.contains([*open, *close]))
    };
    let mut signs = text.chars();
    let is_half = signs
        .next()
        .is_some_and(|first| half(first, signs.as_str()));
    let text = if is_half { signs.as_str() } else { text };
    let mut signs = text.chars();
    let is_half = signs
        .next_back()
        .is_some_and(|last| half(last, signs.as_str()));
    if is_half { signs.as_str() } else { text }.trim()
}

/// Whether the quotation before `inside` ends within it, so that another one ends after it: `a" and "b`.
fn closes_early(inside: &str, open: char, close: char) -> bool {
    if open == close {
        let is_paired = inside.matches(open).count().is_multiple_of(2);
        let first = inside.find(open);
        let opens = |at: usize| !inside[..at].ends_with(|sign: char| !sign.is_whitespace());
        return first.is_some_and(|at| is_paired && !opens(at));
    }
    let mut depth = 0;
    inside.chars().any(|sign| {
        depth += i32::from(sign == open) - i32::from(sign == close);
        depth < 0
    })
}

/// Returns the sentences of a line, with the spaces after them.
pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_sentence_bounds()
}

/// Whether a reply means that there is no text.
pub(super) fn is_empty_reply(text: &str) -> bool {
    let bare = bare(text);
    EMPTY_REPLIES.split('|').any(|empty| bare == empty)
}

/// Whether a text is a refusal in the first person.
pub(super) fn is_refusal(text: &str) -> bool {
    begins_with_any(text, REFUSALS)
}

/// Whether a text is not what the model was asked for, but about the conversation.
pub(super) fn is_talk(text: &str) -> bool {
    begins_with_any(text, TALK)
}

/// Whether a text starts with any of these words, separated by `|`.
pub(super) fn begins_with_any(text: &str, words: &str) -> bool {
    words.split('|').any(|words| begins_with_words(text, words))
}

/// Whether a text repeats an example, apart from case and surrounding punctuation.
pub(super) fn is_echo(text: &str, example: &str) -> bool {
    let example = bare(example);
    !example.is_empty() && bare(text) == example
}

/// Returns a text in lower case without surrounding punctuation.
fn bare(text: &str) -> String {
    let lowered = text.to_lowercase();
    let bare = lowered.trim_matches(|edge: char| !edge.is_alphanumeric());
    bare.to_owned()
}

/// Whether a text starts with these whole words, in any case. Words consist of ASCII letters, digits
/// and `_`.
fn begins_with_words(text: &str, words: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let head = text.get(..words.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(words))
        && !(words.ends_with(is_word) && text[words.len()..].starts_with(is_word))
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
