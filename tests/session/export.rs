//! `session export`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::bench::{Run, data, files, run, session, turnpipe};

/// Returns a directory with sessions of three agents, and one for the pages.
fn folders() -> (TempDir, TempDir) {
    let (sessions, pages) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for name in ["claude-parallel.jsonl", "codex.jsonl", "pi.jsonl"] {
        fs::copy(data(name), sessions.path().join(name)).unwrap();
    }
    (sessions, pages)
}

fn export(sessions: &TempDir, pages: &TempDir, more: &[&str]) -> Run {
    let (root, to) = (sessions.path().display(), pages.path().display());
    let arguments = ["export", &to.to_string(), "--root", &root.to_string()];
    session(&[&arguments[..], more].concat())
}

/// Returns the content and modification time of every file in a directory.
fn content(folder: &Path) -> BTreeMap<String, (String, SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        (name, (text, entry.metadata().unwrap().modified().unwrap()))
    });
    entries.collect()
}

fn changed_files(
    before: &BTreeMap<String, (String, SystemTime)>,
    after: &BTreeMap<String, (String, SystemTime)>,
) -> Vec<String> {
    let all = after.iter();
    let changed = all.filter(|(name, content)| before.get(*name) != Some(content));
    changed.map(|(name, _)| name.clone()).collect()
}

const CLAUDE: &str = "5e551011-0000-4000-8000-000000000001.html";
const CODEX: &str = "0199c0de-0000-7000-8000-000000000001.html";
const MANIFEST: &str = "turnpipe-export.json";

#[test]
fn every_session_has_a_page_and_a_row() {
    let (sessions, pages) = folders();
    let output = export(&sessions, &pages, &[]);
    assert_eq!((output.status, output.text.as_str()), (Some(0), ""));
    assert!(
        output.messages.contains("3 sessions, 3 written"),
        "{}",
        output.messages
    );
    let files = content(pages.path());
    assert_eq!(files.len(), 5, "{:?}", files.keys());
    let index = &files["index.html"].0;
    assert!(
        index.contains(&format!("<a href=\"{CLAUDE}\">Compare files</a>")),
        "{index}"
    );
    for part in [
        "<p class=\"first\">Compare the two files</p>",
        "data-directory=\"/home/me/demo\" data-agent=\"claude\"",
        "<option value=\"codex\">codex</option>",
        "feature",
        "model-b",
    ] {
        assert!(index.contains(part), "{part}: {index}");
    }
    // The text of the page is found.
    assert!(index.contains("differ "), "{index}");
    let page = &files[CLAUDE].0;
    for part in [
        "<a href=\"index.html\">all sessions</a>",
        "<article id=\"m1\" class=\"prompt\"><a class=\"anchor\" href=\"#m1\">#1</a>",
        "<details id=\"m2\" class=\"call done\">",
        "<a href=\"#m2\"><rect class=\"done\"",
        "<title>Read a.txt · 2.0 s · 2026-01-01 10:00:01 UTC</title>",
        "class=\"failed\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
    for id in &mut ids {
        (*id, _) = id.split_once('"').unwrap();
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{page}");
}

const PARENT: &str = "7ab6a6e5-0000-4000-8000-000000000001";

#[test]
fn subagents_have_pages_that_their_calls_lead_to() {
    let (sessions, pages) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = sessions.path().join("claude-subagents/subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(
        data("claude-subagents.jsonl"),
        sessions.path().join("claude-subagents.jsonl"),
    )
    .unwrap();
    let names = ["agent-aa52773.jsonl", "agent-b10c881.jsonl"];
    for name in names {
        let from = data(&format!("claude-subagents/subagents/{name}"));
        fs::copy(from, folder.join(name)).unwrap();
    }
    let output = export(&sessions, &pages, &[]);
    let counts = "1 session, 2 subagents, 3 written";
    assert!(output.messages.contains(counts), "{}", output.messages);
    let first = content(pages.path());
    let [parent, outer, inner] =
        ["", "-agent-aa52773", "-agent-b10c881"].map(|end| format!("{PARENT}{end}.html"));
    let link = |to: &str| format!("</code> <a href=\"{to}\">subagent</a><a class=\"anchor\"");
    let count = |page: &str, part: &str| first[page].0.matches(part).count();
    assert_eq!(count(&parent, &link(&outer)), 1, "{}", first[&parent].0);
    assert_eq!(count(&parent, ">subagent</a>"), 1, "{}", first[&parent].0);
    assert_eq!(count(&outer, &link(&inner)), 1, "{}", first[&outer].0);
    assert_eq!(count(&inner, ">subagent</a>"), 0, "{}", first[&inner].0);
    for page in [&outer, &inner] {
        let back = format!("<a href=\"{parent}\">session</a>");
        assert_eq!(count(page, &back), 1, "{}", first[page].0);
        assert_eq!(count(page, "<a href=\"index.html\">"), 1);
    }
    assert_eq!(count(&outer, "<h1>Find the file that parses.</h1>"), 1);
    // The cost of a session includes its subagents.
    assert_eq!(count(&parent, "<dd>50 input, 25 output</dd>"), 1);
    assert_eq!(count(&outer, "<dd>20 input, 10 output</dd>"), 1);
    let row = format!("<p class=\"subagent\"><a href=\"{inner}\">List src.</a></p>");
    assert_eq!(count("index.html", &row), 1, "{}", first["index.html"].0);
    assert_eq!(
        count("index.html", "<tr data"),
        1,
        "{}",
        first["index.html"].0
    );
    assert_eq!(
        count("index.html", "<output>1 session, 5 replies, $0.00</output>"),
        1
    );

    // No change, one changed session, one new session.
    assert_eq!(export(&sessions, &pages, &[]).status, Some(0));
    assert_eq!(content(pages.path()), first);
    let path = folder.join(names[1]);
    let text = fs::read_to_string(&path).unwrap();
    let evil = text.replace("parse.rs", "</a><script>alert(1)</script>");
    fs::write(&path, &evil).unwrap();
    export(&sessions, &pages, &[]);
    let second = content(pages.path());
    assert_eq!(
        changed_files(&first, &second),
        [&inner, &parent, "index.html", MANIFEST]
    );
    assert!(
        !second[&inner].0.contains("<script"),
        "{}",
        second[&inner].0
    );
    fs::write(folder.join("agent-<b>.jsonl"), &evil).unwrap();
    let output = export(&sessions, &pages, &[]);
    let counts = "1 session, 3 subagents, 2 written";
    assert!(output.messages.contains(counts), "{}", output.messages);
    let third = content(pages.path());
    assert!(
        !third["index.html"].0.contains("<b>"),
        "{}",
        third["index.html"].0
    );

    // Without its session, a subagent is listed by itself.
    fs::remove_file(sessions.path().join("claude-subagents.jsonl")).unwrap();
    fs::remove_file(pages.path().join(&parent)).unwrap();
    export(&sessions, &pages, &[]);
    let index = &content(pages.path())["index.html"].0;
    assert_eq!(index.matches("<tr data").count(), 3, "{index}");
}

#[test]
fn subagents_have_pages_in_markdown() {
    let pages = tempfile::tempdir().unwrap();
    let arguments = ["export", &pages.path().display().to_string(), "-o", "md"];
    let file = data("claude-subagents.jsonl");
    assert_eq!(
        session(&[&arguments[..], &[&file]].concat()).status,
        Some(0)
    );
    let files = content(pages.path());
    let page = format!("{PARENT}-agent-aa52773.md");
    let parent = &files[&format!("{PARENT}.md")].0;
    let link = format!("\n\n  [subagent]({page})\n\n```text\nIt is src/parse.rs.");
    assert!(parent.contains(&link), "{parent}");
    let index = &files["index.md"].0;
    let row = format!("\n  - [Find the file that parses.]({page})\n");
    assert!(index.contains(&row), "{index}");
}

#[test]
fn only_changed_pages_are_written_and_pages_of_deleted_sessions_stay() {
    let (sessions, pages) = folders();
    export(&sessions, &pages, &[]);
    let first = content(pages.path());
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("3 sessions, 0 written"),
        "{}",
        output.messages
    );
    assert_eq!(content(pages.path()), first);

    // One more record.
    let path = sessions.path().join("claude-parallel.jsonl");
    let prompt = "{\"type\":\"user\",\"uuid\":\"last\",\"sessionId\":\"5e551011-0000-4000-8000-000000000001\",\
        \"timestamp\":\"2026-01-01T10:00:05.000Z\",\
        \"message\":{\"role\":\"user\",\"content\":\"And now?\"}}\n";
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + prompt).unwrap();
    export(&sessions, &pages, &[]);
    let second = content(pages.path());
    // The index has the new word "now".
    assert_eq!(
        changed_files(&first, &second),
        [CLAUDE, "index.html", MANIFEST]
    );

    // A label next to the session.
    fs::write(
        sessions.path().join("claude-parallel.jsonl.turnpipe"),
        "{\"type\":\"system\",\"subtype\":\"recap\",\"content\":\"All is well\"}\n",
    )
    .unwrap();
    export(&sessions, &pages, &[]);
    let third = content(pages.path());
    assert_eq!(changed_files(&second, &third), [CLAUDE, MANIFEST]);

    // A deleted page is written again; a deleted session keeps its page.
    fs::remove_file(pages.path().join(CLAUDE)).unwrap();
    fs::remove_file(sessions.path().join("codex.jsonl")).unwrap();
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("3 sessions, 1 written"),
        "{}",
        output.messages
    );
    assert_eq!(
        changed_files(&third, &content(pages.path())),
        [CLAUDE, MANIFEST]
    );
    fs::remove_file(pages.path().join(CODEX)).unwrap();
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("2 sessions, 0 written"),
        "{}",
        output.messages
    );
    assert!(!content(pages.path())["index.html"].0.contains(CODEX));
}

#[test]
fn pages_are_registered_before_they_are_written() {
    let (sessions, pages) = folders();
    // No page can be written for one of the sessions.
    let path = sessions.path().join("codex.jsonl");
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let hash: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = CODEX.strip_suffix(".html").unwrap();
    fs::write(pages.path().join(CODEX), "mine").unwrap();
    let hashed = format!("{id}-{}.html", hash[..8].concat());
    fs::create_dir(pages.path().join(&hashed)).unwrap();
    assert_eq!(export(&sessions, &pages, &["--jobs", "1"]).status, Some(74));
    let manifest = fs::read_to_string(pages.path().join(MANIFEST)).unwrap();
    assert!(
        manifest.contains(&hashed) && manifest.contains(CLAUDE),
        "{manifest}"
    );
    fs::remove_dir(pages.path().join(&hashed)).unwrap();
    assert_eq!(export(&sessions, &pages, &[]).status, Some(0));
    assert_eq!(content(pages.path())[CODEX].0, "mine");
}

#[test]
fn a_killed_export_can_be_continued() {
    let (sessions, pages) = folders();
    export(&sessions, &pages, &[]);
    let whole = content(pages.path());
    // The files written before the second page are complete.
    let manifest = pages.path().join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    let mut known: serde_json::Value = serde_json::from_str(&text).unwrap();
    for page in known.as_object_mut().unwrap().values_mut() {
        page["stamp"] = "".into();
    }
    fs::write(&manifest, known.to_string()).unwrap();
    for name in ["index.html", CODEX] {
        fs::remove_file(pages.path().join(name)).unwrap();
    }
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("3 sessions, 3 written"),
        "{}",
        output.messages
    );
    let texts = |files: BTreeMap<String, (String, SystemTime)>| -> Vec<(String, String)> {
        let files = files.into_iter();
        files.map(|(name, (text, _))| (name, text)).collect()
    };
    assert_eq!(texts(content(pages.path())), texts(whole));
}

#[test]
fn exporting_fewer_sessions_keeps_the_others_in_the_index() {
    let (sessions, pages) = folders();
    export(&sessions, &pages, &[]);
    let before = content(pages.path());
    for few in [
        &["--agent", "codex"][..],
        &["--title", "nothing has this title"],
    ] {
        let output = export(&sessions, &pages, few);
        assert!(
            output.messages.contains("3 sessions, 0 written"),
            "{}",
            output.messages
        );
    }
    let path = sessions.path().join("codex.jsonl").display().to_string();
    assert_eq!(export(&sessions, &pages, &[&path]).status, Some(0));
    assert_eq!(content(pages.path()), before);
}

#[test]
fn foreign_files_in_the_directory_stay() {
    let (sessions, pages) = folders();
    let mine = pages.path().join("index.html");
    fs::write(&mine, "mine").unwrap();
    let output = export(&sessions, &pages, &[]);
    assert_eq!(output.status, Some(2));
    assert!(
        output.messages.contains("was not exported by turnpipe"),
        "{}",
        output.messages
    );
    assert_eq!(content(pages.path()).len(), 1);
    fs::remove_file(&mine).unwrap();

    // The name of a page is taken, and another file has an unrelated name.
    for name in [CODEX, "notes.txt"] {
        fs::write(pages.path().join(name), "mine").unwrap();
    }
    assert_eq!(export(&sessions, &pages, &[]).status, Some(0));
    let files = content(pages.path());
    assert_eq!(
        (files[CODEX].0.as_str(), files["notes.txt"].0.as_str()),
        ("mine", "mine")
    );
    assert!(
        files["index.html"]
            .0
            .contains("href=\"0199c0de-0000-7000-8000-000000000001-")
    );

    // An invalid manifest.
    fs::write(pages.path().join(MANIFEST), "[]").unwrap();
    let before = content(pages.path());
    let output = export(&sessions, &pages, &[]);
    assert_eq!(output.status, Some(2), "{}", output.messages);
    assert_eq!(content(pages.path()), before);
}

#[test]
fn an_export_neither_waits_for_a_pipe_nor_follows_a_link() {
    let (sessions, pages) = folders();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| pages.path().join(name);
    let pipe = |path: &Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
    pipe(&at(MANIFEST));
    let output = export(&sessions, &pages, &[]);
    assert_ne!(output.status, Some(0));
    assert!(
        output.messages.contains("is not a regular file"),
        "{}",
        output.messages
    );
    fs::remove_file(at(MANIFEST)).unwrap();
    assert_eq!(export(&sessions, &pages, &[]).status, Some(0));

    // The index and an old page are replaced.
    fs::remove_file(at("index.html")).unwrap();
    pipe(&at("index.html"));
    fs::remove_file(at(CLAUDE)).unwrap();
    pipe(&at(CLAUDE));
    assert_ne!(export(&sessions, &pages, &[]).status, Some(0));
    fs::remove_file(at(CLAUDE)).unwrap();
    let output = export(&sessions, &pages, &[]);
    assert_eq!(output.status, Some(0), "{}", output.messages);
    assert!(content(pages.path()).contains_key("index.html"));

    // Images have a directory.
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let line = json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "cwd": "/demo",
        "timestamp": "2026-11-20T10:00:00Z", "message": {"role": "user", "content": [{"type": "text", "text": "See"}, image]}});
    fs::write(sessions.path().join("image.jsonl"), format!("{line}\n")).unwrap();
    let output = export(&sessions, &pages, &["-o", "atif"]);
    assert_eq!(output.status, Some(0), "{}", output.messages);
    let images = fs::read_dir(pages.path())
        .unwrap()
        .map(|entry| entry.unwrap());
    let images = images.filter(|entry| entry.file_type().unwrap().is_dir());
    let images = images.map(|entry| entry.path()).next().unwrap();
    fs::remove_dir_all(&images).unwrap();
    std::os::unix::fs::symlink(outside.path(), &images).unwrap();
    fs::remove_file(at(MANIFEST)).unwrap();
    let output = export(&sessions, &pages, &["-o", "atif"]);
    assert_ne!(output.status, Some(0), "{}", output.messages);
    assert!(output.messages.contains("link"), "{}", output.messages);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn unusable_ids_have_separate_pages_and_copies_one() {
    let (sessions, pages) = folders();
    let text = fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    let ids = [
        "../../../escape",
        "CON",
        "5E551011-0000-4000-8000-000000000001",
        "a\u{202e}b",
        &"x".repeat(400),
    ];
    for (number, id) in ids.iter().enumerate() {
        let path = sessions.path().join(format!("evil-{number}.jsonl"));
        fs::write(
            path,
            text.replace("5e551011-0000-4000-8000-000000000001", id),
        )
        .unwrap();
    }
    fs::write(sessions.path().join("copy.jsonl"), &text).unwrap();
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("8 sessions, 8 written"),
        "{}",
        output.messages
    );
    let names: Vec<String> = content(pages.path()).into_keys().collect();
    assert_eq!(names.len(), 10, "{names:?}");
    for name in &names {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        assert!(name.bytes().all(is_plain) && name.len() < 128, "{name}");
    }
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("8 sessions, 0 written"),
        "{}",
        output.messages
    );
}

#[test]
fn markdown_also_has_an_index() {
    let (sessions, pages) = folders();
    assert_eq!(export(&sessions, &pages, &["-o", "md"]).status, Some(0));
    let files = content(pages.path());
    let row =
        "- 2026-01-01 10:00 [Compare files](5e551011-0000-4000-8000-000000000001.md) · claude";
    assert!(files["index.md"].0.contains(row), "{}", files["index.md"].0);
    assert!(
        files["5e551011-0000-4000-8000-000000000001.md"]
            .0
            .starts_with("# Compare files\n")
    );
    // Both forms can be in one directory.
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("3 sessions, 3 written"),
        "{}",
        output.messages
    );
    assert!(!content(pages.path())["index.html"].0.contains(".md\""));
}

#[test]
fn a_path_that_is_not_utf_8_stops_nothing() {
    let (sessions, pages) = folders();
    let name = OsStr::from_bytes(b"not-\xff.jsonl");
    let text =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Go"}}"#;
    fs::write(sessions.path().join(name), text).unwrap();
    let output = export(&sessions, &pages, &[]);
    assert!(
        output.messages.contains("4 sessions, 4 written"),
        "{}",
        output.messages
    );
    assert_eq!(output.status, Some(0));
    let again = export(&sessions, &pages, &[]);
    assert!(
        again.messages.contains("4 sessions, 0 written"),
        "{}",
        again.messages
    );
}

#[test]
fn unreadable_sessions_are_reported_and_others_written() {
    let (sessions, pages) = folders();
    let missing = sessions.path().join("missing.jsonl").display().to_string();
    let there = sessions.path().join("pi.jsonl").display().to_string();
    let output = export(&sessions, &pages, &[&missing, &there]);
    assert_eq!(output.status, Some(2));
    assert!(
        output.messages.contains("missing.jsonl"),
        "{}",
        output.messages
    );
    assert!(
        output.messages.contains("1 session, 1 written"),
        "{}",
        output.messages
    );
}

#[test]
fn a_hostile_session_is_only_text() {
    let (sessions, pages) = folders();
    let evil = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\
        <style>@import 'http://evil'</style>&lt;b&gt; [x](javascript:alert(1)) ![y](http://evil/z)\
        \\n\\n|a|\\n|:-:|\\n|[z](data:text/html,x)|\\n\\n<svg onload=alert(1)>\\u202e";
    let text = fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    let mut hostile = text.clone();
    for output in [
        "Compare the two files",
        "Compare files",
        "They differ.",
        "feature",
        "model-b",
        "a.txt",
        "/home/me/demo",
    ] {
        assert!(text.contains(output), "{output}");
        hostile = hostile.replace(output, evil);
    }
    fs::write(sessions.path().join("claude-parallel.jsonl"), hostile).unwrap();
    assert_eq!(export(&sessions, &pages, &[]).status, Some(0));
    let files = content(pages.path());
    for (name, scripts) in [("index.html", 2), (CLAUDE, 0)] {
        let page = &files[name].0;
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        assert_eq!(page.matches("<script").count(), scripts, "{page}");
        assert_eq!(page.matches("<style").count(), 1, "{page}");
        // Without our own script.
        let markup = page.split("\"use strict\"").next().unwrap();
        for tag in markup.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').unwrap();
            // Text between quotation marks is the value of an attribute.
            let outside: String = tag.split('"').step_by(2).collect();
            for name in ["onerror", "onload", "style=", "src="] {
                assert!(!outside.contains(name), "{name}: {tag}");
            }
            for link in tag.split(" href=\"").skip(1) {
                let (link, _) = link.split_once('"').unwrap();
                let is_ours = files.contains_key(link) || link.is_empty() || link.starts_with('#');
                assert!(is_ours, "{tag}");
            }
        }
        assert!(!page.contains('\u{202e}'), "{page}");
        // The policy directly follows the encoding, and names all parts by their hash.
        let (_, policy) = page
            .split_once("Content-Security-Policy\" content=\"")
            .unwrap();
        let (policy, _) = policy.split_once('"').unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(
            !policy.contains("unsafe") && !policy.contains("http"),
            "{policy}"
        );
        for tag in ["style", "script"].iter().take(1 + scripts) {
            let (_, rest) = page.split_once(&format!("<{tag}>")).unwrap();
            let (inline, _) = rest.split_once(&format!("</{tag}>")).unwrap();
            let hash = STANDARD.encode(Sha256::digest(inline));
            assert!(
                policy.contains(&format!("{tag}-src 'sha256-{hash}'")),
                "{policy}"
            );
        }
    }
}

#[test]
fn a_pattern_of_files_skips_the_list_of_pages() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().to_str().unwrap();
    let output = session(&[
        "export",
        to,
        "--root",
        &data(""),
        "-o",
        "atif",
        "--agent",
        "codex",
    ]);
    assert_eq!(output.status, Some(0), "{}", output.messages);
    let mut found = Vec::new();
    files(folder.path(), &[".json"], &mut found);
    let names: Vec<&str> = found.iter().filter_map(|path| path.to_str()).collect();
    assert!(
        names.iter().any(|name| name.ends_with(MANIFEST)),
        "{names:?}"
    );
    let stats = session(&[&["stats", "--json"], &*names].concat());
    assert_eq!(stats.status, Some(0), "{}", stats.messages);
    assert!(!stats.messages.contains(MANIFEST), "{}", stats.messages);
    assert_eq!(stats.records()[0]["sessions"], names.len() - 1);
    // Alone it was named on purpose.
    let list = folder.path().join(MANIFEST);
    assert_eq!(session(&["stats", list.to_str().unwrap()]).status, Some(2));
}

#[test]
fn a_session_in_place_of_the_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = data("");
    let mut command = turnpipe(&["session", "export", "latest", "--root", &root]);
    command.current_dir(folder.path());
    let run = run(command);
    assert_eq!(run.status, Some(2), "{}", run.messages);
    assert!(
        run.messages.contains("session export DIR latest"),
        "{}",
        run.messages
    );
    assert!(!folder.path().join("latest").exists());
}
