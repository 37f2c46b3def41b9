//! Agents whose sessions are not a single file of lines: databases, or facts in other files.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::bench::session;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/more_agents");
    path.join(name).display().to_string()
}

/// Returns the only session that is listed.
fn only(root: &str) -> Value {
    let listed = session(&["list", "--root", root, "--counts"]);
    assert_eq!(listed.status, Some(0), "{}", listed.messages);
    let [record] = listed.records().try_into().unwrap();
    record
}

fn stats(root: &str) -> Value {
    let stats = session(&["stats", "--root", root, "--json"]);
    assert_eq!(stats.status, Some(0), "{}", stats.messages);
    stats.records().swap_remove(0)
}

#[test]
fn copilot_counts_each_request_once() {
    let root = data("copilot");
    let listed = only(&root);
    assert_eq!(listed["title"], "Broken: tests");
    assert_eq!(listed["title_source"], "manual");
    assert_eq!(listed["git_branch"], "fix");
    assert_eq!(listed["model"], "gpt-5-mini");
    let id = "11111111-2222-4333-8444-000000000001";
    assert_eq!(listed["resume"], format!("copilot --resume={id}"));
    assert_eq!(listed["counts"]["prompts"], 1);
    assert_eq!(listed["counts"]["failed"], 1);
    let total = stats(&root);
    let usage = &total["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(230), &json!(35))
    );
    assert_eq!(usage["cache_read_input_tokens"], 120);
    let shown = session(&["show", "--root", &root, &id[..8], "-o", "text"]);
    assert!(shown.text.contains("One test fails."), "{}", shown.text);
}

/// The system prompt was not written by the user.
#[test]
fn the_system_prompt_of_copilot_is_never_shown() {
    let root = data("copilot");
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().display().to_string();
    let runs: [&[&str]; 3] = [
        &[
            "show", "--root", &root, "latest", "--calls", "full", "-o", "text",
        ],
        &["show", "--root", &root, "latest", "-o", "jsonl"],
        &[
            "tail", "--root", &root, "latest", "-n", "100", "-o", "jsonl",
        ],
    ];
    for run in runs {
        let shown = session(run);
        assert!(
            !shown.text.contains("PROPRIETARY"),
            "{run:?}: {}",
            shown.text
        );
        assert!(
            shown.text.contains("One test fails."),
            "{run:?}: {}",
            shown.messages
        );
    }
    let found = session(&["search", "--root", &root, "PROPRIETARY"]);
    assert_eq!(found.status, Some(1), "{}", found.text);
    assert_eq!(session(&["export", "--root", &root, &to]).status, Some(0));
    for page in std::fs::read_dir(pages.path()).unwrap() {
        let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
        assert!(!text.contains("PROPRIETARY"));
    }
}

#[test]
fn droid_keeps_its_tokens_next_to_the_session() {
    let root = data("droid");
    let listed = only(&root);
    assert_eq!(listed["title"], "List files");
    assert_eq!(listed["first_prompt"], "List the files");
    assert_eq!(listed["model"], "claude-sonnet-4-5");
    assert_eq!(listed["counts"]["failed"], 1);
    assert_eq!(listed["counts"]["usage"]["input_tokens"], 300);
    assert_eq!(stats(&root)["usage"]["cache_read_input_tokens"], 70);
}

#[test]
fn cursor_has_the_time_of_its_file_and_no_tokens() {
    let root = data("cursor");
    let listed = only(&root);
    assert_eq!(listed["session_id"], "22222222-2222-4333-8444-000000000001");
    assert_eq!(listed["first_prompt"], "Show the status");
    assert_eq!(listed["is_time_of_file"], true);
    assert!(listed["last_activity"].is_string());
    assert_eq!(listed["counts"]["errors"], 1);
    let found = session(&["search", "--root", &root, "repository is clean"]);
    assert_eq!(found.records().len(), 1, "{}", found.text);
    let shown = session(&["show", "--root", &root, "22222222", "-o", "text"]);
    assert!(!shown.text.contains("REDACTED"), "{}", shown.text);
}

/// A session of Kimi Code, by the end of its id.
fn kimi(end: u32) -> String {
    format!("session_33333333-2222-4333-8444-{end:012}")
}

#[test]
fn kimi_counts_requests_of_forks_and_subagents_once() {
    let root = data("kimi");
    let listed = session(&["list", "--root", &root, "--all", "--counts", "--json"]).records();
    let of = |id: String| {
        let mut found = listed.iter().filter(|one| one["session_id"] == id);
        let one = found.next().unwrap();
        assert_eq!(found.next(), None);
        one
    };
    let (parent, fork) = (of(kimi(1)), of(kimi(2)));
    assert_eq!(parent["title"], "Failing test");
    assert_eq!(parent["title_source"], "manual");
    assert_eq!(parent["model"], "kimi-k2");
    assert_eq!(parent["cwd"], "/w");
    assert_eq!(parent["subagents"], 1);
    assert_eq!(parent["resume"], format!("kimi -r {}", kimi(1)));
    assert_eq!(parent["counts"]["failed"], 1);
    assert_eq!(parent["counts"]["compactions"], 1);
    // Requests 1 to 4, the compaction with 50, and those of the subagent with 40 and 60.
    assert_eq!(parent["counts"]["usage"]["output_tokens"], 160);
    assert_eq!(fork["title_source"], "auto");
    assert_eq!(fork["fork_parent"], kimi(1));
    assert_eq!(fork["counts"]["usage"]["output_tokens"], 7);
    let usage = &stats(&root)["usage"];
    assert_eq!(usage["output_tokens"], 167);
    assert_eq!(usage["input_tokens"], 167 * 90);
    assert_eq!(usage["cache_read_input_tokens"], 1670);
}

#[test]
fn what_was_undone_in_kimi_is_on_another_branch() {
    let root = data("kimi");
    let shown = |arguments: &[&str]| {
        let name = kimi(1);
        let start = ["show", "--root", &root, &name, "-o", "text"];
        session(&[&start, arguments].concat()).text
    };
    let (live, all) = (shown(&[]), shown(&["--all-branches"]));
    assert!(!live.contains("undone") && !live.contains("Take it back"));
    assert!(all.contains("This is undone."), "{all}");
    let told = live.find("Once upon").unwrap();
    assert!(told < live.find("interrupted").unwrap(), "{live}");
    let calls = session(&["calls", "--root", &root, &kimi(1)]).records();
    let exits: Vec<_> = calls.iter().map(|call| &call["exit_status"]).collect();
    assert!(exits.contains(&&json!(3)), "{calls:?}");
}

/// All files of Kimi Code have the same name.
#[test]
fn a_subagent_of_kimi_is_named_by_its_directory() {
    let root = data("kimi");
    let shown = session(&["show", "--root", &root, "agent-0", "-o", "text"]);
    assert!(shown.text.contains("Read README.md"), "{}", shown.messages);
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().to_str().unwrap();
    assert_eq!(
        session(&["export", "--root", &root, to, "-o", "md"]).status,
        Some(0)
    );
    assert!(
        pages
            .path()
            .join(format!("{}-agent-0.md", kimi(1)))
            .exists()
    );
}

#[test]
fn sound_files_of_kimi_have_no_findings() {
    let checked = session(&["check", "--root", &data("kimi"), "--all"]).records();
    let (total, files) = checked.split_last().unwrap();
    assert_eq!(total["ok"], 2, "{checked:?}");
    for file in files {
        assert_eq!(file["type"], "session_check", "{file}");
        assert_eq!(file["findings"], json!({}), "{file}");
    }
}

const SCHEMA: &str =
    "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, slug TEXT, directory TEXT,
    title TEXT, version TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
    PRAGMA journal_mode = WAL;";

/// A database of opencode that stays open, as if opencode were running.
pub(crate) struct Opencode {
    folder: tempfile::TempDir,
    database: Connection,
    ids: u64,
}

impl Opencode {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Connection::open(folder.path().join("opencode.db")).unwrap();
        database.execute_batch(SCHEMA).unwrap();
        Self {
            folder,
            database,
            ids: 0,
        }
    }

    pub(crate) fn root(&self) -> String {
        self.folder.path().display().to_string()
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.path().join(format!("opencode.db#{id}"))
    }

    pub(crate) fn session(&self, id: &str, parent: Option<&str>, title: &str) {
        let model = json!({"id": "demo", "providerID": "local"}).to_string();
        let add = "INSERT INTO session VALUES (?1, ?2, 's', '/w', ?3, '1.18', ?4, 1767261600000, 1767261600000)";
        self.database
            .execute(add, (id, parent, title, model))
            .unwrap();
    }

    fn message(&mut self, session: &str, time: i64, data: &Value, parts: &[Value]) -> String {
        self.ids += 1;
        let id = format!("msg_{}", self.ids);
        let add = "INSERT INTO message VALUES (?1, ?2, ?3, ?4)";
        self.database
            .execute(add, (&id, session, time, data.to_string()))
            .unwrap();
        for (number, part) in parts.iter().enumerate() {
            let add = "INSERT INTO part VALUES (?1, ?2, ?3, ?4)";
            let part_id = format!("prt_{}_{number}", self.ids);
            self.database
                .execute(add, (part_id, &id, session, part.to_string()))
                .unwrap();
        }
        id
    }

    pub(crate) fn prompt(&mut self, session: &str, time: i64, text: &str) {
        let data = json!({"role": "user", "time": {"created": time}, "summary": {"diffs": []}});
        self.message(
            session,
            time,
            &data,
            &[json!({"type": "text", "text": text})],
        );
    }

    pub(crate) fn reply(&mut self, session: &str, time: i64, text: &str) {
        let tool = json!({"type": "tool", "tool": "bash", "callID": format!("call_{time}"), "state": {
            "status": "completed", "input": {"command": "make"}, "output": "no", "metadata": {"exit": 2}}});
        let parts = [json!({"type": "text", "text": text}), tool];
        self.message(session, time, &reply(time, Some(time + 5)), &parts);
    }
}

fn reply(time: i64, completed: Option<i64>) -> Value {
    let mut data = json!({"role": "assistant", "modelID": "demo", "cost": 0.5, "path": {"cwd": "/w"},
        "tokens": {"input": 100, "output": 7, "reasoning": 3, "cache": {"read": 20, "write": 0}},
        "time": {"created": time}});
    if let Some(completed) = completed {
        data["time"]["completed"] = completed.into();
    }
    data
}

const START: i64 = 1_767_261_600_000;

#[test]
fn opencode_counts_copies_of_a_fork_once() {
    let mut agent = Opencode::new();
    agent.session("ses_a", None, "Fix it");
    agent.session("ses_sub", Some("ses_a"), "Look (@general subagent)");
    agent.session("ses_fork", None, "Fix it (fork #1)");
    for session in ["ses_a", "ses_fork"] {
        agent.prompt(session, START, "Fix the parser");
        agent.reply(session, START + 10, "Done.");
    }
    agent.reply("ses_sub", START + 12, "Looked.");
    agent.reply("ses_fork", START + 20, "More.");
    let root = agent.root();
    let listed = session(&["list", "--root", &root]);
    let records = listed.records();
    assert_eq!(records.len(), 2, "{}", listed.messages);
    assert_eq!(records[0]["title"], "Fix it (fork #1)");
    assert_eq!(records[1]["first_prompt"], "Fix the parser");
    assert_eq!(records[1]["subagents"], 1);
    assert_eq!(
        records[1]["path"],
        agent.path("ses_a").display().to_string()
    );
    assert_eq!(records[1]["resume"], "opencode --session ses_a");
    let total = stats(&root);
    assert_eq!(total["usage"]["input_tokens"], 300);
    assert_eq!(total["usage"]["output_tokens"], 30);
    assert_eq!(total["usage"]["cost_usd"], 1.5);
    assert_eq!(
        (&total["prompts"], &total["replies"]),
        (&json!(1), &json!(3))
    );
    let one = session(&["stats", "--root", &root, "ses_a", "--json"]).records();
    assert_eq!(one[0]["usage"]["input_tokens"], 200, "with its subagent");
    let shown = session(&["show", "--root", &root, "ses_a", "-o", "text"]);
    assert!(shown.text.contains("> Fix the parser"), "{}", shown.text);
    let found = session(&["search", "--root", &root, "More"]);
    assert_eq!(found.status, Some(0), "{}", found.messages);
    let checked = session(&["check", &agent.path("ses_a").display().to_string()]);
    assert_eq!(checked.status, Some(0), "{}", checked.text);
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().display().to_string();
    assert_eq!(session(&["export", "--root", &root, &to]).status, Some(0));
}

#[test]
fn a_notice_of_an_opencode_plugin_is_not_a_prompt() {
    let mut agent = Opencode::new();
    agent.session("ses_a", None, "Fix it");
    agent.prompt("ses_a", START, "Fix the parser");
    agent.reply("ses_a", START + 10, "Fixed it.");
    let notice = json!({"type": "text", "text": "▣ DCP | -2.4K removed", "ignored": true});
    let data = json!({"role": "user", "time": {"created": START + 20}});
    agent.message("ses_a", START + 20, &data, &[notice]);
    let listed = session(&["list", "--root", &agent.root(), "--counts", "--json"]);
    assert_eq!(listed.records()[0]["counts"]["prompts"], 1);
}

/// A message of opencode is in its database before it is complete.
#[test]
fn opencode_is_followed_message_by_message() {
    let mut agent = Opencode::new();
    agent.session("ses_a", None, "Fix it");
    agent.prompt("ses_a", START, "Fix the parser");
    let part = [json!({"type": "text", "text": "Working on it."})];
    let id = agent.message("ses_a", START + 10, &reply(START + 10, None), &part);
    let path = agent.path("ses_a").display().to_string();
    let follow = ["tail", "-f", "--until-idle", "2s", "-o", "jsonl", &path];
    let following = std::thread::spawn({
        let follow = follow.map(str::to_owned);
        move || session(&follow.each_ref().map(String::as_str))
    });
    let shown = session(&["show", "-o", "jsonl", &path]);
    assert!(
        shown.text.contains("Working on it."),
        "an unfinished one is shown"
    );
    let data = reply(START + 10, Some(START + 20)).to_string();
    let complete = "UPDATE message SET data = ?1 WHERE id = ?2";
    agent.database.execute(complete, (data, id)).unwrap();
    agent.prompt("ses_a", START + 30, "Thanks");
    let followed = following.join().unwrap();
    let said: Vec<String> = followed
        .records()
        .iter()
        .filter_map(|record| {
            record["message"]["content"][0]["text"]
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(
        said,
        ["Fix the parser", "Working on it.", "Thanks"],
        "{}",
        followed.text
    );
}

/// Creates the recorded database of goose, which stays open, as if goose were running.
pub(crate) fn goose_database(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database.pragma_update(None, "journal_mode", "WAL").unwrap();
    let rows = include_str!("../data/more_agents/goose/sessions.sql");
    database.execute_batch(rows).unwrap();
    database
}

#[test]
fn goose_counts_each_request_of_its_ledger_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let database = goose_database(&path);
    let root = folder.path().display().to_string();
    let listed = session(&["list", "--root", &root, "--counts", "--json"]).records();
    let ids: Vec<&Value> = listed.iter().map(|record| &record["session_id"]).collect();
    assert_eq!(ids, ["20260101_3", "20260101_1"], "a fork, and its parent");
    let first = &listed[1];
    assert_eq!(first["title_source"], "manual");
    assert_eq!(first["model"], "gpt-5-mini");
    assert_eq!(first["subagents"], 1);
    assert_eq!(
        first["resume"],
        "goose session --resume --session-id 20260101_1"
    );
    let counts = &first["counts"];
    for (name, count) in [
        ("prompts", 3),
        ("calls", 4),
        ("failed", 1),
        ("compactions", 1),
    ] {
        assert_eq!(counts[name], count, "{name}: {counts}");
    }
    let total = stats(&root);
    assert_eq!(total["usage"]["input_tokens"], 9315);
    assert_eq!(total["usage"]["output_tokens"], 315);
    assert_eq!(total["usage"]["cache_read_input_tokens"], 3081);
    assert_eq!(total["sessions"], 2);
    assert_eq!(total["by_tool"][2]["failed"], 2, "{total}");
    let checked = session(&["check", "--root", &root, "--all", "-o", "text"]);
    assert_eq!(checked.text, "2 sessions: 2 ok, 0 damaged, 0 unreadable\n");

    // Versions without a ledger, and those without a column for the parent.
    for older in [
        "DROP TABLE usage_ledger",
        "ALTER TABLE sessions DROP COLUMN parent_session_id",
        "ALTER TABLE messages DROP COLUMN message_id",
    ] {
        database.execute_batch(older).unwrap();
        let total = stats(&root);
        assert_eq!(total["usage"]["input_tokens"], 9315, "{older}");
        assert_eq!(total["usage"]["output_tokens"], 315, "{older}");
    }
}

/// goose writes all messages again when it compacts them.
#[test]
fn a_compacted_session_of_goose_is_followed_without_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let database = goose_database(&path);
    let path = format!("{}#20260101_2", path.display());
    let follow = ["tail", "-f", "--until-idle", "2s", "-o", "jsonl", &path].map(str::to_owned);
    let following =
        std::thread::spawn(move || session(&follow.each_ref().map(String::as_str)).records());
    let shown = session(&["show", "-o", "jsonl", &path]).records().len();
    let compaction = r#"BEGIN;
        UPDATE messages SET id = id + 1000, metadata_json = json_set(metadata_json, '$.agentVisible', json('false'))
        WHERE session_id = '20260101_2';
        INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
        VALUES ('new', '20260101_2', 'assistant', '[{"type":"text","text":"Compacted."}]', 1767261700);
        COMMIT"#;
    database.execute_batch(compaction).unwrap();
    let followed = following.join().unwrap();
    let texts: Vec<String> = followed.iter().map(ToString::to_string).collect();
    let new = texts.iter().filter(|text| text.contains("Compacted."));
    assert_eq!(new.count(), 1, "{texts:?}");
    let messages = texts.iter().filter(|text| text.contains("\"message\""));
    assert!(messages.count() <= shown + 1, "{texts:?}");
}

#[test]
fn sessions_of_goose_before_its_database_are_lines() {
    let rows = [
        json!({"working_dir": "/w", "description": "Look", "message_count": 2, "total_tokens": 150,
            "accumulated_total_tokens": 350, "accumulated_input_tokens": 300, "accumulated_output_tokens": 50}),
        json!({"role": "user", "created": 1_742_933_175, "content": [{"type": "text", "text": "look"}]}),
        json!({"role": "assistant", "created": 1_742_933_176, "content": [{"type": "toolRequest", "id": "c", "toolCall": {
            "status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}}]}),
        json!({"role": "user", "created": 1_742_933_177, "content": [{"type": "toolResponse", "id": "c", "toolResult": {
            "status": "error", "error": "no such directory"}}]}),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("20250325_200615.jsonl");
    std::fs::write(&path, rows.map(|row| format!("{row}\n")).concat()).unwrap();
    let root = folder.path().display().to_string();
    let listed = session(&["list", "--root", &root, "--counts", "--json"]).records();
    assert_eq!(listed[0]["session_id"], "20250325_200615");
    assert_eq!(listed[0]["title"], "Look");
    let counts = &listed[0]["counts"];
    assert_eq!(counts["usage"]["input_tokens"], 300, "{counts}");
    assert_eq!(
        (&counts["calls"], &counts["failed"]),
        (&json!(1), &json!(1))
    );
}

/// A backup has no index of the log, and its directory may be on a medium that cannot be written to.
#[test]
fn a_log_is_read_without_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let _running = goose_database(&path);
    let backup = folder.path().join("backup");
    std::fs::create_dir(&backup).unwrap();
    for name in ["sessions.db", "sessions.db-wal"] {
        std::fs::copy(folder.path().join(name), backup.join(name)).unwrap();
    }
    // A directory in its place cannot be opened, whoever runs the test.
    std::fs::create_dir(backup.join("sessions.db-shm")).unwrap();
    let listed = session(&["list", "--root", &backup.display().to_string(), "--json"]);
    assert_eq!(listed.records().len(), 2, "{}", listed.messages);
}

#[test]
fn unsupported_agents_are_named_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(".crush");
    std::fs::create_dir_all(&dir).unwrap();
    let database = Connection::open(dir.join("crush.db")).unwrap();
    database
        .execute_batch("CREATE TABLE sessions (id TEXT)")
        .unwrap();
    let root = folder.path().display().to_string();
    let listed = session(&["list", "--root", &root, "-o", "text"]);
    assert!(
        listed.messages.contains("`crush` shows them"),
        "{}",
        listed.messages
    );
    let shown = session(&["show", &dir.join("crush.db").display().to_string()]);
    assert_eq!(shown.status, Some(2));
    assert!(
        shown.messages.contains("`crush` shows them"),
        "{}",
        shown.messages
    );
    // Its records look like those of Codex.
    let buddy = folder.path().join("buddy.jsonl");
    let rows = [
        r#"{"type":"session_start","sessionId":"x","cwd":"/w"}"#,
        r#"{"type":"function_call","sessionId":"x","name":"read_file","call_id":"c","arguments":"{}"}"#,
    ];
    std::fs::write(&buddy, rows.join("\n")).unwrap();
    let checked = session(&["check", &buddy.display().to_string()]);
    assert_eq!(checked.status, Some(2), "{}", checked.text);
    assert!(
        checked.messages.contains("CodeBuddy"),
        "{}",
        checked.messages
    );
}

#[test]
fn a_fork_of_an_agent_is_not_resumed_by_that_agent() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(".iflow/projects/p");
    std::fs::create_dir_all(&dir).unwrap();
    let row = json!({"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "5e55-1",
        "timestamp": "2026-01-01T10:00:00Z", "message": {"role": "user", "content": "go"}});
    std::fs::write(dir.join("s.jsonl"), row.to_string()).unwrap();
    let listed = only(&folder.path().display().to_string());
    assert_eq!(
        (&listed["agent"], &listed["written_by"]),
        (&json!("claude"), &json!("iFlow"))
    );
    assert_eq!(listed["resume"], Value::Null);
}
