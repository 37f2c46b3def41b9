use super::*;
use crate::dialog::Block;

fn recap_of(talk: &[(Role, &str)]) -> String {
    let messages: Vec<Message> = talk
        .iter()
        .map(|(role, text)| {
            let origin = match role {
                Role::User if text.starts_with("[Request") => Origin::Injected,
                Role::User => Origin::Prompt,
                Role::Assistant | Role::System => Origin::Reply,
            };
            Message {
                blocks: vec![Block::Text((*text).to_owned())],
                ..Message::new(*role, origin)
            }
        })
        .collect();
    recap(&messages)
}

#[test]
fn recaps_tell_goal_state_and_next_step() {
    let ask = (Role::User, "Port the config parser to Rust");
    let rows: &[(&[(Role, &str)], &str)] = &[
        (
            &[
                ask,
                (
                    Role::Assistant,
                    "Done. The parser reads all **old** files now.\n\nWould you like me to delete the old one?",
                ),
            ],
            "Goal: Port config parser to Rust. Last report: The parser reads all old files now. Next: decide whether to delete the old one.",
        ),
        (
            &[ask, (Role::Assistant, "Let me read the old parser:")],
            "Goal: Port config parser to Rust. Was about to read the old parser.",
        ),
        (
            &[
                ask,
                (Role::Assistant, "All parts are ported."),
                (Role::User, "[Request interrupted by user]"),
            ],
            "Goal: Port config parser to Rust. Interrupted by the user.",
        ),
        (&[ask], ""),
        (
            &[
                (Role::User, "hi"),
                (Role::Assistant, "Hello, how can I help you today?"),
            ],
            "",
        ),
        (&[ask, (Role::Assistant, "Done!")], ""),
        (
            &[
                (Role::User, "请修复登录按钮"),
                (Role::Assistant, "登录按钮已经修复。要我提交吗？"),
            ],
            "目标：修复登录按钮。现状：登录按钮已经修复。下一步：要我提交吗。",
        ),
    ];
    for (talk, expected) in rows {
        assert_eq!(recap_of(talk), *expected, "{talk:?}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::terminal_safe_line;

    proptest! {
        #[test]
        fn recaps_are_short_and_safe(asked in "\\PC{0,80}", told in "[\\PC\n`*|#.?]{0,300}") {
            let recap = recap_of(&[(Role::User, &asked), (Role::Assistant, &told)]);
            prop_assert!(recap.split_whitespace().count() <= MOST_WORDS, "{recap}");
            prop_assert_eq!(terminal_safe_line(&recap), recap);
        }
    }
}
