//! `Edit` against real files.

use proptest::prelude::*;

use super::super::read::Read;
use crate::run::tools::test_context::Session;
use serde_json::Value;

use super::*;

fn edit(session: &Session, name: &str, old: &str, new: &str) -> Value {
    json!({ "file_path": session.name(name), "old_string": old, "new_string": new })
}

fn edit_all(session: &Session, name: &str, old: &str, new: &str) -> Value {
    let mut input = edit(session, name, old, new);
    input["replace_all"] = json!(true);
    input
}

fn read(session: &Session, name: &str) {
    session.ok::<Read>(json!({ "file_path": session.name(name) }));
}

#[test]
fn one_occurrence_is_replaced() {
    let session = Session::new();
    session.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    read(&session, "a");
    let (text, structured) = session.ok::<Edit>(edit(&session, "a", "6\n", "six\nand\n"));
    assert_eq!(session.content("a"), "1\n2\n3\n4\n5\nsix\nand\n7\n8\n9\n");
    let (head, snippet) = text.split_once(":\n").unwrap();
    assert_eq!(
        head,
        format!(
            "The file {} has been updated. Here's the result of running `cat -n` on a snippet of \
             the edited file",
            session.name("a")
        )
    );
    assert!(snippet.starts_with("     2\t2\n"), "{snippet}");
    assert!(
        snippet.contains("     6\tsix\n     7\tand\n     8\t7"),
        "{snippet}"
    );
    assert_eq!(
        structured,
        json!({
            "filePath": session.name("a"),
            "oldString": "6\n",
            "newString": "six\nand\n",
            "originalFile": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "structuredPatch": [{ "oldStart": 3, "oldLines": 7, "newStart": 3, "newLines": 8,
                "lines": [" 3", " 4", " 5", "-6", "+six", "+and", " 7", " 8", " 9"] }],
            "userModified": false,
            "replaceAll": false,
        })
    );
}

#[test]
fn text_that_does_not_match_once_is_refused() {
    let session = Session::new();
    session.write("a", "x x\n");
    read(&session, "a");
    let table = [
        (
            edit(&session, "a", "y", "z"),
            "String to replace not found in file.\nString: y",
        ),
        (
            edit(&session, "a", "x", "z"),
            "Found 2 matches of the string to replace, but replace_all is false.",
        ),
        (
            edit(&session, "a", "x", "x"),
            "old_string and new_string are exactly the same",
        ),
        (
            edit(&session, "a", "x\n", "x\r\n"),
            "differ only in their line ends",
        ),
        (
            edit(&session, "a", "", "z"),
            "Cannot create new file - file already exists.",
        ),
        (edit(&session, "gone", "x", "z"), "File does not exist."),
        (edit(&session, "", "x", "z"), "directory"),
    ];
    for (input, expected) in table {
        let failure = session.failure::<Edit>(input.clone());
        assert!(failure.contains(expected), "{input}: {failure}");
    }
    assert_eq!(session.content("a"), "x x\n");
    let (text, structured) = session.ok::<Edit>(edit_all(&session, "a", "x", "z"));
    assert!(text.contains("All 2 occurrences were replaced."), "{text}");
    assert_eq!(structured["replaceAll"], true);
    assert_eq!(session.content("a"), "z z\n");
}

#[test]
fn an_empty_old_string_creates_a_file() {
    let session = Session::new();
    session.write("empty", "");
    let (text, structured) = session.ok::<Edit>(edit(&session, "d/new", "", "a\n"));
    assert_eq!(
        text,
        format!("File created successfully at: {}", session.name("d/new"))
    );
    assert_eq!(structured["originalFile"], Value::Null);
    assert_eq!(session.content("d/new"), "a\n");
    session.ok::<Edit>(edit(&session, "empty", "", "b\n"));
    assert_eq!(session.content("empty"), "b\n");
}

#[test]
fn a_changed_file_is_edited_if_unambiguous() {
    let session = Session::new();
    session.write("a", "one\ntwo\n");
    read(&session, "a");
    session.write("a", "zero\none\ntwo\ntwo\n");
    session.set_modified("a", 1);
    let failure = session.failure::<Edit>(edit_all(&session, "a", "two", "2"));
    assert!(failure.contains("modified since read"), "{failure}");
    let failure = session.failure::<Edit>(edit(&session, "a", "three", "3"));
    assert!(
        failure.contains("has changed since it was read"),
        "{failure}"
    );
    let (text, _) = session.ok::<Edit>(edit(&session, "a", "one", "1"));
    assert!(
        text.contains("had changed on disk since it was last read"),
        "{text}"
    );
    assert_eq!(session.content("a"), "zero\n1\ntwo\ntwo\n");
    // The session has still not seen the changes of others.
    let input = json!({ "file_path": session.name("a"), "content": "" });
    assert!(
        session
            .failure::<Write>(input)
            .contains("modified since read")
    );
    read(&session, "a");
    let (text, _) = session.ok::<Edit>(edit_all(&session, "a", "two", "2"));
    assert!(!text.contains("had changed"), "{text}");
}

#[test]
fn an_unread_file_is_edited_if_unambiguous() {
    let session = Session::new();
    session.write("a", "one\ntwo two\n");
    let failure = session.failure::<Edit>(edit_all(&session, "a", "two", "2"));
    assert!(failure.contains("not been read yet"), "{failure}");
    session.ok::<Edit>(edit(&session, "a", "one", "1"));
    assert_eq!(session.content("a"), "1\ntwo two\n");
    let input = json!({ "file_path": session.name("a"), "content": "" });
    assert!(
        session
            .failure::<Write>(input)
            .contains("not been read yet")
    );
}

#[test]
fn edits_of_one_session_follow_each_other() {
    let session = Session::new();
    session.write("a", "1\n2\n");
    read(&session, "a");
    for (old, new) in [("1", "one"), ("2", "two"), ("one\ntwo", "x")] {
        let (text, _) = session.ok::<Edit>(edit(&session, "a", old, new));
        assert!(!text.contains("changed on disk"), "{text}");
    }
    assert_eq!(session.content("a"), "x\n");
}

#[test]
fn marks_line_ends_and_invalid_bytes_are_kept() {
    let session = Session::new();
    session.write("a", b"\xef\xbb\xbfone\r\ntwo\r\n\xff\r\n");
    read(&session, "a");
    session.ok::<Edit>(edit(&session, "a", "one\ntwo\n", "1\n2\n3\n"));
    let bytes = std::fs::read(session.path("a")).unwrap();
    assert_eq!(bytes, b"\xef\xbb\xbf1\r\n2\r\n3\r\n\xff\r\n");
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let session = Session::new();
    let file = std::fs::File::create(session.path("a")).unwrap();
    file.set_len(u64::try_from(MAX_FILE_BYTES).unwrap() + 1)
        .unwrap();
    let failure = session.failure::<Edit>(edit(&session, "a", "x", "y"));
    assert!(failure.contains("too large to edit"), "{failure}");
}

#[test]
fn a_large_file_has_no_patch() {
    let session = Session::new();
    session.write("a", format!("x{}\n", " ".repeat(100)).repeat(120_000));
    read(&session, "a");
    let (text, structured) = session.ok::<Edit>(edit_all(&session, "a", "x", "y"));
    assert!(text.contains("All 120000 occurrences"), "{text}");
    assert_eq!(structured["structuredPatch"], json!([]));
    assert_eq!(structured["originalFile"], Value::Null);
}

#[test]
fn the_old_content_of_a_large_file_is_not_in_the_record() {
    let session = Session::new();
    session.write("a", format!("first\n{}", "line\n".repeat(60_000)));
    let (_, structured) = session.ok::<Edit>(edit(&session, "a", "first", "1st"));
    assert_eq!(structured["originalFile"], Value::Null);
    assert_eq!(structured["structuredPatch"][0]["lines"][1], "+1st");
}

/// A file that `Read` refuses counts as unread.
#[test]
fn unreadable_files_get_no_hint_to_read_them() {
    let session = Session::new();
    session.write("pdf", "%PDF-1.7 x x");
    session.write("binary", "x x\0");
    session.write("wide", b"\xff\xfex\0 \0x\0");
    session.write("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR x x");
    for name in ["pdf", "binary", "wide", "image"] {
        let input = json!({ "file_path": session.name(name), "content": "" });
        let mut failures = vec![session.failure::<Edit>(edit_all(&session, name, "x", "y"))];
        if name != "wide" {
            failures.push(session.failure::<Write>(input));
        }
        for failure in failures {
            assert!(!failure.contains("Read it first"), "{name}: {failure}");
            assert!(failure.contains("Bash"), "{name}: {failure}");
        }
    }
    // A single occurrence requires no reading.
    session.ok::<Edit>(edit(&session, "pdf", "%PDF-1.7", "%PDF-1.4"));
}

#[test]
fn straight_quotes_match_curly_ones_as_a_fallback() {
    let session = Session::new();
    let rows = [
        ("say “hi” now", "say \"hi\"", "say \"ho\"", "say “ho” now"),
        ("it’s “a”", "it's", "that's", "that’s “a”"),
        ("‘x’ ‘y’", "'x'", "('z')", "(‘z’) ‘y’"),
        ("“a”\r\n“b”\r\n", "\"a\"\n\"b\"", "\"c\"", "“c”\r\n"),
        ("\"a\" “a”", "\"a\"", "b", "b “a”"),
        ("“a”", "“a”", "\"b\"", "\"b\""),
    ];
    for (content, old, new, expected) in rows {
        session.write("a", content);
        session.ok::<Edit>(edit(&session, "a", old, new));
        assert_eq!(session.content("a"), expected, "{content}");
    }
    session.write("a", "“a” ‘a’ “a”");
    let failure = session.failure::<Edit>(edit(&session, "a", "\"a\"", "b"));
    assert!(failure.contains("Found 2 matches"), "{failure}");
}

#[test]
fn snippets_are_bounded() {
    let session = Session::new();
    session.write("a", "x");
    let long = "line\n".repeat(10_000);
    let (text, _) = session.ok::<Edit>(edit(&session, "a", "x", &long));
    assert_eq!(
        text.lines().count(),
        1 + usize::try_from(MAX_SNIPPET_LINES).unwrap()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn an_edit_is_a_replacement(
        content in "[ab\nä]{0,30}",
        old in "[ab\nä]{1,3}",
        new in "[abc\n]{0,3}",
        all in any::<bool>(),
    ) {
        prop_assume!(old != new);
        let session = Session::new();
        session.write("a", &content);
        read(&session, "a");
        let mut input = edit(&session, "a", &old, &new);
        input["replace_all"] = json!(all);
        let count = content.matches(&old).count();
        let result = session.call::<Edit>(input);
        if count == 0 || (count > 1 && !all) {
            prop_assert!(result.is_err());
            prop_assert_eq!(session.content("a"), content);
        } else {
            prop_assert!(result.is_ok());
            prop_assert_eq!(session.content("a"), content.replacen(&old, &new, count));
        }
    }
}
