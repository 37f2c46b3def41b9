use super::*;
use crate::message::{Block, Origin, Role};
use title_table::ROWS;

#[path = "title_tests/title_table.rs"]
mod title_table;

fn title_of(prompts: &[&str]) -> String {
    let messages = prompts.iter().map(|prompt| Message {
        blocks: vec![Block::Text((*prompt).to_owned())],
        ..Message::new(Role::User, Origin::Prompt)
    });
    write_title(&messages.collect::<Vec<_>>())
}

#[test]
fn titles_quote_the_request() {
    let found = ROWS
        .iter()
        .map(|(prompts, expected)| (title_of(prompts), *expected));
    let wrong: Vec<_> = found
        .filter(|(title, expected)| title != expected)
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn the_task_of_an_agent_in_a_team_is_its_request() {
    let title_of = |sender: &str| {
        let text = format!(
            "<teammate-message teammate_id=\"{sender}\" summary=\"x\">\nYou are the tester. Write tests for the importer.\n</teammate-message>"
        );
        let message = Message {
            blocks: vec![Block::Text(text)],
            ..Message::new(Role::User, Origin::Injected)
        };
        write_title(&[message])
    };
    assert_eq!(title_of("team-lead"), "Write tests for the importer");
    assert_eq!(title_of("tester"), "");
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{MASK, terminal_safe_line};

    proptest! {
        /// A title is a run of the words of the prompt, apart from the case of its first letter. A cut is marked.
        #[test]
        fn titles_are_narrow_safe_and_verbatim(
            prompt in r"(hi, |you are a (bot|judge)\. |why |/plan |- |1\. |请|# )?[a-zA-Zа-яё修复登录ですか请 ,.:!?()/'\n-]{0,150}"
        ) {
            let letters = |text: &str| {
                let letters = text.chars().filter(|letter| letter.is_alphanumeric());
                letters.flat_map(char::to_lowercase).collect::<String>()
            };
            let title = title_of(&[&prompt]);
            prop_assert!(crate::text::display_width(&title) <= TITLE_CELLS, "{title}");
            prop_assert_eq!(terminal_safe_line(&title), &*title);
            // `PW:x` is a secret.
            let is_verbatim = letters(&prompt).contains(&letters(&title)) || title.contains(MASK);
            prop_assert!(is_verbatim, "{title} of {prompt}");
        }

        #[test]
        fn any_prompts_have_safe_titles(prompts in prop::collection::vec("[\\PC\n`./:,-]{0,80}", 0..4)) {
            let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
            let title = title_of(&prompts);
            prop_assert!(crate::text::display_width(&title) <= TITLE_CELLS, "{title}");
            prop_assert_eq!(terminal_safe_line(&title), title);
        }
    }
}
