//! `Grep` against real trees.

use serde_json::{Value, json};

use super::*;
use crate::run::tools::test_context::Session;
use crate::run::tools::{Access, CallStatus};

fn session() -> Session {
    let session = Session::new();
    let files = [
        ("src/a.rs", "fn one() {}\nfn two() {}\n// end\n"),
        ("src/b.rs", "use x;\n\n\nfn One() {}\n"),
        ("note.md", "one\r\nmore\r\n"),
        (".hidden", "one\n"),
        ("out/gen.rs", "fn one() {}\n"),
        (".git/config", "one\n"),
        (".gitignore", "out/\n"),
    ];
    for (age, (name, content)) in files.iter().enumerate() {
        session.write(name, content);
        session.set_modified(name, 100 - u64::try_from(age).unwrap());
    }
    session
}

fn content(session: &Session, mut input: Value) -> String {
    input["output_mode"] = json!("content");
    session.ok::<Grep>(input).0
}

#[test]
fn files_are_listed_newest_first() {
    let session = session();
    let (text, structured) = session.ok::<Grep>(json!({ "pattern": "one" }));
    assert_eq!(text, "Found 3 files\nsrc/a.rs\nnote.md\n.hidden");
    assert_eq!(
        structured,
        json!({ "mode": "files_with_matches", "filenames": ["src/a.rs", "note.md", ".hidden"], "numFiles": 3 })
    );
    let (text, structured) =
        session.ok::<Grep>(json!({ "pattern": "one", "head_limit": 1, "offset": 1 }));
    assert_eq!(text, "Found 1 file limit: 1, offset: 1\nnote.md");
    assert_eq!(
        (&structured["appliedLimit"], &structured["appliedOffset"]),
        (&json!(1), &json!(1))
    );
    let (text, structured) = session.ok::<Grep>(json!({ "pattern": "nowhere" }));
    assert_eq!(
        (text.as_str(), &structured["numFiles"]),
        ("No files found", &json!(0))
    );
}

#[test]
fn lines_are_formatted_as_by_ripgrep() {
    let session = session();
    assert_eq!(
        content(&session, json!({ "pattern": "one" })),
        ".hidden:1:one\nnote.md:1:one\nsrc/a.rs:1:fn one() {}"
    );
    let one_file = json!({ "pattern": "two", "path": "src/a.rs", "-C": 1 });
    assert_eq!(
        content(&session, one_file),
        "1-fn one() {}\n2:fn two() {}\n3-// end"
    );
    let bare = json!({ "pattern": "two", "-n": false, "-B": 1, "path": session.name("src") });
    assert_eq!(
        content(&session, bare),
        "src/a.rs-fn one() {}\nsrc/a.rs:fn two() {}"
    );
    let cases = json!({ "pattern": "fn ONE", "-i": true, "-A": 1 });
    assert_eq!(
        content(&session, cases),
        "src/a.rs:1:fn one() {}\nsrc/a.rs-2-fn two() {}\n--\nsrc/b.rs:4:fn One() {}"
    );
    let gap = json!({ "pattern": "^(use|fn)", "context": 0, "path": "src/b.rs" });
    assert_eq!(content(&session, gap), "1:use x;\n4:fn One() {}");
    let gap = json!({ "pattern": "use|One", "-C": 1, "path": "src/b.rs" });
    assert_eq!(content(&session, gap), "1:use x;\n2-\n3-\n4:fn One() {}");
    let gap = json!({ "pattern": "use|One", "-A": 1, "path": "src/b.rs" });
    assert_eq!(content(&session, gap), "1:use x;\n2-\n--\n4:fn One() {}");
    let parts = json!({ "pattern": "[a-z]+w[a-z]|[oO]ne", "-o": true, "path": "src", "-C": 3 });
    assert_eq!(
        content(&session, parts),
        "src/a.rs:1:one\nsrc/a.rs:2:two\nsrc/b.rs:4:One"
    );
    let crlf = json!({ "pattern": "^mor.$", "path": "note.md" });
    assert_eq!(content(&session, crlf), "2:more");
    assert_eq!(
        content(&session, json!({ "pattern": "nowhere" })),
        "No matches found"
    );
}

#[test]
fn content_has_its_structured_form() {
    let session = session();
    let input =
        json!({ "pattern": "fn", "output_mode": "content", "head_limit": 2, "path": "src" });
    let (text, structured) = session.ok::<Grep>(input);
    let lines = "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}";
    assert_eq!(
        text,
        format!("{lines}\n\n[Showing results with pagination = limit: 2]")
    );
    assert_eq!(
        structured,
        json!({ "mode": "content", "numFiles": 0, "filenames": [], "content": lines,
            "numLines": 2, "appliedLimit": 2 })
    );
    let rest = json!({ "pattern": "fn", "head_limit": 0, "offset": 2, "path": "src" });
    assert_eq!(
        content(&session, rest),
        "src/b.rs:4:fn One() {}\n\n[Showing results with pagination = offset: 2]"
    );
    let exact = json!({ "pattern": "fn", "head_limit": 3, "path": "src" });
    assert!(!content(&session, exact).contains("pagination"));
}

#[test]
fn the_default_limit_is_250_entries() {
    let session = Session::new();
    session.write("a", "x\n".repeat(300));
    let text = content(&session, json!({ "pattern": "x" }));
    assert!(text.ends_with("a:250:x\n\n[Showing results with pagination = limit: 250]"));
    let text = content(&session, json!({ "pattern": "x", "head_limit": 0 }));
    assert!(text.ends_with("a:300:x"));
}

#[test]
fn matches_are_counted() {
    let session = session();
    let input = json!({ "pattern": "fn|[eE]", "output_mode": "count", "path": "src" });
    let (text, structured) = session.ok::<Grep>(input.clone());
    assert_eq!(
        text,
        "src/a.rs:3\nsrc/b.rs:2\n\nFound 5 total occurrences across 2 files."
    );
    assert_eq!(
        structured,
        json!({ "mode": "count", "numFiles": 2, "filenames": [],
            "content": "src/a.rs:3\nsrc/b.rs:2", "numMatches": 5 })
    );
    let mut single = input.clone();
    single["-o"] = json!(true);
    single["path"] = json!("src/a.rs");
    let (text, _) = session.ok::<Grep>(single);
    assert_eq!(
        text,
        "src/a.rs:4\n\nFound 4 total occurrences across 1 file."
    );
    let mut limited = input;
    limited["head_limit"] = json!(1);
    let (text, _) = session.ok::<Grep>(limited);
    assert_eq!(
        text,
        "src/a.rs:3\n\nFound 5 total occurrences across 2 files. with pagination = limit: 1"
    );
}

#[test]
fn globs_and_types_select_files() {
    let session = session();
    let table = [
        (
            json!({ "pattern": "one", "glob": "*.rs" }),
            "src/a.rs:1:fn one() {}",
        ),
        (
            json!({ "pattern": "one", "glob": "src/*" }),
            "src/a.rs:1:fn one() {}",
        ),
        (
            json!({ "pattern": "one", "glob": "*.{md,txt}" }),
            "note.md:1:one",
        ),
        (
            json!({ "pattern": "one", "glob": "*.txt, *.md" }),
            "note.md:1:one",
        ),
        (
            json!({ "pattern": "one", "glob": "!*.rs !.hidden" }),
            "note.md:1:one",
        ),
        (
            json!({ "pattern": "one", "type": "rust" }),
            "src/a.rs:1:fn one() {}",
        ),
        (json!({ "pattern": "one", "type": "md" }), "note.md:1:one"),
    ];
    for (input, expected) in table {
        assert_eq!(content(&session, input.clone()), expected, "{input}");
    }
}

#[test]
fn matches_may_span_lines() {
    let session = session();
    let input = json!({ "pattern": "one.*two", "multiline": true, "path": "src" });
    assert_eq!(
        content(&session, input),
        "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}"
    );
    let input =
        json!({ "pattern": "one.*?fn t", "multiline": true, "-o": true, "path": "src/a.rs" });
    assert_eq!(content(&session, input), "1:one() {}\n2:fn t");
    let input = json!({ "pattern": "\\{\\}\\n", "multiline": true, "output_mode": "count", "path": "src/a.rs" });
    let (text, _) = session.ok::<Grep>(input);
    assert!(text.starts_with("src/a.rs:2\n"), "{text}");
}

#[test]
fn binary_files_are_treated_as_by_ripgrep() {
    let session = Session::new();
    session.write("early", b"\0\none\n");
    let mut late = b"one\n".to_vec();
    late.extend(b"filler\n".repeat(20_000));
    late.extend(b"\0\none\n");
    session.write("late", &late);
    let text = content(&session, json!({ "pattern": "one" }));
    assert_eq!(
        text,
        format!(
            "late:1:one\nlate: stopped searching binary file after match (found \"\\0\" byte \
             around offset {})",
            late.len() - 6
        )
    );
    let text = content(&session, json!({ "pattern": "one", "path": "early" }));
    assert_eq!(
        text,
        "binary file matches (found \"\\0\" byte around offset 0)"
    );
    let count = json!({ "pattern": "one", "output_mode": "count" });
    assert!(session.ok::<Grep>(count).0.starts_with("No matches found"));
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let session = Session::new();
    session.write(
        "min.js",
        format!("{}NEEDLE{}\n", "ä".repeat(5000), "b".repeat(5000)),
    );
    let text = content(&session, json!({ "pattern": "NEEDLE" }));
    assert!(text.starts_with("min.js:1:...ä"), "{text}");
    assert!(text.contains("NEEDLEb"), "{text}");
    assert!(
        text.ends_with("... [line cut to 500 of 10006 characters]"),
        "{text}"
    );
    assert!(text.chars().count() < 600);
}

#[test]
fn invalid_input_is_refused() {
    let session = session();
    let table = [
        (
            json!({ "pattern": "a(b" }),
            "validation: invalid regular expression: unclosed group",
        ),
        (
            json!({ "pattern": "a\\nb" }),
            "set multiline to match across lines",
        ),
        (
            json!({ "pattern": "a", "glob": "{x" }),
            "validation: invalid glob",
        ),
        (
            json!({ "pattern": "a", "type": "klingon" }),
            "validation: unknown file type: klingon",
        ),
        (json!({ "pattern": "a", "output_mode": "all" }), "schema:"),
        (json!({ "pattern": "a", "-A": -1 }), "schema:"),
        (
            json!({ "pattern": "a", "path": "gone" }),
            "Path does not exist",
        ),
    ];
    for (input, expected) in table {
        let failure = session.failure::<Grep>(input.clone());
        assert!(failure.contains(expected), "{input}: {failure}");
        assert!(!failure.contains('\n'), "{failure}");
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, session.path("pipe"), 0o600.into()).unwrap();
    let failure = session.failure::<Grep>(json!({ "pattern": "a", "path": "pipe" }));
    assert!(failure.contains("named pipe"), "{failure}");
    assert!(session.call::<Grep>(json!({ "pattern": "a" })).is_ok());
}

#[test]
fn a_line_that_is_too_long_is_reported() {
    let session = Session::new();
    session.write("huge", vec![b'y'; (64 << 20) + (1 << 17)]);
    session.write("ok", "x\n");
    let text = content(&session, json!({ "pattern": "x" }));
    let (found, note) = text.split_once("\n\n").unwrap();
    assert_eq!(found, "ok:1:x");
    assert!(
        note.starts_with("(1 file or directory could not be searched, the first: huge: "),
        "{note}"
    );
    let failure = session.failure::<Grep>(json!({ "pattern": "x", "path": "huge" }));
    assert!(failure.starts_with("huge: "), "{failure}");
}

#[test]
fn an_unreadable_directory_is_reported() {
    let session = session();
    session.add_read_file("src");
    let text = content(&session, json!({ "pattern": "two" }));
    let (found, note) = text.split_once("\n\n").unwrap();
    assert_eq!(found, "src/a.rs:2:fn two() {}");
    let start = "(1 file or directory could not be searched, the first: ";
    assert!(note.starts_with(start), "{}", &note[note.len() - 80..]);
}

#[test]
fn a_cancelled_search_is_reported() {
    let session = session();
    session.cancel.cancel();
    for mode in ["content", "files_with_matches", "count"] {
        for path in ["src", "src/a.rs"] {
            let input = json!({ "pattern": "one", "output_mode": mode, "path": path });
            let reply = session.call::<Grep>(input).unwrap();
            assert_eq!(reply.status, CallStatus::Cancelled, "{mode} {path}");
        }
    }
}

#[test]
fn a_call_reads_its_root() {
    let session = session();
    let input = json!({ "pattern": "one", "path": "src" });
    let access = session.access::<Grep>(&input);
    assert_eq!(access, Access::reads(session.path("src")));
}
