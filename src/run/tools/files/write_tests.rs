//! `Write` against real files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use super::super::read::Read;
use super::*;
use crate::run::tools::Access;
use crate::run::tools::test_context::Session;

fn write(session: &Session, name: &str, content: &str) -> Value {
    json!({ "file_path": session.name(name), "content": content })
}

fn read(session: &Session, name: &str) {
    session.ok::<Read>(json!({ "file_path": session.name(name) }));
}

#[test]
fn a_new_file_is_created_with_its_directories() {
    let session = Session::new();
    let (text, structured) = session.ok::<Write>(write(&session, "a/b/c", "x\n"));
    assert_eq!(
        text,
        format!("File created successfully at: {}", session.name("a/b/c"))
    );
    assert_eq!(
        structured,
        json!({
            "type": "create",
            "filePath": session.name("a/b/c"),
            "content": "x\n",
            "structuredPatch": [],
            "originalFile": null,
            "userModified": false,
        })
    );
    assert_eq!(session.content("a/b/c"), "x\n");
}

#[test]
fn an_existing_file_must_have_been_read() {
    let session = Session::new();
    session.write("a", "old\n");
    let failure = session.failure::<Write>(write(&session, "a", "new\n"));
    assert_eq!(
        failure,
        "File has not been read yet. Read it first before writing to it."
    );
    assert_eq!(session.content("a"), "old\n");
    read(&session, "a");
    let (text, structured) = session.ok::<Write>(write(&session, "a", "new\n"));
    assert_eq!(
        text,
        format!(
            "The file {} has been updated successfully.",
            session.name("a")
        )
    );
    assert_eq!(structured["type"], "update");
    assert_eq!(structured["originalFile"], "old\n");
    assert_eq!(
        structured["structuredPatch"],
        json!([{ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
            "lines": ["-old", "+new"] }])
    );
    assert_eq!(session.content("a"), "new\n");
}

#[test]
fn only_own_writes_count_as_read() {
    let session = Session::new();
    session.ok::<Write>(write(&session, "a", "1"));
    session.ok::<Write>(write(&session, "a", "2"));
    session.write("a", "foreign");
    session.set_modified("a", 1);
    let failure = session.failure::<Write>(write(&session, "a", "3"));
    assert!(failure.contains("modified since read"), "{failure}");
    assert_eq!(session.content("a"), "foreign");
    read(&session, "a");
    session.ok::<Write>(write(&session, "a", "3"));
    assert_eq!(session.content("a"), "3");
}

#[test]
fn a_link_is_written_through() {
    let session = Session::new();
    session.write("real", "old");
    symlink("real", session.path("alias")).unwrap();
    symlink("future", session.path("dangling")).unwrap();
    read(&session, "real");
    session.ok::<Write>(write(&session, "alias", "new"));
    assert_eq!(session.content("real"), "new");
    assert!(session.path("alias").is_symlink());
    session.ok::<Write>(write(&session, "dangling", "made"));
    assert_eq!(session.content("future"), "made");
    assert!(session.path("dangling").is_symlink());
}

#[test]
fn the_mode_is_kept() {
    let session = Session::new();
    session.write("script", "old");
    fs::set_permissions(session.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    read(&session, "script");
    session.ok::<Write>(write(&session, "script", "new"));
    let mode = fs::metadata(session.path("script"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn targets_that_are_not_files_are_refused() {
    let session = Session::new();
    session.write("file", "");
    rustix::fs::mkfifoat(rustix::fs::CWD, session.path("pipe"), 0o600.into()).unwrap();
    for (name, expected) in [
        ("", "directory"),
        ("pipe", "named pipe"),
        ("file/below", "written"),
    ] {
        let failure = session.failure::<Write>(write(&session, name, "x"));
        assert!(failure.contains(expected), "{name}: {failure}");
    }
}

#[test]
fn a_call_writes_the_target_of_its_path() {
    let session = Session::new();
    fs::create_dir(session.path("real")).unwrap();
    symlink("real", session.path("alias")).unwrap();
    let access = |name: &str| {
        let input = write(&session, name, "");
        session.access::<Write>(&input)
    };
    assert_eq!(
        access("alias/new"),
        Access::writes(session.path("real/new"))
    );
    assert!(access("alias/new").conflicts_with(&access("real/new")));
    assert!(!access("real/other").conflicts_with(&access("real/new")));
}
