//! The sentences in a prompt, without headings, tags, forms and pasted text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::clean::clean;
use super::prose::{Kind, is_item, read_lines, split_sentences};
use super::quotation::{Aim, Place, Quotation, STOPS, find_aim, is_goal};
use crate::message::{Message, Origin, Role, Thread, is_remark, typed_text};
use crate::text::{pattern, redact};

/// Signs at the end of a line that announces the next ones.
pub(super) const COLONS: [char; 2] = [':', '：'];

/// A line of a form: `Description: the page is empty`.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[-*\s]*([\p{Lu}\p{Lo}][\p{L}' ?()/-]{1,40}?)(?:[:：]\**|\*\*[:：])[ \t]*(.*)$")
});

/// A tag around a part of a prompt, and marks of what is attached to it, or cut with a part of the next line.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let attached = r"\[(?:Image|Pasted text) [^\]]*\]|^\[truncated\]\n.*";
    pattern(&format!(
        r"(?m)^\s*<([a-z][\w-]*)(?: [^<>]*)?>|</[a-z][\w-]*>\s*$|{attached}"
    ))
});

/// The source of a web page, or a file in an element with its place: `<context ref="a.md">`.
static ATTACHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?is)<(?:!doctype )?html\b.*?(?:</html>|\z)",
        r"|<(?:context|documents?|files?|attachments?|selection)(?: [^<>]*)? (?:ref|path|file|name|src|source|url|uri)=[^<>]*>",
        r".*?</(?:context|documents?|files?|attachments?|selection)>",
    ))
});

/// A pasted line: code, output of a program, a shell prompt, a frame of a stack, an error, or a time.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^(?:\[[^\]]+\]: \S|[<>|{}%=+~^❯➜⏺●⎿│✓✗✔✖×⚠]|\$ |#!|\w+=[\w\x22\x27$]|---|//|/\*|@@|"[\w-]+":|\[(?:\d|INFO|WARN|ERR|DEBUG|TRACE)|[WE] "#,
        r#"|at \S+[.(]|File "|Traceback|Caused by|thread '|goroutine \d|called `|note: |\d+ \||diff --git|\[?\d{2,4}[-/:.]\d\d|[^"“]{0,32}\d\d:\d\d:\d\d"#,
        r"|(?:PS )?\S*[@:\\~]\S*[$#>%](?:\s|$)|\S+[:(]\d+(?:[:,]\d+)?\)?:\s|\S+(?:\s{3,}\S+){2}",
        r"|(?:\S+: |npm )?(?i:[\w.:/-]*(?:error|err!|exception|panic|fatal|warning))(?:\[\w+\])?(?: [A-Z]+\d+)?(?::|$)|(?:FAIL|PASS|FAILED|ERROR|WARN|INFO|DEBUG|TRACE)\b",
        r"|[\w.]+(?:::|\.|/)[A-Z]\w+:\s|E(?:CONN|NO|ACCES|ADDR|PERM|PIPE|TIMED)\w*\b",
        r"|(?:async|def|class|const|let|var|import|fn|func|function|public|return)\b.*[({;:\])]$)",
    ))
});

/// A word before a prompt that raises the thinking effort of Claude Code.
const KEYWORD: &str = "ultrathink ";

/// The start of the task of an agent in a team.
const TASK: &str = "<teammate-message teammate_id=\"team-lead\"";

/// A template of a command: what it is for, and the block with what the user typed.
static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:---\r?\ndescription: (.*)\n(?s:.*?)---\s+)?",
        r"#+ (?:User Input|用户输入|ユーザー入力|사용자 입력)\s+```\w*\r?\n(?s:\$ARGUMENTS|(.*?))\s*```\s",
    ))
});

/// Returns the text of the user in a message of the main conversation, including commands that the agent rewrote, or
/// the task from the leader of a team; `None` if it is blank, or only the name of a command or a file.
pub(super) fn prompt(message: &Message) -> Option<String> {
    let text = message.text();
    let text = text.trim();
    let tag = text
        .strip_prefix(TASK)
        .and_then(|rest| rest.split_once('>'));
    let task = tag.and_then(|(_, task)| task.split("</teammate-message>").next());
    let is_rewritten = text.starts_with("<command-") || task.is_some();
    let is_typed =
        message.origin == Origin::Prompt || message.origin == Origin::Injected && is_rewritten;
    let is_of_user = is_typed && message.role == Role::User && message.thread == Thread::Main;
    let text = task.map_or_else(|| typed_text(text), Cow::Borrowed);
    let typed = |template: Captures<'_>| {
        let parts = [2, 1].map(|part| template.get(part).map_or("", |part| part.as_str().trim()));
        parts
            .into_iter()
            .find(|part| !part.is_empty())?
            .to_owned()
            .into()
    };
    let template = TEMPLATE.captures(text.trim());
    let text = template.map_or_else(|| Some(text.trim().to_owned()), typed)?;
    let is_name = text.starts_with('/') && !text.contains(char::is_whitespace);
    let is_prompt = is_of_user && !text.is_empty() && !is_name && !is_remark(&text);
    // Before any cut: a part of a secret is not recognisable.
    is_prompt.then(|| redact(&text).into_owned())
}

/// Quotes the sentences of a prompt: if a section contains the request, only of this section. Pasted text is quoted if
/// there is nothing else, or if the request is about it.
pub(super) fn quote_sentences(prompt: &str) -> Vec<Quotation> {
    // A quoted role is not split into sentences.
    let inner = prompt.trim_matches(['"', '\'', '“', '”', '「', '」', '«', '»']);
    let prompt = if find_aim(inner) == Aim::Person {
        inner
    } else {
        prompt
    };
    let typed = prompt.strip_prefix(KEYWORD).unwrap_or(prompt);
    let fenced = ATTACHED.replace_all(typed, "\n```\n$0\n```\n");
    let text = TAG.replace_all(&fenced, "\n\n###### $1\n\n");
    let is_form = FIELD.is_match(text.lines().next().unwrap_or_default());
    let mut is_announced = false;
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let opens = paragraph.trim_end().ends_with(COLONS);
        let is_announced = std::mem::replace(&mut is_announced, opens);
        mark_sections(paragraph, is_form, is_announced)
    });
    let lines = read_lines(&paragraphs.collect::<Vec<_>>().join("\n\n"), is_pasted);
    let (mut found, mut place) = (Vec::<Quotation>::new(), Place::default());
    for (at, line) in lines.iter().enumerate() {
        place.is_item = line.kind != Kind::Text;
        match line.kind {
            // Titles do not join sentences that are two paragraphs apart.
            Kind::Code => place.paragraph += 2,
            Kind::Text if line.text.is_empty() => place.paragraph += 1,
            Kind::Heading => {
                place.paragraph += 1;
                place.is_in_goal = is_goal(&line.text);
                // The name of a document at the start tells what it is about.
                place.is_item = at > 0 || !text.starts_with("# ");
                let heading = Quotation::parse(&line.text, place);
                let heading = heading.filter(|one| !place.is_in_goal && one.has_topic());
                place.paragraph += 2;
                match (&found[..], heading) {
                    // The heading says more than `Implement the following plan:`.
                    ([one], Some(heading)) if !one.place.is_item && one.text.ends_with(COLONS) => {
                        return vec![heading];
                    }
                    (_, heading) => found.extend(heading),
                }
            }
            Kind::Text | Kind::Item => {
                for sentence in split_sentences(&line.text) {
                    let previous = found.last().map(|last| last.aim);
                    place.is_below_role |= previous == Some(Aim::Person);
                    found.extend(Quotation::parse(&sentence, place));
                }
                let next = lines[at + 1..].iter().find(|next| !next.text.is_empty());
                let pasted = next.filter(|next| !matches!(next.kind, Kind::Text | Kind::Item));
                if let (Some(last), Some(pasted)) = (found.last_mut(), pasted)
                    && line.text.ends_with(COLONS)
                    && (Aim::Open..Aim::Aside).contains(&last.aim)
                {
                    last.aim = Aim::Lead;
                    last.text = clean(&format!("{} {}", last.text, pasted.text));
                }
            }
        }
    }
    // A request before the sections is not in them, but a template may be.
    let asks = |sentence: &Quotation| sentence.aim <= Aim::Command && !sentence.is_short();
    let mut opening = found.iter().take_while(|next| next.place.paragraph == 0);
    let is_in_goal = |sentence: &Quotation| sentence.place.is_in_goal;
    if found.iter().any(is_in_goal) && !opening.any(asks) {
        found.retain(is_in_goal);
    }
    let pasted = lines.iter().filter(|line| line.kind == Kind::Code);
    let pasted = pasted.map(|line| line.text.trim_start_matches(['>', ' ']));
    let has_error = |line: &&str| line.to_lowercase().contains("error");
    let mut errors_first = pasted.clone().filter(has_error).chain(pasted);
    let pasted = errors_first.find_map(|line| Quotation::parse(line, place));
    let Some(at) = found.iter().position(|one| one.aim != Aim::Greeting) else {
        found.extend(pasted);
        return found;
    };
    // `fix this` is about the next sentence, or else about pasted lines.
    if !found[at].has_topic() && !found[at].place.is_item {
        let subject = match found.get(at + 1).filter(|next| next.aim != Aim::Greeting) {
            None => pasted,
            Some(_) => (found[at].aim <= Aim::Command).then(|| found.remove(at + 1)),
        };
        if let Some(subject) = subject {
            let request = found[at].text.trim_end_matches(COLONS);
            let colon = if request.ends_with(STOPS) { "" } else { ":" };
            found[at].text = format!("{request}{colon} {}", subject.text);
        }
    }
    found
}

/// Turns the lines of a form at the start of a prompt into sections. Other forms, and several lines that are announced or
/// pasted, are marked as quotations.
fn mark_sections(paragraph: &str, is_form: bool, is_announced: bool) -> String {
    let mut fields = FIELD.captures_iter(paragraph);
    if is_form && fields.any(|field| is_goal(&field[1])) {
        let section = |field: &Captures<'_>| format!("###### {}\n{}\n", &field[1], &field[2]);
        return FIELD.replace_all(paragraph, section).into_owned();
    }
    let is_field = |line: &str| FIELD.is_match(line) || is_announced && !is_item(line.trim());
    if paragraph.contains('\n') && paragraph.lines().all(is_field) {
        format!("> {}", paragraph.replace('\n', "\n> "))
    } else {
        paragraph.to_owned()
    }
}

/// Whether a line was pasted, or only mentions files.
fn is_pasted(line: &str) -> bool {
    let mut words = line.split_whitespace();
    // `@app.py (1-20)`
    let is_place = |word: &str| word.starts_with('(') || word.ends_with(')');
    let is_reference = |word: &str| {
        let is_named = word.starts_with('@') || word.contains("://");
        is_named || line.starts_with('@') && is_place(word)
    };
    let signs = line.chars().filter(|sign| "{}();=<>[]\\".contains(*sign));
    signs.count() > words.clone().count().max(2) * 2
        || PASTED.is_match(line)
        || !line.is_empty() && words.all(is_reference)
}
