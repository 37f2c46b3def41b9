//! `sandbox` in mode `workspace`: what a command can change, see and reach, and that it ends as without.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Place, User, is_sandbox_usable, text, users};
use crate::skip::{is_missing, skip};
use crate::turnpipe::run_in;

/// Returns `turnpipe sandbox` with these arguments, in a repository.
pub(crate) fn workspace(place: &Place, arguments: &[&str], script: &str) -> Command {
    let mut command = place.command(&[]);
    command
        .args(["sandbox"])
        .args(arguments)
        .args(["--", "bash", "-c", script])
        .env("XDG_STATE_HOME", place.path("state"));
    command
}

/// Whether this machine permits workspaces, and lets every user enter the directory of the tests.
pub(crate) fn has_workspaces() -> bool {
    if !is_sandbox_usable() {
        return false;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let mut probe = Command::new("true");
        probe.current_dir(place.work());
        if user == User::Ordinary {
            probe.uid(1000).gid(1000);
        }
        if probe.status().is_err() {
            skip("a directory that every user can enter");
            return false;
        }
    }
    let output = workspace(&Place::new_persistent(User::Own), &[], "echo works").output();
    let output = output.unwrap();
    let works = output.stdout == b"works\n";
    if !works {
        skip("network namespaces");
    }
    works
}

/// Scripts that print `changed` if they get out of the workspace, or see something outside of it.
const PROBES: &str = include_str!("../data/sandbox/workspace_probes.sh");

#[test]
fn no_probe_leaves_the_workspace() {
    if !has_workspaces() || is_missing("perl") || is_missing("git") || is_missing("python3") {
        return;
    }
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    for user in users() {
        for probe in PROBES.lines().filter(|line| !line.starts_with('#')) {
            let place = Place::new_persistent(user);
            let setup = "git init -q . && mkdir -p .claude sub && git init -q sub && echo '{}' > .claude/settings.json && \
                echo original > ../outside/file && mkdir -p ../.ssh && echo KEY=verysecret > ../.ssh/id";
            let mut made = Command::new("bash");
            made.args(["-c", setup]).current_dir(place.work());
            made.env("GIT_CONFIG_GLOBAL", "/dev/null");
            if user == User::Ordinary {
                made.uid(1000).gid(1000);
            }
            assert!(made.status().unwrap().success());
            let mut command = workspace(&place, &["--deny-read", "**/.env"], probe);
            command
                .env("OUTSIDE", place.path("outside"))
                .env("PORT", &port)
                .env("OUTER", std::process::id().to_string());
            let output = text(&command.output().unwrap());
            assert!(
                !output.contains("changed") && !output.contains("verysecret"),
                "{user:?}: {probe}\n{output}"
            );
            let outside = fs::read_to_string(place.path("outside/file")).unwrap();
            assert_eq!(outside, "original\n", "{user:?}: {probe}");
            let names = fs::read_dir(place.path("outside")).unwrap().count();
            assert_eq!(names, 2, "{user:?}: {probe}");
            for file in [
                ".git/config",
                ".claude/settings.json",
                "sub/.git/config",
                "other/.git/config",
            ] {
                // A probe may move `sub`.
                let content = fs::read_to_string(place.work().join(file));
                assert!(
                    content.is_ok() || file.contains("sub") || file.contains("other"),
                    "{user:?}: {probe}: {file}"
                );
                let content = content.unwrap_or_default();
                assert!(!content.contains("evil"), "{user:?}: {probe}: {file}");
            }
        }
    }
}

#[test]
fn a_command_works_in_its_directory_and_ends_as_without() {
    if !has_workspaces() || is_missing("git") {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        for (script, status, output) in [
            ("exit 3", 3, ""),
            ("kill -TERM $$", 143, ""),
            ("echo new > made && mv made moved && cat moved", 0, "new\n"),
            ("echo x > /tmp/a && cat $TMPDIR/a && rm /tmp/a", 0, "x\n"),
            ("echo x > /dev/shm/a && cat /dev/shm/a", 0, "x\n"),
            (
                "echo x > /dev/null; diff <(echo a) <(echo a) && echo same",
                0,
                "same\n",
            ),
            ("sleep 1000 & echo started", 0, "started\n"),
            (
                "(sleep 1000 &) ; sleep 1000 & kill $!; wait $!; echo $?",
                0,
                "143\n",
            ),
            ("echo /proc/[0-9]*", 0, "/proc/1 /proc/2\n"),
        ] {
            let run = workspace(&place, &[], script).output().unwrap();
            let code = run
                .status
                .code()
                .or(std::os::unix::process::ExitStatusExt::signal(&run.status)
                    .map(|signal| signal + 128));
            assert_eq!(
                (code, &*text(&run)),
                (Some(status), output),
                "{user:?}: {script}"
            );
        }
        let left = fs::read_dir(place.path("state/turnpipe/tmp")).unwrap();
        assert_eq!(left.count(), 0, "{user:?}");
    }
}

#[test]
fn a_command_that_the_hook_moves_is_confined() {
    if !has_workspaces() {
        return;
    }
    let place = Place::new_persistent(User::Own);
    fs::write(
        place.work().join("settings.json"),
        r#"{"permissions": {"deny": ["Read(./.env)"]}}"#,
    )
    .unwrap();
    for (script, expected) in [
        ("echo x > made && cat made", "x\n"),
        (
            "echo \"it's $((1 + 1))\" '\"$x`' \\\\ \u{fffd}é\n(\n  echo !~*\t)",
            "it's 2 \"$x` \\ \u{fffd}é\n!~*\n",
        ),
        ("echo x > ../outside/new || echo refused", "refused\n"),
        ("cat innocent || echo refused", "refused\n"),
    ] {
        let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": place.work(),
            "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": script}});
        let arguments = [
            "hook",
            "pre-tool-use",
            "--sandbox",
            "--settings",
            "settings.json",
        ];
        let result = run_in(&place.work(), &arguments, call.to_string().as_bytes());
        let answer: Value = serde_json::from_str(&result.stdout).unwrap();
        let moved = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        let mut agent = Command::new("bash");
        agent.args(["-c", moved.unwrap()]).current_dir(place.work());
        agent.env("XDG_STATE_HOME", place.path("state"));
        let output = agent.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(stdout, expected, "{script}\n{}", text(&output));
    }
    assert!(place.work().join("made").exists() && !place.path("outside/new").exists());
}

#[test]
fn git_works_in_worktrees_and_directories_of_a_repository() {
    if !has_workspaces() || is_missing("git") {
        return;
    }
    let git = "git -c user.name=a -c user.email=b@c";
    for user in users() {
        let place = Place::new_persistent(user);
        let mut setup = Command::new("bash");
        setup.current_dir(place.work()).env("GIT_CONFIG_GLOBAL", "/dev/null").args([
            "-c",
            &format!(
                "git init -q main && cd main && mkdir d && echo a > d/a && git add . && {git} commit -qm one && \
                 git worktree add -q ../tree"
            ),
        ]);
        if user == User::Ordinary {
            setup.uid(1000).gid(1000);
        }
        assert!(setup.status().unwrap().success());
        for directory in ["main/d", "tree"] {
            let script = format!(
                "echo b >> a; echo c > new; git add -A . && {git} commit -qm two && git log --format=%s | wc -l"
            );
            let mut command = workspace(&place, &[], &script);
            command.current_dir(place.work().join(directory));
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            let output = text(&command.output().unwrap());
            assert_eq!(output.trim(), "2", "{user:?}: {directory}");
        }
    }
}

#[test]
fn options_allow_more() {
    if !has_workspaces() {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        fs::create_dir_all(place.path(".ssh")).unwrap();
        fs::write(place.path(".ssh/known_hosts"), "hosts").unwrap();
        fs::write(place.path(".ssh/id"), "verysecret").unwrap();
        place.chown();
        let outside = place.path("outside");
        let write = ["--write", outside.to_str().unwrap()];
        let rows: [(&[&str], &str, &str); 4] = [
            (
                &write,
                "echo x > ../outside/made && cat ../outside/made",
                "x\n",
            ),
            (
                &[],
                "cat ~/.ssh/known_hosts ~/.ssh/id 2>/dev/null || echo none",
                "none\n",
            ),
            (
                &["--allow-read", "~/.ssh/known_hosts"],
                "cat ~/.ssh/known_hosts; cat ~/.ssh/id 2>/dev/null || echo none",
                "hostsnone\n",
            ),
            (
                &["--network", "on"],
                "grep -c . /proc/net/route > /dev/null && echo on",
                "on\n",
            ),
        ];
        for (options, script, expected) in rows {
            let output = text(&workspace(&place, options, script).output().unwrap());
            assert_eq!(output, expected, "{user:?}: {options:?}");
        }
    }
}

#[test]
fn a_killed_command_leaves_no_process() {
    if !has_workspaces() {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let mut command = workspace(&place, &[], "sleep 1000 & echo $$; read line; sleep 1000");
        let pipe = std::process::Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut first = [0];
        std::io::Read::read_exact(&mut stdout, &mut first).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // All processes of the workspace hold the output, so it ends when they have ended.
        std::io::Read::read_to_end(&mut stdout, &mut Vec::new()).unwrap();
    }
}

#[test]
fn a_new_repository_works_and_is_reported() {
    if !has_workspaces() || is_missing("git") {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let script = "export GIT_CONFIG_GLOBAL=/dev/null; git init -q r && cd r && git -c user.name=a -c user.email=b@c \
            commit -q --allow-empty -m one && git log --format=%s; exit 3";
        let output = workspace(&place, &[], script).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{user:?}: {output:?}");
        let made = place.work().canonicalize().unwrap().join("r/.git");
        let report = format!(
            "one\nturnpipe: new, and tells other programs what to run: {}\n",
            made.display()
        );
        assert_eq!(text(&output), report, "{user:?}");
        // It is not new any more.
        let output = workspace(&place, &[], "cat r/.git/HEAD > /dev/null")
            .output()
            .unwrap();
        assert_eq!(text(&output), "", "{user:?}");
    }
}

#[test]
fn another_file_at_the_path_of_a_protected_one_is_reported() {
    if !has_workspaces() {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let tasks = place.work().canonicalize().unwrap().join("p/.vscode");
        fs::create_dir(&tasks).unwrap();
        let script = "mv p moved && mkdir -p p/.vscode && echo other > p/.vscode/tasks.json";
        let output = workspace(&place, &[], script).output().unwrap();
        let report = format!("tells other programs what to run: {}\n", tasks.display());
        assert!(text(&output).contains(&report), "{user:?}: {output:?}");
    }
}

#[test]
fn what_cannot_be_applied_ends_before_the_command() {
    let place = Place::new_persistent(User::Own);
    let rows: [(&[&str], &str); 3] = [
        (
            &["--mode", "files", "--write", "."],
            "--write has no effect with `--mode files`",
        ),
        (
            &["--mode", "files", "--network", "on"],
            "--network has no effect with `--mode files`",
        ),
        (
            &["--deny-read", "~/.netrc"],
            "the home directory is not known",
        ),
    ];
    for (options, problem) in rows {
        let mut command = workspace(&place, options, "echo ran");
        let output = command.env_remove("HOME").output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{options:?}: {output:?}");
        let output = text(&output);
        assert!(
            output.contains(problem) && !output.contains("ran\n"),
            "{options:?}: {output}"
        );
    }
}
