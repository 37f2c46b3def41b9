//! The request in a prompt: its sentences without greetings, headings, tags, commands of the agent and pasted text.
//! Roles, background and instructions about how to work come last.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::clean::{clean, upper_first};
use super::names::{address, is_file, parts};
use super::prose::{
    ENOUGH_WORDS, Kind, Line, has_word, informative_words, is_east_asian, lines, lines_of, split,
};
use crate::message::{Message, Origin, Role, Thread, is_remark, typed_text};
use crate::text::{display_width, pattern, redact};

/// Maximum number of polite phrases that are skipped before a request.
const MAX_OPENINGS: usize = 5;

/// Maximum width of a request that needs the heading of what it is about, in cells.
const SHORT_CELLS: usize = 20;

/// Maximum number of informative words in the name of a section.
const MAX_NAME_WORDS: usize = 3;

/// Compiles the expressions of a section of words.
pub(super) fn any_of(section: &str, before: &str) -> Regex {
    let lines: Vec<_> = lines_of(section).collect();
    pattern(&format!("(?i){before}(?:{})", lines.join("|")))
}

/// Polite phrases before a request, and phrases that say that it follows.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = |section| lines_of(section).collect::<Vec<_>>().join("|");
    pattern(&format!(
        r"(?i)^(?:(?<goal>{})[\s:,]*|(?<request>{})(?:[\s,.:;!–—]+|$)|(?:{})(?:[\s,.:;!،–—]+|$)|(?:{})(?:\s?[,.:;!–—]+(?:\s+|$)|\s+-\s*)|(?<introduction>{})(?:\s?[,.:;!–—]+(?:\s+|$)|[，。、]\s*)|(?<joined>{})[\s，。、！!,]*)",
        phrases("announced goals"),
        phrases("requests"),
        phrases("openings"),
        phrases("openings before a comma"),
        phrases("introductions"),
        phrases("openings without spaces"),
    ))
});

/// The start of a sentence that only is polite.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| any_of("courtesies", "^"));

/// The start of a sentence that tells the model who it is.
static ROLE: LazyLock<Regex> = LazyLock::new(|| any_of("roles", "^"));

/// The start of a sentence about how to work, or when.
static ASIDE: LazyLock<Regex> = LazyLock::new(|| any_of("asides", "^"));

/// The name of a section with the request.
static GOAL: LazyLock<Regex> = LazyLock::new(|| any_of("goals", ""));

/// The name of a section with background or rules.
static BACKGROUND: LazyLock<Regex> = LazyLock::new(|| any_of("background", "^"));

/// Polite words and punctuation at the end.
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:[\s,]+(?:please|pls|bitte|por favor|(?<thanks>thanks|thank you|danke|gracias|merci))|，?谢谢)?[\s.;:,!。।\\-]*$",
    )
});

/// Parts of a heading around its subject: the kind of document, the number of an issue.
static AROUND_SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?i:(?:implementation )?plan(?: for)?\s*[:-]\s*|(?:task|feature|goal):\s*)?(?:[A-Z]+-\d+:\s*)?|\s*\(#\d+\)$|[:：]+$",
    )
});

/// A line of a form: `**Expected:** no error`, `Description:`.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[-*\s]*([\p{Lu}\p{Lo}][\p{L}' ?()/-]{1,40}?)(?:[:：]\**|\*\*[:：])[ \t]*(.*)$")
});

/// A tag around a part of a prompt, and marks of what is attached to it.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^\s*<([a-z][\w-]*)(?: [^<>]*)?>|</[a-z][\w-]*>\s*$|\[(?:Image|Pasted text) [^\]]*\]",
    )
});

/// A heading above a line of signs.
static UNDERLINED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(\S.*)\n(?:={3,}|-{3,})$"));

/// The start of a pasted line: output of a program, a shell prompt, a frame of a stack, an error, or a time.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^(?:[<>|{}$%=+~^❯➜⏺●⎿│✓✗✔✖×]|\[(?:\d|INFO|WARN|ERR|DEBUG|TRACE)|---|-->|//|/\*|\*{3}|at \S+[.(]|\d+ \||"[\w-]+":"#,
        r#"|@@|E(?:CONN|NO|ACCES|ADDR|PERM|PIPE|TIMED)\w*\b|[\w.+/-]+: (?:\*\*\*|(?:fatal )?(?:error|warning):)|Traceback|Caused by|goroutine \d|thread '|called `|note: run with|npm (?:ERR|WARN)|(?:ERROR|FATAL|FAIL|PASS|FAILED)\b|File "|diff --git|[WE] "#,
        r"|(?:PS )?\S*[@:\\~]\S*[$#>%](?:\s|\w|$)|\[?\d{2,4}[-/:]\d\d",
        r"|(?i:(?:PHP |Uncaught |Unhandled )?[\w.:/-]*(?:(?:fatal )?error|exception|panic|warning|fatal)(?:\[\w+\])?(?: [A-Z]+\d+)?:(?:\s|$))",
        r"|\S+[:(]\d+(?:[:,]\d+)?\)?:\s|\S+(?:\s{3,}\S+){2}|[\w.]+(?:::|\.)[A-Z]\w+:\s|.*\([\w ]*(?:Error|Exception|dumped)\)$",
        r"|\d+ (?:failed|passed|errors?|warnings?)\b.*\d|(?:def|class) \w+.*:$|(?:const|let|var|import|fn|func|function|public|return)\b.*[{;]$)",
    ))
});

/// The importance of a sentence for the request, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It is announced as the request.
    Goal,
    Text,
    /// An item of a list.
    Item,
    /// An instruction about how to work, or background.
    Aside,
    /// It tells the model who it is.
    Role,
}

/// A sentence of a prompt, quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotation {
    pub(super) text: String,
    /// The number of its informative words.
    pub(super) informative: usize,
    pub(super) rank: Rank,
    /// Whether it starts like a request: `please`, `can you`, `add`.
    pub(super) is_request: bool,
    /// Whether it starts like a statement: `I`, `the`.
    pub(super) is_statement: bool,
    /// Whether pasted text or a list follows.
    pub(super) announces: bool,
}

/// Returns the text of the user in a message of the main conversation, including commands that the agent
/// rewrote; `None` if it is blank.
pub(super) fn prompt(message: &Message) -> Option<String> {
    let text = message.text();
    let is_command = text.trim_start().starts_with("<command-");
    let text = match message.origin {
        Origin::Injected | Origin::Prompt if is_command => text,
        Origin::Prompt => typed_text(&text).trim().to_owned(),
        _ => return None,
    };
    let is_of_user = message.role == Role::User && message.thread == Thread::Main;
    // A part of a secret is not recognisable.
    (is_of_user && !text.is_empty() && !is_remark(&text)).then(|| redact(&text).into_owned())
}

/// Whether a prompt ends with thanks.
pub(super) fn ends_with_thanks(prompt: &str) -> bool {
    let closing = CLOSING.captures(prompt);
    closing.is_some_and(|found| found.name("thanks").is_some())
}

/// Returns the sentences of a prompt that may be the request, the most likely ones first.
pub(super) fn quotations(prompt: &str) -> Vec<Quotation> {
    let command = command(prompt).map(|(name, arguments)| command_text(&name, &arguments));
    let Some(text) = command.unwrap_or_else(|| Some(prompt.to_owned())) else {
        return Vec::new();
    };
    let text = TAG.replace_all(&text, "\n###### $1\n");
    let text = UNDERLINED.replace_all(&text, "# $1");
    // Only fields before the first paragraph describe the environment.
    let head = text.split_once("\n\n").map_or("", |(head, _)| head);
    let is_block = head.contains('\n') && head.lines().all(|line| FIELD.is_match(line));
    let text = FIELD.replace_all(&text, |field: &Captures<'_>| {
        let is_in_head = field.get(0).is_some_and(|all| all.start() < head.len());
        match rank_of_section(&field[1]) {
            Some(_) => format!("###### {}\n{}\n######\n", &field[1], &field[2]),
            None if is_block && is_in_head => {
                format!("###### Environment\n{}\n######\n", &field[0])
            }
            None => field[0].to_owned(),
        }
    });
    let mut lines = lines(&text, is_pasted);
    for at in 1..lines.len() {
        let follows = lines[at].kind == Kind::Code && is_error(&lines[at].text.as_str());
        if follows && is_command_with_options(&lines[at - 1].text) {
            lines[at - 1].kind = Kind::Code;
        }
    }
    let mut found = ranked(&lines);
    let is_vague = |found: &Quotation| found.informative < ENOUGH_WORDS || found.rank == Rank::Role;
    if found.iter().all(is_vague) {
        // The topic is in pasted text: its first error, or its first line.
        let pasted = lines.iter().filter(|line| line.kind == Kind::Code);
        let pasted = pasted.map(|line| line.text.as_str());
        let mut pasted = pasted.clone().filter(is_error).chain(pasted);
        found.extend(pasted.find_map(|line| quote(line, Rank::Aside)));
    }
    // An aside that the rest refers to is the topic.
    let rest = found.iter().find(|found| found.rank <= Rank::Item);
    if !rest.is_some_and(|rest| refers(&rest.text, 1)) {
        found.sort_by_key(|found| found.rank);
    }
    found
}

/// Quotes the sentences of lines, with their ranks.
fn ranked(lines: &[Line]) -> Vec<Quotation> {
    let mut found: Vec<Quotation> = Vec::new();
    let is_text = |line: &Line| line.kind == Kind::Text && !line.text.is_empty();
    let needed = ENOUGH_WORDS + usize::from(lines.iter().any(is_text));
    // The rank of a section, the rank of lines below an announcement, and the announcement.
    let (mut section, mut below, mut announcement) = (None, None, "");
    for line in lines {
        let text = AROUND_SUBJECT.replace_all(&line.text, "");
        let announces = announcement.ends_with([':', '：']);
        match line.kind {
            Kind::Text if text.is_empty() => {
                below = below.filter(|_| announces);
                continue;
            }
            Kind::Heading(_) => {
                (section, below) = (rank_of_section(&text), None);
                let alike = lines.iter().filter(|other| other.kind == line.kind).count();
                if section.is_none() && alike == 1 && informative_words(&text) >= needed {
                    // A heading says more than `Implement the following plan:`.
                    match found.last_mut().filter(|_| !announcement.is_empty()) {
                        Some(last) if announces => last.rank = Rank::Aside,
                        Some(last) if display_width(&last.text) < SHORT_CELLS => {
                            last.text = format!("{}: {text}", last.text);
                        }
                        _ => {}
                    }
                    found.extend(quote(&text, Rank::Text));
                }
                announcement = "";
                continue;
            }
            Kind::Code => {
                let ends = ['.', '?', '!', '。', '？', '！'];
                let is_open = !announcement.is_empty() && !announcement.ends_with(ends);
                if let Some(last) = found.last_mut().filter(|_| is_open) {
                    last.announces = true;
                    // The message says more than `I get this:`.
                    if last.informative <= ENOUGH_WORDS && text.starts_with(char::is_alphabetic) {
                        last.text = format!("{}: {}", last.text, clean(&text));
                        last.informative += informative_words(&text);
                    }
                }
                announcement = "";
                continue;
            }
            Kind::Text | Kind::Item => {}
        }
        let own = [Rank::Text, Rank::Item][usize::from(line.kind == Kind::Item)];
        let rank = below.or(section).unwrap_or(own);
        for sentence in split(&line.text) {
            let is_salutation = found.is_empty() && is_salutation(&sentence);
            let rank = Some(rank).filter(|_| !is_salutation);
            found.extend(quote(&sentence, rank.unwrap_or(Rank::Role)));
        }
        if line.kind == Kind::Text {
            announcement = &line.text;
            below = None;
            let opens = announcement.ends_with([':', '：']);
            if let Some(last) = found.last_mut().filter(|_| opens) {
                last.announces = true;
                below = Some(last.rank).filter(|rank| *rank != Rank::Text);
            }
        }
    }
    found
}

/// Returns the rank of the text in a section.
fn rank_of_section(name: &str) -> Option<Rank> {
    if informative_words(name) > MAX_NAME_WORDS {
        return None;
    }
    let is_background = BACKGROUND.is_match(name).then_some(Rank::Aside);
    is_background.or(GOAL.is_match(name).then_some(Rank::Goal))
}

/// Whether a text starts with a reference to something before it, in so many words.
pub(super) fn refers(text: &str, words: usize) -> bool {
    let mut words = text.split_whitespace().take(words);
    words.any(|word| has_word("references", word))
}

fn is_error(line: &&str) -> bool {
    let (line, errors) = (line.to_lowercase(), ["error", "failed", "exception"]);
    errors.iter().any(|word| line.contains(word))
}

/// Whether a line has the form of a command with options.
fn is_command_with_options(line: &str) -> bool {
    let starts = line.starts_with(|sign: char| sign.is_ascii_lowercase() || sign == '.');
    starts && line.contains(" -") && !line.ends_with(['.', '?', '!', ':', ','])
}

/// Whether the first sentence is too short for a request and ends like a salutation.
fn is_salutation(text: &str) -> bool {
    /// Maximum width of a salutation in a script without spaces, in cells.
    const CELLS: usize = 10;
    let is_east = is_east_asian(text);
    let is_narrow = is_east && display_width(text.trim_end_matches('。')) <= CELLS;
    let is_short = is_narrow || !is_east && text.split_whitespace().count() <= 2;
    is_short && text.ends_with(['!', '！', ',', '，', '。'])
}

/// Whether a line was pasted, or only mentions files.
fn is_pasted(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let signs = line.chars().filter(|sign| "{}();=<>[]\\".contains(*sign));
    signs.count() > words.clone().count().max(2) * 2
        || PASTED.is_match(line)
        || !line.is_empty() && words.all(|word| word.starts_with('@'))
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

/// Quotes a sentence, or a later clause of it with the request; `None` if it is only polite.
fn quote(sentence: &str, rank: Rank) -> Option<Quotation> {
    let sentence = clean(sentence);
    let (mut rest, mut opened) = without_openings(sentence.trim());
    if COURTESY.is_match(rest) {
        return None;
    }
    let is_introduced = opened == Some(Rank::Aside);
    opened = opened.filter(|_| !is_introduced);
    let mut rank = match opened {
        Some(Rank::Goal) => Rank::Goal,
        _ => rank.max(own_rank(rest)),
    };
    if let Some(clause) = request_behind(rest).filter(|_| rank >= Rank::Aside) {
        (rest, opened) = clause;
        rank = opened.unwrap_or(rank);
    }
    // A request in the form of a question is not a question.
    let ends = |sign: char| opened.is_some() && "?？ ".contains(sign);
    let request = rest.trim_end_matches(ends);
    let closing = CLOSING.find(request);
    let request = &request[..closing.map_or(request.len(), |found| found.start())];
    let words = request.split_whitespace().map(shown_word);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let is_first =
        |section, text: &str| has_word(section, text.split([' ', ',']).next().unwrap_or_default());
    let asks = text.ends_with(['?', '？']) || is_first("imperatives", &text);
    (!text.is_empty()).then(|| Quotation {
        informative: informative_words(&text),
        is_request: opened.is_some() || asks && !refers(&text, 6),
        is_statement: is_introduced || is_first("statements", &sentence),
        announces: false,
        text: upper_first(&text),
        rank,
    })
}

/// Returns the rank of a sentence by its start.
fn own_rank(text: &str) -> Rank {
    match text {
        _ if ROLE.is_match(text) => Rank::Role,
        _ if ASIDE.is_match(text) => Rank::Aside,
        _ => Rank::Goal,
    }
}

/// Finds the request in a later clause: `you are Ada, please …`.
fn request_behind(text: &str) -> Option<(&str, Option<Rank>)> {
    let ends = text.match_indices([',', ';', ':', '，', '；', '、', '：', '.']);
    let mut clauses = ends.map(|(at, sign)| without_openings(text[at + sign.len()..].trim_start()));
    clauses.find(|(rest, opened)| {
        let is_own = own_rank(rest) == Rank::Goal && informative_words(rest) >= ENOUGH_WORDS;
        is_own && opened.is_some()
    })
}

/// Removes polite openings and introductions. Returns the rest, and the rank of a request that they open; an
/// introduction opens an aside.
fn without_openings(mut rest: &str) -> (&str, Option<Rank>) {
    let mut rank = None;
    for _ in 0..MAX_OPENINGS {
        let found = OPENING.captures(rest);
        let Some(found) = found.filter(|found| !found[0].is_empty()) else {
            break;
        };
        rest = &rest[found[0].len()..];
        let has = |name| found.name(name).is_some();
        let opened = has("goal").then_some(Rank::Goal);
        let opened = opened.or((has("request") || has("joined")).then_some(Rank::Text));
        let opened = opened.or(has("introduction").then_some(Rank::Aside));
        rank = rank.or(opened).min(opened.or(rank));
    }
    (rest, rank)
}

/// Shortens a hash, an address to its name, and a path to its last two parts.
fn shown_word(word: &str) -> Cow<'_, str> {
    let inner = word
        .strip_prefix('*')
        .and_then(|word| word.strip_suffix('*'));
    let inner = inner.filter(|inner| inner.starts_with(char::is_alphanumeric));
    let word = inner.unwrap_or(word);
    let core = word.trim_matches(|sign: char| "()<>,;:!?'\"".contains(sign));
    let core = core.trim_end_matches('.').trim_start_matches('@');
    let is_path = core.starts_with(['/', '~', '.']) || is_file(core);
    let is_path = is_path && core.matches('/').count() > 1;
    let is_hash = core.len() >= 12 && core.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown = match core {
        "" => return Cow::Borrowed(word),
        _ if core.starts_with("http://") || core.starts_with("https://") => address(core),
        _ if is_hash => core[..7].to_owned(),
        _ if is_path => {
            let parts = parts(core, None);
            parts[parts.len().saturating_sub(2)..].join("/")
        }
        _ => core.to_owned(),
    };
    Cow::Owned(
        word.replace(core, &shown)
            .trim_start_matches('@')
            .to_owned(),
    )
}
