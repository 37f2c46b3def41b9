//! `--project` and `--by project`: the directories of one repository.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Run, run, turnpipe};
use crate::skip::is_missing;

/// A home directory with sessions, and repositories beside it.
struct Machine {
    folder: TempDir,
    sessions: u64,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            sessions: 0,
        };
        fs::create_dir_all(machine.at("home")).unwrap();
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn dir(&self, name: &str) {
        fs::create_dir_all(self.at(name)).unwrap();
    }

    fn git(&self, directory: &str, arguments: &str) {
        let mut git = Command::new("git");
        let words = ["-c", "protocol.file.allow=always", "-c", "user.name=n"];
        git.args(words).args(["-c", "user.email=e"]);
        git.args(arguments.split(' '))
            .current_dir(self.at(directory));
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("HOME", "/nowhere");
        git.env("GIT_CEILING_DIRECTORIES", self.folder.path());
        let output = git.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {messages}");
    }

    /// Makes a repository with a commit.
    fn repository(&self, name: &str) {
        self.dir(name);
        self.git(name, "init -q -b main");
        self.git(name, "commit -q --allow-empty -m first");
    }

    /// Writes a session with one reply of ten tokens.
    fn session(&mut self, directory: &str, branch: Option<&str>) {
        self.sessions += 1;
        let number = self.sessions;
        let id = format!("5e550000-0000-4000-8000-{number:012}");
        let row = |kind: &str, message: Value| {
            json!({
                "type": kind, "uuid": format!("{id}-{kind}"), "parentUuid": null, "sessionId": id,
                "timestamp": "2026-01-01T10:00:00Z", "cwd": self.at(directory), "gitBranch": branch,
                "message": message,
            })
        };
        let usage = json!({"input_tokens": 10, "output_tokens": 0});
        let reply = json!({
            "id": format!("msg_{number}"), "role": "assistant", "model": "m", "usage": usage,
            "content": [{"type": "text", "text": "needle"}],
        });
        let rows = [
            row("user", json!({"role": "user", "content": "go"})),
            row("assistant", reply),
        ];
        self.write(&format!(".claude/projects/p/{id}.jsonl"), &rows);
    }

    /// Writes a session of an agent that records the remote.
    fn session_with_remote(&mut self, directory: &str, remote: &str) {
        self.sessions += 1;
        let id = format!("c0de0000-0000-4000-8000-{:012}", self.sessions);
        let row = |kind: &str, payload: Value| json!({"timestamp": "2026-01-01T10:00:00Z", "type": kind, "payload": payload});
        let usage = json!({"input_tokens": 10, "output_tokens": 0});
        let info = json!({"total_token_usage": usage, "last_token_usage": usage});
        let git = json!({"branch": "main", "repository_url": remote});
        let rows = [
            row(
                "session_meta",
                json!({"id": id, "cwd": self.at(directory), "git": git}),
            ),
            row(
                "turn_context",
                json!({"cwd": self.at(directory), "model": "m"}),
            ),
            row(
                "event_msg",
                json!({"type": "user_message", "message": "go"}),
            ),
            row("event_msg", json!({"type": "token_count", "info": info})),
        ];
        self.write(
            &format!(".codex/sessions/2026/01/01/rollout-x-{id}.jsonl"),
            &rows,
        );
    }

    fn write(&self, name: &str, rows: &[Value]) {
        let path = self.at("home").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = turnpipe(arguments);
        command.env("HOME", self.at("home"));
        run(command)
    }

    /// Returns the tokens of each project, by its path on the machine.
    fn tokens(&self) -> BTreeMap<String, u64> {
        let said = self.run(&["stats", "--by", "project"]);
        assert_eq!(said.status, Some(0), "{}", said.messages);
        let top = self.at("").display().to_string();
        let records = said.records().into_iter().map(|record| {
            let project = record["dimensions"]["project"].as_str().unwrap();
            let project = project.strip_prefix(&top).unwrap_or(project).to_owned();
            (project, record["usage"]["input_tokens"].as_u64().unwrap())
        });
        records.collect()
    }
}

fn sums(rows: &[(&str, u64)]) -> BTreeMap<String, u64> {
    rows.iter()
        .map(|(name, sum)| ((*name).to_owned(), *sum))
        .collect()
}

#[test]
fn worktrees_are_one_project_also_when_they_were_removed_or_moved() {
    if is_missing("git") {
        return;
    }
    let mut machine = Machine::new();
    machine.repository("repo");
    for name in ["one", "two", "three"] {
        machine.git(
            "repo",
            &format!("worktree add -q ../{name} -b topic-{name}"),
        );
        machine.session(name, Some(&format!("topic-{name}")));
    }
    machine.session("three/src", Some("topic-three"));
    machine.git("repo", "worktree add -q --detach ../four");
    machine.session("four", Some("HEAD"));
    machine.git("repo", "worktree move ../four ../fourth");
    machine.session("elsewhere", Some("topic-of-another"));
    machine.git("repo", "worktree remove ../two");
    machine.dir("moved");
    machine.git("repo", "worktree move ../three ../moved/third");
    machine.session("moved/third", Some("topic-three"));
    assert_eq!(machine.tokens(), sums(&[("elsewhere", 10), ("repo", 60)]));
    for (project, sessions) in [
        ("REPO", 6),
        ("/two", 1),
        ("elsewhere", 1),
        ("third", 1),
        ("no-remote/repo", 0),
    ] {
        let listed = machine.run(&["list", "--project", project]).records();
        assert_eq!(listed.len(), sessions, "{project}");
        let ranked = machine.run(&["search", "--project", project, "-l", "needle"]);
        assert_eq!(ranked.text.lines().count(), sessions, "{project}");
        let stats = machine
            .run(&["stats", "--project", project, "--json"])
            .records();
        assert_eq!(stats[0]["sessions"], sessions, "{project}");
    }
    let one = machine.at("one").display().to_string();
    let literal = machine.run(&["list", "--cwd", &one]).records();
    assert_eq!(literal.len(), 1);
    let by_cwd = machine.run(&["stats", "--by", "cwd"]).records();
    assert_eq!(by_cwd.len(), 7);
    // A session that is named has the project that all others show.
    let named = machine.run(&[
        "stats",
        "--by",
        "project",
        "5e550000-0000-4000-8000-000000000002",
    ]);
    let project = &named.records()[0]["dimensions"]["project"];
    assert_eq!(*project, json!(machine.at("repo")));
}

#[test]
fn directories_of_all_shapes_belong_to_the_repository_that_git_would_use() {
    if is_missing("git") {
        return;
    }
    let mut machine = Machine::new();
    for name in ["repo", "Repo", "library", "repo/inner", "home"] {
        machine.repository(name);
    }
    for directory in [
        "repo/src/deep",
        "plain/below",
        "repo/unused/.git",
        "home/notes",
        "home/.config/x",
    ] {
        machine.dir(directory);
    }
    machine.git("repo", "submodule --quiet add ../library vendor/library");
    machine.git("repo", "worktree add -q ../linked");
    machine.dir("linked/src");
    machine.git("repo", "worktree add -q ../pruned");
    fs::remove_dir_all(machine.at("pruned")).unwrap();
    machine.git("repo", "worktree add -q ../renamed");
    fs::rename(machine.at("renamed"), machine.at("by-hand")).unwrap();
    machine.git("repo", "worktree add -q ../relative");
    fs::write(
        machine.at("relative/.git"),
        "gitdir: ../repo/.git/worktrees/relative\n",
    )
    .unwrap();
    machine.git("", "clone -q --bare library bare.git");
    machine.git("bare.git", "worktree add -q ../of-bare");
    machine.dir("hidden");
    machine.git("hidden", "clone -q --bare ../library .bare");
    fs::write(machine.at("hidden/.git"), "gitdir: ./.bare\n").unwrap();
    machine.git("hidden", "worktree add -q topic");
    machine.git("", "init -q --separate-git-dir apart.git apart");
    machine.dir("by-link");
    symlink(machine.at("repo/.git"), machine.at("by-link/.git")).unwrap();
    symlink(machine.at("repo"), machine.at("whole-link")).unwrap();
    fs::write(machine.at("home/.config/x/rc"), "").unwrap();
    machine.git("home", "add .config");
    let rows = [
        ("repo", "repo"),
        ("repo/src/deep", "repo"),
        ("repo/no/more", "repo"),
        ("repo/.git", "repo"),
        ("repo/unused", "repo"),
        ("linked", "repo"),
        ("linked/src", "repo"),
        ("linked/no/more", "repo"),
        ("pruned/src", "repo"),
        ("by-hand", "repo"),
        ("relative", "repo"),
        ("by-link", "repo"),
        ("whole-link/src", "repo"),
        ("Repo", "Repo"),
        ("repo/inner", "repo/inner"),
        ("repo/vendor/library", "repo/vendor/library"),
        ("bare.git", "bare.git"),
        ("of-bare", "bare.git"),
        ("hidden/topic", "hidden"),
        ("hidden", "hidden"),
        ("apart", "apart"),
        ("plain/below", "plain/below"),
        ("nowhere/at/all", "nowhere/at/all"),
        ("home", "home"),
        ("home/.config/x", "home"),
        ("home/notes", "home/notes"),
        ("home/no/more", "home/no/more"),
    ];
    let mut expected = BTreeMap::new();
    for (directory, project) in rows {
        machine.session(directory, None);
        *expected.entry(project.to_owned()).or_default() += 10;
    }
    assert_eq!(machine.tokens(), expected);
    // Another order of reading shows the same.
    fs::remove_dir_all(machine.at("repo/inner/.git")).unwrap();
    *expected.get_mut("repo").unwrap() += 10;
    expected.remove("repo/inner");
    assert_eq!(machine.tokens(), expected);
}

#[test]
fn the_recorded_remote_names_the_repository_of_directories_that_are_gone() {
    if is_missing("git") {
        return;
    }
    let mut machine = Machine::new();
    machine.repository("clone");
    machine.git("clone", "remote add origin git@Example.org:Team/Tool.git");
    machine.repository("silent");
    machine.session("clone", None);
    machine.session_with_remote("gone/work", "https://user@example.org/team/tool");
    machine.session("gone/work/src", None);
    machine.session_with_remote("lost", "ssh://git@example.org:22/team/other.git");
    machine.session("lost", None);
    // The remote was removed since.
    machine.session_with_remote("silent", "https://example.org/team/silent");
    machine.session("silent", None);
    machine.session_with_remote("local", "/srv/git/tool.git");
    let expected = [
        ("clone", 30),
        ("example.org/team/other", 20),
        ("silent", 20),
        ("local", 10),
    ];
    assert_eq!(machine.tokens(), sums(&expected));
    for (project, sessions) in [("team/tool", 3), ("other", 2), ("example.org", 0)] {
        let listed = machine
            .run(&["list", "--all", "--project", project])
            .records();
        assert_eq!(listed.len(), sessions, "{project}");
    }
}

#[test]
fn the_recorded_root_names_the_repository_of_directories_that_are_gone() {
    let mut machine = Machine::new();
    for (number, directory) in [(1, "gone/a"), (2, "gone/b/c")] {
        let context = json!({"cwd": machine.at(directory), "gitRoot": machine.at("gone")});
        let data = json!({"sessionId": format!("s-{number}"), "context": context});
        let tokens =
            json!({"inputTokens": 10, "outputTokens": 0, "apiCallId": format!("a-{number}")});
        let row = |kind: &str, data: &Value| {
            json!({"type": kind, "id": format!("{kind}-{number}"), "parentId": null,
                "timestamp": "2026-01-01T10:00:00Z", "data": data})
        };
        let rows = [
            row("session.start", &data),
            row("session.usage_record", &json!({"usage": tokens})),
        ];
        machine.write(
            &format!(".copilot/session-state/s-{number}/events.jsonl"),
            &rows,
        );
    }
    machine.session("gone/d", None);
    assert_eq!(machine.tokens(), sums(&[("gone", 30)]));
}

/// Paths of sessions are text of others: none leads to waiting or failing.
#[test]
fn strange_directories_are_their_own_projects() {
    let mut machine = Machine::new();
    machine.dir("fifo");
    let fifo = Path::new("fifo/.git");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        machine.at("").join(fifo),
        rustix::fs::Mode::RWXU,
    )
    .unwrap();
    machine.dir("loop");
    symlink(machine.at("loop/.git"), machine.at("loop/.git")).unwrap();
    machine.dir("broken");
    fs::write(machine.at("broken/.git"), "no git directory").unwrap();
    machine.dir("leads-away");
    fs::write(machine.at("leads-away/.git"), "gitdir: /nowhere/at/all\n").unwrap();
    let directories = ["fifo", "loop", "broken", "../../dev/null", "proc/self/fd"];
    for directory in directories {
        machine.session(directory, None);
    }
    let tokens = machine.tokens();
    assert_eq!(tokens.len(), directories.len(), "{tokens:?}");
    assert_eq!(tokens.values().sum::<u64>(), 50);
}
