//! Separates the text that the user typed from the text that an agent added to it.
//!
//! All agents share one table, because sessions are converted, resumed and quoted across agents.

use std::borrow::Cow;

use super::Block;

/// Tags whose content an agent wrote. A tag that is not closed extends to the end of the text.
const TAGS: &str = include_str!("injected_tags.txt");

/// Lines that start a text written entirely by an agent.
const BEGINNINGS: &str = include_str!("injected_beginnings.txt");

/// Start and end of the description of an editor before a prompt.
const EDITOR_CONTEXT: (&str, &str) = ("# Context from my IDE setup:", "## My request for Codex:");

/// Beginning of the remark that the user interrupted the turn.
const INTERRUPTION: &str = "[Request interrupted";

/// Beginnings of remarks in brackets. A remark ends at the closing bracket.
const REMARKS: [&str; 2] = [INTERRUPTION, "[Image"];

/// Returns the part of a text that the user typed, without blanks around injected parts. Empty if an
/// agent wrote all of it.
pub fn typed_text(text: &str) -> Cow<'_, str> {
    match split_prompt(text) {
        Some((_, own)) => Cow::Owned(own),
        None => Cow::Borrowed(text),
    }
}

/// Splits the blocks of a user message: blocks that an agent wrote, and blocks that the user typed or
/// attached.
pub fn split_blocks(blocks: Vec<Block>) -> (Vec<Block>, Vec<Block>) {
    let (mut injected, mut typed, mut attached) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        let Block::Text(text) = block else {
            attached.push(block);
            continue;
        };
        let Some((injected_text, typed_text)) = split_prompt(&text) else {
            typed.push(Block::Text(text));
            continue;
        };
        if !injected_text.is_empty() {
            injected.push(Block::Text(injected_text));
        }
        if !typed_text.is_empty() {
            typed.push(Block::Text(typed_text));
        }
    }
    if typed.is_empty() && !injected.is_empty() {
        injected.extend(attached);
    } else {
        typed.extend(attached);
    }
    (injected, typed)
}

/// Returns a text without the tags and remarks of agents. Blanks around them are kept.
pub fn without_injected(text: &str) -> Cow<'_, str> {
    match split_tags(text) {
        Some((_, rest)) => Cow::Owned(rest),
        None => Cow::Borrowed(text),
    }
}

/// Returns the injected and the typed part of a text. `None` if the user typed all of it.
fn split_prompt(text: &str) -> Option<(String, String)> {
    if let Some(command) = slash_command(text) {
        return Some((String::new(), command));
    }
    let is_injected = |text: &str| BEGINNINGS.lines().any(|start| text.starts_with(start));
    if is_injected(text.trim_start()) {
        return Some((text.to_owned(), String::new()));
    }
    let (start, end) = EDITOR_CONTEXT;
    if text.trim_start().starts_with(start)
        && let Some((context, request)) = text.split_once(end)
    {
        return Some((format!("{context}{end}"), request.trim().to_owned()));
    }
    let (context, rest) = text.split_at(leading_context_length(text));
    let (injected, typed) = split_tags(rest).unwrap_or((String::new(), rest.to_owned()));
    let typed = typed.trim();
    if is_injected(typed) {
        return Some((text.to_owned(), String::new()));
    }
    let injected = format!("{context}{injected}");
    (!injected.is_empty()).then(|| (injected, typed.to_owned()))
}

/// Returns the length, in bytes, of the elements at the start of a text that a program wrote: their names contain `_`
/// or `-`. The last of several elements may hold the user's text: it does not count if nothing follows it and its name
/// is another than the one before.
fn leading_context_length(text: &str) -> usize {
    let (mut end, mut previous) = (0, "");
    while let Some((name, length)) = parse_leading_element(&text[end..]) {
        let is_last = text[end + length..].trim().is_empty();
        if is_last && end > 0 && name != previous {
            break;
        }
        (end, previous) = (end + length, name);
    }
    end
}

/// Returns the name of an element at the start of a text, and its length with the blanks before it, in bytes.
fn parse_leading_element(text: &str) -> Option<(&str, usize)> {
    let rest = text.trim_start().strip_prefix('<')?;
    let is_name = |letter: char| letter.is_ascii_lowercase() || "_-".contains(letter);
    let name = &rest[..rest.find(|letter| !is_name(letter))?];
    let close = format!("</{name}>");
    let end = text.find(&close).filter(|_| name.contains(['_', '-']))?;
    Some((name, end + close.len()))
}

/// Slash commands that change settings. Their arguments are not requests to the model.
const SETTING_COMMANDS: &str = "/add-dir /agents /color /config /effort /export /fast /hooks /login /mcp \
    /model /output-style /permissions /plugin /rename /resume /statusline /theme";

/// Returns a slash command with its arguments, as the user typed it. `None` for any other text, for a
/// command without arguments, and for [`SETTING_COMMANDS`].
fn slash_command(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let content_of = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (content, _) = rest.split_once(&format!("</{name}>"))?;
        Some(content.trim()).filter(|content| !content.is_empty())
    };
    let (name, arguments) = (content_of("command-name")?, content_of("command-args")?);
    let mut settings = SETTING_COMMANDS.split_ascii_whitespace();
    let name = name.trim_start_matches('/');
    let is_setting = settings.any(|setting| setting[1..] == *name);
    let (_, last_tag) = text.rsplit_once("</command-")?;
    let following = last_tag.split_once('>').map_or("", |(_, rest)| rest).trim();
    let separator = if following.is_empty() { "" } else { "\n" };
    (!is_setting).then(|| format!("/{name} {arguments}{separator}{following}"))
}

/// Returns the content of tags and remarks of agents, and the rest. `None` if there are none.
fn split_tags(text: &str) -> Option<(String, String)> {
    let (mut injected, mut rest) = (String::new(), String::new());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['<', '[']) {
        at += found;
        let Some(length) = leading_injected_length(&text[at..]) else {
            at += 1;
            continue;
        };
        rest.push_str(&text[copied..at]);
        injected.push_str(&text[at..at + length]);
        at += length;
        copied = at;
    }
    rest.push_str(&text[copied..]);
    (!injected.is_empty()).then_some((injected, rest))
}

/// Whether a text is the note that the user interrupted the turn.
pub fn is_interruption(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(INTERRUPTION) || text.starts_with("<turn_aborted>")
}

/// Whether a text is a single remark in brackets: it replaces omitted content, or an agent added it.
pub fn is_remark(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| inner.contains(' ') && !inner.contains(['[', ']', '"', ',']))
}

/// Returns the length of the injected part at the start of a text that starts with `<` or `[`, in bytes.
fn leading_injected_length(text: &str) -> Option<usize> {
    if text.starts_with('[') {
        REMARKS.iter().find(|remark| text.starts_with(**remark))?;
        return text.find(']').map(|end| end + 1);
    }
    let after_bracket = &text[1..];
    let tag = TAGS.split_ascii_whitespace().find(|tag| {
        after_bracket
            .strip_prefix(*tag)
            .is_some_and(|rest| rest.starts_with(['>', ' ']))
    })?;
    let close = format!("</{tag}");
    let Some(at) = text.find(&close) else {
        return Some(text.len());
    };
    let end = text[at..].find('>');
    Some(end.map_or(text.len(), |end| at + end + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tags_and_remarks_are_removed() {
        let table = [
            ("a <system-reminder>x</system-reminder> b", "a  b"),
            ("a <system-reminder>x", "a "),
            ("<ide_selection>x</ide_selection>fix it", "fix it"),
            ("[Request interrupted by user for tool use]", ""),
            ("look [Image #1] here", "look  here"),
            ("Vec<u8> and a[0] stay", "Vec<u8> and a[0] stay"),
            (
                "<permissions instructions>x</permissions instructions>y",
                "y",
            ),
            (
                "<system-reminders>stay</system-reminders>",
                "<system-reminders>stay</system-reminders>",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(without_injected(text), expected, "{text}");
        }
    }

    #[test]
    fn typed_text_is_separated_from_injected_text() {
        let table = [
            (" as it is \n", " as it is \n"),
            ("<ide_opened_file>x</ide_opened_file>\n fix it\n", "fix it"),
            ("<command-name>/clear</command-name>", ""),
            ("Caveat: the messages below", ""),
            (
                "# Context from my IDE setup:\n\n## Open tabs:\n\n## My request for Codex:\nlist them\n",
                "list them",
            ),
            ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>", ""),
            ("<hook_context>x</hook_context>\n\nhello", "hello"),
            (
                "<host_context>x</host_context>\n<a_b>y</a_b>\nhello",
                "hello",
            ),
            ("<host_context>x</host_context>", ""),
            (
                "<host_context>x</host_context>\n<pasted_text>y</pasted_text>",
                "<pasted_text>y</pasted_text>",
            ),
            ("<a_b c=\"1\">x</a_b>\n\n<a_b c=\"2\">y</a_b>", ""),
            ("<b>x</b> and <a_b>", "<b>x</b> and <a_b>"),
            (
                "<task-notification>x</task-notification>\nFull transcript available at: /tmp/a.output",
                "",
            ),
            (
                "<task-notification>x</task-notification>\nRead the output file to retrieve the result: /tmp/b",
                "",
            ),
            ("use <skills> here", "use <skills> here"),
        ];
        for (text, expected) in table {
            assert_eq!(typed_text(text), expected, "{text}");
        }
    }

    #[test]
    fn blocks_are_split_and_attachments_belong_to_typed_text() {
        let block = |text: &str| Block::Text(text.to_owned());
        let image = || {
            Block::Media(crate::message::Media {
                media_type: String::new(),
                data: None,
            })
        };
        let lengths = |blocks: Vec<Block>| {
            let (injected, own) = split_blocks(blocks);
            (injected.len(), own.len())
        };
        let note = "<ide_selection>x</ide_selection>";
        assert_eq!(lengths(vec![block(note), block("go"), image()]), (1, 2));
        assert_eq!(lengths(vec![block(note), image()]), (2, 0));
        assert_eq!(lengths(vec![image()]), (0, 1));
    }

    #[test]
    fn a_remark_is_a_separate_text() {
        for text in ["[left out for brevity]", " [no content here]\n"] {
            assert!(is_remark(text), "{text}");
        }
        for text in [
            "[x] do it",
            "do [it]",
            "[\"a\", 1]",
            "[WIP]",
            "[a b] and [c d]",
            "",
        ] {
            assert!(!is_remark(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_added(text in any::<String>()) {
            prop_assert!(without_injected(&text).len() <= text.len());
            prop_assert!(typed_text(&text).len() <= text.len());
        }
    }

    #[test]
    fn slash_commands_with_arguments_are_prompts() {
        let command = |name: &str, arguments: &str| {
            format!(
                "<command-message>x is running…</command-message>\n<command-name>{name}</command-name>\n\
                 <command-args>{arguments}</command-args>"
            )
        };
        let rows = [
            (
                command("/fix-issue", "123 the login page"),
                "/fix-issue 123 the login page",
            ),
            (command("review", " a <b> c "), "/review a <b> c"),
            (command("/clear", ""), ""),
            (command("/model", "opus"), ""),
        ];
        for (text, expected) in rows {
            assert_eq!(typed_text(&text), expected, "{text}");
            let (injected, own) = split_blocks(vec![Block::Text(text)]);
            let own: Vec<String> = own
                .into_iter()
                .map(|block| match block {
                    Block::Text(text) => text,
                    _ => String::new(),
                })
                .collect();
            assert_eq!(own.concat(), expected);
            assert_eq!(injected.is_empty(), !expected.is_empty());
        }
    }
}
