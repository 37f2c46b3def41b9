use super::*;

#[test]
fn refusals_are_whole_words() {
    for text in [
        "I cannot do that",
        "SORRY, no",
        "抱歉，没有",
        "I’m unable to help",
    ] {
        assert!(is_refusal(text), "{text}");
    }
    for text in [
        "I cannotate",
        "ſorry, x",
        "Fix: I cannot log in",
        "Sorry state of tests",
    ] {
        assert!(!is_refusal(text), "{text}");
    }
}

/// What models write around a label or a title.
#[test]
fn a_text_is_found_in_any_wrapping() {
    for reply in [
        "Fixed bug",
        "  Fixed bug\n\n",
        "\"Fixed bug\"",
        "\"\"Fixed bug\"\"",
        "''Fixed bug''",
        "“\"Fixed bug\"”",
        "`\"Fixed bug\"`",
        "\"**Fixed bug**\"",
        "****Fixed bug****",
        "# Fixed bug",
        "> Fixed bug",
        "1. Fixed bug",
        "- **Fixed bug**",
        "<label>Fixed bug</label>",
        "<LABEL>Fixed bug</LABEL>",
        "<label>Fixed bug",
        "<title>\nFixed bug\n</title>",
        "<tool_label>Fixed bug</tool_label>",
        "Here you go: <label>Fixed bug</label>",
        "<thinking>The calls fixed it.</thinking>\n<label>Fixed bug</label>",
        "<thinking>The calls fixed it.</thinking>\nFixed bug",
        "```\nFixed bug\n```",
        "```text\nFixed bug\n```",
        "Label: Fixed bug",
        "**Label:** \"Fixed bug\"",
        "Session title: Fixed bug",
        "Suggested label: Fixed bug",
        "Final answer: Fixed bug",
        "Git commit summary: Fixed bug",
        "Here's the label: Fixed bug",
        "Here is a concise label for the batch of tool calls: Fixed bug",
        "Sure! Here's a short label for these calls:\n\nFixed bug",
        "Sure!\nFixed bug",
        "Okay, here is the label:\n**Fixed bug**",
        "Certainly! The label is: Fixed bug",
        "Based on the tool calls, here's a label: Fixed bug",
        "Looking at what the calls did:\n\nFixed bug",
        "The label is \"Fixed bug\".",
        "A good title would be **\"Fixed bug\"**",
        "I would label this \"Fixed bug\"",
        "My suggestion for a label: `Fixed bug`",
        "{\"label\": \"Fixed bug\"}",
        "[\"Fixed bug\"]",
        "(Fixed bug)",
        "«Fixed bug»",
        "„Fixed bug“",
        "✅ Fixed bug",
        "→ Fixed bug",
        "Label — Fixed bug",
        "Commit message: Fixed bug",
        "Sure! Fixed bug",
        "Understood. Fixed bug",
        "这是标签：Fixed bug",
        "The calls succeeded. Label: Fixed bug",
        "Based on the output, the best label would be \"Fixed bug\"",
        "Fixed bug</label>",
        "<|im_start|>Fixed bug<|im_end|>",
        "{\"title\": \"Fixed \\ud83dbug\"}",
    ] {
        let answer = answer(reply);
        assert_eq!(
            strip_decoration(answer.lines().next().unwrap_or_default()),
            "Fixed bug",
            "{reply}"
        );
    }
}

#[test]
fn a_text_keeps_what_belongs_to_it() {
    for text in [
        "Read \"a\" and \"b\"",
        "\"a\" and \"b\" renamed",
        "“a” and “b”",
        "Output module rewritten",
        "Title case in headings",
        "The label printer: fixed offset",
        "Add label: urgent",
        "Fix output: no trailing newline",
        "OK button: new color",
        "Escaped <title> in pages",
        "<Button> color fixed",
        "Vec<u8> parsed",
        "Fixed: no such file",
        "2 tests fixed",
        "#12 closed",
        "3.5 supported",
        "I/O error fixed",
        "[WIP] Fixed (a) and (b)",
        "Fixed a, then b: no warnings",
        "Great Expectations parsed",
        "-x flag added",
    ] {
        assert_eq!(strip_decoration(&answer(text)), text);
        assert!(!is_talk(text), "{text}");
    }
}
