//! `title` with the built-in rules.

use crate::files::{TALK, claude, codex, gemini, pi, qwen, records, write};
use crate::turnpipe::{command, run};

#[test]
fn each_session_gets_one_record_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(
        folder.path(),
        "11111111-1111-4111-8111-111111111111.jsonl",
        &claude(&TALK),
    );
    let two = write(folder.path(), "two.jsonl", &qwen(&["hi", "Hello!"]));
    let three = write(folder.path(), "three.jsonl", "not a session\n");
    let paths: Vec<&str> = [&one, &two, &three]
        .iter()
        .map(|path| path.to_str().unwrap())
        .collect();
    let output = run(
        &[&["title", "--model", "builtin"], &paths[..]].concat(),
        b"",
    );
    let found = records(&output.stdout);
    assert_eq!(found.len(), 3, "{}", output.stderr);
    assert_eq!(found[0]["title"], "Port the config parser to Rust");
    assert_eq!(
        (
            &found[0]["ok"],
            &found[0]["model"],
            &found[0]["title_source"]
        ),
        (&true.into(), &"builtin".into(), &"auto".into())
    );
    assert_eq!(
        (&found[1]["ok"], &found[1]["reason"]),
        (&false.into(), &"empty_result".into())
    );
    assert_eq!(found[2]["reason"], "unreadable");
    for (record, path) in found.iter().zip(&paths) {
        assert_eq!(record["path"], *path);
    }
}

#[test]
fn one_conversation_is_copied_and_named_at_its_end() {
    let input = "{\"role\":\"user\",\"content\":\"Port the config parser to Rust\"}\n{\"role\":\"assistant\",\"content\":\"Done.\"}\n";
    let output = run(&["title", "--model", "builtin"], input.as_bytes());
    assert!(output.stdout.starts_with(input), "{}", output.stdout);
    assert_eq!(
        records(&output.stdout)[2]["title"],
        "Port the config parser to Rust"
    );
    let text = run(
        &[
            "title", "--model", "builtin", "-o", "text", "--style", "kebab",
        ],
        input.as_bytes(),
    );
    assert_eq!(text.stdout, "port-the-config-parser-to-rust\n");
}

#[test]
fn titles_by_rules_are_only_written_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let before = std::fs::read(path).unwrap();
    let refused = run(&["title", "--write", path], b"");
    assert_eq!(records(&refused.stdout)[0]["reason"], "no_fast_model");
    assert!(
        refused.stderr.contains("--model builtin"),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read(path).unwrap(), before);
    let written = run(&["title", "--write", "--model", "builtin", path], b"");
    assert_eq!(records(&written.stdout)[0]["written"], true);
    assert_ne!(std::fs::read(path).unwrap(), before);
}

/// For each agent: written titles are shown, never replace the user's title, and replace it
/// only on request, for the agent's own readers too.
#[test]
fn titles_are_written_but_never_over_manual_ones() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let sessions = folder.path().join("sessions/2026/01/02");
    std::fs::create_dir_all(&sessions).unwrap();
    for (name, text, can_be_named) in [
        ("c.jsonl", claude(&TALK), true),
        ("q.jsonl", qwen(&TALK), true),
        ("p.jsonl", pi(&TALK), true),
        ("rollout-x.jsonl", codex(&TALK), true),
        ("session-g.json", gemini(&TALK), false),
    ] {
        let path = write(&sessions, name, &text);
        let path = path.to_str().unwrap();
        let title = |options: &[&str]| {
            let output = run(
                &[&["title", "--model", "builtin", path], options].concat(),
                b"",
            );
            records(&output.stdout)[0].clone()
        };
        let shown = || {
            let output = run(&["session", "list", "--root", root, "-o", "jsonl"], b"");
            let found = records(&output.stdout);
            let found = found.iter().find(|record| record["path"] == path);
            let record = found.unwrap();
            (record["title"].clone(), record["title_source"].clone())
        };
        let automatic = ("Port the config parser to Rust".into(), "auto".into());
        assert_eq!(title(&["--write"])["written"], true, "{name}");
        assert_eq!(shown(), automatic, "{name}");
        if !can_be_named {
            continue;
        }
        let renamed = run(&["session", "rename", path, "Mine"], b"");
        assert_eq!(renamed.status, Some(0), "{}", renamed.stderr);
        assert_eq!(shown(), ("Mine".into(), "manual".into()), "{name}");
        let before = std::fs::read_to_string(path).unwrap();
        assert_eq!(title(&["--write"])["reason"], "manual_title", "{name}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), before, "{name}");
        let replaced = title(&["--write", "--replace"]);
        assert_eq!(replaced["written"], true, "{name}");
        assert_eq!(replaced["turnpipe"]["supersedes_manual"], true, "{name}");
        assert!(std::fs::read_to_string(path).unwrap().starts_with(&before));
        assert_eq!(shown(), automatic, "{name}");
    }
    // Claude Code shows the last `customTitle`.
    let claude = std::fs::read_to_string(sessions.join("c.jsonl")).unwrap();
    let custom = claude.rsplit_once("\"customTitle\":\"").unwrap().1;
    assert!(custom.starts_with("Port the config parser"), "{custom}");
    // pi continues after the last row.
    let pi = records(&std::fs::read_to_string(sessions.join("p.jsonl")).unwrap());
    for rows in pi.windows(2).skip(1) {
        assert_eq!(rows[1]["parentId"], rows[0]["id"]);
    }
    // Codex itself shows the last name in its index.
    let index = folder.path().join("session_index.jsonl");
    let names = records(&std::fs::read_to_string(index).unwrap());
    assert_eq!(names[2]["thread_name"], "Port the config parser to Rust");
}

/// Codex shows the names in its database, which may be in a separate directory. A title that Codex would
/// not show fails, as an unreadable session does; the other sessions get theirs.
#[test]
fn a_title_that_codex_does_not_show_fails() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("home/sessions/2026/01/02");
    let databases = folder.path().join("databases");
    for dir in [&sessions, &databases] {
        std::fs::create_dir_all(dir).unwrap();
    }
    let database = rusqlite::Connection::open(databases.join("state_5.sqlite")).unwrap();
    let (known, unknown) = ("44444444-4444-4444-8444-444444444444", "55555555");
    let threads = "CREATE TABLE threads (id TEXT, history_mode TEXT, name TEXT, title TEXT, first_user_message TEXT)";
    database.execute_batch(threads).unwrap();
    let row = "INSERT INTO threads VALUES (?1, 'paginated', NULL, 'x', 'x')";
    database.execute(row, [known]).unwrap();
    let text = codex(&TALK);
    let paths = [
        write(&sessions, "rollout-u.jsonl", &text.replace(known, unknown)),
        write(&sessions, "rollout-k.jsonl", &text),
    ];
    let with_database = |arguments: &[&str]| {
        let mut command = command();
        command.env("CODEX_SQLITE_HOME", &databases);
        command.args(arguments).output().unwrap()
    };
    let title = ["title", "--write", "--model", "builtin", "-o"];
    for form in ["text", "jsonl"] {
        let output = with_database(
            &[
                &title[..],
                &[form, paths[0].to_str().unwrap(), paths[1].to_str().unwrap()],
            ]
            .concat(),
        );
        let problem = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{problem}");
        let expected = "rollout-u.jsonl: not written: Codex does not list this session";
        assert!(problem.contains(expected), "{problem}");
        assert!(!problem.contains("rollout-k"), "{problem}");
    }
    let output = with_database(&[&title[..], &["jsonl", paths[1].to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0));
    let output = records(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(output[0]["written"], true);
    let name = "SELECT name FROM threads";
    let name: String = database.query_row(name, [], |row| row.get(0)).unwrap();
    assert_eq!(name, "Port the config parser to Rust");
    database
        .execute("UPDATE threads SET name = 'Renamed'", [])
        .unwrap();
    let root = folder.path().to_str().unwrap();
    let list = with_database(&["session", "list", "--root", root, "-o", "jsonl"]);
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.contains(r#""title":"Renamed""#), "{list}");
    // A record of a stream fails likewise.
    let mut append = command();
    append.env("CODEX_SQLITE_HOME", &databases);
    append
        .args(["session", "append", "-o", "jsonl"])
        .arg(&paths[0]);
    let record = folder.path().join("record.jsonl");
    std::fs::write(&record, r#"{"type":"title","ok":true,"title":"New"}"#).unwrap();
    let output = append
        .stdin(std::fs::File::open(record).unwrap())
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{problem}");
    assert!(problem.contains("title not written"), "{problem}");
}

#[test]
fn a_list_of_sessions_is_processed_and_can_be_piped_on() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..12 {
        write(
            folder.path(),
            &format!("s{number}.jsonl"),
            &qwen(&TALK).replace("22222222-2222", &format!("22222222-{number:04}")),
        );
    }
    let root = folder.path().to_str().unwrap();
    let list = || {
        run(
            &[
                "session",
                "list",
                "--root",
                root,
                "-o",
                "jsonl",
                "--untitled",
            ],
            b"",
        )
        .stdout
    };
    let input = list();
    assert_eq!(input.lines().count(), 12);
    let half: String = input
        .lines()
        .take(6)
        .fold(String::new(), |all, line| all + line + "\n");
    let output = run(
        &["title", "--model", "builtin", "--write", "--jobs", "8"],
        half.as_bytes(),
    );
    assert_eq!(output.stdout.lines().count(), 6, "{}", output.stderr);
    let rest = list();
    assert_eq!(rest.lines().count(), 6);
    let output = run(
        &["title", "--model", "builtin", "--write", "--jobs", "8"],
        rest.as_bytes(),
    );
    let asked: Vec<_> = records(&rest)
        .iter()
        .map(|record| record["path"].clone())
        .collect();
    let answered: Vec<_> = records(&output.stdout)
        .iter()
        .map(|record| record["path"].clone())
        .collect();
    assert_eq!(asked, answered);
    assert_eq!(list(), "");
}

#[test]
fn a_directory_selects_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    for number in 0..3 {
        let text = qwen(&TALK).replace("22222222-2222", &format!("22222222-{number:04}"));
        write(folder.path(), &format!("s{number}.jsonl"), &text);
    }
    // Standard input is not read.
    let conversation = b"{\"role\":\"user\",\"content\":\"Paint it\"}\n";
    for command in ["title", "recap"] {
        let output = run(
            &[command, "--model", "builtin", "--root", root],
            conversation,
        );
        let found = records(&output.stdout);
        // A recap is one over all of them.
        let sessions = found[0]["sessions"].as_array();
        let count = sessions.map_or(found.len(), Vec::len);
        assert_eq!((output.status, count), (Some(0), 3), "{output:?}");
        assert!(output.stdout.contains("Port the config parser to Rust"));
    }
    for filter in [&["--agent", "qwen"][..], &["--all"]] {
        let words = [&["title", "--model", "builtin", "--root", root], filter].concat();
        assert_eq!(records(&run(&words, b"").stdout).len(), 3, "{filter:?}");
    }
    let missing = folder.path().join("missing");
    let output = run(&["title", "--root", missing.to_str().unwrap()], b"");
    assert_eq!(output.status, Some(2), "{output:?}");
    // Sessions that are not named keep their titles.
    let write = ["title", "--model", "builtin", "--write"];
    let first = records(&run(&[&write[..], &["--root", root]].concat(), b"").stdout);
    assert!(
        first.iter().all(|title| title["written"] == true),
        "{first:?}"
    );
    let list = run(&["session", "list", "--root", root, "--json"], b"").stdout;
    for output in [
        run(&[&write[..], &["--root", root]].concat(), b""),
        run(&write, list.as_bytes()),
    ] {
        let again = records(&output.stdout);
        assert_eq!(again.len(), 3);
        assert!(
            again
                .iter()
                .all(|title| title["reason"] == "already_titled"),
            "{output:?}"
        );
    }
}

/// Agents that store no titles have them next to the session.
#[test]
fn sessions_of_all_agents_can_be_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/more_agents");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(&data)
        .arg(folder.path())
        .status();
    assert!(copied.unwrap().success());
    for (agent, name) in [
        ("copilot", "11111111"),
        ("droid", "droid-one"),
        ("cursor", "22222222"),
        ("kimi", "session_33333333-2222-4333-8444-000000000002"),
    ] {
        let root = folder.path().join("more_agents").join(agent);
        let root = root.to_str().unwrap();
        let listed = || records(&run(&["session", "list", "--root", root, "--json"], b"").stdout);
        let path = listed()[0]["path"].as_str().unwrap().to_owned();
        let before = std::fs::read(&path).unwrap();
        let renamed = run(&["session", "rename", "--root", root, name, "Mine"], b"");
        assert_eq!(renamed.status, Some(0), "{agent}: {}", renamed.stderr);
        assert_eq!(
            records(&renamed.stdout)[0]["path"],
            format!("{path}.turnpipe")
        );
        let shown = &listed()[0];
        assert_eq!(
            (&shown["title"], &shown["title_source"]),
            (&"Mine".into(), &"manual".into()),
            "{agent}"
        );
        let title = ["title", "--model", "builtin", "--write", &path];
        assert_eq!(
            records(&run(&title, b"").stdout)[0]["reason"],
            "manual_title",
            "{agent}"
        );
        let replaced = run(&[&title[..], &["--replace"]].concat(), b"");
        assert_eq!(records(&replaced.stdout)[0]["written"], true, "{agent}");
        assert_eq!(listed()[0]["title_source"], "auto", "{agent}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{agent}");
    }
}

#[test]
fn automatic_titles_have_guards() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = write(folder.path(), "s.jsonl", &qwen(&["hi", "Hello!"]));
    let auto = |model: &[&str]| {
        let fixed = [
            "title",
            "--auto",
            "--state-dir",
            state.to_str().unwrap(),
            path.to_str().unwrap(),
        ];
        let output = run(&[&fixed[..], model].concat(), b"");
        records(&output.stdout)[0]["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(auto(&[]), "no_fast_model");
    for _ in 0..3 {
        assert_eq!(auto(&["--model", "builtin"]), "empty_result");
    }
    assert_eq!(auto(&["--model", "builtin"]), "attempt_limit");
    let titled = write(folder.path(), "t.jsonl", &qwen(&TALK));
    let titled = titled.to_str().unwrap();
    let written = run(&["title", "--model", "builtin", "--write", titled], b"");
    assert_eq!(written.status, Some(0));
    let output = run(&["title", "--auto", "--model", "builtin", titled], b"");
    assert_eq!(records(&output.stdout)[0]["reason"], "already_titled");
}

#[test]
fn a_dry_run_of_title_and_recap_prints_a_body_for_each_session() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.jsonl", &claude(&TALK));
    let bad = write(folder.path(), "bad.jsonl", "not a session\n");
    let paths = [one.to_str().unwrap(), bad.to_str().unwrap()];
    for command in ["title", "recap"] {
        let asked = [command, "--dry-run", "--model", "ollama:small"];
        let output = run(&[&asked[..], &paths[..]].concat(), b"");
        let bodies = records(&output.stdout);
        assert_eq!((output.status, bodies.len()), (Some(2), 1), "{output:?}");
        assert_eq!(bodies[0]["model"], "small");
        assert!(bodies[0]["messages"].to_string().contains("Rust"));
    }
}

#[test]
fn the_first_prompt_names_a_session_with_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let talk = [&TALK[..], &["now add a test for it", "Added."]].concat();
    let lines = claude(&talk);
    let mut rows: Vec<&str> = lines.lines().collect();
    rows.remove(1);
    let text = rows.join("\n");
    let path = write(folder.path(), "g.jsonl", &text);
    let titled = run(
        &["title", "--model", "builtin", path.to_str().unwrap()],
        b"",
    );
    assert_eq!(
        records(&titled.stdout)[0]["title"],
        "Port the config parser to Rust"
    );
}

#[test]
fn the_first_prompt_names_a_compacted_session() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../data/summaries/compacted.jsonl");
    let path = write(folder.path(), "c.jsonl", text);
    let path = path.to_str().unwrap();
    let titled = run(&["title", "--model", "builtin", path], b"");
    assert_eq!(
        records(&titled.stdout)[0]["title"],
        "Port the config parser to Rust"
    );
    let recap = run(&["recap", "--model", "builtin", path], b"");
    assert_eq!(
        records(&recap.stdout)[0]["recap"],
        "Goal: Port the config parser to Rust → We also have merge conflix. Last report: Resolved both of the conflicts."
    );
}
