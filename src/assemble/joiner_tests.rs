use proptest::prelude::*;

use super::*;

#[test]
fn halves_of_a_character_are_joined() {
    let mut text = SplitText::default();
    let mut push = |fragment: &[u8]| {
        text.push(fragment);
        text.take_new()
    };
    assert_eq!(push(b"a\xED\xA0\xBD"), "a");
    assert_eq!(push(b"\xED\xB8\x80b"), "😀b");
    assert_eq!(push(b"\xED\xA0\xBD"), "");
    assert_eq!(push(b"c"), "\u{fffd}c");
    assert_eq!(text.into_text(), "a😀b\u{fffd}c");
}

#[test]
fn only_thoughts_at_the_beginning_are_taken() {
    let rows = [
        ("Fix login", "Fix login", ""),
        ("<think>hm\n</think>\n\nFix login", "Fix login", "hm\n"),
        ("\n<think></think>Fix login", "Fix login", ""),
        ("<think>hm", "", "hm"),
        ("hm\n</think>\nFix login", "Fix login", "hm\n"),
        ("</think>\n\nFix login", "Fix login", ""),
        ("The `</think>` tag", "The `</think>` tag", ""),
        ("Use <think>x</think> here", "Use <think>x</think> here", ""),
    ];
    for (text, said, thought) in rows {
        let expected = (said.to_owned(), thought.to_owned());
        assert_eq!(without_think_tags(text.to_owned()), expected, "{text}");
    }
}

#[test]
fn wholes_and_parts() {
    let rows = [
        ("", false),
        ("{", false),
        ("{}", true),
        (r#" {"a":"}"}"#, true),
        (r#"{"a":"\"}"#, false),
        (r#"{"a":[{}]"#, false),
        (r#"{"a":[{}]}"#, true),
    ];
    for (text, whole) in rows {
        let mut balance = Balance::default();
        balance.read(text.as_bytes());
        assert_eq!(balance.is_whole(), whole, "{text}");
    }
}

proptest! {
    #[test]
    fn only_the_last_byte_makes_an_object_whole(text in "\\PC{0,20}") {
        let object = serde_json::json!({ "k": text, "n": [1, {"x": text}] }).to_string();
        let mut balance = Balance::default();
        for byte in object.as_bytes() {
            prop_assert!(!balance.is_whole());
            balance.read(&[*byte]);
        }
        prop_assert!(balance.is_whole());
    }
}
