//! Text that an agent puts into a user's messages, and the part that a person typed.
//!
//! All agents share one table: sessions are converted, resumed and quoted across agents.

use std::borrow::Cow;

use super::Block;

/// Tags whose whole content an agent wrote, wherever they stand. A tag that is not closed takes the
/// rest of the text.
const TAGS: &str = "system-reminder local-command-stdout local-command-stderr local-command-caveat \
    task-notification ide_opened_file ide_selection ide_diagnostics bash-input bash-stdout \
    bash-stderr user-prompt-submit-hook session-start-hook environment_context user_instructions \
    permissions session_context hook_context state_snapshot qwen:user-prompt-submit-context";

/// An agent wrote the whole of a text that begins like one of these lines.
const BEGINNINGS: &str = "\
<command-
<local-command
<session-start-hook
<user-prompt-submit-hook
<tick>
<turn_aborted>
<hook_prompt
<skill
<subagent_notification
<collaboration_mode>
<user_shell_command>
<INSTRUCTIONS>
# AGENTS.md instructions
Caveat:
This session is being continued from a previous conversation
Base directory for this skill:
Operation stopped by hook:
Unknown slash command:
Full transcript available at:
Read the output file to retrieve the result:";

/// Where an editor describes itself before a prompt, and what stands between the two.
const EDITOR_CONTEXT: (&str, &str) = ("# Context from my IDE setup:", "## My request for Codex:");

/// Remarks in brackets, by their beginnings; they end at the bracket.
const REMARKS: [&str; 2] = ["[Request interrupted", "[Image"];

/// The part of a user's text that a person typed; empty if an agent wrote all of it. Blanks around
/// what was put in are removed.
pub fn typed(text: &str) -> Cow<'_, str> {
    match split(text) {
        Some((_, own)) => Cow::Owned(own),
        None => Cow::Borrowed(text),
    }
}

/// The blocks of a user's message that an agent wrote, and those that a person typed or attached.
pub fn split_typed(blocks: Vec<Block>) -> (Vec<Block>, Vec<Block>) {
    let (mut injected, mut own, mut attached) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        let Block::Text(text) = block else {
            attached.push(block);
            continue;
        };
        let Some((put_in, part)) = split(&text) else {
            own.push(Block::Text(text));
            continue;
        };
        injected.push(Block::Text(put_in));
        if !part.is_empty() {
            own.push(Block::Text(part));
        }
    }
    if own.is_empty() && !injected.is_empty() {
        injected.extend(attached);
    } else {
        own.extend(attached);
    }
    (injected, own)
}

/// A text without the tags and remarks that an agent put in. Blanks around them stay.
pub fn without_injected(text: &str) -> Cow<'_, str> {
    match cut(text) {
        Some((_, kept)) => Cow::Owned(kept),
        None => Cow::Borrowed(text),
    }
}

/// What an agent put into a text, and what a person typed; `None` if all of it was typed.
fn split(text: &str) -> Option<(String, String)> {
    let is_injected = |text: &str| BEGINNINGS.lines().any(|start| text.starts_with(start));
    if is_injected(text.trim_start()) {
        return Some((text.to_owned(), String::new()));
    }
    let (start, end) = EDITOR_CONTEXT;
    if text.trim_start().starts_with(start)
        && let Some((context, own)) = text.split_once(end)
    {
        return Some((format!("{context}{end}"), own.trim().to_owned()));
    }
    let (put_in, kept) = cut(text)?;
    let kept = kept.trim();
    if is_injected(kept) {
        return Some((text.to_owned(), String::new()));
    }
    Some((put_in, kept.to_owned()))
}

/// What stands in tags and remarks of agents, and the rest; `None` if there are none.
fn cut(text: &str) -> Option<(String, String)> {
    let (mut put_in, mut kept) = (String::new(), String::new());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['<', '[']) {
        at += found;
        let Some(length) = injected_length(&text[at..]) else {
            at += 1;
            continue;
        };
        kept.push_str(&text[copied..at]);
        put_in.push_str(&text[at..at + length]);
        at += length;
        copied = at;
    }
    kept.push_str(&text[copied..]);
    (!put_in.is_empty()).then_some((put_in, kept))
}

/// Whether a text is one remark in brackets, and nothing else: something was left out there, or an
/// agent put it in.
pub fn is_remark(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| inner.contains(' ') && !inner.contains(['[', ']', '"', ',']))
}

/// How much of a text that begins with `<` or `[` an agent put in, in bytes.
fn injected_length(text: &str) -> Option<usize> {
    if text.starts_with('[') {
        REMARKS.iter().find(|remark| text.starts_with(**remark))?;
        return text.find(']').map(|end| end + 1);
    }
    let name = &text[1..];
    let tag = TAGS.split_ascii_whitespace().find(|tag| {
        name.strip_prefix(*tag)
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
    fn tags_and_remarks_go_the_rest_stays() {
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
    fn what_a_person_typed_is_told_from_what_an_agent_wrote() {
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
            assert_eq!(typed(text), expected, "{text}");
        }
    }

    #[test]
    fn blocks_are_split_and_attachments_go_with_what_was_typed() {
        let block = |text: &str| Block::Text(text.to_owned());
        let image = || {
            Block::Media(crate::message::Media {
                media_type: String::new(),
                data: None,
            })
        };
        let lengths = |blocks: Vec<Block>| {
            let (injected, own) = split_typed(blocks);
            (injected.len(), own.len())
        };
        let note = "<ide_selection>x</ide_selection>";
        assert_eq!(lengths(vec![block(note), block("go"), image()]), (1, 2));
        assert_eq!(lengths(vec![block(note), image()]), (2, 0));
        assert_eq!(lengths(vec![image()]), (0, 1));
    }

    #[test]
    fn a_remark_stands_for_itself() {
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
        fn nothing_is_invented(text in any::<String>()) {
            prop_assert!(without_injected(&text).len() <= text.len());
            prop_assert!(typed(&text).len() <= text.len());
        }
    }
}
