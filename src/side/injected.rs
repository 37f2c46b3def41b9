//! What agents put into the texts of a conversation, and what is no part of it.

/// Tags whose whole content an agent put in. A tag that is not closed takes the rest of the text.
const TAGS: [&str; 16] = [
    "system-reminder",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-prompt-submit-hook",
    "session-start-hook",
    "environment_context",
    "user_instructions",
    "permissions instructions",
];

/// Remarks in brackets, by their beginnings; they end at the bracket.
const REMARKS: [&str; 2] = ["[Request interrupted", "[Image"];

/// A text without what was put in. Blanks around it stay.
pub(super) fn without_injected(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '[']) {
        let (before, here) = rest.split_at(at);
        kept.push_str(before);
        if let Some(end) = end_of_injected(here) {
            rest = &here[end..];
        } else {
            kept.push_str(&here[..1]);
            rest = &here[1..];
        }
    }
    kept.push_str(rest);
    kept
}

/// Whether a text is one block of this tag, and nothing else.
pub(super) fn is_block(text: &str, tag: &str) -> bool {
    let inner = text
        .strip_prefix('<')
        .and_then(|text| text.strip_prefix(tag)?.strip_prefix('>'));
    inner.is_some_and(|inner| inner.trim_end().ends_with(&format!("</{tag}>")))
}

/// Whether a text is one remark in brackets, and nothing else: something stood there that was left
/// out, or an agent put it in.
pub(super) fn is_remark(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| inner.contains(' ') && !inner.contains(['[', ']', '"', ',']))
}

fn end_of_injected(text: &str) -> Option<usize> {
    if text.starts_with('[') {
        REMARKS.iter().find(|remark| text.starts_with(**remark))?;
        return text.find(']').map(|end| end + 1);
    }
    let name = &text[1..];
    let tag = TAGS.iter().find(|tag| {
        name.strip_prefix(**tag)
            .is_some_and(|rest| rest.starts_with(['>', ' ']))
    })?;
    let close = format!("</{tag}>");
    Some(text.find(&close).map_or(text.len(), |at| at + close.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_and_remarks_go_the_rest_stays() {
        let table = [
            ("a <system-reminder>x</system-reminder> b", "a  b"),
            ("a <system-reminder>x", "a "),
            ("<ide_selection>x</ide_selection>fix it", "fix it"),
            ("[Request interrupted by user for tool use]", ""),
            ("look [Image #1] here", "look  here"),
            ("Vec<u8> and a[0] stay", "Vec<u8> and a[0] stay"),
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
    fn a_block_is_nothing_else() {
        assert!(is_block("<a>\nx\n</a> \n", "a"));
        assert!(!is_block("<a>x</a> y", "a"));
        assert!(!is_block("y <a>x</a>", "a"));
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
            let kept = without_injected(&text);
            prop_assert!(kept.len() <= text.len());
        }
    }
}
