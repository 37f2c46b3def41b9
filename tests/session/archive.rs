//! `session archive` and `session remove`.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use crate::bench::{Run, data, files, run, turnpipe};
use crate::copies::write_reverted;
use crate::more_agents::Opencode;
use crate::schema::assert_fits;
use crate::skip::{is_full_run, skip};

/// A user with sessions of several agents, and a place for an archive.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn archive(&self) -> String {
        self.path("archive").display().to_string()
    }

    /// Writes a file that nothing has changed for a day.
    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        age(&path);
        path
    }

    fn copy(&self, from: &Path, to: &str) {
        if from.is_dir() {
            for entry in fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                self.copy(&entry.path(), &format!("{to}/{name}"));
            }
        } else {
            self.write(to, &fs::read(from).unwrap());
        }
    }

    /// Sessions of eight agents, with subagents, a saved result, a name in an index, and facts in other files.
    fn with_sessions() -> Self {
        let home = Self::new();
        let other = data("../more_agents");
        for (from, to) in [
            (
                data("claude-subagents.jsonl"),
                ".claude/projects/p/claude-subagents.jsonl",
            ),
            (
                data("claude-subagents"),
                ".claude/projects/p/claude-subagents",
            ),
            (
                data("claude-parallel.jsonl"),
                ".claude/projects/p/agent-old.jsonl",
            ),
            (
                data("codex.jsonl"),
                ".codex/sessions/2026/01/01/rollout-x.jsonl",
            ),
            (
                data("session-document.json"),
                ".gemini/tmp/demo/chats/session-document.json",
            ),
            (
                data("gemini-resumed.jsonl"),
                ".gemini/tmp/demo/chats/session-resumed.jsonl",
            ),
            (
                data("qwen-rewound.jsonl"),
                ".qwen/projects/p/chats/qwen-rewound.jsonl",
            ),
            (data("pi.jsonl"), ".pi/agent/sessions/p/pi.jsonl"),
            (format!("{other}/copilot"), ".copilot/session-state"),
            (format!("{other}/cursor"), ".cursor/projects"),
            (format!("{other}/droid"), ".factory/sessions"),
            (format!("{other}/kimi"), ".kimi-code/sessions"),
        ] {
            home.copy(Path::new(&from), to);
        }
        home.write(
            ".claude/projects/p/claude-subagents/tool-results/t.txt",
            b"saved",
        );
        home.write(".gemini/tmp/demo/.project_root", b"/srv/demo");
        let name = br#"{"id":"0199c0de-0000-7000-8000-000000000001","thread_name":"Named"}"#;
        home.write(".codex/session_index.jsonl", name);
        home
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = turnpipe(&[&["session"], arguments].concat());
        command.env("HOME", self.folder.path());
        run(command)
    }

    /// Archives everything. Returns the totals.
    fn run_archive(&self) -> Value {
        let output = self.run(&["archive", &self.archive()]);
        assert_eq!(output.status, Some(0), "{}{}", output.text, output.messages);
        output.records().pop().unwrap()
    }
}

/// Makes a file a day old.
fn age(path: &Path) {
    let day = Duration::from_hours(24);
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - day).unwrap();
}

/// Returns records without paths, sorted.
fn without_paths(output: &Run) -> Vec<String> {
    assert_eq!(output.status, Some(0), "{}", output.messages);
    let mut records: Vec<String> = output
        .records()
        .into_iter()
        .map(|mut record| {
            for member in ["path", "resume"] {
                record.as_object_mut().unwrap().shift_remove(member);
            }
            record.to_string()
        })
        .collect();
    records.sort();
    records
}

fn all_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(dir, &[""], &mut found);
    found
}

#[test]
fn every_command_reads_an_archive_like_the_originals() {
    let home = Home::with_sessions();
    let archive = home.archive();
    let totals = home.run_archive();
    assert_eq!(
        (&totals["failed"], &totals["skipped"]),
        (&0.into(), &0.into()),
        "{totals}"
    );
    let roots = [
        ".claude/projects",
        ".codex/sessions",
        ".gemini/tmp",
        ".qwen/projects",
        ".pi/agent/sessions",
        ".copilot/session-state",
        ".factory/sessions",
        ".cursor/projects",
    ];
    let roots = roots.map(|root| home.path(root).display().to_string());
    let both: Vec<&str> = roots
        .iter()
        .chain([&archive])
        .flat_map(|root| ["--root", root.as_str()])
        .collect();
    for command in [
        &["list", "--subagents"][..],
        &["list", "--counts", "--all"],
        &["calls"],
        &["stats"],
        &["stats", "--by", "agent,model,session"],
        &["search", "e"],
    ] {
        let originals = without_paths(&home.run(command));
        assert!(!originals.is_empty());
        let archived = home.run(&[command, &["--root", &archive]].concat());
        assert_eq!(without_paths(&archived), originals, "{command:?}");
        // A session in both places counts once.
        let together = home.run(&[command, &both].concat());
        assert_eq!(without_paths(&together), originals, "{command:?}");
    }
    for record in home.run(&["list", "--json"]).records() {
        let id = record["session_id"].as_str().unwrap();
        for command in [
            &["show", "-o", "text"][..],
            &["show", "--calls", "full", "-o", "text"],
            &["diff"],
        ] {
            // Some commands print the path.
            let shown = |root: &[&str]| -> Vec<String> {
                let output = home.run(&[command, &[id], root].concat());
                assert_eq!(output.status, Some(0), "{}", output.messages);
                let lines = output.text.lines().map(str::to_owned);
                lines
                    .filter(|line| !line.contains("pi --session"))
                    .collect()
            };
            assert_eq!(shown(&["--root", &archive]), shown(&[]), "{command:?} {id}");
        }
    }
}

#[test]
fn only_the_user_can_read_an_archive_and_a_second_run_copies_only_changes() {
    let home = Home::with_sessions();
    let planned = home
        .run(&["archive", &home.archive(), "--dry-run"])
        .records()
        .pop()
        .unwrap();
    assert!(!home.path("archive").exists());
    let totals = home.run_archive();
    assert_eq!(
        (&planned["would_archive"], &planned["bytes"]),
        (&totals["archived"], &totals["bytes"])
    );
    for path in all_files(&home.path("archive")) {
        assert_eq!(
            path.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{path:?}"
        );
        assert_eq!(
            path.parent()
                .unwrap()
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
    }
    let saved = home.path("archive/claude/projects/p/claude-subagents/tool-results/t.txt.zst");
    assert!(saved.is_file());
    let again = home.run_archive();
    assert_eq!(
        (&again["archived"], &again["unchanged"]),
        (&0.into(), &totals["archived"])
    );
    let session = home.path(".pi/agent/sessions/p/pi.jsonl");
    let content = [fs::read(&session).unwrap(), fs::read(&session).unwrap()].concat();
    home.write(".pi/agent/sessions/p/pi.jsonl", &content);
    home.write(
        ".claude/projects/p/claude-subagents/tool-results/t.txt",
        b"saved again",
    );
    let changed = home.run(&["archive", &home.archive()]).records();
    let archived = changed
        .iter()
        .filter(|record| record["outcome"] == "archived");
    let agents: Vec<&Value> = archived.map(|record| &record["agent"]).collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
    assert!(
        agents.contains(&&"pi".into()) && agents.contains(&&"claude".into()),
        "{agents:?}"
    );
    let list = |root: &str| home.run(&["list", "--counts", "--agent", "pi", "--root", root]);
    assert_eq!(
        without_paths(&list(&home.archive())),
        without_paths(&list(session.to_str().unwrap()))
    );
}

/// The files of an agent that its sessions share are copied as they are.
#[test]
fn a_shared_file_is_copied_again_after_a_change_of_its_size_or_time() {
    let home = Home::with_sessions();
    home.run_archive();
    let name = ".gemini/tmp/demo/.project_root";
    let archived = || fs::read(home.path("archive/gemini/tmp/demo/.project_root")).unwrap();
    let time = home.path(name).metadata().unwrap().modified().unwrap();
    for (content, modified) in [
        (&b"/srv/home"[..], time + Duration::from_mins(1)),
        (b"/srv/home/longer", time + Duration::from_mins(1)),
    ] {
        let path = home.write(name, content);
        let file = File::options().append(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        home.run_archive();
        assert_eq!(archived(), content);
    }
}

#[test]
fn a_session_that_is_being_written_is_archived_up_to_a_whole_record_and_completed_later() {
    let home = Home::new();
    let whole = fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    let path = home.write(
        ".claude/projects/p/s.jsonl",
        format!("{whole}{{\"type\":\"us").as_bytes(),
    );
    let archive = home.archive();
    let size = || {
        home.run_archive();
        home.run(&["list", "--root", &archive]).records()[0]["bytes"].clone()
    };
    // The writer also writes after the run started.
    for later in [0, 3600] {
        let file = File::options().append(true).open(&path).unwrap();
        let modified = SystemTime::now() + Duration::from_secs(later);
        file.set_modified(modified).unwrap();
        assert_eq!(size(), whole.len(), "{later}");
    }
    // Nothing has continued the torn record, which is kept as it is.
    age(&path);
    assert_eq!(size(), path.metadata().unwrap().len());
    fs::write(&path, whole.trim_end()).unwrap();
    assert_eq!(size(), whole.trim_end().len());
}

#[test]
fn compressed_sessions_are_copied_as_they_are() {
    let home = Home::new();
    let text = fs::read(data("codex.jsonl")).unwrap();
    let packed = compress_to_vec(&text[..], CompressionLevel::Fastest);
    let path = home.write(".codex/sessions/2026/01/01/rollout-x.jsonl.zst", &packed);
    assert_eq!(home.run_archive()["archived"], 1);
    assert_eq!(home.run_archive()["unchanged"], 1);
    // An archive consists of compressed sessions too.
    let (archive, again) = (home.archive(), home.path("again").display().to_string());
    let output = home.run(&["archive", &again, "--root", &archive]);
    assert_eq!(output.status, Some(0), "{}", output.messages);
    let stats = |root: &str| home.run(&["stats", "--root", root]).records();
    let of_original = stats(path.parent().unwrap().to_str().unwrap());
    assert_eq!(stats(&archive), of_original);
    assert_eq!(stats(&again), of_original);
    let removal = ["remove", "--before", "1h", "--yes", "--archive", &archive];
    let removed = home.run(&removal).records().pop().unwrap();
    assert_eq!(
        (&removed["removed"], path.exists()),
        (&1.into(), false),
        "{removed}"
    );
}

#[test]
fn links_other_sessions_and_full_disks_stop_only_what_they_concern() {
    let home = Home::with_sessions();
    let outside = home.write("outside/secret.txt", b"secret");
    symlink(
        &outside,
        home.path(".claude/projects/p/claude-subagents/tool-results/link.txt"),
    )
    .unwrap();
    symlink(
        home.path("outside"),
        home.path(".qwen/projects/p/subagents"),
    )
    .unwrap();
    home.write("outside/qwen-rewound/agent-x.jsonl", b"{}");
    let output = home.run(&["archive", &home.archive()]);
    let records = output.records();
    let totals = records.last().unwrap();
    assert_eq!(
        (output.status, &totals["failed"]),
        (Some(2), &2.into()),
        "{}",
        output.text
    );
    assert!(
        output.messages.contains("link.txt: is not a regular file"),
        "{}",
        output.messages
    );
    assert!(
        output.messages.contains("is reached by a symbolic link"),
        "{}",
        output.messages
    );
    for path in all_files(&home.path("archive")) {
        assert!(
            !fs::read_to_string(&path)
                .unwrap_or_default()
                .contains("secret"),
            "{path:?}"
        );
    }
    // Another session with the same name.
    let other = Home::new();
    let content = fs::read(data("claude-parallel.jsonl")).unwrap();
    other.write(".claude/projects/p/claude-subagents.jsonl", &content);
    let clash = other.run(&["archive", &home.archive()]);
    assert_eq!(clash.status, Some(2));
    assert!(
        clash
            .messages
            .contains("contains another session of this name"),
        "{}",
        clash.messages
    );
    let kept = home
        .run(&["archive", &home.archive()])
        .records()
        .pop()
        .unwrap();
    assert_eq!(kept["archived"], 0);
    // Files may have 4 KiB.
    let random: Vec<String> = (0..20_000_u32)
        .map(|number| format!("{:08x}", number.wrapping_mul(2_654_435_761)))
        .collect();
    let random = random.concat();
    let large = format!(
        "{{\"type\":\"user\",\"sessionId\":\"large\",\"message\":{{\"content\":\"{random}\"}}}}"
    );
    home.write(".claude/projects/p/large.jsonl", large.as_bytes());
    let mut limited = Command::new("bash");
    limited
        .args([
            "-c",
            "ulimit -f 4; \"$0\" session archive \"$1\"",
            env!("CARGO_BIN_EXE_turnpipe"),
        ])
        .arg(home.path("second"))
        .env_clear()
        .env("HOME", home.folder.path());
    let full = self::run(limited);
    assert_eq!(full.status, Some(74), "{}", full.messages);
    assert!(
        full.messages.contains("large.jsonl.zst: File too large"),
        "{}",
        full.messages
    );
    let totals = full.records().pop().unwrap();
    assert_eq!(
        (&totals["failed"], &totals["archived"]),
        (&3.into(), &kept["unchanged"]),
        "{}",
        full.text
    );
    let names = all_files(&home.path("second"));
    assert!(
        names
            .iter()
            .all(|path| !path.to_string_lossy().ends_with(".unfinished")),
        "{names:?}"
    );
}

/// Without a home directory there is nowhere to search, and silence looks like success.
#[test]
fn commands_for_all_sessions_name_the_missing_home_directory() {
    let home = Home::new();
    for arguments in [
        vec!["archive", &home.archive()],
        vec!["remove", "--before", "1d"],
    ] {
        let mut command = turnpipe(&[vec!["session"], arguments].concat());
        command.env_remove("HOME");
        let output = run(command);
        assert_eq!(output.status, Some(0));
        assert!(
            output.messages.contains("HOME is not set"),
            "{}",
            output.messages
        );
    }
}

#[test]
fn an_archive_is_apart_from_the_sessions() {
    let home = Home::with_sessions();
    for dir in [".claude/projects/archive", ".claude"] {
        let output = home.run(&["archive", home.path(dir).to_str().unwrap()]);
        assert_eq!(output.status, Some(2), "{dir}");
        assert!(
            output.messages.contains("is not separate from"),
            "{}",
            output.messages
        );
    }
}

#[test]
fn sessions_in_a_database_are_archived_as_records_with_their_subagents() {
    let mut opencode = Opencode::new();
    opencode.session("ses_a", None, "One");
    opencode.session("ses_b", Some("ses_a"), "Two");
    opencode.prompt("ses_a", 1_767_261_600_000, "go");
    opencode.reply("ses_a", 1_767_261_601_000, "yes");
    opencode.reply("ses_b", 1_767_261_602_000, "no");
    let (home, root) = (Home::new(), format!("{}/opencode.db", opencode.root()));
    let archive = home.archive();
    let output = home.run(&["archive", &archive, "--root", &root]);
    assert_eq!(
        (output.status, output.records().len()),
        (Some(0), 3),
        "{}",
        output.text
    );
    assert!(
        home.path("archive/opencode/opencode/ses_a/ses_b.jsonl.zst")
            .is_file()
    );
    for command in [
        &["stats"][..],
        &["calls"],
        &["show", "ses_a"],
        &["stats", "ses_a"],
    ] {
        let run = |root: &str| without_paths(&home.run(&[command, &["--root", root]].concat()));
        assert_eq!(run(&archive), run(&root), "{command:?}");
    }
    let again = home
        .run(&["archive", &archive, "--root", &root])
        .records()
        .pop()
        .unwrap();
    assert_eq!(again["unchanged"], 2);
    let kept = home.run(&["remove", "ses_a", "--yes", "--root", &root]);
    assert_eq!((kept.status, &*kept.messages), (Some(0), ""));
    let kept = kept.records();
    assert_eq!(kept[0]["outcome"], "skipped");
    let reason = kept[0]["reason"].as_str().unwrap();
    assert!(reason.contains("is a part of a database"), "{reason}");
    let totals = kept.last().unwrap();
    assert_fits("session_removal", totals);
    assert_eq!(
        (&totals["skipped"], &totals["failed"]),
        (&2.into(), &0.into())
    );
    // A database of an unknown agent is named.
    home.write("unknown/store.db", b"SQLite format 3\0");
    let unknown = home.path("unknown").display().to_string();
    let output = home
        .run(&["archive", &archive, "--root", &unknown])
        .records();
    assert_eq!(output[0]["outcome"], "skipped");
    assert!(
        output[0]["reason"]
            .as_str()
            .unwrap()
            .contains("is a database"),
        "{}",
        output[0]
    );
}

/// Counts the files below a directory, while they appear and disappear.
fn count(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let counts = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path()),
        _ => 1,
    });
    counts.sum()
}

#[test]
fn a_killed_run_leaves_only_whole_files() {
    let home = Home::new();
    for number in 0..12 {
        let record = format!(
            "{{\"type\":\"user\",\"sessionId\":\"s{number}\",\"message\":{{\"content\":\"{number}\"}}}}\n"
        );
        home.write(
            &format!(".claude/projects/p/s{number}.jsonl"),
            record.repeat(1000).as_bytes(),
        );
        home.write(
            &format!(".claude/projects/p/s{number}/tool-results/t.txt"),
            &[number; 3000],
        );
    }
    let rounds = if is_full_run() { 48 } else { 8 };
    let expected = without_paths(&home.run(&["list"]));
    for round in 0..rounds {
        let mut command = turnpipe(&["session", "archive", &home.archive()]);
        let command = command
            .env("HOME", home.folder.path())
            .stdout(Stdio::null());
        let mut run = command.spawn().unwrap();
        // Killed as soon as there are so many files, finished or not.
        while run.try_wait().unwrap().is_none() && count(&home.path("archive")) < round * 5 % 31 {
            std::thread::yield_now();
        }
        run.kill().unwrap();
        run.wait().unwrap();
        fs::create_dir_all(home.path("archive")).unwrap();
        let archived = home.run(&["list", "--root", &home.archive()]);
        for record in without_paths(&archived) {
            assert!(expected.contains(&record), "{record}");
        }
        if round % 4 == 3 {
            fs::remove_dir_all(home.path("archive")).unwrap();
        }
    }
    home.run_archive();
    assert_eq!(
        without_paths(&home.run(&["list", "--root", &home.archive()])),
        expected
    );
    let left = all_files(&home.path("archive"));
    assert!(
        left.iter()
            .all(|path| !path.to_string_lossy().ends_with(".unfinished")),
        "{left:?}"
    );
}

/// Creates something that is not a regular file.
fn create_entry(kind: &str, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // It may not exist.
    let _ = fs::remove_file(path);
    match kind {
        "fifo" => rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap(),
        "socket" => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        "directory" => fs::create_dir(path).unwrap(),
        target => symlink(target, path).unwrap(),
    }
}

#[test]
fn nothing_is_written_through_a_link_in_an_archive() {
    for link in [
        "claude",
        "claude/projects",
        "claude/projects/p",
        "claude/projects/p/claude-subagents",
        "codex",
        "codex/sessions/2026/01",
        "codex/session_index.jsonl",
        "gemini/tmp",
    ] {
        for target in ["outside", "archive/codex", "nowhere"] {
            let home = Home::with_sessions();
            let outside = home.write("outside/kept", b"kept");
            fs::create_dir_all(home.path("archive/codex")).unwrap();
            let path = home.path("archive").join(link);
            if link == "codex" {
                fs::remove_dir(&path).unwrap();
            }
            create_entry(home.path(target).to_str().unwrap(), &path);
            let sessions = all_files(&home.path(".claude")).len();
            let output = home.run(&["archive", &home.archive()]);
            assert!(
                matches!(output.status, Some(2 | 74)),
                "{link}: {}",
                output.messages
            );
            assert!(
                output.messages.contains("link"),
                "{link}: {}",
                output.messages
            );
            let removed = home.run(&["remove", "--all", "--yes", "--archive", &home.archive()]);
            assert_ne!(removed.status, Some(0), "{link}: {}", removed.messages);
            assert!(path.is_symlink(), "{link}");
            assert_eq!(
                all_files(outside.parent().unwrap()),
                std::slice::from_ref(&outside),
                "{link}"
            );
            if link.starts_with("claude") {
                assert_eq!(all_files(&home.path(".claude")).len(), sessions, "{link}");
            }
            assert!(!home.path("nowhere").exists(), "{link}");
        }
    }
}

#[test]
fn an_archive_does_not_wait_for_what_is_not_a_file() {
    let device = "/dev/null";
    for kind in ["fifo", "socket", "directory", device, "kept", "pipe"] {
        let home = Home::with_sessions();
        home.write("archive/kept", b"kept");
        create_entry("fifo", &home.path("archive/pipe"));
        create_entry(kind, &home.path("archive/.turnpipe.lock"));
        let output = home.run(&["archive", &home.archive()]);
        assert!(
            matches!(output.status, Some(2 | 74)),
            "{kind}: {}",
            output.messages
        );
        assert!(
            output.messages.contains("archive/.turnpipe.lock: "),
            "{kind}: {}",
            output.messages
        );
        assert_eq!(fs::read(home.path("archive/kept")).unwrap(), b"kept");
        assert!(!home.path("archive/claude").exists(), "{kind}");
    }
    let home = Home::with_sessions();
    let planted = [
        "archive/codex/session_index.jsonl",
        ".gemini/tmp/demo/.project_root",
        ".gemini/projects.json",
        ".codex/config.toml",
    ];
    for name in planted {
        create_entry("fifo", &home.path(name));
    }
    let output = home.run(&["archive", &home.archive()]);
    assert!(matches!(output.status, Some(2 | 74)), "{}", output.messages);
    assert!(
        output
            .messages
            .contains("session_index.jsonl: is not a regular file"),
        "{}",
        output.messages
    );
    assert_eq!(home.run(&["list", "--json"]).status, Some(0));
}

#[test]
fn a_run_removes_what_killed_runs_left_and_nothing_else() {
    let home = Home::with_sessions();
    let left = [
        "archive/.turnpipe-1.unfinished",
        "archive/claude/projects/p/.turnpipe-2.unfinished",
    ];
    let others = [
        "archive/.turnpipe-3.unfinished/kept",
        "archive/claude/.turnpipe-4",
        "archive/claude/5.unfinished",
        "kept/.turnpipe-6.unfinished",
    ];
    for name in left.iter().chain(&others) {
        home.write(name, b"x");
    }
    let link = "archive/.turnpipe-7.unfinished";
    symlink(home.path("kept"), home.path(link)).unwrap();
    home.run(&["archive", &home.archive(), "--dry-run"]);
    assert!(left.iter().all(|name| home.path(name).exists()));
    home.run_archive();
    for name in left {
        assert!(!home.path(name).exists(), "{name}");
    }
    for name in others.iter().chain([&link]) {
        assert!(home.path(name).exists(), "{name}");
    }
}

#[test]
fn removal_needs_a_selection_and_confirmation() {
    let home = Home::with_sessions();
    let before = all_files(home.folder.path());
    for arguments in [
        &["remove"][..],
        &["remove", "--yes"],
        &["remove", "--agent", "claude", "--yes"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status, Some(2));
        assert!(
            output.messages.contains("no session is named"),
            "{}",
            output.messages
        );
    }
    let outside = home.run(&["remove", &data("pi.jsonl"), "--yes"]);
    assert_eq!(outside.status, Some(2));
    assert!(
        outside
            .messages
            .contains("is not in a directory of an agent"),
        "{}",
        outside.messages
    );
    let mut plan = home.run(&["remove", "--before", "1h"]).records();
    let planned = plan.pop().unwrap();
    let outcomes: Vec<&Value> = plan.iter().map(|record| &record["outcome"]).collect();
    assert_eq!(outcomes, vec!["would_remove"; plan.len()]);
    let text = home.run(&["remove", "--before", "1h", "-o", "text"]).text;
    assert_eq!(text.matches("would remove: ").count(), plan.len(), "{text}");
    assert_eq!(all_files(home.folder.path()), before);
    let removed = home
        .run(&["remove", "--before", "1h", "--yes"])
        .records()
        .pop()
        .unwrap();
    assert_eq!(
        (&planned["would_remove"], &planned["bytes"]),
        (&removed["removed"], &removed["bytes"])
    );
    assert_eq!(
        (&planned["removed"], &removed["would_remove"]),
        (&0.into(), &0.into())
    );
    let rest = all_files(home.folder.path());
    let rest: Vec<_> = rest
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(rest, ["session_index.jsonl", ".project_root"]);
    assert!(
        !home
            .path(".claude/projects/p/claude-subagents/tool-results")
            .exists()
    );
}

#[test]
fn sessions_in_use_are_kept() {
    let home = Home::with_sessions();
    let pi = home.path(".pi/agent/sessions/p/pi.jsonl");
    let saved = home.path(".claude/projects/p/claude-subagents/tool-results/t.txt");
    fs::write(&saved, "now").unwrap();
    // The shell has it open.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec 7<\"$0\"; echo; read line"])
        .arg(&pi);
    let mut shell = shell
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0];
    std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut line).unwrap();
    let records = home.run(&["remove", "--before", "1h", "--yes"]).records();
    drop(shell.stdin.take());
    shell.wait().unwrap();
    let in_use: Vec<&Value> = records
        .iter()
        .filter(|record| record["outcome"] == "in_use")
        .collect();
    assert!(
        saved.exists()
            && home
                .path(".claude/projects/p/claude-subagents.jsonl")
                .exists()
    );
    if cfg!(target_os = "linux") {
        assert_eq!(in_use.len(), 2, "{in_use:?}");
        assert!(pi.exists());
    } else {
        skip("/proc");
    }
}

#[test]
fn what_is_not_in_the_archive_is_not_removed() {
    let home = Home::with_sessions();
    let archive = home.archive();
    home.run_archive();
    // The archived copy is damaged, although the time and size of its source are the same.
    let copy = home.path("archive/pi/sessions/p/pi.jsonl.zst");
    let mut bytes = fs::read(&copy).unwrap();
    bytes[40] ^= 0xff;
    fs::write(&copy, bytes).unwrap();
    let output = home.run(&["remove", "--before", "1h", "--yes", "--archive", &archive]);
    assert_eq!(output.status, Some(2), "{}", output.messages);
    let records = output.records();
    let failed: Vec<&Value> = records
        .iter()
        .filter(|record| record["outcome"] == "failed")
        .collect();
    assert_eq!((failed.len(), &failed[0]["agent"]), (1, &"pi".into()));
    assert!(home.path(".pi/agent/sessions/p/pi.jsonl").exists());
    let listed = home.run(&["list"]).records();
    assert_eq!(listed.len(), 1);
    let archived = home
        .run(&["list", "--agent", "codex", "--root", &archive])
        .records();
    assert_eq!(archived[0]["title"], "Named");
}

/// A user with a thread of Codex in two files, and forks of both.
fn home_with_forks() -> Home {
    let home = Home::new();
    let dir = home.path(".codex/sessions/2026/01/01");
    fs::create_dir_all(&dir).unwrap();
    write_reverted(&dir);
    for path in all_files(&dir) {
        age(&path);
    }
    home
}

#[test]
fn sessions_that_others_continue_are_kept() {
    let home = home_with_forks();
    let remove = |names: &[&str]| {
        let output = home.run(&[&["remove", "--yes"], names].concat());
        assert_eq!(output.status, Some(0), "{}", output.messages);
        let mut records = output.records();
        let totals = records.pop().unwrap();
        let reasons = records
            .iter()
            .filter_map(|record| record["reason"].as_str());
        let reasons: Vec<String> = reasons.map(str::to_owned).collect();
        assert!(
            reasons
                .iter()
                .all(|reason| reason.contains("is continued by")),
            "{reasons:?}"
        );
        assert_eq!(totals["in_use"], reasons.len());
        (totals["removed"].as_u64().unwrap(), reasons.len())
    };
    // The thread has two files.
    assert_eq!(remove(&["c0de"]), (0, 2));
    assert_eq!(remove(&["0001"]), (0, 1));
    assert_eq!(remove(&["0001", "0002"]), (2, 0));
    // Its later file is not removed without the earlier one.
    assert_eq!(remove(&["c0de", "f02d"]), (1, 2));
    assert_eq!(remove(&["c0de", "f01d"]), (3, 0));
}

#[test]
fn an_archive_has_the_sessions_that_others_continue() {
    let home = home_with_forks();
    let (archive, other) = (home.archive(), home.path("other").display().to_string());
    let prompts = |name: &str, root: &str| {
        let output = home.run(&["show", name, "--root", root, "-o", "text"]);
        assert!(
            !output.messages.contains("not found"),
            "{}",
            output.messages
        );
        let prompts = output.text.lines().filter(|line| line.starts_with("> "));
        prompts.map(str::to_owned).collect::<Vec<_>>()
    };
    let archived = home.run(&["archive", &archive, "f02d"]).records();
    assert_eq!(archived.last().unwrap()["archived"], 3);
    let expected = [
        "> List the files",
        "> Instead",
        "> In a fork of the second file",
    ];
    assert_eq!(prompts("f02d", &archive), expected);
    let removed = home.run(&["remove", "f02d", "f01d", "--yes", "--archive", &other]);
    assert_eq!(
        removed.records().pop().unwrap()["removed"],
        2,
        "{}",
        removed.messages
    );
    assert_eq!(prompts("f02d", &other), expected);
    let expected = ["> List the files", "> Reverted", "> In a fork"];
    assert_eq!(prompts("f01d", &other), expected);
    let listed = home.run(&["list"]).records();
    assert_eq!(listed.len(), 3, "{listed:?}");
}
