//! `Glob` against real trees.

use std::os::unix::fs::symlink;

use super::*;
use crate::run::tools::Access;
use crate::run::tools::test_context::Session;

fn find(session: &Session, input: Value) -> Vec<String> {
    let (_, structured) = session.ok::<Glob>(input);
    let base = format!("{}/", session.name(""));
    let names = structured["filenames"].as_array().unwrap();
    assert_eq!(structured["numFiles"], names.len());
    names
        .iter()
        .map(|name| {
            name.as_str()
                .unwrap()
                .strip_prefix(&base)
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn create_files(files: &[&str]) -> Session {
    let session = Session::new();
    for (age, file) in files.iter().enumerate() {
        session.write(file, "");
        session.set_modified(file, 1000 - u64::try_from(age).unwrap());
    }
    session
}

#[test]
fn patterns_match_whole_paths() {
    let session = create_files(&[
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/d.ts",
        ".hidden/e.rs",
    ]);
    let table: [(&str, &[&str]); 12] = [
        ("*.rs", &["a.rs"]),
        (
            "**/*.rs",
            &["a.rs", "src/b.rs", "src/deep/c.rs", ".hidden/e.rs"],
        ),
        ("src/*.rs", &["src/b.rs"]),
        ("./src/*.rs", &["src/b.rs"]),
        (
            "src/**/*.{rs,ts}",
            &["src/b.rs", "src/deep/c.rs", "src/d.ts"],
        ),
        ("src/**", &["src/b.rs", "src/deep/c.rs", "src/d.ts"]),
        ("*/?.rs", &["src/b.rs", ".hidden/e.rs"]),
        ("src/[bd].*", &["src/b.rs", "src/d.ts"]),
        ("a.rs", &["a.rs"]),
        ("src/deep/c.rs", &["src/deep/c.rs"]),
        ("gone/*.rs", &[]),
        ("src/", &[]),
    ];
    for (pattern, expected) in table {
        assert_eq!(
            find(&session, json!({ "pattern": pattern })),
            expected,
            "{pattern}"
        );
        let absolute = format!("{}/{pattern}", session.name(""));
        assert_eq!(
            find(&session, json!({ "pattern": absolute })),
            expected,
            "{absolute}"
        );
    }
    let inside = json!({ "pattern": "*.rs", "path": session.name("src") });
    assert_eq!(find(&session, inside), ["src/b.rs"]);
    let outside = json!({ "pattern": "../*.rs", "path": "src" });
    assert_eq!(find(&session, outside), ["a.rs"]);
}

#[test]
fn ignored_files_and_repositories_are_omitted() {
    let session = create_files(&[
        "kept",
        "out/x",
        "sub/out/y",
        "sub/log.txt",
        ".git/config",
        ".env",
    ]);
    session.write(".gitignore", "out/\n");
    session.write("sub/.gitignore", "*.txt\n");
    let mut names = find(&session, json!({ "pattern": "**/*" }));
    names.sort();
    assert_eq!(names, [".env", ".gitignore", "kept", "sub/.gitignore"]);
}

#[test]
fn links_to_files_count_and_links_to_directories_are_not_followed() {
    let session = create_files(&["real/file"]);
    symlink("real", session.path("circle")).unwrap();
    symlink("..", session.path("real/up")).unwrap();
    symlink("real/file", session.path("alias")).unwrap();
    symlink("gone", session.path("dangling")).unwrap();
    let mut names = find(&session, json!({ "pattern": "**" }));
    names.sort();
    assert_eq!(names, ["alias", "real/file"]);
    assert_eq!(
        find(&session, json!({ "pattern": "*", "path": "circle" })),
        ["circle/file"]
    );
}

#[test]
fn the_newest_hundred_are_listed() {
    let session = Session::new();
    for number in 0..120 {
        let name = format!("f{number:03}");
        session.write(&name, "");
        session.set_modified(&name, number);
    }
    let (text, structured) = session.ok::<Glob>(json!({ "pattern": "*" }));
    assert_eq!(structured["numFiles"], 100);
    assert_eq!(structured["truncated"], true);
    assert_eq!(structured["durationMs"], 0);
    assert!(text.starts_with(&session.name("f119")));
    assert!(text.ends_with(
        "f020\n(Results are truncated. Consider using a more specific path or pattern.)"
    ));
}

#[test]
fn a_directory_that_cannot_be_read_is_named() {
    let session = create_files(&["file"]);
    session.add_read_file("");
    let (text, structured) = session.ok::<Glob>(json!({ "pattern": "fil*" }));
    assert!(text.contains("\n(1 file or directory could not be searched"));
    assert_eq!(structured["filenames"], json!([session.name("file")]));
}

#[test]
fn an_empty_result_is_reported() {
    let session = Session::new();
    let (text, structured) = session.ok::<Glob>(json!({ "pattern": "*.nothing" }));
    assert_eq!(text, "No files found");
    assert_eq!(
        structured,
        json!({ "filenames": [], "durationMs": 0, "numFiles": 0, "truncated": false })
    );
}

#[test]
fn invalid_input_is_refused() {
    let session = create_files(&["file"]);
    let failure = session.failure::<Glob>(json!({ "pattern": "{a" }));
    assert!(
        failure.starts_with("validation: invalid glob pattern"),
        "{failure}"
    );
    for path in ["file", "gone"] {
        let failure = session.failure::<Glob>(json!({ "pattern": "*", "path": path }));
        assert!(failure.contains(path), "{failure}");
    }
}

#[test]
fn a_cancelled_search_is_reported() {
    let session = create_files(&["a"]);
    session.cancel.cancel();
    let reply = session.call::<Glob>(json!({ "pattern": "*" })).unwrap();
    assert_eq!(reply.status, CallStatus::Cancelled);
    assert_eq!(reply.structured["truncated"], true);
}

#[test]
fn a_call_reads_its_directory() {
    let session = create_files(&["src/a"]);
    let access = |input: Value| session.access::<Glob>(&input);
    assert_eq!(
        access(json!({ "pattern": "*" })),
        Access::reads(session.path(""))
    );
    let inner = json!({ "pattern": "src/*" });
    assert_eq!(access(inner), Access::reads(session.path("src")));
}
