//! The request in a prompt: what is left of it after greetings, roles, headings, tags, commands of the agent and
//! pasted text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::clean::{clean, upper_first};
use super::names::{address, file_name, is_file};
use super::prose::{
    ENOUGH_WORDS, Sentence, code_depth, has_word, informative_words, is_east_asian, lines_of,
    sentences,
};
use crate::message::{Message, Origin, Role, Thread, is_remark, typed};
use crate::text::{display_width, pattern};

/// Maximum number of polite phrases that are skipped before a request.
const MAX_OPENINGS: usize = 4;

/// Maximum width of a request that needs the heading of what it is about, in cells.
const SHORT_CELLS: usize = 20;

/// Maximum number of informative words in the heading of the section with the request.
const MAX_GOAL_WORDS: usize = 3;

/// Polite phrases before a request.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = |section| lines_of(section).collect::<Vec<_>>().join("|");
    pattern(&format!(
        r"(?i)^(?:(?<request>{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[\s,.:;!،–—]+|$)|(?:{})(?:\s?[,.:;!–—]|\s+-)\s*|(?:{})[\s，。、！!,]*)",
        phrases("requests"),
        phrases("openings"),
        phrases("openings before a comma"),
        phrases("openings without spaces"),
    ))
});

/// The start of a sentence that only is polite.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| any_of("courtesies", "^"));

/// The start of a sentence that tells the model who it is.
static ROLE: LazyLock<Regex> = LazyLock::new(|| any_of("roles", "^"));

/// A word in the heading of the section with the request.
static GOAL: LazyLock<Regex> = LazyLock::new(|| any_of("goals", ""));

/// Polite words and punctuation at the end.
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:[\s,]+(?:please|pls|bitte|por favor|(?<thanks>thanks|thank you|danke|gracias|merci))|，?谢谢)?[\s.;:,!。\\-]*$",
    )
});

/// Parts of a heading around its subject: the kind of document, the number of an issue.
static AROUND_SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?i:(?:implementation )?plan(?: for)?\s*[:-]\s*|(?:task|feature|goal):\s*)?(?:[A-Z]+-\d+:\s*)?|\s*\(#\d+\)$",
    )
});

/// The name of an address behind its kind: `PR repository PR #7`.
static NAMED_TWICE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(PR|issue) \S+ (?:PR|issue) (#\d+)"));

/// A line of a form: `**Expected:** no error`.
static FIELD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\**([A-Z]\w*(?: \w+){0,2})(?::\**|\**:)[ \t]+(\S.*)$"));

/// A tag around a part of a prompt.
static TAG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*<([a-z][\w-]*)>|</[a-z][\w-]*>\s*$"));

/// A heading above a line of signs.
static UNDERLINED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(\S.*)\n(?:={3,}|-{3,})$"));

/// The start of a pasted line: output of a program, a shell prompt, a frame of a stack, or a time.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:[<>|{}$%=+~^❯➜⏺●⎿│✓✗✔✖×]|\[(?:\d|INFO|WARN|ERR|DEBUG|TRACE)|---|//|/\*|\*{3}|at \S+[.(]|Traceback|(?:ERROR|FATAL)\b|File "|diff --git|[WE] |(?:PS )?\S*[@:\\~]\S*[$#>%](?:\s|\w|$)|\[?\d{2,4}[-/:]\d\d)"#,
    )
});

pub(super) fn any_of(section: &str, before: &str) -> Regex {
    let lines: Vec<_> = lines_of(section).collect();
    pattern(&format!("(?i){before}(?:{})", lines.join("|")))
}

/// A sentence of a prompt, quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotation {
    pub(super) text: String,
    /// The number of its informative words.
    pub(super) informative: usize,
    /// Whether it starts like a request: `please`, `can you`.
    pub(super) is_request: bool,
    /// Whether it starts like a statement: `I`, `the`.
    pub(super) is_statement: bool,
    /// Whether it tells the model who it is.
    is_role: bool,
}

/// Returns the text of the user in a message of the main conversation, including commands that the agent
/// rewrote; `None` if it is blank.
pub(super) fn prompt(message: &Message) -> Option<String> {
    let text = message.text();
    let is_command = text.trim_start().starts_with("<command-");
    let text = match message.origin {
        Origin::Injected | Origin::Prompt if is_command => text,
        Origin::Prompt => typed(&text).trim().to_owned(),
        _ => return None,
    };
    let is_of_user = message.role == Role::User && message.thread == Thread::Main;
    (is_of_user && !text.is_empty() && !is_remark(&text)).then_some(text)
}

/// Whether a prompt ends with thanks.
pub(super) fn ends_with_thanks(prompt: &str) -> bool {
    CLOSING
        .captures(prompt)
        .is_some_and(|found| found.name("thanks").is_some())
}

/// Returns the sentences of a prompt that may be the request, the most likely ones first.
pub(super) fn quotations(prompt: &str) -> Vec<Quotation> {
    let command = command(prompt).map(|(name, arguments)| command_text(&name, &arguments));
    let Some(text) = command.unwrap_or_else(|| Some(prompt.to_owned())) else {
        return Vec::new();
    };
    let text = TAG.replace_all(&text, "\n###### $1\n");
    let mut text = UNDERLINED.replace_all(&text, "# $1");
    if FIELD.find_iter(&text).count() > 1 {
        text = FIELD
            .replace_all(&text, "\n###### $1\n$2\n")
            .into_owned()
            .into();
    }
    let mut found = in_section(sentences(&without_pasted(&text)));
    if let [first, _, ..] = found.as_slice()
        && is_salutation(&first.text)
    {
        found.remove(0);
    }
    let mut quoted: Vec<Quotation> = Vec::new();
    for (at, sentence) in found.iter().enumerate() {
        let heading_behind = found.get(at + 1).filter(|next| next.heading.is_some());
        // A heading says more than `Implement the following plan:`.
        let announces = heading_behind.is_some()
            && sentence.heading.is_none()
            && sentence.text.ends_with([':', '：']);
        let Some(mut quotation) = quote(&subject(sentence)).filter(|_| !announces) else {
            continue;
        };
        if let Some(heading) = heading_behind
            && sentence.heading.is_none()
            && display_width(&quotation.text) < SHORT_CELLS
        {
            quotation.text = format!("{}: {}", quotation.text, subject(heading));
        }
        quoted.push(quotation);
    }
    if !quoted.is_empty() {
        if quoted.iter().any(|quotation| !quotation.is_role) {
            quoted.retain(|quotation| !quotation.is_role);
        }
        return quoted;
    }
    // The topic of pasted text is its first error, or its text outside code blocks.
    let errors = ["error", "failed", "exception"];
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        errors.iter().any(|word| line.contains(word))
    };
    let mut pasted = text.lines().filter(is_error).chain(text.lines());
    pasted.find_map(quote).into_iter().collect()
}

/// Returns the sentences behind the heading of the request if there is one, and drops other headings of sections: those
/// with others of their level, and short ones above a text. Items of lists come last.
fn in_section(mut found: Vec<Sentence>) -> Vec<Sentence> {
    let is_goal = |sentence: &Sentence| {
        let is_short = informative_words(&sentence.text) <= MAX_GOAL_WORDS;
        sentence.heading.is_some() && is_short && GOAL.is_match(&sentence.text)
    };
    let starts = (0..found.len()).filter(|at| is_goal(&found[*at]));
    let mut starts =
        starts.filter(|at| found.get(at + 1).is_some_and(|next| next.heading.is_none()));
    if let Some(start) = starts.next() {
        found.drain(..=start);
    }
    let levels: Vec<_> = found.iter().map(|sentence| sentence.heading).collect();
    let needed = ENOUGH_WORDS + usize::from(levels.contains(&None));
    found.retain(|sentence| {
        let alike = levels.iter().filter(|level| **level == sentence.heading);
        let alike = alike.count() * usize::from(sentence.heading.is_some());
        alike == 0 || alike == 1 && informative_words(&subject(sentence)) >= needed
    });
    found.sort_by_key(|sentence| sentence.is_item);
    found
}

/// Whether the first sentence of several is too short for a request and ends like a salutation.
fn is_salutation(text: &str) -> bool {
    /// Maximum width of a salutation in a script without spaces, in cells.
    const CELLS: usize = 10;
    let is_east = is_east_asian(text);
    let is_narrow = is_east && display_width(text.trim_end_matches('。')) <= CELLS;
    let is_short = is_narrow || !is_east && text.split_whitespace().count() <= 2;
    is_short && text.ends_with(['!', '！', ',', '，', '。'])
}

/// Returns the text of a sentence; of a heading, what it is about.
fn subject(sentence: &Sentence) -> Cow<'_, str> {
    match sentence.heading {
        Some(_) => AROUND_SUBJECT.replace_all(sentence.text.trim_end_matches([':', '：']), ""),
        None => Cow::Borrowed(&sentence.text),
    }
}

/// Removes pasted lines, code and lines of mentions.
fn without_pasted(text: &str) -> String {
    let mut typed = String::new();
    let (mut follows_pasted, mut depth) = (false, 0);
    for line in text.lines() {
        let before = depth;
        depth = code_depth(depth, line);
        if before != depth {
            continue;
        }
        let is_indented = line.starts_with("  ") && follows_pasted;
        let is_mention = line.split_whitespace().all(|word| word.starts_with('@'));
        follows_pasted = is_indented || is_pasted(line.trim_start());
        // A message that the sentence announces is kept, other code is not.
        let announces = typed.trim_end().ends_with(':') && line.starts_with(char::is_alphabetic);
        if follows_pasted || is_mention && !line.is_empty() || depth > 0 && !announces {
            continue;
        }
        if depth > 0 {
            typed.truncate(typed.trim_end().len());
        }
        typed.push(if depth > 0 { ' ' } else { '\n' });
        typed.push_str(line);
    }
    typed
}

fn is_pasted(line: &str) -> bool {
    let signs = line.chars().filter(|sign| "{}();=<>[]\\".contains(*sign));
    signs.count() > line.split_whitespace().count().max(2) * 2 || PASTED.is_match(line)
}

/// Parses a command of the agent and its arguments: `/name arguments`, or the agent's form with tags.
fn command(text: &str) -> Option<(String, String)> {
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        let (inner, _) = rest.split_once(&format!("</{tag}>"))?;
        Some(inner.trim().to_owned())
    };
    if let Some(name) = between("command-name").or_else(|| between("command-message")) {
        let arguments = between("command-args").unwrap_or_default();
        return Some((name.trim_start_matches('/').to_owned(), arguments));
    }
    let rest = text.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-_:".contains(letter);
    let is_name = name.starts_with(char::is_alphabetic) && name.chars().all(is_of_name);
    is_name.then(|| (name.to_owned(), arguments.trim().to_owned()))
}

/// Returns the request in a command; `None` if the command is about the agent itself.
fn command_text(name: &str, arguments: &str) -> Option<String> {
    let name = name.rsplit(':').next().unwrap_or_default();
    if has_word("local commands", name) {
        return None;
    }
    let name = name.replace(['-', '_'], " ");
    let is_sentence = arguments.split_whitespace().count() > 2;
    let colon = if is_sentence { ":" } else { "" };
    Some(format!("{name}{colon} {arguments}"))
}

fn quote(sentence: &str) -> Option<Quotation> {
    let sentence = clean(&sentence.replace('*', ""));
    let sentence = sentence.trim();
    let (request, is_request) = without_openings(sentence);
    if COURTESY.is_match(request) {
        return None;
    }
    // A request in the form of a question is not a question.
    let ends = |sign: char| is_request && "?？ ".contains(sign);
    let request = request.trim_end_matches(ends);
    let closing = CLOSING.find(request);
    let request = &request[..closing.map_or(request.len(), |found| found.start())];
    let words: Vec<String> = request.split_whitespace().map(shown_word).collect();
    let text = NAMED_TWICE
        .replace_all(&words.join(" "), "$1 $2")
        .into_owned();
    let first = sentence.split([' ', ',']).next().unwrap_or_default();
    (!text.is_empty()).then(|| Quotation {
        informative: informative_words(&text),
        text: upper_first(&text),
        is_request,
        is_statement: has_word("statements", &first.to_lowercase()),
        is_role: ROLE.is_match(request),
    })
}

/// Removes openings, and returns whether one of them opens a request.
fn without_openings(sentence: &str) -> (&str, bool) {
    let (mut rest, mut is_request) = (sentence, false);
    for _ in 0..MAX_OPENINGS {
        let found = OPENING.captures(rest);
        let Some(found) = found.filter(|found| !found[0].is_empty()) else {
            break;
        };
        is_request |= found.name("request").is_some();
        rest = &rest[found[0].len()..];
    }
    (rest, is_request)
}

/// Shortens a hash, an address to its name, an absolute path to its last part, and another path to its last two parts.
fn shown_word(word: &str) -> String {
    let core = word.trim_matches(|sign: char| "()<>,;:!?'\"".contains(sign));
    let core = core.trim_end_matches('.').trim_start_matches('@');
    let shown = if core.starts_with("http://") || core.starts_with("https://") {
        address(core)
    } else if core.len() >= 12 && core.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        core[..7].to_owned()
    } else if core.starts_with(['/', '~', '.']) && core.contains('/') && core.len() > 2 {
        file_name(core.trim_end_matches('/'), None)
    } else if core.contains('/') && is_file(core) {
        let parts: Vec<&str> = core.split('/').collect();
        parts[parts.len().saturating_sub(2)..].join("/")
    } else {
        core.to_owned()
    };
    match shown.as_str() {
        "" => word.to_owned(),
        shown => word.replace(core, shown).trim_start_matches('@').to_owned(),
    }
}
