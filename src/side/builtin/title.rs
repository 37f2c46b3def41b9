//! Titles by rules: the first words of a prompt that name a topic, unchanged.
//!
//! A title is a verbatim part of one prompt. It may be vague, but not wrong. See `docs/records.md`,
//! Labels, titles and recaps.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{clean, prefix, upper_first};
use super::names::{address, last_part};
use super::prose::{is_east_asian, sentences};
use super::word_list::WordList;
use crate::message::{Message, Origin, Role, Thread, is_remark, typed};
use crate::text::display_width;

/// Maximum width of a title, in cells.
const MAX_CELLS: usize = 50;

/// Maximum width of a title in a script without spaces, in cells.
const MAX_EAST_ASIAN_CELLS: usize = 40;

/// Maximum number of words.
const MAX_WORDS: usize = 7;

/// Minimum number of informative words, unless no title has that many.
const ENOUGH_WORDS: usize = 2;

/// Maximum number of greetings, polite phrases and the like that are skipped before a request.
const MAX_OPENINGS: usize = 8;

static WORDS: LazyLock<WordList> = LazyLock::new(|| WordList::new(include_str!("words/title.txt")));

/// Greetings, polite phrases, and other words before the request itself.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lines = include_str!("words/openings.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (spaced, unspaced): (Vec<&str>, Vec<&str>) = lines.partition(|line| !is_east_asian(line));
    Regex::new(&format!(
        r"(?i)^(?:(?:{})(?:[\s,.:;!–—-]+|$)|(?:{})[\s，。、！!,]*)",
        spaced.join("|"),
        unspaced.join("|")
    ))
    .ok()
});

/// Polite words at the end.
static CLOSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)([\s,]+(please|pls|thanks|thank you)|好吗|可以吗|吗|呢|吧|してください|をお願いします|ください|해 ?주세요|주세요)?[\s.;:,?!-]*$",
    )
    .ok()
});

/// The heading of a plan or an issue: prefix, subject, number.
static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^#*\s*(?i:(?:implementation )?plan(?: for)?\s*[:-]\s*|(?:task|feature|goal):\s*)?(?:[A-Z]+-\d+:\s*)?(.*?)\s*(?:\(#\d+\))?$",
    )
    .ok()
});

/// A possible title, with the number of its informative words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quotation {
    title: String,
    informative: usize,
}

/// Writes the title of a conversation; empty if no prompt names a topic.
pub fn title(messages: &[Message]) -> String {
    let prompts = prompts(messages);
    let mut weak: Option<Quotation> = None;
    for quotation in prompts.iter().flat_map(|prompt| quotations(prompt)) {
        if quotation.informative >= ENOUGH_WORDS {
            return quotation.title;
        }
        let longest = weak.as_ref().map_or(0, |weak| weak.title.len());
        if quotation.informative > 0 && quotation.title.len() > longest {
            weak = Some(quotation);
        }
    }
    weak.map(|weak| weak.title).unwrap_or_default()
}

/// The user's non-blank prompts in the main conversation, including commands that the agent rewrote.
fn prompts(messages: &[Message]) -> Vec<String> {
    let of_user = |message: &&Message| message.role == Role::User && message.thread == Thread::Main;
    messages
        .iter()
        .filter(of_user)
        .filter_map(|message| {
            let text = message.text();
            let is_command = text.trim_start().starts_with("<command-");
            match message.origin {
                Origin::Injected | Origin::Prompt if is_command => Some(text),
                Origin::Prompt => Some(typed(&text).trim().to_owned()),
                _ => None,
            }
        })
        .filter(|text| !text.is_empty() && !is_remark(text))
        .collect()
}

/// The possible titles in a prompt, one per sentence.
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
    let is_pasted = |line: &&str| {
        let line = line.trim_start();
        WORDS
            .lines("pasted lines")
            .any(|start| line.starts_with(start))
            || is_log(line)
    };
    let typed: Vec<&str> = text.lines().filter(|line| !is_pasted(line)).collect();
    let sentences = sentences(&typed.join("\n"));
    sentences
        .iter()
        .filter_map(|text| quotation(text))
        .collect()
}

/// Whether a line starts with a date, or consists mostly of punctuation.
fn is_log(line: &str) -> bool {
    let has_date = line
        .get(..4)
        .is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
        && line.get(4..5).is_some_and(|sign| matches!(sign, "-" | "/"));
    let signs = line.chars().filter(|sign| "{}();=<>[]\\".contains(*sign));
    has_date || signs.count() > line.split_whitespace().count().max(2) * 2
}

/// The heading in `Implement the following plan: # Heading`, or at the start of a text.
fn heading(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = if first.starts_with("# ") {
        first
    } else if first.trim_end().ends_with(':') {
        rest.trim_start()
            .lines()
            .next()
            .filter(|line| line.starts_with("# "))?
    } else {
        return None;
    };
    let found = HEADING.as_ref()?.captures(line)?;
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

/// The request in a command; `None` if the command is about the agent itself.
fn command_text(name: &str, arguments: &str) -> Option<String> {
    let name = name.rsplit(':').next().unwrap_or_default();
    if arguments.is_empty() || WORDS.has("local commands", name) {
        return None;
    }
    if arguments.split_whitespace().count() > 2 {
        return Some(arguments.to_owned());
    }
    Some(format!("{} {arguments}", name.replace(['-', '_'], " ")))
}

fn quotation(sentence: &str) -> Option<Quotation> {
    let sentence = clean(&sentence.replace(['"', '“', '”', '「', '」', '*'], ""));
    let request = without_openings(sentence.trim());
    let request = CLOSING.as_ref().map_or(request, |closing| {
        let end = closing
            .find(request)
            .map_or(request.len(), |found| found.start());
        &request[..end]
    });
    let (title, informative) = if is_east_asian(request) {
        let clause = request.split(['，', '；']).next().unwrap_or_default();
        let letters = clause
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .count();
        (prefix(clause, MAX_EAST_ASIAN_CELLS).to_owned(), letters / 2)
    } else {
        let words: Vec<&str> = request.split_whitespace().collect();
        let kept = cut(&shown(&words));
        let informative = words.iter().take(kept.split(' ').count());
        let informative = informative.filter(|word| is_informative(word)).count();
        (kept, informative)
    };
    (!title.is_empty()).then(|| Quotation {
        title: upper_first(&title),
        informative,
    })
}

fn without_openings(sentence: &str) -> &str {
    let mut rest = sentence;
    for _ in 0..MAX_OPENINGS {
        let found = OPENING.as_ref().and_then(|opening| opening.find(rest));
        let Some(found) = found.filter(|found| found.end() > 0) else {
            break;
        };
        let after = &rest[found.end()..];
        let next = after.split_whitespace().next().unwrap_or_default();
        // `why is it slow` needs its first words.
        if matches!(
            next,
            "it" | "this" | "that" | "these" | "those" | "they" | "there" | "not"
        ) {
            break;
        }
        rest = after;
    }
    rest
}

/// Shortens words for titles.
fn shown(words: &[&str]) -> Vec<String> {
    let mut before = "";
    let shown = words.iter().map(|word| {
        let shown = shown_word(word);
        let is_named = matches!(before.to_lowercase().as_str(), "pr" | "issue");
        before = word;
        match shown.rsplit_once(" #") {
            Some((_, number)) if is_named => format!("#{number}"),
            _ => shown,
        }
    });
    shown.collect()
}

/// Shortens a path to its last part, and an address to its name.
fn shown_word(word: &str) -> String {
    let core = word.trim_matches(|sign: char| "()<>,;:!?'".contains(sign));
    let core = core.trim_end_matches('.').trim_start_matches('@');
    if core.starts_with("http://") || core.starts_with("https://") {
        return word.replace(core, &address(core));
    }
    let name = last_part(core);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.starts_with(|letter: char| letter.is_ascii_alphabetic())
    });
    let is_path = ["/", "~/", "./", "../"]
        .iter()
        .any(|start| core.starts_with(start));
    if name.len() < core.len() && !name.is_empty() && (is_path || has_extension) {
        return word.replace(core, name);
    }
    word.to_owned()
}

/// Cuts words to a title. A cut is at the end of a clause if possible, and never after a function word.
fn cut(words: &[String]) -> String {
    let mut width = 0;
    let fit = words
        .iter()
        .take_while(|word| {
            width += display_width(word) + 1;
            width <= MAX_CELLS + 1
        })
        .count()
        .min(MAX_WORDS);
    let mut kept = words.get(..fit).unwrap_or_default();
    if fit < words.len() {
        let ends_clause = |word: &String| word.ends_with([',', ';', ':', '–', '—']) || word == "-";
        let clause = kept.iter().rposition(ends_clause).filter(|last| {
            kept[..=*last]
                .iter()
                .filter(|word| is_informative(word))
                .count()
                >= ENOUGH_WORDS
        });
        kept = clause.map_or(kept, |last| &kept[..=last]);
        while let [start @ .., last] = kept
            && !start.is_empty()
            && is_function_word(last)
        {
            kept = start;
        }
    }
    if let ([], Some(word)) = (kept, words.first()) {
        return prefix(word, MAX_CELLS).to_owned();
    }
    let title = kept.join(" ");
    // Remove a bracket that the cut left open.
    let open = title.rfind('(').filter(|at| !title[*at..].contains(')'));
    let whole = open.map_or(title.as_str(), |at| &title[..at]);
    let title = if whole.is_empty() { &title } else { whole };
    title
        .trim_end_matches([',', ';', ':', '.', '-', '–', '—', '(', ' '])
        .to_owned()
}

fn is_function_word(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.is_empty() || WORDS.has("function words", &word.to_lowercase())
}

fn is_informative(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    !is_function_word(word) && (digits >= 2 || word.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Block;

    fn title_of(prompts: &[&str]) -> String {
        let messages = prompts.iter().map(|prompt| Message {
            blocks: vec![Block::Text((*prompt).to_owned())],
            ..Message::new(Role::User, Origin::Prompt)
        });
        title(&messages.collect::<Vec<_>>())
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(OPENING.is_some() && CLOSING.is_some() && HEADING.is_some());
    }

    #[test]
    fn titles_quote_what_was_asked_for() {
        let rows: &[(&[&str], &str)] = &[
            (
                &["can you please add a dark mode to the settings page?"],
                "Add a dark mode to the settings",
            ),
            (
                &["hi", "ok", "Port the parser to Rust"],
                "Port the parser to Rust",
            ),
            (
                &["how does the scheduler work?"],
                "How does the scheduler work",
            ),
            (
                &["we also have merge conflix"],
                "We also have merge conflix",
            ),
            (
                &[
                    "Implement the following plan:\n\n# AB-12: Cache Session Titles On Disk (#9)\n\n## Why",
                ],
                "Cache Session Titles On Disk",
            ),
            (
                &["when running npm test I get timeouts, can you check?"],
                "When running npm test I get timeouts",
            ),
            (
                &["mise run lint is showing errors, can you take a look?"],
                "Mise run lint is showing errors",
            ),
            (
                &["I'm using the new agent code (added in the last release) and it hangs"],
                "I'm using the new agent code",
            ),
            (&["Here's the error screenshot"], "The error screenshot"),
            (
                &["I've noticed that each command I run (e.g., `help`) is slow"],
                "I've noticed that each command I run",
            ),
            (
                &[
                    "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nlist the files\n",
                ],
                "List the files",
            ),
            (
                &["this is PR https://github.com/o/r/pull/7\n\nLet's review this together"],
                "This is PR #7",
            ),
            (&["/clear", "/review 12"], "Review 12"),
            (&["/compact keep the names of the tests", "hello"], ""),
            (
                &["/workflows:plan add retries to the upload queue"],
                "Add retries to the upload queue",
            ),
            (&["请帮我修复登录按钮，谢谢"], "修复登录按钮"),
            (&["こんにちは、設定画面を直してください"], "設定画面を直"),
            (&["yes", "1. the second one", "go ahead"], ""),
            (&["Start", "Step 1", "Step 2", "next phase"], "Phase"),
            (&["[left out of this copy]"], ""),
            (
                &[
                    "for the change in src/cli/hooks.go I think if we fail to open it we should stop",
                ],
                "For the change in hooks.go",
            ),
            (
                &[
                    "Can you read docs/design/suffixes.md, I'd like to modify this approach: no suffixes",
                ],
                "Read suffixes.md",
            ),
            (
                &[
                    "This fails:\n```\nTraceback\n```\n2026-01-01 12:00 ERROR x\n> quoted words here\n  at main.js\nplease fix the importer",
                ],
                "Fix the importer",
            ),
            (&[], ""),
            (&["<system-reminder>add x to y</system-reminder>"], ""),
            (&["https://example.com/a/b", "~/src/app"], "example.com/…/b"),
            (
                &["Add a key sk-ant-a1B2c3D4e5 to the tests"],
                "Add a key sk-ant-[redacted] to the tests",
            ),
        ];
        for (prompts, expected) in rows {
            assert_eq!(title_of(prompts), *expected, "{prompts:?}");
        }
    }

    mod properties {
        use proptest::prelude::*;

        use super::*;
        use crate::text::terminal_safe_line;

        proptest! {
            #[test]
            fn titles_are_narrow_and_safe(prompts in prop::collection::vec("(can you |let's |why is |when running |请|)[\\PC\\n`./:,-]{0,80}", 0..4)) {
                let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
                let title = title_of(&prompts);
                prop_assert!(display_width(&title) <= MAX_CELLS, "{title}");
                prop_assert_eq!(terminal_safe_line(&title), title);
            }

            #[test]
            fn titles_are_verbatim(prompt in "[a-z]{1,8}( [a-z]{1,8}){0,12}") {
                let title = title_of(&[&prompt]).to_lowercase();
                prop_assert!(prompt.contains(&title), "{title} of {prompt}");
            }
        }
    }
}
