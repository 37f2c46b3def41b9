use super::*;
use crate::dialog::{Block, Origin, Role};

fn title_of(prompts: &[&str]) -> String {
    let messages: Vec<Message> = prompts
        .iter()
        .map(|prompt| Message {
            blocks: vec![Block::Text((*prompt).to_owned())],
            ..Message::new(Role::User, Origin::Prompt)
        })
        .collect();
    title(&messages)
}

#[test]
fn titles_name_what_was_asked_for() {
    let rows: &[(&[&str], &str)] = &[
        (
            &["can you please add a dark mode to the settings page?"],
            "Add dark mode to the settings page",
        ),
        (
            &["hi", "ok", "Port the parser to Rust"],
            "Port parser to Rust",
        ),
        (
            &["why is the build failing on Windows?"],
            "Investigate why build failing on Windows",
        ),
        (&["how does the scheduler work?"], "Explain scheduler"),
        (
            &[
                "Implement the following plan:\n\n# AB-12: Cache Session Titles On Disk (#9)\n\n## Why",
            ],
            "Cache session titles on disk",
        ),
        (
            &["when running npm test I get timeouts, can you check?"],
            "Fix timeouts in npm test",
        ),
        (&["Here's the error screenshot"], "Fix error screenshot"),
        (
            &["this is PR https://github.com/o/r/pull/7\n\nLet's review this together"],
            "Review PR 7",
        ),
        (&["/clear", "/review 12"], "Review PR 12"),
        (&["请帮我修复登录按钮，谢谢"], "修复登录按钮"),
        (&["yes", "1. the second one", "go ahead"], ""),
        (&["Start", "Step 1", "Step 2", "next phase"], ""),
        (
            &["Start", "Step 1", "Port the parser to Rust"],
            "Port parser to Rust",
        ),
        (&["[left out of this copy]"], ""),
        (
            &["I am having problems if I start a session inside of a folder while it is enabled"],
            "Fix problems if I start session",
        ),
        (
            &["for the change in src/cli/hooks.go I think if we fail to open it we should stop"],
            "Fix change in src/cli/hooks.go",
        ),
        (
            &[
                "Can you read docs/design/suffixes.md, I'd like to modify this approach: no suffixes",
            ],
            "Read docs/design/suffixes.md",
        ),
        (
            &["I'm having problems with the login page on Safari"],
            "Fix problems with login page on Safari",
        ),
        (&[], ""),
        (&["<system-reminder>add x to y</system-reminder>"], ""),
        (
            &["Add a key sk-ant-REDACTED to the tests"],
            "Add key [redacted] to the tests",
        ),
    ];
    for (prompts, expected) in rows {
        assert_eq!(title_of(prompts), *expected, "{prompts:?}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{display_width, terminal_safe_line};

    proptest! {
        #[test]
        fn titles_are_narrow_and_safe(prompts in prop::collection::vec("(can you |let's |why is |when running |)[\\PC\\n`./:,-]{0,80}", 0..4)) {
            let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
            let title = title_of(&prompts);
            prop_assert!(display_width(&title) <= WIDEST, "{title}");
            prop_assert_eq!(terminal_safe_line(&title), title);
        }
    }
}
