//! `LS` against real directories.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::tools::test_context::Session;

#[test]
fn entries_are_sorted_and_marked() {
    let session = Session::new();
    session.write("d/sub/x", "");
    session.write("d/b", "");
    session.write("d/.a", "");
    session.write("d/skip.log", "");
    session.write("d/target/y", "");
    symlink("sub", session.path("d/to-sub")).unwrap();
    symlink("gone", session.path("d/to-nothing")).unwrap();
    let input = json!({ "path": session.name("d"), "ignore": ["*.log", "target/"] });
    let (text, structured) = session.ok::<Ls>(input);
    let expected = format!(
        "- {}/\n  - .a\n  - b\n  - sub/\n  - to-nothing\n  - to-sub/\n",
        session.name("d")
    );
    assert_eq!(text, expected);
    assert_eq!(structured, Value::String(expected));
}

#[test]
fn a_list_is_bounded() {
    let session = Session::new();
    for number in 0..1005 {
        session.write(&format!("f{number:04}"), "");
    }
    let (text, _) = session.ok::<Ls>(json!({ "path": "." }));
    assert!(
        text.contains("  - f0999\n(Only the first 1000 of 1005 entries are shown."),
        "{text}"
    );
}

#[test]
fn empty_and_missing_directories_are_reported() {
    let session = Session::new();
    let (text, _) = session.ok::<Ls>(json!({ "path": session.name("") }));
    assert!(text.ends_with("/\n(no entries)\n"), "{text}");
    session.write("file", "");
    for name in ["gone", "file"] {
        let failure = session.failure::<Ls>(json!({ "path": session.name(name) }));
        assert!(failure.contains("cannot be listed"), "{failure}");
    }
    let failure = session.failure::<Ls>(json!({ "path": "/", "ignore": ["{"] }));
    assert!(
        failure.starts_with("validation: invalid glob pattern"),
        "{failure}"
    );
}

#[test]
fn a_cancelled_listing_is_reported() {
    let session = Session::new();
    session.write("a", "");
    session.cancel.cancel();
    let reply = session.call::<Ls>(json!({ "path": "." })).unwrap();
    assert_eq!(reply.status, CallStatus::Cancelled);
}
