//! How sessions are named.

use crate::bench::{data, session};

fn path(name: &str) -> Result<String, (Option<i32>, String)> {
    let root = data("");
    let said = session(&["path", name, "--root", &root]);
    match said.status {
        Some(0) => Ok(said.text.trim_end().rsplit('/').next().unwrap().to_owned()),
        status => Err((status, said.messages)),
    }
}

#[test]
fn ids_beginnings_titles_and_latest() {
    let table = [
        (
            "5e551011-0000-4000-8000-000000000001",
            "claude-parallel.jsonl",
        ),
        ("5e55", "claude-parallel.jsonl"),
        ("11111111", "qwen-rewound.jsonl"),
        ("Compare files", "claude-parallel.jsonl"),
        ("A document", "session-document.json"),
        ("latest", "gemini-resumed.jsonl"),
    ];
    for (name, file) in table {
        assert_eq!(path(name).as_deref(), Ok(file), "{name}");
    }
    let (status, message) = path("nothing").unwrap_err();
    assert_eq!(status, Some(2));
    assert!(message.contains("there is no such session"), "{message}");
    let (_, message) = path("840bad0f").unwrap_err();
    assert!(message.contains("several sessions"), "{message}");
}
