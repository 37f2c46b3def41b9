//! `session list`.

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::bench::{Run, data, recordings, run, session, turnpipe};
use crate::more_agents::Opencode;

#[test]
fn sessions_of_all_agents_are_listed() {
    let root = data("");
    let listed = session(&["list", "--root", &root, "--counts"]);
    assert_eq!(listed.status, Some(0), "{}", listed.messages);
    let records = listed.records();
    let mut agents: Vec<&str> = records
        .iter()
        .filter_map(|record| record["agent"].as_str())
        .collect();
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(agents, ["claude", "codex", "gemini", "pi", "qwen"]);
    let named = |name: &str| {
        let found = records.iter().find(|record| {
            let path = record["path"].as_str().unwrap();
            path.ends_with(name)
        });
        found.unwrap()
    };
    let parallel = named("claude-parallel.jsonl");
    assert_eq!(parallel["title"], "Compare files");
    assert_eq!(parallel["title_source"], "auto");
    assert_eq!(parallel["counts"]["calls"], 2);
    assert_eq!(parallel["started"], "2026-01-01T10:00:00Z");
    assert_eq!(named("pi.jsonl")["fork_parent"], "parent-id");
    assert!(named("codex-bare.jsonl")["title"] == Value::Null);
}

#[test]
fn a_table_is_shown_as_text() {
    let root = data("");
    let table = session(&["list", "--root", &root, "-o", "text", "--agent", "qwen"]);
    let lines: Vec<&str> = table.text.lines().collect();
    assert!(lines[0].starts_with("ID "), "{}", table.text);
    assert!(
        lines[1].contains("qwen") && lines[1].contains("Spaces"),
        "{}",
        table.text
    );
    assert_eq!(lines.len(), 2);
    let colored = session(&["list", "--root", &root, "-o", "text", "--color", "always"]);
    assert!(
        colored.text.contains("\u{1b}[2mCompare files\u{1b}[0m"),
        "{}",
        colored.text
    );
}

/// Returns the output with an existing directory in which no file can be created as `TMPDIR`.
fn without_temporary_files(arguments: &[&str]) -> Run {
    let mut command = turnpipe(&[&["session"], arguments].concat());
    command.env("TMPDIR", "/proc");
    run(command)
}

#[test]
fn sessions_are_read_without_a_directory_of_temporary_files() {
    let mut opencode = Opencode::new();
    opencode.session("ses_a", None, "One");
    opencode.prompt("ses_a", 1_767_261_600_000, "go");
    opencode.reply("ses_a", 1_767_261_601_000, "yes");
    let dir = tempfile::tempdir().unwrap();
    let lines = std::fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    let other = lines.replace(
        "5e551011-0000-4000-8000-000000000001",
        "5e551011-0000-4000-8000-000000000002",
    );
    let array = format!("[{}]", other.lines().collect::<Vec<_>>().join(","));
    std::fs::write(dir.path().join("session-array.json"), array).unwrap();
    let packed = compress_to_vec(lines.as_bytes(), CompressionLevel::Fastest);
    std::fs::write(dir.path().join("rollout.jsonl.zst"), packed).unwrap();
    let dir = dir.path().display().to_string();
    session(&[
        "export",
        &format!("{dir}/atif"),
        &data("pi.jsonl"),
        "-o",
        "atif",
        "--all",
    ]);
    let more = data("../more_agents");
    let agents = recordings().display().to_string();
    for (root, sessions) in [
        (&*opencode.root(), 1),
        (&dir, 3),
        (&data(""), 13),
        (&more, 1),
        (&agents, 40),
    ] {
        let listed = session(&["list", "--root", root]).records();
        assert!(listed.len() >= sessions, "{root}: {}", listed.len());
        for command in [
            &["list"][..],
            &["list", "-o", "text"],
            &["list", "--counts"],
            &["stats"],
        ] {
            let arguments = [command, &["--root", root]].concat();
            let expected = session(&arguments);
            let said = without_temporary_files(&arguments);
            assert_eq!(said.text, expected.text, "{arguments:?}: {}", said.messages);
            assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.messages);
        }
    }
}

#[test]
fn a_session_that_cannot_be_read_has_one_status_in_all_commands() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rollout.jsonl.zst");
    let packed = compress_to_vec(&b"{}\n".repeat(99)[..], CompressionLevel::Fastest);
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let (root, path) = (dir.path().display().to_string(), path.display().to_string());
    for command in [
        &["list"][..],
        &["list", "-o", "text"],
        &["list", "-n", "1"],
        &["stats"],
        &["stats", "-o", "text"],
        &["calls"],
        &["check"],
        &["path"],
    ] {
        let said = session(&[command, &["--root", &root]].concat());
        assert_eq!(said.status, Some(2), "{command:?}: {}", said.messages);
        assert!(
            said.messages.contains(&path),
            "{command:?}: {}",
            said.messages
        );
        assert!(
            !said.messages.contains("no sessions"),
            "{command:?}: {}",
            said.messages
        );
    }
    let records = session(&["list", "--root", &root]).records();
    assert_eq!(records[0]["type"], "session_error");
}

#[test]
fn invalid_times_are_usage_errors() {
    let refused = session(&["list", "--since", "soon"]);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused
            .messages
            .contains("'soon' for '--since <TIME>': expected a time such as"),
        "{}",
        refused.messages
    );
}

#[test]
fn recordings_are_listed() {
    let folder = recordings();
    let root = folder.display().to_string();
    let quick = session(&["list", "--root", &root]);
    let counted = session(&["list", "--root", &root, "--counts", "--no-mmap"]);
    assert_eq!((quick.status, counted.status), (Some(0), Some(0)));
    let (quick, counted) = (quick.records(), counted.records());
    assert!(quick.len() > 40, "only {}", quick.len());
    assert_eq!(quick.len(), counted.len());
    for (quick, counted) in quick.iter().zip(&counted) {
        for fact in [
            "path",
            "agent",
            "title",
            "title_source",
            "first_prompt",
            "cwd",
        ] {
            assert_eq!(quick[fact], counted[fact], "{fact} of {}", quick["path"]);
        }
    }
}

#[test]
fn records_contain_resume_commands() {
    let root = data("");
    let list = session(&["list", "--root", &root]).records();
    let of = |agent: &str| {
        let mut found = list.iter().filter(|record| record["agent"] == agent);
        found.next().unwrap()["resume"].as_str().unwrap_or_default()
    };
    assert!(
        of("claude").starts_with("claude --resume "),
        "{}",
        of("claude")
    );
    assert!(of("codex").starts_with("codex resume "));
    assert!(of("qwen").starts_with("qwen --resume "));
    assert!(of("gemini").starts_with("gemini --resume "));
    assert!(of("pi").starts_with("pi --session "));
    let file = data("claude-parallel.jsonl");
    let resume = "claude --resume 5e551011-0000-4000-8000-000000000001";
    for arguments in [
        &["show"][..],
        &["search", "differ"],
        &["search", "-l", "differ"],
    ] {
        let said = session(&[arguments, &[&file]].concat());
        assert_eq!(said.records()[0]["resume"], resume, "{arguments:?}");
    }
    let found = session(&["search", "differ", &file, "-o", "text"]).text;
    let line = format!("{resume} (in /home/me/demo)");
    assert_eq!(found.lines().nth(2), Some(line.as_str()), "{found}");
}

#[test]
fn filters_search_text() {
    let root = data("");
    let listed = |filter: &[&str]| {
        let said = session(&[&["list", "--root", &root], filter].concat());
        assert_eq!(said.status, Some(0), "{}", said.messages);
        let records = said.records();
        let names = records.iter().map(|record| {
            let path = record["path"].as_str().unwrap();
            path.rsplit('/').next().unwrap().to_owned()
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(
        listed(&["--title", "compare FILES"]),
        ["claude-parallel.jsonl"]
    );
    assert_eq!(
        listed(&["--branch", "feat", "--last-model", "MODEL-B"]),
        ["claude-parallel.jsonl"]
    );
    assert!(listed(&["--project", "/me/demo"]).contains(&"claude-parallel.jsonl".to_owned()));
    assert_eq!(listed(&["--project", "nowhere"]).len(), 0);
    assert_eq!(listed(&["--branch", "feat", "--title", "nothing"]).len(), 0);
    // The beginning of the first prompt is used as the title.
    assert!(!listed(&["--title", "the"]).is_empty());
    let hits = [
        "search",
        ".",
        "--root",
        &root,
        "--title",
        "compare files",
        "-l",
    ];
    assert_eq!(session(&hits).records().len(), 1);
}

/// All commands select sessions by the same filters, with the same names.
#[test]
fn filters_are_the_same_for_all_commands() {
    let root = data("");
    let pages = tempfile::tempdir().unwrap();
    let to = pages.path().join("pages");
    let to = to.to_str().unwrap();
    let filters: [&[&str]; 8] = [
        &["--title", "compare files"],
        &["--branch", "feat"],
        &["--last-model", "model-b"],
        &[
            "--project",
            "/me/demo",
            "--agent",
            "claude",
            "--until",
            "2026-02-01",
        ],
        &[
            "--cwd",
            "/home/me/demo",
            "--title",
            "compare files",
            "--since",
            "2026-01-01",
        ],
        &["--untitled", "--agent", "codex"],
        // Names of earlier versions.
        &["--project", "/me/demo", "--before", "2026-02-01"],
        &["--title", "nothing has this title"],
    ];
    for filter in filters {
        let records = |command: &[&str]| {
            let common = ["--root", &root, "-o", "jsonl"];
            let said = turnpipe(&[command, filter, &common].concat())
                .output()
                .unwrap();
            let text = String::from_utf8(said.stdout).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            lines.collect::<Vec<Value>>()
        };
        let paths = |command: &[&str]| {
            let records = records(command).into_iter();
            let paths = records.filter_map(|record| Some(record["path"].as_str()?.to_owned()));
            paths.collect::<std::collections::BTreeSet<_>>()
        };
        let expected = paths(&["session", "list"]);
        for command in [
            &[
                "session",
                "search",
                ".",
                "-l",
                "--in",
                "all",
                "--subagents=no",
            ][..],
            &["session", "path"],
            &["session", "check", "--summary"],
            &["title"],
            &["recap", "--auto"],
        ] {
            assert_eq!(paths(command), expected, "{command:?} {filter:?}");
        }
        let called = paths(&["session", "calls"]);
        assert!(called.is_subset(&expected), "{called:?} {filter:?}");
        let stats = &records(&["session", "stats"])[0];
        assert_eq!(stats["sessions"], expected.len(), "{filter:?}");
        let export = [&["session", "export", to, "--root", &root], filter].concat();
        let exported = turnpipe(&export).output().unwrap();
        let message = String::from_utf8(exported.stderr).unwrap();
        // It may not exist.
        let _ = std::fs::remove_dir_all(to);
        let count = match expected.len() {
            0 => "no sessions to export".to_owned(),
            count => format!("{count} session"),
        };
        assert!(message.contains(&count), "{message} {filter:?}");
    }
}

/// Gemini CLI names the directory of a session in a file next to it, or in an index, and in the session only by a hash.
#[test]
fn sessions_of_gemini_have_the_directory_of_their_project() {
    let home = tempfile::tempdir().unwrap();
    let gemini = home.path().join(".gemini");
    for (project, id) in [("tick", "c737eb36"), ("tock", "d737eb36")] {
        let chats = gemini.join("tmp").join(project).join("chats");
        std::fs::create_dir_all(&chats).unwrap();
        let rows = [
            json!({"sessionId": id, "projectHash": "057b", "startTime": "2026-04-25T08:46:12.046Z"}),
            json!({"id": "1", "type": "user", "content": "check the remote", "timestamp": "2026-04-25T08:46:13.000Z"}),
            json!({"id": "2", "type": "gemini", "content": "Done.", "model": "gemini-2.5-pro", "timestamp": "2026-04-25T08:46:14.000Z",
                "tokens": {"input": 10, "output": 5}}),
        ];
        let rows = rows.map(|row| row.to_string()).join("\n");
        std::fs::write(
            chats.join(format!("session-2026-04-25T08-46-{id}.jsonl")),
            rows,
        )
        .unwrap();
    }
    std::fs::write(
        gemini.join("tmp/tick/.project_root"),
        "/home/me/ticketing\n",
    )
    .unwrap();
    let index = json!({"projects": {"/home/me/clock": "tock"}});
    std::fs::write(gemini.join("projects.json"), index.to_string()).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = turnpipe(&[&["session"], arguments].concat());
        let said = command.env("HOME", home.path()).output().unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    for (cwd, id) in [
        ("/home/me/ticketing", "c737eb36"),
        ("/home/me/clock", "d737eb36"),
    ] {
        for filter in [["--project", &cwd[6..]], ["--cwd", cwd]] {
            let listed = run(&["list", filter[0], filter[1], "-o", "jsonl"]);
            assert_eq!(listed.len(), 1, "{filter:?}");
            assert_eq!(
                (&listed[0]["cwd"], &listed[0]["session_id"]),
                (&cwd.into(), &id.into())
            );
        }
    }
    let sums = run(&["stats", "--by", "cwd", "-o", "jsonl"]);
    let names: Vec<&Value> = sums.iter().map(|sum| &sum["dimensions"]["cwd"]).collect();
    assert_eq!(names, ["/home/me/clock", "/home/me/ticketing"]);
}

#[test]
fn dates_are_in_the_zone_of_the_user() {
    let root = data("");
    let listed = |zone: &str, since: &str| {
        let mut command = turnpipe(&["session", "list", "--root", &root, "--since", since]);
        let output = command.env("TZ", zone).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.contains("claude-parallel.jsonl")
    };
    // The session was last active at 10:00 UTC.
    assert!(listed("UTC", "2026-01-01"));
    assert!(!listed("UTC", "2026-01-02"));
    // In that zone it was already the second of January.
    assert!(listed("UTC-15", "2026-01-02"));
    assert!(!listed("UTC", "yesterday"));
}

#[test]
fn counts_have_a_cost_if_every_model_has_a_price() {
    let root = data("../costs");
    let records = session(&["list", "--root", &root, "--counts"]).records();
    let claude = records.iter().find(|record| record["agent"] == "claude");
    let cost = &claude.unwrap()["counts"]["usage"]["cost_usd"];
    assert_eq!(cost, 4.667_182_6);
    let page = session(&["list", "--root", &root, "--counts", "-o", "text"]).text;
    assert!(page.contains(" $4.67 "), "{page}");
    let unknown = session(&[
        "list",
        "--root",
        &data("claude-parallel.jsonl"),
        "--counts",
        "-o",
        "text",
    ]);
    assert!(unknown.text.contains("  ?  "), "{}", unknown.text);
}

#[test]
fn missing_sessions_are_reported() {
    let empty = tempfile::tempdir().unwrap();
    let root = empty.path().to_str().unwrap();
    for (command, status) in [("list", 0), ("stats", 0), ("search x", 1)] {
        let words = command.split(' ').chain(["--root", root, "-o", "text"]);
        let result = session(&words.collect::<Vec<_>>());
        assert_eq!(result.status, Some(status), "{command}");
        assert_eq!(result.text, "", "{command}");
        assert_eq!(
            result.messages, "turnpipe: no sessions found\n",
            "{command}"
        );
    }
    let result = session(&[
        "list",
        "--root",
        &data(""),
        "-o",
        "text",
        "--title",
        "nonsense",
    ]);
    assert_eq!(
        (result.text, result.messages),
        (String::new(), "turnpipe: no sessions found\n".to_owned())
    );
}

/// Claude Code keeps a session that moved into a worktree for the worktree.
#[test]
fn a_session_is_resumed_where_its_agent_finds_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, expected) in [
        ("-srv-repo", None),
        ("-srv-repo--worktrees-x", Some("/srv/repo/.worktrees/x")),
    ] {
        let rows = ["/srv/repo", "/srv/repo/.worktrees/x"].map(|cwd| {
            let message = json!({"role": "user", "content": "Go"});
            let row = json!({"type": "user", "uuid": cwd, "sessionId": "s", "cwd": cwd, "message": message});
            format!("{row}\n")
        });
        let root = folder.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("s.jsonl"), rows.concat()).unwrap();
        let root = root.to_str().unwrap();
        let record = &session(&["list", "--root", root]).records()[0];
        assert_eq!(record["resume_cwd"].as_str(), expected, "{name}");
        let table = session(&["list", "--root", root, "--resume", "-o", "text"]).text;
        assert!(table.contains(expected.unwrap_or("/srv/repo ")), "{table}");
    }
}

/// A session that was active on two days belongs to both.
#[test]
fn periods_select_what_overlaps_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let row = |number: u32, time: &str| {
        let message = json!({"role": "user", "content": format!("pineapple {number}")});
        let row = json!({"type": "user", "uuid": format!("u{number}"), "sessionId": "s", "cwd": "/w",
            "timestamp": time, "message": message});
        format!("{row}\n")
    };
    let text = row(1, "2026-07-08T23:00:00Z") + &row(2, "2026-07-09T08:00:00Z");
    std::fs::write(folder.path().join("s.jsonl"), text).unwrap();
    let root = folder.path().to_str().unwrap();
    let table: [(&[&str], usize); 7] = [
        (&["--since", "2026-07-09", "--until", "2026-07-09"], 1),
        (&["--since", "2026-07-08", "--until", "2026-07-08"], 1),
        (&["--since", "2026-07-07", "--until", "2026-07-07"], 0),
        (&["--since", "2026-07-10"], 0),
        (&["--before", "2026-07-09"], 0),
        (&["--before", "2026-07-10"], 1),
        (&["--until", "2026-07-07"], 0),
    ];
    for (period, count) in table {
        for command in [
            &["list", "--all"][..],
            &["search", "pineapple", "-l"],
            &["path"],
        ] {
            let said = session(&[command, period, &["--root", root, "-o", "jsonl"]].concat());
            let records = said.records().into_iter();
            let found = records.filter(|record| record["type"] != "session_search");
            assert_eq!(found.count(), count, "{command:?} {period:?}");
        }
        let stats = session(&[&["stats", "--root", root], period].concat()).records();
        assert_eq!(stats[0]["sessions"], count, "{period:?}");
    }
    let said = session(&["remove", "--root", root, "--until", "2026-07-09"]);
    assert_eq!(said.status, Some(2), "{}", said.messages);
}

/// `[agents.NAME]` names an agent whose sessions have the format of a known one.
#[test]
fn agents_of_the_configuration_are_listed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("fork/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::copy(data("codex.jsonl"), sessions.join("s.jsonl")).unwrap();
    let config = folder.path().join("config.toml");
    let run = |text: &str, arguments: &[&str]| {
        std::fs::write(&config, text).unwrap();
        let mut command = turnpipe(&["--config", config.to_str().unwrap()]);
        let output = command
            .env("HOME", folder.path())
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    for root in [
        "fork/sessions",
        "~/fork/sessions",
        sessions.to_str().unwrap(),
    ] {
        let named = format!("[agents.myfork]\nroot = \"{root}\"\nformat = \"codex\"\n");
        let list = ["session", "list", "--all", "-o", "jsonl"];
        let (status, text, messages) = run(&named, &list);
        assert_eq!(status, Some(0), "{messages}");
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&record["agent"], &record["written_by"]),
            (&"codex".into(), &"myfork".into())
        );
        assert_eq!(record.get("resume"), None);
        let of = |agent| run(&named, &[&list[..], &["--agent", agent]].concat()).1;
        assert_eq!((of("MyFork"), of("codex")), (text, String::new()));
        assert!(
            run(&named, &["session", "list", "--all", "-o", "text"])
                .1
                .contains("myfork")
        );
        let costs = run(
            &named,
            &["session", "stats", "--by", "agent", "-o", "jsonl"],
        )
        .1;
        assert!(costs.contains("myfork"), "{costs}");
        assert!(run(&named, &["doctor", "-o", "text"]).1.contains("myfork"));
    }
    let (status, _, messages) = run("", &["session", "list", "--agent", "myfork"]);
    assert_eq!(status, Some(2));
    assert!(
        messages.starts_with("turnpipe: unknown agent `myfork`")
            && !messages.contains("CodeBuddy or WorkBuddy"),
        "{messages}"
    );
    for (text, problem) in [
        (
            "[agents.a]\nroot = \"x\"\nformat = \"cobol\"\n",
            "line 3: agents.a.format: unknown format `cobol`",
        ),
        (
            "[agents.claude]\nroot = \"x\"\nformat = \"codex\"\n",
            "agents.claude: this is the name of a known agent",
        ),
        ("[agents.a]\nformat = \"codex\"\n", "missing field `root`"),
    ] {
        for command in [&["session", "list"][..], &["doctor", "-o", "text"]] {
            let (status, text, messages) = run(text, command);
            assert_ne!(status, Some(0), "{command:?}");
            assert!(
                text.contains(problem) || messages.contains(problem),
                "{text}{messages}"
            );
        }
    }
}
